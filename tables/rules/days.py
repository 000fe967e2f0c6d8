"""Closing a gaming day: by the sequence of every stream, not by the clock (SPEC §10, CONTRACT §7 `day.close`)."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Final

from accounting.rules.acts import NESTED, ActRefused, Field, Shape, escaped
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from tables.rules.house import CLOSED_DAY, House

CLOSE: Final = "day.close"
DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _read_sequences(value: Any, pointer: str) -> None:
    """How far whoever asks had looked, by stream: the number of the last event that was looked at."""
    if type(value) is not dict:
        raise ActRefused("invalid_value", pointer, "Sequences: an object is expected")
    for stream, sequence in value.items():
        if type(sequence) is not int or not 0 <= sequence < 2**63:
            raise ActRefused(
                "invalid_value", f"{pointer}/{escaped(stream)}", f"the number of an event of {stream} is expected"
            )


CLOSE_DAY: Final = Shape(
    CLOSE,
    "day",
    (
        Field(
            "sequences", NESTED, "Looked at, by stream", read=_read_sequences,
            help="the last event of every stream that was looked at",
            schema={"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        ),
    ),
)  # fmt: skip


def day_named(subject: str) -> date:
    """The gaming day that a subject names; ActRefused `unknown_subject` where it names none."""
    try:
        if DAY.fullmatch(subject) is None:
            raise ValueError
        return date.fromisoformat(subject)
    except ValueError:
        raise ActRefused("unknown_subject", detail=f"there is no gaming day {subject}") from None


def close(act: Act, house: House) -> Decision:
    """The day is closed for good, and every earlier day with it; nothing moves.

    A day that has not begun cannot be closed: all that is still to come would be booked behind it. One that is not over can:
    what is dealt on it from now on is booked on the next, with its own date beside. That nothing of the day came after what
    was looked at is known by whoever has the streams: the service, and who verifies.
    """
    payload = CLOSE_DAY.read(act.payload)
    day = day_named(act.subject)
    if house.remembers:
        for stream in payload["sequences"]:
            if stream not in house.links and stream not in house.tables:
                raise ActRefused("invalid_value", f"/payload/sequences/{escaped(stream)}", f"there is no {stream}")
    moment = nanoseconds(act.at)
    if house.days is not None and day > house.days.of(moment):
        raise ActRefused("wrong_state", detail=f"gaming day {day} has not begun")
    if house.closed_through is not None and day <= house.closed_through:
        raise ActRefused("wrong_state", detail=f"gaming day {day} is closed")
    rows = [row for link in house.links.values() for row in link.rows({}, moment)]
    return done(act, [], rows, changes=[{"what": CLOSED_DAY, "day": act.subject}])
