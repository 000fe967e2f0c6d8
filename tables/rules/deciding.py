"""One decision for every cause: what `record`, `verify` and `settle` all call (ARCHITECTURE §3a).

A cause is a message (a round's result, or its lock) or an act of people. Deciding changes nothing; `House.apply` moves the
house along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple, cast

from accounting.rules import edition as editions
from accounting.rules.acts import Shape
from accounting.rules.events import CONTACT, FUNDS
from jackpot.rules import funds, hits, levels, link_shapes, links
from jackpot.rules import installing as link_installing
from jackpot.rules.decision import Act, Decision
from jackpot.rules.hits import EnvyState, HitState, envy_name, hit_name
from jackpot.rules.meter import Seed
from jackpot.rules.parts import Brought
from jackpot.rules.progressive import LevelMovement
from tables.rules import acts, books, contact, days, installing, locking, payouts, round_acts, unclaimed, withholding
from tables.rules.books import PayoutLine, Posting
from tables.rules.game import Game
from tables.rules.house import (
    HELD,
    NOTHING_BROUGHT,
    SETTLED,
    House,
    LockState,
    MessageDecision,
    RoundState,
    Standing,
)
from tables.rules.locking import Lock, decide_lock
from tables.rules.message import RoundMessage
from tables.rules.settle import Settled, Staked, settle, staked, voided
from tables.rules.settlement import Settlement
from tables.rules.table import TableTerms

KEYS_SINCE: Final[Mapping[int, Mapping[str, tuple[str, ...]]]] = {2: {"line": ("row",), "envy": ("order",)}}
"""The keys that came into settlements with each rules edition, by the part that bears them."""


class Result(NamedTuple):
    """A round's result as a cause: the message, and the moment it counts from (nanoseconds since 1970 UTC)."""

    message: RoundMessage
    counts_at: int


@dataclass(slots=True)
class RoundDecision(MessageDecision):
    """What a round comes to; beside the settlement what it puts on record.

    `progressives` counts the progressive wagers it accepted; `link` is the link it counts on.
    """

    terms: TableTerms | None = None
    link: str | None = None
    payouts: Sequence[PayoutLine] = ()
    progressives: int = 0
    contributions: tuple[LevelMovement, ...] = ()


def decide_result(
    cause: Result, house: House, edition: int | None = None, override: Collection[str] = ()
) -> RoundDecision:
    """Settle, void or hold a round on the house as it stands, under what counts at the round's own moment.

    A round with a lock counts from the lock, on the link that the lock has moved (DECISIONS A51).
    """
    message = cause.message
    lock = house.lock_of(message.table, message.round) if house.locks else None
    if lock is None:
        standing = house.standing(message.table, cause.counts_at)
    else:
        standing = house.standing_on(house.tables[message.table], lock.counts_at, house.links[lock.link])
    reasons = _reasons(message, standing)
    if lock is not None and lock.stakes != stakes(message):
        reasons.append("lock_mismatch")
    game, link = standing.game, standing.link
    locked = lock.put_in if lock is not None else None
    settled = settle(message, game, link.meters if link else {}, reasons, override, locked)
    return _decided(message, settled, game, house, edition, lock, cause.counts_at)


def _reasons(message: RoundMessage, standing: Standing) -> list[str]:
    """Why a round is held by what counts for its table, before anything is asked of the round itself."""
    reasons = []
    if not standing.link_is_open and any("progressive" in seat.wagers for seat in message.seats):
        reasons.append("link_not_open")
    if not standing.is_open:
        reasons.append("table_closed")
    return reasons


def decide_stakes(cause: Result, house: House) -> Staked:
    """What `decide_result` comes to of a round without a lock, as far as that does not depend on meters.

    Whoever replays a long record has no use for the lines, payouts and transfers of rounds that hit nothing.
    """
    standing = house.standing(cause.message.table, cause.counts_at)
    return staked(cause.message, standing.game, _reasons(cause.message, standing))


def decide_void_of_held(cause: Result, house: House, edition: int | None = None) -> RoundDecision:
    """Call a held round off: every stake back, and what its lock contributed taken back (DECISIONS A68)."""
    message, table = cause.message, house.tables[cause.message.table]
    lock = house.lock_of(message.table, message.round)
    moment = cause.counts_at if lock is None else lock.counts_at
    link = house.link_of(table, moment) if lock is None else house.links[lock.link]
    game = house.game_on(table, moment, link)
    settled = voided(message, game, link.meters if link else {}, lock.put_in if lock is not None else None)
    return _decided(message, settled, game, house, edition, lock, moment)


def stakes(message: RoundMessage) -> dict[int, int]:
    """The progressive wagers of a round in cents by seat, void seats included: what its lock must have named (A52)."""
    return {seat.seat: seat.wagers["progressive"] for seat in message.seats if "progressive" in seat.wagers}


