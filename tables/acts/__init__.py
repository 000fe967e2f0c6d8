"""What people decide about links, tables, rounds, locks, hits, slips (CONTRACT §7) and weeks, declared to the office."""

from collections.abc import Iterator

from django.utils import timezone

from jackpot.hit_queries import pending
from tables.acts.hits import HIT_ACTS
from tables.acts.links import LINK_ACTS
from tables.acts.locks import LOCK_ACTS
from tables.acts.rounds import ROUND_ACTS
from tables.acts.slips import SLIP_ACTS
from tables.acts.tables import TABLE_ACTS
from tables.acts.weeks import WEEK_ACTS
from tables.queries.floor import held_rounds
from tables.queries.set_up import table_ids
from tables.queries.unclaimed import owed
from tables.queries.weeks import weeks

ACTS = (*LINK_ACTS, *ROUND_ACTS, *LOCK_ACTS, *HIT_ACTS, *SLIP_ACTS, *TABLE_ACTS, *WEEK_ACTS)


def _tables() -> list[str]:
    return sorted(table_ids())


def _hits() -> list[str]:
    return [hit["hit"] for hit in pending()[0]]


def _owed() -> Iterator[str]:
    return (one.name for one in owed())


def _held() -> list[str]:
    return [f"{hold.table.code}/{hold.reference}" for hold in held_rounds(after=0, table=None, reason=None, limit=200)]


def _weeks() -> list[str]:
    return [week.name for week in weeks(timezone.now()) if week.sheet is not None and not week.reviews]


SUBJECTS = (("table", _tables), ("hit", _hits), ("payout", _owed), ("round", _held), ("week", _weeks))
