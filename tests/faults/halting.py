"""Who settles one stream once, and stands still at a point of the batch that it is told.

python -m tests.faults.halting STREAM PHASE stop|wait

`stop`: the process stops itself, as SIGSTOP from outside does. `wait`: it says so and waits for a line, then goes on. At the end
it says what became of the batch.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

PHASES = ("alone", "attempted", "locked", "taken", "copying", "written", "committed", "told")
"""The advisory lock is held; the attempt is on record; the stream's row is locked; messages are read; rows are on their way; all
is written; it is committed, and the advisory lock still held; all is over, and who listens is to be told."""

PIECES = 3  # of a COPY that were sent before it stops


def main(stream: int, phase: str, how: str) -> None:
    """Settle a batch."""
    import django

    django.setup()
    from django.db import Error
    from django.utils import timezone

    from accounting.services import ledger
    from accounting.services.copying import Copying
    from devices.intake import settler, settling
    from jackpot.services import listening
    from tables.services import rounds

    def halt() -> None:
        print("halted", flush=True)
        if how == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        else:
            sys.stdin.readline()

    def around(owner: Any, name: str, *, after: bool = False) -> None:
        plain: Callable[..., Any] = getattr(owner, name)

        def halting(*args: Any, **kwargs: Any) -> Any:
            if not after:
                halt()
            found = plain(*args, **kwargs)
            if after:
                halt()
            return found

        setattr(owner, name, halting)

    def amid_a_copy() -> None:
        plain, flushed = Copying._flush, [0]

        def flush(self: Copying) -> Any:
            yield from plain(self)
            flushed[0] += 1
            if flushed[0] == PIECES:
                halt()

        Copying._flush = flush  # type: ignore[method-assign]

    halts: dict[str, Callable[[], None]] = {
        "alone": lambda: around(settling, "_attempt"),
        "attempted": lambda: around(settling, "_attempt", after=True),
        "locked": lambda: around(ledger, "lock_where_free", after=True),
        "taken": lambda: around(rounds, "settle_batch"),
        "copying": amid_a_copy,
        "written": lambda: around(settling, "_report"),
        "committed": lambda: around(settling, "_over"),
        "told": lambda: around(listening, "tell"),
    }
    halts[phase]()
    try:
        print("settled", settler.empty(stream, clock=timezone.now), flush=True)
    except Error as error:
        print("ended", type(error).__name__, str(error).strip().replace("\n", " "), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
