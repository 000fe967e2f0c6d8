"""How a round moves a link: contributions first, then the awards in order, then envy (SPEC §6).

Which hand a seat holds is decided by the game; here a hand is only a row of the link's paytable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, NotRequired, TypedDict

from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import MILLION, LevelTerms, Meter, contribute, take
from jackpot.rules.parts import NOTHING, Brought, take_out
from jackpot.rules.paytable import Row


class SeedShown(TypedDict):
    """Who paid a reset or a top-up, zeros for an award that needed none (DECISIONS A22)."""

    reserve_cents: int
    house_cents: int
    overflow_cents: int


class Award(TypedDict):
    """An award of CONTRACT §3; `revenue_cents` is there when overflow became revenue, `hit` names it once it is numbered."""

    order: int
    seat: int
    level: str
    hand: str
    share_ppm: int
    meter_before_cents: int
    paid_cents: int
    meter_after_cents: int
    seed: SeedShown
    revenue_cents: NotRequired[int]
    hit: NotRequired[str | None]


class Envy(TypedDict):
    """A fixed sum for another seat's hit; `order` is that award's, from the second rules edition on."""

    from_seat: int
    hand: str
    paid_cents: int
    order: NotRequired[int]


class MeterRow(TypedDict):
    """A level before and after an event, fractions as they are after it (DECISIONS A20)."""

    link: str
    level: str
    before_cents: int
    after_cents: int
    residual_millionths: int
    contributed_millionths: int
    reserve_cents: int
    reserve_residual_millionths: int
    overflow_cents: int
    overflow_residual_millionths: int
    reserve_before_cents: int
    overflow_before_cents: int


NOTHING_PUT_IN: Final = (0, 0, 0)


class LevelMovement(NamedTuple):
    """What a round's contributions brought to one level, or took back of what its lock had brought.

    `contributed_millionths` is stake × display rate, `overflowed_millionths` that of it which went to the overflow, and
    `reserved_millionths` stake × reserve rate; the next three are the whole cents that arrived in display, reserve and
    overflow; all are below zero where they left.  `put_in_cents` is what `adjustments` put into each part before more was
    taken than it held.  Awards and seeds are in the settlement's `awards`.
    """

    level: str
    contributed_millionths: int
    reserved_millionths: int
    overflowed_millionths: int
    contribution_cents: int
    reserve_cents: int
    overflow_cents: int
    put_in_cents: tuple[int, int, int] = NOTHING_PUT_IN

    @property
    def brought(self) -> Brought:
        """What arrived in each part, to the millionth."""
        overflowed = self.overflowed_millionths
        return Brought(self.contributed_millionths - overflowed, self.reserved_millionths, overflowed)


@dataclass(frozen=True, slots=True)
class Locked:
    """What a round's lock put in before the cards: its stakes, and what they brought, by level (DECISIONS A51)."""

    stakes_cents: int
    brought: Mapping[str, Brought]


@dataclass(frozen=True, slots=True)
class Hit:
    """A seat whose hand earns a share of a level."""

    seat: int
    hand: str
    row: Row


def sum_text(cents: int) -> str:
    """A fixed sum as the paytable prints it: $2,500, or $2.50 (DECISIONS A36)."""
    dollars, rest = divmod(cents, 100)
    return f"${dollars:,}.{rest:02d}" if rest else f"${dollars:,}"


