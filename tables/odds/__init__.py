"""Exact mathematics of every paytable edition: counted in whole numbers and fractions, never sampled.

Each game has a module that counts it; `calculation` knows which; `record` keeps the results as checked-in data with the
digest of the edition they were counted for.  Pages ask `of_edition`.
"""

from tables.odds.edition import EditionOdds, WagerOdds
from tables.odds.record import NoOdds, of_edition

__all__ = ["EditionOdds", "NoOdds", "WagerOdds", "of_edition"]
