"""The form of proposed terms: what people type, and what they meant; amounts in dollars, rates in percent of the wager."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accounting.office.rules.dollars import cents_of, typed
from accounting.office.rules.shares import percent, ppm_of
from devices.foresight.proposed import ProposedRefused
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import LevelTerms

MONEY, RATE, CHOICE = "money", "rate", "choice"


@dataclass(frozen=True, slots=True)
class Of:
    """One key of a level's terms: what it is called, and how it is typed."""

    key: str
    title: str
    kind: str
    choices: tuple[str, ...] = ()
    optional: bool = False


KEYS: Final = (
    Of("reset_cents", "Reset", MONEY),
    Of("rate_ppm", "Rate, % of the wager", RATE),
    Of("reserve_ppm", "Reserve rate, %", RATE),
    Of("limit_cents", "Limit", MONEY, optional=True),
    Of("unreasonable_cents", "Most of one round", MONEY, optional=True),
    Of("overflow_policy", "Overflow", CHOICE, ("next_reset", "revenue")),
    Of("seed_funding", "Seed from", CHOICE, ("reserve_then_house", "house")),
    Of("floor_policy", "Below reset", CHOICE, ("allow", "top_up")),
)


@dataclass(slots=True)
class Input:
    """A field of the form: its name, what it is, today's value, what was typed, and what is wrong with it."""

    of: Of
    name: str
    today: str
    typed: str
    error: str = ""


@dataclass(slots=True)
class Level:
    """The fields of one level."""

    code: str
    inputs: list[Input]


def written(of: Of, level: LevelTerms) -> str:
    """A level's value as one would type it; nothing where there is none."""
    value: Any = getattr(level, of.key)
    if value is None:
        return ""
    if of.kind == MONEY:
        return typed(value)
    return percent(value) if of.kind == RATE else str(value)


def form(link: LinkTerms, given: Mapping[str, str]) -> list[Level]:
    """The form on a link's terms, with what was typed in place of what stands where anything was."""
    return [
        Level(
            level.code,
            [
                Input(of, name, written(of, level), given.get(name, written(of, level)))
                for of in KEYS
                for name in [f"{place}-{of.key}"]
            ],
        )
        for place, level in enumerate(link.levels)
    ]


def names(link: LinkTerms) -> list[str]:
    """The names of the form's fields."""
    return [f"{place}-{of.key}" for place in range(len(link.levels)) for of in KEYS]


def levels_of(filled: list[Level]) -> list[dict[str, Any]]:
    """The levels as `link.terms` names them. Raises ProposedRefused for the first field that cannot be read."""
    found = []
    for level in filled:
        values: dict[str, Any] = {"code": level.code}
        for field in level.inputs:
            try:
                values[field.of.key] = _meant(field)
            except ValueError as problem:
                raise ProposedRefused(f"{field.of.key} of level {level.code}", str(problem)) from None
        found.append(values)
    return found


def _meant(field: Input) -> int | str | None:
    text = field.typed.strip()
    if not text and field.of.optional:
        return None
    if field.of.kind == MONEY:
        return cents_of(text)
    if field.of.kind == CHOICE:
        if text not in field.of.choices:
            raise ValueError(f"one of {', '.join(field.of.choices)} is expected")
        return text
    return ppm_of(text)


def show_refusal(filled: list[Level], refusal: ProposedRefused) -> None:
    """Put a refusal at its field."""
    for level in filled:
        for field in level.inputs:
            if refusal.field == f"{field.of.key} of level {level.code}":
                field.error = refusal.detail
