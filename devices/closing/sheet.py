"""The daily meter reading and reconciliation, level by level (REQUIREMENTS §8.1, R85-R89, R94, R102)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Final

from accounting import reconciliation
from accounting.event_queries import recorded_from
from accounting.queries import stream_ids
from accounting.reconciliation import Moved, Taken, net
from accounting.rules.acts import ActRefused, escaped
from accounting.services import closed_days, readings
from accounting.services.closed_days import streams_now
from accounting.services.readings import Photo, Shown, Typed
from accounting.slips.queries import numbers_of
from accounting.statements import of_one_moment
from devices.closing.checklist import span
from jackpot.hits_on_record import hits_between
from jackpot.queries import links_with_terms
from jackpot.rules.hits import hit_name
from jackpot.services import meters
from tables.queries.payouts import place_of_level
from tables.queries.statistics import progressive_stakes
from tables.queries.worth import percent

COLUMNS: Final = (
    ("contribution", "Contributions"),
    ("award", "Awards"),
    ("seed", "Seed in"),
    ("overflow", "Carried in"),
    ("adjusted", "Adjusted"),
    ("transfer", "Transfers"),
    ("reversed", "Reversed"),
)
"""Movements of the display as the sheet adds them up: what a reason is shown under is `OF_REASON`."""
ALWAYS: Final = 3
"""So many of them are there on a day without any, too."""
OF_REASON: Final[Mapping[str, str]] = reconciliation.OF_REASON | {"payment": "reversed", "unclaimed": "adjusted"}


@dataclass(frozen=True, slots=True)
class Line:
    """A level on the sheet, in whole cents: from the reading before over its movements to what it should show, and shows."""

    level: str
    link: str
    stream_id: int
    rate_ppm: int
    reserve_ppm: int
    prior: Taken | None
    opening_cents: int
    through: int
    moved: tuple[Moved, ...]
    expected_cents: int
    reserve_cents: int
    overflow_cents: int
    reading: Taken | None

    @property
    def columns(self) -> list[int]:
        """The movements of the display, in the order of the sheet's columns."""
        sums: defaultdict[str, int] = defaultdict(int)
        for each in self.moved:
            if each.part == "display":
                sums[OF_REASON.get(each.reason, "adjusted")] += each.cents if each.is_up else -each.cents
        return [sums[name] for name, _ in COLUMNS]

    def shown(self, columns: Collection[int]) -> list[int]:
        """Some of the columns, by their places."""
        return [self.columns[place] for place in columns]

    @property
    def variance_percent(self) -> str:
        """The variance in percent of what it should show; n/a where that is nothing (R94)."""
        if self.reading is None:
            return ""
        if not self.reading.expected_cents:
            return "n/a" if self.reading.variance_cents else "0.0000 %"
        return percent(Fraction(self.reading.variance_cents, self.reading.expected_cents))


@dataclass(frozen=True, slots=True)
class Played:
    """What was played for a level since its prior reading: progressive wagers that stand, whole cents, hits with their slips.

    Wagers are None where there are too many events to count them on a page.
    """

    wagers: int | None
    wagered_cents: int | None
    hits: tuple[str, ...]
    slips: tuple[str, ...]


MOST_COUNTED: Final = 50_000
"""Events of a stretch whose wagers a page counts; reports count any."""


def played(found: Iterable[Line], *, most: int | None = None) -> Iterator[Played]:
    """What was played for each line up to its reading, or as it stands, in their order."""
    wagered: dict[tuple[int, int, int], tuple[int | None, int | None]] = {}
    for line in found:
        stretch = line.stream_id, line.prior.sequence if line.prior else -1, line.through
        if stretch not in wagered:
            too_long = most is not None and stretch[2] - stretch[1] > most
            wagered[stretch] = (None, None) if too_long else progressive_stakes(*stretch)
        hits = [
            hit
            for hit in hits_between(stretch[0], stretch[1] + 1, stretch[2])
            if f"{line.link}/{hit.level.code}" == line.level
        ]
        places = [place for hit in hits if (place := place_of_level(stretch[0], hit.sequence, hit.seat))]
        names = tuple(hit_name(line.link, hit.number) for hit in hits)
        yield Played(*wagered[stretch], names, tuple(sorted(numbers_of(places).values())))


def lines(day: date, *, at: datetime) -> list[Line]:
    """Every level of the house on a gaming day: up to its reading where there is one, else as it stands."""
    with of_one_moment():
        return _lines(day, at)


def _lines(day: date, at: datetime) -> list[Line]:
    taken = reconciliation.latest(day)
    terms = {f"{link['code']}/{level['code']}": level for link in links_with_terms(at=at) for level in link["levels"]}
    ids = stream_ids({level.partition("/")[0] for level in terms})
    heads = {stream.id: stream.next_sequence - 1 for stream in streams_now()}
    balances = reconciliation.balances()
    prior = reconciliation.before(day, list(terms))
    found = []
    for name, level in terms.items():
        link = name.partition("/")[0]
        stream_id = ids[link]
        reading, before = taken.get(name), prior.get(name)
        after = before.sequence if before else -1
        through = reading.sequence if reading else heads[stream_id]
        moved = tuple(reconciliation.movements(name, stream_id, after, through))
        balance = balances.get(name, dict.fromkeys(reconciliation.PARTS, 0))
        since = reconciliation.movements(name, stream_id, through, heads[stream_id])
        opening = before.display_cents if before else 0
        found.append(
            Line(
                level=name, link=link, stream_id=stream_id, rate_ppm=level["rate_ppm"], reserve_ppm=level["reserve_ppm"],
                prior=before, opening_cents=opening, through=through, moved=moved, expected_cents=opening + net(moved),
                reserve_cents=balance["reserve"] - net(since, "reserve"),
                overflow_cents=balance["overflow"] - net(since, "overflow"),
                reading=reading,
            )
        )  # fmt: skip
    return found


