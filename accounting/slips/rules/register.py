"""The register of slips: how a slip is called, what state it is in, and what is missing from a row of numbers."""

from collections.abc import Iterable, Sequence
from typing import Final

from accounting.rules.roles import ACCOUNTING, CAGE, CONTROLLER, MANAGER, SUPERVISOR

ISSUED: Final = "issued"
PAID: Final = "paid"
VOID: Final = "void"
STATES: Final = (ISSUED, PAID, VOID)

PRINTS: Final = frozenset({SUPERVISOR, MANAGER, CAGE, ACCOUNTING, CONTROLLER})
"""Who prints slips: those who pay, and those who keep the books. Auditors look at what was printed."""

FORMS: Final = ("cash", "chips", "cheque")
"""What is handed over (REQUIREMENTS R79); a cheque within a day where it is not cash (R81)."""


def slip_name(number: int) -> str:
    """A slip's number as it is printed: six digits or more."""
    return f"{number:06d}"


def slip_number(name: str) -> int | None:
    """The number that a slip's name is of, zeros left out or not; None where it is no slip's name."""
    return int(name) if name.isascii() and name.isdecimal() and len(name) < 19 else None


def state(*, is_void: bool, is_paid: bool) -> str:
    """What has become of a slip: a void one stays void, whatever was paid on it before."""
    return VOID if is_void else PAID if is_paid else ISSUED


def gaps(numbers: Iterable[int], last: int) -> Sequence[tuple[int, int]]:
    """The stretches of numbers from 1 to the last one given out that no slip has: first and last of each (R74)."""
    missing = []
    expected = 1
    for number in sorted(numbers):
        if number > expected:
            missing.append((expected, number - 1))
        expected = max(expected, number + 1)
    if expected <= last:
        missing.append((expected, last))
    return missing