def _decided(
    message: RoundMessage,
    settled: Settled,
    game: Game[Any],
    house: House,
    edition: int | None,
    lock: LockState | None,
    moment: int,
) -> RoundDecision:
    settlement = settled.settlement
    key = (message.table, message.round)
    if edition is not None and edition != editions.CURRENT:
        as_written(settlement, edition)
    if settled.outcome == HELD:
        held = RoundState(HELD, settlement["reasons"], message)
        return RoundDecision(HELD, _result(settlement), key=key, round=held, terms=game.table)
    link = None if game.link is None else game.link.code
    hits_: Sequence[HitState] = ()
    if link is not None and settlement["awards"]:
        for number, award in enumerate(settlement["awards"], house.links[link].next_hit):
            award["hit"] = hit_name(link, number)
        won_at = moment if lock is None else lock.counts_at
        won_on = house.days.of(won_at) if house.remembers and house.days is not None else None
        hits_ = hits_of(settlement, link, won_on)
    posting = books.posting(settlement, base_wagers=game.base, contributions=settled.movements, link=link)
    return RoundDecision(
        settled.outcome,
        _result(settlement),
        posting.movements,
        {} if link is None else {link: settled.meters},
        key=key,
        round=_left(settled, posting, link, lock) if house.remembers or lock else None,
        hits=hits_,
        terms=game.table,
        link=link,
        payouts=posting.payouts,
        progressives=posting.progressives,
        contributions=settled.movements,
    )


def _result(settlement: Settlement) -> dict[str, Any]:
    """A settlement as the result of a decision: the same object, of which nothing is known but that it is JSON."""
    return cast("dict[str, Any]", settlement)


def _left(settled: Settled, posting: Posting, link: str | None, lock: LockState | None) -> RoundState:
    """What later acts may ask of a settled or void round."""
    settlement = settled.settlement
    reasons = settlement["reasons"]
    if settled.outcome != SETTLED:
        return RoundState(settled.outcome, reasons, link=link)
    brought = NOTHING_BROUGHT
    if settled.movements and (posting.progressives or lock is not None):
        brought = tuple((each.level, each.brought) for each in settled.movements)
        if lock is not None:
            brought = tuple((level, _both(lock.brought.get(level), result)) for level, result in brought)
    return RoundState(
        SETTLED,
        reasons,
        link=link,
        brought=brought,
        stakes_cents=posting.stakes_cents,
        pays_cents=posting.pays_cents,
        hits=tuple(award["hit"] or "" for award in settlement["awards"]),
    )


def _both(lock: Brought | None, result: Brought) -> Brought:
    """What a lock and its result brought together."""
    if lock is None:
        return result
    return Brought(*(one + other for one, other in zip(lock, result, strict=True)))


def hits_of(settlement: Settlement, link: str, won_on: date | None = None) -> list[HitState]:
    """The hits of a round with the envy that each earned its neighbours; `won_on` is the gaming day of the game."""
    table, round_ = settlement["table"], settlement["round"]
    found: dict[int, HitState] = {}
    for award in settlement["awards"]:
        seed = award["seed"]
        found[award["seat"]] = HitState(
            award["hit"] or "",
            link,
            award["level"],
            table,
            award["paid_cents"],
            Seed(seed["reserve_cents"], seed["house_cents"], seed["overflow_cents"]),
            award.get("revenue_cents", 0),
            won_on=won_on,
        )
    for seat in settlement["seats"]:
        for envy in seat["envy"]:
            hit = found[envy["from_seat"]]
            name = envy_name(table, round_, seat["seat"], envy["from_seat"])
            paid_cents = envy["paid_cents"]
            hit.envy.append(EnvyState(name, hit.name, link, table, seat["seat"], paid_cents, won_on=won_on))
    return list(found.values())


def as_written(settlement: Settlement, edition: int) -> None:
    """Take out of a settlement what came with later rules editions: it is then in the bytes of its own."""
    parts: dict[str, list[Any]] = {
        "settlement": [settlement],
        "seat": settlement["seats"],
        "line": [line for seat in settlement["seats"] for line in seat["lines"]],
        "envy": [envy for seat in settlement["seats"] for envy in seat["envy"]],
        "award": settlement["awards"],
        "meter": settlement["meters"],
    }
    for since, added in KEYS_SINCE.items():
        if since > edition:
            for part, keys in added.items():
                for entry in parts[part]:
                    for key in keys:
                        entry.pop(key, None)


Decider = Callable[[Act, House, int | None], Decision]


def _released(act: Act, house: House, edition: int | None) -> Decision:
    message, moment = round_acts.released(act, house)
    try:
        decision = decide_result(Result(message, moment), house, edition, round_acts.RELEASABLE)
    except Exception:  # held because the rules fail on it, and they still do
        raise round_acts.not_releasable(["processing_error"]) from None
    if decision.outcome == HELD:
        raise round_acts.not_releasable(decision.result["reasons"])
    return decision


