"""What a settlement means for the books: its payouts and its movements of money (SPEC §9, CONTRACT §5).

Both are functions of the settlement alone, so an auditor can derive every ledger row of a round from its settlement.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from accounting.rules.accounts import Movement, inventory, of_level
from jackpot.rules.meter import MILLION
from jackpot.rules.progressive import Award, LevelMovement
from tables.rules.lines import hand_of_row
from tables.rules.settlement import Settlement

LEVEL_ACCOUNTS: Final = ("liability", "reserve", "overflow")


class PayoutLine(NamedTuple):
    """Winnings of one line or one envy entry, in whole cents without the stake; `hand` is the hand that they are paid for."""

    seat: int
    kind: str
    wager: str
    hand: str
    level: str | None
    cents: int


class Posting(NamedTuple):
    """What a round's settlement puts on record: payouts, transfers, and how many progressive wagers it accepted.

    `stakes_cents` are the stakes that stand, `pays_cents` what was handed back without shares of a level and envy.
    """

    payouts: list[PayoutLine]
    movements: list[Movement]
    progressives: int
    stakes_cents: int = 0
    pays_cents: int = 0


def posting(
    settlement: Settlement,
    *,
    base_wagers: frozenset[str],
    contributions: Iterable[LevelMovement],
    link: str | None,
) -> Posting:
    """Read a settlement for the books.

    Payouts are every winning line and envy entry, in settlement order; nothing of 0 (CONTRACT §5). Transfers are what was
    wagered, paid, contributed, awarded and reseeded: handle and pays are gross, a push is wagered and paid back, a void
    stake is neither. An award of a level is paid from the level's liability, fixed pays from the table, envy by the house
    (SPEC §6.5). A progressive wager is accepted unless its seat is void (SPEC §6.1).
    """
    payouts: list[PayoutLine] = []
    awards = settlement["awards"]
    levels = {award["seat"]: award["level"] for award in awards}
    wagered = paid = envied = progressives = 0
    for seat in settlement["seats"]:
        wagered += seat["staked_cents"]
        paid += seat["paid_cents"]
        for line in seat["lines"]:
            wager = line["wager"]
            if line["result"] == "void":
                wagered -= line["stake_cents"]
                paid -= line["paid_cents"]
                continue
            if wager == "progressive":
                progressives += 1
            cents = line["win_cents"]
            if not cents:
                continue
            number, hand, level = seat["seat"], seat["hand"] or "", None
            if wager in base_wagers:
                kind = "base"
            elif wager == "progressive":
                level = levels.get(number)
                kind = "level" if level else "progressive"
            else:
                kind = "cover_all" if wager == "cover_all" else "bonus"
                if "row" in line:  # of cards that are not the seat's own hand
                    hand = hand_of_row(line["row"])
            payouts.append(PayoutLine(number, kind, wager, hand, level, cents))
        for envy in seat["envy"]:
            envied += envy["paid_cents"]
            payouts.append(PayoutLine(seat["seat"], "envy", "progressive", envy["hand"], None, envy["paid_cents"]))
    paid -= envied
    awarded = sum(award["paid_cents"] for award in awards) if awards else 0
    tray = inventory(settlement["table"])
    found = [
        Movement(tray, "wagers", wagered, "wager"),
        Movement("fixed_pays", tray, paid - awarded, "fixed_pay"),
        Movement("envy", "awards_payable", envied, "envy"),
    ]
    if link is not None:
        found.extend(contributed(link, contributions))
        for award in awards:
            found.extend(_award(link, award))
    moved = [movement for movement in found if movement.amount_cents]
    return Posting(payouts, moved, progressives, wagered, paid - awarded)


def contributed(link: str, contributions: Iterable[LevelMovement]) -> Iterable[Movement]:
    """What contributions move: each part's whole cents, from `contribution_expense` or, of a lock's taken back, to it.

    A part that goes down is a reversal and says `void`, as SPEC §9 has no other word for it; what the part lacked was put in
    before by `adjustments` (DECISIONS A57, A58).
    """
    for level in contributions:
        came_in = (level.contribution_cents, level.reserve_cents, level.overflow_cents)
        if not any(came_in):
            continue
        for kind, cents, put_in_cents in zip(LEVEL_ACCOUNTS, came_in, level.put_in_cents, strict=True):
            if cents > 0:
                yield Movement("contribution_expense", of_level(link, level.level, kind), cents, "contribution")
            elif cents < 0:
                if put_in_cents:
                    yield Movement("adjustments", of_level(link, level.level, kind), put_in_cents, "void")
                yield Movement(of_level(link, level.level, kind), "contribution_expense", -cents, "void")


def _award(link: str, award: Award) -> Iterable[Movement]:
    liability, reserve, overflow = (
        of_level(link, award["level"], kind) for kind in ("liability", "reserve", "overflow")
    )
    reason = "seed" if award["share_ppm"] == MILLION else "top_up"
    seed = award["seed"]
    yield Movement(liability, "awards_payable", award["paid_cents"], "award")
    yield Movement(reserve, liability, seed["reserve_cents"], reason)
    yield Movement("seed_expense", liability, seed["house_cents"], reason)
    yield Movement(overflow, liability, seed["overflow_cents"], reason)
    yield Movement(overflow, "revenue", award.get("revenue_cents", 0), "overflow")
