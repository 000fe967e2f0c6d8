"""What people may ask for of tables and held rounds: shapes and what stands in the way (CONTRACT §7, DECISIONS A55, A66-A68)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from accounting.rules.acts import NESTED, WHOLE, ActRefused, Field, Shape
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.definition import MOST_CENTS, DefinitionRefused
from tables.rules import door, floor
from tables.rules.held import HELD_REASONS
from tables.rules.house import House, RoundState, TableState
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

TABLE_OPEN: Final = Shape("table.open", "table")
TABLE_CLOSE: Final = Shape("table.close", "table")
RELEASE: Final = Shape("round.release", "round")
VOID: Final = Shape("round.void", "round")


def _read_terms(value: Any, pointer: str) -> None:
    """The terms of a table that change, each of its kind; whether they go with its game is asked with the table."""
    if type(value) is not dict:
        raise ActRefused("invalid_value", pointer, "Terms: an object is expected")
    for key in value:
        if key not in floor.TERM_KEYS:
            raise ActRefused("unknown_field", f"{pointer}/{key}", f"a table has no term {key}")
    for key in floor.TERM_KEYS:
        if key in value:
            try:
                floor.read_terms({key: value[key]})
            except DefinitionRefused as refused:
                raise ActRefused("invalid_value", f"{pointer}/{key}", refused.detail) from None


TABLE_TERMS: Final = Shape(
    "table.terms",
    "table",
    (
        Field("minimum_cents", WHOLE, "Minimum", required=False, least=1, most=MOST_CENTS, money=True),
        Field("maximum_cents", WHOLE, "Maximum", required=False, least=1, most=MOST_CENTS, money=True),
        Field(
            "terms", NESTED, "Terms", required=False, read=_read_terms,
            schema={"type": "object", "properties": floor.TERM_SCHEMA, "additionalProperties": False},
        ),
    ),
)  # fmt: skip


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


def open_table(act: Act, house: House) -> Decision:
    """Rounds that count from now on are settled again."""
    TABLE_OPEN.read(act.payload)
    return _turn(act, house, to_open=True)


def close_table(act: Act, house: House) -> Decision:
    """Rounds that count from now on are held `table_closed`."""
    TABLE_CLOSE.read(act.payload)
    return _turn(act, house, to_open=False)


def _turn(act: Act, house: House, *, to_open: bool) -> Decision:
    table = house.table(act.subject)
    if table.opens.at(nanoseconds(act.at)) is to_open:
        raise ActRefused("wrong_state", detail=f"table {table.code} is {'open' if to_open else 'closed'} already")
    change = {"what": "table.state", "table": table.code, "open": to_open, "counts_from": act.at}
    return done(act, [], rows_of(table, house, act.at), changes=[change])


def change_terms(act: Act, house: House) -> Decision:
    """What is named counts from now on, what is not named stays (DECISIONS A55)."""
    payload = TABLE_TERMS.read(act.payload)
    table = house.table(act.subject)
    terms = table.terms.at(nanoseconds(act.at))
    changed = floor.table_definition(terms) | {
        key: payload[key] for key in ("minimum_cents", "maximum_cents") if key in payload
    }
    changed["terms"] = changed["terms"] | payload.get("terms", {})
    try:
        floor.table_terms(changed, {}, house.editions)
    except DefinitionRefused as refused:
        raise ActRefused("invalid_value", f"/payload/{_named(refused.path, payload)}", refused.detail) from None
    change = {"what": "table.terms", "table": table.code, "definition": changed, "counts_from": act.at}
    return done(act, [], rows_of(table, house, act.at), changes=[change])


def _named(path: str, payload: Mapping[str, Any]) -> str:
    """The key of the payload that a refused definition is about: of two bounds that clash, the one that was sent."""
    if path == "maximum_cents" and path not in payload:
        return "minimum_cents"
    return path.replace(".", "/")


def rows_of(table: TableState, house: House, at: str) -> list[dict[str, Any]]:
    """The meter rows of the link that a table is on at a moment, none moved; none where it is on no link."""
    moment = nanoseconds(at)
    link = house.link_of(table, moment)
    return link.rows({}, moment) if link is not None else []


def not_releasable(reasons: list[str]) -> ActRefused:
    """The refusal of a release: what cannot be settled as posted."""
    words = ", ".join(reason.replace("_", " ") for reason in reasons)
    return ActRefused("not_releasable", detail=f"it cannot be settled as posted: {words}")


def held_round(act: Act, house: House) -> RoundState:
    """The held round that an act is about; ActRefused where there is none, or it is held no more."""
    _, found = house.round(act.subject)
    if found.outcome != "held":
        raise ActRefused("wrong_state", detail=f"round {act.subject} is {found.outcome}, not held")
    return found


def _not_on_a_closed_link(message: RoundMessage, moment: int, house: House) -> None:
    """A closed link never moves again (DECISIONS A56)."""
    link = house.link_of(house.tables[message.table], moment)
    if link is not None and link.closed and any("progressive" in seat.wagers for seat in message.seats):
        raise ActRefused("wrong_state", detail=f"link {link.code} is closed for good")


def counts_at(message: RoundMessage, received_at: int | None, house: House) -> int:
    """The moment a round counts from, in nanoseconds since 1970 UTC."""
    return house.tables[message.table].counts_at(nanoseconds(message.dealt_at), received_at)


def released(act: Act, house: House) -> tuple[RoundMessage, int]:
    """The message of a held round that is to be settled as posted, and the moment it counts from (DECISIONS A66)."""
    RELEASE.read(act.payload)
    found = held_round(act, house)
    moment = counts_at(found.message, found.received_at, house)
    _not_on_a_closed_link(found.message, moment, house)
    return found.message, moment


def corrected(act: Act, house: House) -> tuple[RoundMessage, int, list[str]]:
    """The message that a held round should have been, its moment, and what of it people have looked into (DECISIONS A67)."""
    payload = CORRECT.read(act.payload)
    pointer = "/payload/message"
    if "kind" in payload["message"]:
        raise ActRefused("invalid_value", f"{pointer}/kind", "a round's result is expected")
    message = door.read(payload["message"], house.doors)
    if isinstance(message, door.Refusal):
        raise ActRefused(message.code, pointer + message.pointer, "the corrected message is refused at the door")
    (table, reference), posted = house.round(act.subject)
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
    VOID.read(act.payload)
    found = held_round(act, house)
    return found.message, counts_at(found.message, found.received_at, house)
