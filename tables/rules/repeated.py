"""Deciding a packed stretch of a stream once more, with nothing but the rules: what `verifier.pyz` does (SPEC §10).

Event by event: the hash and the one before, the digests of cause and result, the result and the transfers that the rules of
its edition come to, the meters after them, the gaming day; then the signed heads. The same `decide` as on record.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from hashlib import sha256
from typing import Any, Final
from zoneinfo import ZoneInfo

from accounting.rules.accounts import Movement
from accounting.rules.acts import ActRefused
from accounting.rules.chain import GENESIS, canonical, event_hash
from accounting.rules.ed25519 import is_signed
from accounting.rules.edition import FIRST
from accounting.rules.events import INSTALLED, LOCK, MOVES, OPENED, ROUND, TERMS
from accounting.rules.gaming_day import GamingDays
from accounting.rules.heads import Signed, Statement
from accounting.rules.moments import instant_nanoseconds, nanoseconds
from jackpot.rules import between
from jackpot.rules import paytable as progressive_paytables
from jackpot.rules.decision import Act, Decision, act_of
from jackpot.rules.meter import Meter
from jackpot.rules.parts import Brought
from jackpot.rules.state import LinkState
from tables.rules import door, paytables
from tables.rules import lock as locks
from tables.rules.days import CLOSE
from tables.rules.deciding import ACTS, Result, decide, decide_result
from tables.rules.house import HELD, House, LockState, RoundState
from tables.rules.locking import Lock, decide_lock
from tables.rules.message import RoundMessage
from tables.rules.opening import first_changes, first_movements
from tables.rules.packs import About, Before, Pack, Packed, read_event
from tables.rules.precedents import meters_in, precedent

LONGEST: Final = 600


class Differs(Exception):
    """A pack is not what its events give. Says where, what was expected and what is there."""

    def __init__(self, where: str, what: str, expected: object, found: object) -> None:
        super().__init__(f"{where}: {what}: expected {_short(expected)}, found {_short(found)}")


def _short(value: object) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def same(where: str, what: str, expected: object, found: object) -> None:
    """Raise Differs unless what was found is what was expected."""
    if expected != found:
        raise Differs(where, what, expected, found)


@dataclass(slots=True)
class Checked:
    """What was looked at: `taken` are events from before the stretch, each as its own hash has it."""

    events: int = 0
    rounds: int = 0
    locks: int = 0
    acts: int = 0
    hits: int = 0
    transfers: int = 0
    moved_cents: int = 0
    taken: int = 0
    heads: int = 0
    days: int = 0
    through: int = -1
    """The last event of the stretch that a signed head covers; -1 where none does."""


@dataclass(slots=True)
class Repeated:
    """A pack without a difference: what was looked at, the last event's hash, the meters after it, the keys that signed."""

    checked: Checked
    head: bytes
    meters: Mapping[str, Mapping[str, Meter]]
    keys: Collection[bytes]


def repeat(pack: Pack, key: bytes | None = None) -> Repeated:
    """Decide a pack again from its first event to its last. Raises Differs at the first that is not as the rules give it.

    `key` is the public key (32 bytes) that every head must be signed with; None takes the one that the pack names.
    """
    again = _Again(pack)
    again.stand()
    for line in pack.events:
        again.take(line)
    again.end()
    keys = again.heads(key)
    meters = {code: dict(link.meters) for code, link in again.house.links.items()}
    return Repeated(again.checked, again.head, meters, keys)


