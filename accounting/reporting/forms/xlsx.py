"""A report as a workbook, written row by row into a file: what was written is not kept in memory."""

from __future__ import annotations

from decimal import Decimal
from typing import IO, Any, Final

import xlsxwriter

from accounting.reporting.making import Made
from accounting.reporting.shape import DECIMAL, MONEY, PERCENT, WHOLE
from accounting.reporting.written import plain

TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ROWS_OF_A_SHEET: Final = 1_000_000
"""A sheet holds 1,048,576; what is more goes on on another one."""
LONGEST: Final = 32_767
MOST_DIGITS: Final = 15
"""A spreadsheet keeps so many digits of a number: an amount of more is written as text, so that no cent of it is lost."""
NUMBERS: Final = {MONEY: "#,##0.00", PERCENT: '0.00"%"', DECIMAL: "#,##0.00", WHOLE: "#,##0"}
WIDTHS: Final = {MONEY: 14, PERCENT: 9, DECIMAL: 11, WHOLE: 10, "day": 11, "moment": 20, "text": 20}


def write(made: Made, file: IO[bytes]) -> None:
    """Write the workbook to a file. Numbers are numbers, everything else is text: no cell is a formula or a link."""
    book = xlsxwriter.Workbook(file, {"constant_memory": True})
    book.set_properties({"title": made.heading.title, "author": made.heading.house, "created": made.asked.at})
    _Writer(book, made).write()
    book.close()


class _Writer:
    """Where the next row goes."""

    def __init__(self, book: Any, made: Made) -> None:
        self.book, self.made = book, made
        self.kinds = [column.kind for column in made.report.columns]
        self.bold = book.add_format({"bold": True})
        self.head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"})
        self.formats = {kind: book.add_format({"num_format": number}) for kind, number in NUMBERS.items()}
        self.totals = {
            kind: book.add_format({"num_format": number, "bold": True, "top": 1}) for kind, number in NUMBERS.items()
        }
        self.sheets = self.next = 0
        self.sheet: Any = None

    def write(self) -> None:
        made = self.made
        self._sheet()
        for name, words in (*made.heading.lines, *(("Note", remark) for remark in made.remarks)):
            self.sheet.write_string(self.next, 0, name, self.bold)
            self._text(1, words)
            self.next += 1
        self.next += 1
        self._titles()
        for number, row in enumerate(made.rows(), 1):
            self._row(row, self.formats)
            if number % ROWS_OF_A_SHEET == 0:
                self._sheet()
                self._titles()
        self._row(made.totals.row(), self.totals)
        self.next += 1
        self._text(0, f"Rows: {made.totals.count:,}")
        for verdict in made.totals.verdicts():
            self.next += 1
            self._text(0, verdict.words)

    def _sheet(self) -> None:
        self.sheets, self.next = self.sheets + 1, 0
        self.sheet = self.book.add_worksheet(f"Report {self.sheets}" if self.sheets > 1 else "Report")
        self.sheet.set_landscape()
        self.sheet.fit_to_pages(1, 0)
        for place, kind in enumerate(self.kinds):
            self.sheet.set_column(place, place, WIDTHS[kind])

    def _titles(self) -> None:
        for place, column in enumerate(self.made.report.columns):
            self.sheet.write_string(self.next, place, column.title, self.head)
        self.next += 1
        self.sheet.freeze_panes(self.next, 1)

    def _row(self, row: tuple[Any, ...], formats: dict[str, Any]) -> None:
        for place, (kind, value) in enumerate(zip(self.kinds, row, strict=True)):
            found = plain(kind, value, self.made.zone)
            if isinstance(found, (int, Decimal)) and len(f"{abs(found)}".replace(".", "")) <= MOST_DIGITS:
                self.sheet.write_number(self.next, place, found, formats[kind])
            elif found is not None:
                self._text(place, str(found))
        self.next += 1

    def _text(self, place: int, text: str) -> None:
        self.sheet.write_string(self.next, place, text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")
