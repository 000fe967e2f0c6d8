"""What people may ask for of a round: release, correct or call off a held one, void a settled one (DECISIONS A66-A69)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from accounting.rules.accounts import Movement, inventory
from accounting.rules.acts import NESTED, ActRefused, Field, Shape
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.hits import PAID, REJECTED, REMITTED, rejection
from jackpot.rules.meter import Meter
from jackpot.rules.parts import take_back
from jackpot.rules.state import LinkState
from tables.rules import door
from tables.rules.held import HELD_REASONS
from tables.rules.house import HELD, SETTLED, VOID, House, RoundState
from tables.rules.message import RoundMessage

RELEASABLE: Final = (
    "players_mismatch",
    "deck_count_wrong",
    "cover_all_mode_off",
    "too_many_hits",
    "unreasonable_contribution",
    "link_not_open",
    "table_closed",
    "lock_mismatch",
    "wager_not_allowed",
)
"""Held reasons that a supervisor may override; what the others say cannot be settled as posted."""

RELEASE: Final = Shape("round.release", "round")
VOID_ROUND: Final = Shape("round.void", "round")


def _read_object(value: Any, pointer: str) -> None:
    """The corrected message is read by the door, which knows the tables."""
    if type(value) is not dict:
        raise ActRefused("invalid_value", pointer, "Message: a round message is expected")


def _read_override(value: Any, pointer: str) -> None:
    if type(value) is not list:
        raise ActRefused("invalid_value", pointer, "Override: a list of held reasons is expected")
    for place, reason in enumerate(value):
        if type(reason) is not str or reason not in HELD_REASONS or reason in value[:place]:
            raise ActRefused("invalid_value", f"{pointer}/{place}", f"{reason} is no held reason")


CORRECT: Final = Shape(
    "round.correct",
    "round",
    (
        Field("message", NESTED, "Corrected message", read=_read_object, schema={"type": "object"}),
        Field(
            "override", NESTED, "Override", required=False, read=_read_override,
            schema={"type": "array", "items": {"type": "string", "enum": list(RELEASABLE)}, "uniqueItems": True},
        ),
    ),
)  # fmt: skip


def unreleasable(reasons: Iterable[str]) -> list[str]:
    """Those of a hold's reasons for which it cannot be settled as posted; one that the rules failed on is tried again."""
    return [reason for reason in reasons if reason not in (*RELEASABLE, "processing_error")]


def not_releasable(reasons: list[str]) -> ActRefused:
    """The refusal of a release: what cannot be settled as posted."""
    words = ", ".join(reason.replace("_", " ") for reason in reasons)
    return ActRefused("not_releasable", detail=f"it cannot be settled as posted: {words}")


def held_round(act: Act, house: House) -> RoundState:
    """The held round that an act is about; ActRefused where there is none, or it is held no more."""
    _, found = house.round(act.subject)
    if found.outcome != HELD:
        raise ActRefused("wrong_state", detail=f"round {act.subject} is {found.outcome}, not held")
    return found


def _message(found: RoundState) -> RoundMessage:
    assert found.message is not None, "a held round is kept with its message"
    return found.message


def counts_at(message: RoundMessage, received_at: int | None, house: House) -> int:
    """The moment a round counts from by its deal, in nanoseconds since 1970 UTC; a lock's comes before it (DECISIONS A51)."""
    return house.tables[message.table].counts_at(nanoseconds(message.dealt_at), received_at)


def _not_on_a_closed_link(message: RoundMessage, moment: int, house: House) -> None:
    """A closed link never moves again (DECISIONS A56); none that has an open lock can be closed."""
    if house.lock_of(message.table, message.round) is not None:
        return
    link = house.link_of(house.tables[message.table], moment)
    if link is not None and link.closed and any("progressive" in seat.wagers for seat in message.seats):
        raise _closed(link)


def _closed(link: LinkState) -> ActRefused:
    return ActRefused("wrong_state", detail=f"link {link.code} is closed for good")


def released(act: Act, house: House) -> tuple[RoundMessage, int]:
    """The message of a held round that is to be settled as posted, and the moment it counts from (DECISIONS A66)."""
    RELEASE.read(act.payload)
    found = held_round(act, house)
    message = _message(found)
    moment = counts_at(message, found.received_at, house)
    _not_on_a_closed_link(message, moment, house)
    return message, moment


def corrected(act: Act, house: House) -> tuple[RoundMessage, int, list[str]]:
    """The message that a held round should have been, its moment, and what of it people have looked into (DECISIONS A67)."""
    payload = CORRECT.read(act.payload)
    (table, reference), posted = house.round(act.subject)
    pointer = "/payload/message"
    if "kind" in payload["message"]:
        raise ActRefused("invalid_value", f"{pointer}/kind", "a round's result is expected")
    message = door.read(payload["message"], house.doors)
    if isinstance(message, door.Refusal):
        raise ActRefused(
            message.code, pointer + message.pointer, f"refused at the door: {message.code.replace('_', ' ')}"
        )
    if message.round != reference:
        raise ActRefused("invalid_value", f"{pointer}/round", f"it must be round {reference}")
    if message.table != table:
        raise ActRefused("invalid_value", f"{pointer}/table", f"it must be table {table}")
    held_round(act, house)
    moment = counts_at(message, posted.received_at, house)
    _not_on_a_closed_link(message, moment, house)
    override: list[str] = payload.get("override", [])
    if out := [reason for reason in override if reason not in RELEASABLE]:
        raise not_releasable(out)
    return message, moment, override


def called_off(act: Act, house: House) -> tuple[RoundMessage, int]:
    """The message of a held round that is to be void, and the moment it counts from (DECISIONS A68)."""
    found = held_round(act, house)
    message = _message(found)
    return message, counts_at(message, found.received_at, house)


def void_settled(act: Act, house: House) -> Decision:
    """Undo a settled round on today's balances: hits, contributions, stakes and fixed pays (DECISIONS A69)."""
    (table, _), found = house.round(act.subject)
    if found.outcome != SETTLED:
        raise ActRefused("wrong_state", detail=f"round {act.subject} is {found.outcome}")
    link = house.links[found.link] if found.link is not None else None
    if link is not None and link.closed and any(any(brought) for _, brought in found.brought):
        raise _closed(link)
    hits = [house.hits[name] for name in found.hits]
    if any(hit.state in (PAID, REMITTED) for hit in hits):
        raise ActRefused("award_paid", detail=f"an award of round {act.subject} is paid, or the state's")
    moved: list[Movement] = []
    steps: list[dict[str, Any]] = []
    after: dict[str, Meter] = {} if link is None else dict(link.meters)
    for hit in reversed(hits):
        if hit.state != REJECTED:
            rejected = rejection(hit, after[hit.level])
            after[hit.level] = rejected.meter
            moved += rejected.movements
            steps += rejected.steps
    if link is not None:
        for level, brought in found.brought:
            after[level], taken = take_back(link.code, level, after[level], brought, "void")
            moved += taken
    tray = inventory(table)
    moved.append(Movement("wagers", tray, found.stakes_cents, "void"))
    moved.append(Movement(tray, "fixed_pays", found.pays_cents, "void"))
    steps.append({"what": "round", "name": act.subject, "state": VOID})
    if link is None:
        return done(act, moved, [], steps=steps)
    contributed = {level: -brought.contributed for level, brought in found.brought}
    rows = link.rows(after, nanoseconds(act.at), contributed)
    return done(act, moved, rows, {link.code: after}, steps=steps)
