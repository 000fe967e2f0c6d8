"""Adjusting a level by hand (CONTRACT §7 `level.adjust`, DECISIONS A60, A61; SPEC §9's closed list of reasons)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from accounting.rules.accounts import Movement, of_level
from accounting.rules.acts import CHOICE, WHOLE, ActRefused, Field, Shape
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.meter import MILLION, Meter
from jackpot.rules.state import OPEN, SUSPENDED, LinkState

MOST_CENTS: Final = 1_000_000_000_000
# Each part of a level: the meter's whole cents, its fraction, and its account.
PARTS: Final = {
    "display": ("value_cents", "residual_millionths", "liability"),
    "reserve": ("reserve_cents", "reserve_residual_millionths", "reserve"),
    "overflow": ("overflow_cents", "overflow_residual_millionths", "overflow"),
}
UP: Final = {"correction": tuple(PARTS), "boost": ("display",)}
DOWN: Final = {
    "correction": tuple(PARTS),
    "malfunction": tuple(PARTS),
    "regulator_order": tuple(PARTS),
    "over_limit": ("display",),
    "reserve_release": ("reserve",),
}
REASONS: Final = ("correction", "boost", "malfunction", "regulator_order", "over_limit", "reserve_release")

ADJUST: Final = Shape(
    "level.adjust",
    "level",
    (
        Field("part", CHOICE, "Part", choices=tuple(PARTS), help="the display, its hidden reserve, or the overflow"),
        Field(
            "cents", WHOLE, "Amount", least=-MOST_CENTS, most=MOST_CENTS, money=True,
            help="above zero puts money on the part, below zero takes it off",
        ),
        Field("reason", CHOICE, "Reason", choices=REASONS),
    ),
)  # fmt: skip


def level_of(subject: str, links: Mapping[str, LinkState]) -> tuple[LinkState, str]:
    """The link and the level that `LINK/LEVEL` names; ActRefused `unknown_subject` where there is none."""
    code, _, level = subject.rpartition("/")
    link = links.get(code)
    if link is None or level not in link.meters:
        raise ActRefused("unknown_subject", detail=f"there is no level {subject}")
    return link, level


def adjust(act: Act, links: Mapping[str, LinkState]) -> Decision:
    """Put whole cents on a part of a level, or take them off, against `adjustments`."""
    payload = ADJUST.read(act.payload)
    cents: int = payload["cents"]
    if cents == 0:
        raise ActRefused("invalid_value", "/payload/cents", "Amount: not zero")
    link, level = level_of(act.subject, links)
    at = nanoseconds(act.at)
    if link.state(at) not in (OPEN, SUSPENDED):
        raise ActRefused(
            "wrong_state", detail=f"link {link.code} is {link.state(at)}: only an open or suspended one is adjusted"
        )
    part, reason = payload["part"], payload["reason"]
    whole, fraction, account = PARTS[part]
    meter = link.meters[level]
    limit_cents = link.terms.at(at).level[level].limit_cents
    after_cents = getattr(meter, whole) + cents
    fits = part in (UP if cents > 0 else DOWN).get(reason, ())
    if reason == "over_limit" and (limit_cents is None or after_cents < limit_cents):
        fits = False
    if not fits:
        raise ActRefused(
            "reason_does_not_fit",
            detail=f"{reason} does not go with {'adding to' if cents > 0 else 'taking off'} the {part} so",
        )
    if after_cents < 0:
        raise ActRefused("below_zero", detail=f"the {part} holds only {getattr(meter, whole)} cents")
    held_millionths = after_cents * MILLION + getattr(meter, fraction)
    if part == "display" and cents > 0 and limit_cents is not None and held_millionths > limit_cents * MILLION:
        raise ActRefused("above_limit", detail=f"the display may not go above its limit of {limit_cents} cents")
    after: dict[str, Meter] = {level: replace(meter, **{whole: after_cents})}
    books = of_level(link.code, level, account)
    moved = (
        Movement("adjustments", books, cents, reason) if cents > 0 else Movement(books, "adjustments", -cents, reason)
    )
    return done(act, [moved], link.rows(after, at), {link.code: after})
