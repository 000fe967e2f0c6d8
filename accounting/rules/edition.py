"""The edition of the rules that an event was decided under (ARCHITECTURE §3a).

A change that would decide one recorded cause differently, or write its result in other bytes, gets a new number here; what
the old numbers did stays in the deciders, so that every recorded event can be decided again.
"""

from typing import Final

FIRST: Final = 1
"""Version 0.1.0: an event's hash names neither its edition nor its message's receipt; lines do not name their row; a gaming
day goes by the clock on the wall."""

CURRENT: Final = 2
"""Lines name the paytable row that paid them, envy its award; the hash covers edition, receipt and device; a gaming day goes
by instants."""


class LaterVersion(Exception):
    """What stands on a stream was decided by a version of this program that knows more: only such a one may go on with it."""

    def __init__(self, stream: str, what: str) -> None:
        super().__init__(
            f"stream {stream} has {what}: a later version of this program recorded it, and this one waits for its update"
        )
