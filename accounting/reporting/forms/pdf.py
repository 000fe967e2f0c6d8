"""A report as pages: the same data gives the same bytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from accounting import typesetting
from accounting.reporting.making import Made
from accounting.reporting.shape import TEXT, Column
from accounting.reporting.written import said
from accounting.rules.parameters import BadParameter

TYPE: Final = "application/pdf"
TEMPLATE: Final = Path(__file__).parents[1] / "documents" / "report.typ"
MOST, MARGIN = 40, 3
"""The room that a column of words asks for at most, and beside its words, in signs."""
MOST_ROWS: Final = 2_000
BREAKS: Final = re.compile(r"(?<=[/:_.,@-])(?=\w)|(?<=\w{18})(?=\w)")
"""Where a long word may break: behind a sign, and anywhere where there is none for long."""


def document(made: Made) -> bytes:
    """The pages. BadParameter `form` where there are more rows than anybody reads on paper."""
    return typesetting.compiled(TEMPLATE, data(made))


def data(made: Made) -> dict[str, Any]:
    """All that the pages say, in words."""
    columns, zone = made.report.columns, made.zone
    rows: list[list[str]] = []
    for row in made.rows():
        if len(rows) == MOST_ROWS:
            raise BadParameter(
                "form", f"more than {MOST_ROWS:,} rows are for csv or xlsx: ask for fewer days, or narrow the report"
            )
        rows.append([_breaking(said(column.kind, value, zone)) for column, value in zip(columns, row, strict=True)])
    totals = [said(column.kind, value, zone) for column, value in zip(columns, made.totals.row(), strict=True)]
    if any(totals):
        totals[0] = totals[0] or "Total"
    return {
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
        "count": f"{made.totals.count:,} row{'' if made.totals.count == 1 else 's'}",
        "totals": totals if any(totals) else [],
        "feet": [{"words": verdict.words, "even": verdict.is_even} for verdict in made.totals.verdicts()],
    }


def _share(column: Column, place: int, rows: list[list[str]]) -> int:
    """What a column of words takes of the room that figures and times leave, by its longest; 0 for these."""
    if column.kind != TEXT:
        return 0
    longest = max((len(row[place]) for row in rows), default=0)
    heading = max(len(word) for word in column.title.split())
    return min(max(longest, heading + 1), MOST) + MARGIN


def _breaking(text: str) -> str:
    return BREAKS.sub("\u200b", text) if len(text) > 12 else text
