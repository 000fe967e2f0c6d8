"""A link as an installation opens it (CONTRACT §1): the first event of its stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from accounting.rules.accounts import Movement, of_level
from accounting.rules.dated import Dated
from jackpot.rules import link as links
from jackpot.rules import paytable as paytables
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import Meter, opening
from jackpot.rules.paytable import ProgressivePaytable
from jackpot.rules.progressive import meter_rows
from jackpot.rules.state import OPEN, LinkState

INSTALL: Final = "link.install"
FILE: Final = "link.file"
EMPTY: Final = Meter(0)


def terms_of(payload: Mapping[str, Any]) -> LinkTerms:
    """The terms of the link that a payload defines, on the paytable edition that it holds."""
    edition = paytables.read(payload["paytable"])
    return links.read(payload["link"], {edition.code: edition})


def install(act: Act) -> Decision:
    """Open a link at its resets with the tables that are on it from the beginning; the house seeds what it opens with."""
    terms = terms_of(act.payload)
    before = {level.code: EMPTY for level in terms.levels}
    after = {level.code: opening(level) for level in terms.levels}
    change = {
        "what": "link.installed",
        "link": terms.code,
        "definition": act.payload["link"],
        "paytable": act.payload["paytable"],
        "counts_from": act.at,
    }
    members = [member_change(table, act.at) for table in act.payload["tables"]]
    rows = meter_rows(terms, before, after, 0)
    return done(act, seeds(terms.code, after.items()), rows, {terms.code: after}, [change, *members])


def member_change(table: Mapping[str, Any], opened_at: str) -> dict[str, Any]:
    """What the installation of a table introduces: `table` is its definition with its link, or with none."""
    return {
        "what": "table.installed",
        "table": table["code"],
        "definition": {key: value for key, value in table.items() if key != "link"},
        "link": table.get("link"),
        "counts_from": opened_at,
    }


def seeds(link: str, meters: Iterable[tuple[str, Meter]]) -> list[Movement]:
    """The first seeds of a link's levels, paid by the house."""
    return [
        Movement("seed_expense", of_level(link, level, "liability"), meter.value_cents, "seed")
        for level, meter in meters
        if meter.value_cents
    ]


def installed(terms: LinkTerms) -> LinkState:
    """A link that was opened so: it has been open, at its resets, since its first event."""
    return LinkState(terms.code, Dated(terms), Dated(OPEN), {level.code: opening(level) for level in terms.levels})


def filed_on(cause: Mapping[str, Any]) -> dict[str, ProgressivePaytable]:
    """The paytable edition that a link was filed on, by its code: its cause has it. None where the cause is another's."""
    if cause.get("act") != FILE:
        return {}
    edition = paytables.read(cause["paytable"])
    return {edition.code: edition}


def first_change(definition: Mapping[str, Any], paytable: Mapping[str, Any], opened_at: str) -> dict[str, Any]:
    """What an opening of the first version introduced, in the form of today's: its definition was cause and result."""
    return {
        "what": "link.installed",
        "link": definition["code"],
        "definition": definition,
        "paytable": paytable,
        "counts_from": opened_at,
    }
