"""A house between two events: its links and tables, and what earlier events left that later ones may name.

`settle` keeps all of it in memory; a running house reads from its record what one stream and one cause need.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time
from functools import cached_property
from typing import Any, Final
from zoneinfo import ZoneInfo

from accounting.rules.acts import ActRefused
from accounting.rules.dated import ALWAYS, Dated
from accounting.rules.gaming_day import GamingDays
from accounting.rules.moments import nanoseconds
from accounting.rules.unclaimed import UnclaimedTerms, terms_in
from jackpot.rules import installing
from jackpot.rules.decision import Decision
from jackpot.rules.hits import EnvyState, HitState
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import Meter
from jackpot.rules.parts import Brought
from jackpot.rules.paytable import ProgressivePaytable, builtin
from jackpot.rules.progressive import Locked
from jackpot.rules.state import LinkState, filed, opened
from tables.rules import floor
from tables.rules.game import Game
from tables.rules.games import Games, game_of
from tables.rules.message import RoundMessage
from tables.rules.paytables import Edition
from tables.rules.table import TableTerms

AHEAD_AT_MOST = 5 * 60 * 1_000_000_000
"""Nanoseconds by which a deal may lie ahead of its receipt (ARCHITECTURE §4.10)."""


@dataclass(slots=True)
class TableState:
    """A table: its terms (the link left out), whether it is open, and its link, each by the moment it counts from.

    `progressive` is whether its devices are heard of, so that it may take progressive wagers (REQUIREMENTS R22).
    Moments are nanoseconds since 1970 UTC. `opened_at` is None where nobody says since when the table exists.
    """

    code: str
    terms: Dated[TableTerms]
    opens: Dated[bool]
    links: Dated[str | None]
    opened_at: int | None = None
    progressive: Dated[bool] = field(default_factory=lambda: Dated(True))

    @property
    def has_moved(self) -> bool:
        """Whether it ever joined or left a link: its rounds then count on one stream or another, by their moment."""
        return len(self.links) > 1

    def stream_at(self, moment: int) -> str:
        """The code of the stream that a round counts on which counts from this moment: its link's, or its own."""
        return self.links.at(moment) or self.code

    def copy(self) -> TableState:
        """The same state, to be moved along apart from this one."""
        dated = self.terms.copy(), self.opens.copy(), self.links.copy()
        return TableState(self.code, *dated, self.opened_at, self.progressive.copy())

    def counts_at(self, dealt_at: int, received_at: int | None) -> int:
        """When a round counts: by its deal, or by receipt where the deal cannot be right (ARCHITECTURE §4.10)."""
        if received_at is None:
            return dealt_at
        opened_at = self.opened_at
        if dealt_at > received_at + AHEAD_AT_MOST or (opened_at is not None and dealt_at < opened_at):
            # Our own clock may be wrong too: nothing counts before the table was there.
            return received_at if opened_at is None else max(received_at, opened_at)
        return dealt_at

    def takes_progressive(self, link: LinkState, moment: int) -> bool:
        """Whether rounds that count on a link from a moment may bring a progressive wager."""
        return link.is_open(moment) and self.progressive.at(moment)

    def change(self, change: Mapping[str, Any], editions: Mapping[str, Edition] | None) -> None:
        """Take over one change of the table that an event introduced (`changes` of its result)."""
        since = nanoseconds(change["counts_from"])
        match change["what"]:
            case "table.terms":
                terms = floor.changed_terms(self.terms.at(since), change["changed"], editions)
                self.terms.add(replace(terms, edition=len(self.terms) + 1), since)
            case "table.state":
                self.opens.add(change["open"], since)
            case "table.link":
                self.links.add(change["link"], since)
            case "table.contact":
                self.progressive.add(change["heard"], since)
            case what:
                raise ValueError(f"{what} is no change of a table")


HELD: Final = "held"
SETTLED: Final = "settled"
VOID: Final = "void"
LOCKED: Final = "locked"
DECIDED: Final = "decided"

CLOSED_DAY: Final = "day.closed"
"""The change that closes a gaming day, and every earlier one."""

NOTHING_BROUGHT: Final[tuple[tuple[str, Brought], ...]] = ()
NO_STAKES: Final[Mapping[int, int]] = {}
NOTHING_OF_A_LOCK: Final[Mapping[str, Brought]] = {}


@dataclass(slots=True)
class RoundState:
    """A round that an earlier event left: held, with its message; or settled or void, with what it moved.

    `received_at` (nanoseconds since 1970 UTC) is None where nothing is known of its receipt. Of a settled round: `brought` is
    what its lock and its result together brought to each level of `link`; `stakes_cents` stood, `pays_cents` were handed
    back without shares of a level and envy; `hits` are the names of its hits in their order.
    """

    outcome: str
    reasons: list[str]
    message: RoundMessage | None = None
    received_at: int | None = None
    link: str | None = None
    brought: tuple[tuple[str, Brought], ...] = NOTHING_BROUGHT
    stakes_cents: int = 0
    pays_cents: int = 0
    hits: tuple[str, ...] = ()


