"""What was foreseen, in lines of figures for the page and the command: today's terms beside the proposed ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from devices.foresight.report import COUNTS, FIGURES, dollars
from tables.odds.foreseeing import Figure, Foreseen, LevelForeseen

MONEY = "money"
COUNT = "count"


class Cell(NamedTuple):
    """A figure: its mean, its band of 5 and 95 %, and how it was come by."""

    text: str
    band: str = ""
    how: str = ""


class Line(NamedTuple):
    """One figure under today's terms (none for a link that is not there yet) and under the proposed ones."""

    label: str
    today: Cell | None
    proposed: Cell


NOTHING = Cell("\N{EN DASH}")


def cents(value: Fraction | int) -> str:
    """Cents as dollars, to the nearest cent: for reading."""
    whole = int(value + Fraction(1, 2)) if value >= 0 else -int(-value + Fraction(1, 2))
    return dollars(whole * 1_000_000)


def count(value: Fraction | int) -> str:
    """A count, to the hundredth where it is no whole number."""
    if Fraction(value).denominator == 1:
        return f"{int(value):,}"
    hundredths = int(value * 100 + Fraction(1, 2))
    return f"{hundredths // 100:,}.{hundredths % 100:02d}"


def percent(value: Fraction) -> str:
    """A part of a wager as a percentage with three places."""
    thousandths = int(value * 100_000 + Fraction(1, 2))
    return f"{thousandths // 1_000}.{thousandths % 1_000:03d} %"


def cell(figure: Figure | None, kind: str = MONEY, how: str = "") -> Cell:
    """A figure in words; simulated ones say their standard error."""
    if figure is None:
        return NOTHING
    written = cents if kind == MONEY else count
    band = "" if figure.low is None or figure.high is None else f"{written(figure.low)} to {written(figure.high)}"
    said = "exact" if figure.error is None else f"simulated, ± {written(figure.error)}"
    return Cell(written(figure.mean), band, how or said)


def level_cells(level: LevelForeseen) -> Iterator[tuple[str, Cell]]:
    """The figures of one level by their labels."""
    one_in = Cell(f"1 in {count(1 / level.chance)}", how="exact") if level.chance else NOTHING
    yield "A wager hits the level", one_in
    yield "Hits a month", cell(level.hits, COUNT)
    wait = level.wait
    yield (
        "Wagers to the next hit",
        NOTHING if wait is None else Cell(count(1 / level.chance), f"{wait.low:,} to {wait.high:,}", "exact"),
    )
    yield "Meter at the next hit", cell(level.next_meter)
    meter = level.meter
    yield (
        "Meter at a hit in the long run",
        cell(meter, how="exact; band simulated" if meter is not None and meter.exact else ""),
    )
    yield "Contributed a month", Cell(cents(level.contributed), how="exact")
    yield "Put aside to the reserve a month", Cell(cents(level.reserved), how="exact")
    yield "Paid from the meter in the next month", cell(level.paid)
    yield "Resets and top-ups from the house in the next month", cell(level.house)
    yield (
        "Resets from the house a month in the long run",
        (NOTHING if level.house_long_run is None else Cell(cents(level.house_long_run), how="exact")),
    )
    yield "Reserve after a month", cell(level.reserve_after)
    yield "Overflow after a month", cell(level.overflow_after)


def level_lines(proposed: LevelForeseen, today: LevelForeseen | None) -> list[Line]:
    """A level's figures, today's beside the proposed."""
    known = dict(level_cells(today)) if today is not None else {}
    return [Line(label, known.get(label), figure) for label, figure in level_cells(proposed)]


def return_lines(proposed: LevelForeseen, today: LevelForeseen | None) -> list[Line]:
    """What players get back of a wager, by what the meter shows."""

    def cells(level: LevelForeseen) -> dict[str, Cell]:
        return {
            each.what: Cell(percent(each.returned), f"at {cents(each.meter_cents)}", "exact") for each in level.returns
        }

    known = cells(today) if today is not None else {}
    return [Line(f"Return {what}", known.get(what), figure) for what, figure in cells(proposed).items()]


def link_lines(proposed: Foreseen, today: Foreseen | None) -> list[Line]:
    """What the whole link comes to in a month."""

    def cells(link: Foreseen) -> dict[str, Cell]:
        return {
            "House cost of the levels in the next month": cell(link.cost),
            "Fixed pays of the wager a month": Cell(cents(link.fixed_pays), how="exact"),
            "Envy a month for each other bettor at the table": Cell(cents(link.envy_per_other), how="exact"),
        }

    known = cells(today) if today is not None else {}
    return [Line(label, known.get(label), figure) for label, figure in cells(proposed).items()]


def basis(link: Foreseen) -> str:
    """What the figures rest on, in one sentence."""
    return (
        f"{link.wagers:,} wagers a month of {cents(link.link.paytable.wager_cents)}; simulated: {link.runs:,} months from the"
        f" meters as they stand, seed {link.seed}. Hits are taken as independent of each other."
    )


def replayed_lines(level: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """A replayed level: label, as it was, as it would have been, the difference."""

    def written(name: str, value: int) -> str:
        return f"{value:,}" if name in COUNTS else dollars(value)

    return [
        (label, written(name, level["was"][name]), written(name, level["would"][name]),
         written(name, level["would"][name] - level["was"][name]))
        for name, label in FIGURES
    ]  # fmt: skip


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of texts in columns that line up: the first to the left, the others to the right."""
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    return [
        "  ".join(
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    ]
