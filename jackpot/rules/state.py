"""A link between two events of its stream: its terms and states by the moment they count from, and its meters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accounting.rules.dated import Dated
from accounting.rules.events import FUNDS
from accounting.rules.moments import nanoseconds
from jackpot.rules import link as links
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import Meter
from jackpot.rules.paytable import ProgressivePaytable
from jackpot.rules.progressive import MeterRow, meter_rows

FILED: Final = "filed"
OPEN: Final = "open"
SUSPENDED: Final = "suspended"
CLOSED: Final = "closed"


@dataclass(slots=True)
class LinkState:
    """A link as it stands after the last event; `closed` counts from the line of its closing on (DECISIONS A56).

    `initial` is what each level opens with, in whole cents, where that is not its reset. `short` is whether the balance that was
    recorded last is less than it owes, and must not be.
    """

    code: str
    terms: Dated[LinkTerms]
    states: Dated[str]
    meters: dict[str, Meter]
    next_hit: int = 1
    closed: bool = False
    initial: dict[str, int] = field(default_factory=dict)
    short: bool = False

    def was_opened(self) -> bool:
        """Whether anything has opened the link, from whatever moment on: it is seeded once."""
        return any(state == OPEN for _, state in self.states)

    def is_open(self, moment: int) -> bool:
        """Whether rounds that count from this moment may bring a progressive wager (DECISIONS A54)."""
        return not self.closed and self.states.at(moment) == OPEN

    def state(self, moment: int) -> str:
        """The link's state at a moment."""
        return CLOSED if self.closed else self.states.at(moment)

    def rows(
        self, after: Mapping[str, Meter], moment: int, contributed: Mapping[str, int] | None = None
    ) -> list[MeterRow]:
        """The link's meter rows of an act: as they are here before, `after` behind it, and what it contributed, by level."""
        return meter_rows(self.terms.at(moment), self.meters, self.meters | dict(after), contributed=contributed)

    def copy(self) -> LinkState:
        """The same state, to be moved along apart from this one."""
        return LinkState(
            self.code, self.terms.copy(), self.states.copy(), dict(self.meters), self.next_hit, self.closed,
            dict(self.initial), self.short,
        )  # fmt: skip

    def change(self, change: Mapping[str, Any]) -> None:
        """Take over one change of the link that an event introduced (`changes` of its result)."""
        since = nanoseconds(change["counts_from"])
        if change["what"] == "link.terms":
            self.terms.add(links.changed_terms(self.terms.at(since), change["changed"]), since)
        elif change["what"] == "link.state":
            self.states.add(change["state"], since)
            self.closed = self.closed or change["state"] == CLOSED
        elif change["what"] == FUNDS:
            self.short = change["short"]
        else:
            raise ValueError(f"{change['what']} is no change of a link")


def opened(terms: LinkTerms, meters: Iterable[tuple[str, Meter]]) -> LinkState:
    """A link that has been open from the beginning, as a floor installs it."""
    return LinkState(terms.code, Dated(terms), Dated(OPEN), dict(meters))


def filed(change: Mapping[str, Any], paytables: Mapping[str, ProgressivePaytable]) -> LinkState:
    """The link that `link.file` introduces: nothing on its meters, and what they open with (DECISIONS A70)."""
    since = nanoseconds(change["counts_from"])
    terms = links.read(change["definition"], paytables)
    return LinkState(
        terms.code,
        Dated(terms, since),
        Dated(FILED, since),
        {level.code: Meter(0) for level in terms.levels},
        initial=dict(change["initial"]),
    )
