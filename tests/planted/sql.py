"""Faults in statements of SQL, found by their words: a condition gone, another bound, another order, a lock let go."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

KINDS: Final = ("sql bound", "sql condition", "sql order", "sql limit", "sql join", "sql conflict", "sql value")

STATEMENT: Final = re.compile(
    r"\b(SELECT|INSERT INTO|UPDATE \w+|DELETE FROM|WHERE|CREATE|ALTER|ORDER BY|AND [\w.]+ (?:=|<|>|IN))\b"
)
ENDS: Final = r"AND|OR|ORDER BY|GROUP BY|LIMIT|FOR|RETURNING|WHERE|(?:LEFT |CROSS )?JOIN|UNION|THEN|ON CONFLICT|LOOP"
NEXT: Final = rf"(?=\s+(?:{ENDS})\b|\)|;|\"|$)"
CONDITION: Final = r"(?:[^()\"';]|\([^()]*(?:\([^()]*\)[^()]*)*\)|'[^']*')+?"

# What it is, what is found, what becomes of it.
CHANGES: Final[tuple[tuple[str, str, str], ...]] = (
    ("sql bound", r"(?<![<>=!-])<=(?!>)", "<"),
    ("sql bound", r"(?<![<>=!-])>=", ">"),
    ("sql bound", r"(?<![<>=!@-])<(?![=>@-])", "<="),
    ("sql bound", r"(?<![<>=!@-])>(?![=>@])", ">="),
    ("sql condition", rf"\bWHERE {CONDITION}{NEXT}", "WHERE true"),
    ("sql condition", rf"\s+AND {CONDITION}{NEXT}", ""),
    ("sql condition", rf"\s+OR {CONDITION}{NEXT}", ""),
    ("sql condition", r"\bIS NOT NULL\b", "IS NULL"),
    ("sql condition", r"(?<!DO )\bNOT EXISTS\b", "EXISTS"),
    ("sql condition", r"<>", "="),
    ("sql condition", r"\bIS DISTINCT FROM\b", "IS NOT DISTINCT FROM"),
    ("sql order", r"\bORDER BY (?:[\w.]+(?: DESC)?(?:, )?)+(?=\s+LIMIT|\)|\s*\"\"\"|\s*\"|\s+FOR)", ""),
    ("sql order", r" DESC\b", ""),
    ("sql order", r"\bORDER BY [\w.]+(?=[,)\s\"])(?! DESC)", r"\g<0> DESC"),
    ("sql limit", r"\bLIMIT (?:%s|%\(\w+\)s|\d+|\{\w+\})", ""),
    ("sql limit", r"\bDISTINCT\b(?! FROM)(?: ON \([^)]*\))?", ""),
    ("sql join", r"\bLEFT JOIN\b", "JOIN"),
    ("sql join", r"(?<!LEFT )(?<!CROSS )\bJOIN\b(?! LATERAL)", "LEFT JOIN"),
    ("sql join", r"(?<=\bON )[\w.]+ = [\w.]+ AND ", ""),
    ("sql join", r"\bUSING \(\w+, ", "USING ("),
    ("sql conflict", r"\s*ON CONFLICT(?: \([\w, ]+\))? DO NOTHING", ""),
    ("sql conflict", r"(?<=DO UPDATE SET )\w+ = [^,;()]+, ", ""),
    (
        "sql conflict",
        rf"\bDO UPDATE SET (?:[^()\";]|\([^()]*\))+?(?:\s+WHERE {CONDITION})?(?=\s+RETURNING\b|\s*\"|\s*\)|\s*;)",
        "DO NOTHING",
    ),
    ("sql value", r"\bmax\(", "min("),
    ("sql value", r"\bmin\(", "max("),
    ("sql value", r"\bgreatest\(", "least("),
    ("sql value", r"\bsum\(", "max("),
    ("sql value", r"\bcoalesce\(([^(),]+|sum\([^()]*\)), 0\)", r"\1"),
    ("sql value", r"(?<=\S) - (?=[\w%(])", " + "),
    ("sql value", r"(?<=\S) \+ (?=[\w%(])", " - "),
    ("sql value", r"\bELSE 0\b", "ELSE 1"),
    ("lock", r"\s+FOR (?:NO KEY UPDATE|UPDATE|SHARE)(?: OF \w+)?(?: SKIP LOCKED)?(?=\s|\"|\)|;|$)", ""),
    ("lock", r"\s+SKIP LOCKED\b", ""),
    ("lock", r"\bpg_try_advisory_(xact_)?lock\((%s|[^()]*)\)", "true"),
    ("lock", r"\bpg_advisory_xact_lock\((?:[^()]|\([^()]*\))*\)", "1"),
)
TRIGGERS: Final[tuple[tuple[str, str, str], ...]] = (
    ("trigger", rf"\bIF {CONDITION} THEN", "IF false THEN"),
    ("trigger", rf"\s+AND {CONDITION}{NEXT}", ""),
    ("trigger", rf"\s+OR {CONDITION}{NEXT}", ""),
    ("trigger", r"<>", "="),
    ("trigger", r"(?<![<>=!-])<=(?!>)", "<"),
    ("trigger", r"(?<![<>=!-])>=", ">"),
    ("trigger", r"(?<![<>=!@-])<(?![=>@-])", "<="),
    ("trigger", r"(?<![<>=!@-])>(?![=>@])", ">="),
    ("trigger", r"(?<=BEFORE )UPDATE OR (?=DELETE)", ""),
    ("trigger", r"(?<=BEFORE UPDATE) OR DELETE", ""),
    ("trigger", r"\bNOT EXISTS\b", "EXISTS"),
    ("trigger", r"\bIS NOT NULL\b", "IS NULL"),
    ("lock", r"\s+FOR (?:NO KEY UPDATE|UPDATE|SHARE)(?= |;|\))", ""),
    ("check", r"ALTER TABLE \w+ ADD CONSTRAINT \w+ (?:CHECK|UNIQUE|EXCLUDE)[^;]*;", ""),
    ("trigger", r"CALL make_\w+\([^;]*\);", ""),
    ("trigger", r"CREATE (?:CONSTRAINT )?TRIGGER [^;]*;", ""),
    ("check", r"CREATE UNIQUE INDEX", "CREATE INDEX"),
)
# What stands for a parameter's place where it goes: the statement takes as many as before, and the fault is what is meant.
STILL_TAKEN: Final = {
    "WHERE true": "WHERE ({0} IS NULL OR true)",
    "AND": " AND ({0} IS NULL OR true)",
    "OR": " OR ({0} IS NULL AND false)",
    "LIMIT": "LIMIT length({0}) + 1000000000",
    "true": "({0} IS NULL OR true)",
    "1": "length({0})",
}
COMMENT: Final = re.compile(r"--[^\n]*")
# A join by a foreign key and by nothing else.
BY_KEY: Final = re.compile(
    r"\bJOIN \w+ (?P<alias>\w+) ON (?:(?P=alias)\.id = (?P<table>\w+)\.(?P<column>\w+_id)"
    r"|(?P<table_>\w+)\.(?P<column_>\w+_id) = (?P=alias)\.id)(?=\s+(?!AND\b)|\s*\)|\s*\"|\s*;|$)"
)


def faults(words: str, *, trigger: bool = False) -> Iterator[tuple[str, int, int, str]]:
    """The faults of a text as it is written, if it is SQL: kind, first and last character, what stands there then.

    `trigger`: the text is a migration's, which makes constraints and triggers.
    """
    if STATEMENT.search(words) is None:
        return
    comments = [match.span() for match in COMMENT.finditer(words)]
    for kind, pattern, after in TRIGGERS if trigger else CHANGES:
        for match in re.finditer(pattern, words):
            between = re.search(r"\bBETWEEN\b(?!.*\bAND\b)", words[: match.start()].rsplit("\n", 1)[-1])
            if between and re.match(r"\s+AND ", match[0]):
                continue  # the second bound, not a condition
            if after == "LEFT JOIN" and _finds_its_row(words, match.start()):
                continue  # nobody could see it
            if not any(first <= match.start() < last for first, last in comments):
                becomes = match.expand(after)
                if lost := match[0].count("%s") - becomes.count("%s"):
                    first_word = match[0].split(maxsplit=1)[0]
                    if (held := STILL_TAKEN.get(becomes.strip() or first_word)) is None:
                        continue  # it would be refused for its number of parameters
                    becomes = held.format("concat(" + ", ".join(["%s::text"] * lost) + ")")
                yield kind, match.start(), match.end(), becomes


def _finds_its_row(words: str, start: int) -> bool:
    """Whether a join finds one row for each: by a key that is never null, and what a key points to is never removed."""
    if (join := BY_KEY.match(words, start)) is None:
        return False
    table, column = join["table"] or join["table_"], join["column"] or join["column_"]
    return column not in nullable() and re.search(rf"\bLEFT JOIN \w+ {table}\b", words) is None


@cache
def nullable() -> frozenset[str]:
    """The columns of foreign keys that may be null in any table."""
    found: set[str] = set()
    for path in Path(__file__).resolve().parents[2].glob("*/**/models/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and isinstance(node.targets[0], ast.Name)
            ):
                given = {keyword.arg: keyword.value for keyword in node.value.keywords}
                if isinstance(given.get("null"), ast.Constant):
                    found.add(f"{node.targets[0].id}_id")
    return frozenset(found)
