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
        number, lines = seat["seat"], seat["lines"]
        if not seat["paid_cents"]:  # nothing won and nothing given back; a progressive wager is the last line
            if lines and lines[-1]["wager"] == "progressive":
                progressives += 1
            continue
        for line in lines:
            wager, cents = line["wager"], line["win_cents"]
            if wager == "progressive" and line["result"] != "void":
                progressives += 1
            if not cents:
                if line["result"] == "void":
                    wagered -= line["stake_cents"]
                    paid -= line["paid_cents"]
                continue
            hand, level = seat["hand"] or "", None
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
            payouts.append(PayoutLine(number, "envy", "progressive", envy["hand"], None, envy["paid_cents"]))
    paid -= envied
    awarded = sum(award["paid_cents"] for award in awards) if awards else 0
    fixed = paid - awarded
    tray = inventory(settlement["table"])
    moved: list[Movement] = []
    if wagered:
        moved.append(Movement(tray, "wagers", wagered, "wager"))
    if fixed:
        moved.append(Movement("fixed_pays", tray, fixed, "fixed_pay"))
    if envied:
        moved.append(Movement("envy", "awards_payable", envied, "envy"))
    if link is not None:
        moved.extend(contributed(link, contributions))
        for award in awards:
            moved.extend(movement for movement in _award(link, award) if movement.amount_cents)
    return Posting(payouts, moved, progressives, wagered, fixed)


def contributed(link: str, contributions: Iterable[LevelMovement]) -> Iterable[Movement]:
    """What contributions move: each part's whole cents, from `contribution_expense` or, of a lock's taken back, to it.

    A part that goes down is a reversal and says `void`, as SPEC §9 has no other word for it; what the part lacked was put in
    before by `adjustments` (DECISIONS A57, A58).
    """
    for level in contributions:
        came_in = (level.contribution_cents, level.reserve_cents, level.overflow_cents)
        for place, cents in enumerate(came_in):
            if not cents:
                continue
            account = of_level(link, level.level, LEVEL_ACCOUNTS[place])
            if cents > 0:
                yield Movement("contribution_expense", account, cents, "contribution")
                continue
            if put_in_cents := level.put_in_cents[place]:
                yield Movement("adjustments", account, put_in_cents, "void")
            yield Movement(account, "contribution_expense", -cents, "void")


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
