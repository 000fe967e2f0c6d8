"""What tables remember: wager editions, tables and their terms, rounds, holds and payouts."""

from tables.models.ends import EnvyEnd, VoidedRound
from tables.models.round import Hold, Payout, Round
from tables.models.table import Table, TablePaytable, TableTerms, WagerEdition

__all__ = [
    "EnvyEnd",
    "Hold",
    "Payout",
    "Round",
    "Table",
    "TablePaytable",
    "TableTerms",
    "VoidedRound",
    "WagerEdition",
]
