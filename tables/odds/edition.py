"""What the mathematics says of an edition, and the same as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Any

from tables.odds.progressive import ProgressiveOdds


@dataclass(frozen=True)
class WagerOdds:
    """One wager under one set of circumstances (number of decks, players, …), all in units of the initial wager.

    `combinations` are the equally likely deals by what they make; `edge` is what the house keeps on average;
    `hit_frequency` the share of rounds in which the wager wins; `variance` that of the net result.  Where the player
    decides, all are under the play that is best on average, and `plays` says how often each decision is taken.
    A figure that is None is left out for the reason given in `reason`.
    """

    combinations: Mapping[str, int]
    total: int
    edge: Fraction | None
    hit_frequency: Fraction | None
    variance: Fraction | None
    case: Mapping[str, str | int | bool] = field(default_factory=dict)
    average_stake: Fraction = Fraction(1)
    plays: Mapping[str, Fraction] = field(default_factory=dict)
    reason: str | None = None
    progressive: ProgressiveOdds | None = None

    @property
    def returned(self) -> Fraction | None:
        """What comes back of the initial wager on average."""
        return None if self.edge is None else 1 - self.edge

    @property
    def element_of_risk(self) -> Fraction | None:
        """The edge as a share of everything staked."""
        return None if self.edge is None else self.edge / self.average_stake

    def to_json(self) -> dict[str, Any]:
        """The entry without the edition's own keys."""
        entry: dict[str, Any] = dict(self.case)
        entry |= {
            "combinations": dict(self.combinations),
            "total": self.total,
            "edge": text(self.edge),
            "edge_percent": percent(self.edge),
            "return": text(self.returned),
            "return_percent": percent(self.returned),
            "hit_frequency": text(self.hit_frequency),
            "hit_percent": percent(self.hit_frequency),
            "variance": text(self.variance),
            "standard_deviation": None if self.variance is None else round(sqrt(self.variance), 6),
        }
        if self.average_stake != 1:
            entry |= {
                "average_stake": text(self.average_stake),
                "element_of_risk": text(self.element_of_risk),
                "element_of_risk_percent": percent(self.element_of_risk),
            }
        if self.plays:
            entry["plays"] = {play: text(share) for play, share in self.plays.items()}
        if self.progressive is not None:
            entry["progressive"] = self.progressive.to_json()
        if self.reason is not None:
            entry["reason"] = self.reason
        return entry


@dataclass(frozen=True)
class EditionOdds:
    """The odds of one paytable edition: one entry for each case it is played in, the ordinary one first."""

    edition: str
    game: str
    wager: str
    digest: str
    wagers: tuple[WagerOdds, ...]
    assumes: str | None = None

    @property
    def ordinary(self) -> WagerOdds:
        """The odds in the ordinary case."""
        return self.wagers[0]

    @property
    def edge(self) -> Fraction | None:
        """The house edge in the ordinary case."""
        return self.ordinary.edge

    def to_json(self) -> list[dict[str, Any]]:
        """One entry for each case, as `manage.py odds --json` prints them."""
        head: dict[str, Any] = {"edition": self.edition, "game": self.game, "wager": self.wager}
        tail: dict[str, Any] = {"digest": self.digest}
        if self.assumes is not None:
            tail["assumes"] = self.assumes
        return [head | wager.to_json() | tail for wager in self.wagers]


# The keys of an entry that are not the names of its case.
ENTRY_KEYS = frozenset(
    (
        *("edition", "game", "wager", "combinations", "total", "edge", "edge_percent", "return", "return_percent"),
        *("hit_frequency", "hit_percent", "variance", "standard_deviation", "average_stake", "element_of_risk"),
        *("element_of_risk_percent", "plays", "progressive", "reason", "digest", "assumes"),
    )
)


def from_json(entries: list[dict[str, Any]]) -> EditionOdds:
    """The odds that `to_json` wrote."""
    first = entries[0]
    return EditionOdds(
        first["edition"],
        first["game"],
        first["wager"],
        first["digest"],
        tuple(_wager(entry) for entry in entries),
        first.get("assumes"),
    )


def _wager(entry: Mapping[str, Any]) -> WagerOdds:
    progressive = entry.get("progressive")
    return WagerOdds(
        combinations=entry["combinations"],
        total=entry["total"],
        edge=fraction(entry["edge"]),
        hit_frequency=fraction(entry["hit_frequency"]),
        variance=fraction(entry["variance"]),
        case={key: value for key, value in entry.items() if key not in ENTRY_KEYS},
        average_stake=Fraction(entry.get("average_stake", 1)),
        plays={play: Fraction(share) for play, share in entry.get("plays", {}).items()},
        reason=entry.get("reason"),
        progressive=ProgressiveOdds.from_json(progressive) if progressive is not None else None,
    )


def text(value: Fraction | None) -> str | None:
    """A fraction as "num/den", a whole number with the denominator 1."""
    return None if value is None else f"{value.numerator}/{value.denominator}"


def fraction(value: str | None) -> Fraction | None:
    """The fraction a text says."""
    return None if value is None else Fraction(value)


def percent(value: Fraction | None) -> float | None:
    """A fraction in percent, to six decimals, for reading only."""
    return None if value is None else round(float(value * 100), 6)
