"""The receipts that a stream's queue has passed: a look for its front starts there and not at its beginning.

What was settled leaves the queue, but while somebody's snapshot is held its rows and their places in the index stay, and a look
from the beginning would pass every one of them: the longer a report lasts, the dearer each round. So a receipt is kept below
which nothing waits and nothing will come. That is more than to have settled what was there: receipts are handed out before they
are committed, and one that is still on its way may be lower than all that were seen.

Three batches move it on. One puts a receipt forward, the last that it took. A later one writes down the number of its own
transaction: whoever was handed a lower receipt has a lower one, for a post has its number before its receipt (`inbox.STORE`). A
third, when all of these are over, takes the receipt over; but for no more than what waits, which another stream may have handed
over since. All of it is said in rows, none in a process: a standby that is promoted, or a house that was restored, knows as much
as its queue.
"""

import math
import time

from accounting.statements import execute

SECONDS = 1.0
"""So often a process moves on what a stream has passed: each time costs a version of a row, and each look what came since."""

# The lowest receipt that may wait on a stream; its own row is found from the end of the index, as the ledger's are.
FROM = """coalesce((
    SELECT newest.receipt FROM (
        SELECT stream_id, receipt FROM devices_passed WHERE stream_id <= %(stream)s ORDER BY stream_id DESC LIMIT 1
    ) AS newest WHERE newest.stream_id = %(stream)s
), 0)"""
# Not while somebody may still be at work who was when the number was noted.
MOVE_ON = """
    INSERT INTO devices_passed AS passed (stream_id, receipt, put_forward, noted_by)
    VALUES (%(stream)s, 0, %(receipt)s, 0)
    ON CONFLICT (stream_id) DO UPDATE SET (receipt, put_forward, noted_by) = (
        SELECT taken.receipt, greatest(taken.receipt, excluded.put_forward), 0
        FROM (
            SELECT least(passed.put_forward, (
                SELECT queued.receipt FROM devices_queued queued
                WHERE queued.stream_id = passed.stream_id AND queued.receipt >= passed.receipt
                ORDER BY queued.receipt LIMIT 1
            )) AS receipt
        ) AS taken
        WHERE passed.noted_by BETWEEN 1 AND pg_current_xact_id()::text::bigint
        UNION ALL
        SELECT passed.receipt, passed.put_forward, pg_current_xact_id()::text::bigint
        WHERE NOT passed.noted_by BETWEEN 1 AND pg_current_xact_id()::text::bigint
    )
    WHERE NOT passed.noted_by BETWEEN pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        AND pg_current_xact_id()::text::bigint
"""

# When this process last moved each stream on.
_moved: dict[int, float] = {}


def took(stream_id: int, receipt: int) -> None:
    """Move on what a stream has passed, if it is time. The caller has just settled all up to `receipt`, and holds its lock."""
    now = time.monotonic()
    if now - _moved.get(stream_id, -math.inf) >= SECONDS:
        _moved[stream_id] = now
        execute(MOVE_ON, {"stream": stream_id, "receipt": receipt}, kept=True)
