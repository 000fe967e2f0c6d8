"""Random histories of a house, decided line by line, with its books and meters checked after every one.

`python -m tests.rules.histories 1000 [SEED]` plays a thousand; a few are in the gate (`test_histories.py`).
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from accounting.rules.acts import ActRefused
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Decision, read_act
from jackpot.rules.meter import MILLION, opening
from jackpot.rules.parts import PARTS, account, held
from tables.rules import door, lock
from tables.rules.deciding import SHAPES, Result, RoundDecision, decide
from tables.rules.floor import read_floor
from tables.rules.house import House, house_of
from tables.rules.lock import LockMessage
from tables.rules.locking import Lock, LockDecision
from tables.rules.message import RoundMessage

FLOOR: Final = (Path(__file__).parents[1] / "acceptance" / "floors" / "acts.toml").read_text("utf-8")
# Beside the links of the acts floor one of two levels, each with other policies.
TWO_LEVELS: Final = """
[[paytables]]
code = "two"
games = ["mississippi-stud"]
wager_cents = 100
rows = [
  {hand = "royal_flush", pays = "share", level = "major", share_ppm = 1000000, envy_cents = 5000},
  {hand = "straight_flush", pays = "share", level = "minor", share_ppm = 1000000},
  {hand = "flush", pays = "share", level = "minor", share_ppm = 125000},
]
[[links]]
code = "dd"
paytable = "two"
[[links.levels]]
code = "major"
reset_cents = 700
rate_ppm = 111111
reserve_ppm = 22222
limit_cents = 800
[[links.levels]]
code = "minor"
reset_cents = 90
rate_ppm = 333333
reserve_ppm = 44444
limit_cents = 95
overflow_policy = "revenue"
floor_policy = "top_up"
[[tables]]
code = "MS-7"
game = "mississippi-stud"
seats = 6
minimum_cents = 1000
maximum_cents = 50000
link = "dd"
paytables = { base = "ms-base" }
"""
LINKS: Final = ("aa", "bb", "cc", "dd")
TABLES: Final = ("MS-1", "MS-2", "MS-3", "MS-4", "MS-5", "MS-7")
DECK: Final = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
# Boards on which two own cards make a hit, so that hits are as common as rounds.
BOARDS: Final = (("Ts Js Qs", "As Ks", "8s 9s"), ("7h 8h 9h", "5h 6h", "Th Jh"))
REASONS: Final = ("correction", "boost", "malfunction", "regulator_order", "over_limit", "reserve_release")
CODES: Final = ("players_mismatch", "link_not_open", "lock_mismatch", "table_closed", "wager_not_allowed")


class History:
    """A house played at random, and what its accounts hold in whole cents by the movements so far."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        floor = read_floor(FLOOR + TWO_LEVELS)
        meters = {link.code: {level.code: opening(level) for level in link.levels} for link in floor.links.values()}
        self.house: House = house_of(floor, meters)
        self.accounts: Counter[str] = Counter()
        for code, levels in meters.items():
            for level, meter in levels.items():
                self.accounts[account(code, level, "display")] = meter.value_cents
        self.opened_with = sum(self.accounts.values())
        self.clock = 0
        self.filed = 0
        self.dealt: list[tuple[str, str]] = []
        self.outcomes: Counter[str] = Counter()

    def play(self, lines: int) -> None:
        """So many lines, each checked."""
        for _ in range(lines):
            self.clock += self.chance.randrange(30)
            self.decide(self.chance.choices(KINDS, WEIGHTS)[0](self))

    def at(self, back: int = 0) -> str:
        """The clock as a moment, or somewhat earlier."""
        seconds = max(self.clock - back, 0)
        return f"2026-11-27T{10 + seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}-05:00"

    def decide(self, line: dict[str, Any]) -> None:
        """One line as a file would hold it."""
        cause: Result | Lock | Any
        if "act" in line:
            try:
                cause = read_act(line, SHAPES)
                decision = decide(cause, self.house)
            except ActRefused as refused:
                self.outcomes[f"{line['act']} {refused.code}"] += 1
                return
            self.outcomes[f"{line['act']} {decision.outcome}"] += 1
        elif "kind" in line:
            locking = lock.read(line, self.house.tables)
            assert isinstance(locking, LockMessage), locking
            decision = decide(Lock(locking, nanoseconds(locking.locked_at)), self.house)
            self.outcomes[f"lock {decision.outcome}"] += 1
        else:
            message = door.read(line, self.house.doors)
            assert isinstance(message, RoundMessage), message
            decision = decide(Result(message, nanoseconds(message.dealt_at)), self.house)
            self.outcomes[f"round {decision.outcome}"] += 1
        before = {code: dict(link.meters) for code, link in self.house.links.items()}
        brought = self.brought(line, decision)
        self.house.apply(decision)
        self.check(line, decision, before)
        self.check_fractions(line, decision, before, brought)

    def brought(self, line: dict[str, Any], decision: Decision) -> int:
        """What a line should bring to all parts together by its wagers alone, in millionths of a cent."""
        key = tuple(line["subject"].split("/")) if "act" in line else (line["table"], line["round"])
        lock = self.house.locks.get(key)
        left = self.house.rounds.get(key)
        if line.get("act") == "lock.void":
            return -sum(sum(each) for each in lock.brought.values()) if lock else 0
        if line.get("act") == "round.void" and left is not None and left.outcome == "settled":
            return -sum(sum(each) for _, each in left.brought)
        if not isinstance(decision, LockDecision | RoundDecision) or decision.link is None:
            return 0
        if isinstance(decision, LockDecision):
            stakes_cents = sum(seat["wagers"]["progressive"] for seat in line["seats"])
            moment = nanoseconds(line["locked_at"])
        else:
            lines = [each for seat in decision.result["seats"] for each in seat["lines"]]
            standing = [each for each in lines if each["wager"] == "progressive" and each["result"] != "void"]
            stakes_cents = sum(each["stake_cents"] for each in standing)
            posted = left.message if left is not None and left.message is not None else None
            sent = line.get("payload", line).get("dealt_at") or line.get("payload", {}).get("message", {}).get(
                "dealt_at"
            )
            moment = nanoseconds(sent or (posted.dealt_at if posted is not None else ""))
            if lock is not None and lock.state == "locked":
                stakes_cents -= sum(lock.stakes.values())
                moment = lock.counts_at
        terms = self.house.links[decision.link].terms.at(moment)
        return sum(stakes_cents * (level.rate_ppm + level.reserve_ppm) for level in terms.levels)

    def check(self, line: dict[str, Any], decision: Decision, before: dict[str, Any]) -> None:
        """Opening + movements = closing for every part and account, to the millionth, and nothing below zero."""
        said = json.dumps(line)
        booked: Counter[str] = Counter()
        for debit, credit, cents, reason in decision.movements:
            if debit == "adjustments" and reason in ("void", "rejection"):
                self.outcomes[f"made good: {reason}"] += 1
            assert cents > 0, said
            assert debit != credit, said
            booked[credit] += cents
            booked[debit] -= cents
        self.accounts.update(booked)
        for code, link in self.house.links.items():
            for level, meter in link.meters.items():
                for part in PARTS:
                    now = held(meter, part)
                    assert now >= 0, (said, code, part)
                    assert now // MILLION == self.accounts[account(code, level, part)], (said, code, part)
                    was = held(before[code][level], part) if code in before else 0
                    assert now // MILLION - was // MILLION == booked[account(code, level, part)], (said, code, part)
        assert sum(self.accounts.values()) == self.opened_with, said
        for row in decision.result["meters"]:
            meter = self.house.links[row["link"]].meters[row["level"]]
            assert (row["after_cents"], row["residual_millionths"]) == (meter.value_cents, meter.residual_millionths), (
                said
            )
            assert (row["reserve_cents"], row["overflow_cents"]) == (meter.reserve_cents, meter.overflow_cents), said

    def check_fractions(self, line: dict[str, Any], decision: Decision, before: dict[str, Any], brought: int) -> None:
        """All parts together change by what was wagered and by whole cents from outside, to the millionth."""
        total = sum(held(meter, part) for meter, part in self.every_part())
        was = sum(held(meter, part) for levels in before.values() for meter in levels.values() for part in PARTS)
        from_outside = 0
        for debit, credit, cents, _reason in decision.movements:
            if "contribution_expense" not in (debit, credit):
                from_outside += cents * (credit.startswith("level:") - debit.startswith("level:"))
        difference = total - was - brought - from_outside * MILLION
        if line.get("act") == "link.close":
            # Only here a fraction of each part may end without a booking.
            assert -6 * MILLION < difference <= 0, line
        else:
            assert difference == 0, json.dumps(line)

    def every_part(self) -> Iterator[tuple[Any, str]]:
        """Every part of every level, with its meter."""
        for link in self.house.links.values():
            for meter in link.meters.values():
                for part in PARTS:
                    yield meter, part

    # What may come next.

    def round(self) -> dict[str, Any]:
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
            table, reference = chance.choice(TABLES), f"R-{len(self.dealt)}"
            seats = chance.sample(range(1, 7), chance.randint(1, 4))
        self.dealt.append((table, reference))
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
            if chance.random() < 0.8:
                wagers["progressive"] = 100
            entries.append({"seat": number, "cards": cards, "wagers": wagers})
        dealing: dict[str, Any] = {"method": "shuffler"}
        if chance.random() < 0.1:
            dealing["players"] = 7
        message: dict[str, Any] = {
            "round": reference, "table": table, "dealt_at": self.at(chance.choice((0, 0, 20, 90))), "dealing": dealing,
            "community": board.split(), "seats": entries,
        }  # fmt: skip
        if chance.random() < 0.15:
            voids = {"code": "wrong_card_count", "seat": seats[0]}
            message["irregularities"] = [chance.choice((voids, {"code": "shoe_failed"}))]
        return message

    def lock(self) -> dict[str, Any]:
        """Wagers before the cards."""
        reference = f"R-{len(self.dealt)}"
        table = self.chance.choice(TABLES)
        self.dealt.append((table, reference))
        seats = self.chance.sample(range(1, 7), self.chance.randint(1, 4))
        return {
            "kind": "lock", "round": reference, "table": table, "locked_at": self.at(),
            "seats": [{"seat": number, "wagers": {"progressive": 100}} for number in seats],
        }  # fmt: skip

    def act(self, name: str, subject: str, **payload: Any) -> dict[str, Any]:
        """An act, done now."""
        return {"act": name, "subject": subject, "at": self.at(), "payload": payload}

    def any_link(self) -> str:
        """A link that has been there, or was filed since."""
        return self.chance.choice([*LINKS, *(code for code in self.house.links if code not in (*LINKS, "st"))])

    def any_level(self) -> tuple[str, str]:
        """A level of any link."""
        link = self.any_link()
        return link, self.chance.choice(tuple(self.house.links[link].meters))

    def turn_link(self) -> dict[str, Any]:
        """A link's state, from now on or a little later."""
        name = self.chance.choice(("link.suspend", "link.resume", "link.resume", "link.open"))
        later = {"counts_from": self.at(-60)} if self.chance.random() < 0.2 else {}
        return self.act(name, self.any_link(), **later)

    def file_link(self) -> dict[str, Any]:
        """A new link, opened by a later line."""
        self.filed += 1
        code = f"n{self.filed}"
        level = {"code": "major", "reset_cents": 300, "rate_ppm": 123_457, "reserve_ppm": 77_777, "limit_cents": 350}
        link = {"code": code, "paytable": "ms-mg-01", "levels": [level | {"floor_policy": "top_up"}]}
        return self.act("link.file", code, link=link, initial={"major": self.chance.randrange(900)}, filing="F")

    def change_link(self) -> dict[str, Any]:
        """Other rates, limits and policies."""
        link, code = self.any_level()
        level = {"code": code} | self.chance.choice(
            (
                {"rate_ppm": self.chance.randrange(400_000)},
                {"reserve_ppm": self.chance.randrange(300_000)},
                {"limit_cents": self.chance.choice((None, 9_000, 25_000))},
                {"overflow_policy": self.chance.choice(("revenue", "next_reset"))},
                {"reset_cents": self.chance.randrange(5_000)},
            )
        )
        return self.act("link.terms", link, levels=[level])

    def close_link(self) -> dict[str, Any]:
        """Every part to a place of its own."""
        aims = (*(f"{code}/major" for code in LINKS), "regulator_order", "revenue_booked")
        link = self.any_link()
        parts = [
            {"level": level, "part": part, "to": self.chance.choice(aims)}
            for level in self.house.links[link].meters
            for part in PARTS
            if self.chance.random() < 0.9
        ]
        return self.act("link.close", link, disposition=parts)

    def move_table(self) -> dict[str, Any]:
        """A table joins a link or leaves its own."""
        table = self.chance.choice((*TABLES, "TCP-1"))
        if self.chance.random() < 0.5:
            return self.act("table.leave", table)
        return self.act("table.join", table, link=self.any_link())

    def adjust(self) -> dict[str, Any]:
        """A part up or down; now and then all of a display, as a malfunction may want it."""
        link, level = self.any_level()
        shown = self.house.links[link].meters[level].value_cents
        if shown and self.chance.random() < 0.3:
            return self.act("level.adjust", f"{link}/{level}", part="display", cents=-shown, reason="malfunction")
        part = self.chance.choice(tuple(PARTS))
        cents = self.chance.choice((-1, 1)) * self.chance.randint(1, 4_000)
        return self.act("level.adjust", f"{link}/{level}", part=part, cents=cents, reason=self.chance.choice(REASONS))

    def transfer(self) -> dict[str, Any]:
        """Some parts of a level to another link's."""
        parts = self.chance.sample(tuple(PARTS), self.chance.randint(1, 3))
        source, target = "/".join(self.any_level()), "/".join(self.any_level())
        return self.act("level.transfer", source, to=target, parts=parts)

    def step_hit(self) -> dict[str, Any]:
        """A step of a hit, or its rejection."""
        following = {"detected": "hit.verify", "verified": "hit.approve", "approved": "hit.pay"}
        walking = [hit for hit in self.house.hits.values() if hit.state in following]
        if walking and self.chance.random() < 0.6:
            found = self.chance.choice(walking)
            hit, name = found.name, "hit.reject" if self.chance.random() < 0.3 else following[found.state]
        else:
            hit = self.chance.choice([*self.house.hits, "aa-000001"])
            name = self.chance.choice(("hit.verify", "hit.approve", "hit.pay", "hit.reject"))
        return self.act(name, hit, **({"method": self.chance.choice(("cage", "table"))} if name == "hit.pay" else {}))

    def pay_envy(self) -> dict[str, Any]:
        """An envy payout is paid."""
        name = self.chance.choice([*self.house.envy, "MS-1/R-0/1/2"])
        return self.act("payout.pay", name, method=self.chance.choice(("cage", "table")))

    def decide_held(self) -> dict[str, Any]:
        """A held round is released, corrected or called off, or a settled one is undone."""
        found = self.chance.choice([*self.house.rounds, ("MS-1", "R-0")])
        name = self.chance.choice(("round.release", "round.void", "round.correct"))
        if name != "round.correct":
            return self.act(name, "/".join(found))
        message = self.round()
        self.dealt.pop()
        message["table"], message["round"] = found
        return self.act(name, "/".join(found), message=message, override=self.chance.sample(CODES, 2))

    def void_lock(self) -> dict[str, Any]:
        """A lock is taken back."""
        return self.act("lock.void", "/".join(self.chance.choice([*self.house.locks, ("MS-1", "R-0")])))


KINDS: Final = (
    History.round, History.lock, History.turn_link, History.file_link, History.change_link, History.close_link,
    History.move_table, History.adjust, History.transfer, History.step_hit, History.pay_envy, History.decide_held,
    History.void_lock,
)  # fmt: skip
WEIGHTS: Final = (30, 14, 12, 1, 5, 3, 4, 10, 6, 14, 4, 10, 4)


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