@dataclass(slots=True)
class LockState:
    """A lock that contributed: locked, then decided by its round's result, or void.

    It counts from `counts_at` (nanoseconds since 1970 UTC) on `link`; `stakes` are its wagers in cents by seat, `brought` is
    what they brought to each level. A lock that is locked no more needs neither.
    """

    counts_at: int
    link: str
    stakes: Mapping[int, int] = field(default_factory=dict)
    brought: Mapping[str, Brought] = field(default_factory=dict)
    state: str = LOCKED

    @property
    def put_in(self) -> Locked:
        """What its round's result starts from."""
        return Locked(sum(self.stakes.values()), self.brought)

    def end(self, state: str) -> None:
        """The lock is decided or void, and will not be asked for its wagers again."""
        self.state, self.stakes, self.brought = state, NO_STAKES, NOTHING_OF_A_LOCK


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts for a table at a moment: its game, whether it is open, its link and whether that is open to it.

    It is the same at all moments from `since` (nanoseconds since 1970 UTC) on.
    """

    game: Game[Any]
    is_open: bool
    link: LinkState | None
    link_is_open: bool
    since: int


@dataclass(slots=True)
class MessageDecision(Decision):
    """What a round's result or its lock comes to, with what it leaves under `key` (table and round) for later events.

    `round` is None where the round stays as it was; a lock leaves `lock` only when it contributed.
    """

    key: tuple[str, str] = ("", "")
    round: RoundState | None = None
    lock: LockState | None = None
    hits: Sequence[HitState] = ()


@dataclass
class House:
    """Links, tables, rounds, locks and hits by their codes; what is moved along from event to event.

    `hits` and `envy` are by their names (`LINK-000001`, `TABLE/ROUND/SEAT/FROM`), rounds and locks by table and round.
    A file's house remembers all that went before; one that `remembers` nothing keeps only locks that wait for their result,
    and is given the precedents that a cause names.
    """

    links: dict[str, LinkState]
    tables: dict[str, TableState]
    rounds: dict[tuple[str, str], RoundState] = field(default_factory=dict)
    locks: dict[tuple[str, str], LockState] = field(default_factory=dict)
    hits: dict[str, HitState] = field(default_factory=dict)
    envy: dict[str, EnvyState] = field(default_factory=dict)
    paytables: Mapping[str, ProgressivePaytable] = field(default_factory=builtin)
    editions: Mapping[str, Edition] | None = None
    """The base and side-wager editions that terms may name; None: the built-in ones."""
    remembers: bool = True
    days: GamingDays | None = None
    """The gaming days of the property, where somebody asks for them."""
    closed_through: date | None = None
    """The latest closed gaming day; all before it are closed too."""
    unclaimed: UnclaimedTerms = field(default_factory=lambda: terms_in(""))
    """How long is kept what nobody came for."""
    _games: dict[tuple[int, int], tuple[Game[Any], TableTerms, LinkTerms | None]] = field(default_factory=dict)
    """By the ids of a table's terms and its link's, which are kept beside the game: a state that is taken over anew lets
    its own go, and what came to stand in their place would be played by another table's terms."""
    _standing: dict[str, Standing] = field(default_factory=dict)
    """Of each table what has counted since its last change: a round hardly ever counts from before."""

    @cached_property
    def doors(self) -> Games:
        """What a message is read by at the door: of each table its game, which never changes."""
        return Games({code: table.terms.at(ALWAYS) for code, table in self.tables.items()})

    def link_of(self, table: TableState, moment: int) -> LinkState | None:
        """The link that a table is on at a moment."""
        code = table.links.at(moment)
        return None if code is None else self.links[code]

    def lock_of(self, table: str, round_: str) -> LockState | None:
        """The lock that a round's result will decide; None where there is none, or it is void."""
        lock = self.locks.get((table, round_)) if self.locks else None
        return lock if lock is not None and lock.state == LOCKED else None

    def has_open_locks(self, link: str) -> bool:
        """Whether a lock of the link waits for a result that is decided; a held one is not (DECISIONS A65)."""
        return any(lock.link == link and lock.state == LOCKED for lock in self.locks.values())

    def game(self, table: TableState, moment: int) -> Game[Any]:
        """The game as a table plays it at a moment, with the link that it is on then."""
        return self.game_on(table, moment, self.link_of(table, moment))

    def game_on(self, table: TableState, moment: int, link: LinkState | None) -> Game[Any]:
        """The game as a table plays it on a link, by the terms of both as they count at a moment."""
        terms = table.terms.at(moment)
        links = None if link is None else link.terms.at(moment)
        key = (id(terms), id(links))
        found = self._games.get(key)
        if found is None:
            found = self._games[key] = game_of(on_link(terms, links)), terms, links
        return found[0]

    def standing(self, code: str, moment: int) -> Standing:
        """What counts for a table at a moment, on the link that it is on then."""
        found = self._standing.get(code)
        if found is None or moment < found.since:
            table = self.tables[code]
            found = self.standing_on(table, moment, self.link_of(table, moment))
            if moment >= found.since:
                self._standing[code] = found
        return found

    def standing_on(self, table: TableState, moment: int, link: LinkState | None) -> Standing:
        """What counts for a table at a moment, on a link, whichever it is on."""
        since = max(table.terms.last_change(), table.opens.last_change(), table.links.last_change())
        if link is not None:
            since = max(since, table.progressive.last_change(), link.terms.last_change(), link.states.last_change())
        return Standing(
            self.game_on(table, moment, link),
            table.opens.at(moment),
            link,
            link is None or table.takes_progressive(link, moment),
            since,
        )

    def terms_of(self, table: TableState, moment: int) -> TableTerms:
        """A table's terms with those of its link, both as they count at a moment."""
        return self.game(table, moment).table

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
        """Move along: what a decision changes, the meters after it, what became of what it is about, and what it leaves."""
        self.change(decision.changes)
        for code, meters in decision.meters.items():
            self.links[code].meters.update(meters)
        self.step(decision.steps)
        if isinstance(decision, MessageDecision):
            self.keep(decision)

    def keep(self, left: MessageDecision) -> None:
        """Take over what a result or a lock leaves; a lock that a result decided has done its work."""
        for hit in left.hits:
            self.links[hit.link].next_hit += 1
        if left.lock is not None:
            self.locks[left.key] = left.lock
        lock = self.lock_of(*left.key)
        if lock is not None and left.round is not None and left.round.outcome != HELD:
            lock.end(DECIDED)
        if not self.remembers:
            if lock is not None and lock.state != LOCKED:
                del self.locks[left.key]
            return
        if left.round is not None:
            self.rounds[left.key] = left.round
        for hit in left.hits:
            self.hits[hit.name] = hit
            self.envy.update((envy.name, envy) for envy in hit.envy)

    def change(self, changes: Iterable[Mapping[str, Any]]) -> None:
        """Take over the editions of terms, states and membership that an event introduced."""
        for change in changes:
            self._standing.clear()
            match change["what"]:
                case "link.installed":
                    terms = installing.terms_of({"link": change["definition"], "paytable": change["paytable"]})
                    self.links[terms.code] = installing.installed(terms)
                case "link.filed":
                    self.links[change["link"]] = filed(change, self.paytables)
                case "table.installed":
                    self.take(installed(change, self.editions))
                case what if what == CLOSED_DAY:
                    self.closed_through = date.fromisoformat(change["day"])
                case what if what.startswith("link."):
                    # One stream's house knows its own link: what an act changed of another too is on that one's stream.
                    if self.remembers or change["link"] in self.links:
                        self.links[change["link"]].change(change)
                case _:
                    self.tables[change["table"]].change(change, self.editions)

    def take(self, table: TableState) -> None:
        """Take over a table as it stood on another stream."""
        self.tables[table.code] = table
        self.__dict__.pop("doors", None)  # made anew when it is next asked for

    def know(self, cause: Mapping[str, Any]) -> None:
        """Take over what a cause brings along: the paytable edition that a link is filed on, the terms of the unclaimed."""
        if brought := installing.filed_on(cause):
            self.paytables = {**self.paytables, **brought}
        if "unclaimed" in cause:
            self.unclaimed = UnclaimedTerms(**cause["unclaimed"])

    def step(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Take over what became of the hits, envy payouts, locks and rounds that an act is about."""
        for step in steps:
            name, state = step["name"], step["state"]
            table, _, reference = name.partition("/")
            match step["what"]:
                case "hit":
                    self.hits[name].state = state
                case "envy":
                    self.envy[name].state = state
                case "tax" if name in self.hits:
                    self.hits[name].is_withheld = True
                case "tax":
                    self.envy[name].is_withheld = True
                case "lock":
                    self.locks[table, reference].end(state)
                    if not self.remembers:
                        del self.locks[table, reference]
                case "round":
                    self.rounds[table, reference].outcome = state
                case what:
                    raise ValueError(f"nothing becomes of {what}")


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
        days=GamingDays(ZoneInfo(floor_.property.time_zone), time.fromisoformat(floor_.property.gaming_day_starts)),
        unclaimed=terms_in(floor_.property.jurisdiction),
    )
