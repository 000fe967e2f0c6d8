"""The terms that rounds of a stream are settled under, as rules see them, kept until the stream's terms change.

Whoever changes terms of a link or table holds the stream's lock and raises `Stream.terms_version`.
"""

from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from accounting.queries import the_property
from accounting.services.ledger import account_ids
from jackpot.queries import link_definition
from jackpot.rules import paytable as progressive_paytable
from jackpot.rules.link import LinkTerms
from tables import models
from tables.rules import floor, paytables
from tables.rules.game import Game
from tables.rules.games import game_of


@dataclass(frozen=True, slots=True)
class TermsInForce:
    """One edition of a table's terms and when it is in force (`until` None: still)."""

    id: int
    since: datetime
    until: datetime | None
    terms: floor.TableTerms
    game: Game[Any] = field(compare=False)


@dataclass(frozen=True, slots=True)
class TableInForce:
    """A table of the stream: when it was opened, whether it is open, and every edition of its terms."""

    id: int
    code: str
    is_open: bool
    opened_at: datetime
    editions: tuple[TermsInForce, ...]

    def at(self, instant: datetime) -> TermsInForce:
        """The edition in force at an instant (not before the table opened)."""
        for edition in self.editions:
            if edition.since <= instant and (edition.until is None or instant < edition.until):
                return edition
        raise LookupError(f"table {self.code} has no terms in force at {instant.isoformat()}")


@dataclass(frozen=True, slots=True)
class StreamTerms:
    """Everything that settling a stream needs to know and that does not change from round to round."""

    stream: str
    zone: ZoneInfo
    day_starts: time
    link: str | None
    link_terms: LinkTerms | None
    link_is_open: bool
    levels: dict[str, int]
    tables: dict[int, TableInForce]
    accounts: dict[str, int]


_KEPT: dict[int, tuple[int, StreamTerms]] = {}


def of_stream(stream_id: int, version: int) -> StreamTerms:
    """The terms of a stream at a version of its terms; read from the database when the version moved on."""
    kept = _KEPT.get(stream_id)
    if kept is None or kept[0] != version:
        kept = _KEPT[stream_id] = (version, _read(stream_id))
    return kept[1]


def forget() -> None:
    """Drop what is kept, as after any error: the next batch reads everything anew."""
    _KEPT.clear()


def _read(stream_id: int) -> StreamTerms:
    home = the_property()
    link = link_definition(stream_id)
    link_terms = None
    if link is not None:
        editions = {link.paytable_code: progressive_paytable.read(link.paytable_definition)}
        link_terms = floor.link_terms(link.definition, editions)
    tables = models.Table.objects.filter(stream_id=stream_id).prefetch_related("terms__paytables__edition")
    stream_code = link.code if link else None
    found = {}
    for table in tables:
        found[table.pk] = TableInForce(
            id=table.pk,
            code=table.code,
            is_open=table.state == models.Table.State.OPEN,
            opened_at=table.opened_at,
            editions=tuple(_edition(table, terms, link_terms) for terms in table.terms.all()),
        )
        stream_code = stream_code or table.code
    return StreamTerms(
        stream=stream_code or "",
        zone=ZoneInfo(home.time_zone),
        day_starts=home.gaming_day_starts,
        link=link.code if link else None,
        link_terms=link_terms,
        link_is_open=link is not None and link.is_open,
        levels=link.level_ids if link else {},
        tables=found,
        accounts=account_ids(),
    )


def _edition(table: models.Table, terms: models.TableTerms, link: LinkTerms | None) -> TermsInForce:
    found = rules_terms(table, terms, link)
    return TermsInForce(
        id=terms.pk, since=terms.in_force.lower, until=terms.in_force.upper, terms=found, game=game_of(found)
    )


def rules_terms(table: models.Table, terms: models.TableTerms, link: LinkTerms | None) -> floor.TableTerms:
    """Stored terms of a table in the form that the rules take, read by the same reader as a floor file."""
    offered = {row.wager: row.edition for row in terms.paytables.all()}
    definition: dict[str, Any] = {
        "code": table.code,
        "game": table.game,
        "seats": terms.seats,
        "decks": table.decks,
        "minimum_cents": terms.minimum_cents,
        "maximum_cents": terms.maximum_cents,
        "paytables": {wager: edition.code for wager, edition in offered.items()},
        "terms": terms.terms,
    }
    links = {}
    if link is not None:
        definition["link"] = link.code
        links[link.code] = link
    editions = {edition.code: paytables.read(edition.definition) for edition in offered.values()}
    return floor.table_terms(definition, links, editions)


@dataclass(frozen=True, slots=True)
class Standing:
    """A table as it stands now: where its messages belong and the terms they are read under."""

    table_id: int
    stream_id: int
    terms: floor.TableTerms


def now_in_force() -> dict[str, Standing]:
    """Every table by its code, with the terms in force now."""
    found = {}
    versions = models.Table.objects.values_list("stream_id", "stream__terms_version").distinct()
    for stream_id, version in versions:
        for table in of_stream(stream_id, version).tables.values():
            found[table.code] = Standing(table.id, stream_id, table.editions[-1].terms)
    return found
