"""Comparing what tables of the database show with what the events say (ARCHITECTURE §3a, §4).

Terms, states and membership follow from events, accounts from the chart, editions from their digests and the product's own
files. Whatever only shows them could be changed unseen; here it is found.
"""

from dataclasses import asdict
from datetime import datetime
from hashlib import sha256
from typing import Any

from accounting.event_queries import documented
from accounting.queries import accounts_shown, house_numbers, house_numbers_told, property_shown
from accounting.rules.accounts import LEVEL_ACCOUNTS, PROPERTY_ACCOUNTS, inventory, of_level
from accounting.rules.dated import ALWAYS, Dated
from accounting.rules.events import OPENED
from accounting.rules.moments import at_nanoseconds
from accounting.services.audit import check_audit_trail
from devices.audit.findings import Difference, same
from devices.audit.steps import no_stray_steps
from jackpot.queries import editions, level_owners, link_shown
from jackpot.rules import paytable as progressive
from jackpot.rules.probability import hit_probability
from jackpot.rules.state import LinkState
from tables.queries.projection import editions_shown, table_codes, tables_shown
from tables.queries.record import row_of_no_stream
from tables.rules import paytables
from tables.rules.house import House, TableState
from tables.services import terms
from tables.services.recording import encode

FOREVER = 2**63

Shown = tuple[dict[str, Any] | None, dict[str, dict[str, Any]]]
"""A link's row and its tables' rows as `link_shown` and `tables_shown` read them."""


def shown(stream_id: int) -> Shown:
    """What the rows of a stream's link and tables show."""
    return link_shown(stream_id), tables_shown(stream_id)


def compare_shown(stream_id: int, code: str, next_sequence: int, found: Shown) -> None:
    """Compare the rows of a stream's link and tables with its events. Raises Difference."""
    where = f"stream {code}"
    house = terms.house_of(stream_id, before=next_sequence)
    link, tables = found
    opened = documented(stream_id, [OPENED])
    opened_at = opened[0].recorded_at if opened else None
    if code in house.links:
        _same(f"{where}: link", _link(house.links[code], opened_at), _read(link) if link else {})
    elif link is not None:
        raise Difference(where, "link", "none", link["code"])
    expected = {table: _table(state, house) for table, state in house.tables.items() if _is_here(state, code, house)}
    same(where, "tables", sorted(expected), sorted(tables))
    for table, values in expected.items():
        _same(f"{where}: table {table}", values, tables[table])


def _read(link: dict[str, Any]) -> dict[str, Any]:
    """A link's row with its paytable as it is read and its terms in order."""
    pays = progressive.read(link["pays"])
    return link | {"pays": pays, "levels": {code: _in_order(rows) for code, rows in link["levels"].items()}}


def _is_here(table: TableState, code: str, house: House) -> bool:
    """Whether a table is on this stream now: on its link, or on none where the stream is the table's own."""
    link = table.links.at(FOREVER)
    return link == code if code in house.links else link is None


def _same(where: str, expected: dict[str, Any], found: dict[str, Any]) -> None:
    for key, value in expected.items():
        if isinstance(value, list) and isinstance(found.get(key), list) and len(value) == len(found[key]):
            for place, (one, other) in enumerate(zip(value, found[key], strict=True), 1):
                if isinstance(one, dict) and isinstance(other, dict):
                    _same(f"{where}, {key} {place}", one, other)
                else:
                    same(where, f"{key} {place}", one, other)
        elif isinstance(value, dict) and isinstance(found.get(key), dict):
            same(where, f"keys of {key}", sorted(value), sorted(found[key]))
            _same(f"{where}, {key}", value, found[key])
        else:
            same(where, key, value, found.get(key))


def _spans(changes: Dated[Any], opened_at: datetime | None) -> list[tuple[datetime | None, datetime | None]]:
    """From when until when each edition is in force, as rows show it: the first one since the opening."""
    begins = [opened_at if since == ALWAYS else at_nanoseconds(since) for since, _ in changes]
    return list(zip(begins, [*begins[1:], None], strict=True))


