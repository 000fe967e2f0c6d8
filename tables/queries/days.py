"""Each table's gaming day as the ledger booked it: rounds, handle, pays, jackpot, envy, contributions, win (SPEC §10)."""

from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from zoneinfo import ZoneInfo

from django.core.cache import cache
from django.db import connection

from accounting.queries import the_property
from accounting.rules.gaming_day import began

KEPT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class TableDay:
    """A table on a gaming day, in whole cents. Pays include returned stakes; jackpot awards are paid from their level.

    Of rounds that people voided on the day, whenever they were played, what they had moved is taken off again; `voids` are so
    many. So are the award and the unpaid envy of hits that people rejected on the day (SPEC §6.7); `rejections` are so many.
    """

    table: str
    game: str
    link: str | None
    rounds: int
    handle_cents: int
    pays_cents: int
    jackpot_cents: int
    envy_cents: int
    contributions_cents: int
    voids: int = 0
    rejections: int = 0

    @property
    def win_cents(self) -> int:
        """What the house keeps of the handle: jackpot awards cost it nothing more than their contributions and seeds."""
        return self.handle_cents - self.pays_cents - self.envy_cents - self.contributions_cents


# By the index of each table's rounds; three hours of room on both sides, since the booked day decides.
# What a void rejects is the void's. A wager that was locked contributed by its lock, and what was taken back of it, by its
# round's result or the lock's void, is taken off.
DAY = """
    WITH rejected AS MATERIALIZED (
        SELECT hit."table" AS code, count(DISTINCT (event.stream_id, event.sequence)) AS rejections,
            coalesce(sum(moved.amount_cents) FILTER (WHERE debit.kind IN ('awards_payable', 'unclaimed')
                AND credit.kind = 'liability'), 0) AS jackpot,
            coalesce(sum(moved.amount_cents) FILTER (WHERE credit.kind = 'envy'), 0) AS envy
        FROM jackpot_hitstep step JOIN jackpot_hit hit ON hit.id = step.hit_id
        JOIN jackpot_link of_hit ON of_hit.id = hit.link_id
        JOIN accounting_event event ON event.stream_id = of_hit.stream_id AND event.kind = 'hit.reject'
            AND event.subject = of_hit.code || '-' || lpad(hit.number::text, greatest(6, length(hit.number::text)), '0')
        LEFT JOIN accounting_transfer moved ON moved.stream_id = event.stream_id AND moved.sequence = event.sequence
        LEFT JOIN accounting_account debit ON debit.id = moved.debit_id
        LEFT JOIN accounting_account credit ON credit.id = moved.credit_id
        WHERE step.state = 'rejected' AND event.gaming_date = %(day)s GROUP BY hit."table"
    )
    SELECT tabl.code, tabl.game, link.code, day.rounds, day.handle - undone.handle, day.pays - undone.pays,
        day.jackpot - undone.jackpot - coalesce(rejected.jackpot, 0), day.envy - undone.envy - coalesce(rejected.envy, 0),
        day.contributions + locked.contributions - unlocked.contributions - undone.contributions, undone.voids,
        coalesce(rejected.rejections, 0)
    FROM tables_table tabl
    LEFT JOIN rejected ON rejected.code = tabl.code
    LEFT JOIN jackpot_link link ON link.id = tabl.link_id
    CROSS JOIN (SELECT id FROM accounting_account WHERE code = 'contribution_expense') expense
    CROSS JOIN (SELECT min(counts_at) AS first FROM tables_round
        WHERE original_date IS NOT NULL AND gaming_date = %(day)s) late
    CROSS JOIN LATERAL (
        SELECT count(DISTINCT (round.stream_id, round.sequence)) AS rounds,
            coalesce(sum(moved.amount_cents) FILTER (WHERE moved.reason = 'wager'), 0) AS handle,
            coalesce(sum(moved.amount_cents) FILTER (WHERE moved.reason = 'fixed_pay'), 0) AS pays,
            coalesce(sum(moved.amount_cents) FILTER (WHERE moved.reason = 'award'), 0) AS jackpot,
            coalesce(sum(moved.amount_cents) FILTER (WHERE moved.reason = 'envy'), 0) AS envy,
            coalesce(sum(moved.amount_cents) FILTER (WHERE moved.reason = 'contribution'), 0)
                - coalesce(sum(moved.amount_cents) FILTER (WHERE moved.credit_id = expense.id), 0)
                AS contributions
        FROM tables_round round
        LEFT JOIN accounting_transfer moved ON moved.stream_id = round.stream_id AND moved.sequence = round.sequence
        WHERE round.table_id = tabl.id AND round.gaming_date = %(day)s
            AND round.counts_at >= least(%(began)s::timestamptz, late.first) AND round.counts_at <= %(ended)s
    ) day
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(moved.amount_cents), 0) AS contributions
        FROM tables_lock lock
        JOIN accounting_transfer moved ON moved.stream_id = lock.stream_id AND moved.sequence = lock.sequence
        WHERE lock.table_id = tabl.id AND lock.gaming_date = %(day)s
    ) locked
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(moved.amount_cents), 0) AS contributions
        FROM tables_lock lock
        JOIN accounting_event event ON event.stream_id = lock.stream_id AND event.sequence = lock.ended
        JOIN accounting_transfer moved ON moved.stream_id = lock.stream_id AND moved.sequence = lock.ended
            AND moved.credit_id = expense.id
        WHERE lock.table_id = tabl.id AND lock.state = 'void' AND event.gaming_date = %(day)s
    ) unlocked
    CROSS JOIN LATERAL (
        SELECT count(DISTINCT (voided.stream_id, voided.event)) AS voids,
            coalesce(sum(moved.amount_cents) FILTER (WHERE debit.kind = 'wagers'), 0) AS handle,
            coalesce(sum(moved.amount_cents) FILTER (WHERE credit.kind = 'fixed_pays'), 0) AS pays,
            coalesce(sum(moved.amount_cents) FILTER (WHERE debit.kind IN ('awards_payable', 'unclaimed')
                AND credit.kind = 'liability'), 0) AS jackpot,
            coalesce(sum(moved.amount_cents) FILTER (WHERE credit.kind = 'envy'), 0) AS envy,
            coalesce(sum(moved.amount_cents * CASE WHEN credit.kind = 'contribution_expense' THEN 1 ELSE -1 END)
                FILTER (WHERE 'contribution_expense' IN (credit.kind, debit.kind)), 0) AS contributions
        FROM tables_voidedround voided
        JOIN tables_round round ON round.stream_id = voided.stream_id AND round.sequence = voided.sequence
        JOIN accounting_event event ON event.stream_id = voided.stream_id AND event.sequence = voided.event
        LEFT JOIN accounting_transfer moved ON moved.stream_id = voided.stream_id AND moved.sequence = voided.event
        LEFT JOIN accounting_account debit ON debit.id = moved.debit_id
        LEFT JOIN accounting_account credit ON credit.id = moved.credit_id
        WHERE round.table_id = tabl.id AND event.gaming_date = %(day)s
    ) undone
    WHERE %(table)s::text IS NULL OR tabl.code = %(table)s
    ORDER BY tabl.code
"""


def tables_on(day: date, *, table: str | None = None) -> list[TableDay]:
    """Every table on a gaming day by code, or the one that is named; added up anew every few seconds."""
    kept = f"tables-on-{day}-{sha256((table or '').encode()).hexdigest()}"
    found: list[TableDay] | None = cache.get(kept)
    if found is None:
        home = the_property()
        zone, starts = ZoneInfo(home.time_zone), home.gaming_day_starts
        values = {
            "day": day,
            "table": table,
            "began": began(day, zone=zone, starts=starts) - timedelta(hours=3),
            "ended": began(day + timedelta(days=1), zone=zone, starts=starts) + timedelta(hours=3),
        }
        with connection.cursor() as cursor:
            cursor.execute(DAY, values)
            found = [TableDay(*row[:4], *map(int, row[4:])) for row in cursor.fetchall()]
        cache.set(kept, found, KEPT_SECONDS)
    return found
