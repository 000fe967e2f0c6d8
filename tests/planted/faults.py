"""Every fault that can be planted: one change of a few characters in the product's source, found by its syntax tree.

Nothing is planted in docstrings, annotations and the words of errors, nor in a model's fields and constraints: what the
database keeps of those stands in the migrations, and there they are planted.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tests.planted import sql

ROOT: Final = Path(__file__).resolve().parents[2]
APPS: Final = ("accounting", "jackpot", "tables", "devices")
PYTHON: Final = (
    "bound",
    "comparison",
    "condition",
    "negated",
    "not",
    "statement",
    "guard",
    "constant",
    "sum",
    "arguments",
)
SQL: Final = (*sql.KINDS, "query", "check", "trigger")
KINDS: Final = (*PYTHON, *SQL, "lock")

SWAPPED: Final[dict[type[ast.cmpop], tuple[str, str, str]]] = {
    ast.Lt: ("<", "<=", "bound"), ast.LtE: ("<=", "<", "bound"), ast.Gt: (">", ">=", "bound"), ast.GtE: (">=", ">", "bound"),
    ast.Eq: ("==", "!=", "comparison"), ast.NotEq: ("!=", "==", "comparison"),
    ast.Is: ("is", "is not", "comparison"), ast.In: ("in", "not in", "comparison"),
}  # fmt: skip
LOOKUPS: Final = {"__lte": "__lt", "__lt": "__lte", "__gte": "__gt", "__gt": "__gte"}
LOCKING: Final = re.compile(r"(lock_stream|.*_lock|lock|select_for_update)$")
FEW: Final = 12


@dataclass(frozen=True, slots=True)
class Fault:
    """Characters `start` to `end` of a file become `after`. `entry` are the first lines of the functions that it stands in."""

    file: str
    line: int
    start: int
    end: int
    before: str
    after: str
    kind: str
    place: str
    entry: tuple[int, ...]
    name: str = ""

    @property
    def app(self) -> str:
        """The app that it is planted in."""
        return self.file.split("/", 1)[0]

    def planted(self, source: str) -> str:
        """The file's text with the fault."""
        assert source[self.start : self.end] == self.before
        return source[: self.start] + self.after + source[self.end :]

    def __str__(self) -> str:
        short = [" ".join(words.split())[:90] for words in (self.before, self.after)]
        return f"{self.file}:{self.line} [{self.kind}] {short[0]!r} → {short[1]!r}"


class Source:
    """A file: its text, its tree, and where a node stands in characters."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.tree = ast.parse(text)
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """The position of a line and its column in bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Where a node begins and ends."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)


