"""Hits: awards of a share of a level, from detection to payment or rejection (CONTRACT §7, SPEC §6.7, DECISIONS A59, A63)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from accounting.rules.accounts import Movement, inventory, of_level
from accounting.rules.acts import CHOICE, CHOICES, TEXT, ActRefused, Field, Shape
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.meter import Meter, Seed
from jackpot.rules.state import LinkState

DETECTED: Final = "detected"
VERIFIED: Final = "verified"
APPROVED: Final = "approved"
PAID: Final = "paid"
REJECTED: Final = "rejected"
UNCLAIMED: Final = "unclaimed"
REMITTED: Final = "remitted"
OWED: Final = "owed"
CANCELLED: Final = "cancelled"
OVER: Final = (PAID, REJECTED, REMITTED)
"""The states in which a hit ends."""

CHECKS: Final = ("cards", "seat", "wager_sensor", "surveillance")
METHODS: Final = ("cage", "table")
METHOD: Final = Field("method", CHOICE, "Paid from", choices=METHODS, help="the cage, or the table's own chips")

VERIFY: Final = Shape(
    "hit.verify",
    "hit",
    (Field("checks", CHOICES, "Checked", required=False, choices=CHECKS),),
)
APPROVE: Final = Shape("hit.approve", "hit", (Field("note", TEXT, "Note", required=False),))
PAY: Final = Shape("hit.pay", "hit", (METHOD,))
REJECT: Final = Shape("hit.reject", "hit")


@dataclass(slots=True)
class EnvyState:
    """What a hit earned a neighbour: `name` is TABLE/ROUND/SEAT/FROM (DECISIONS A64).

    Owed, or unclaimed by the term; then paid, cancelled or remitted to the state. `won_on` is the gaming day of the game;
    `is_withheld` says that tax of it was booked when it was paid.
    """

    name: str
    hit: str
    link: str
    table: str
    seat: int
    cents: int
    state: str = OWED
    won_on: date | None = None
    is_withheld: bool = False


@dataclass(slots=True)
class HitState:
    """A hit as later events may name it: its award, who paid its seed, what became revenue, and how far it has come.

    `won_on` is the gaming day of the game, where it is known; `is_withheld` says that tax of it was booked when it was paid.
    """

    name: str
    link: str
    level: str
    table: str
    paid_cents: int
    seed: Seed
    revenue_cents: int = 0
    state: str = DETECTED
    envy: list[EnvyState] = field(default_factory=list)
    won_on: date | None = None
    is_withheld: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it is neither paid nor rejected nor the state's."""
        return self.state not in OVER


def hit_name(link: str, number: int) -> str:
    """The name of a hit: the link's code and the link's hit number, `ms-mg01-000007` (CONTRACT §3)."""
    return f"{link}-{number:06d}"


def hit_number(name: str) -> tuple[str, int] | None:
    """The link's code and the number that a hit's name is made of, zeros left out or not; None where it is no hit's name."""
    link, _, digits = name.rpartition("-")
    if not (link and digits.isascii() and digits.isdecimal() and len(digits) < 19):
        return None
    return link, int(digits)


def envy_name(table: str, round_: str, seat: int, from_seat: int) -> str:
    """The name of an envy payout: the round, the seat that gets it, and the seat of the hit (DECISIONS A64)."""
    return f"{table}/{round_}/{seat}/{from_seat}"


def verify(act: Act, hits: Mapping[str, HitState], links: Mapping[str, LinkState]) -> Decision:
    """The hit is what it seems: cards, seat, wager and pictures were looked at."""
    VERIFY.read(act.payload)
    return step(act, hits, links, (DETECTED,), VERIFIED)


def approve(act: Act, hits: Mapping[str, HitState], links: Mapping[str, LinkState]) -> Decision:
    """The award may be paid."""
    APPROVE.read(act.payload)
    return step(act, hits, links, (VERIFIED,), APPROVED)


def pay(act: Act, hits: Mapping[str, HitState], links: Mapping[str, LinkState]) -> Decision:
    """The award is handed over, from the cage or from the table's chips; an unclaimed one to whoever comes for it."""
    payload = PAY.read(act.payload)
    hit = hit_of(act.subject, hits)
    moved = [Movement(owed_by(hit.state), paid_from(payload["method"], hit.table), hit.paid_cents, "payment")]
    return step(act, hits, links, (APPROVED, UNCLAIMED), PAID, moved)


