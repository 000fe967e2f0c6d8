"""Rows of CSV that a spreadsheet opens as they are meant."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any, Final

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def cell(value: Any) -> Any:
    """A value for a CSV row: empty for none, and no text that a spreadsheet would run as a formula."""
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def row(values: Iterable[Any]) -> str:
    """One row as CSV text."""
    line = io.StringIO()
    csv.writer(line).writerow([cell(value) for value in values])
    return line.getvalue()
