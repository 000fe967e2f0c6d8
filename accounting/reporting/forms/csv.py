"""A report as CSV, row by row: what stands above it, its columns, its rows, its totals and whether they foot."""

from collections.abc import Iterator

from accounting.reporting.making import Made
from accounting.reporting.written import plain
from accounting.rules.spreadsheet import row

TYPE = "text/csv"


def parts(made: Made) -> Iterator[str]:
    """The file, line by line. Amounts are dollars, shares percent; no text is one that a spreadsheet would run."""
    columns, zone = made.report.columns, made.zone
    for line in made.heading.lines:
        yield row(line)
    for remark in made.remarks:
        yield row(("Note", remark))
    yield row(())
    yield row(column.title for column in columns)
    kinds = [column.kind for column in columns]
    for found in made.rows():
        yield row([plain(kind, value, zone) for kind, value in zip(kinds, found, strict=True)])
    totals = [plain(kind, value, zone) for kind, value in zip(kinds, made.totals.row(), strict=True)]
    yield row(())
    yield row(("Rows", made.totals.count))
    if any(value is not None for value in totals):
        yield row(column.title if column.sums or column.ratio else "" for column in columns)
        yield row(totals)
    for verdict in made.totals.verdicts():
        yield row((verdict.words,))