def reject(act: Act, hits: Mapping[str, HitState], links: Mapping[str, LinkState]) -> Decision:
    """The award goes back on today's meter and its seed where it came from; what was won later stands (SPEC §6.7)."""
    REJECT.read(act.payload)
    hit = hit_of(act.subject, hits)
    not_over(hit)
    link = links[hit.link]
    rejected = rejection(hit, link.meters[hit.level])
    after = {hit.level: rejected.meter}
    return done(
        act, rejected.movements, link.rows(after, nanoseconds(act.at)), {link.code: after}, steps=rejected.steps
    )


def hit_of(subject: str, hits: Mapping[str, HitState]) -> HitState:
    """The hit that an act is about; ActRefused `unknown_subject` where there is none."""
    try:
        return hits[subject]
    except KeyError:
        raise ActRefused("unknown_subject", detail=f"there is no hit {subject}") from None


def paid_from(method: str, table: str) -> str:
    """The account that money is handed over from."""
    return inventory(table) if method == "table" else "cage"


def owed_by(state: str) -> str:
    """The account that an award or envy in a state is owed by."""
    return "unclaimed" if state == UNCLAIMED else "awards_payable"


def not_over(hit: HitState) -> None:
    """ActRefused for a hit that has ended."""
    if hit.state == PAID:
        raise ActRefused("already_paid", detail=f"hit {hit.name} is paid")
    if hit.state == REJECTED:
        raise ActRefused("already_rejected", detail=f"hit {hit.name} is rejected")
    if hit.state == REMITTED:
        raise ActRefused("wrong_state", detail=f"hit {hit.name} is the state's")


def step(
    act: Act,
    hits: Mapping[str, HitState],
    links: Mapping[str, LinkState],
    before: tuple[str, ...],
    after: str,
    moved: Iterable[Movement] = (),
) -> Decision:
    """One step of a hit, only from one of those before it."""
    hit = hit_of(act.subject, hits)
    not_over(hit)
    if hit.state not in before:
        raise ActRefused("wrong_state", detail=f"hit {hit.name} is {hit.state}, not {' or '.join(before)}")
    rows = links[hit.link].rows({}, nanoseconds(act.at))
    return done(act, list(moved), rows, steps=[hit_step(hit.name, after)])


@dataclass(slots=True)
class Rejected:
    """What the rejection of a hit comes to: its level's meter, the money moved, and what became of hit and envy."""

    meter: Meter
    movements: list[Movement]
    steps: list[dict[str, Any]]


def rejection(hit: HitState, meter: Meter) -> Rejected:
    """Undo an award on a meter as it stands today, in the order of DECISIONS A59; fractions stay where they are."""
    liability, reserve, overflow = (
        of_level(hit.link, hit.level, kind) for kind in ("liability", "reserve", "overflow")
    )
    seed = hit.seed
    seeds_cents = seed.reserve_cents + seed.house_cents + seed.overflow_cents
    there_cents = meter.value_cents + hit.paid_cents
    missing_cents = max(seeds_cents - there_cents, 0)
    moved = [
        Movement(owed_by(hit.state), liability, hit.paid_cents, "rejection"),
        Movement("adjustments", liability, missing_cents, "rejection"),
        Movement(liability, reserve, seed.reserve_cents, "rejection"),
        Movement(liability, "seed_expense", seed.house_cents, "rejection"),
        Movement(liability, overflow, seed.overflow_cents, "rejection"),
        Movement("revenue", overflow, hit.revenue_cents, "rejection"),
    ]
    steps = [hit_step(hit.name, REJECTED)]
    for envy in sorted(hit.envy, key=lambda each: each.seat, reverse=True):
        if envy.state in (OWED, UNCLAIMED):
            moved.append(Movement(owed_by(envy.state), "envy", envy.cents, "rejection"))
            steps.append(envy_step(envy.name, CANCELLED))
    after = meter._replace(
        value_cents=there_cents + missing_cents - seeds_cents,
        reserve_cents=meter.reserve_cents + seed.reserve_cents,
        overflow_cents=meter.overflow_cents + seed.overflow_cents + hit.revenue_cents,
    )
    return Rejected(after, moved, steps)


def hit_step(name: str, state: str) -> dict[str, Any]:
    """The step of a hit, as a decision keeps it."""
    return {"what": "hit", "name": name, "state": state}


def envy_step(name: str, state: str) -> dict[str, Any]:
    """What became of an envy payout, as a decision keeps it."""
    return {"what": "envy", "name": name, "state": state}
