"""One decision for every cause: what `record`, `verify` and `settle` all call (ARCHITECTURE §3a).

A cause is a message (a round's result) or an act of people. Deciding changes nothing; `House.apply` moves the house along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accounting.rules import edition as editions
from accounting.rules.acts import Shape
from jackpot.rules import installing as link_installing
from jackpot.rules import levels
from jackpot.rules.decision import Act, Decision
from jackpot.rules.progressive import LevelMovement
from tables.rules import acts, books, installing
from tables.rules.books import PayoutLine
from tables.rules.house import House
from tables.rules.message import RoundMessage
from tables.rules.settle import Settled, settle, voided
from tables.rules.table import TableTerms


@dataclass(frozen=True, slots=True)
class Result:
    """A round's result as a cause: the message, and the moment it counts from (nanoseconds since 1970 UTC)."""

    message: RoundMessage
    counts_at: int


@dataclass(slots=True)
class RoundDecision(Decision):
    """What a round comes to; beside the settlement what it puts on record.

    `progressives` counts the progressive wagers it accepted; `link` is the link it counts on.
    """

    terms: TableTerms | None = None
    link: str | None = None
    payouts: list[PayoutLine] = field(default_factory=list)
    progressives: int = 0
    contributions: tuple[LevelMovement, ...] = ()


def decide_result(
    cause: Result, house: House, edition: int = editions.CURRENT, override: Collection[str] = ()
) -> RoundDecision:
    """Settle, void or hold a round on the house as it stands, under what counts at the round's own moment."""
    message, moment = cause.message, cause.counts_at
    table = house.tables[message.table]
    terms = house.terms_of(table, moment)
    link = house.link_of(table, moment)
    reasons = []
    if link is not None and not link.is_open(moment) and any("progressive" in seat.wagers for seat in message.seats):
        reasons.append("link_not_open")
    if not table.opens.at(moment):
        reasons.append("table_closed")
    return _decided(settle(message, terms, link.meters if link else {}, reasons, override), terms, house, edition)


def decide_void_of_held(cause: Result, house: House, edition: int = editions.CURRENT) -> RoundDecision:
    """Call a held round off: every stake back, nothing contributed (DECISIONS A68)."""
    table = house.tables[cause.message.table]
    terms = house.terms_of(table, cause.counts_at)
    link = house.link_of(table, cause.counts_at)
    return _decided(voided(cause.message, terms, link.meters if link else {}), terms, house, edition)


def _decided(settled: Settled, terms: TableTerms, house: House, edition: int) -> RoundDecision:
    settlement = settled.settlement
    if edition == editions.FIRST:
        as_first_written(settlement)
    if settled.outcome == "held":
        return RoundDecision("held", settlement, terms=terms)
    link = terms.link
    if link is not None:
        number = house.links[link.code].next_hit
        for award in settlement["awards"]:
            award["hit"] = hit_name(link.code, number)
            number += 1
    posting = books.posting(
        settlement,
        base_wagers=terms.rules.base,
        contributions=settled.movements,
        link=link.code if link else None,
    )
    return RoundDecision(
        settled.outcome,
        settlement,
        posting.movements,
        {link.code: settled.meters} if link else {},
        terms=terms,
        link=link.code if link else None,
        payouts=posting.payouts,
        progressives=posting.progressives,
        contributions=settled.movements,
    )


def hit_name(link: str, number: int) -> str:
    """The name of a hit: the link's code and the link's hit number (CONTRACT §3)."""
    return f"{link}-{number:06d}"


def as_first_written(settlement: dict[str, Any]) -> None:
    """A settlement in the bytes of the first rules edition: lines did not name their row, nor envy its award."""
    for seat in settlement["seats"]:
        for line in seat["lines"]:
            line.pop("row", None)
        for envy in seat["envy"]:
            envy.pop("order", None)


Decider = Callable[[Act, House, int], Decision]


def _released(act: Act, house: House, edition: int) -> Decision:
    message, moment = acts.released(act, house)
    try:
        decision = decide_result(Result(message, moment), house, edition, acts.RELEASABLE)
    except Exception:  # held because the rules fail on it, and they still do
        raise acts.not_releasable(["processing_error"]) from None
    if decision.outcome == "held":
        raise acts.not_releasable(decision.result["reasons"])
    return decision


def _corrected(act: Act, house: House, edition: int) -> Decision:
    message, moment, override = acts.corrected(act, house)
    return decide_result(Result(message, moment), house, edition, override)


def _called_off(act: Act, house: House, edition: int) -> Decision:
    message, moment = acts.called_off(act, house)
    return decide_void_of_held(Result(message, moment), house, edition)


ACTS: Final[Mapping[str, Decider]] = {
    installing.INSTALL: lambda act, house, edition: installing.install(act, house),
    link_installing.INSTALL: lambda act, house, edition: link_installing.install(act),
    "level.adjust": lambda act, house, edition: levels.adjust(act, house.links),
    "table.open": lambda act, house, edition: acts.open_table(act, house),
    "table.close": lambda act, house, edition: acts.close_table(act, house),
    "table.terms": lambda act, house, edition: acts.change_terms(act, house),
    "round.release": _released,
    "round.correct": _corrected,
    "round.void": _called_off,
}
"""The decider of every act, by its name; installations by command are decided likewise.

What cannot be done raises ActRefused.
"""

SHAPES: Final[Mapping[str, Shape]] = {
    shape.name: shape
    for shape in (
        levels.ADJUST, acts.TABLE_OPEN, acts.TABLE_CLOSE, acts.TABLE_TERMS, acts.RELEASE, acts.CORRECT, acts.VOID,
    )
}  # fmt: skip


def decide(cause: Result | Act, house: House, edition: int = editions.CURRENT) -> Decision:
    """What a cause comes to in a house, by the rules of an edition. Raises ActRefused for an act that cannot be done."""
    if isinstance(cause, Result):
        return decide_result(cause, house, edition)
    return ACTS[cause.act](cause, house, edition)
