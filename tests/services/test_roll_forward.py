"""What is owed on jackpots from period to period: names of periods, and a house that goes on playing meanwhile."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from accounting import roll_forward
from accounting.reconciliation import OF_REASON
from accounting.roll_forward import MOVEMENTS, WIDTHS, period_of, rolled
from accounting.rules.events import REASONS
from tests.services.house import OPENED, TWIN, House, message, royal

PLAYED = date(2026, 11, 27)
"""The gaming day of the deals."""
DAYS = OPENED.date(), PLAYED


@pytest.mark.parametrize(
    ("day", "names"),
    [
        (date(2026, 1, 1), ("2026-01-01", "2026-01", "2026 Q1", "2026")),
        (date(2026, 3, 31), ("2026-03-31", "2026-03", "2026 Q1", "2026")),
        (date(2026, 4, 1), ("2026-04-01", "2026-04", "2026 Q2", "2026")),
        (date(2027, 12, 31), ("2027-12-31", "2027-12", "2027 Q4", "2027")),
    ],
)
def test_a_day_is_in_a_period_of_every_width(day: date, names: tuple[str, ...]) -> None:
    assert tuple(period_of(day, width) for width in WIDTHS) == names


def test_every_reason_that_moves_what_is_owed_has_a_column() -> None:
    assert set(REASONS) - set(OF_REASON) == {"wager", "fixed_pay", "withholding"}, (
        "of play, and of what was paid already"
    )
    assert set(OF_REASON.values()) == set(MOVEMENTS)


def test_what_is_settled_meanwhile_is_on_neither_side(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.play(royal("r-1"))
    quiet = list(rolled(*DAYS, "year"))
    plain = roll_forward._moved

    def busy(*asked: Any) -> Any:
        house.play(message("r-2"), royal("r-3"))
        return plain(*asked)

    monkeypatch.setattr(roll_forward, "_moved", busy)
    assert list(rolled(*DAYS, "year")) == quiet
    monkeypatch.undo()
    after = list(rolled(*DAYS, "year"))
    assert after != quiet
    for run in (1, 2, 3):
        monkeypatch.setattr(roll_forward, "EVENTS_AT_ONCE", run)
        assert list(rolled(*DAYS, "year")) == after, "every event is in one run"
    for each in quiet + after:
        assert each.opening_cents + sum(each.moved_cents) == each.closing_cents


def test_a_period_opens_with_what_the_one_before_closed_with(house: House) -> None:
    """And closes with that and what moved it, on whatever streams of the day."""
    house.play(royal("r-1"), royal("r-1", table=TWIN))
    opened, played, both = (
        {(each.kind, each.owner): each for each in rolled(*days, "month")}
        for days in ((OPENED.date(), OPENED.date()), (PLAYED, PLAYED), DAYS)
    )
    assert set(opened) < set(played) == set(both)
    for name, each in played.items():
        assert each.opening_cents == (opened[name].closing_cents if name in opened else 0)
        assert each.closing_cents == both[name].closing_cents
        assert both[name].opening_cents == 0
        assert each.opening_cents + sum(each.moved_cents) == each.closing_cents
    assert opened["liability", "ms-mg01/major"].closing_cents == 1_000_000
