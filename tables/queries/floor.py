"""Reading the floor as it is now: tables, the last rounds, and what waits for a supervisor."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import msgspec
from django.core.cache import cache
from django.db import connection

from jackpot.rules.paytable import FIVE_CARD_HANDS
from tables.models import Hold, Payout, Table
from tables.queries.payouts import payout_id

COUNTED_ANEW_SECONDS = 5


@dataclass(frozen=True, slots=True)
class TableNow:
    """A table on the floor: what it deals, when its last round counts, its rounds this gaming day, how many are held."""

    code: str
    game: str
    state: str
    link: str | None
    seats: int
    minimum_cents: int
    maximum_cents: int
    last_at: datetime | None
    held: int
    rounds_today: int


TABLES = """
    SELECT tabl.id, tabl.code, tabl.game, tabl.state, link.code, terms.seats, terms.minimum_cents, terms.maximum_cents,
        (SELECT round.counts_at FROM tables_round round WHERE round.table_id = tabl.id
            ORDER BY round.counts_at DESC LIMIT 1),
        (SELECT count(*) FROM tables_hold hold WHERE hold.table_id = tabl.id
            AND NOT EXISTS (SELECT FROM tables_round round WHERE round.message_id = hold.message_id))
    FROM tables_table tabl
    JOIN tables_tableterms terms ON terms.table_id = tabl.id AND upper_inf(terms.in_force)
    LEFT JOIN jackpot_link link ON link.id = tabl.link_id
    ORDER BY tabl.code
"""
ROUNDS_ON = """
    SELECT tabl.id, (SELECT count(*) FROM tables_round round WHERE round.table_id = tabl.id
        AND round.counts_at >= least(%(began)s::timestamptz - interval '3 hours', late.first)
        AND round.gaming_date = %(day)s)
    FROM tables_table tabl, (
        SELECT min(counts_at) AS first FROM tables_round WHERE original_date IS NOT NULL AND gaming_date = %(day)s) late
"""


def tables_now(day: date, began: datetime) -> list[TableNow]:
    """Every table by code, with its rounds of a gaming day, which began then and is not over.

    They are counted anew every few seconds, however many are looking.
    """
    kept = f"rounds-on-{day}"
    counts: dict[int, int] | None = cache.get(kept)
    if counts is None:
        counts = _rounds_on(day, began)
        cache.set(kept, counts, COUNTED_ANEW_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        return [TableNow(*row[1:], *[counts.get(row[0], 0)]) for row in cursor.fetchall()]


def _rounds_on(day: date, began: datetime) -> dict[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(ROUNDS_ON, {"day": day, "began": began})
        return dict(cursor.fetchall())


def table_exists(code: str) -> bool:
    """Whether the floor has a table of this code."""
    return Table.objects.filter(code=code).exists()


def stream_of(code: str) -> str:
    """The stream that a table's next round counts on."""
    found: str = Table.objects.values_list("stream__code", flat=True).get(code=code)
    return found


@dataclass(frozen=True, slots=True)
class RoundLine:
    """A settled or void round in one line. Amounts are whole cents, stakes included in what was paid.

    `reported_at` is the deal as the table reported it, in RFC 3339, where it is not the moment that counts. The
    community cards are in the message, which tables know by its id only: whoever owns messages fills them in.
    """

    message_id: int
    stream: str
    sequence: int
    table: str
    reference: str
    outcome: str
    counts_at: datetime
    reported_at: str | None
    best_hand: str | None
    seats: int
    hits: int
    staked_cents: int
    paid_cents: int
    community: tuple[str, ...] = ()


