"""What went otherwise than it should: rounds that were held, or booked on a later day; tables that lost contact."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime
from typing import NamedTuple

import msgspec

from accounting.event_queries import documented
from accounting.queries import streams
from accounting.rules.events import CONTACT
from accounting.statements import execute

AT_ONCE = 1_000
HELD = """
    SELECT hold.message_id, tabl.code || '/' || hold.reference, hold.reasons, hold.held_at, NOT EXISTS (
        SELECT FROM tables_round round WHERE round.message_id = hold.message_id)
    FROM tables_hold hold JOIN tables_table tabl ON tabl.id = hold.table_id
    WHERE hold.held_at >= %s AND hold.held_at < %s AND hold.message_id > %s ORDER BY hold.message_id LIMIT %s
"""
LATE = """
    SELECT tabl.code || '/' || round.reference, event.recorded_at, round.original_date, round.gaming_date
    FROM tables_round round JOIN tables_table tabl ON tabl.id = round.table_id
    JOIN accounting_event event ON event.stream_id = round.stream_id AND event.sequence = round.sequence
    WHERE round.original_date IS NOT NULL AND round.gaming_date BETWEEN %s AND %s
    ORDER BY event.recorded_at, round.stream_id, round.sequence
"""


def held_between(first: datetime, end: datetime) -> Iterator[tuple[str, list[str], datetime, bool]]:
    """The rounds held from a moment to before another, a run at a time: TABLE/ROUND, why, when, whether they still wait."""
    after = 0
    while run := execute(HELD, [first, end, after, AT_ONCE]):
        for message_id, name, reasons, at, waits in run:
            yield name, reasons, at, waits
            after = message_id


def booked_late(first: date, last: date) -> list[tuple[str, datetime, date, date]]:
    """The rounds booked from one gaming day to another that are of an earlier one: TABLE/ROUND, when recorded, both days."""
    return [(name, at, own, booked) for name, at, own, booked in execute(LATE, [first, last])]


class Turn(NamedTuple):
    """A table's contact was noticed to be lost, or to be there again: when, which, and the last sign of life before."""

    at: datetime
    heard: bool
    last: datetime


def contact_turns(*, until: datetime) -> dict[str, list[Turn]]:
    """Every turn of contact up to a moment, by table in its order, whatever stream the table was on."""
    found: defaultdict[str, list[Turn]] = defaultdict(list)
    for stream_id, _, _ in streams():
        for event in documented(stream_id, [CONTACT]):
            if event.recorded_at <= until:
                asked = msgspec.json.decode(event.cause)
                turn = asked["payload"]
                found[asked["subject"]].append(
                    Turn(event.recorded_at, turn["heard"], datetime.fromisoformat(turn["last"]))
                )
    return {table: sorted(found[table]) for table in sorted(found)}
