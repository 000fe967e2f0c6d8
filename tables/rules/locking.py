"""Locks: what they contribute before the cards, and how that is undone (DECISIONS A50-A52)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from accounting.rules.accounts import Movement
from accounting.rules.acts import ActRefused, Shape
from jackpot.rules import progressive
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import MILLION, Meter
from jackpot.rules.parts import take_back
from jackpot.rules.progressive import LevelMovement
from jackpot.rules.state import LinkState
from tables.rules import books, held
from tables.rules.house import LOCKED, VOID, House, LockState, MessageDecision, TableState
from tables.rules.lock import LockMessage

VOID_LOCK: Final = Shape("lock.void", "round")


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock as a cause: the message, and the moment it counts from (nanoseconds since 1970 UTC)."""

    message: LockMessage
    counts_at: int


@dataclass(slots=True)
class LockDecision(MessageDecision):
    """What a lock comes to: locked, held or duplicate; `contributions` are what it brought to the levels of `link`."""

    link: str | None = None
    contributions: tuple[LevelMovement, ...] = ()


def decide_lock(cause: Lock, house: House) -> LockDecision:
    """Contribute the wagers of a round before its cards, unless its result has come already or it must be held."""
    message = cause.message
    key = (message.table, message.round)
    if key in house.rounds:
        return LockDecision("duplicate", _result(message, "duplicate", []), key=key)
    table = house.tables[message.table]
    link = house.link_of(table, cause.counts_at)
    reasons = _reasons(cause, table, link)
    if link is None or reasons:
        return LockDecision("held", _result(message, "held", reasons), key=key)
    terms = link.terms.at(cause.counts_at)
    stakes_cents = sum(message.stakes.values())
    after, contributions = progressive.contributions(terms, link.meters, stakes_cents)
    result = _result(message, "locked", [])
    result["meters"] = progressive.meter_rows(terms, link.meters, after, stakes_cents)
    return LockDecision(
        "locked",
        result,
        list(books.contributed(link.code, contributions)),
        {link.code: after},
        key=key,
        link=link.code,
        lock=LockState(
            cause.counts_at, link.code, message.stakes, {each.level: each.brought for each in contributions}
        ),
        contributions=contributions,
    )


def _result(message: LockMessage, outcome: str, reasons: list[str]) -> dict[str, Any]:
    return {
        "round": message.round,
        "table": message.table,
        "kind": "lock",
        "outcome": outcome,
        "reasons": reasons,
        "meters": [],
    }


def _reasons(cause: Lock, table: TableState, link: LinkState | None) -> list[str]:
    """Why the lock must be held; a held one is as if it had never come."""
    stakes, moment = cause.message.stakes, cause.counts_at
    found: set[str] = set()
    if link is None:
        found.add("wager_not_offered")
    else:
        terms = link.terms.at(moment)
        if any(cents != terms.paytable.wager_cents for cents in stakes.values()):
            found.add("wager_not_allowed")
        if _is_unreasonable(terms, sum(stakes.values())):
            found.add("unreasonable_contribution")
        if not table.takes_progressive(link, moment):
            found.add("link_not_open")
    if max(stakes) > table.terms.at(moment).seats:
        found.add("seat_not_at_table")
    if not table.opens.at(moment):
        found.add("table_closed")
    return held.ordered(found)


def _is_unreasonable(link: LinkTerms, stakes_cents: int) -> bool:
    return any(
        level.unreasonable_cents is not None and stakes_cents * level.rate_ppm > level.unreasonable_cents * MILLION
        for level in link.levels
    )


def void_lock(act: Act, house: House) -> Decision:
    """Take back all that a lock brought, while no result has come; one that comes later knows of no lock."""
    VOID_LOCK.read(act.payload)
    table, _, reference = act.subject.partition("/")
    key = (table, reference)
    lock = house.locks.get(key)
    if lock is None:
        raise ActRefused("unknown_subject", detail=f"there is no lock of {act.subject}")
    if lock.state != LOCKED or key in house.rounds:
        raise ActRefused("wrong_state", detail=f"the lock of {act.subject} is void, or its result has come")
    link = house.links[lock.link]
    after: dict[str, Meter] = {}
    moved: list[Movement] = []
    for level, brought in lock.brought.items():
        after[level], taken = take_back(link.code, level, link.meters[level], brought, "void")
        moved += taken
    rows = link.rows(after, lock.counts_at, {level: -brought.contributed for level, brought in lock.brought.items()})
    step = {"what": "lock", "name": act.subject, "state": VOID}
    return done(act, moved, rows, {link.code: after}, steps=[step])
