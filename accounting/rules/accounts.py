"""The chart of accounts (SPEC §9): which account codes exist and how a movement is written between them."""

from typing import NamedTuple

PROPERTY_ACCOUNTS = (
    "awards_payable",
    "unclaimed",
    "state_payable",
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
NAMES = {
    "awards_payable": "Awards payable to players",
    "unclaimed": "Unclaimed awards",
    "state_payable": "Unclaimed awards, payable to the state",
    "withholding_payable": "Tax withheld, payable",
    "cage": "Cage",
    "wagers": "Wagers taken",
    "fixed_pays": "Paid at fixed odds",
    "envy": "Envy awards",
    "contribution_expense": "Contributions to jackpots",
    "seed_expense": "Seeds of jackpots",
    "revenue": "Revenue from jackpots",
    "adjustments": "Adjustments",
}
OF_LEVELS = {"liability": "Jackpot liability", "reserve": "Reset reserve", "overflow": "Overflow"}


def inventory(table: str) -> str:
    """The chips in a table's tray."""
    return f"table:{table}:inventory"


def of_level(link: str, level: str, kind: str) -> str:
    """`liability`, `reserve` or `overflow` of a level; the liability always equals the displayed meter (SPEC §3)."""
    return f"level:{link}/{level}:{kind}"


def named(code: str) -> str:
    """What accountants call an account; a code of no known form names itself."""
    if code in NAMES:
        return NAMES[code]
    first, _, rest = code.partition(":")
    owner, _, kind = rest.rpartition(":")
    if first == "table" and kind == "inventory":
        return f"Chips in the tray, {owner}"
    if first == "level" and kind in OF_LEVELS:
        return f"{OF_LEVELS[kind]}, {owner.replace('/', ' ')}"
    return code


class Movement(NamedTuple):
    """Whole cents from a credit account to a debit account, by account code, and why."""

    debit: str
    credit: str
    amount_cents: int
    reason: str
