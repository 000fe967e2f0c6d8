"""The chart of accounts (SPEC §9): which account codes exist and how a movement is written between them."""

from typing import NamedTuple

PROPERTY_ACCOUNTS = (
    "awards_payable",
    "unclaimed",
    "withholding_payable",
    "cage",
    "wagers",
    "fixed_pays",
    "envy",
    "contribution_expense",
    "seed_expense",
    "revenue",
    "adjustments",
)
TABLE_ACCOUNTS = ("inventory",)
LEVEL_ACCOUNTS = ("liability", "reserve", "overflow")


def inventory(table: str) -> str:
    """The chips in a table's tray."""
    return f"table:{table}:inventory"


def of_level(link: str, level: str, kind: str) -> str:
    """`liability`, `reserve` or `overflow` of a level; the liability always equals the displayed meter (SPEC §3)."""
    return f"level:{link}/{level}:{kind}"


class Movement(NamedTuple):
    """Whole cents from a credit account to a debit account, by account code, and why."""

    debit: str
    credit: str
    amount_cents: int
    reason: str
