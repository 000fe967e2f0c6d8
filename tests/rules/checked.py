"""A house whose books and meters are checked after every line that it decides (SPEC §6, §9).

Every line is decided as `settle` decides it; what it brought is worked out anew from wagers and rates.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from accounting.rules.acts import ActRefused
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Decision, read_act
from jackpot.rules.meter import MILLION, Meter, opening
from jackpot.rules.parts import PARTS, account, held
from tables.rules import door, lock
from tables.rules.deciding import SHAPES, Result, RoundDecision, decide
from tables.rules.door import Refusal
from tables.rules.floor import Floor
from tables.rules.house import House, house_of
from tables.rules.lock import LockMessage
from tables.rules.locking import Lock, LockDecision

Line = dict[str, Any]
NOTHING_HELD = Meter(0)


def kind(books: str) -> str:
    """What kind of an account it is: of a level which part, a table's, or one of the property by its word."""
    first, _, rest = books.partition(":")
    return rest.partition(":")[2] if first == "level" else first


class Checked:
    """A floor's house, and what its accounts hold in whole cents by the movements so far: credits less debits."""

    def __init__(self, floor: Floor) -> None:
        meters = {link.code: {level.code: opening(level) for level in link.levels} for link in floor.links.values()}
        self.house: House = house_of(floor, meters)
        self.accounts: Counter[str] = Counter()
        for code, levels in meters.items():
            for level, meter in levels.items():
                self.accounts[account(code, level, "display")] = meter.value_cents
        self.opened_with = sum(self.accounts.values())
        self.used_up: set[tuple[str, str, str]] = set()
        self.outcomes: Counter[str] = Counter()

    def decide(self, line: Line) -> None:
        """One line as a file would hold it."""
        if "act" in line:
            try:
                decision = decide(read_act(line, SHAPES), self.house)
            except ActRefused as refused:
                self.outcomes[f"{line['act']} {refused.code}"] += 1
                return
            self.outcomes[f"{line['act']} {decision.outcome}"] += 1
        else:
            what = "lock" if "kind" in line else "round"
            cause = self.read(line)
            if cause is None:
                self.outcomes[f"{what} refused"] += 1
                return
            decision = decide(cause, self.house)
            self.outcomes[f"{what} {decision.outcome}"] += 1
        before = {code: dict(link.meters) for code, link in self.house.links.items()}
        brought = self.brought(line, decision)
        self.house.apply(decision)
        self.check(line, decision, before)
        self.check_fractions(line, decision, before, brought)

    def read(self, line: Line) -> Result | Lock | None:
        """A message as it is decided; None where the door refuses it, or its reference is used up (DECISIONS A8)."""
        is_lock = "kind" in line
        message = lock.read(line, self.house.tables) if is_lock else door.read(line, self.house.doors)
        if isinstance(message, Refusal):
            return None
        reference = (line.get("kind", "result"), message.table, message.round)
        if reference in self.used_up:
            return None
        self.used_up.add(reference)
        if isinstance(message, LockMessage):
            return Lock(message, nanoseconds(message.locked_at))
        return Result(message, nanoseconds(message.dealt_at))

    def brought(self, line: Line, decision: Decision) -> dict[tuple[str, str], tuple[int, int]]:
        """What a line should bring to each level by its wagers alone, in millionths of a cent: at its rate, to its reserve."""
        table, _, reference = line["subject"].partition("/") if "act" in line else (line["table"], "", line["round"])
        key: tuple[str, str] = (table, reference)
        lock = self.house.locks.get(key)
        left = self.house.rounds.get(key)
        if line.get("act") == "lock.void":
            assert lock is not None
            return {(lock.link, level): (-each.contributed, -each.reserve) for level, each in lock.brought.items()}
        if line.get("act") == "round.void" and left is not None and left.outcome == "settled":
            return {(left.link or "", level): (-each.contributed, -each.reserve) for level, each in left.brought}
        if not isinstance(decision, LockDecision | RoundDecision) or decision.link is None:
            return {}
        if isinstance(decision, LockDecision):
            stakes_cents = sum(seat["wagers"]["progressive"] for seat in line["seats"])
            moment = nanoseconds(line["locked_at"])
        else:
            lines = [each for seat in decision.result["seats"] for each in seat["lines"]]
            standing = [each for each in lines if each["wager"] == "progressive" and each["result"] != "void"]
            stakes_cents = sum(each["stake_cents"] for each in standing)
            posted = left.message if left is not None and left.message is not None else None
            payload = line.get("payload", line)
            sent = payload.get("dealt_at") or payload.get("message", {}).get("dealt_at")
            moment = nanoseconds(sent or (posted.dealt_at if posted is not None else ""))
            if lock is not None and lock.state == "locked":
                stakes_cents -= sum(lock.stakes.values())
                moment = lock.counts_at
        terms = self.house.links[decision.link].terms.at(moment)
        return {
            (decision.link, level.code): (stakes_cents * level.rate_ppm, stakes_cents * level.reserve_ppm)
            for level in terms.levels
        }

    def check(self, line: Line, decision: Decision, before: dict[str, Any]) -> None:
        """Opening + movements = closing for every part and account, to the millionth, and nothing below zero."""
        said = json.dumps(line)
        booked: Counter[str] = Counter()
        for debit, credit, cents, reason in decision.movements:
            self.outcomes[f"moved: {kind(debit)} to {kind(credit)}, {reason}"] += 1
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
        if isinstance(decision, RoundDecision) and decision.terms is not None and decision.terms.link is not None:
            for award in decision.result["awards"]:
                terms = decision.terms.link.level[award["level"]]
                under = f"{terms.overflow_policy}, {terms.seed_funding}, {terms.floor_policy}"
                self.outcomes[f"award of {award['share_ppm'] // 10_000} %: {under}"] += 1
        for row in decision.result["meters"]:
            meter = self.house.links[row["link"]].meters[row["level"]]
            assert (row["after_cents"], row["residual_millionths"]) == (meter.value_cents, meter.residual_millionths), (
                said
            )
            assert (row["reserve_cents"], row["overflow_cents"]) == (meter.reserve_cents, meter.overflow_cents), said

    def check_fractions(
        self, line: Line, decision: Decision, before: dict[str, Any], brought: dict[tuple[str, str], tuple[int, int]]
    ) -> None:
        """Each level changes by what was wagered and by whole cents from elsewhere, to the millionth: shown, and in reserve.

        A transfer carries fractions from level to level: there it is all of them together.
        """
        differences: Counter[tuple[str, str, bool]] = Counter()
        for code, link in self.house.links.items():
            for level, meter in link.meters.items():
                was = before.get(code, {}).get(level, NOTHING_HELD)
                wagered = brought.get((code, level), (0, 0))
                for part in PARTS:
                    differences[code, level, part == "reserve"] += held(meter, part) - held(was, part)
                for hidden in (False, True):
                    differences[code, level, hidden] -= wagered[hidden]
        for debit, credit, cents, _reason in decision.movements:
            if "contribution_expense" in (debit, credit):
                continue
            for books, sign in ((credit, 1), (debit, -1)):
                kind, _, rest = books.partition(":")
                if kind == "level":
                    named, _, part = rest.partition(":")
                    code, _, level = named.partition("/")
                    differences[code, level, part == "reserve"] -= sign * cents * MILLION
        if line.get("act") == "link.close":
            # Only here a fraction of each part may end without a booking.
            assert -6 * MILLION < sum(differences.values()) <= 0, json.dumps(line)
        elif line.get("act") == "level.transfer":
            assert sum(differences.values()) == 0, json.dumps(line)
        else:
            assert not any(differences.values()), (json.dumps(line), differences)
