"""Installing a floor: the property, its links and its tables, as a floor file describes them (CONTRACT §1).

Installation opens what is new, records it as installed by command, and refuses to change what is in use: in a running
house a change needs two people.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import connection, transaction

from accounting.services import audit, ledger, properties
from jackpot.rules.link import LinkTerms
from jackpot.services import links
from tables import models
from tables.rules import floor, paytables
from tables.services import terms as kept_terms
from tables.services.rounds import encode

INSTALLER = "installed by command"


@dataclass(frozen=True, slots=True)
class Installed:
    """What an installation opened; all empty when the floor was already there."""

    property: bool
    links: tuple[str, ...]
    tables: tuple[str, ...]


@transaction.atomic
def install(text: str, *, at: datetime) -> Installed:
    """Install a floor file. FloorRefused names the key at fault; then nothing was installed at all.

    A second run with the same floor changes nothing. What the floor no longer mentions stays as it is.
    """
    wanted = floor.read_floor(text)
    with connection.cursor() as cursor:
        # Two installations at once would both find nothing there.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('install a floor'))")
    new_property = _property(wanted.property, at)
    for index, code in enumerate(wanted.links):
        # A linked table has no stream of its own that would show it.
        if models.Table.objects.filter(code=code).exists():
            raise floor.FloorRefused(f"links[{index}].code", f"{code} is the code of a table")
    custom = {entry["code"]: entry for entry in tomllib.loads(text).get("paytables", [])}
    opened_links = [
        link.code
        for index, link in enumerate(wanted.links.values())
        if links.install(link, custom.get(link.paytable.code), at=at, actor=INSTALLER, path=f"links[{index}]")
    ]
    opened_tables = [
        table.code for index, table in enumerate(wanted.tables.values()) if _table(table, at, f"tables[{index}]")
    ]
    return Installed(new_property, tuple(opened_links), tuple(opened_tables))


def _property(wanted: floor.Property, at: datetime) -> bool:
    try:
        return properties.open_once(asdict(wanted), at=at, actor=INSTALLER)
    except properties.AnotherProperty as refusal:
        raise floor.FloorRefused(f"property.{refusal.key}", refusal.detail) from refusal


def _table(wanted: floor.TableTerms, at: datetime, path: str) -> bool:
    found = models.Table.objects.filter(code=wanted.code).select_related("link").first()
    if found is not None:
        _refuse_change(found, wanted, path)
        return False
    link = links.locked(wanted.link.code) if wanted.link else None
    if ledger.stream_is_there(wanted.code):
        raise floor.FloorRefused(f"{path}.code", f"{wanted.code} is the code of a link")
    ledger.open_table_account(wanted.code)
    stream = link.stream if link else ledger.open_stream(wanted.code, opening=encode(_definition(wanted)), at=at)
    table = models.Table.objects.create(
        code=wanted.code,
        game=wanted.game,
        decks=wanted.decks,
        link=link,
        link_paytable=link.paytable if link else None,
        stream=stream,
        opened_at=at,
    )
    terms = models.TableTerms.objects.create(
        table=table,
        game=wanted.game,
        in_force=(at, None),
        seats=wanted.seats,
        minimum_cents=wanted.minimum_cents,
        maximum_cents=wanted.maximum_cents,
        terms=asdict(wanted.terms),
    )
    for wager, edition in wanted.paytables.items():
        models.TablePaytable.objects.create(
            terms=terms, game=wanted.game, seats=wanted.seats, wager=wager, edition=_publish(edition, at)
        )
    ledger.terms_changed(stream.pk)
    audit.record(at=at, actor=INSTALLER, action="open table", subject=wanted.code, detail=_definition(wanted))
    return True


def opening_definition(stream_id: int) -> dict[str, Any]:
    """What the stream of a table that is on no link was opened with: the table as its first terms had it."""
    table = models.Table.objects.get(stream_id=stream_id, link=None)
    first = table.terms.prefetch_related("paytables__edition").order_by("id")[0]
    return _definition(kept_terms.rules_terms(table, first, None))


def _publish(edition: paytables.Edition, at: datetime) -> models.WagerEdition:
    definition = paytables.definitions()[edition.code]
    digest = sha256(encode(definition)).digest()
    published, _ = models.WagerEdition.objects.get_or_create(
        code=edition.code,
        defaults={
            "game": edition.game,
            "wager": edition.wager,
            "definition": definition,
            "digest": digest,
            "published_at": at,
        },
    )
    if bytes(published.digest) != digest:
        raise floor.FloorRefused(edition.code, "this edition was published with other rows; a change needs a new code")
    return published


def _refuse_change(found: models.Table, wanted: floor.TableTerms, path: str) -> None:
    in_force = found.terms.prefetch_related("paytables__edition").get(in_force__upper_inf=True)
    there = _definition(kept_terms.rules_terms(found, in_force, wanted.link)) | {
        "link": found.link.code if found.link else None
    }
    for key, value in _definition(wanted).items():
        if there[key] != value:
            raise floor.FloorRefused(
                f"{path}.{key}", f"table {wanted.code} is in use with {key} = {there[key]}; a change needs two people"
            )


def _definition(table: floor.TableTerms) -> dict[str, Any]:
    link: LinkTerms | None = table.link
    editions: Mapping[str, paytables.Edition] = table.paytables
    return {
        "code": table.code,
        "game": table.game,
        "seats": table.seats,
        "decks": table.decks,
        "minimum_cents": table.minimum_cents,
        "maximum_cents": table.maximum_cents,
        "link": link.code if link else None,
        "paytables": {wager: edition.code for wager, edition in sorted(editions.items())},
        "terms": asdict(table.terms),
    }
