"""Reports of meters as they were read, and of what went otherwise than it should."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from accounting.reporting.shape import (
    CONTROL,
    METERS,
    MOMENT,
    MONEY,
    ONE_DAY,
    PERCENT,
    WHOLE,
    Asked,
    Column,
    Foot,
    Parameter,
    Report,
    Row,
)
from accounting.rules.roles import ACCOUNTING, AUDITOR, CONTROLLER, MANAGER
from devices import exceptions
from devices.closing import sheet
from jackpot.queries import link_keys
from jackpot.rules.meter import MILLION

OFFICE: Final = frozenset({ACCOUNTING, CONTROLLER, AUDITOR, MANAGER})


def _links() -> list[str]:
    return [code for code, _, _ in link_keys()]


# ── the daily meter reading and reconciliation ──────────────────────────────────────────────────────────────────
def _sheet(asked: Asked) -> Iterator[Row]:
    only = asked.get("link")
    lines = [line for line in sheet.lines(asked.first, at=asked.at) if only is None or line.link == only]
    for line, played in zip(lines, sheet.played(lines), strict=True):
        reading = line.reading
        expected = reading.expected_cents if reading else line.expected_cents
        variance = reading.variance_cents if reading else None
        said = [note.text for note in reading.explanations] if reading else []
        yield (
            line.level, Fraction(line.rate_ppm, MILLION), Fraction(line.reserve_ppm, MILLION), played.wagers,
            played.wagered_cents, len(played.hits), ", ".join(played.slips) or None, line.opening_cents, *line.columns, expected,
            reading.display_cents if reading else None, variance,
            Fraction(variance, expected) if variance is not None and expected else None,
            line.reserve_cents, line.overflow_cents, f"{reading.by}, {reading.method}" if reading else None,
            reading.read_at if reading else None, "; ".join(said) or None,
            reading.signed.by if reading and reading.signed else None,
        )  # fmt: skip


def _unread(asked: Asked) -> list[str]:
    levels = [line.level for line in sheet.lines(asked.first, at=asked.at) if line.reading is None]
    if not levels:
        return []
    return [f"Not read on this gaming day, and shown as they stand now: {', '.join(levels)}."]


PROGRESSIVE: Final = Report(
    code="progressive",
    title="Daily progressive report",
    purpose="Every level from its reading before over wagers, contributions, hits and resets to what it should show, and showed",
    group=METERS,
    roles=OFFICE,
    period=ONE_DAY,
    parameters=(Parameter(name="link", title="Link", options=_links),),
    columns=(
        Column(name="level", title="Level"),
        Column(name="rate", title="Rate", kind=PERCENT, only_in_files=True),
        Column(name="reserve_rate", title="Reserve rate", kind=PERCENT, only_in_files=True),
        Column(name="wagers", title="Wagers", kind=WHOLE, only_in_files=True),
        Column(name="wagered", title="Wagered", kind=MONEY),
        Column(name="hits", title="Hits", kind=WHOLE, sums=True),
        Column(name="slips", title="Slips", only_in_files=True),
        Column(name="opening", title="Prior reading", kind=MONEY, sums=True),
        *(Column(name=name, title=title, kind=MONEY, sums=True) for name, title in sheet.COLUMNS),
        Column(name="expected", title="Expected", kind=MONEY, sums=True),
        Column(name="reading", title="Reading", kind=MONEY, sums=True),
        Column(name="variance", title="Variance", kind=MONEY, sums=True),
        Column(name="variance_share", title="Var. %", kind=PERCENT, only_in_files=True),
        Column(name="reserve", title="Reserve", kind=MONEY, sums=True, only_in_files=True),
        Column(name="overflow_part", title="Overflow", kind=MONEY, sums=True, only_in_files=True),
        Column(name="read_by", title="Read by", only_in_files=True),
        Column(name="read_at", title="Read at", kind=MOMENT, only_in_files=True),
        Column(name="explanation", title="Explanation", only_in_files=True),
        Column(name="signed_by", title="Signed by", only_in_files=True),
    ),
    rows=_sheet,
    feet=(
        Foot(
            said="prior reading and movements are what is expected",
            left=("opening", *(name for name, _ in sheet.COLUMNS)),
            right=("expected",),
        ),
        Foot(said="expected and variance are the reading", left=("expected", "variance"), right=("reading",)),
    ),
    remarks=_unread,
)


# ── exceptions ──────────────────────────────────────────────────────────────────────────────────────────────────
def _exceptions(asked: Asked) -> Iterator[Row]:
    for each in exceptions.between(asked.first, asked.last, only=asked.get("kind"), at=asked.at):
        yield each.kind, each.at, each.about, each.who, each.detail or None, each.cents, each.minutes


def _by_kind(asked: Asked) -> list[str]:
    found = exceptions.between(asked.first, asked.last, only=asked.get("kind"), at=asked.at)
    counts = Counter(each.kind for each in found)
    return (
        ["By kind: " + ", ".join(f"{kind} {counts[kind]}" for kind in exceptions.KINDS if counts[kind]) + "."]
        if counts
        else []
    )


EXCEPTIONS: Final = Report(
    code="exceptions",
    title="Exceptions",
    purpose="What went otherwise than it should: rounds held, void, late; overrides; lost contact; meters and holds off",
    group=CONTROL,
    roles=OFFICE,
    parameters=(Parameter(name="kind", title="Kind", options=lambda: exceptions.KINDS),),
    columns=(
        Column(name="kind", title="Kind"),
        Column(name="at", title="When", kind=MOMENT),
        Column(name="about", title="About"),
        Column(name="who", title="Who"),
        Column(name="detail", title="Detail"),
        Column(name="amount", title="Amount", kind=MONEY),
        Column(name="minutes", title="Minutes lost", kind=WHOLE, sums=True),
    ),
    rows=_exceptions,
    remarks=_by_kind,
)

REPORTS: Final = (PROGRESSIVE, EXCEPTIONS)
