"""Installing a floor: the property, its links and its tables, as a floor file describes them (CONTRACT §1).

Installation opens what is new, records it as installed by command, and refuses to change what is in use: in a running
house a change needs two people.
"""

import tomllib
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from django.db import transaction

from accounting.rules.moments import instant_nanoseconds
from accounting.services import audit, ledger, properties
from jackpot.rules.decision import Act, cause_of
from jackpot.services import links
from tables import models
from tables.rules import floor, paytables
from tables.rules.deciding import decide
from tables.rules.house import House
from tables.rules.installing import INSTALL
from tables.services import recording
from tables.services import terms as kept_terms
from tables.services.recording import encode

if TYPE_CHECKING:
    from accounting.models import Stream

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
    ledger.hold_codes()  # two installations at once would both find nothing there
    new_property = _property(wanted.property, at)
    for index, code in enumerate(wanted.links):
        # A linked table has no stream of its own that would show it.
        if models.Table.objects.filter(code=code).exists():
            raise floor.FloorRefused(f"links[{index}].code", f"{code} is the code of a table")
    custom = {entry["code"]: entry for entry in tomllib.loads(text).get("paytables", [])}
    opened_links = []
    for index, link in enumerate(wanted.links.values()):
        members = [_definition(table) for table in wanted.tables.values() if table.link is link]
        paytable = custom.get(link.paytable.code)
        if links.install(link, paytable, members, at=at, actor=INSTALLER, path=f"links[{index}]"):
            opened_links.append(link.code)
    opened_tables = [
        table.code
        for index, table in enumerate(wanted.tables.values())
        if _table(table, at, f"tables[{index}]", member=table.link is not None and table.link.code in opened_links)
    ]
    return Installed(new_property, tuple(opened_links), tuple(opened_tables))


def _property(wanted: floor.Property, at: datetime) -> bool:
    try:
        return properties.open_once(asdict(wanted), at=at, actor=INSTALLER)
    except properties.AnotherProperty as refusal:
        raise floor.FloorRefused(f"property.{refusal.key}", refusal.detail) from refusal


def _table(wanted: floor.TableTerms, at: datetime, path: str, *, member: bool) -> bool:
    """Open a table unless it is there. A `member` is on the record of its link's opening already."""
    found = models.Table.objects.filter(code=wanted.code).select_related("stream").first()
    if found is not None:
        _refuse_change(found, wanted, at, path)
        return False
    link = links.locked(wanted.link.code) if wanted.link else None
    if ledger.stream_is_there(wanted.code):
        raise floor.FloorRefused(f"{path}.code", f"{wanted.code} is the code of a link")
    ledger.open_table_account(wanted.code)
    stream = link.stream if link and member else _installed(wanted, link.stream if link else None, at)
    table = models.Table.objects.create(
        code=wanted.code,
        game=wanted.game,
        decks=wanted.decks,
        link=link,
        link_paytable=link.paytable if link else None,
        stream=stream,
        opened_at=at,
    )
    kept_terms.show(table, wanted, at, [(wager, _publish(each, at).pk) for wager, each in wanted.paytables.items()])
    audit.record(at=at, actor=INSTALLER, action="open table", subject=wanted.code, detail=_definition(wanted))
    return True


def _installed(wanted: floor.TableTerms, stream: "Stream | None", at: datetime) -> "Stream":
    """The stream of a new table with its installation on record: its link's, whose row is locked, or one of its own."""
    act = Act(INSTALL, wanted.code, at.isoformat(), {"table": _definition(wanted)})
    if stream is not None:
        recording.record(stream, act, at=at, by=INSTALLER)
        return stream
    decision = decide(act, House({}, {}))
    cause = encode(cause_of(act, by=INSTALLER))
    return ledger.open_stream(
        wanted.code, cause=cause, result=encode(decision.result), at=at, movements=decision.movements
    )


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


def _refuse_change(found: models.Table, wanted: floor.TableTerms, at: datetime, path: str) -> None:
    house = kept_terms.of_stream(found.stream_id, found.stream.terms_version).house
    table, now = house.tables[wanted.code], instant_nanoseconds(at)
    there = floor.table_definition(table.terms.at(now)) | {"link": table.links.at(now)}
    for key, value in _definition(wanted).items():
        if there[key] != value:
            raise floor.FloorRefused(
                f"{path}.{key}", f"table {wanted.code} is in use with {key} = {there[key]}; a change needs two people"
            )


def _definition(table: floor.TableTerms) -> dict[str, Any]:
    """A table in the keys of the floor file, with its link or none."""
    return floor.table_definition(table) | {"link": table.link.code if table.link else None}
