"""A stretch of a stream's record as an auditor takes it away: one file, what is in it, and how each line of it is written.

The file is a zip. `pack.json` says what it is of; `events.ndjson` has one event a line, in order; `before.ndjson` what the
first of them stands on; `heads.json` the signed heads of closed days; beside them the time zone of the house, its paytables,
and the verifier. Lines are canonical JSON, so the same record makes the same bytes (SPEC §10).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import IO, Any, Final
from urllib.parse import quote

from accounting.rules.accounts import Movement
from accounting.rules.chain import canonical
from accounting.rules.heads import Signed, Unreadable, from_file, to_file

WHAT: Final = "stretch of a stream"
EDITION: Final = 1
ABOUT, EVENTS, BEFORE, HEADS, ZONE = "pack.json", "events.ndjson", "before.ndjson", "heads.json", "zone.tzif"
VERIFIER: Final = "verifier.pyz"
PAYTABLES: Final = "paytables/"
LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
"""The moment of every part: a zip has to say one, and the same record makes the same bytes."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An event of a stream with its documents: everything its hash is made of, and the transfers that it booked.

    `cause` is the message of a round or a lock as it came, of any other event what it asked for; `received_at` and `device`
    are those of a message. Where people decided about a held round, `message` is the round's and `held` why it was held.
    """

    stream: str
    sequence: int
    kind: str
    subject: str
    day: date
    original: date | None
    recorded_at: datetime
    rules: int
    cause_digest: bytes
    result_digest: bytes
    previous: bytes
    hash: bytes
    cause: bytes
    result: bytes
    transfers: tuple[Movement, ...] = ()
    received_at: datetime | None = None
    device: int | None = None
    message: bytes | None = None
    held: tuple[str, ...] = ()

    def written(self) -> dict[str, Any]:
        """The event as one line."""
        found: dict[str, Any] = {
            "stream": self.stream,
            "sequence": self.sequence,
            "kind": self.kind,
            "subject": self.subject,
            "day": self.day.isoformat(),
            "recorded_at": self.recorded_at.isoformat(),
            "rules": self.rules,
            "cause_digest": self.cause_digest.hex(),
            "result_digest": self.result_digest.hex(),
            "previous": self.previous.hex(),
            "hash": self.hash.hex(),
            "cause": self.cause.decode(),
            "result": self.result.decode(),
            "transfers": [list(each) for each in self.transfers],
        }
        if self.original is not None:
            found["original"] = self.original.isoformat()
        if self.received_at is not None:
            found |= {"received_at": self.received_at.isoformat(), "device": self.device}
        if self.message is not None:
            found |= {"message": self.message.decode(), "held": list(self.held)}
        return found


def read_event(line: Mapping[str, Any]) -> Packed:
    """The event that a line is. KeyError, TypeError, ValueError: it is none."""
    original, received, message = (line.get(key) for key in ("original", "received_at", "message"))
    return Packed(
        line["stream"],
        line["sequence"],
        line["kind"],
        line["subject"],
        date.fromisoformat(line["day"]),
        date.fromisoformat(original) if original is not None else None,
        datetime.fromisoformat(line["recorded_at"]),
        line["rules"],
        bytes.fromhex(line["cause_digest"]),
        bytes.fromhex(line["result_digest"]),
        bytes.fromhex(line["previous"]),
        bytes.fromhex(line["hash"]),
        line["cause"].encode(),
        line["result"].encode(),
        tuple(Movement(*each) for each in line["transfers"]),
        datetime.fromisoformat(received) if received is not None else None,
        line.get("device"),
        message.encode() if message is not None else None,
        tuple(line.get("held", ())),
    )


@dataclass(frozen=True, slots=True)
class Left:
    """A round from before the stretch that something in it is about: its event, and what was known of it by then.

    `meters` are the parts of each level before it, `lock` what its lock had put in, `won_on` its own gaming day; `since` are
    the events about it up to the stretch.
    """

    event: Packed
    meters: Mapping[str, Mapping[str, int]]
    lock: Mapping[str, Any] | None
    won_on: date
    since: Sequence[Packed] = ()


@dataclass(slots=True)
class Before:
    """What a stretch stands on: the editions of terms, the event just before it, and what earlier events left.

    `terms` are events of this stream and of those that a table came from or went to; `ends` is by stream the event before
    one of the stretch that also stands there; `locks` wait for their results, by table and round.
    """

    terms: list[Packed] = field(default_factory=list)
    last: Packed | None = None
    ends: list[Packed] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    locks: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)

    def lines(self) -> Iterable[dict[str, Any]]:
        """What is written of it, one thing a line."""
        for event in self.terms:
            yield {"terms": event.written()}
        for event in self.ends:
            yield {"end": event.written()}
        if self.last is not None:
            yield {"last": self.last.written()}
        for left in self.left:
            yield {
                "left": left.event.written(),
                "meters": left.meters,
                "lock": left.lock,
                "won_on": left.won_on.isoformat(),
                "since": [event.written() for event in left.since],
            }
        for (table, round_), lock in sorted(self.locks.items()):
            yield {"lock": lock, "table": table, "round": round_}


def _before(lines: Iterable[Mapping[str, Any]]) -> Before:
    found = Before()
    for line in lines:
        if "terms" in line:
            found.terms.append(read_event(line["terms"]))
        elif "end" in line:
            found.ends.append(read_event(line["end"]))
        elif "last" in line:
            found.last = read_event(line["last"])
        elif "left" in line:
            event, since = read_event(line["left"]), [read_event(each) for each in line["since"]]
            won_on = date.fromisoformat(line["won_on"])
            found.left.append(Left(event, line["meters"], line["lock"], won_on, since))
        else:
            found.locks[line["table"], line["round"]] = line["lock"]
    return found


@dataclass(frozen=True, slots=True)
class About:
    """What a pack is of: the property and where its days begin, the stream, its first and last event.

    `next_hit` and `closed_through` are as before the first event. `paytables` are the definitions that openings of the first
    version were read with.
    """

    property: str
    time_zone: str
    day_starts: str
    stream: str
    first: int
    last: int
    next_hit: int = 1
    closed_through: date | None = None
    paytables: Mapping[str, Any] = field(default_factory=dict)

    def written(self) -> dict[str, Any]:
        """The object in `pack.json`."""
        through = self.closed_through.isoformat() if self.closed_through is not None else None
        return {
            "what": WHAT,
            "edition": EDITION,
            "property": self.property,
            "time_zone": self.time_zone,
            "day_starts": self.day_starts,
            "stream": self.stream,
            "first": self.first,
            "last": self.last,
            "next_hit": self.next_hit,
            "closed_through": through,
            "paytables": self.paytables,
        }


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack that was read; its events are read line by line by whoever replays them."""

    about: About
    before: Before
    events: Sequence[bytes]
    heads: Sequence[Signed]
    zone: bytes
    paytables: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands in a pack beside its events."""

    about: About
    before: Before
    heads: list[Signed]
    zone: bytes
    paytables: Mapping[str, bytes]
    verifier: bytes

    def parts(self) -> dict[str, bytes]:
        """Its files by their names."""
        return {
            ABOUT: canonical(self.about.written()) + b"\n",
            BEFORE: _lines(self.before.lines()),
            HEADS: to_file(self.heads),
            ZONE: self.zone,
            **{f"{PAYTABLES}{name}": content for name, content in sorted(self.paytables.items())},
            VERIFIER: self.verifier,
        }


def write(file: IO[bytes], events: Iterable[Packed], beside: Callable[[], Beside]) -> None:
    """Write a pack into a file, the same bytes for the same record.

    The events come first and one by one, however many there are; what stands beside them is asked for when all have come.
    """
    with zipfile.ZipFile(file, "w") as archive:
        with archive.open(_entry(EVENTS, zipfile.ZIP_DEFLATED), "w", force_zip64=True) as lines:
            for event in events:
                lines.write(canonical(event.written()) + b"\n")
        for name, part in beside().parts().items():
            archive.writestr(_entry(name, zipfile.ZIP_DEFLATED), part, compresslevel=6)


def _lines(lines: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(canonical(line) + b"\n" for line in lines)


def pack_name(stream: str, first: int, last: int) -> str:
    """How the file of a stretch is called, so that every system takes it and no two are called alike."""
    return f"{quote(stream, safe='').replace('%', '~')}-{first}-{last}.zip"


def zipped(parts: Mapping[str, bytes], prefix: bytes = b"") -> bytes:
    """Files as one zip, in this order and with no moment of their own."""
    content = io.BytesIO()
    content.write(prefix)
    with zipfile.ZipFile(content, "a") as archive:
        for name, part in parts.items():
            archive.writestr(_entry(name, zipfile.ZIP_DEFLATED), part, compresslevel=6)
    return content.getvalue()


def _entry(name: str, compressed: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.compress_type = compressed
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


class _Passing(io.RawIOBase):
    """What a zip is written to when it goes on its way part by part."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, some: Any) -> int:
        self.waiting.append(bytes(some))
        return len(self.waiting[-1])

    def passed(self) -> bytes:
        some, self.waiting = b"".join(self.waiting), []
        return some


