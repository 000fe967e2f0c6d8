"""Locks as their rows keep them, read as of a sequence of their stream: to record what names one, and to verify it.

A row is compared where its lock is decided again (`devices.audit.locks`); whoever reads it here may rely on that.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from accounting.statements import execute
from jackpot.rules.parts import Brought
from jackpot.rules.progressive import Locked
from tables.models import Lock
from tables.rules.house import LockState

encode = msgspec.json.Encoder(order="sorted").encode


def put_in(state: LockState) -> bytes:
    """What a lock's row keeps of it for its round's result."""
    return encode({
        "brought": {level: list(brought) for level, brought in state.brought.items()},
        "counts_at": state.counts_at,
        "link": state.link,
        "stakes": {str(seat): cents for seat, cents in state.stakes.items()},
    })  # fmt: skip


def state_of(kept: bytes) -> LockState:
    """A lock that waits, from what its row keeps."""
    found = msgspec.json.decode(kept)
    return LockState(
        found["counts_at"],
        found["link"],
        {int(seat): cents for seat, cents in found["stakes"].items()},
        {level: Brought(*brought) for level, brought in found["brought"].items()},
    )


# A lock as it stood before an event of its stream: it may have ended since.
WAITING = """
    SELECT tabl.code, lock.reference, lock.put_in FROM tables_lock lock JOIN tables_table tabl ON tabl.id = lock.table_id
    WHERE lock.stream_id = %s AND lock.sequence < %s AND coalesce(lock.ended >= %s, true)
"""


def waiting(stream_id: int, *, before: int) -> dict[tuple[str, str], LockState]:
    """Every lock of a stream that waited for its result before a sequence, by table and reference."""
    return _waiting(WAITING, [stream_id, before, before])


def of_round(stream_id: int, subject: str, *, before: int) -> dict[tuple[str, str], LockState]:
    """The lock of the round `TABLE/ROUND` that waited for its result before a sequence of its stream; empty where none did."""
    table, _, reference = subject.partition("/")
    return _waiting(
        WAITING + " AND tabl.code = %s AND lock.reference = %s", [stream_id, before, before, table, reference]
    )


def _waiting(statement: str, values: list[Any]) -> dict[tuple[str, str], LockState]:
    return {(table, reference): state_of(kept) for table, reference, kept in execute(statement, values)}


STREAMS = """
    SELECT lock.table_id, lock.reference, lock.stream_id FROM tables_lock lock
    JOIN unnest(%s::bigint[], %s::text[]) AS asked (table_id, reference)
        ON asked.table_id = lock.table_id AND asked.reference = lock.reference
    WHERE lock.state = 'locked'
"""


def streams_of(rounds: Iterable[tuple[int, str]]) -> dict[tuple[int, str], int]:
    """The streams on which locks of these rounds wait, of those that have one; a round is its table's id and its reference."""
    asked = list(rounds)
    found = execute(STREAMS, [[table_id for table_id, _ in asked], [reference for _, reference in asked]])
    return {(table_id, reference): stream_id for table_id, reference, stream_id in found}


DECIDED_BY = "SELECT put_in FROM tables_lock WHERE stream_id = %s AND ended = %s AND state = 'decided'"


def decided_by(stream_id: int, sequence: int) -> Locked | None:
    """What the lock had put in that the round of an event decided; None where it had none."""
    kept = put_in_at(stream_id, sequence)
    return None if kept is None else state_of(kept).put_in


def put_in_at(stream_id: int, sequence: int) -> bytes | None:
    """The same, as the lock's row keeps it."""
    found = execute(DECIDED_BY, [stream_id, sequence])
    return bytes(found[0][0]) if found else None


OF_HOLD = "SELECT put_in FROM tables_lock WHERE table_id = %s AND reference = %s AND state <> 'void'"


def of_hold(table_id: int, reference: str) -> LockState | None:
    """The lock that a held result was judged with; None where there was none.

    A lock that came after the result has no row here, and one cannot be voided any more once its result has come: so one
    that is not void was there, whatever has become of the round since.
    """
    found = execute(OF_HOLD, [table_id, reference])
    return state_of(found[0][0]) if found else None


def waiting_now(stream_id: int) -> int:
    """How many locks of a stream wait for their results."""
    return Lock.objects.filter(stream_id=stream_id, state=Lock.State.LOCKED).count()
