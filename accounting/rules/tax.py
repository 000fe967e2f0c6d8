"""Tax on winnings: what is reported on Form W-2G, what is withheld, and how a shared win is split (SPEC §10).

Thresholds are effective-dated by the day of payment (REQUIREMENTS R108) and are data: `accounting/tax_terms`. All amounts
are whole cents; what is withheld is rounded to the nearest cent, half a cent up. A jackpot and the envy of one wager are
one wagering transaction where the terms say so, with the wager deducted once (REQUIREMENTS §6).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

MILLION: Final = 1_000_000
FOLDER: Final = Path(__file__).parents[1] / "tax_terms"

NOTHING: Final = "none"
REGULAR: Final = "regular"
BACKUP: Final = "backup"
WITHHOLDINGS: Final = (NOTHING, REGULAR, BACKUP)


class TaxRefused(ValueError):
    """Amounts, payees or terms that cannot be. `field` names what is at fault."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field = field


@dataclass(frozen=True, slots=True)
class TaxTerms:
    """What counts for payments from a day on, until the next edition does (REQUIREMENTS R108–R113).

    `deduct_wager` is the payer's option of the 300-times test and of the floor; withholding always looks at the proceeds,
    which are less the wager. Rates are parts per million.
    """

    counts_from: date
    floor_cents: int
    multiple: int
    deduct_wager: bool
    withholding_over_cents: int
    withholding_multiple: int
    regular_ppm: int
    backup_ppm: int
    one_transaction: bool
    source: str = ""


@dataclass(frozen=True, slots=True)
class Won:
    """One line of what a wager won: whole cents paid, of "for 1" and shares of a meter all that was paid."""

    name: str
    paid_cents: int


@dataclass(frozen=True, slots=True)
class Payee:
    """Somebody who shares in a win (Form 5754): how many cents are theirs, and whether their number is known."""

    name: str
    share_cents: int
    has_number: bool


@dataclass(frozen=True, slots=True)
class Determined:
    """What the terms make of one wagering transaction, for everybody who shares in it, in whole cents.

    `winnings_cents` is what the form reports and the tests look at, `proceeds_cents` what withholding looks at.
    """

    wager_cents: int
    paid_cents: int
    winnings_cents: int
    proceeds_cents: int
    reported: bool
    withholding: str
    withheld_cents: int

    @property
    def net_cents(self) -> int:
        """What is handed over."""
        return self.paid_cents - self.withheld_cents


@dataclass(frozen=True, slots=True)
class Form:
    """One Form W-2G: a payee's part of a reported transaction, in whole cents."""

    payee: str
    paid_cents: int
    wager_cents: int
    winnings_cents: int
    withholding: str
    withheld_cents: int


def in_force(editions: Iterable[TaxTerms], paid_on: date) -> TaxTerms:
    """The terms that count for a payment on a day. Raises TaxRefused where no edition is as early."""
    known = sorted((terms for terms in editions if terms.counts_from <= paid_on), key=lambda terms: terms.counts_from)
    if not known:
        raise TaxRefused("paid_on", f"no edition of tax terms counts on {paid_on.isoformat()}")
    return known[-1]


def determine(terms: TaxTerms, *, wager_cents: int, paid_cents: int, has_number: bool) -> Determined:
    """What must be reported and withheld of one wagering transaction (26 U.S.C. 3402(q)(3)(A); R109, R110, R113).

    Regular withholding comes first; backup withholding is for what is reported, without a number, where regular
    withholding does not apply. Raises TaxRefused for a wager below a cent or a negative payment.
    """
    if wager_cents < 1:
        raise TaxRefused("wager_cents", "a wager is at least one cent")
    if paid_cents < 0:
        raise TaxRefused("paid_cents", "nothing negative is paid")
    proceeds = max(paid_cents - wager_cents, 0)
    winnings = proceeds if terms.deduct_wager else paid_cents
    reported = winnings >= terms.floor_cents and winnings >= terms.multiple * wager_cents
    withholding, withheld = NOTHING, 0
    if proceeds > terms.withholding_over_cents and proceeds >= terms.withholding_multiple * wager_cents:
        withholding, withheld = REGULAR, _part(proceeds, terms.regular_ppm)
    elif reported and not has_number:
        withholding, withheld = BACKUP, _part(winnings, terms.backup_ppm)
    reported = reported or withholding == REGULAR  # what is withheld from is reported, whatever the floor says
    return Determined(wager_cents, paid_cents, winnings, proceeds, reported, withholding, withheld)


