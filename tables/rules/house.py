"""A house between two events: its links and tables, and what earlier events left that later ones may name.

`settle` keeps all of it in memory; a running house reads from its record what one stream and one cause need.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from accounting.rules.acts import ActRefused
from accounting.rules.dated import ALWAYS, Dated
from accounting.rules.moments import nanoseconds
from jackpot.rules import installing
from jackpot.rules.decision import Decision
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import Meter
from jackpot.rules.paytable import ProgressivePaytable, builtin
from jackpot.rules.state import LinkState, opened
from tables.rules import floor
from tables.rules.message import RoundMessage
from tables.rules.paytables import Edition
from tables.rules.table import TableTerms

AHEAD_AT_MOST = 5 * 60 * 1_000_000_000
"""Nanoseconds by which a deal may lie ahead of its receipt (ARCHITECTURE §4.10)."""


@dataclass(slots=True)
class TableState:
    """A table: its terms (the link left out), whether it is open, and its link, each by the moment it counts from.

    Moments are nanoseconds since 1970 UTC. `opened_at` is None where nobody says since when the table exists.
    """

    code: str
    terms: Dated[TableTerms]
    opens: Dated[bool]
    links: Dated[str | None]
    opened_at: int | None = None

    def counts_at(self, dealt_at: int, received_at: int | None) -> int:
        """When a round counts: by its deal, or by receipt where the deal cannot be right (ARCHITECTURE §4.10)."""
        if received_at is None:
            return dealt_at
        opened_at = self.opened_at
        if dealt_at > received_at + AHEAD_AT_MOST or (opened_at is not None and dealt_at < opened_at):
            # Our own clock may be wrong too: nothing counts before the table was there.
            return received_at if opened_at is None else max(received_at, opened_at)
        return dealt_at

    def change(self, change: Mapping[str, Any], editions: Mapping[str, Edition] | None) -> None:
        """Take over one change of the table that an event introduced (`changes` of its result)."""
        since = nanoseconds(change["counts_from"])
        match change["what"]:
            case "table.terms":
                terms = floor.table_terms(change["definition"], {}, editions)
                self.terms.add(replace(terms, edition=len(self.terms) + 1), since)
            case "table.state":
                self.opens.add(change["open"], since)
            case "table.link":
                self.links.add(change["link"], since)
            case what:
                raise ValueError(f"{what} is no change of a table")


@dataclass(slots=True)
class RoundState:
    """A round that an earlier event left: held with its message, or settled or void.

    `received_at` (nanoseconds since 1970 UTC) is None where nothing is known of its receipt.
    """

    outcome: str
    reasons: list[str]
    message: RoundMessage
    received_at: int | None = None


@dataclass
class House:
    """Links, tables and rounds by their codes; what is moved along from event to event."""

    links: dict[str, LinkState]
    tables: dict[str, TableState]
    rounds: dict[tuple[str, str], RoundState] = field(default_factory=dict)
    paytables: Mapping[str, ProgressivePaytable] = field(default_factory=builtin)
    editions: Mapping[str, Edition] | None = None
    """The base and side-wager editions that terms may name; None: the built-in ones."""
    _composed: dict[tuple[int, int], TableTerms] = field(default_factory=dict)

    @cached_property
    def doors(self) -> Mapping[str, TableTerms]:
        """What a message is read by at the door: of each table its game, which never changes."""
        return {code: table.terms.at(ALWAYS) for code, table in self.tables.items()}

    def link_of(self, table: TableState, moment: int) -> LinkState | None:
        """The link that a table is on at a moment."""
        code = table.links.at(moment)
        return None if code is None else self.links[code]

    def terms_of(self, table: TableState, moment: int) -> TableTerms:
        """A table's terms with those of its link, both as they count at a moment."""
        terms = table.terms.at(moment)
        link = self.link_of(table, moment)
        if link is None:
            return terms
        links = link.terms.at(moment)
        # Editions are kept by the states above for as long as this house, so their ids stay theirs.
        key = (id(terms), id(links))
        found = self._composed.get(key)
        if found is None:
            found = self._composed[key] = on_link(terms, links)
        return found

    def table(self, subject: str) -> TableState:
        """The table an act is about; ActRefused `unknown_subject` where there is none."""
        try:
            return self.tables[subject]
        except KeyError:
            raise ActRefused("unknown_subject", detail=f"there is no table {subject}") from None

    def round(self, subject: str) -> tuple[tuple[str, str], RoundState]:
        """The round that `TABLE/ROUND` names; the first slash ends the table's code. ActRefused where there is none."""
        code, _, reference = subject.partition("/")
        found = self.rounds.get((code, reference))
        if found is None:
            raise ActRefused("unknown_subject", detail=f"there is no round {subject}")
        return (code, reference), found

    def apply(self, decision: Decision) -> None:
        """Move along: what a decision changes, the meters after it, and the hits it numbered."""
        self.change(decision.changes)
        for code, meters in decision.meters.items():
            self.links[code].meters.update(meters)
        for award in decision.result.get("awards", ()):
            self.links[decision.result["meters"][0]["link"]].next_hit += 1 if award["hit"] else 0

    def change(self, changes: Iterable[Mapping[str, Any]]) -> None:
        """Take over the editions of terms, states and membership that an event introduced."""
        for change in changes:
            match change["what"]:
                case "link.installed":
                    terms = installing.terms_of({"link": change["definition"], "paytable": change["paytable"]})
                    self.links[terms.code] = installing.installed(terms)
                case "table.installed":
                    table = installed(change, self.editions)
                    self.tables[table.code] = table
                    self.__dict__.pop("doors", None)  # made anew when it is next asked for
                case what if what.startswith("link."):
                    self.links[change["link"]].change(change, self.paytables)
                case _:
                    self.tables[change["table"]].change(change, self.editions)


def installed(change: Mapping[str, Any], editions: Mapping[str, Edition] | None) -> TableState:
    """The table that an installation opened: its first terms count from the beginning, no deal from before its opening."""
    terms = floor.table_terms(change["definition"], {}, editions)
    return TableState(terms.code, Dated(terms), Dated(True), Dated(change["link"]), nanoseconds(change["counts_from"]))


def on_link(terms: TableTerms, link: LinkTerms | None) -> TableTerms:
    """A table's terms as it stands on a link, or on none."""
    return replace(terms, link=link)


def house_of(floor_: floor.Floor, meters: Mapping[str, Mapping[str, Meter]]) -> House:
    """The house that a floor file describes, everything in it open from the beginning (CONTRACT §1)."""
    return House(
        links={code: opened(link, meters[code].items()) for code, link in floor_.links.items()},
        tables={
            code: TableState(
                code, Dated(replace(table, link=None)), Dated(True), Dated(table.link.code if table.link else None)
            )
            for code, table in floor_.tables.items()
        },
        paytables=builtin() | floor_.paytables,
    )
