"""What an act names of the past, as it stood before a sequence of its stream, from the events alone (ARCHITECTURE §3a).

A hit, an envy payout and a settled round are all read from the settlement that they came with, its lock, and the acts about
them since. Recording asks for them before the next sequence, verification before the event in hand: both by `given`. Rows that
show where a hit or a round stands are used to find its event only: what is not in that event's own settlement is not there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import msgspec

from accounting.event_queries import acts_about
from jackpot.hits_on_record import hit_detected
from jackpot.rules.decision import Act
from jackpot.rules.meter import Meter
from tables.queries.record import head_and_result, round_settled, settlement_at
from tables.rules.house import House
from tables.rules.precedents import OF_ENVY, OF_HITS, OF_THE_PAST, Precedent, meters_in, names, precedent
from tables.services import terms
from tables.services.lock_rows import decided_by
from tables.services.messages import MESSAGES

Place = tuple[int, int]
"""A stream and a sequence on it."""


class NotAsRecorded(ValueError):
    """A settlement that an act builds on is not the one that its event was hashed with."""


def place_of(act: str, subject: str) -> Place | None:
    """Where the round stands that an act is about, by its own name or that of its hit or envy payout; None if nowhere."""
    if act in OF_HITS:
        return hit_detected(subject)
    if act in OF_ENVY:
        subject = "/".join(subject.split("/")[:-2])
    return place_of_round(*names(subject))


def place_of_round(table: str, reference: str) -> Place | None:
    """Where a settled or void round stands; None while it is none."""
    message_id = MESSAGES.result_of(table, reference)
    return None if message_id is None else round_settled(message_id)


def of_act(act: str, subject: str, stream_id: int, *, before: int) -> Precedent | None:
    """What an act of a stream names, as it stood before a sequence; None where nothing was on record by then."""
    if act not in OF_THE_PAST:
        return None
    place = place_of(act, subject)
    if place is None or place[0] != stream_id or place[1] >= before:
        return None
    return at(*place, before=before)


def at(stream_id: int, sequence: int, *, before: int) -> Precedent:
    """The settled round of a stream's event, with what became of it and of its hits before another sequence.

    Raises NotAsRecorded.
    """
    settlement, digest, won_on = settlement_at(stream_id, sequence)
    if sha256(settlement).digest() != digest:
        raise NotAsRecorded(f"the settlement of event {sequence} is not the one that was hashed")
    settled: Any = msgspec.json.decode(settlement)
    rows = settled["meters"]
    meters = meters_before(stream_id, sequence, rows[0]["link"]) if rows else {}
    found = precedent(sequence, settled, meters, decided_by(stream_id, sequence), won_on)
    for event in acts_about(stream_id, found.subjects(), sorted(OF_THE_PAST), before=before):
        result = msgspec.json.decode(event.result)
        found.take(result.get("steps", []))
    return found


def meters_before(stream_id: int, sequence: int, link: str) -> dict[str, Meter]:
    """The meters of a link before an event, by the results of those before it; at its opening, by its terms."""
    meters = dict(terms.house_of(stream_id, before=sequence).links[link].meters)
    for earlier in range(sequence - 1, -1, -1):
        _, result = head_and_result(stream_id, earlier)
        rows = msgspec.json.decode(result or b"{}").get("meters")
        if rows:
            return meters | meters_in(rows, link)
    return meters


@contextmanager
def given(act: Act, house: House, stream_id: int, *, before: int) -> Iterator[Precedent | None]:
    """Let a house that remembers nothing know of what an act names, while the block lasts."""
    found = of_act(act.act, act.subject, stream_id, before=before)
    if found is not None:
        found.give(house)
    try:
        yield found
    finally:
        if found is not None:
            found.forget(house)
