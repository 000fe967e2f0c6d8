"""What an act asks about beyond its stream's state, read from the record as of a sequence: to record it, and to verify it."""

from typing import Any

import msgspec

from accounting.queries import stream_ids
from jackpot.hits_on_record import open_hits
from jackpot.rules.decision import Act
from jackpot.rules.meter import Meter
from jackpot.rules.progressive import MeterRow
from tables.queries.record import head_and_result
from tables.rules.house import House
from tables.rules.precedents import meters_in
from tables.services import lock_rows, terms

CLOSE = "link.close"


def know(act: Act, house: House, stream_id: int, *, before: int) -> None:
    """Let a house know the hits and locks that an act asks about, as they were on record before a sequence of its stream."""
    if act.act == CLOSE:
        house.hits = {hit.name: hit for hit in open_hits(stream_id, before)}
        house.locks = lock_rows.waiting(stream_id, before=before)


def house_before(place: dict[str, Any]) -> House:
    """The house of a stream before an event that a cause names, on its meters as the result before that has them."""
    code, sequence = place["stream"], place["sequence"]
    if sequence == 0:
        return House({}, {}, remembers=False)
    house = terms.recorded(place)
    _, result = head_and_result(stream_ids([code])[code], sequence - 1)
    if code in house.links:
        house.links[code].meters.update(meters_of(result, code))
    return house


def meters_of(result: bytes | None, link: str) -> dict[str, Meter]:
    """The meters of a link as a result has them; none where it has none, as an opening of the first version, or is unreadable."""
    try:
        rows: list[MeterRow] = msgspec.json.decode(result or b"{}").get("meters", [])
    except (msgspec.DecodeError, AttributeError):
        return {}  # whoever replays the event itself says what is wrong with it
    return meters_in(rows, link)