def columns_of(found: Iterable[Line]) -> list[int]:
    """The places of the columns that say something: contributions, awards and seeds always, others where a level has any."""
    moved = [any(column) for column in zip(*(line.columns for line in found), strict=True)]
    return [place for place, any_of_it in enumerate(moved or [False] * len(COLUMNS)) if any_of_it or place < ALWAYS]


def read_by_machine(day: date, *, at: datetime, by: str) -> int:
    """Put on record what every meter shows now: how many levels. ActRefused for a day that has not begun or is closed."""
    _may_be_read(day, at)
    with of_one_moment():
        streams = {stream.id: stream for stream in streams_now()}
        shown = [
            Shown(
                f"{streams[stream_id].code}/{level}", stream_id, streams[stream_id].next_sequence - 1,
                meter.value_cents, meter.reserve_cents, meter.overflow_cents,
            )
            for stream_id, found in meters.of_every_link().items()
            for level, meter in found.items()
        ]  # fmt: skip
        expected = {level: parts["display"] for level, parts in reconciliation.balances().items()}
    return len(readings.read_by_machine(day, shown, expected, at=at, by=by))


def read_by_hand(
    day: date,
    typed: Mapping[str, int],
    *,
    read_at: datetime,
    at: datetime,
    by: str,
    note: str = "",
    origin: str = "",
    photo: Photo | None = None,
) -> int:
    """Put on record what a person read of some levels (LINK/LEVEL, whole cents) at a moment: how many.

    Each is compared with what the level's movements come to after the last event that was recorded by then. ActRefused
    `invalid_value` for an unknown level, an amount below zero, a moment that is still to come or before the day began.
    """
    _may_be_read(day, at)
    if not typed:
        raise ActRefused("missing_field", "/readings", "no level was read")
    began_at, _ = span(day)
    if not began_at <= read_at <= at:
        raise ActRefused(
            "invalid_value", "/read_at", "a moment of the gaming day or after it, and not to come, is expected"
        )
    if len(note) > readings.LONGEST:
        raise ActRefused("invalid_value", "/note", f"a note of {readings.LONGEST} characters at most is expected")
    with of_one_moment():
        found = _compared(typed, read_at, note)
    readings.read_by_hand(day, found, read_at=read_at, at=at, by=by, origin=origin, photo=photo)
    return len(found)


def _compared(typed: Mapping[str, int], read_at: datetime, note: str) -> list[Typed]:
    balances = reconciliation.balances()
    ids = stream_ids({level.partition("/")[0] for level in typed})
    heads = {stream.id: stream.next_sequence - 1 for stream in streams_now()}
    found = []
    for level, cents in typed.items():
        pointer = f"/readings/{escaped(level)}"
        if level not in balances or level.partition("/")[0] not in ids:
            raise ActRefused("invalid_value", pointer, f"there is no level {level}")
        if type(cents) is not int or not 0 <= cents < 10**15:
            raise ActRefused("invalid_value", pointer, f"the reading of {level}: whole cents, 0 at least, are expected")
        stream_id = ids[level.partition("/")[0]]
        sequence = recorded_from(stream_id, read_at) - 1
        if sequence < 0:
            raise ActRefused("invalid_value", "/read_at", f"there was no level {level} at that moment")
        expected = reconciliation.expected_after(level, stream_id, sequence, heads[stream_id], balances[level])
        found.append(Typed(level, stream_id, sequence, cents, expected, note))
    return found


def _may_be_read(day: date, at: datetime) -> None:
    began_at, _ = span(day)
    if at < began_at:
        raise ActRefused("wrong_state", detail=f"gaming day {day} has not begun")
    if closed_days.is_closed(day):
        raise ActRefused("wrong_state", detail=f"gaming day {day} is closed: its readings are on record")


def shown(line: Line) -> dict[str, Any]:
    """A line of the sheet as the API shows it; amounts are whole cents."""
    reading = line.reading
    return {
        "level": line.level,
        "prior_cents": line.opening_cents,
        "movements": [
            {
                "part": each.part,
                "reason": each.reason,
                "cents": each.cents if each.is_up else -each.cents,
                "events": each.events,
            }
            for each in line.moved
        ],
        "expected_cents": reading.expected_cents if reading else line.expected_cents,
        "reading": None
        if reading is None
        else {
            "id": reading.id,
            "cents": reading.display_cents,
            "variance_cents": reading.variance_cents,
            "variance_percent": line.variance_percent,
            "method": reading.method,
            "read_at": reading.read_at,
            "by": reading.by,
            "note": reading.note,
            "explanations": [{"by": note.by, "at": note.at, "text": note.text} for note in reading.explanations],
            "signed_off_by": reading.signed.by if reading.signed else None,
        },
    }
