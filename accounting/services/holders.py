"""Who holds a stream, or what somebody waits for, and has fallen silent is ended, so that another can go on.

A process that was stopped, or that hangs, keeps its session, and with it what the session has locked: the server waits for
its next word. A machine that is gone is found out by keepalives; between two statements of a batch the server itself loses
patience (`idle_in_transaction_session_timeout`); neither helps where a process has stopped amid a COPY or an answer.

Silent means that the server waits for it, and that nothing of it has come or gone between one look and the next. A session that
computes, waits for a lock, for the disk or for a standby is at work, however long it takes; so is one whose rows keep arriving.

A session ends those of its own role only, which needs no right beside: settling workers those that settle, whoever does long jobs
those of web and jobs. What was not committed is undone by the server, before anybody else can have the lock.
"""

from collections.abc import Callable
from typing import Any

import structlog

from accounting.statements import execute

log = structlog.get_logger()

SILENT_SECONDS = 4.0  # with a look a second it is ended before five have passed

# Who has locked a stream's row, or adds to a stream, holds this lock on their table; who tries a batch the advisory one. A batch
# may also wait for a lock of another kind, say the property's while a day is closed: whoever keeps somebody waiting is looked at.
HOLDING = """
    SELECT activity.pid, activity.backend_start, activity.state_change, activity.wait_event, copying.bytes_processed,
        activity.application_name, activity.state
    FROM pg_stat_activity activity LEFT JOIN pg_stat_progress_copy copying USING (pid)
    WHERE activity.wait_event_type = 'Client' AND activity.usename = current_user AND activity.pid <> pg_backend_pid()
        AND activity.datname = current_database() AND activity.pid IN (
            SELECT pid FROM pg_locks WHERE granted
                AND (locktype = 'relation' AND relation = 'accounting_stream'::regclass AND mode <> 'AccessShareLock'
                    OR locktype = 'advisory' AND classid = %s)
            UNION ALL SELECT unnest(pg_blocking_pids(pid)) FROM pg_locks WHERE NOT granted)
"""
END = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = %s AND backend_start = %s AND state_change = %s AND wait_event_type = 'Client'
"""


class Watch:
    """What one process has seen of those who hold streams, from one look to the next.

    `clock` reads seconds; `attempting` is the class of the advisory locks that keep a stream from others.
    """

    def __init__(self, clock: Callable[[], float], *, attempting: int) -> None:
        self.clock = clock
        self.attempting = attempting
        self.seen: dict[tuple[Any, ...], float] = {}

    def look(self) -> list[int]:
        """End whoever was silent since long enough; their processes of the server."""
        now = self.clock()
        found = [tuple(row) for row in execute(HOLDING, [self.attempting])]
        self.seen = {holder: self.seen.get(holder, now) for holder in found}
        silent = [holder for holder, since in self.seen.items() if now - since >= SILENT_SECONDS]
        ended = []
        for holder in silent:
            pid, born, changed, waits, _, name, state = holder
            if execute(END, [pid, born, changed]) == [(True,)]:
                log.warning("silent_holder_ended", process=pid, name=name, state=state, waited=waits)
                ended.append(pid)
        return ended
