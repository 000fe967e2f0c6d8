"""Figures as pictures: every one is drawn, in its place and on one scale."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from jackpot.pictures import Measured, bands, bars, calendar, look_of, percent


def test_every_day_stands_once_in_its_week_and_the_fullest_is_the_darkest() -> None:
    first, last = date(2026, 11, 24), date(2027, 1, 3)
    numbers = {date(2026, 11, 24): 1, date(2026, 12, 1): 8, date(2027, 1, 3): 3}
    found = calendar(first, last, numbers, {date(2026, 12, 1): "8 hits, $1.00"}, "words")
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    assert len(found.cells) == len(days) == len({(cell.x, cell.y) for cell in found.cells})
    for day, cell in zip(days, found.cells, strict=True):
        assert cell.number == numbers.get(day, 0)
        assert (cell.y - found.cells[0].y) // 34 == day.weekday() - first.weekday()
        assert cell.words.startswith(f"{day:%a} {day.day} {day:%b %Y}: ")
        assert 0 <= cell.x <= found.width - found.cell and cell.y <= found.height - found.cell
    assert [cell.shade for cell in found.cells if cell.number] == [1, 4, 2]
    assert found.cells[7].words.endswith("8 hits, $1.00") and found.cells[1].words.endswith("none")
    assert [name.name for name in found.months] == ["Nov", "Dec", "Jan"]
    begins = [cell for day, cell in zip(days, found.cells, strict=True) if day.day == 1 or day == first]
    assert [(name.x, name.y) for name in found.months] == [(cell.x, 12) for cell in begins], (
        "over the week of its first day"
    )


def test_bars_are_as_long_as_their_numbers() -> None:
    found = bars([("a", 200), ("b", 50), ("c", 0)], "words")
    assert [bar.length / found.bars[0].length for bar in found.bars] == [1, 0.25, 0]
    assert [bar.figure for bar in found.bars] == ["200", "50", "0"]
    assert bars([], "none").height == 0


@pytest.mark.parametrize(
    ("value", "band", "look"),
    [
        (50, (10, 60), "inside"), (10, (10, 60), "inside"), (60, (10, 60), "inside"),
        (9, (10, 60), "below"), (61, (10, 60), "above"), (5, None, "unknown"),
    ],
)  # fmt: skip
def test_a_value_lies_inside_its_band_or_not(value: int, band: tuple[int, int] | None, look: str) -> None:
    low, high = band or (None, None)
    assert look_of(Measured("a", value, low, 30, high)) == look


def test_values_and_bands_stand_on_one_scale_and_at_its_edge_what_lies_beyond() -> None:
    rows = [
        Measured("a", 50_000, 20_000, 40_000, 60_000),
        Measured("b", -400_000, -9_000_000, 45_000, 9_000_000),
        Measured("c", 60_000, 30_000, 45_000, 60_000),
        Measured("d", 70_000, None, None, None),
        Measured("e", 900_000, 0, 42_000, 84_000),
    ]
    found = bands(rows, "words")
    a, b, c, d, e = found.rows
    assert a.x < c.x < d.x < e.x == found.right, "far above all bands"
    assert b.x == found.left
    assert (c.x - a.x) == pytest.approx(d.x - c.x, abs=0.2), "as far apart as they are"
    assert a.band_x is not None and a.band_width is not None and a.expected_x is not None
    assert a.band_x < a.expected_x < a.x < a.band_x + a.band_width, "inside, as it is"
    assert a.expected_x - a.band_x == pytest.approx(a.band_width / 2, abs=0.2)
    assert b.band_x is not None and b.band_width is not None
    assert (b.band_x, round(b.band_x + b.band_width, 1)) == (found.left, found.right), "a band that is wider is cut"
    assert d.band_x is None and d.expected_x is None
    assert [row.look for row in found.rows] == ["inside", "inside", "inside", "unknown", "above"]
    assert all(tick.name.endswith("%") for tick in found.ticks) and 1 <= len(found.ticks) <= 10
    assert bands([], "none").rows == ()


@pytest.mark.parametrize(
    ("ppm", "said"),
    [(0, "0.00%"), (49, "0.00%"), (50, "0.01%"), (170_049, "17.00%"), (-12_350, "−1.24%"), (1_000_000, "100.00%")],
)  # fmt: skip
def test_percents_are_written_to_the_hundredth(ppm: int, said: str) -> None:
    assert percent(ppm) == said


def test_the_scale_is_a_quarter_wider_than_bands_usually_are_and_ten_percent_at_least() -> None:
    wide = bands([Measured("a", 0, -100_000, 0, 100_000), Measured("b", 250_000, None, None, None)], "words")
    assert wide.rows[1].x == wide.right, "250,000 ppm from the middle, five quarters of the band"
    within = bands([Measured("a", 0, -100_000, 0, 100_000), Measured("b", 249_000, None, None, None)], "words")
    assert within.rows[1].x < within.right
    narrow = bands([Measured("a", 0, -1_000, 0, 1_000), Measured("b", 50_000, None, None, None)], "words")
    assert narrow.rows[1].x == narrow.right
    assert (
        bands([Measured("a", 0, -1_000, 0, 1_000), Measured("b", 49_500, None, None, None)], "w").rows[1].x
        < narrow.right
    )
