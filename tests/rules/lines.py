"""A file of lines in the tests: each is decided on one house, as `settle` would, and answered as it would be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from accounting.rules.acts import ActRefused
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Decision, read_act, refused_act
from jackpot.rules.meter import Meter, opening
from tables.rules import door, lock
from tables.rules.deciding import SHAPES, Result, decide
from tables.rules.door import Refusal
from tables.rules.floor import read_floor
from tables.rules.house import house_of
from tables.rules.locking import Lock

FLOOR = Path(__file__).parents[1] / "acceptance" / "floors" / "acts.toml"
# Two seats win nothing, or seat 5 makes a royal or a straight flush beside the others.
NOTHING, ROYAL, STRAIGHT_FLUSH = "4d 9h 3s", "Ts Js Qs", "7h 8h 9h"
WINNING = {ROYAL: "As Ks", STRAIGHT_FLUSH: "5h 6h"}
OTHERS = ("Jc Jh", "2c 7d", "2d 7s", "3c 8d", "4c Td", "6c Qd")


def at(clock: str) -> str:
    """A time of the evening as a moment."""
    return f"2026-11-27T{clock}:00-05:00" if len(clock) == 5 else f"2026-11-27T{clock}-05:00"


class Lines:
    """A house of the acts floor, its meters set by hand, and what was asked of it so far."""

    def __init__(self, **meters: Meter) -> None:
        floor = read_floor(FLOOR.read_text("utf-8"))
        start = {
            code: {level.code: meters.get(code, opening(level)) for level in link.levels}
            for code, link in floor.links.items()
        }
        self.house = house_of(floor, start)
        self.last: Decision | None = None

    def act(self, name: str, subject: Any, clock: str = "22:00", /, **payload: Any) -> dict[str, Any]:
        """An act's answer."""
        return self.line({"act": name, "subject": subject, "at": at(clock), "payload": payload})

    def done(self, name: str, subject: str, clock: str = "22:00", /, **payload: Any) -> dict[str, Any]:
        """An act that must be done."""
        answer = self.act(name, subject, clock, **payload)
        assert answer["outcome"] == "done", answer
        return answer

    def code(self, name: str, subject: Any, clock: str = "22:00", /, **payload: Any) -> str | tuple[str, str]:
        """Why an act is refused, with the pointer of the value at fault where there is one."""
        before = self.standing()
        answer = self.act(name, subject, clock, **payload)
        assert answer["outcome"] == "refused", answer
        assert (answer["transfers"], answer["meters"]) == ([], [])
        assert self.standing() == before, "a refused act changed something"
        return (answer["code"], answer["pointer"]) if "pointer" in answer else answer["code"]

    def standing(self) -> Any:
        """What must stay when nothing is done."""
        house = self.house
        return (
            {code: (dict(link.meters), repr(link.states), repr(link.terms)) for code, link in house.links.items()},
            {code: (repr(table.links), repr(table.opens)) for code, table in house.tables.items()},
            {name: hit.state for name, hit in house.hits.items()}
            | {name: one.state for name, one in house.envy.items()},
            {key: found.outcome for key, found in house.rounds.items()},
            {key: found.state for key, found in house.locks.items()},
        )

    def line(self, value: dict[str, Any]) -> dict[str, Any]:
        """One line's answer; the house is moved along."""
        if "act" in value:
            try:
                decision = decide(read_act(value, SHAPES), self.house)
            except ActRefused as refused:
                return refused_act(value, refused)
        elif "kind" in value:
            locking = lock.read(value, self.house.tables)
            assert not isinstance(locking, Refusal), locking
            decision = decide(Lock(locking, nanoseconds(locking.locked_at)), self.house)
        else:
            message = door.read(value, self.house.doors)
            assert not isinstance(message, Refusal), message
            decision = decide(Result(message, nanoseconds(message.dealt_at)), self.house)
        self.house.apply(decision)
        self.last = decision
        return decision.result

    def round(self, reference: str, table: str = "MS-1", clock: str = "21:14", /, **more: Any) -> dict[str, Any]:
        """The settlement of a round as `message` writes it."""
        return self.line(message(reference, table, clock, **more))

    def lock(
        self, reference: str, table: str = "MS-1", clock: str = "21:13", /, *, seats: Any = (5, 1), cents: int = 100
    ) -> dict[str, Any]:
        """The answer to a lock."""
        return self.line(locking(reference, table, clock, seats=seats, cents=cents))

    def meter(self, link: str, level: str = "major") -> Meter:
        """How a level stands."""
        return self.house.links[link].meters[level]


def locking(reference: str, table: str, clock: str, *, seats: Any = (5, 1), cents: int = 100) -> dict[str, Any]:
    """A lock message."""
    return {
        "kind": "lock", "round": reference, "table": table, "locked_at": at(clock),
        "seats": [{"seat": number, "wagers": {"progressive": cents}} for number in seats],
    }  # fmt: skip


def message(
    reference: str,
    table: str,
    clock: str,
    *,
    board: str = NOTHING,
    seats: Any = (5, 1),
    betting: Any = None,
    void: Any = (),
    dealing: Any = (),
) -> dict[str, Any]:
    """A round in which everybody plays on; `betting` are the seats with a progressive wager, all if not given."""
    others = iter(OTHERS)
    entries = []
    for number in seats:
        cards = WINNING[board] if number == 5 and board in WINNING else next(others)
        wagers = dict.fromkeys(("ante", "third_street", "fourth_street", "fifth_street"), 1000)
        if number in (seats if betting is None else betting):
            wagers["progressive"] = 100
        entries.append({"seat": number, "cards": cards.split(), "wagers": wagers})
    return {
        "round": reference, "table": table, "dealt_at": at(clock),
        "dealing": {"method": "shuffler"} | dict(dealing), "community": board.split(), "seats": entries,
        "irregularities": [
            {"code": "shoe_failed"} if number == "all" else {"code": "wrong_card_count", "seat": number} for number in void
        ],
    }  # fmt: skip


def moved(answer: dict[str, Any]) -> list[tuple[str, str, int, str]]:
    """The transfers of an answer."""
    return [(row["debit"], row["credit"], row["cents"], row["reason"]) for row in answer["transfers"]]


def contributed(answer: dict[str, Any]) -> dict[str, int]:
    """What an answer's meter rows say was contributed, in millionths of a cent by link."""
    return {row["link"]: row["contributed_millionths"] for row in answer["meters"]}
