"""What a stream is settled under, folded from its own events and kept until they change (ARCHITECTURE §3a).

Whoever records a change of terms, states or membership holds the stream's lock and raises `Stream.terms_version`. Rows of
the database that show terms are projections: nothing is decided by them.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from accounting.event_queries import Documented, documented
from accounting.queries import stream_ids, the_property
from accounting.rules.dated import ALWAYS
from accounting.rules.edition import FIRST
from accounting.rules.events import INSTALLED, MOVES, OPENED, TERMS
from accounting.rules.gaming_day import GamingDays
from accounting.services.ledger import account_ids
from jackpot.queries import level_ids
from jackpot.services.standing import paytable_definitions
from tables import models
from tables.rules.house import House, TableState
from tables.rules.opening import first_changes
from tables.rules.table import TableTerms


@dataclass(frozen=True, slots=True)
class StreamTerms:
    """Everything that settling a stream needs to know and that does not change from round to round.

    `house` is moved along by whoever holds the stream's lock; its meters are read anew for each batch. `terms_ids` are the
    rows of each table's terms in the order in which they were recorded.
    """

    stream: str
    days: GamingDays
    house: House
    link: str | None
    levels: dict[str, int]
    tables: dict[int, str]
    table_ids: dict[str, int]
    terms_ids: dict[str, tuple[int, ...]]
    accounts: dict[str, int]
    moved: frozenset[int]
    """Tables that ever joined or left a link: not every round of theirs counts on this stream."""


LATEST = 2**63
"""A moment after every change."""
BRINGING = (OPENED, *MOVES)
"""The kinds whose causes bring along what their changes stand on."""

_KEPT: dict[int, tuple[int, StreamTerms]] = {}
_AS_KNOWN: dict[tuple[int, int, int], House] = {}


def of_stream(stream_id: int, version: int) -> StreamTerms:
    """The terms of a stream at a version of its terms; read from the database when the version moved on."""
    kept = _KEPT.get(stream_id)
    if kept is None or kept[0] != version:
        kept = _KEPT[stream_id] = (version, _read(stream_id))
    return kept[1]


def fresh(stream_id: int) -> StreamTerms:
    """The terms of a stream read anew and kept for nobody: for whoever may change them, or be rolled back."""
    return _read(stream_id)


def forget() -> None:
    """Drop what is kept, as after any error: the next batch reads everything anew."""
    _KEPT.clear()
    _AS_KNOWN.clear()


def _read(stream_id: int) -> StreamTerms:
    home = the_property()
    house = house_of(stream_id)
    house.days = GamingDays(ZoneInfo(home.time_zone), home.gaming_day_starts)
    code = next(iter(house.links), None)
    ids = dict(models.Table.objects.filter(code__in=house.tables).values_list("code", "id"))
    rows = models.TableTerms.objects.filter(table__code__in=house.tables).order_by("in_force")
    terms_ids: dict[str, tuple[int, ...]] = {}
    for table, terms_id in rows.values_list("table__code", "id"):
        terms_ids[table] = (*terms_ids.get(table, ()), terms_id)
    return StreamTerms(
        stream=code or next(iter(house.tables), ""),
        days=house.days,
        house=house,
        link=code,
        levels=level_ids(code) if code else {},
        tables={table_id: table for table, table_id in ids.items()},
        table_ids=ids,
        terms_ids=terms_ids,
        accounts=account_ids(),
        moved=frozenset(ids[table] for table, state in house.tables.items() if state.has_moved and table in ids),
    )


def house_of(stream_id: int, *, before: int | None = None) -> House:
    """The link and tables of a stream as its events make them, or as its events before a sequence do.

    Its meters are those it opened with. What the first version had installed on a link without an event is known from the
    beginning: a migration found it and put it on record.
    """
    definitions = paytable_definitions()
    house = House({}, {}, remembers=False)
    for event in documented(stream_id, TERMS):
        if before is None or event.sequence < before or _found(event):
            if event.kind in BRINGING:
                cause = msgspec.json.decode(event.cause)
                house.know(cause)
                _take_over(house, cause, stream_id)
            house.change(changes_of(event, definitions))
    return house


def _take_over(house: House, cause: dict[str, Any], stream_id: int) -> None:
    """Take a table over that an event moves to this stream, as it stood on the other one then."""
    if "to" in cause and stream_ids([cause["to"]["stream"]]) == {cause["to"]["stream"]: stream_id}:
        house.take(recorded(cause["from"]).tables[cause["subject"]].copy())


def recorded(place: dict[str, Any]) -> House:
    """The house of a stream as it was on record before an event that a cause names: `{"stream": code, "sequence": number}`.

    Its link's meters are those that it opened with. LookupError where there is no such stream.
    """
    return house_of(stream_ids([place["stream"]])[place["stream"]], before=place["sequence"])


def house_where_it_counts(stream_id: int, table: str, moment: int) -> House:
    """The house in which a round of a table counts from a moment: of the stream that the table is on now, or was on then."""
    house = house_of(stream_id)
    found = house.tables[table]
    if not found.has_moved:
        return house
    where = found.stream_at(moment)
    return house_of(stream_ids([where])[where])


def house_where_it_counted(
    stream_id: int, in_force: StreamTerms, table: str, moment_of: Callable[[TableState], int], at: datetime
) -> House:
    """The same for a round that was looked at before: the house as far as it was on record then.

    The table is on this stream now, whose terms are in force.
    """
    now = in_force.house.tables.get(table)
    if now is None or not now.has_moved:
        return house_as_known(stream_id, at)
    # Every move is on the table's own stream as well; before that was opened the table was where it was from the beginning.
    own = stream_ids([table]).get(table)
    known = house_as_known(own, at).tables.get(table) if own is not None else None
    where = now.stream_at(ALWAYS) if known is None else known.stream_at(moment_of(known))
    return house_as_known(stream_ids([where])[where], at)


def house_as_known(stream_id: int, at: datetime) -> House:
    """The link and tables of a stream as far as they were on record at a moment, as clocks had it."""
    events = documented(stream_id, TERMS)
    return _as_known(stream_id, events, sum(event.recorded_at <= at for event in events))


def house_before(stream_id: int, sequence: int) -> House:
    """The link and tables of a stream as its events before a sequence make them, whatever clocks said of those."""
    events = documented(stream_id, TERMS)
    return _as_known(stream_id, events, sum(event.sequence < sequence for event in events))


def _as_known(stream_id: int, events: list[Documented], known: int) -> House:
    """The house as its first so many changes make it; kept, for holds come in numbers."""
    house = _AS_KNOWN.get((stream_id, known, len(events)))
    if house is None:
        before = events[known].sequence if known < len(events) else None
        house = _AS_KNOWN[stream_id, known, len(events)] = house_of(stream_id, before=before)
    return house


def changes_of(event: Documented, definitions: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The editions of terms, states and membership that an event introduced."""
    try:
        result = msgspec.json.decode(event.result)
    except msgspec.DecodeError as error:
        raise ValueError(f"the result of event {event.sequence} ({event.kind}) cannot be read: {error}") from None
    if event.rules == FIRST:
        return first_changes(result, definitions, event.recorded_at.isoformat())
    changes: list[dict[str, Any]] = result.get("changes", [])
    return changes


