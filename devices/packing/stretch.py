"""What an auditor takes away: a stretch of a stream as one file, with the verifier in it (SPEC §10).

Everything is read by key, some events at a time; nothing is locked. What is written is what the record holds, whatever that
is: whether it is right is for the verifier to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from zoneinfo import TZPATH

import msgspec
from django.db import transaction

from accounting.day_queries import closed_before
from accounting.event_queries import acts_about, documented
from accounting.queries import stream_ids, stream_row, the_property
from accounting.rules.accounts import Movement
from accounting.rules.chain import canonical
from accounting.rules.edition import FIRST
from accounting.rules.events import INSTALLED, LOCK, MOVES, OPENED, ROUND, TERMS
from accounting.rules.heads import Signed
from accounting.services.closed_days import signed_days
from accounting.services.ledger import account_ids
from devices.audit import locks
from devices.audit.rows import Chunk, Recorded
from jackpot.hits_on_record import next_hit_before, open_hits
from jackpot.rules import paytable as progressive_paytables
from jackpot.services.standing import paytable_definitions
from tables.queries.record import held_for
from tables.rules import packs, paytables
from tables.rules.packs import About, Before, Beside, Left, Packed
from tables.rules.precedents import OF_THE_PAST
from tables.services import lock_rows, precedents, terms

CHUNK = 500
"""Events that are read and held at a time."""
READ_AT_ONCE = 256 * 1024
CLOSE_LINK = "link.close"


class NotPacked(ValueError):
    """What was asked for cannot be packed; the words say which value is at fault and why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A stretch of a stream: its first event and its last."""

    stream_id: int
    code: str
    first: int
    last: int


def wanted(stream: str, first: int | None = None, last: int | None = None) -> Wanted:
    """The stretch that somebody asks for; left out, from the opening to the last event on record. Raises NotPacked."""
    found = stream_ids([stream]).get(stream)
    if found is None:
        raise NotPacked(f"stream: there is no stream {stream}")
    following = stream_row(found)[2]
    first = 0 if first is None else first
    last = following - 1 if last is None else last
    if first < 0:
        raise NotPacked("from: 0, the opening of the stream, is its first event")
    if last >= following:
        raise NotPacked(f"to: the last event of stream {stream} is {following - 1:,}")
    if first > last:
        raise NotPacked(f"from: event {first:,} comes after event {last:,}, where the pack is to end")
    return Wanted(found, stream, first, last)


def _nobody(done: int) -> None:
    """Nobody watches."""


def pack(stretch: Wanted, advance: Callable[[int], None] = _nobody) -> bytes:
    """The stretch as the bytes of its file, the same for the same record."""
    return b"".join(packed(stretch, advance))


def packed(stretch: Wanted, advance: Callable[[int], None] = _nobody) -> Iterator[bytes]:
    """The same in chunks; `advance` is told how many events more are in it.

    It is written into a file without a name before its first chunk comes, so a long stretch is never held.
    """
    with TemporaryFile() as file:
        _write(file, stretch, advance)
        file.seek(0)
        while chunk := file.read(READ_AT_ONCE):
            yield chunk


@transaction.atomic
def _write(file: IO[bytes], stretch: Wanted, advance: Callable[[int], None]) -> None:
    reading = _Reading()
    acts: list[Packed] = []

    def events() -> Iterator[Packed]:
        """All of them, and note those of people: rounds and locks name nothing of the past."""
        done = 0
        for event in reading.between(stretch.stream_id, stretch.code, stretch.first, stretch.last):
            if event.kind not in (ROUND, LOCK):
                acts.append(event)
            yield event
            done += 1
            if done % CHUNK == 0:
                advance(CHUNK)
        advance(done % CHUNK)

    packs.write(file, events(), lambda: _beside(stretch, acts, reading))


def _beside(stretch: Wanted, acts: list[Packed], reading: _Reading) -> Beside:
    before = _before(stretch, acts, reading)
    home = the_property()
    about = About(
        property=home.code,
        time_zone=home.time_zone,
        day_starts=home.gaming_day_starts.isoformat(),
        stream=stretch.code,
        first=stretch.first,
        last=stretch.last,
        next_hit=next_hit_before(stretch.stream_id, stretch.first),
        closed_through=closed_before(stretch.stream_id, stretch.first),
        paytables=_first_paytables([*before.terms, *acts[:1]]),
    )
    named = _paytables([*before.terms, *(event for event in acts if event.kind in TERMS)])
    return Beside(about, before, _heads(stretch), _zone(home.time_zone), named, verifier())


class _Reading:
    """Reading events with all that belongs to them."""

    def __init__(self) -> None:
        self._accounts = {account_id: code for code, account_id in account_ids().items()}

    def between(self, stream_id: int, code: str, first: int, last: int) -> Iterator[Packed]:
        """Some events of a stream in a row."""
        in_force = terms.of_stream(stream_id, stream_row(stream_id)[4])
        for start in range(first, last + 1, CHUNK):
            end = min(start + CHUNK - 1, last)
            chunk, began = Chunk(stream_id, start, end), locks.of_range(stream_id, start, end, in_force).began
            for row in chunk.events:
                event = Recorded._make(row)
                yield self._packed(code, event, began.get(event.sequence), chunk.transfers.of(event.sequence))

    def at(self, stream_id: int, code: str, sequences: Iterable[int]) -> list[Packed]:
        """Some events of a stream, without what they booked: what they say of earlier ones is all that is asked of them."""
        found = (next(self.between(stream_id, code, each, each), None) for each in sorted(set(sequences)))
        return [replace(event, transfers=()) for event in found if event is not None]

    def _packed(self, code: str, event: Recorded, lock: locks.LockRow | None, transfers: list[Any]) -> Packed:
        cause, result = event.cause, event.result
        came: Recorded | locks.LockRow | None = None
        message: bytes | None = None
        held: tuple[str, ...] = ()
        if event.kind == ROUND:
            cause, result, came = event.raw, event.settlement, event
        elif event.kind == LOCK and lock is not None:
            cause, result, came = lock.raw, lock.result, lock
        elif event.message_id is not None:
            message, held = event.raw, tuple(held_for(event.message_id) or ())
        return Packed(
            code, event.sequence, event.kind, event.subject, event.day, event.original, event.recorded_at, event.rules,
            bytes(event.message_digest), bytes(event.result_digest), bytes(event.previous), bytes(event.hash),
            bytes(cause or b""), bytes(result or b""),
            tuple(
                Movement(self._accounts[debit], self._accounts[credit], cents, reason)
                for _, _, debit, credit, cents, reason in transfers
            ),
            came.received_at if came is not None else None,
            came.device_id if came is not None else None,
            bytes(message) if message is not None else None,
            held,
        )  # fmt: skip


def _before(stretch: Wanted, events: list[Packed], reading: _Reading) -> Before:
    """What the first event of a stretch stands on, and what these events of it name of the past."""
    stream_id, first = stretch.stream_id, stretch.first
    known: dict[str, set[int]] = {}
    _editions(stretch.code, first, known)
    ends: set[tuple[str, int]] = set()
    for event in events:
        if event.kind in (OPENED, *MOVES) and event.rules != FIRST:
            cause = msgspec.json.decode(event.cause)
            for place in (cause.get("from"), cause.get("to")):
                if place is not None and place["stream"] != stretch.code:
                    _editions(place["stream"], place["sequence"], known)
                    if place["sequence"]:
                        ends.add((place["stream"], place["sequence"] - 1))
    ids = stream_ids([*known, *(stream for stream, _ in ends)])
    found = Before()
    for code in sorted(known):
        found.terms += reading.at(ids[code], code, known[code])
    for code, sequence in sorted(ends):
        found.ends += reading.at(ids[code], code, [sequence])
    if first:
        (found.last,) = reading.at(stream_id, stretch.code, [first - 1])
        found.left = [_left(stretch, sequence, reading) for sequence in _places(stretch, events)]
        waiting = lock_rows.waiting(stream_id, before=first)
        found.locks = {key: msgspec.json.decode(lock_rows.put_in(lock)) for key, lock in waiting.items()}
    return found


def _editions(code: str, before: int, known: dict[str, set[int]]) -> None:
    """Note the events that the terms of a stream are folded from before one of its events, other streams' included."""
    ids = stream_ids([code])
    if code not in ids:
        return
    mine = known.setdefault(code, set())
    for event in documented(ids[code], TERMS):
        cause = {} if event.rules == FIRST else msgspec.json.decode(event.cause)
        found = event.kind == INSTALLED and cause.get("payload", {}).get("found")
        if (event.sequence < before or found) and event.sequence not in mine:
            mine.add(event.sequence)
            if cause.get("to", {}).get("stream") == code:
                _editions(cause["from"]["stream"], cause["from"]["sequence"], known)


