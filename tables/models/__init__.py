"""What tables remember: wager editions, tables and their terms, rounds, locks, holds, payouts, and reviews of weeks."""

from tables.models.ends import EnvyEnd, EnvyUnclaimed, VoidedRound
from tables.models.lock import Lock, LockSetAside
from tables.models.round import Hold, Payout, Round
from tables.models.table import Table, TablePaytable, TableTerms, WagerEdition
from tables.models.week import WeekReview, WeekSheet

__all__ = [
    "EnvyEnd",
    "EnvyUnclaimed",
    "Hold",
    "Lock",
    "LockSetAside",
    "Payout",
    "Round",
    "Table",
    "TablePaytable",
    "TableTerms",
    "VoidedRound",
    "WagerEdition",
    "WeekReview",
    "WeekSheet",
]
