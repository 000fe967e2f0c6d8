"""Big six wheel (SPEC §7; seed 003, 19:47-5.5 and 5.6).

`result` is the symbol under the clapper, and the wagers are on symbols: `dollar_1`, `dollar_2`, `dollar_5`, `dollar_10`,
`dollar_20`, `joker`, `flag`.  Between two numbers the house has declared the one passed or spun again (5.6(c)); what is
posted is the number that counts.
"""

from __future__ import annotations

from typing import ClassVar

from tables.rules.lines import Line, paid_or_lost, pay_of
from tables.rules.posted import PostedGame
from tables.rules.table import TableTerms

SYMBOLS = ("dollar_1", "dollar_2", "dollar_5", "dollar_10", "dollar_20", "joker", "flag")


class BigSix(PostedGame):
    """Big six as one table offers it."""

    title: ClassVar[str] = "big-six"
    base_wagers: ClassVar[tuple[str, ...]] = SYMBOLS
    results: ClassVar[frozenset[str]] = frozenset(SYMBOLS)

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.pays = {row.hand: pay_of(row) for row in table.paytables["base"].rows}

    def line(self, wager: str, stake_cents: int, result: str) -> Line:
        """Paid if the wheel stopped at its symbol."""
        return paid_or_lost(self.pays[wager] if wager == result else None, wager, stake_cents)
