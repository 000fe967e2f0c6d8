"""Random histories of a house, decided line by line, with its books and meters checked after every one.

`python -m tests.rules.histories 1000 [SEED]` plays a thousand; a few are in the gate (`test_histories.py`). The running house
plays them too: `tests.scenarios.histories`.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from accounting.rules.moments import nanoseconds
from jackpot.rules.parts import PARTS
from tests.rules.checked import Checked, Line
from tests.rules.stages import ACTS, Stage

Kinds = tuple[Sequence[Callable[["History"], Line]], Sequence[int]]
DECK: Final = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
# Boards on which two own cards make a hit, so that hits are as common as rounds.
BOARDS: Final = (("Ts Js Qs", "As Ks", "8s 9s"), ("7h 8h 9h", "5h 6h", "Th Jh"))
REASONS: Final = ("correction", "boost", "malfunction", "regulator_order", "over_limit", "reserve_release")
CODES: Final = ("players_mismatch", "link_not_open", "lock_mismatch", "table_closed", "wager_not_allowed")


def cards(chance: random.Random, seats: Sequence[int]) -> tuple[list[str], list[Line]]:
    """The board and the entries of these seats, often with a hit among them; most bet the progressive."""
    board, *hands = chance.choice(BOARDS)
    rest = [card for card in DECK if card not in f"{board} {' '.join(hands)}"]
    chance.shuffle(rest)
    if chance.random() < 0.6:
        board, hands = " ".join(rest[:3]), []
        rest = rest[3:]
    entries = []
    for number in seats:
        cards = hands.pop().split() if hands and chance.random() < 0.7 else [rest.pop(), rest.pop()]
        wagers = dict.fromkeys(("ante", "third_street", "fourth_street", "fifth_street"), 1000)
        entry = {"seat": number, "cards": cards, "wagers": wagers}
        if chance.random() < 0.15:
            entry = {"seat": number, "cards": cards, "folded": "third_street", "wagers": (wagers := {"ante": 1000})}
        if chance.random() < 0.8:
            wagers["progressive"] = 100
        entries.append(entry)
    return board.split(), entries


class History(Checked):
    """A house played at random, line by line: what comes next depends on how it stands."""

    def __init__(self, seed: int, stage: Stage = ACTS) -> None:
        super().__init__(stage.floor)
        self.chance = random.Random(seed)
        self.links = stage.links
        self.tables = stage.tables
        self.lines: list[Line] = []
        self.clock = 0
        self.filed = 0
        self.dealt: list[tuple[str, str]] = []

    def play(self, lines: int, kinds: Kinds | None = None) -> list[Line]:
        """So many lines, each checked; acts are a second apart, so that none counts from the moment of another."""
        for _ in range(lines):
            self.clock += 1 + self.chance.randrange(30)
            line = self.chance.choices(*(kinds or (KINDS, WEIGHTS)))[0](self)
            self.lines.append(line)
            self.decide(line)
        return self.lines

    def at(self, back: int = 0) -> str:
        """The clock as a moment, or somewhat earlier."""
        seconds = max(self.clock - back, 0)
        return f"2026-11-27T{10 + seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}-05:00"

    # What may come next.

    def round(self) -> Line:
        """A round at some table, perhaps that of an open lock, perhaps with a fault."""
        chance = self.chance
        waiting = [
            key for key, kept in self.house.locks.items() if kept.state == "locked" and key not in self.house.rounds
        ]
        if waiting and chance.random() < 0.6:
            table, reference = chance.choice(waiting)
            seats = list(self.house.locks[table, reference].stakes)
            if chance.random() < 0.3:
                seats = sorted({*seats, chance.randint(1, 6)})[1:] or seats
        else:
            table, reference = chance.choice(self.tables), f"R-{len(self.dealt)}"
            seats = chance.sample(range(1, 7), chance.randint(1, 4))
        self.dealt.append((table, reference))
        board, entries = cards(chance, seats)
        dealing: dict[str, Any] = {"method": "shuffler"}
        if chance.random() < 0.1:
            dealing["players"] = 7
        message: Line = {
            "round": reference, "table": table, "dealt_at": self.at(chance.choice((0, 0, 20, 90))), "dealing": dealing,
            "community": board, "seats": entries,
        }  # fmt: skip
        if chance.random() < 0.15:
            voids = {"code": "wrong_card_count", "seat": seats[0]}
            message["irregularities"] = [chance.choice((voids, {"code": "shoe_failed"}))]
        return message

    def lock(self) -> Line:
        """Wagers before the cards."""
        reference = f"R-{len(self.dealt)}"
        table = self.chance.choice(self.tables)
        self.dealt.append((table, reference))
        seats = self.chance.sample(range(1, 7), self.chance.randint(1, 4))
        return {
            "kind": "lock", "round": reference, "table": table, "locked_at": self.at(),
            "seats": [{"seat": number, "wagers": {"progressive": 100}} for number in seats],
        }  # fmt: skip

    def act(self, name: str, subject: str, **payload: Any) -> Line:
        """An act, done now."""
        return {"act": name, "subject": subject, "at": self.at(), "payload": payload}

    def any_link(self) -> str:
        """A link that has been there, or was filed since."""
        return self.chance.choice([*self.links, *(code for code in self.house.links if code.startswith("n"))])

    def link_that_is(self, state: str) -> str:
        """A link in a state, as often as not: what it is in no state for is refused."""
        now = nanoseconds(self.at())
        found = [code for code, link in self.house.links.items() if link.state(now) == state]
        found = [code for code in found if code in self.links or code.startswith("n")]
        return self.chance.choice(found) if found and self.chance.random() < 0.7 else self.any_link()

    def any_level(self, state: str | None = None) -> tuple[str, str]:
        """A level of any link, or of one in a state as often as not."""
        link = self.any_link() if state is None else self.link_that_is(state)
        return link, self.chance.choice(tuple(self.house.links[link].meters))

    def turn_link(self) -> Line:
        """A link's state, from now on or a little later."""
        before, name = self.chance.choice(
            (
                ("open", "link.suspend"),
                ("suspended", "link.resume"),
                ("suspended", "link.resume"),
                ("filed", "link.open"),
            )
        )
        later = {"counts_from": self.at(-60)} if self.chance.random() < 0.2 else {}
        return self.act(name, self.link_that_is(before), **later)

    def file_link(self) -> Line:
        """A new link, opened by a later line."""
        self.filed += 1
        code = f"n{self.filed}"
        level = {"code": "major", "reset_cents": 300, "rate_ppm": 123_457, "reserve_ppm": 77_777, "limit_cents": 350}
        link = {"code": code, "paytable": "ms-mg-01", "levels": [level | {"floor_policy": "top_up"}]}
        return self.act("link.file", code, link=link, initial={"major": self.chance.randrange(900)}, filing="F")

    def change_link(self) -> Line:
        """Other rates, limits and policies."""
        link, code = self.any_level("suspended")
        level = {"code": code} | self.chance.choice(
            (
                {"rate_ppm": self.chance.randrange(400_000)},
                {"reserve_ppm": self.chance.randrange(300_000)},
                {"limit_cents": self.chance.choice((None, 9_000, 25_000))},
                {"unreasonable_cents": self.chance.choice((None, 60, 90))},
                {"overflow_policy": self.chance.choice(("revenue", "next_reset"))},
                {"seed_funding": self.chance.choice(("house", "reserve_then_house"))},
                {"floor_policy": self.chance.choice(("allow", "top_up"))},
                {"reset_cents": self.chance.randrange(5_000)},
            )
        )
        return self.act("link.terms", link, levels=[level])

    def close_link(self) -> Line:
        """Every part to a place of its own."""
        aims = (*(f"{code}/major" for code in self.links), "regulator_order", "revenue_booked")
        link = self.link_that_is("suspended")
        parts = [
            {"level": level, "part": part, "to": self.chance.choice(aims)}
            for level in self.house.links[link].meters
            for part in PARTS
            if self.chance.random() < 0.9
        ]
        return self.act("link.close", link, disposition=parts)

    def move_table(self) -> Line:
        """A table joins a link or leaves its own."""
        table = self.chance.choice((*self.tables, *(table for table in self.house.tables if table == "TCP-1")))
        if self.chance.random() < 0.5:
            return self.act("table.leave", table)
        return self.act("table.join", table, link=self.any_link())

    def adjust(self) -> Line:
        """A part up or down; now and then all of a display, as a malfunction may want it."""
        link, level = self.any_level()
        shown = self.house.links[link].meters[level].value_cents
        if shown and self.chance.random() < 0.3:
            return self.act("level.adjust", f"{link}/{level}", part="display", cents=-shown, reason="malfunction")
        part = self.chance.choice(tuple(PARTS))
        cents = self.chance.choice((-1, 1)) * self.chance.randint(1, 4_000)
        return self.act("level.adjust", f"{link}/{level}", part=part, cents=cents, reason=self.chance.choice(REASONS))

    def transfer(self) -> Line:
        """Some parts of a level to another link's."""
        parts = self.chance.sample(tuple(PARTS), self.chance.randint(1, 3))
        source, target = "/".join(self.any_level("suspended")), "/".join(self.any_level())
        return self.act("level.transfer", source, to=target, parts=parts)

    def step_hit(self) -> Line:
        """A step of a hit, or its rejection."""
        following = {"detected": "hit.verify", "verified": "hit.approve", "approved": "hit.pay"}
        walking = [hit for hit in self.house.hits.values() if hit.state in following]
        if walking and self.chance.random() < 0.6:
            found = self.chance.choice(walking)
            hit, name = found.name, "hit.reject" if self.chance.random() < 0.3 else following[found.state]
        else:
            hit = self.chance.choice([*self.house.hits, f"{self.links[0]}-000001"])
            name = self.chance.choice(("hit.verify", "hit.approve", "hit.pay", "hit.reject"))
        return self.act(name, hit, **({"method": self.chance.choice(("cage", "table"))} if name == "hit.pay" else {}))

    def pay_envy(self) -> Line:
        """An envy payout is paid."""
        name = self.chance.choice([*self.house.envy, f"{self.tables[0]}/never/1/2"])
        return self.act("payout.pay", name, method=self.chance.choice(("cage", "table")))

    def decide_held(self) -> Line:
        """A held round is released, corrected or called off, or a settled one is undone."""
        found = self.chance.choice([*self.house.rounds, (self.tables[0], "never")])
        name = self.chance.choice(("round.release", "round.void", "round.correct"))
        if name != "round.correct":
            return self.act(name, "/".join(found))
        message = self.round()
        self.dealt.pop()
        message["table"], message["round"] = found
        posted = self.house.rounds.get(found)
        if posted is not None and posted.message is not None:
            # Not later: a deal more than five minutes ahead of its receipt counts from that, which no file knows.
            message["dealt_at"] = posted.message.dealt_at
        return self.act(name, "/".join(found), message=message, override=self.chance.sample(CODES, 2))

    def void_lock(self) -> Line:
        """A lock is taken back."""
        return self.act("lock.void", "/".join(self.chance.choice([*self.house.locks, (self.tables[0], "never")])))

    def turn_table(self) -> Line:
        """A table is opened or closed, or its terms change."""
        name = self.chance.choice(("table.open", "table.open", "table.close", "table.terms"))
        payload = {"minimum_cents": self.chance.choice((500, 1000, 2000))} if name == "table.terms" else {}
        return self.act(name, self.chance.choice(self.tables), **payload)

    def impossible(self) -> Line:
        """What must be refused and leave nothing: sent twice, a reference used again, or an act that cannot be meant."""
        sent = [line for line in self.lines if "act" not in line]
        if sent and self.chance.random() < 0.5:
            again = dict(self.chance.choice(sent))
            return self.chance.choice((again, again | {"seats": again["seats"][:1]}, again | {"shoe": 1}))
        return self.chance.choice(
            (
                self.act("level.adjust", "zz/major", part="display", cents=1, reason="boost"),
                self.act("level.adjust", "/".join(self.any_level()), part="display", cents=0, reason="boost"),
                self.act("level.adjust", "/".join(self.any_level()), part="fraction", cents=1, reason="boost"),
                self.act(
                    "level.adjust", "/".join(self.any_level()), part="display", cents=-(10**9), reason="correction"
                ),
                self.act("level.transfer", "/".join(self.any_level()), to="zz/major", parts=["display"]),
                self.act("level.transfer", "/".join(self.any_level()), to="regulator_order", parts=[]),
                self.act("link.suspend", self.any_link(), counts_from=self.at(3600)),
                self.act("link.suspend", self.any_link(), surprise=1),
                self.act("link.close", self.any_link(), counts_from=self.at()),
                self.act("link.terms", self.any_link(), levels=[{"code": "middle", "rate_ppm": 1}]),
                self.act("link.terms", self.any_link(), levels=[{"code": "major", "rate_ppm": 1_000_001}]),
                self.act("table.join", self.chance.choice(self.tables), link="zz"),
                self.act("table.terms", self.chance.choice(self.tables), minimum_cents=10**6),
                self.act("hit.pay", f"{self.any_link()}-000999", method="cage"),
                self.act("hit.pay", f"{self.any_link()}-000001", method="cheque"),
                self.act("payout.pay", f"{self.tables[0]}/never/7", method="cage"),
                self.act("round.void", "nowhere/R-0"),
            )
        )


KINDS: Final = (
    History.round, History.lock, History.turn_link, History.file_link, History.change_link, History.close_link,
    History.move_table, History.adjust, History.transfer, History.step_hit, History.pay_envy, History.decide_held,
    History.void_lock, History.turn_table, History.impossible,
)  # fmt: skip
WEIGHTS: Final = (30, 14, 12, 1, 5, 3, 4, 10, 6, 14, 4, 10, 4, 3, 6)


def histories(count: int, seed: int = 1, lines: int = 60) -> Iterator[Counter[str]]:
    """Play so many histories; what their lines came to, by kind."""
    for number in range(seed, seed + count):
        history = History(number)
        try:
            history.play(lines)
        except Exception as fault:
            fault.add_note(f"history {number}")
            raise
        yield history.outcomes


if __name__ == "__main__":
    seen: defaultdict[str, int] = defaultdict(int)
    for outcomes in histories(int(sys.argv[1]), *(int(word) for word in sys.argv[2:])):
        for outcome, times in outcomes.items():
            seen[outcome] += times
    for outcome in sorted(seen):
        print(f"{seen[outcome]:8}  {outcome}")