def _table(state: TableState, house: House) -> dict[str, Any]:
    opened_at = None if state.opened_at is None else at_nanoseconds(state.opened_at)
    link = state.links.at(FOREVER)
    last = state.terms.at(FOREVER)
    return {
        "game": last.game,
        "decks": last.decks,
        "link": link,
        "paytable of its link": None if link is None else house.links[link].terms.at(FOREVER).paytable.code,
        "state": "open" if state.opens.at(FOREVER) else "closed",
        "opened at": opened_at,
        "terms": [
            {
                "from": begins,
                "until": ends,
                "game": edition.game,
                "seats": edition.seats,
                "minimum_cents": edition.minimum_cents,
                "maximum_cents": edition.maximum_cents,
                "terms": asdict(edition.terms),
                "paytables": {
                    wager: (offered.code, edition.game, edition.seats) for wager, offered in edition.paytables.items()
                },
            }
            for (begins, ends), (_, edition) in zip(_spans(state.terms, opened_at), state.terms, strict=True)
        ],
    }


def _link(state: LinkState, opened_at: datetime | None) -> dict[str, Any]:
    last = state.terms.at(FOREVER)
    spans = _spans(state.terms, opened_at)
    levels: dict[str, list[dict[str, Any]]] = {level.code: [] for level in last.levels}
    for (begins, ends), (_, edition) in zip(spans, state.terms, strict=True):
        for level in edition.levels:
            chance = hit_probability(edition.paytable, level.code, edition.paytable.games[0])
            definition = {key: value for key, value in asdict(level).items() if value is not None}
            row = {**definition, "odds": (chance.numerator, chance.denominator)}
            # Terms that others replaced from the very moment they were to count from never counted.
            row |= {"from": None, "until": None} if begins == ends else {"from": begins, "until": ends}
            levels[level.code].append(row)
    return {
        "code": last.code,
        "name": last.name,
        "paytable": last.paytable.code,
        "decks": last.decks,
        "envy_scope": last.envy_scope,
        "tie_policy": last.tie_policy,
        "pays": last.paytable,
        "state": state.state(FOREVER),
        "opened at": opened_at,
        "levels": {code: _in_order(rows) for code, rows in levels.items()},
    }


def _in_order(terms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Terms of a level by the moment they count from; before them those that never counted, in an order of their own."""
    never = sorted((row for row in terms if row["from"] is None), key=lambda row: sorted(map(str, row.items())))
    return never + [row for row in terms if row["from"] is not None]


def compare_the_rest() -> None:
    """What belongs to no stream: editions, the chart of accounts, the property, stray steps, rows of no stream."""
    if row := row_of_no_stream():
        raise Difference(f"{row[0]} of stream {row[1]}, sequence {row[2]}", "its stream", "a row", "none")
    _editions()
    _accounts()
    _property()
    if findings := check_audit_trail():
        raise Difference("audit trail", "records in their chain", "as they were written", findings[0])
    no_stray_steps()


def _editions() -> None:
    builtin = progressive.definitions()
    for edition in editions():
        where = f"paytable edition {edition.code}"
        same(where, "digest of its definition", sha256(encode(edition.definition)).digest(), bytes(edition.digest))
        if edition.code in builtin:
            same(where, "definition", builtin[edition.code], edition.definition)
        read = progressive.read(edition.definition)
        same(where, "wager", read.wager_cents, edition.wager_cents)
        same(where, "games", sorted(read.games), sorted(row.game for row in edition.games.all()))
        same(where, "levels", sorted(read.levels), sorted(row.code for row in edition.levels.all()))
    for wager_edition in editions_shown():
        where = f"paytable edition {wager_edition.code}"
        definition = paytables.definition_of(wager_edition.code) if wager_edition.code in paytables.codes() else None
        digest = sha256(encode(wager_edition.definition)).digest()
        same(where, "digest of its definition", digest, bytes(wager_edition.digest))
        same(where, "definition", definition, wager_edition.definition)
        same(where, "game and wager", (definition or {}).get("game"), wager_edition.game)
        same(where, "wager", (definition or {}).get("wager"), wager_edition.wager)


def _accounts() -> None:
    """Every account is one of the chart, with its kind and owner (SPEC §9)."""
    expected = {code: (code, "") for code in PROPERTY_ACCOUNTS}
    expected |= {inventory(table): ("inventory", table) for table in table_codes()}
    for owner in level_owners():
        link, _, level = owner.partition("/")
        expected |= {of_level(link, level, kind): (kind, owner) for kind in LEVEL_ACCOUNTS}
    found = accounts_shown()
    if found:
        same("chart of accounts", "accounts", sorted(expected), sorted(found))
    for code, kind_and_owner in found.items():
        same(f"account {code}", "kind and owner", expected[code], kind_and_owner)
    same("chart of accounts", "numbers of the house", house_numbers_told(), house_numbers())


def _property() -> None:
    """The property is the one that was opened: the audit trail says with what."""
    found = property_shown()
    if found is not None:
        _same("property", *found)
