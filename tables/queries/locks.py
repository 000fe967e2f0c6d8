"""Locks as pages show them: what one put in before the cards, and which rounds count from theirs."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from accounting.statements import execute
from tables.queries.payouts import parse_id

SHOWN = """
    SELECT tabl.code, lock.reference, stream.code, lock.stream_id, lock.sequence, lock.state, lock.ended, lock.message_id,
        lock.locked_at, lock.counts_at, lock.result, lock.put_in
    FROM tables_lock lock JOIN tables_table tabl ON tabl.id = lock.table_id
    JOIN accounting_stream stream ON stream.id = lock.stream_id
    WHERE tabl.code = %s AND lock.reference = %s
"""
ENDED = """
    SELECT stream.code, lock.ended FROM tables_lock lock JOIN accounting_stream stream ON stream.id = lock.stream_id
    WHERE lock.state = 'decided' AND (stream.code, lock.ended) IN (SELECT * FROM unnest(%s::text[], %s::bigint[]))
"""


@dataclass(frozen=True, slots=True)
class LockShown:
    """A lock that contributed; `ended` is the sequence of the event that decided or voided it.

    `stakes` are its wagers in cents by seat, `meters` the rows of its result (CONTRACT §3).
    """

    table: str
    round: str
    stream: str
    stream_id: int
    sequence: int
    state: str
    ended: int | None
    message_id: int
    locked_at: datetime
    counts_at: datetime
    result: bytes
    put_in: bytes

    @property
    def stakes(self) -> list[tuple[int, int]]:
        """Seat and cents, in the order of the seats."""
        found: dict[str, int] = msgspec.json.decode(self.put_in)["stakes"]
        return sorted((int(seat), cents) for seat, cents in found.items())

    @property
    def meters(self) -> list[dict[str, Any]]:
        """Every level before and after it."""
        found: list[dict[str, Any]] = msgspec.json.decode(self.result)["meters"]
        return found

    @property
    def subject(self) -> str:
        """What acts call its round."""
        return f"{self.table}/{self.round}"


def lock_of(table: str, reference: str) -> LockShown | None:
    """The lock that contributed to a round; None where there is none."""
    found = execute(SHOWN, [table, reference])
    return LockShown(*found[0]) if found else None


def lock_at(path: str) -> LockShown | None:
    """A lock by `TABLE/REFERENCE`, where either may itself hold a slash that was percent-encoded."""
    parts = path.split("/")
    for cut in range(1, len(parts)):
        found = lock_of("/".join(parts[:cut]), "/".join(parts[cut:]))
        if found is not None:
            return found
    return None


def counted_from_locks(payouts: Collection[str]) -> set[str]:
    """Those of these payouts, by id, whose round counts from its lock."""
    keys = {payout: key for payout in payouts if (key := parse_id(payout)) is not None}
    if not keys:
        return set()
    streams, sequences = [key[0] for key in keys.values()], [key[1] for key in keys.values()]
    decided = {(stream, sequence) for stream, sequence in execute(ENDED, [streams, sequences])}
    return {payout for payout, key in keys.items() if key[:2] in decided}