def odds_text(row: Row) -> str | None:
    """What a row pays in the words of the settlement; None for a push (DECISIONS A36, A48)."""
    if row.pays == "share":
        whole, parts = divmod(row.share_ppm, MILLION // 100)
        percent = f"{whole}.{parts:04d}".rstrip("0").rstrip(".")
        return f"{percent}% of {row.level}"
    if row.pays == "sum":
        return sum_text(row.cents)
    if row.pays in ("push", "half"):
        return None
    return f"{row.odds} {row.pays} {row.per}"


def contributions(
    link: LinkTerms, meters: Mapping[str, Meter], stake_cents: int, locked: Locked | None = None
) -> tuple[dict[str, Meter], tuple[LevelMovement, ...]]:
    """Add the round's accepted progressive stakes to every level, before any award (SPEC §6.1).

    Where a lock has contributed already, only the difference is added or taken back (DECISIONS A51).
    """
    if locked is not None:
        stake_cents -= locked.stakes_cents
        if stake_cents < 0:
            return _taken_back(link, meters, -stake_cents, locked)
    after: dict[str, Meter] = {}
    movements: list[LevelMovement] = []
    for terms in link.levels:
        code = terms.code
        meter = meters[code]
        if not stake_cents:
            after[code] = meter
            movements.append(LevelMovement(code, 0, 0, 0, 0, 0, 0))
            continue
        after[code] = grown = contribute(meter, terms, stake_cents)
        overflow_cents = grown.overflow_cents - meter.overflow_cents
        movements.append(
            LevelMovement(
                code,
                stake_cents * terms.rate_ppm,
                stake_cents * terms.reserve_ppm,
                overflow_cents * MILLION + grown.overflow_residual_millionths - meter.overflow_residual_millionths,
                grown.value_cents - meter.value_cents,
                grown.reserve_cents - meter.reserve_cents,
                overflow_cents,
            )
        )
    return after, tuple(movements)


def _taken_back(
    link: LinkTerms, meters: Mapping[str, Meter], stake_cents: int, locked: Locked
) -> tuple[dict[str, Meter], tuple[LevelMovement, ...]]:
    """Take the share of stakes that were locked and not accepted off every level."""
    after: dict[str, Meter] = {}
    movements: list[LevelMovement] = []
    for terms in link.levels:
        code = terms.code
        after[code], movement = _level_taken_back(terms, meters[code], stake_cents, locked.brought.get(code, NOTHING))
        movements.append(movement)
    return after, tuple(movements)


def _level_taken_back(
    terms: LevelTerms, meter: Meter, stake_cents: int, brought: Brought
) -> tuple[Meter, LevelMovement]:
    """First what the lock's contribution had overflowed, then its display; the reserve's in proportion."""
    contributed = stake_cents * terms.rate_ppm
    overflowed = min(contributed, brought.overflow)
    meter, display_put_in, display_cents = take_out(meter, "display", contributed - overflowed)
    meter, reserve_put_in, reserve_cents = take_out(meter, "reserve", stake_cents * terms.reserve_ppm)
    meter, overflow_put_in, overflow_cents = take_out(meter, "overflow", overflowed)
    return meter, LevelMovement(
        terms.code,
        -contributed,
        -stake_cents * terms.reserve_ppm,
        -overflowed,
        -display_cents,
        -reserve_cents,
        -overflow_cents,
        (display_put_in, reserve_put_in, overflow_put_in),
    )


def awards(link: LinkTerms, meters: dict[str, Meter], hits: Iterable[Hit]) -> list[Award]:
    """Pay the hits in the order given, each on the meter the previous one left (SPEC §6.2-6.4).

    `meters` is moved along.  Returns the `awards` of CONTRACT §3; `seed` says who paid the reset or the top-up,
    and `revenue_cents` is there when overflow became revenue.
    """
    paid: list[Award] = []
    for order, hit in enumerate(hits, 1):
        code = hit.row.level
        assert code is not None, "only rows that pay a share are hits"
        before = meters[code]
        taken = take(before, link.level[code], hit.row.share_ppm)
        meters[code] = taken.meter
        award: Award = {
            "order": order,
            "seat": hit.seat,
            "level": code,
            "hand": hit.hand,
            "share_ppm": hit.row.share_ppm,
            "meter_before_cents": before.value_cents,
            "paid_cents": taken.paid_cents,
            "meter_after_cents": taken.meter.value_cents,
            "seed": {
                "reserve_cents": taken.seed.reserve_cents,
                "house_cents": taken.seed.house_cents,
                "overflow_cents": taken.seed.overflow_cents,
            },
        }
        if taken.revenue_cents:
            award["revenue_cents"] = taken.revenue_cents
        award["hit"] = None
        paid.append(award)
    return paid


def envy(hits: Iterable[Hit], seat: int) -> list[Envy]:
    """The fixed sums a seat earns from the other seats' hits, in their order, each naming its award's (SPEC §6.5)."""
    return [
        {"from_seat": hit.seat, "hand": hit.hand, "paid_cents": hit.row.envy_cents, "order": order}
        for order, hit in enumerate(hits, 1)
        if hit.seat != seat and hit.row.envy_cents
    ]


def meter_rows(
    link: LinkTerms,
    before: Mapping[str, Meter],
    after: Mapping[str, Meter],
    stake_cents: int = 0,
    contributed: Mapping[str, int] | None = None,
) -> list[MeterRow]:
    """The `meters` of CONTRACT §3: one row per level, also when nothing was wagered (DECISIONS A20).

    What was contributed follows from the stakes, below zero where a lock's were taken back, or is given in millionths of a
    cent by level.
    """
    rows: list[MeterRow] = []
    for terms in link.levels:
        was, now = before[terms.code], after[terms.code]
        rows.append(
            {
                "after_cents": now.value_cents,
                "before_cents": was.value_cents,
                "contributed_millionths": contributed.get(terms.code, 0)
                if contributed
                else stake_cents * terms.rate_ppm,
                "level": terms.code,
                "link": link.code,
                "overflow_before_cents": was.overflow_cents,
                "overflow_cents": now.overflow_cents,
                "overflow_residual_millionths": now.overflow_residual_millionths,
                "reserve_before_cents": was.reserve_cents,
                "reserve_cents": now.reserve_cents,
                "reserve_residual_millionths": now.reserve_residual_millionths,
                "residual_millionths": now.residual_millionths,
            }
        )
    return rows