def transactions(terms: TaxTerms, won: Sequence[Won]) -> tuple[tuple[Won, ...], ...]:
    """What one wager won, put together as the terms have it: all on one form, or each line by itself (REQUIREMENTS §6)."""
    if not won:
        return ()
    return (tuple(won),) if terms.one_transaction else tuple((line,) for line in won)


def shared(cents: int, shares: Sequence[int]) -> tuple[int, ...]:
    """Whole cents in proportion to shares: the largest remainders first, of equal ones the earlier; they total to the cent.

    Raises TaxRefused where no share is more than nothing or one is negative.
    """
    total = sum(shares)
    if total < 1 or any(share < 0 for share in shares):
        raise TaxRefused("shares", "shares are not negative, and one is more than nothing")
    parts = [cents * share // total for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda place: (-(cents * shares[place] % total), place))
    for place in by_remainder[: cents - sum(parts)]:
        parts[place] += 1
    return tuple(parts)


def forms_of_line(
    terms: TaxTerms, *, wager_cents: int, won: Sequence[Won], place: int, payees: Sequence[Payee]
) -> tuple[Form, ...]:
    """The part of one paid line in the forms of its wager's transaction, one for each who shares in the line.

    Every line is paid by itself: the wager and what is withheld are shared over the lines as the win is, largest remainder
    first, so that the lines total the transaction. None where nothing is reported. Raises TaxRefused as `forms` does.
    """
    (lines,) = [lines for lines in transactions(terms, won) if won[place] in lines]
    paid = [line.paid_cents for line in lines]
    whole = determine(terms, wager_cents=wager_cents, paid_cents=sum(paid), has_number=True)
    line = lines.index(won[place])
    if sum(payee.share_cents for payee in payees) != paid[line] or any(payee.share_cents < 1 for payee in payees):
        raise TaxRefused("payees", f"shares of at least a cent that total {paid[line]} cents")
    if not whole.reported:
        return ()
    shares = [payee.share_cents for payee in payees]
    return _split(
        terms, whole, payees, shared(shared(wager_cents, paid)[line], shares),
        shared(shared(whole.withheld_cents, paid)[line], shares),
    )  # fmt: skip


def forms(terms: TaxTerms, *, wager_cents: int, paid_cents: int, payees: Sequence[Payee]) -> tuple[Form, ...]:
    """The forms of a transaction of one line, as `forms_of_line` has them (Form 5754, R112)."""
    return forms_of_line(terms, wager_cents=wager_cents, won=(Won("win", paid_cents),), place=0, payees=payees)


def _split(
    terms: TaxTerms, whole: Determined, payees: Sequence[Payee], wagers: Sequence[int], regular: Sequence[int]
) -> tuple[Form, ...]:
    """A form for each payee. Backup withholding is of those alone whose number is not known."""
    made = []
    for payee, wager, withheld in zip(payees, wagers, regular, strict=True):
        won = payee.share_cents - wager if terms.deduct_wager else payee.share_cents
        form = Form(payee.name, payee.share_cents, wager, won, whole.withholding, withheld)
        if whole.withholding == NOTHING and not payee.has_number:
            form = replace(form, withholding=BACKUP, withheld_cents=_part(max(won, 0), terms.backup_ppm))
        made.append(form)
    return tuple(made)


def editions_of(definition: Mapping[str, Any]) -> tuple[TaxTerms, ...]:
    """Editions of terms as a file has them. Raises TaxRefused with the key at fault."""
    named = {field.name for field in fields(TaxTerms)}
    found = []
    for row in definition.get("editions", ()):
        if wrong := sorted(set(row) ^ named):
            raise TaxRefused(wrong[0], "is missing" if wrong[0] in named else "is no term")
        terms = TaxTerms(**row)
        for name in ("floor_cents", "multiple", "withholding_over_cents", "withholding_multiple"):
            if type(row[name]) is not int or row[name] < 0:
                raise TaxRefused(name, "a whole number that is not negative")
        for name in ("regular_ppm", "backup_ppm"):
            if type(row[name]) is not int or not 0 <= row[name] <= MILLION:
                raise TaxRefused(name, "parts per million, at most the whole")
        if type(terms.counts_from) is not date:
            raise TaxRefused("counts_from", "a day")
        found.append(terms)
    if len({terms.counts_from for terms in found}) != len(found):
        raise TaxRefused("counts_from", "two editions count from one day")
    return tuple(found)


@cache
def us_federal() -> tuple[TaxTerms, ...]:
    """The federal terms that come with the service."""
    return editions_of(tomllib.loads((FOLDER / "us-federal.toml").read_text("utf-8")))


def _part(cents: int, ppm: int) -> int:
    return (cents * ppm + MILLION // 2) // MILLION