def bundle(packs: Iterable[tuple[str, Iterable[bytes]]], verifier: bytes) -> Iterator[bytes]:
    """Packs by their names as one zip with a verifier beside them, chunk by chunk as they come."""
    passing = _Passing()
    with zipfile.ZipFile(passing, "w") as archive:
        archive.writestr(_entry(VERIFIER, zipfile.ZIP_STORED), verifier)
        for name, chunks in packs:
            with archive.open(_entry(name, zipfile.ZIP_STORED), "w", force_zip64=True) as part:
                for chunk in chunks:
                    part.write(chunk)
                    yield passing.passed()
    yield passing.passed()


def opened(content: bytes) -> list[tuple[str, bytes]]:
    """The packs in a bundle, by their names; a file that is no bundle is one pack without a name. Unreadable: damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [name for name in archive.namelist() if name.endswith(".zip")]
            return [(name, archive.read(name)) for name in names] or [("", content)]
    except Exception:  # whatever is the matter with it, `read` says it
        return [("", content)]


def read(content: bytes) -> Pack:
    """The pack that a file is; Unreadable says what is wrong with it. Nothing of it is believed yet."""
    part = "the file"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {}
            for part in archive.namelist():
                parts[part] = archive.read(part)
        part = ABOUT
        about = _about(json.loads(parts[ABOUT]))
        part = BEFORE
        before = _before(map(json.loads, parts[BEFORE].splitlines()))
        part = HEADS
        heads = from_file(parts[HEADS])
        part = EVENTS
        events = parts[EVENTS].splitlines()
        part = ZONE
        zone = parts[ZONE]
    except (
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
        EOFError,
        zipfile.BadZipFile,
        NotImplementedError,
    ) as fault:
        raise Unreadable(f"{part}: no {WHAT}: {fault}") from None
    except Exception as fault:  # what inflating a damaged part raises is a class of zlib's own
        raise Unreadable(f"{part}: damaged: {fault}") from None
    paytables = {name.removeprefix(PAYTABLES): text for name, text in parts.items() if name.startswith(PAYTABLES)}
    return Pack(about, before, events, heads, zone, paytables)


def _about(said: Mapping[str, Any]) -> About:
    if (said["what"], said["edition"]) != (WHAT, EDITION):
        raise Unreadable(f"not a {WHAT} of edition {EDITION}")
    values = {key: value for key, value in said.items() if key not in ("what", "edition", "closed_through")}
    through = said["closed_through"]
    found = About(**values, closed_through=date.fromisoformat(through) if through is not None else None)
    numbers = (found.first, found.last, found.next_hit)
    if any(type(number) is not int for number in numbers) or not 0 <= found.first <= found.last:
        raise Unreadable("first, last and next_hit are whole numbers, the last not before the first")
    return found
