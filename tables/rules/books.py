"""What a settlement means for the books: its payouts and its movements of money (SPEC §9, CONTRACT §5).

Both are functions of the settlement alone, so an auditor can derive every ledger row of a round from its settlement.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from accounting.rules.accounts import Movement, inventory, of_level
from jackpot.rules.meter import MILLION
from jackpot.rules.progressive import LevelMovement


class PayoutLine(NamedTuple):
    """Winnings of one line or one envy entry, in whole cents without the stake."""

    seat: int
    kind: str
    wager: str
    hand: str
    level: str | None
    cents: int


def payouts(settlement: Mapping[str, Any], *, base_wagers: frozenset[str]) -> list[PayoutLine]:
    """Every winning line and envy entry of a settlement, in settlement order; nothing of 0 (CONTRACT §5)."""
    found = []
    levels = {award["seat"]: award["level"] for award in settlement["awards"]}
    for seat in settlement["seats"]:
        number, hand = seat["seat"], seat["hand"]
        for line in seat["lines"]:
            cents = line["win_cents"]
            if not cents:
                continue
            wager, level = line["wager"], None
            if wager in base_wagers:
                kind = "base"
            elif wager == "progressive":
                level = levels.get(number)
                kind = "level" if level else "progressive"
            else:
                kind = "cover_all" if wager == "cover_all" else "bonus"
            found.append(PayoutLine(number, kind, wager, hand or "", level, cents))
        for envy in seat["envy"]:
            found.append(PayoutLine(number, "envy", "progressive", envy["hand"], None, envy["paid_cents"]))
    return found


def movements(
    settlement: Mapping[str, Any], *, contributions: Iterable[LevelMovement], link: str | None
) -> list[Movement]:
    """The transfers of a round's journal entry: what was wagered, paid, contributed, awarded and reseeded.

    Handle and pays are gross: a push is wagered and paid back, a void stake is neither. An award of a level is paid
    from the level's liability, fixed pays from the table, envy by the house (SPEC §6.5).
    """
    tray = inventory(settlement["table"])
    wagered = paid = envied = awarded = 0
    for seat in settlement["seats"]:
        for line in seat["lines"]:
            if line["result"] != "void":
                wagered += line["stake_cents"]
                paid += line["paid_cents"]
        for envy in seat["envy"]:
            envied += envy["paid_cents"]
    for award in settlement["awards"]:
        awarded += award["paid_cents"]
    found = [
        Movement(tray, "wagers", wagered, "wager"),
        Movement("fixed_pays", tray, paid - awarded, "fixed_pay"),
        Movement("envy", "awards_payable", envied, "envy"),
    ]
    if link is not None:
        for level in contributions:
            for kind, cents in (
                ("liability", level.contribution_cents),
                ("reserve", level.reserve_cents),
                ("overflow", level.overflow_cents),
            ):
                if cents:
                    account = of_level(link, level.level, kind)
                    found.append(Movement("contribution_expense", account, cents, "contribution"))
        for award in settlement["awards"]:
            found.extend(_award(link, award))
    return [movement for movement in found if movement.amount_cents]


def _award(link: str, award: Mapping[str, Any]) -> Iterable[Movement]:
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


def accepted_progressives(settlement: Mapping[str, Any]) -> int:
    """How many progressive wagers the round accepted: those of seats that are not void (SPEC §6.1)."""
    return sum(
        line["wager"] == "progressive" and line["result"] != "void"
        for seat in settlement["seats"]
        for line in seat["lines"]
    )
