"""A table as an installation opens it (CONTRACT §1): an event of its link's stream, or the first one of its own."""

from __future__ import annotations

from typing import Final

from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.installing import member_change
from tables.rules.house import House

INSTALL: Final = "table.install"


def install(act: Act, house: House) -> Decision:
    """Open a table, on its link or on none. Its first terms count from the beginning: no deal lies before its opening."""
    table = act.payload["table"]
    code = table.get("link")
    rows = house.links[code].rows({}, nanoseconds(act.at)) if code is not None else []
    return done(act, [], rows, changes=[member_change(table, act.at)])