def _corrected(act: Act, house: House, edition: int | None) -> Decision:
    message, moment, override = round_acts.corrected(act, house)
    decision = decide_result(Result(message, moment), house, edition, override)
    if decision.outcome == HELD:
        decision.round = None  # it stays held as posted (DECISIONS A67)
    return decision


def _voided(act: Act, house: House, edition: int | None) -> Decision:
    round_acts.VOID_ROUND.read(act.payload)
    _, found = house.round(act.subject)
    if found.outcome != HELD:
        return round_acts.void_settled(act, house)
    message, moment = round_acts.called_off(act, house)
    return decide_void_of_held(Result(message, moment), house, edition)


ACTS: Final[Mapping[str, Decider]] = {
    installing.INSTALL: lambda act, house, edition: installing.install(act, house),
    link_installing.INSTALL: lambda act, house, edition: link_installing.install(act),
    "link.file": lambda act, house, edition: links.file(act, house.links, house.paytables, house.tables.keys()),
    "link.open": lambda act, house, edition: links.open_link(act, house.links),
    "link.suspend": lambda act, house, edition: links.suspend(act, house.links),
    "link.resume": lambda act, house, edition: links.resume(act, house.links),
    "link.close": lambda act, house, edition: links.close(act, house.links, house.hits, house.has_open_locks),
    "link.terms": lambda act, house, edition: links.change_terms(act, house.links),
    FUNDS: lambda act, house, edition: funds.record(act, house.links),
    "table.join": lambda act, house, edition: acts.join(act, house),
    "table.leave": lambda act, house, edition: acts.leave(act, house),
    "table.open": lambda act, house, edition: acts.open_table(act, house),
    "table.close": lambda act, house, edition: acts.close_table(act, house),
    "table.terms": lambda act, house, edition: acts.change_terms(act, house),
    CONTACT: lambda act, house, edition: contact.turn(act, house),
    "level.adjust": lambda act, house, edition: levels.adjust(act, house.links),
    "level.transfer": lambda act, house, edition: levels.transfer(act, house.links),
    "hit.verify": lambda act, house, edition: hits.verify(act, house.hits, house.links),
    "hit.approve": lambda act, house, edition: hits.approve(act, house.hits, house.links),
    "hit.pay": lambda act, house, edition: hits.pay(act, house.hits, house.links),
    "hit.reject": lambda act, house, edition: hits.reject(act, house.hits, house.links),
    "hit.unclaimed": lambda act, house, edition: unclaimed.hit_unclaimed(act, house),
    "hit.remit": lambda act, house, edition: unclaimed.hit_remit(act, house),
    "hit.withhold": lambda act, house, edition: withholding.of_hit(act, house),
    "payout.pay": lambda act, house, edition: payouts.pay(act, house),
    "payout.unclaimed": lambda act, house, edition: unclaimed.payout_unclaimed(act, house),
    "payout.remit": lambda act, house, edition: unclaimed.payout_remit(act, house),
    "payout.withhold": lambda act, house, edition: withholding.of_envy(act, house),
    "round.release": _released,
    "round.correct": _corrected,
    "round.void": _voided,
    "lock.void": lambda act, house, edition: locking.void_lock(act, house),
    days.CLOSE: lambda act, house, edition: days.close(act, house),
}
"""The decider of every act, by its name; installations by command are decided likewise.

What cannot be done raises ActRefused.
"""

SHAPES: Final[Mapping[str, Shape]] = {
    shape.name: shape
    for shape in (
        link_shapes.FILE, link_shapes.OPENING, link_shapes.SUSPEND, link_shapes.RESUME, link_shapes.CLOSE, link_shapes.TERMS,
        acts.TABLE_JOIN, acts.TABLE_LEAVE, acts.TABLE_OPEN, acts.TABLE_CLOSE, acts.TABLE_TERMS,
        levels.ADJUST, levels.TRANSFER, hits.VERIFY, hits.APPROVE, hits.PAY, hits.REJECT, payouts.PAY,
        unclaimed.HIT_UNCLAIMED, unclaimed.HIT_REMIT, unclaimed.PAYOUT_UNCLAIMED, unclaimed.PAYOUT_REMIT,
        withholding.HIT_WITHHOLD, withholding.PAYOUT_WITHHOLD,
        round_acts.RELEASE, round_acts.CORRECT, round_acts.VOID_ROUND, locking.VOID_LOCK, days.CLOSE_DAY,
    )
}  # fmt: skip


def decide(cause: Result | Lock | Act, house: House, edition: int | None = None) -> Decision:
    """What a cause comes to in a house, by the rules of an edition. Raises ActRefused for an act that cannot be done."""
    if isinstance(cause, Result):
        return decide_result(cause, house, edition)
    if isinstance(cause, Lock):
        return decide_lock(cause, house)
    return ACTS[cause.act](cause, house, edition)
