"""What level meters should show by the movements of the ledger, beside what they were read to show.

Sources: REQUIREMENTS §8.1, R89, R102.

A level's account moves on its link's stream, event by event. What another link's event moved on it (a transfer, a link that
closed) is booked there once; this stream has an event of its own for it, whose result names the very movements.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

import msgspec

from accounting.models import Reading, ReadingNote, ReadingPhoto
from accounting.rules.accounts import LEVEL_ACCOUNTS, of_level
from accounting.statements import execute

PARTS = dict(zip(("display", "reserve", "overflow"), LEVEL_ACCOUNTS, strict=True))
"""The parts of a meter, and the kind of account that each is booked on."""

OF_REASON: dict[str, str] = {
    "contribution": "contribution", "award": "award", "envy": "award", "seed": "seed", "top_up": "seed", "overflow": "overflow",
    "correction": "adjusted", "boost": "adjusted", "malfunction": "adjusted", "over_limit": "adjusted",
    "regulator_order": "adjusted", "reserve_release": "adjusted", "revenue_booked": "adjusted", "transfer": "transfer",
    "void": "reversed", "rejection": "reversed", "payment": "paid", "unclaimed": "unclaimed",
}  # fmt: skip
"""The reasons for which what is owed on jackpots moves, and under which word reports add them up."""

# Debits and credits of all days and streams: what the account's movements come to, of one moment.
BALANCES = """
    SELECT account.owner, account.kind, sum(total.credit_cents - total.debit_cents)
    FROM accounting_account account JOIN accounting_total total ON total.account_id = account.id
    WHERE account.kind IN ('liability', 'reserve', 'overflow') GROUP BY account.owner, account.kind
"""
# The same, and the next sequence of every stream at that moment.
BALANCES_THEN = """
    SELECT NULL::bigint, account.owner, account.kind, sum(total.credit_cents - total.debit_cents)
    FROM accounting_account account JOIN accounting_total total ON total.account_id = account.id
    WHERE account.kind IN ('liability', 'reserve', 'overflow') GROUP BY account.owner, account.kind
    UNION ALL SELECT stream.id, '', '', stream.next_sequence FROM accounting_stream stream
"""
SINCE = """
    SELECT account.owner, account.kind,
        sum(CASE WHEN moved.credit_id = account.id THEN moved.amount_cents ELSE -moved.amount_cents END)
    FROM unnest(%s::bigint[], %s::bigint[]) AS place (stream_id, sequence)
    JOIN accounting_transfer moved ON moved.stream_id = place.stream_id AND moved.sequence >= place.sequence
    JOIN accounting_account account ON account.id IN (moved.debit_id, moved.credit_id)
    WHERE account.kind IN ('liability', 'reserve', 'overflow') GROUP BY account.owner, account.kind
"""
MOVED = """
    SELECT account.kind, transfer.reason, transfer.credit_id = account.id, sum(transfer.amount_cents),
        count(DISTINCT transfer.sequence)
    FROM accounting_account account
    JOIN accounting_transfer transfer ON account.id IN (transfer.debit_id, transfer.credit_id)
    WHERE account.owner = %s AND account.kind IN ('liability', 'reserve', 'overflow')
        AND transfer.stream_id = %s AND transfer.sequence > %s AND transfer.sequence <= %s
    GROUP BY 1, 2, 3
"""
BOOKED_ELSEWHERE = """
    SELECT event.sequence, event.subject, document.result FROM accounting_event event
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.sequence > %s AND event.sequence <= %s
        AND event.kind IN ('level.transfer', 'link.close')
"""
LAST_OF_DAY = """
    SELECT max(sequence) FROM accounting_event WHERE stream_id = %s AND sequence > %s AND gaming_date <= %s
"""


class Moved(NamedTuple):
    """What moved one part of a level for one reason, in one direction: whole cents, by so many events."""

    part: str
    reason: str
    is_up: bool
    cents: int
    events: int


def balances() -> dict[str, dict[str, int]]:
    """What the movements of every level come to, by LINK/LEVEL and part, in whole cents."""
    parts = {kind: part for part, kind in PARTS.items()}
    found: dict[str, dict[str, int]] = {}
    for owner, kind, cents in execute(BALANCES):
        found.setdefault(owner, dict.fromkeys(PARTS, 0))[parts[kind]] = int(cents)
    return found


class Then(NamedTuple):
    """What the movements of every level came to at a moment, and from which event of each stream on there are more."""

    balances: dict[str, dict[str, int]]
    following: dict[int, int]


def balances_then() -> Then:
    """The balances of every level with the events that they are up to, of one moment: most of the work of `balances_since`."""
    parts = {kind: part for part, kind in PARTS.items()}
    then = Then({}, {})
    for stream_id, owner, kind, number in execute(BALANCES_THEN):
        if stream_id is None:
            then.balances.setdefault(owner, dict.fromkeys(PARTS, 0))[parts[kind]] = int(number)
        else:
            then.following[stream_id] = int(number)
    return then


def balances_since(then: Then) -> dict[str, dict[str, int]]:
    """What the movements of every level come to now, by what moved since an earlier moment: quick while streams are held."""
    parts = {kind: part for part, kind in PARTS.items()}
    found = {owner: dict(cents) for owner, cents in then.balances.items()}
    for owner, kind, cents in execute(SINCE, [list(then.following), list(then.following.values())]):
        found.setdefault(owner, dict.fromkeys(PARTS, 0))[parts[kind]] += int(cents)
    return found


def movements(level: str, stream_id: int, after: int, through: int) -> list[Moved]:
    """What moved a level between two events of its link's stream, by part, reason and direction."""
    parts = {kind: part for part, kind in PARTS.items()}
    cents: Counter[tuple[str, str, bool]] = Counter()
    events: Counter[tuple[str, str, bool]] = Counter()
    for kind, reason, is_up, moved, count in execute(MOVED, [level, stream_id, after, through]):
        cents[parts[kind], reason, is_up] += int(moved)
        events[parts[kind], reason, is_up] += count
    for _, part, moved, reason in _elsewhere(level, stream_id, after, through):
        key = part, reason, moved > 0
        cents[key] += abs(moved)
        events[key] += 1
    return [Moved(*key, cents[key], events[key]) for key in sorted(cents)]