def _found(event: Documented) -> bool:
    return event.kind == INSTALLED and bool(msgspec.json.decode(event.cause)["payload"].get("found"))


@dataclass(frozen=True, slots=True)
class Standing:
    """A table as it stands now: where its messages belong, the terms they are read under, and whether it has contact."""

    table_id: int
    stream_id: int
    terms: TableTerms
    link: str | None
    heard: bool


def now_in_force() -> dict[str, Standing]:
    """Every table in the order of their codes, with what messages are read by: its game, which never changes, and where its
    next belongs."""
    found = {}
    rows = models.Table.objects.order_by("code").values_list("code", "id", "stream_id", "stream__terms_version")
    for code, table_id, stream_id, version in rows:
        known = of_stream(stream_id, version).house.tables
        if code in known:
            found[code] = Standing(table_id, stream_id, known[code].terms.at(ALWAYS), *_now(known[code]))
    return found


def _now(table: TableState) -> tuple[str | None, bool]:
    """The link that a table's next round counts on, and whether its devices are heard of."""
    return table.links.at(LATEST), table.progressive.at(LATEST)


def show(table: models.Table, wanted: TableTerms, at: datetime, editions: Iterable[tuple[str, int]]) -> None:
    """Show terms in the database from a moment on; `editions` are the wagers offered with the id of each one's edition."""
    row = models.TableTerms.objects.create(
        table=table,
        game=wanted.game,
        in_force=(at, None),
        seats=wanted.seats,
        minimum_cents=wanted.minimum_cents,
        maximum_cents=wanted.maximum_cents,
        terms=asdict(wanted.terms),
    )
    models.TablePaytable.objects.bulk_create(
        models.TablePaytable(terms=row, game=wanted.game, seats=wanted.seats, wager=wager, edition_id=edition_id)
        for wager, edition_id in editions
    )
