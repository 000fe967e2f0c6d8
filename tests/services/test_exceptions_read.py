"""What the report of exceptions is made of, against the rows: rounds that were held, and rounds booked on a later day."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

import pytest

from tables.queries import exceptions
from tests.services.house import ALONE, LINKED, RECEIVED, TWIN, House, message, rows, run
from tests.services.played import stirred

FIRST, LATER = RECEIVED + timedelta(minutes=1), RECEIVED + timedelta(minutes=2)
TWICE: dict[str, Any] = {"community": "2c 2c Kd"}


def dealt(day: int) -> str:
    return f"2026-11-{day}T20:00:00-05:00"


def test_rounds_held_from_a_moment_to_before_another_come_as_they_were_received(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are read at once, and whether they wait still or were decided."""
    miscounted = message("H-2", table=TWIN, dealing={"method": "shuffler", "mode": "cover_all", "players": 2})
    for at, some in (
        (LATER, [message("H-1", **TWICE)]),
        (FIRST, [miscounted, message("H-3", table=ALONE, **TWICE), message("H-4", **TWICE), message("R-1")]),
        (RECEIVED, [message("H-5", **TWICE)]),
    ):
        house.play(*some, at=at)
    house.act("round.void", f"{LINKED}/H-4", at=LATER)
    stirred()
    every = [
        (f"{LINKED}/H-1", ["duplicate_card"], LATER, True),
        (f"{TWIN}/H-2", ["players_mismatch"], FIRST, True),
        (f"{ALONE}/H-3", ["duplicate_card"], FIRST, True),
        (f"{LINKED}/H-4", ["duplicate_card"], FIRST, False),
        (f"{LINKED}/H-5", ["duplicate_card"], RECEIVED, True),
    ]
    for at_once in (1, 2, 1_000):
        monkeypatch.setattr(exceptions, "AT_ONCE", at_once)
        for first in (RECEIVED, FIRST, LATER):
            for end in (RECEIVED, FIRST, LATER, LATER + timedelta(microseconds=1)):
                expected = [each for each in every if first <= each[2] < end]
                found = list(islice(exceptions.held_between(first, end), 9))
                assert found == expected, (at_once, first, end)


def test_rounds_booked_late_come_as_they_were_recorded_with_both_their_days(house: House) -> None:
    """Those booked in the days that are asked for, of whatever day they are."""
    for day in (25, 26):
        run("INSERT INTO accounting_gamingday (date, closed_at) VALUES (%s, now())", date(2026, 11, day))
    house.play(message("R-1"), message("R-2", table=TWIN))  # of their own day
    house.play(
        message("L-1", table=TWIN, dealt_at=dealt(26)), message("L-1", table=ALONE, dealt_at=dealt(25)), at=FIRST
    )
    house.play(
        message("L-2", dealt_at=dealt(26)), message("L-1", dealt_at=dealt(25)), at=RECEIVED + timedelta(seconds=9)
    )
    run("INSERT INTO accounting_gamingday (date, closed_at) VALUES (%s, now())", date(2026, 11, 27))
    house.play(message("L-3", dealt_at=dealt(26)), at=LATER)
    stirred()
    streams = dict(rows("SELECT tabl.code || '/' || reference, (round.stream_id, round.sequence)::text"
                        " FROM tables_round round JOIN tables_table tabl ON tabl.id = table_id"))  # fmt: skip
    recorded: dict[str, datetime] = dict(rows("SELECT (stream_id, sequence)::text, recorded_at FROM accounting_event"))
    days = {f"{LINKED}/L-2": (26, 27), f"{LINKED}/L-1": (25, 27), f"{TWIN}/L-1": (26, 27), f"{ALONE}/L-1": (25, 27),
            f"{LINKED}/L-3": (26, 28)}  # fmt: skip

    def place(name: str) -> tuple[datetime, tuple[int, ...]]:
        return recorded[streams[name]], tuple(map(int, streams[name].strip("()").split(",")))

    every = [
        (name, recorded[streams[name]], date(2026, 11, days[name][0]), date(2026, 11, days[name][1]))
        for name in sorted(days, key=place)
    ]
    assert [name for name, *_ in every][-1] == f"{LINKED}/L-3" and len({at for _, at, *_ in every}) < 5
    for first in (26, 27, 28):
        for last in (26, 27, 28):
            expected = [each for each in every if first <= each[3].day <= last]
            assert exceptions.booked_late(date(2026, 11, first), date(2026, 11, last)) == expected, (first, last)
