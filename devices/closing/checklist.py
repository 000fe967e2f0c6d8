"""What must be so before a gaming day is closed, looked up anew whenever somebody asks (REQUIREMENTS §8.7, R85, R86).

`done` is as it should be. `listed` may be carried over and is named, so that both who sign have seen it. `open` is not: the
day is not closed.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from accounting import reconciliation
from accounting.queries import the_property
from accounting.rules.gaming_day import began, gaming_date
from accounting.services.closed_days import StreamRow, closing_of, is_closed, streams_now, verified_through
from devices.queries import queued_until
from jackpot.hit_queries import pending
from jackpot.queries import liabilities
from tables.queries.floor import held_until

DONE: Final = "done"
LISTED: Final = "listed"
OPEN: Final = "open"
MINUTE: Final = timedelta(minutes=1)
SHOWN: Final = 31
NAMED: Final = 200
"""So many things of one kind are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the checklist. `things` are named where there are any: what, and the name to find it by."""

    code: str
    title: str
    state: str
    words: str
    things: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamLook:
    """How far a stream has come, the last event booked on the day (or before), and through which it was verified."""

    id: int
    code: str
    last: int
    last_of_day: int | None
    verified: int | None

    @property
    def is_verified(self) -> bool:
        """Whether everything that the day's closing will sign was looked at."""
        return self.last_of_day is None or (self.verified is not None and self.verified >= self.last_of_day)


@dataclass(slots=True)
class Checklist:
    """A gaming day before it is closed, or after."""

    day: date
    is_closed: bool
    began_at: datetime
    ends_at: datetime
    items: list[Item] = field(default_factory=list)
    streams: list[StreamLook] = field(default_factory=list)

    @property
    def is_ready(self) -> bool:
        """Whether nothing stands in the way of closing it."""
        return not self.is_closed and all(item.state != OPEN for item in self.items)

    @property
    def sequences(self) -> dict[str, int]:
        """What is looked at here, stream by stream: what was verified, or all there is where nothing is of the day."""
        return {
            stream.code: min(stream.last, stream.verified if stream.verified is not None else stream.last)
            for stream in self.streams
        }

    @property
    def in_the_way(self) -> list[Item]:
        """What stands in the way."""
        return [item for item in self.items if item.state == OPEN]


def span(day: date) -> tuple[datetime, datetime]:
    """The instants at which a gaming day begins and ends."""
    home = the_property()
    zone, starts = ZoneInfo(home.time_zone), home.gaming_day_starts
    return began(day, zone=zone, starts=starts), began(day + timedelta(days=1), zone=zone, starts=starts)


def today(at: datetime) -> date:
    """The gaming day of an instant."""
    home = the_property()
    return gaming_date(at, zone=ZoneInfo(home.time_zone), starts=home.gaming_day_starts)


def look(day: date, *, at: datetime) -> Checklist:
    """The checklist of a gaming day as things stand."""
    began_at, ends_at = span(day)
    found = Checklist(day, is_closed(day), began_at, ends_at)
    if found.is_closed:
        return found
    found.streams = _streams(day, streams_now())
    found.items = [
        _over(at, ends_at),
        _earlier(day),
        _queue(min(at, ends_at)),
        _held(ends_at),
        _hits(ends_at),
        _ledger(),
        _readings(day),
        _verified(found.streams),
    ]
    return found


def _streams(day: date, streams: list[StreamRow]) -> list[StreamLook]:
    through = verified_through()
    closed = closing_of(day)
    return [
        StreamLook(
            stream.id,
            stream.code,
            stream.next_sequence - 1,
            # From where an earlier day was closed: before that nothing of this day was booked.
            reconciliation.last_of_day(stream.id, closed.get(stream.id, -1), day),
            through.get(stream.id),
        )
        for stream in streams
    ]