def _places(stretch: Wanted, events: list[Packed]) -> list[int]:
    """The rounds from before a stretch that its events are about, by their sequence; where a link closes, of its open hits."""
    subjects = [(event.kind, event.subject) for event in events if event.kind in OF_THE_PAST]
    if any(event.kind == CLOSE_LINK for event in events):
        subjects += [("hit.verify", hit.name) for hit in open_hits(stretch.stream_id, stretch.first)]
    places = {precedents.place_of(kind, subject) for kind, subject in subjects}
    return sorted(
        place[1] for place in places if place is not None and place[0] == stretch.stream_id and place[1] < stretch.first
    )


def _left(stretch: Wanted, sequence: int, reading: _Reading) -> Left:
    stream_id, code = stretch.stream_id, stretch.code
    (event,) = reading.at(stream_id, code, [sequence])
    settled = msgspec.json.decode(event.result)
    rows = settled["meters"]
    meters = precedents.meters_before(stream_id, sequence, rows[0]["link"]) if rows else {}
    subjects = precedents.at(stream_id, sequence, before=stretch.first).subjects()
    about = acts_about(stream_id, subjects, sorted(OF_THE_PAST), before=stretch.first)
    since = reading.at(stream_id, code, (each.sequence for each in about))
    kept = lock_rows.put_in_at(stream_id, sequence)
    return Left(
        event,
        {level: meter._asdict() for level, meter in meters.items()},
        msgspec.json.decode(kept) if kept is not None else None,
        event.original or event.day,
        since,
    )


