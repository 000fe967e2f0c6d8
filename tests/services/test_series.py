"""The chart of a meter: what it stood at after each event, the last of each run (jackpot/queries.py)."""

from __future__ import annotations

import pytest

from jackpot.queries import meter_series, meters_of
from tests.services.house import TWIN, House, message, royal, seat

SHORT = [seat(1, "3s 7d")]  # no progressive wager: the meter stands


@pytest.mark.parametrize(
    ("events", "points", "shown"),
    [
        (10, 10, [1, 2, 4, 5, 6]),  # every event that moved the meter
        (3, 10, [4, 5, 6]),
        (2, 10, [5, 6]),
        (4, 2, [4, 6]),  # the last of each two
        (6, 2, [2, 6]),  # the last of each three that moved it
        (6, 4, [2, 4, 6]),
        (5, 2, [4, 6]),  # runs are counted from where the chart begins
        (6, 1, [6]),
    ],
)
def test_a_series_is_what_the_meter_stood_at(events: int, points: int, shown: list[int], house: House) -> None:
    played = [message("R-1"), message("R-2"), message("R-3", *SHORT), message("R-4"), royal("R-5"), message("R-6")]
    stood = {}
    for sequence, sent in enumerate(played, 1):
        house.play(sent)
        stood[sequence] = meters_of("ms-mg01")[0].value_cents
    assert stood[1] < stood[2] == stood[3] < stood[4] > stood[5] < stood[6]
    (meter,) = meters_of("ms-mg01")
    series = meter_series(meter, events=events, points=points)
    assert [(sequence, cents) for sequence, _, cents in series] == [(sequence, stood[sequence]) for sequence in shown]


def test_what_came_from_another_link_is_in_the_series_once(house: House) -> None:
    """It is booked on the other link's stream, here at the very sequence that this one has of it."""
    stood = {}
    house.play(message("R-1"), message("R-2"))
    house.suspend("ms-mg01")
    for sequence in (1, 2, 3, 4):
        if sequence == 4:
            stream, number = house.act("level.transfer", "ms-mg01/major", to="twin/grand", parts=["display"])
            assert (stream, number) == ("ms-mg01", sequence)
        else:
            house.play(message(f"R-{sequence}", table=TWIN))
        (grand,) = (meter for meter in meters_of("twin") if meter.level.code == "grand")
        stood[sequence] = grand.value_cents
    assert stood[4] > stood[3], "what stood above its reset came over"
    house.play(royal("R-4", table=TWIN))
    (grand,) = (meter for meter in meters_of("twin") if meter.level.code == "grand")
    stood[5] = grand.value_cents
    for events in (10, 3, 2, 1):
        series = meter_series(grand, events=events, points=10)
        assert [(sequence, cents) for sequence, _, cents in series] == list(stood.items())[-events:]
