"""Reading the floor as it is now: tables, the last rounds, and what waits for a supervisor."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.core.cache import cache
from django.db import connection

from jackpot.rules.paytable import FIVE_CARD_HANDS
from tables.models import Hold, Payout, Round, Table
from tables.queries.payouts import payout_id

COUNTED_ANEW_SECONDS = 5


@dataclass(frozen=True, slots=True)
class TableNow:
    """A table on the floor: what it deals, its last deal, its rounds this gaming day, and how many are held."""

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
        (SELECT round.dealt_at FROM tables_round round WHERE round.table_id = tabl.id
            ORDER BY round.dealt_at DESC LIMIT 1),
        (SELECT count(*) FROM tables_hold hold WHERE hold.table_id = tabl.id
            AND NOT EXISTS (SELECT FROM tables_round round WHERE round.message_id = hold.message_id))
    FROM tables_table tabl
    JOIN tables_tableterms terms ON terms.table_id = tabl.id AND upper_inf(terms.in_force)
    LEFT JOIN jackpot_link link ON link.id = tabl.link_id
    ORDER BY tabl.code
"""
ROUNDS_SINCE = """
    SELECT tabl.id, (SELECT count(*) FROM tables_round round WHERE round.table_id = tabl.id AND round.dealt_at >= %s)
    FROM tables_table tabl
"""


def tables_now(day_began: datetime) -> list[TableNow]:
    """Every table by code. Rounds of the gaming day are counted anew every few seconds, however many are looking."""
    kept = f"rounds-since-{int(day_began.timestamp())}"
    counts: dict[int, int] | None = cache.get(kept)
    if counts is None:
        counts = _rounds_since(day_began)
        cache.set(kept, counts, COUNTED_ANEW_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        return [TableNow(*row[1:], *[counts.get(row[0], 0)]) for row in cursor.fetchall()]


def _rounds_since(day_began: datetime) -> dict[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(ROUNDS_SINCE, [day_began])
        return dict(cursor.fetchall())


def table_exists(code: str) -> bool:
    """Whether the floor has a table of this code."""
    return Table.objects.filter(code=code).exists()


@dataclass(frozen=True, slots=True)
class RoundLine:
    """A settled or void round in one line. Amounts are whole cents, stakes included in what was paid.

    The community cards are in the message, which tables know by its id only: whoever owns messages fills them in.
    """

    message_id: int
    stream: str
    sequence: int
    table: str
    reference: str
    outcome: str
    dealt_at: datetime
    best_hand: str | None
    seats: int
    hits: int
    staked_cents: int
    paid_cents: int
    community: tuple[str, ...] = ()


# The newest few of every stream by key, then the newest of those by deal: no order over all history is needed.
LAST_ROUNDS = """
    SELECT round.message_id, stream.code, round.sequence, tabl.code, round.reference, round.outcome, round.dealt_at,
        round.settlement
    FROM (
        SELECT newest.* FROM accounting_stream CROSS JOIN LATERAL (
            SELECT stream_id, sequence, dealt_at FROM tables_round
            WHERE stream_id = accounting_stream.id ORDER BY sequence DESC LIMIT %(limit)s
        ) newest ORDER BY newest.dealt_at DESC, newest.sequence DESC LIMIT %(limit)s
    ) shown
    JOIN tables_round round USING (stream_id, sequence)
    JOIN accounting_stream stream ON stream.id = round.stream_id
    JOIN tables_table tabl ON tabl.id = round.table_id
    ORDER BY round.dealt_at DESC, round.sequence DESC
"""
OF_TABLE = """
    SELECT round.message_id, stream.code, round.sequence, tabl.code, round.reference, round.outcome, round.dealt_at,
        round.settlement
    FROM tables_table tabl
    JOIN tables_round round ON round.table_id = tabl.id
    JOIN accounting_stream stream ON stream.id = round.stream_id
    WHERE tabl.code = %s AND (round.dealt_at, round.sequence) < (%s, %s)
    ORDER BY round.dealt_at DESC, round.sequence DESC LIMIT %s
"""


def last_rounds(*, limit: int = 20) -> list[RoundLine]:
    """The rounds dealt last on the whole floor, newest first."""
    with connection.cursor() as cursor:
        cursor.execute(LAST_ROUNDS, {"limit": limit})
        return [_line(row) for row in cursor.fetchall()]


def rounds_of_table(table: str, *, before: tuple[datetime, int], limit: int = 50) -> list[RoundLine]:
    """The rounds of one table, newest first, below a deal and its stream sequence."""
    with connection.cursor() as cursor:
        cursor.execute(OF_TABLE, [table, *before, limit])
        return [_line(row) for row in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The rounds just before and after one on its stream, each by table and reference."""

    previous: tuple[str, str] | None
    following: tuple[str, str] | None


def neighbours(stream_id: int, sequence: int) -> Neighbours:
    """The rounds next to a sequence of a stream; other events between them are passed over."""
    rounds = Round.objects.filter(stream_id=stream_id).values_list("table__code", "reference")
    return Neighbours(
        rounds.filter(sequence__lt=sequence).order_by("-sequence").first(),
        rounds.filter(sequence__gt=sequence).order_by("sequence").first(),
    )


def payout_ids(stream_id: int, stream: str, sequence: int) -> dict[tuple[int, str, str], str]:
    """The ids of a round's payouts by seat, wager (`envy` for envy) and the hand that was paid."""
    owed = Payout.objects.filter(stream_id=stream_id, sequence=sequence)
    return {
        (payout.seat, "envy" if payout.kind == Payout.Kind.ENVY else payout.wager, payout.hand): payout_id(
            stream, sequence, payout.line
        )
        for payout in owed
    }


def held_error(message_id: int) -> str:
    """The error that a message was held with, where the settling code failed on it; else empty."""
    return Hold.objects.filter(message_id=message_id).values_list("error", flat=True).first() or ""


def _line(row: tuple[Any, ...]) -> RoundLine:
    settled = msgspec.json.decode(bytes(row[7]))
    seats = settled["seats"]
    message_id, stream, sequence, table, reference, outcome, dealt_at, _ = row
    return RoundLine(
        message_id=message_id,
        stream=stream,
        sequence=sequence,
        table=table,
        reference=reference,
        outcome=outcome,
        dealt_at=dealt_at,
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
    return list(held.order_by("held_at", "message_id")[:limit]), held.count()


# A released or voided hold has its settlement: the round of its message.
WAITING = "NOT EXISTS (SELECT FROM tables_round round WHERE round.message_id = tables_hold.message_id)"
