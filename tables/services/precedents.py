"""What an act asks about beyond its stream's state, read from the record as of a sequence: to record it, and to verify it."""

from jackpot.queries import open_hits
from jackpot.rules.decision import Act
from tables.rules.house import House

CLOSE = "link.close"


def know(act: Act, house: House, stream_id: int, *, before: int) -> None:
    """Let a house know the hits that an act asks about, as far as they were on record before a sequence of its stream."""
    if act.act == CLOSE:
        house.hits = {hit.name: hit for hit in open_hits(stream_id, before)}
