"""A whole floor in play: rounds of all its tables, in the order in which they are dealt.

`Play` is a generator that needs nothing but the terms of the tables; it is what `manage.py simulate` posts and
what tests and benchmarks take their rounds from. The same seed, prefix, start and tables give the same
messages, byte for byte, and the cards of a table do not depend on which other tables play.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Any

from devices.simulator.irregularities import Rates
from devices.simulator.rig import Rig, RigRefused
from devices.simulator.table import GAME, Dealt, Table

if TYPE_CHECKING:
    from tables.rules.table import TableTerms

PACE_SECONDS = 45.0
"""A round with five players takes about this long; each player more or less adds or saves a ninth of it."""

FIRST_DEAL = datetime(2026, 11, 27, 23, 0, tzinfo=UTC)
"""When play starts if the caller does not say; rounds of tests need no clock."""


class NothingToPlay(ValueError):
    """No table of the floor can be played: there are none, or none of a game the simulator knows."""


def playable(tables: Mapping[str, TableTerms]) -> dict[str, TableTerms]:
    """The tables whose game the simulator can play."""
    return {code: terms for code, terms in tables.items() if terms.game == GAME}


class Play:
    """An endless iterator of round messages (plain dictionaries of CONTRACT §2) over all tables given.

    `pace_seconds` is a table's time per round in `dealt_at`; NothingToPlay or RigRefused when it cannot be.
    """

    def __init__(
        self,
        tables: Mapping[str, TableTerms],
        *,
        seed: int | str = 1,
        rigs: Iterable[Rig] = (),
        prefix: str = "S1",
        start: datetime = FIRST_DEAL,
        zone: tzinfo = UTC,
        pace_seconds: float = PACE_SECONDS,
        rates: Rates | None = None,
    ) -> None:
        strange = [code for code, terms in tables.items() if terms.game != GAME]
        if strange or not tables:
            raise NothingToPlay(f"only {GAME} is played, not {', '.join(strange)}" if strange else "no tables")
        self.rounds = 0
        self.start = start.astimezone(UTC)
        self.zone = zone
        self._pace_ms = pace_seconds * 1000
        self._rigs = list(rigs)
        self._check_rigs(tables)
        rates = rates or Rates()
        self._due: list[tuple[float, int, Table]] = []
        for order, terms in enumerate(tables.values()):
            table = Table(terms, seed=seed, prefix=prefix, rates=rates)
            self._due.append((table.rng.random() * self._pace_ms, order, table))
        heapq.heapify(self._due)
        self._opened_ms = self._due[0][0]

    def _check_rigs(self, tables: Mapping[str, TableTerms]) -> None:
        for rig in self._rigs:
            if rig.table is not None and rig.table not in tables:
                raise RigRefused(f"{rig.table}: no such table in play")
            linked = [rig.table] if rig.table is not None else list(tables)
            if all(tables[code].link is None for code in linked):
                raise RigRefused(f"{rig.hand}: no table on a link to win it at")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The messages alone."""
        for dealt in self.deals():
            yield dealt.message

    def first(self, rounds: int) -> list[dict[str, Any]]:
        """The next `rounds` messages."""
        return [dealt.message for dealt in islice(self.deals(), rounds)]

    def deals(self) -> Iterator[Dealt]:
        """The rounds with what is known about them: when they are due and how they must end."""
        due = self._due
        while True:
            moment, order, table = due[0]
            self.rounds += 1
            at_ms = int(moment - self._opened_ms)
            dealt = table.deal(
                floor_round=self.rounds,
                at_ms=at_ms,
                dealt_at=self._instant(at_ms),
                rigged=self._rigged(table, at_ms) if self._rigs else None,
            )
            lasts = self._pace_ms * (4 + len(dealt.message["seats"])) / 9 * (0.8 + 0.4 * table.rng.random())
            heapq.heapreplace(due, (moment + lasts, order, table))
            yield dealt

    def _instant(self, at_ms: int) -> str:
        moment = self.start + timedelta(milliseconds=at_ms)
        return moment.astimezone(self.zone).isoformat(timespec="milliseconds")

    def _rigged(self, table: Table, at_ms: int) -> str | None:
        """The hand to rig at this table now; each rig is used once, in the first round that can carry it."""
        if not table.progressive_cents:
            return None
        for rig in self._rigs:
            if rig.is_due(floor_round=self.rounds, table_round=table.rounds + 1, at_ms=at_ms, table=table.code):
                self._rigs.remove(rig)
                return rig.hand
        return None
