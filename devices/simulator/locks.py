"""Tables that lock the progressive wagers before they deal, beside those that send one message a round (CONTRACT §2)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from devices.simulator.table import Dealt

LOCKED = "locked"
"""How the service must end a lock."""
USUAL_SHARE = 0.25
"""Of the tables, so many lock."""
AHEAD = timedelta(seconds=1)
"""So long before the deal the dealer presses, at the pace of the floor."""
HAND_SECONDS = 8.0
"""So much later than its lock a result leaves, at the pace of the floor."""


def tables_that_lock(codes: list[str], *, seed: int | str, share: float) -> frozenset[str]:
    """Which of these tables lock: of each its own luck, whatever other tables play."""
    return frozenset(code for code in codes if Random(f"{seed}/{code}/locks").random() < share)


def lock_of(dealt: Dealt, *, speed: float) -> Dealt | None:
    """The lock that came before a round: its progressive wagers; None where nobody made one. Speed 0 knows no pauses."""
    message = dealt.message
    seats = [
        {"seat": seat["seat"], "wagers": {"progressive": seat["wagers"]["progressive"]}}
        for seat in message["seats"]
        if "progressive" in seat["wagers"]
    ]
    if not seats:
        return None
    locked_at = datetime.fromisoformat(message["dealt_at"]) - (AHEAD / speed if speed else timedelta())
    lock = {
        "kind": "lock",
        "round": message["round"],
        "table": message["table"],
        "locked_at": locked_at.isoformat(timespec="milliseconds"),
        "seats": seats,
    }
    return replace(dealt, message=lock, meant=LOCKED, note=None)
