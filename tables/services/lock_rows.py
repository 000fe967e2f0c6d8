"""Locks as their rows keep them, read as of a sequence of their stream: to record what names one, and to verify it.

A row is compared where its lock is decided again (`devices.audit.locks`); whoever reads it here may rely on that.
"""

from typing import Any

import msgspec

from accounting.statements import execute
from jackpot.rules.parts import Brought
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
