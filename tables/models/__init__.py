"""What tables remember: wager editions, tables and their terms, rounds, holds and payouts."""

from tables.models.round import Hold, Payout, Round
from tables.models.table import Table, TablePaytable, TableTerms, WagerEdition

__all__ = ["Hold", "Payout", "Round", "Table", "TablePaytable", "TableTerms", "WagerEdition"]