def _over(at: datetime, ends_at: datetime) -> Item:
    if at >= ends_at:
        return Item("over", "The day is over", DONE, "by the clock")
    return Item(
        "over", "The day is over", LISTED,
        "not yet: what is dealt on it after the closing is booked on the next day, with its own date beside",
    )  # fmt: skip


def _earlier(day: date) -> Item:
    home = the_property()
    first = today(home.opened_at)
    since = home.closed_through + timedelta(days=1) if home.closed_through else first
    number = max(0, (day - since).days)
    if not number:
        return Item("earlier", "Earlier days", DONE, "all closed")
    return Item(
        "earlier", "Earlier days", LISTED, f"{number:,} earlier days are open and are closed with it, from {since}"
    )


def _queue(until: datetime) -> Item:
    waiting = queued_until(until)
    if not waiting:
        return Item("queue", "Nothing waits to be settled", DONE, "no message of the day is in a queue")
    things = tuple(f"{code}: {count:,} messages" for code, count in waiting)
    return Item("queue", "Nothing waits to be settled", OPEN, "messages of the day wait", things)


def _held(until: datetime) -> Item:
    held = held_until(until, limit=NAMED + 1)
    if not held:
        return Item("held", "Held rounds", DONE, "none is left")
    more = "at least " if len(held) > NAMED else ""
    words = f"{more}{min(len(held), NAMED):,} still held: released later, they are booked on the next open day"
    return Item("held", "Held rounds", LISTED, words, tuple(held[:NAMED]))


def _hits(until: datetime) -> Item:
    hits, number = pending(limit=NAMED)
    of_day = [hit for hit in hits if datetime.fromisoformat(str(hit["detected_at"])).astimezone(UTC) < until]
    if not of_day:
        return Item("hits", "Hits", DONE, "every hit is paid or rejected")
    words = f"{len(of_day):,} of {number:,} are carried: neither paid nor rejected, they stay payable"
    return Item("hits", "Hits", LISTED, words, tuple(f"{hit['hit']} {hit['state']}" for hit in of_day))


def _ledger() -> Item:
    levels = liabilities()
    differ = tuple(f"{level.link}/{level.level}" for level in levels if not level.agrees)
    if not differ:
        return Item("ledger", "Ledger equals meters", DONE, f"{len(levels):,} levels, to the cent")
    return Item("ledger", "Ledger equals meters", OPEN, "these levels differ: see their readings for the event", differ)


def _readings(day: date) -> Item:
    taken = reconciliation.latest(day)
    levels = [f"{level.link}/{level.level}" for level in liabilities()]
    unsettled = tuple(level for level, reading in sorted(taken.items()) if not reading.is_settled)
    if unsettled:
        words = "these differ and are not explained and signed off by somebody else"
        return Item("readings", "Readings", OPEN, words, unsettled)
    missing = [level for level in levels if level not in taken]
    if missing:
        words = (
            f"{len(levels) - len(missing):,} of {len(levels):,} levels are read; all are read by machine at the closing"
        )
        return Item("readings", "Readings", DONE, words)
    return Item("readings", "Readings", DONE, f"{len(levels):,} levels are read, none is left unexplained")


def _verified(streams: list[StreamLook]) -> Item:
    behind = tuple(
        f"{stream.code}: verified through {'nothing' if stream.verified is None else f'{stream.verified:,}'},"
        f" the day's last event is {stream.last_of_day:,}"
        for stream in streams
        if not stream.is_verified
    )
    if behind:
        return Item("verified", "Chain verified", OPEN, "not as far as the day goes", behind)
    return Item("verified", "Chain verified", DONE, "every stream, as far as the day goes")


def days_between(closed_through: date | None, first: date, today: date) -> list[date]:
    """The open gaming days of the house, newest first, the last `SHOWN` of them."""
    begins = max(first, closed_through + timedelta(days=1)) if closed_through else first
    number = (today - begins).days + 1
    return [today - timedelta(days=back) for back in range(min(number, SHOWN))]