def _elsewhere(level: str, stream_id: int, after: int, through: int) -> Iterator[tuple[int, str, int, str]]:
    """What events of other streams booked on a level: by the event that this stream has of it, part, cents, reason."""
    link, _, code = level.partition("/")
    accounts = {of_level(link, code, kind): part for part, kind in PARTS.items()}
    for sequence, subject, result in execute(BOOKED_ELSEWHERE, [stream_id, after, through]):
        if subject.partition("/")[0] == link:
            continue  # booked here
        for transfer in msgspec.json.decode(result)["transfers"]:
            for side, sign in (("debit", -1), ("credit", 1)):
                if part := accounts.get(transfer[side]):
                    yield sequence, part, sign * transfer["cents"], transfer["reason"]


def booked_elsewhere(level: str, stream_id: int, after: int, through: int) -> list[tuple[int, str, int]]:
    """What events of other streams booked on a level, between two events of its own: event, part, whole cents."""
    return [(sequence, part, cents) for sequence, part, cents, _ in _elsewhere(level, stream_id, after, through)]


def net(moved: Iterable[Moved], part: str = "display") -> int:
    """What movements come to on one part, in whole cents of either sign."""
    return sum(each.cents if each.is_up else -each.cents for each in moved if each.part == part)


@dataclass(frozen=True, slots=True)
class Taken:
    """A reading on record with what was said to it. Amounts are whole cents."""

    id: int
    day: date
    level: str
    stream_id: int
    sequence: int
    method: str
    read_at: datetime
    recorded_at: datetime
    by: str
    display_cents: int
    reserve_cents: int | None
    overflow_cents: int | None
    expected_cents: int
    note: str
    photo: int | None
    explanations: tuple[ReadingNote, ...]
    signed: ReadingNote | None

    @property
    def variance_cents(self) -> int:
        """What was read more (or less) than its movements come to."""
        return self.display_cents - self.expected_cents

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to be said to it: it agrees, or was explained and signed off by somebody else."""
        return not self.variance_cents or self.signed is not None


def latest(day: date) -> dict[str, Taken]:
    """The reading of every level that counts for a gaming day."""
    found = Reading.objects.filter(day=day).order_by("level", "-id").distinct("level").prefetch_related("notes")
    return {reading.level: _taken(reading) for reading in found}


def latest_between(first: date, last: date) -> list[Taken]:
    """The readings that count for the gaming days from one to another, day by day and by level."""
    found = Reading.objects.filter(day__range=(first, last)).order_by("day", "level", "-id").distinct("day", "level")
    return [_taken(reading) for reading in found.prefetch_related("notes")]


def before(day: date, levels: Collection[str]) -> dict[str, Taken]:
    """The last reading of some levels before a gaming day."""
    found = (
        Reading.objects.filter(day__lt=day, level__in=levels)
        .order_by("level", "-day", "-id")
        .distinct("level")
        .prefetch_related("notes")
    )
    return {reading.level: _taken(reading) for reading in found}


def readings_of(day: date) -> list[Taken]:
    """All readings of a gaming day, those that others replaced among them, newest first."""
    return [_taken(each) for each in Reading.objects.filter(day=day).order_by("-id").prefetch_related("notes")]


def photo(number: int) -> ReadingPhoto | None:
    """What was handed in with readings; None where there is none of this number."""
    return ReadingPhoto.objects.filter(pk=number).first() if number < 2**63 else None


def all_readings() -> Iterable[Reading]:
    """Every reading on record, oldest first."""
    return Reading.objects.select_related("photo").order_by("id").iterator()


def last_of_day(stream_id: int, looked: int, day: date) -> int | None:
    """The last event of a stream after one of them that is booked on a gaming day or before; None where none is."""
    ((found,),) = execute(LAST_OF_DAY, [stream_id, looked, day])
    return None if found is None else int(found)


def _taken(reading: Reading) -> Taken:
    notes = sorted(reading.notes.all(), key=lambda note: note.pk)
    return Taken(
        reading.pk, reading.day, reading.level, reading.stream_id, reading.sequence, reading.method, reading.read_at,
        reading.recorded_at, reading.by, reading.display_cents, reading.reserve_cents, reading.overflow_cents,
        reading.expected_cents, reading.note, reading.photo_id,
        tuple(note for note in notes if note.what == ReadingNote.What.EXPLAINED),
        next((note for note in notes if note.what == ReadingNote.What.SIGNED), None),
    )  # fmt: skip


def expected_after(
    level: str, stream_id: int, sequence: int, head: int, balance: Mapping[str, int], part: str = "display"
) -> int:
    """What a part should show after an event, by its movements: what they come to now, less what came after it.

    `balance` is what they come to after event `head`.
    """
    return balance[part] - net(movements(level, stream_id, sequence, head), part)
