"""A link's rounds decided once more under other terms, beside what came of them: what moved each level on either side.

Decided is by `decide`, on a house whose link has the other terms from the beginning; its meters are carried from round to
round. What people did to the meters by hand in between is carried over as it was, part by part and to the millionth: an
adjustment, a transfer, a rejection. So under the terms that were in force both sides are the same to the millionth.

Whether a round is settled, and which seats hit, does not depend on what the meters show; only what a hit pays does. So rounds
may be decided side by side on meters that are not yet known: of one without a hit all that counts is what it staked, and
stakes may be contributed together (`jackpot.rules.meter.contribute`). A round with a hit is decided once more in its turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from accounting.rules.acts import ActRefused
from accounting.rules.dated import Dated
from jackpot.rules.decision import Act
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import MILLION, Meter, contribute
from jackpot.rules.parts import PARTS, held, holding, take_back, take_out
from jackpot.rules.progressive import Award, LevelMovement
from tables.rules.deciding import Result, RoundDecision, decide, decide_result
from tables.rules.house import HELD, LOCKED, House, RoundState
from tables.rules.locking import Lock, decide_lock


@dataclass(slots=True)
class Tally:
    """One level on one side. Millionths of a cent where it says so, else whole cents.

    `contributed_millionths` is stake × rate, what overflowed included. `carried` is what people moved by hand, by part, in
    millionths; of it `made_good_cents` is what the house had to put in because the part held less than they took.
    """

    began: Meter
    meter: Meter
    contributed_millionths: int = 0
    hits: int = 0
    full_hits: int = 0
    paid_cents: int = 0
    house_cents: int = 0
    from_reserve_cents: int = 0
    revenue_cents: int = 0
    carried: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    made_good_cents: int = 0
    lowest_cents: int = 0
    highest_cents: int = 0

    def moved(self, meter: Meter, contributed_millionths: int) -> None:
        """A round left the level so, and brought so much to it."""
        self.meter = meter
        self.contributed_millionths += contributed_millionths
        cents = meter.value_cents
        if cents > self.highest_cents:
            self.highest_cents = cents
        elif cents < self.lowest_cents:
            self.lowest_cents = cents

    def awarded(self, award: Award) -> None:
        """The level was hit."""
        seed = award["seed"]
        self.hits += 1
        self.full_hits += award["share_ppm"] == MILLION
        self.paid_cents += award["paid_cents"]
        self.house_cents += seed["house_cents"]
        self.from_reserve_cents += seed["reserve_cents"]
        self.revenue_cents += award.get("revenue_cents", 0)
        self.highest_cents = max(self.highest_cents, award["meter_before_cents"])

    def made_good(self, part: str, cents: int) -> None:
        """The house put so much into a part that held less than was taken from it."""
        self.carried[part] += cents * MILLION
        self.made_good_cents += cents

    def and_then(self, later: Tally) -> None:
        """Add what a later stretch of the same side came to, which began with the meter that this one left."""
        self.meter = later.meter
        self.contributed_millionths += later.contributed_millionths
        self.hits += later.hits
        self.full_hits += later.full_hits
        self.paid_cents += later.paid_cents
        self.house_cents += later.house_cents
        self.from_reserve_cents += later.from_reserve_cents
        self.revenue_cents += later.revenue_cents
        self.carried = {part: moved + later.carried[part] for part, moved in self.carried.items()}
        self.made_good_cents += later.made_good_cents
        self.lowest_cents = min(self.lowest_cents, later.lowest_cents)
        self.highest_cents = max(self.highest_cents, later.highest_cents)

    @property
    def reserved_millionths(self) -> int:
        """What rounds brought to the reserve: what it holds more, and what resets took."""
        more = held(self.meter, "reserve") - held(self.began, "reserve") - self.carried["reserve"]
        return more + self.from_reserve_cents * MILLION

    @property
    def cost_millionths(self) -> int:
        """All that the house put into the level: contributions, reserve, its seeds and top-ups, and what it made good."""
        put_in = (self.house_cents + self.made_good_cents) * MILLION
        return self.contributed_millionths + self.reserved_millionths + put_in

    @property
    def unexplained_millionths(self) -> int:
        """What display and overflow hold beyond all that moved them; never anything but 0."""
        now = sum(held(self.meter, part) for part in ("display", "overflow"))
        before = sum(held(self.began, part) + self.carried[part] for part in ("display", "overflow"))
        cents = self.house_cents + self.from_reserve_cents - self.paid_cents - self.revenue_cents
        return now - before - self.contributed_millionths - cents * MILLION


def tallies(meters: Mapping[str, Meter]) -> dict[str, Tally]:
    """A side that begins from these meters."""
    return {
        level: Tally(meter, meter, lowest_cents=meter.value_cents, highest_cents=meter.value_cents)
        for level, meter in meters.items()
    }


class Alternative:
    """A link's house under other terms, moved along by its recorded rounds.

    `house` is the house as it was before the first of them, its link on the meters of then; it is moved along.
    """

    def __init__(self, house: House, terms: LinkTerms) -> None:
        self.house = house
        self.link = house.links[terms.code]
        self.link.terms = Dated(terms)
        self.levels = tallies(self.link.meters)
        self.wagers = 0
        self.held: dict[str, int] = {}
        """How many rounds would have waited for a supervisor, by the first reason."""

    def round(self, cause: Result) -> list[Award]:
        """Decide a round; its awards."""
        return self._take(decide_result(cause, self.house))

    def staked(self, stakes_cents: int, wagers: int) -> None:
        """Contribute what rounds without a hit staked; how many wagers they were."""
        self.wagers += wagers
        if stakes_cents:
            for terms in self.link.terms.at(0).levels:
                meter = self.link.meters[terms.code] = contribute(self.link.meters[terms.code], terms, stakes_cents)
                self.levels[terms.code].moved(meter, stakes_cents * terms.rate_ppm)

    def decided_round(self, act: Act, key: tuple[str, str], found: RoundState) -> list[Award]:
        """Decide a held round as people decided it; what cannot be done under these terms stays held."""
        self.house.rounds[key] = found
        try:
            decision = decide(act, self.house)
        except ActRefused as refusal:
            self._holds(refusal.code)
            return []
        finally:
            self.house.rounds.pop(key, None)
        assert isinstance(decision, RoundDecision), "it is about a round"
        return self._take(decision)

    def _take(self, decision: RoundDecision) -> list[Award]:
        if decision.outcome == HELD:
            self._holds(decision.result["reasons"][0])
            return []
        self.house.apply(decision)
        self.wagers += decision.progressives
        self._contributed(decision.contributions)
        awards: list[Award] = decision.result["awards"]
        for award in awards:
            self.levels[award["level"]].awarded(award)
        return awards

    def _contributed(self, contributions: Iterable[LevelMovement]) -> None:
        for movement in contributions:
            tally = self.levels[movement.level]
            tally.moved(self.link.meters[movement.level], movement.contributed_millionths)
            if any(movement.put_in_cents):  # more was taken back of a lock than the part held
                for part, cents in zip(PARTS, movement.put_in_cents, strict=True):
                    tally.made_good(part, cents)

    def lock(self, cause: Lock) -> None:
        """Decide a lock; one that these terms would have held is as if it had never come (DECISIONS A50)."""
        decision = decide_lock(cause, self.house)
        if decision.outcome != LOCKED:
            self._holds(decision.result["reasons"][0] if decision.result["reasons"] else decision.outcome)
            return
        self.house.apply(decision)
        self._contributed(decision.contributions)

    def void_lock(self, act: Act) -> None:
        """Take a lock's contributions back, as people did; where these terms held the lock there is nothing to take."""
        table, _, reference = act.subject.partition("/")
        lock = self.house.locks.pop((table, reference), None)
        if lock is None:
            return
        for level, brought in lock.brought.items():
            before = self.link.meters[level]
            after, _ = take_back(self.link.code, level, before, brought, "void")
            self.link.meters[level] = after
            tally = self.levels[level]
            tally.moved(after, -brought.contributed)
            for part, came in zip(PARTS, brought, strict=True):
                tally.made_good(part, (held(after, part) - held(before, part) + came) // MILLION)

    def _holds(self, reason: str, rounds: int = 1) -> None:
        self.held[reason] = self.held.get(reason, 0) + rounds

    def would_hold(self, held: Mapping[str, int]) -> None:
        """So many rounds would have waited for a supervisor, by their first reason."""
        for reason, rounds in held.items():
            self._holds(reason, rounds)

    def carry(self, moved: Mapping[str, Mapping[str, int]]) -> None:
        """Move parts of levels by so many millionths, as people did; what a part lacks the house makes good in whole cents."""
        for level, parts in moved.items():
            tally, meter = self.levels[level], self.link.meters[level]
            for part, millionths in parts.items():
                if millionths >= 0:
                    meter = holding(meter, part, held(meter, part) + millionths)
                    tally.carried[part] += millionths
                else:
                    meter, put_in_cents, _ = take_out(meter, part, -millionths)
                    tally.carried[part] += millionths
                    tally.made_good(part, put_in_cents)
            self.link.meters[level] = meter
            tally.moved(meter, 0)

    def change(self, changes: Iterable[Mapping[str, Any]]) -> None:
        """Take over what changed at the house, but not the link's terms: they are the other ones throughout."""
        self.house.change(change for change in changes if change["what"] != "link.terms")


def difference(before: Meter, after: Meter) -> dict[str, int]:
    """What moved between two meters, in millionths of a cent, by part; parts that did not move are left out."""
    moved = {part: held(after, part) - held(before, part) for part in PARTS}
    return {part: millionths for part, millionths in moved.items() if millionths}
