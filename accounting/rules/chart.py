"""The chart of accounts as accountants read it: what each kind of account is, and on which side it stands (SPEC §9).

A balance is kept as debits less credits. In its own sign it is positive on the side on which its kind usually stands: assets and
expenses on the debit side, liabilities and income on the credit side.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

ASSET: Final = "asset"
LIABILITY: Final = "liability"
INCOME: Final = "income"
EXPENSE: Final = "expense"
TYPES: Final = (ASSET, LIABILITY, INCOME, EXPENSE)
DEBIT: Final = "debit"
CREDIT: Final = "credit"


class Kind(NamedTuple):
    """One kind of account: whose it is (property, table or level), its type, and what stands on it."""

    of: str
    type: str
    holds: str

    @property
    def side(self) -> str:
        """The side on which its balance usually stands."""
        return DEBIT if self.type in (ASSET, EXPENSE) else CREDIT


CHART: Final[dict[str, Kind]] = {
    "awards_payable": Kind("property", LIABILITY, "Awards of levels and envy that players have won and not yet been handed"),
    "unclaimed": Kind("property", LIABILITY, "The same after its term, kept for whoever comes for it"),
    "state_payable": Kind("property", LIABILITY, "Unclaimed awards whose years are over: owed to the state"),
    "withholding_payable": Kind("property", LIABILITY, "Tax withheld from players, owed to the revenue service"),
    "cage": Kind("property", ASSET, "Cash of the cage: what it hands out stands on the credit side"),
    "wagers": Kind("property", INCOME, "Stakes that stand, pushes among them: the handle"),
    "fixed_pays": Kind("property", EXPENSE, "Everything handed back at fixed odds, returned stakes included"),
    "envy": Kind("property", EXPENSE, "Envy that the house owes for hits of neighbours"),
    "contribution_expense": Kind("property", EXPENSE, "What wagers bring to the meters, in whole cents as they arrive"),
    "seed_expense": Kind("property", EXPENSE, "What the house puts in to open and reset levels"),
    "revenue": Kind("property", INCOME, "Overflow and closed levels that became the house's"),
    "adjustments": Kind("property", EXPENSE, "What the house put in or took out of levels by decision, or to make good"),
    "inventory": Kind("table", ASSET, "Chips in a table's tray: stakes come in, pays go out"),
    "liability": Kind("level", LIABILITY, "A level's displayed meter, to the cent"),
    "reserve": Kind("level", LIABILITY, "What the hidden rate has put by for the next reset"),
    "overflow": Kind("level", LIABILITY, "What came in above the level's limit"),
}  # fmt: skip
"""Every kind of account that there is, in the order of the chart."""

PLACE: Final = {kind: place for place, kind in enumerate(CHART)}


def in_its_sign(kind: str, balance_cents: int) -> int:
    """A balance of debits less credits in the sign of its kind: positive on the side on which it usually stands."""
    return balance_cents if CHART[kind].side == DEBIT else -balance_cents


def order(kind: str, owner: str) -> tuple[int, str]:
    """By what accounts are put in the order of the chart."""
    return PLACE[kind], owner


@cache
def worked_examples() -> list[dict[str, Any]]:
    """What events of every kind book, as they were really recorded: kind, subject, title, and the transfers of each."""
    found: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "terms" / "postings.json").read_text("utf-8"))
    return found


def kind_of(code: str) -> str:
    """The kind of an account by its code."""
    return code.rpartition(":")[2]