class _Again:
    """A stretch as its events make it, from one to the next."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.about: About = pack.about
        self.before: Before = pack.before
        self.checked = Checked()
        self.house = House({}, {})
        self.sequence = self.about.first - 1
        self.head = GENESIS
        self.hashes: dict[int, tuple[bytes, str, str]] = {}
        self.days: list[date] = []
        self.where = f"stream {self.about.stream}"

    def same(self, what: str, expected: object, found: object) -> None:
        """Raise Differs unless the event in hand has what was expected."""
        if expected != found:
            raise Differs(self.where, what, expected, found)

    # What the first event stands on.

    def stand(self) -> None:
        """Make the house as it stood before the first event."""
        about, before = self.about, self.before
        self._known("what the stretch stands on", self._stand)
        published = {f"{code}.json": value for code, value in paytables.definitions().items()}
        published |= {f"{code}.json": value for code, value in progressive_paytables.definitions().items()}
        for name, content in self.pack.paytables.items():
            expected = canonical(published[name]) + b"\n" if name in published else b""
            same("the pack", f"paytable {name}", expected.decode(), content.decode(errors="replace"))
        if about.first == 0:
            same(
                "the pack",
                "hits and closed days before the first event",
                (1, None),
                (about.next_hit, about.closed_through),
            )
            return
        if before.last is None:
            raise Differs("the pack", "the event before the first one", f"event {about.first - 1}", "none")
        same(
            "the pack",
            "the event before the first one",
            (about.stream, about.first - 1),
            (before.last.stream, before.last.sequence),
        )

    def _stand(self) -> None:
        about, before = self.about, self.before
        for event in (*before.terms, *before.ends, *([before.last] if before.last else [])):
            self._itself(event)
        zone = ZoneInfo.from_file(io.BytesIO(self.pack.zone), key=about.time_zone)
        house = self._house_of(about.stream, about.first)
        house.remembers = True
        house.days = GamingDays(zone, time.fromisoformat(about.day_starts))
        house.closed_through = about.closed_through
        self.house = house
        if before.last is not None:
            self.head = before.last.hash
        link = house.links.get(about.stream)
        if link is not None:
            link.next_hit = about.next_hit
            if before.last is not None:
                link.meters.update(self._meters_of(before.last, about.stream))
        for left in before.left:
            self._itself(left.event)
            for event in left.since:
                self._itself(event)
            lock = _lock_of(left.lock).put_in if left.lock is not None else None
            meters = {level: Meter(**parts) for level, parts in left.meters.items()}
            found = precedent(left.event.sequence, json.loads(left.event.result), meters, lock, left.won_on)
            for event in left.since:
                found.take(json.loads(event.result).get("steps", []))
            found.give(house)
        house.locks.update((key, _lock_of(lock)) for key, lock in before.locks.items())

    def _house_of(self, stream: str, first: int) -> House:
        """The link and tables of a stream as its packed events before one make them."""
        house = House({}, {}, remembers=False)
        for event in self.before.terms:
            if event.stream != stream or event.kind not in TERMS:
                continue
            cause = json.loads(event.cause)
            if event.sequence >= first and not (event.kind == INSTALLED and cause["payload"].get("found")):
                continue
            if event.kind in (OPENED, *MOVES):
                house.know(cause)
                if "to" in cause and cause["to"]["stream"] == stream:
                    there = self._house_of(cause["from"]["stream"], cause["from"]["sequence"])
                    house.take(there.tables[cause["subject"]].copy())
            result = json.loads(event.result)
            if event.rules == FIRST:
                changes = first_changes(result, self.about.paytables, event.recorded_at.isoformat())
            else:
                changes = result.get("changes", [])
            house.change(changes)
        return house

    def _meters_of(self, event: Packed, link: str) -> dict[str, Meter]:
        return meters_in(json.loads(event.result).get("meters", []), link)

    def _itself(self, event: Packed) -> None:
        """An event from before the stretch is taken as it is, if it is what its own hash was made of."""
        where = self.where
        self.where = f"before the stretch: stream {event.stream}, event {event.sequence} ({event.subject})"
        self._documents(event)
        self.checked.taken += 1
        self.where = where

    def _known(self, what: str, work: Callable[[], None]) -> None:
        try:
            work()
        except (ActRefused, LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
            raise Differs(self.where, what, "something that can be decided again", repr(error)) from error

    def _documents(self, event: Packed) -> Any:
        """Compare hash and digests of an event with its documents; the value of its cause."""
        cause: Any = None
        if event.kind in (ROUND, LOCK):
            try:
                cause = door.parse(event.cause)
                digest = sha256(canonical(cause)).digest()
            except (door.InvalidJson, TypeError, ValueError) as error:
                raise Differs(self.where, "message", "JSON", repr(error)) from None
        else:
            digest = sha256(event.cause).digest()
            if event.rules != FIRST or event.kind == OPENED:
                try:
                    cause = json.loads(event.cause)
                except ValueError as error:
                    raise Differs(self.where, "cause", "JSON", repr(error)) from None
        self.same("digest of the cause", event.cause_digest, digest)
        self.same("digest of the result", event.result_digest, sha256(event.result).digest())
        expected = event_hash(
            event.previous, stream=event.stream, sequence=event.sequence, kind=event.kind, subject=event.subject,
            gaming_date=event.day, recorded_at=event.recorded_at, message_digest=event.cause_digest,
            result_digest=event.result_digest, rules=event.rules, received_at=event.received_at, device_id=event.device,
        )  # fmt: skip
        self.same("hash of the event", expected, event.hash)
        return cause

    # The events of the stretch.

    def take(self, line: bytes) -> None:
        """Decide the event of a line, and compare everything that is said of it."""
        following = self.sequence + 1
        self.where = f"stream {self.about.stream}, event {following}"
        try:
            event = read_event(json.loads(line))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Differs(self.where, "line", "an event", repr(error)) from None
        self.same(
            "stream and sequence of the next event", (self.about.stream, following), (event.stream, event.sequence)
        )
        self.where = f"stream {self.about.stream}, event {following} ({event.kind} {event.subject})"
        self.same("hash of the previous event", self.head, event.previous)
        cause = self._documents(event)
        movements: list[Movement] = []
        try:
            if event.kind == ROUND:
                movements = self._round(event, cause)
            elif event.kind == LOCK:
                movements = self._lock(event, cause)
            else:
                movements = self._act(event, cause)
        except ActRefused as refusal:
            raise Differs(self.where, "decision", "done", f"refused: {refusal.code}") from None
        except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
            raise Differs(self.where, "decision", "one that can be decided again", repr(error)) from error
        self.same("ledger transfers", tuple(map(tuple, movements)), tuple(map(tuple, event.transfers)))
        checked = self.checked
        checked.events += 1
        checked.transfers += len(movements)
        checked.moved_cents += sum(movement.amount_cents for movement in movements)
        self.hashes[following] = (event.hash, event.kind, event.subject)
        self.days.append(event.day)
        self.sequence, self.head = following, event.hash

    def end(self) -> None:
        """All events that the pack says it has were there."""
        self.where = f"stream {self.about.stream}"
        if self.sequence != self.about.last:
            raise Differs(self.where, "last event", self.about.last, f"{self.sequence}: the end is cut off or goes on")

    def _result(self, event: Packed, decision: Decision) -> None:
        encoded = canonical(decision.result)
        if encoded != event.result:
            raise Differs(self.where, "result", encoded.decode(), event.result.decode(errors="replace"))

    def _message(self, value: Any, event: Packed) -> RoundMessage:
        message = door.read(value, self.house.doors)
        if isinstance(message, door.Refusal):
            raise Differs(self.where, "message", "a round message", f"{message.code} at {message.pointer}")
        self.same("subject", f"{message.table}/{message.round}", event.subject)
        return message

    def _round(self, event: Packed, value: Any) -> list[Movement]:
        message = self._message(value, event)
        if event.received_at is None:
            raise Differs(self.where, "receipt of the message", "a moment", "none")
        received = instant_nanoseconds(event.received_at)
        moment = self.house.tables[message.table].counts_at(nanoseconds(message.dealt_at), received)
        decision = decide_result(Result(message, moment), self.house, event.rules)
        self._settled(event, decision, (message.table, message.round), moment)
        return decision.movements

    def _settled(self, event: Packed, decision: Decision, key: tuple[str, str], moment: int) -> None:
        self._result(event, decision)
        self.same("outcome", True, decision.outcome != HELD)
        lock = self.house.lock_of(*key)
        self._day(event, lock.counts_at if lock is not None else moment, event.rules)
        self.house.apply(decision)
        self.checked.rounds += 1
        self.checked.hits += len(decision.result["awards"])

    def _lock(self, event: Packed, value: Any) -> list[Movement]:
        message = locks.read(value, self.house.tables.keys()) if isinstance(value, dict) and "kind" in value else None
        if message is None or isinstance(message, door.Refusal):
            raise Differs(self.where, "message", "a lock", message)
        self.same("subject", f"{message.table}/{message.round}", event.subject)
        if event.received_at is None:
            raise Differs(self.where, "receipt of the message", "a moment", "none")
        received = instant_nanoseconds(event.received_at)
        moment = self.house.tables[message.table].counts_at(nanoseconds(message.locked_at), received)
        decision = decide_lock(Lock(message, moment), self.house)
        self.same("outcome", "locked", decision.outcome)
        self._result(event, decision)
        self._day(event, moment, event.rules)
        self.house.apply(decision)
        self.checked.locks += 1
        return decision.movements

    def _act(self, event: Packed, cause: dict[str, Any]) -> list[Movement]:
        self.checked.acts += 1
        if event.rules == FIRST:
            self.same("kind of event", OPENED, event.kind)
            self.same("result", event.cause, event.result)
            self.house.change(first_changes(cause, self.about.paytables, event.recorded_at.isoformat()))
            return first_movements(cause, self.house)
        act = act_of(cause)
        self.same("kind of event", OPENED if event.sequence == 0 else act.act, event.kind)
        self.same("subject", act.subject, event.subject)
        if act.act not in ACTS:
            raise Differs(self.where, "kind of event", "one that this version can replay", act.act)
        if event.message is not None:
            return self._of_held(event, act, cause)
        house = self.house
        house.know(cause)
        if between.KEY in cause:
            links = self._links(event, act, cause)
            decided = decide(act, replace(house, links=links, _games={}, _standing={}), event.rules)
            decision = between.share_of(decided, self.about.stream, act)
        elif act.act in MOVES:
            decision = decide(act, self._moving(event, act, cause), event.rules)
        elif act.act == CLOSE:
            decision = self._closing(event, act, cause)
        else:
            decision = decide(act, house, event.rules)
        self._result(event, decision)
        self._day(event, instant_nanoseconds(event.recorded_at), event.rules if event.rules == FIRST else None)
        house.apply(decision)
        return decision.movements

    def _of_held(self, event: Packed, act: Act, cause: dict[str, Any]) -> list[Movement]:
        """A held round that people decided: its message is named by its digest."""
        value = door.parse(event.message or b"")
        self.same("message that the cause names", cause["message"], sha256(canonical(value)).hexdigest())
        message = self._message(value, event)
        received = nanoseconds(cause["received_at"])
        key = (message.table, message.round)
        self.house.rounds[key] = RoundState(HELD, list(event.held), message, received)
        decision = decide(act, self.house, event.rules)
        if act.act == "round.correct":
            message = self._message(act.payload["message"], event)
        moment = self.house.tables[message.table].counts_at(nanoseconds(message.dealt_at), received)
        self._settled(event, decision, key, moment)
        return decision.movements

    def _links(self, event: Packed, act: Act, cause: dict[str, Any]) -> dict[str, LinkState]:
        """The links of an act between several: this stream's own as it stands, the others as the cause says they stood."""
        own = self.house.links[self.about.stream]
        found: dict[str, LinkState] = {}
        for side in cause[between.KEY]:
            if side["link"] != own.code:
                found[side["link"]] = between.link_of(side)
                continue
            expected = json.loads(canonical(between.side(own, event.sequence, act, side["paytable"])))
            for name, value in expected.items():
                self.same(f"{name} of its link that the cause names", value, side.get(name))
            terms = own.terms.at(nanoseconds(act.at))
            paytable = progressive_paytables.read(side["paytable"])
            self.same("paytable of its link that the cause has", terms.paytable, paytable)
            found[own.code] = own
        self.same("links that the cause names", sorted(between.concerned(act)), sorted(found))
        return found

    def _moving(self, event: Packed, act: Act, cause: dict[str, Any]) -> House:
        """What the move of a table is decided on: this stream's house and the other's, before the event on each."""
        here = {"stream": self.about.stream, "sequence": event.sequence}
        self.same(
            "places that the cause names", True, here in (cause["from"], cause["to"]) and cause["from"] != cause["to"]
        )
        giver, taker = (
            self.house if place == here else self._elsewhere(place) for place in (cause["from"], cause["to"])
        )
        if cause["to"] == here:
            self.house.take(giver.tables[act.subject].copy())
        return House({**giver.links, **taker.links}, {act.subject: giver.tables[act.subject]}, remembers=False)

    def _elsewhere(self, place: Mapping[str, Any]) -> House:
        house = self._house_of(place["stream"], place["sequence"])
        for event in self.before.ends:
            if (event.stream, event.sequence + 1) == (place["stream"], place["sequence"]) and place[
                "stream"
            ] in house.links:
                house.links[place["stream"]].meters.update(self._meters_of(event, place["stream"]))
        return house

    def _closing(self, event: Packed, act: Act, cause: dict[str, Any]) -> Decision:
        """The closing of a day: nothing was booked on it after it was looked at."""
        stream, day = self.about.stream, date.fromisoformat(act.subject)
        self.same("event of this stream that the cause names", cause["streams"].get(stream), event.sequence)
        looked = cause["payload"]["sequences"].get(stream, -1)
        for place, booked in enumerate(self.days, self.about.first):
            if place > looked and booked <= day:
                raise Differs(
                    self.where, f"events of {day} after the {looked} that was looked at", "none", f"event {place}"
                )
        if event.day <= day:
            raise Differs(self.where, "gaming day it is booked on", f"one after {day}, which it closes", event.day)
        house = self.house
        house.remembers = False  # it knows of this stream only, where a file's house knows of all
        try:
            return decide(act, house, event.rules)
        finally:
            house.remembers = True

    def _day(self, event: Packed, moment: int, rules: int | None) -> None:
        """An event is booked on its own gaming day, or on a later one because that was closed."""
        days, closed = self.house.days, self.house.closed_through
        assert days is not None, "a stretch has its days"
        own = days.of(moment) if rules is None else days.of(moment, rules=rules)
        self.same("gaming day", own, event.original or event.day)
        if closed is not None and event.day <= closed:
            raise Differs(self.where, "gaming day it is booked on", f"one after {closed}, which is closed", event.day)
        if event.original is not None and not event.day > event.original:
            raise Differs(self.where, "gaming day it was moved to", f"a day after {event.original}", event.day)

    # What is signed.

    def heads(self, key: bytes | None) -> set[bytes]:
        """Compare the signed heads with the events; the keys that signed them."""
        previous: Statement | None = None
        signed: set[int] = set()
        for day in self.pack.heads:
            statement = day.statement
            self.where = f"signed head of gaming day {statement.day}"
            if key is not None:
                self.same("key that signed it", key, day.public_key)
            self.same("property", self.about.property, statement.property)
            self._signed(day)
            if previous is not None and statement.number == previous.number + 1:
                self.same("digest of the statement before", previous.digest(), statement.previous)
            elif previous is not None:
                self.same("number of the closing", previous.number + 1, statement.number)
            previous = statement
            self.checked.days += 1
            for head in statement.heads:
                if head.stream == self.about.stream:
                    self._covers(statement, head.sequence, head.hash)
                    signed.add(head.sequence)
        self.where = f"stream {self.about.stream}"
        for sequence, (_, kind, subject) in self.hashes.items():
            if kind == CLOSE and sequence not in signed:
                self.same(f"signed head of event {sequence}, which closed gaming day {subject}", "one", "none")
        return {day.public_key for day in self.pack.heads}

    def _covers(self, statement: Statement, sequence: int, hash_: bytes) -> None:
        if sequence > self.about.last:
            raise Differs(self.where, f"event {sequence}", "one", f"none: the pack ends with event {self.about.last}")
        if sequence < self.about.first:
            raise Differs(
                self.where, f"event {sequence}", "one", f"none: the pack begins with event {self.about.first}"
            )
        expected = (hash_, CLOSE, statement.day.isoformat())
        found = self.hashes[sequence]
        self.same(f"hash of event {sequence}", expected[0], found[0])
        self.same(f"kind and day of event {sequence}", expected[1:], found[1:])
        self.checked.through = max(self.checked.through, sequence)

    def _signed(self, day: Signed) -> None:
        key = day.public_key
        if not is_signed(day.statement.encoded(), day.signature, key):
            raise Differs(self.where, "signature", f"one by key {key.hex()}", day.signature)
        for head in day.statement.heads:
            signature = day.heads.get(head.stream, b"")
            if not is_signed(day.statement.of_head(head), signature, key):
                raise Differs(self.where, f"signature of stream {head.stream}", f"one by key {key.hex()}", signature)
            self.checked.heads += 1


def _lock_of(kept: Mapping[str, Any]) -> LockState:
    """A lock that waits, as it is kept for its round's result."""
    return LockState(
        kept["counts_at"],
        kept["link"],
        {int(seat): cents for seat, cents in kept["stakes"].items()},
        {level: Brought(*brought) for level, brought in kept["brought"].items()},
    )
