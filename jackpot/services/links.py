"""Opening links: edition, levels, terms, meters, and the opening entry that puts the first seeds in the books."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from hashlib import sha256
from typing import Any

import msgspec

from accounting.services import audit, ledger
from jackpot.models import Link, ProgressiveEdition, ProgressiveGame, ProgressiveLevel
from jackpot.queries import link_definition
from jackpot.rules import paytable as paytables
from jackpot.rules.decision import Act, cause_of
from jackpot.rules.definition import DefinitionRefused
from jackpot.rules.installing import INSTALL
from jackpot.rules.installing import install as install_link
from jackpot.rules.link import LinkTerms
from jackpot.rules.state import OPEN
from jackpot.services.shown import show_link

encode = msgspec.json.Encoder(order="sorted").encode


def install(
    link: LinkTerms,
    custom: dict[str, Any] | None,
    tables: Sequence[Mapping[str, Any]],
    *,
    at: datetime,
    actor: str,
    path: str,
) -> bool:
    """Open a link unless it is there; True when it was opened. A change of a link in use is refused at `path`.

    `custom` is the definition of the link's paytable where the floor file defines it itself, `tables` are those of the
    tables that are on the link from the beginning.
    """
    found = Link.objects.select_related("paytable").filter(code=link.code).first()
    definition = link_as_defined(link)
    rows = custom or paytables.definitions()[link.paytable.code]
    if found is not None:
        _refuse_change(found, definition, path)
        _refuse_other_rows(found.paytable, rows, path)
        return False
    if ledger.stream_is_there(link.code):
        raise DefinitionRefused(f"{path}.code", f"{link.code} is the code of a table")
    edition = published(link.paytable, rows, at, path)
    for level in link.levels:
        ledger.open_level_accounts(link.code, level.code)
    act = Act(INSTALL, link.code, at.isoformat(), {"link": definition, "paytable": rows, "tables": list(tables)})
    decision = install_link(act)
    stream = ledger.open_stream(
        link.code,
        cause=encode(cause_of(act, by=actor)),
        result=encode(decision.result),
        at=at,
        movements=decision.movements,
    )
    show_link(link, edition, stream, decision.meters[link.code], state=OPEN, at=at)
    audit.record(at=at, actor=actor, action="open link", subject=link.code, detail=definition)
    return True


def locked(code: str) -> Link:
    """A link with its stream locked, as whoever changes what is on it must hold it."""
    link = Link.objects.select_related("paytable").get(code=code)
    link.stream = ledger.lock_stream(link.stream_id)
    return link


def link_as_defined(link: LinkTerms) -> dict[str, Any]:
    """A link in the keys of the floor file."""
    return {
        "code": link.code,
        "name": link.name,
        "paytable": link.paytable.code,
        "decks": link.decks,
        "envy_scope": link.envy_scope,
        "tie_policy": link.tie_policy,
        "levels": [{key: value for key, value in asdict(level).items() if value is not None} for level in link.levels],
    }


def published(
    paytable: paytables.ProgressivePaytable, definition: dict[str, Any], at: datetime, path: str
) -> ProgressiveEdition:
    """The edition on record, put there if it is new. DefinitionRefused at `path` where its code means other rows."""
    edition = ProgressiveEdition.objects.filter(code=paytable.code).first()
    if edition is not None:
        _refuse_other_rows(edition, definition, path)
        return edition
    edition = ProgressiveEdition.objects.create(
        code=paytable.code,
        wager_cents=paytable.wager_cents,
        definition=definition,
        digest=sha256(encode(definition)).digest(),
        published_at=at,
    )
    ProgressiveGame.objects.bulk_create(ProgressiveGame(edition=edition, game=game) for game in paytable.games)
    ProgressiveLevel.objects.bulk_create(ProgressiveLevel(edition=edition, code=code) for code in paytable.levels)
    return edition


def _refuse_other_rows(edition: ProgressiveEdition, definition: dict[str, Any], path: str) -> None:
    """A published code never changes its meaning (ARCHITECTURE §4.9)."""
    if bytes(edition.digest) != sha256(encode(definition)).digest():
        raise DefinitionRefused(
            f"{path}.paytable", f"{edition.code} was published with other rows; a change needs a new code"
        )


def _refuse_change(found: Link, wanted: dict[str, Any], path: str) -> None:
    there = link_definition(found.stream_id)
    assert there is not None, "a link has a definition"
    for key, value in wanted.items():
        if there.definition[key] != value:
            raise DefinitionRefused(
                f"{path}.{key}",
                f"link {found.code} is in use with {key} = {there.definition[key]}; a change needs two people",
            )
