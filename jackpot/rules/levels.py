"""Adjusting a level by hand, and moving its parts to another (CONTRACT §7, DECISIONS A60-A62; SPEC §9's list of reasons)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from accounting.rules.accounts import Movement, of_level
from accounting.rules.acts import CHOICE, CHOICES, TEXT, WHOLE, ActRefused, Field, Shape
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.meter import MILLION, Meter
from jackpot.rules.parts import PARTS, carry_over, in_order
from jackpot.rules.state import CLOSED, OPEN, SUSPENDED, LinkState

MOST_CENTS: Final = 1_000_000_000_000
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

TRANSFER: Final = Shape(
    "level.transfer",
    "level",
    (
        Field("to", TEXT, "To", least=1, help="the level that gets it, LINK/LEVEL"),
        Field("parts", CHOICES, "Parts", choices=tuple(PARTS), help="each goes whole, to the same part"),
    ),
)


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
    after: dict[str, Meter] = {level: meter._replace(**{whole: after_cents})}
    books = of_level(link.code, level, account)
    moved = (
        Movement("adjustments", books, cents, reason) if cents > 0 else Movement(books, "adjustments", -cents, reason)
    )
    return done(act, [moved], link.rows(after, at), {link.code: after})


def transfer(act: Act, links: Mapping[str, LinkState]) -> Decision:
    """Carry whole parts of a level over to another, each to the same part; what its limit does not hold overflows."""
    payload = TRANSFER.read(act.payload)
    link, level = level_of(act.subject, links)
    at = nanoseconds(act.at)
    target, to_level = target_of(payload["to"], links, at, "/payload/to")
    if (target.code, to_level) == (link.code, level):
        raise ActRefused("invalid_value", "/payload/to", "To: another level is expected")
    if CLOSED in (link.state(at), target.state(at)):
        raise ActRefused("wrong_state", detail="a closed link never moves again")
    if link.state(at) == OPEN:
        raise ActRefused("link_open", detail=f"link {link.code} is open: suspend it first")
    if link.state(at) != SUSPENDED:
        raise ActRefused("wrong_state", detail=f"link {link.code} is {link.state(at)}, not suspended")
    after = {link.code: dict(link.meters), target.code: dict(target.meters)}
    if link.code == target.code:
        after = {link.code: dict(link.meters)}
    moved: list[Movement] = []
    limit_cents = target.terms.at(at).level[to_level].limit_cents
    for part in in_order(payload["parts"]):
        source = (link.code, level, after[link.code][level])
        aim = (target.code, to_level, after[target.code][to_level])
        after[link.code][level], after[target.code][to_level], booked = carry_over(source, aim, part, limit_cents)
        moved += booked
    rows = [row for code in links if code in after for row in links[code].rows(after[code], at)]
    return done(act, moved, rows, after)


def target_of(
    name: str, links: Mapping[str, LinkState], at: int, pointer: str, *, but: str | None = None
) -> tuple[LinkState, str]:
    """The level that a part goes to, of another link than `but`; ActRefused `invalid_value` where it cannot (DECISIONS A62).

    A closed link's level is there, but never moves again: that is for the caller to refuse.
    """
    try:
        link, level = level_of(name, links)
    except ActRefused:
        raise ActRefused("invalid_value", pointer, f"there is no level {name}") from None
    if link.code == but or link.state(at) not in (OPEN, SUSPENDED, CLOSED):
        raise ActRefused("invalid_value", pointer, f"nothing can go to {name}")
    return link, level
