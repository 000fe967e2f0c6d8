"""A report as JSON, row by row: amounts are whole cents, shares and figures decimal text."""

import json
from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from accounting.reporting.making import Made
from accounting.reporting.shape import PERCENT, Row
from accounting.reporting.written import rounded

TYPE = "application/json"


def parts(made: Made) -> Iterator[str]:
    """One object, piece by piece; `totals` and `feet` come behind the rows that they are of."""
    report = made.report
    head = {
        "code": report.code,
        "property": made.heading.house,
        "title": made.heading.title,
        "version": made.heading.version,
        "period": made.heading.period,
        "generated": made.heading.generated,
        "filters": made.heading.filters,
        "remarks": made.remarks,
        "columns": [{"name": column.name, "title": column.title, "kind": column.kind} for column in report.columns],
    }
    yield f'{json.dumps(head)[:-1]}, "rows": ['
    for number, row in enumerate(made.rows()):
        yield f"{', ' if number else ''}{json.dumps(_named(made, row))}"
    totals = {
        column.name: _value(column.kind, value)
        for column, value in zip(report.columns, made.totals.row(), strict=True)
        if value is not None
    }
    feet = [
        {"says": each.said, "is_even": each.is_even, "difference": each.difference, "rows": each.rows}
        for each in made.totals.verdicts()
    ]
    yield f"], {json.dumps({'count': made.totals.count, 'totals': totals, 'feet': feet})[1:]}"


def _named(made: Made, row: Row) -> dict[str, Any]:
    return {column.name: _value(column.kind, value) for column, value in zip(made.report.columns, row, strict=True)}


def _value(kind: str, value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(rounded(value * 100) if kind == PERCENT else rounded(value))
    return value.isoformat() if isinstance(value, (date, datetime)) else value
