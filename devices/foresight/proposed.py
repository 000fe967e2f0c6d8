"""Proposed terms of a link: as `link.terms` sends them, or as a floor file defines a link; and the link as it stands."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from accounting.event_queries import recorded_from
from accounting.queries import stream_row
from accounting.rules.acts import ActRefused, escaped
from accounting.rules.paces import a_month
from jackpot.queries import link_key, links_with_terms, meters_of
from jackpot.rules import link as definitions
from jackpot.rules import paytable as paytables
from jackpot.rules.definition import DefinitionRefused
from jackpot.rules.link import LinkTerms
from jackpot.rules.link_shapes import TERMS
from jackpot.rules.links import changed
from jackpot.rules.meter import MILLION, Meter, opening
from jackpot.rules.parts import held
from jackpot.rules.paytable import ProgressivePaytable
from jackpot.services.standing import paytable_definitions
from tables.services import terms

ENOUGH: Final = timedelta(hours=1)
"""How long a link must have been open for its record to say anything of its pace."""


class ProposedRefused(ValueError):
    """Terms that cannot stand: the field at fault in words and by its pointer in what was sent, and the rule in words."""

    def __init__(self, field: str, detail: str, pointer: str = "") -> None:
        super().__init__(field, detail, pointer)
        self.field = field
        self.detail = detail
        self.pointer = pointer

    def __str__(self) -> str:
        return f"{self.field}: {self.detail}" if self.field else self.detail


@dataclass(frozen=True, slots=True)
class Standing:
    """A link as it stands: its stream, its terms, its meters, and its pace in wagers a month where the record says one."""

    code: str
    stream_id: int
    version: int
    next_sequence: int
    terms: LinkTerms
    meters: dict[str, Meter]
    wagers_a_month: int | None


def standing(code: str, at: datetime) -> Standing | None:
    """A link on record; None where there is none of this code."""
    key = link_key(code)
    if key is None:
        return None
    stream_id = key[1]
    _, _, next_sequence, _, version = stream_row(stream_id)
    (shown,) = links_with_terms(code, at=at)
    rows = meters_of(code)
    wagers = max(row.wagers for row in rows)
    house = terms.of_stream(stream_id, version).house
    return Standing(
        code,
        stream_id,
        version,
        next_sequence,
        house.links[code].terms.at(2**63 - 1),
        {
            row.level.code: Meter(
                row.value_cents, row.residual_millionths, row.reserve_cents, row.reserve_residual_millionths,
                row.overflow_cents, row.overflow_residual_millionths,
            )
            for row in rows
        },
        a_month(wagers, at - shown["opened_at"], least=ENOUGH),
    )  # fmt: skip


def period(link: Standing, since: datetime | None, until: datetime | None) -> tuple[int, int]:
    """The first and the last event of a link that were recorded from one moment on and before another; its opening apart."""
    first = 1 if since is None else max(1, recorded_from(link.stream_id, since))
    last = link.next_sequence if until is None else recorded_from(link.stream_id, until)
    return first, min(last, link.next_sequence) - 1


def known_paytables() -> dict[str, ProgressivePaytable]:
    """Every progressive edition: the built-in ones, and those on record."""
    return paytables.builtin() | {
        code: paytables.read(definition) for code, definition in paytable_definitions().items()
    }


def changed_levels(link: Standing, levels: list[dict[str, Any]]) -> LinkTerms:
    """A link's terms with the levels changed that are named, as `link.terms` would. Raises ProposedRefused."""
    try:
        payload = TERMS.read({"levels": levels})
        found = changed(link.terms, payload["levels"])
    except ActRefused as refusal:
        pointer = (refusal.pointer or "").removeprefix("/payload")
        raise ProposedRefused(_field(refusal.pointer, levels), refusal.detail or str(refusal), pointer) from None
    for level in found.levels:
        limit_cents = level.limit_cents
        if limit_cents is None or limit_cents == link.terms.level[level.code].limit_cents:
            continue
        if held(link.meters[level.code], "display") > limit_cents * MILLION:
            raise ProposedRefused(
                f"limit_cents of level {level.code}",
                f"the level shows more than its new limit of {limit_cents} cents, and a meter is not cut",
                f"/levels/{next(place for place, each in enumerate(levels) if each['code'] == level.code)}/limit_cents",
            )
    return found


def _field(pointer: str | None, levels: list[dict[str, Any]]) -> str:
    """The field that a pointer into a payload names, in words."""
    steps = [step for step in (pointer or "").split("/") if step][1:]
    if len(steps) < 2 or not steps[1].isdigit() or int(steps[1]) >= len(levels):
        return ".".join(steps)
    level = levels[int(steps[1])]
    code = level.get("code", int(steps[1]) + 1) if isinstance(level, dict) else int(steps[1]) + 1
    return f"{steps[2]} of level {code}" if len(steps) > 2 else f"level {code}"


def defined(definition: Mapping[str, Any]) -> LinkTerms:
    """The link that a definition of CONTRACT §1 describes. Raises ProposedRefused."""
    try:
        return definitions.read(definition, known_paytables())
    except DefinitionRefused as refusal:
        raise ProposedRefused(refusal.path, refusal.detail, refusal.pointer) from None


def started(link: LinkTerms, initial: Mapping[str, Any]) -> dict[str, Meter]:
    """What the levels of a new link open with: their resets, or the whole cents that `initial` names. ProposedRefused."""
    found = {level.code: opening(level) for level in link.levels}
    for code, cents in initial.items():
        if code not in found:
            raise ProposedRefused(f"initial.{code}", f"there is no level {code}", f"/initial/{escaped(code)}")
        if type(cents) is not int or cents < 0:
            pointer = f"/initial/{escaped(code)}"
            raise ProposedRefused(f"initial.{code}", "a whole number of cents is expected", pointer)
        found[code] = Meter(cents)
    return found


def read_file(text: str) -> dict[str, Any]:
    """What a file of terms says, as JSON where it begins with a brace, else as TOML. Raises ProposedRefused."""
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except ValueError as problem:
        raise ProposedRefused("", f"neither TOML nor JSON: {problem}") from None
    assert isinstance(found, dict), "both kinds are tables at the top"
    return found


def of_file(said: dict[str, Any], code: str, link: Standing | None) -> tuple[LinkTerms, dict[str, Meter]]:
    """The terms that a file proposes for a link, and the meters to begin with.

    With `levels` alone it changes a link on record; with a `paytable` it defines a link, and `initial` says what its levels
    open with. Raises ProposedRefused.
    """
    if "paytable" not in said:
        if link is None:
            missing = f"missing; there is no link {code} on record whose terms could change"
            raise ProposedRefused("paytable", missing, "/paytable")
        for key in said:
            if key not in ("levels", "link"):
                raise ProposedRefused(key, "unknown key; terms that change are levels", f"/{escaped(key)}")
        return changed_levels(link, said.get("levels", [])), link.meters
    initial = said.get("initial", {})
    if not isinstance(initial, dict):
        raise ProposedRefused("initial", "a table of levels is expected", "/initial")
    found = defined({"code": code} | {key: value for key, value in said.items() if key != "initial"})
    if found.code != code:
        raise ProposedRefused("code", f"it must be {code}", "/code")
    if link is None:
        return found, started(found, initial)
    if found.paytable.code != link.terms.paytable.code:
        raise ProposedRefused(
            "paytable", f"link {code} has {link.terms.paytable.code}, which never changes", "/paytable"
        )
    return found, link.meters | started(found, initial) if initial else link.meters
