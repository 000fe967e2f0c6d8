"""How a table's gateway sends what was dealt: mostly at once, sometimes late, in a heap, out of order or twice.

Nothing here talks to a network: a gateway takes rounds and says what leaves it now. The poster sends that.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from devices.simulator.table import Dealt


@dataclass(frozen=True, slots=True)
class Weather:
    """Chances per round of what lines and gateways do; `calm` has none of it."""

    outage: float = 1 / 300
    """The line is down for two to eight rounds, which then leave together."""
    swapped: float = 0.3
    """After an outage the rounds leave in no particular order."""
    late: float = 1 / 300
    """One round leaves after the next one."""
    again: float = 1 / 250
    """A round is sent a second time with the next one: the gateway restarted and did not know."""
    drop: float = 1 / 400
    """The line breaks while a round is posted: nobody read the answer, so the same message is sent again."""

    @classmethod
    def calm(cls) -> Weather:
        """A floor on which every round leaves once, at once and in order."""
        return cls(outage=0, late=0, again=0, drop=0)


@dataclass(frozen=True, slots=True)
class Sending:
    """A round on its way; with `drop` the connection breaks before the answer is read."""

    dealt: Dealt
    drop: bool = False


class Gateway:
    """The gateway of one table. Every round given to it leaves at least once, at the latest with `flush`."""

    def __init__(self, table: str, *, seed: int | str = 1, weather: Weather | None = None) -> None:
        self._rng = Random(f"{seed}/{table}/gateway")
        self._weather = weather or Weather()
        self._kept: list[Dealt] = []
        self._outage_rounds = 0
        self._again: Dealt | None = None

    def send(self, dealt: Dealt) -> list[Sending]:
        """What leaves the gateway now that this round is over."""
        luck = self._rng.random
        weather = self._weather
        if dealt.note is not None and dealt.note.startswith("rig "):
            # Somebody is watching for this one.
            self._outage_rounds = 0
            return [*self.flush(), Sending(dealt)]
        if self._outage_rounds:
            self._kept.append(dealt)
            self._outage_rounds -= 1
            return self.flush(swap=luck() < weather.swapped) if not self._outage_rounds else []
        if luck() < weather.outage:
            self._kept.append(dealt)
            self._outage_rounds = self._rng.randrange(1, 8)
            return []
        waiting = self.flush()
        if luck() < weather.late:
            self._kept.append(dealt)
            return waiting
        # Whatever waited was late: this round overtakes it.
        leaving = [Sending(dealt, drop=luck() < weather.drop), *waiting]
        if luck() < weather.again:
            self._again = dealt
        return leaving

    def flush(self, *, swap: bool = False) -> list[Sending]:
        """Everything that is still waiting, in the order dealt or, with `swap`, in any order."""
        leaving = self._kept
        self._kept = []
        if swap:
            self._rng.shuffle(leaving)
        if self._again is not None:
            leaving.append(self._again)
            self._again = None
        return [Sending(dealt) for dealt in leaving]