def _first_paytables(events: list[Packed]) -> dict[str, Any]:
    """The paytables that openings of the first version were read with; none where there is none of those."""
    return paytable_definitions() if any(event.rules == FIRST for event in events) else {}


def _heads(stretch: Wanted) -> list[Signed]:
    """The closed days whose event on this stream lies in the stretch; they follow one another."""
    return [
        day
        for day in signed_days()
        if any(
            head.stream == stretch.code and stretch.first <= head.sequence <= stretch.last
            for head in day.statement.heads
        )
    ]


def _zone(name: str) -> bytes:
    """The rules of a time zone as their file has them, so that the verifier needs none of the machine it runs on."""
    folders = [Path(folder) for folder in TZPATH]
    if find_spec("tzdata") is not None:
        folders.append(Path(str(files("tzdata") / "zoneinfo")))
    for folder in folders:
        if (folder / name).is_file():
            return (folder / name).read_bytes()
    raise NotPacked(f"the time zone {name} of the house has no file on this machine")


def _paytables(events: Iterable[Packed]) -> dict[str, bytes]:
    """The published paytables that the terms of a stretch name, each as one line of canonical JSON."""
    published = {**paytables.definitions(), **progressive_paytables.definitions()}
    said = b"".join(event.cause + event.result for event in events)
    return {
        f"{code}.json": canonical(definition) + b"\n"
        for code, definition in sorted(published.items())
        if f'"{code}"'.encode() in said
    }


RULES = ("accounting", "jackpot", "tables")
"""The apps whose rules decide."""
DATA = ("accounting/terms/unclaimed.toml", "jackpot/paytables/*.toml", "tables/paytables/*.toml")
MAIN = b"import sys\n\nfrom tables.verifier import main\n\nsys.exit(main(sys.argv[1:]))\n"


@cache
def verifier() -> bytes:
    """The verifier as a Python zipapp: the rules as they run here, their data, and nothing else."""
    root = Path(__file__).parents[2]
    found = [root / app / "__init__.py" for app in RULES]
    for app in RULES:
        found += (root / app / "rules").rglob("*.py")
    found.append(root / "tables" / "verifier.py")
    for data in DATA:
        found += root.glob(data)
    parts = {str(file.relative_to(root)): file.read_bytes() for file in sorted(found)}
    return packs.zipped({"__main__.py": MAIN, **parts}, prefix=b"#!/usr/bin/env python3\n")