class Planter(ast.NodeVisitor):
    """Walks a file and notes every fault."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.faults: list[Fault] = []
        self.migration = "/migrations/" in source.file
        self._places: list[str] = []
        self._entries: list[int] = []

    def note(self, kind: str, start: int, end: int, after: str) -> None:
        """A fault at these characters."""
        before = self.source.text[start:end]
        if before != after:
            shown = start + len(before) - len(before.lstrip())
            line = self.source.text.count("\n", 0, shown) + 1
            place = ".".join(self._places)
            self.faults.append(
                Fault(self.source.file, line, start, end, before, after, kind, place, tuple(self._entries))
            )

    def words(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """A node as it is written."""
        start, end = self.source.span(node)
        return self.source.text[start:end]

    def replaced(self, kind: str, node: ast.expr | ast.stmt | ast.keyword, after: str) -> None:
        """A fault in place of a node."""
        self.note(kind, *self.source.span(node), after)

    # Where we are

    def _inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, parts: list[ast.AST]) -> None:
        self._places.append(node.name)
        for part in parts:
            self.visit(part)
        self._places.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Defaults and body; the function is entered at its first decorator."""
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        self._entries.append(first)
        self._inside(node, [*node.args.defaults, *filter(None, node.args.kw_defaults), *_body(node)])
        self._entries.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Of a model only what it does."""
        parts: list[ast.AST] = list(_body(node))
        if node.name == "Meta" or "/models" in self.source.file:
            parts = [part for part in parts if isinstance(part, ast.FunctionDef)]
        self._inside(node, parts)

    def visit_Module(self, node: ast.Module) -> None:
        """All but the docstring."""
        for part in _body(node):
            self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value, not the annotation."""
        self.visit_Assign(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Positions inside are not to be had; statements of SQL are planted as words."""
        if not self.migration:
            self._sql(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """The words of an error are not planted; whether it comes is."""
        self.replaced("guard", node, "pass")

    # Python

    def visit_Compare(self, node: ast.Compare) -> None:
        """The other bound, the opposite."""
        left: ast.expr = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if (swap := SWAPPED.get(type(operator))) is not None:
                start, end = self.source.span(left)[1], self.source.span(right)[0]
                between = self.source.text[start:end]
                if between.count(swap[0]) == 1:
                    self.note(swap[2], start, end, between.replace(swap[0], swap[1]))
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Without one of its operands."""
        for first, second in zip(node.values, node.values[1:], strict=False):
            here, there = self.source.span(first), self.source.span(second)
            if self.source.text[here[1] : there[0]].strip() in {"and", "or"}:  # no bracket between them
                self.note("condition", here[0], there[0], "")
                self.note("condition", here[1], there[1], "")
        self.generic_visit(node)

    def _tested(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Compare | ast.Name) or len(self.words(test)) < 3:
            self.replaced("negated", test, f"(not ({self.words(test)}))")

    def visit_If(self, node: ast.If) -> None:
        """The other way."""
        if "TYPE_CHECKING" in self.words(node.test):
            return
        self._tested(node.test)
        if not isinstance(node.test, ast.BoolOp) and not node.orelse:
            self.replaced("condition", node.test, "True")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """The other way."""
        self._tested(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """All of them, whatever its condition says."""
        for test in node.ifs:
            self.replaced("condition", test, "True")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Without its `not`."""
        if isinstance(node.op, ast.Not):
            self.replaced("not", node, f"({self.words(node.operand)})")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """Without the call."""
        if isinstance(node.value, ast.Call) and self._places and not self.migration:
            locks = LOCKING.match(_called(node.value))
            self.replaced("lock" if locks else "statement", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        """Not kept, where something is kept of an object or under a key."""
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Attribute | ast.Subscript) and self._entries:
            self.replaced("statement", node, "pass")
        if node.value is not None:
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Not counted."""
        self.replaced("statement", node, "pass")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        """Goes on."""
        self.replaced("guard", node, "pass")

    def visit_Return(self, node: ast.Return) -> None:
        """Goes on, where nothing was returned."""
        if node.value is None:
            self.replaced("guard", node, "pass")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Plus is minus, and the reverse; a sum of texts is none."""
        start, end = self.source.span(node.left)[1], self.source.span(node.right)[0]
        between = self.source.text[start:end]
        other = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.FloorDiv: ("//", "%"), ast.Mod: ("%", "//")}
        sides = (node.left, node.right)
        texts = any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple | ast.Dict) or _text(side) for side in sides)
        if (swap := other.get(type(node.op))) is not None and between.strip() == swap[0] and not texts:
            self.note("sum", start, end, between.replace(*swap))
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        """Not `strict`: it only asserts that what goes together is of one length, which nothing that is accepted breaks."""
        if node.arg != "strict":
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Another number, the other truth, other words of SQL."""
        if isinstance(node.value, bool):
            self.replaced("constant", node, str(not node.value))
        elif isinstance(node.value, int) and not self.migration:
            self.replaced("constant", node, str(node.value + 1 if node.value <= FEW else node.value * 2))
        elif isinstance(node.value, str):
            self._sql(node)

    # SQL

    def _sql(self, node: ast.expr) -> None:
        start, end = self.source.span(node)
        for kind, first, last, after in sql.faults(self.source.text[start:end], trigger=self.migration):
            self.note(kind, start + first, start + last, after)

    def visit_Call(self, node: ast.Call) -> None:
        """Arguments swapped; a query that asks for less; a constraint that lets more in."""
        called = _called(node)
        if called in {"AddConstraint", "CheckConstraint", "UniqueConstraint", "ExclusionConstraint"}:
            self._constraint(node, called)
        elif isinstance(node.func, ast.Attribute) and not self.migration:
            self._query(node, node.func)
        if called in {"RunSQL"} or not self.migration:
            self._arguments(node)
            self.generic_visit(node)

    def _arguments(self, node: ast.Call) -> None:
        plain = (ast.Name, ast.Attribute)
        for first, second in zip(node.args, node.args[1:], strict=False):
            either_way = _called(node) in {"max", "min"} and not node.keywords
            if (
                isinstance(first, plain)
                and isinstance(second, plain)
                and _called(node) != "isinstance"
                and not either_way
            ):
                start, end = self.source.span(first)[0], self.source.span(second)[1]
                between = self.source.text[self.source.span(first)[1] : self.source.span(second)[0]]
                self.note("arguments", start, end, f"{self.words(second)}{between}{self.words(first)}")

    def _query(self, node: ast.Call, method: ast.Attribute) -> None:
        chain = self.source.span(method.value)[1], self.source.span(node)[1]
        if method.attr == "select_for_update":
            self.note("lock", *chain, ".all()" if isinstance(method.value, ast.Attribute) else "")
        elif method.attr in {"filter", "exclude", "get"} and "objects" in self.words(method.value):
            for keyword in node.keywords:
                self._keyword(keyword, "query")
                if len(node.keywords) > 1:
                    self._without(keyword, node.keywords, "query")
            if method.attr != "get" and not isinstance(method.value, ast.Attribute):
                self.note("query", *chain, "")
        elif method.attr in {"distinct"}:
            self.note("query", *chain, "")
        elif method.attr == "order_by":
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    other = argument.value[1:] if argument.value.startswith("-") else f"-{argument.value}"
                    self.replaced("query", argument, f'"{other}"')

    def _keyword(self, keyword: ast.keyword, kind: str) -> None:
        for lookup, other in LOOKUPS.items():
            if keyword.arg and keyword.arg.endswith(lookup):
                words = self.words(keyword)
                self.replaced(kind, keyword, keyword.arg.removesuffix(lookup) + other + words[len(keyword.arg) :])

    def _without(self, keyword: ast.keyword, keywords: list[ast.keyword], kind: str) -> None:
        start, end = self.source.span(keyword)
        following = [self.source.span(other)[0] for other in keywords if self.source.span(other)[0] > start]
        if following:
            self.note(kind, start, min(following), "")
        else:
            self.note(kind, self.source.text.rindex(",", 0, start), end, "")

    def _constraint(self, node: ast.Call, called: str) -> None:
        if called == "AddConstraint":
            self.replaced("check", node, 'migrations.RunSQL("SELECT 1")')
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and _called(part) == "Q":
                for keyword in part.keywords:
                    self._keyword(keyword, "check")
                    if len(part.keywords) > 1:
                        self._without(keyword, part.keywords, "check")
            if isinstance(part, ast.Tuple) and len(part.elts) == 2 and isinstance(part.elts[0], ast.Constant):
                name = str(part.elts[0].value)
                for lookup, other in LOOKUPS.items():
                    if name.endswith(lookup):
                        self.replaced("check", part.elts[0], repr(name.removesuffix(lookup) + other))


def _body(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    first = node.body[0] if node.body else None
    documented = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return node.body[1:] if documented else node.body


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def in_file(file: str, text: str) -> list[Fault]:
    """The faults of a file, each with a name that stays while its function and its line do."""
    planter = Planter(Source(file, text))
    planter.visit(planter.source.tree)
    seen: Counter[str] = Counter()
    named = []
    for fault in sorted(set(planter.faults), key=lambda fault: (fault.start, fault.end, fault.kind, fault.after)):
        line = text[text.rfind("\n", 0, fault.start) + 1 :].split("\n", 1)[0].strip()
        words = "\0".join((fault.file, fault.place, fault.kind, line, fault.before, fault.after))
        name = hashlib.sha256(f"{words}\0{seen[words]}".encode()).hexdigest()[:12]
        seen[words] += 1
        named.append(replace(fault, name=name))
    return named


def files() -> Iterator[str]:
    """The product's Python, without what only serves development."""
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            yield str(path.relative_to(ROOT))


def compiles(fault: Fault, text: str) -> bool:
    """Whether Python takes it."""
    try:
        compile(fault.planted(text), fault.file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True
