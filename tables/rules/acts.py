"""What people may ask for of a table: open, close, its terms, joining and leaving a link (CONTRACT §7, DECISIONS A53-A56)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from accounting.rules.acts import NESTED, TEXT, WHOLE, ActRefused, Field, Shape, escaped
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.definition import MOST_CENTS, DefinitionRefused
from jackpot.rules.link import misfit
from jackpot.rules.progressive import MeterRow
from jackpot.rules.state import LinkState
from tables.rules import floor
from tables.rules.house import House, TableState

TABLE_OPEN: Final = Shape("table.open", "table")
TABLE_CLOSE: Final = Shape("table.close", "table")
TABLE_JOIN: Final = Shape("table.join", "table", (Field("link", TEXT, "Link", least=1),))
TABLE_LEAVE: Final = Shape("table.leave", "table")


def _read_terms(value: Any, pointer: str) -> None:
    """The terms of a table that change, each of its kind; whether they go with its game is asked with the table."""
    if type(value) is not dict:
        raise ActRefused("invalid_value", pointer, "Terms: an object is expected")
    for key in value:
        if key not in floor.TERM_KEYS:
            raise ActRefused("unknown_field", f"{pointer}/{escaped(key)}", f"a table has no term {key}")
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
    try:
        floor.changed_terms(table.terms.at(nanoseconds(act.at)), payload, house.editions)
    except DefinitionRefused as refused:
        raise ActRefused("invalid_value", f"/payload/{_named(refused.path, payload)}", refused.detail) from None
    # Only what is named: a term that comes with a later version is then as if this change had never spoken of it.
    change = {"what": "table.terms", "table": table.code, "changed": dict(payload), "counts_from": act.at}
    return done(act, [], rows_of(table, house, act.at), changes=[change])


def _named(path: str, payload: Mapping[str, Any]) -> str:
    """The key of the payload that a refused definition is about: of two bounds that clash, the one that was sent."""
    if path == "maximum_cents" and path not in payload:
        return "minimum_cents"
    return path.replace(".", "/")


def join(act: Act, house: House) -> Decision:
    """Rounds of the table that count from now on count on the link, and move its meters."""
    payload = TABLE_JOIN.read(act.payload)
    table = house.table(act.subject)
    moment = nanoseconds(act.at)
    link = house.links.get(payload["link"])
    if link is None:
        raise ActRefused("invalid_value", "/payload/link", f"there is no link {payload['link']}")
    on = house.link_of(table, moment)
    if on is not None:
        raise ActRefused("wrong_state", detail=f"table {table.code} is on link {on.code}")
    if link.closed:
        raise ActRefused("wrong_state", detail=f"link {link.code} is closed for good")
    terms = table.terms.at(moment)
    why_not = misfit(link.terms.at(moment), game=terms.game, decks=terms.decks)
    if why_not is not None:
        raise ActRefused("does_not_fit", detail=why_not)
    return _moved(act, table, link, link.code)


def leave(act: Act, house: House) -> Decision:
    """Rounds of the table that count from now on count on no link."""
    TABLE_LEAVE.read(act.payload)
    table = house.table(act.subject)
    link = house.link_of(table, nanoseconds(act.at))
    if link is None:
        raise ActRefused("wrong_state", detail=f"table {table.code} is on no link")
    return _moved(act, table, link, None)


def _moved(act: Act, table: TableState, link: LinkState, to: str | None) -> Decision:
    change = {"what": "table.link", "table": table.code, "link": to, "counts_from": act.at}
    return done(act, [], link.rows({}, nanoseconds(act.at)), changes=[change])


def rows_of(table: TableState, house: House, at: str) -> list[MeterRow]:
    """The meter rows of the link that a table is on at a moment, none moved; none where it is on no link."""
    moment = nanoseconds(at)
    link = house.link_of(table, moment)
    return link.rows({}, moment) if link is not None else []