SHOWN = """
    SELECT round.message_id, stream.code, round.sequence, tabl.code, round.reference,
        CASE WHEN EXISTS (SELECT FROM tables_voidedround voided WHERE voided.stream_id = round.stream_id
            AND voided.sequence = round.sequence) THEN 'void' ELSE round.outcome END, round.counts_at,
        CASE WHEN round.dealt_at <> round.counts_at AND NOT EXISTS (SELECT FROM tables_lock lock
            WHERE lock.stream_id = round.stream_id AND lock.ended = round.sequence)
        THEN to_json(round.dealt_at) #>> '{}' END, round.settlement
"""
# The newest few of every table from its index, then the newest of those: no order over all history is needed. A stream's last
# ones would not do: what came early may count late.
LAST_ROUNDS = (
    SHOWN
    + """
    FROM (
        SELECT newest.* FROM tables_table CROSS JOIN LATERAL (
            SELECT table_id, counts_at, sequence FROM tables_round
            WHERE table_id = tables_table.id ORDER BY counts_at DESC, sequence DESC LIMIT %(limit)s
        ) newest ORDER BY newest.counts_at DESC, newest.sequence DESC LIMIT %(limit)s
    ) shown
    JOIN tables_round round USING (table_id, counts_at, sequence)
    JOIN accounting_stream stream ON stream.id = round.stream_id
    JOIN tables_table tabl ON tabl.id = round.table_id
    ORDER BY round.counts_at DESC, round.sequence DESC LIMIT %(limit)s
"""
)
OF_TABLE = (
    SHOWN
    + """
    FROM tables_table tabl
    JOIN tables_round round ON round.table_id = tabl.id
    JOIN accounting_stream stream ON stream.id = round.stream_id
    WHERE tabl.code = %s AND (round.counts_at, round.sequence) < (%s, %s)
    ORDER BY round.counts_at DESC, round.sequence DESC LIMIT %s
"""
)


def last_rounds(*, limit: int = 20) -> list[RoundLine]:
    """The last rounds of the whole floor, newest first by the moment that counts."""
    with connection.cursor() as cursor:
        cursor.execute(LAST_ROUNDS, {"limit": limit})
        return [_line(row) for row in cursor.fetchall()]


def rounds_of_table(table: str, *, before: tuple[datetime, int], limit: int = 50) -> list[RoundLine]:
    """The rounds of one table, newest first, below a moment that counts and a stream sequence."""
    with connection.cursor() as cursor:
        cursor.execute(OF_TABLE, [table, *before, limit])
        return [_line(row) for row in cursor.fetchall()]


LOOKED_THROUGH = 2_000
"""The last rounds of a table that are looked through for their last digits."""
ENDING = """
    SELECT tabl.code, found.reference FROM tables_table tabl
    CROSS JOIN LATERAL (
        SELECT last.* FROM (
            SELECT reference, counts_at, sequence FROM tables_round WHERE table_id = tabl.id
            ORDER BY counts_at DESC, sequence DESC LIMIT %(through)s) last
        WHERE right(lower(last.reference), length(%(ending)s)) = lower(%(ending)s) LIMIT %(limit)s
    ) found
    WHERE tabl.code = ANY(%(tables)s) ORDER BY found.counts_at DESC, tabl.code, found.sequence DESC LIMIT %(limit)s
"""


def rounds_ending(ending: str, *, tables: list[str], limit: int) -> list[tuple[str, str]]:
    """The latest rounds of these tables whose reference ends so, as table and reference, whatever the case."""
    values: dict[str, Any] = {"ending": ending, "tables": tables, "limit": limit, "through": LOOKED_THROUGH}
    with connection.cursor() as cursor:
        cursor.execute(ENDING, values)
        return cursor.fetchall()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The rounds just before and after one at its table, each by table and reference."""

    previous: tuple[str, str] | None
    following: tuple[str, str] | None


NEXT_TO = """
    SELECT tabl.code, near.reference FROM tables_round round
    JOIN tables_table tabl ON tabl.id = round.table_id
    CROSS JOIN LATERAL (
        SELECT beside.reference FROM tables_round beside WHERE beside.table_id = round.table_id
            AND (beside.counts_at, beside.sequence) {side} (round.counts_at, round.sequence)
        ORDER BY beside.counts_at {way}, beside.sequence {way} LIMIT 1) near
    WHERE round.stream_id = %s AND round.sequence = %s
