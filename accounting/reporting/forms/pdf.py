"""A report as pages: the same data gives the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, NamedTuple

from accounting import typesetting
from accounting.reporting.making import Made
from accounting.reporting.shape import TEXT, Column, Row
from accounting.reporting.written import shown
from accounting.rules.parameters import BadParameter

TYPE: Final = "application/pdf"
TEMPLATE: Final = Path(__file__).parents[1] / "documents" / "report.typ"
MOST, MARGIN = 40, 3
"""The room that a column of words asks for at most, and beside its words, in signs."""
MOST_ROWS: Final = 2_000
"""So many rows are one document: what typst holds of it stays bounded."""
MOST_PARTS: Final = 50
BREAKS: Final = re.compile(r"(?<=[/:_.,@-])(?=\w)|(?<=\w{18})(?=\w)")
"""Where a long word may break: behind a sign, and anywhere where there is none for long."""


def document(made: Made) -> bytes:
    """The pages. BadParameter `form` where there are more rows than one document has."""
    found = list(islice(_parts(made), 2))
    if len(found) > 1:
        raise BadParameter(
            "form", f"more than {MOST_ROWS:,} rows are for csv or xlsx, or for a worker, who prints them in parts"
        )
    return typesetting.compiled_apart(TEMPLATE, data(made, found[0], 1, 1))


def documents(made: Made) -> Iterator[tuple[int, int, bytes]]:
    """The same as one document for every `MOST_ROWS` rows, which carry their sums forward: number, how many, the pages.

    Rows wait on disk until it is known how many documents there are, so one document is held at a time, however many rows
    there are. BadParameter `form` from `MOST_PARTS` documents on.
    """
    with TemporaryFile("w+", encoding="utf-8") as file:
        count = 0
        for count, part in enumerate(_parts(made), 1):
            if count > MOST_PARTS:
                raise BadParameter(
                    "form", f"more than {MOST_PARTS * MOST_ROWS:,} rows are for csv or xlsx: ask for fewer days"
                )
            file.write(json.dumps(part) + "\n")
        file.seek(0)
        for number, line in enumerate(file, 1):
            yield (
                number,
                count,
                typesetting.compiled_apart(TEMPLATE, data(made, Part(*json.loads(line)), number, count)),
            )


class Part(NamedTuple):
    """Some rows in words, with the row of sums that was carried to them, and the one after them."""

    rows: list[list[str]]
    brought: list[str]
    carried: list[str]


def _parts(made: Made) -> Iterator[Part]:
    columns, zone = made.report.columns, made.zone

    def words(row: Row) -> list[str]:
        return [shown(column, value, zone) for column, value in zip(columns, row, strict=True)]

    rows, brought = made.rows(), [""] * len(columns)
    found = [[_breaking(text) for text in words(row)] for row in islice(rows, MOST_ROWS)]
    while True:
        carried = words(made.totals.row())
        # What is taken to see whether there is more is added up: it is none of this part's.
        following = list(islice(rows, MOST_ROWS))
        yield Part(found, brought, carried)
        if not following:
            return
        found, brought = [[_breaking(text) for text in words(row)] for row in following], carried


def data(made: Made, part: Part, number: int, parts: int) -> dict[str, Any]:
    """All that the pages of a part say, in words; the last has the totals and whether they foot."""
    columns, rows = made.report.columns, part.rows
    is_last = number == parts
    totals = _named(part.carried, "Total" if is_last else "Carried forward")
    brought = _named(part.brought, "Brought forward")
    first = (number - 1) * MOST_ROWS
    count = f"{made.totals.count:,} row{'' if made.totals.count == 1 else 's'}"
    return {
        "part": f"part {number} of {parts}" if parts > 1 else "",
        "brought": brought,
        "property": made.heading.house,
        "title": made.heading.title,
        "purpose": made.report.purpose,
        "lines": [[name, words] for name, words in made.heading.lines if name not in ("Property", "Report")],
        "remarks": made.remarks,
        "columns": [
            {"title": column.title, "right": column.is_figure, "share": _share(column, place, rows)}
            for place, column in enumerate(columns)
        ],
        "rows": rows,
        "count": count if parts == 1 else f"Rows {first + 1:,} to {first + len(rows):,} of {count}",
        "totals": totals,
        "signed": is_last,
        "feet": [
            {"words": verdict.words, "even": verdict.is_even} for verdict in (made.totals.verdicts() if is_last else ())
        ],
    }


def _named(sums: list[str], name: str) -> list[str]:
    """A row of sums under its name; none where there are none."""
    return [sums[0] or name, *sums[1:]] if any(sums) else []


def _share(column: Column, place: int, rows: list[list[str]]) -> int:
    """What a column of words takes of the room that figures and times leave, by its longest; 0 for these."""
    if column.kind != TEXT:
        return 0
    longest = max((len(row[place]) for row in rows), default=0)
    heading = max(len(word) for word in column.title.split())
    return min(max(longest, heading + 1), MOST) + MARGIN


def _breaking(text: str) -> str:
    return BREAKS.sub("\u200b", text) if len(text) > 12 else text