"""
BEFORE, AFTER = NEXT_TO.format(side="<", way="DESC"), NEXT_TO.format(side=">", way="ASC")


def neighbours(stream_id: int, sequence: int) -> Neighbours:
    """The rounds next to one at its table, in the order of the table's page."""
    found = []
    for statement in (BEFORE, AFTER):
        with connection.cursor() as cursor:
            cursor.execute(statement, [stream_id, sequence])
            found.append(cursor.fetchone())
    return Neighbours(*found)


def payout_ids(stream_id: int, stream: str, sequence: int) -> dict[tuple[int, str, int], str]:
    """The ids of a round's payouts by seat, wager and 0; those for envy by seat, `envy` and the place of the entry.

    Envy stands in the order of the seat's entries: two neighbours may hit with hands of one name.
    """
    found: dict[tuple[int, str, int], str] = {}
    envied: Counter[int] = Counter()
    for payout in Payout.objects.filter(stream_id=stream_id, sequence=sequence).order_by("line"):
        of, place = payout.wager, 0
        if payout.kind == Payout.Kind.ENVY:
            of, place = "envy", envied[payout.seat]
            envied[payout.seat] += 1
        found[payout.seat, of, place] = payout_id(stream, sequence, payout.line)
    return found


def held_error(message_id: int) -> str:
    """The error that a message was held with, where the settling code failed on it; else empty."""
    return Hold.objects.filter(message_id=message_id).values_list("error", flat=True).first() or ""


def _line(row: tuple[Any, ...]) -> RoundLine:
    message_id, stream, sequence, table, reference, outcome, counts_at, reported_at, settlement = row
    settled = msgspec.json.decode(bytes(settlement))
    seats = settled["seats"]
    return RoundLine(
        message_id=message_id,
        stream=stream,
        sequence=sequence,
        table=table,
        reference=reference,
        outcome=outcome,
        counts_at=counts_at,
        reported_at=reported_at,
        best_hand=best(seat["hand"] for seat in seats),
        seats=len(seats),
        hits=len(settled["awards"]),
        staked_cents=sum(seat["staked_cents"] for seat in seats),
        paid_cents=sum(seat["paid_cents"] for seat in seats),
    )


def best(hands: Iterable[str | None]) -> str | None:
    """The highest of several finished hands by name; None where there is none."""
    return max(filter(None, hands), key=lambda hand: _ORDER.get(hand, -1), default=None)


_ORDER = {hand: place for place, hand in enumerate(FIVE_CARD_HANDS)}


def waiting(*, limit: int = 8) -> tuple[list[Hold], int]:
    """Rounds that wait for a supervisor, oldest first, and how many there are altogether."""
    held = Hold.objects.extra(where=[WAITING]).select_related("table")
    # Why it is held may be that its deal is dated beyond what a calendar shows: the message has it.
    return list(held.defer("dealt_at", "settlement").order_by("held_at", "message_id")[:limit]), held.count()


def held_rounds(*, after: int, table: str | None, reason: str | None, limit: int) -> list[Hold]:
    """Rounds that wait for a supervisor, in the order of their receipt after the message `after`: of a table, or for a
    reason, where these are given."""
    held = Hold.objects.extra(where=[WAITING]).select_related("table").filter(message_id__gt=after)
    if table is not None:
        held = held.filter(table__code=table)
    if reason is not None:
        held = held.filter(reasons__contains=[reason])
    return list(held.defer("dealt_at", "settlement").order_by("message_id")[:limit])


# A released or voided hold has its settlement: the round of its message.
WAITING = "NOT EXISTS (SELECT FROM tables_round round WHERE round.message_id = tables_hold.message_id)"


HELD_UNTIL = """
    SELECT tabl.code || '/' || hold.reference FROM tables_hold hold JOIN tables_table tabl ON tabl.id = hold.table_id
    WHERE hold.dealt_at < %s AND NOT EXISTS (SELECT FROM tables_round round WHERE round.message_id = hold.message_id)
    ORDER BY hold.dealt_at, hold.message_id LIMIT %s
"""


def held_until(until: datetime, *, limit: int) -> list[str]:
    """Rounds dealt before a moment that are still held, as TABLE/ROUND, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(HELD_UNTIL, [until, limit])
        return [name for (name,) in cursor.fetchall()]
