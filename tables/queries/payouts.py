"""The payout history: filters, keyset pages, and how one payout was reached (CONTRACT §5, SPEC §10)."""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from accounting.queries import the_property
from accounting.rules.gaming_day import began
from accounting.rules.parameters import BadParameter, Parameters
from accounting.slips.queries import numbers_of, place_of_slip
from accounting.statements import Row, execute
from tables.models import Payout

COLUMNS = (
    "id", "round", "table", "link", "level", "seat", "hand", "kind", "cents", "state", "slip", "dealt_at", "counts_at",
    "gaming_date",
)  # fmt: skip
MOST = 1_000
MANY_AT_ONCE = 2_000
STATES = ("detected", "verified", "approved", "owed", "paid", "rejected", "cancelled", "unclaimed", "remitted", "void")


# A fixed pay is paid at the table with the round, and handed back where that was voided. What a level owes walks the steps
# of its hit, which is the only one of its seat in a round; envy is owed until it is paid itself or cancelled.
STATE = """
    CASE payout.kind WHEN 'level' THEN (
        SELECT step.state FROM jackpot_hit hit
        JOIN jackpot_link won ON won.id = hit.link_id AND won.stream_id = payout.stream_id
        JOIN jackpot_hitstep step ON step.hit_id = hit.id
        WHERE hit.sequence = payout.sequence AND hit.seat = payout.seat ORDER BY step.id DESC LIMIT 1)
    WHEN 'envy' THEN coalesce((
        SELECT ended.state FROM tables_envyend ended WHERE ended.stream_id = payout.stream_id
            AND ended.sequence = payout.sequence AND ended.line = payout.line), (
        SELECT 'unclaimed' FROM tables_envyunclaimed waits WHERE waits.stream_id = payout.stream_id
            AND waits.sequence = payout.sequence AND waits.line = payout.line), 'owed')
    ELSE CASE WHEN EXISTS (
        SELECT FROM tables_voidedround voided WHERE voided.stream_id = payout.stream_id
            AND voided.sequence = payout.sequence) THEN 'void' ELSE 'paid' END END
"""
# Which payouts: of one table alone, so that it is planned in no time for the very values that are asked.
FIND = """
    SELECT payout.stream_id, payout.sequence, payout.line, payout.table_id, payout.level_id, payout.seat, payout.hand,
        payout.kind, payout.cents, payout.dealt_at, payout.counts_at, payout.gaming_date
    FROM tables_payout payout
"""
KEY = ("payout.counts_at", "payout.stream_id", "payout.sequence", "payout.line")
BY_KEY = """
    WHERE payout.stream_id = (SELECT id FROM accounting_stream WHERE code = %s)
        AND payout.sequence = %s AND payout.line = %s
"""
# What they are called, in the order they come in. The round is a look-up by key of its own, which no plan made while
# the history was short can turn into reading all rounds.
NAME = f"""
    SELECT stream.code, (SELECT round.reference FROM tables_round round
            WHERE round.stream_id = payout.stream_id AND round.sequence = payout.sequence),
        tabl.code, link.code, level.code, {STATE}
    FROM unnest((SELECT %s::bigint[]), (SELECT %s::bigint[]), (SELECT %s::smallint[]), (SELECT %s::bigint[]),
            (SELECT %s::bigint[]), (SELECT %s::smallint[]), (SELECT %s::text[]))
        WITH ORDINALITY AS payout (stream_id, sequence, line, table_id, level_id, seat, kind, place)
    JOIN accounting_stream stream ON stream.id = payout.stream_id
    JOIN tables_table tabl ON tabl.id = payout.table_id
    LEFT JOIN jackpot_level level ON level.id = payout.level_id
    LEFT JOIN jackpot_link link ON link.id = level.link_id
    ORDER BY payout.place
"""
SLIPPED = ("level", "envy")
"""The kinds of payouts that slips are made for; the table pays the others with the round."""
NAMED = (0, 1, 2, 3, 4, 5, 7)  # the columns of FIND that NAME takes


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the history: what it goes by, which way, and what a cursor of it holds."""

    by: tuple[str, ...]
    falls: bool
    key: type[tuple[Any, ...]]

    @property
    def clause(self) -> str:
        """The ORDER BY."""
        way = " DESC" if self.falls else ""
        return " ORDER BY " + ", ".join(column + way for column in self.by)

    @property
    def beyond(self) -> str:
        """What lies beyond a cursor."""
        return f"({', '.join(self.by)}) {'<' if self.falls else '>'} ({', '.join('%s' for _ in self.by)})"


NEWEST = Order(KEY, True, tuple[str, int, int, int])
ORDERS = {
    "newest": NEWEST,
    "oldest": Order(KEY, False, NEWEST.key),
    "largest": Order(("payout.cents", *KEY), True, tuple[int, str, int, int, int]),
}


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the history, newest first unless `sort` asks otherwise; `next` is the cursor of the one after."""

    items: list[dict[str, Any]]
    next: str | None


def page(filters: Mapping[str, str], *, limit: int = 100) -> Page:
    """A page of payouts. BadParameter names the filter at fault."""
    given = asked(filters)
    order = ORDERS[given.choice("sort", tuple(ORDERS)) or "newest"]
    where, values = _where(given, order)
    rows = execute(f"{FIND}{where}{order.clause} LIMIT %s", [*values, limit + 1])
    return Page(_named(rows[:limit]), _cursor(rows[limit - 1], order) if len(rows) > limit else None)


def asked(filters: Mapping[str, str]) -> Parameters:
    """The filters that are not empty; BadParameter for one that there is not."""
    for name in filters:
        if name not in FILTERS:
            raise BadParameter(name, f"no such filter; there are {', '.join(FILTERS)}")
    return Parameters({name: text for name, text in filters.items() if text})


def every(filters: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """All payouts that match, page by page, so that no snapshot is held while somebody downloads."""
    wanted = dict(filters)
    while True:
        found = page(wanted, limit=MANY_AT_ONCE)
        yield from found.items
        if found.next is None:
            return
        wanted["cursor"] = found.next


@dataclass(frozen=True, slots=True)
class Total:
    """How many payouts match, and what they come to in whole cents; how many of them nobody gets any more, and theirs."""

    payouts: int
    cents: int
    fallen: int
    fallen_cents: int


# What was rejected, cancelled or voided with its round, found from those few: by their state all that match would be walked.
FALLEN = """
    SELECT won.stream_id, won.sequence, won.line FROM tables_voidedround voided
    JOIN tables_payout won ON won.stream_id = voided.stream_id AND won.sequence = voided.sequence
    WHERE won.kind NOT IN ('level', 'envy')
    UNION ALL
    SELECT won.stream_id, won.sequence, won.line FROM jackpot_hitstep step
    JOIN jackpot_hit hit ON hit.id = step.hit_id
    JOIN jackpot_link link ON link.id = hit.link_id
    JOIN tables_payout won ON won.stream_id = link.stream_id AND won.sequence = hit.sequence AND won.seat = hit.seat
    WHERE step.state = 'rejected' AND won.kind = 'level'
    UNION ALL
    SELECT ended.stream_id, ended.sequence, ended.line FROM tables_envyend ended WHERE ended.state = 'cancelled'
"""
ADDED_UP = "SELECT count(*), coalesce(sum(payout.cents), 0) FROM tables_payout payout "
OF_THEM = f" AND (payout.stream_id, payout.sequence, payout.line) IN ({FALLEN})"


def total(filters: Mapping[str, str], *, seconds: float) -> Total | None:
    """Of all payouts that match, on whatever page; None where they are too many to be added up in that time."""
    given = asked({name: text for name, text in filters.items() if name not in ("cursor", "sort")})
    where, values = _where(given, NEWEST)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(max(1, round(seconds * 1000)))])
            cursor.execute(ADDED_UP + where, values)
            all_of_them = cursor.fetchone()
            cursor.execute(ADDED_UP + (where or " WHERE true") + OF_THEM, values)
            found = Total(*map(int, (*all_of_them, *cursor.fetchone())))
            cursor.execute("SET LOCAL statement_timeout = DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            return None
        raise
    return found


class Won(NamedTuple):
    """The hits of a level on a gaming day as the ledger booked them: how many, and what they came to in whole cents."""

    day: date
    level_id: int
    hits: int
    cents: int


# By the index of what levels owe: each share of a level is a hit.
WON = """
    SELECT payout.gaming_date, payout.level_id, count(*), sum(payout.cents)::bigint FROM tables_payout payout
    WHERE payout.kind = 'level' AND {booked_from} AND {booked_to}
    GROUP BY payout.gaming_date, payout.level_id ORDER BY payout.gaming_date, payout.level_id
"""


def won_by_day(first: date, last: date) -> list[Won]:
    """The hits of every level on every gaming day from one to another; those that were rejected later are among them."""
    given = Parameters({"from": first.isoformat(), "to": last.isoformat()})
    (booked_from, since), (booked_to, until) = _from(given, "from"), _to(given, "to")
    return [Won(*row) for row in execute(WON.format(booked_from=booked_from, booked_to=booked_to), [*since, *until])]


def by_id(payout_id: str) -> dict[str, Any] | None:
    """One payout by its id: stream, sequence and line."""
    key = parse_id(payout_id)
    if key is None:
        return None
    found = _named(execute(FIND + BY_KEY, key))
    return found[0] if found else None


def parse_id(payout_id: str) -> tuple[str, int, int] | None:
    """Stream code, sequence and line of a payout id, which any auditor can derive from the stream."""
    stream, _, rest = payout_id.rpartition("-")
    stream, _, sequence = stream.rpartition("-")
    digits = sequence.isascii() and sequence.isdigit() and rest.isascii() and rest.isdigit()
    if not stream or not digits or len(sequence) > 18 or len(rest) > 4:
        return None
    return stream, int(sequence), int(rest)


def place_of(payout_id: str) -> tuple[int, int, int] | None:
    """The stream's id, sequence and line of a payout that is there."""
    key = parse_id(payout_id)
    found = execute(FIND + BY_KEY, key) if key is not None else []
    return (found[0][0], found[0][1], found[0][2]) if found else None


LEVEL_OF_A_SEAT = """
    SELECT stream_id, sequence, line FROM tables_payout
    WHERE stream_id = %s AND sequence = %s AND seat = %s AND kind = 'level'
"""


def place_of_level(stream_id: int, sequence: int, seat: int) -> tuple[int, int, int] | None:
    """Where the share of a level that a seat won in a round stands among the payouts; None where it came to nothing."""
    found = execute(LEVEL_OF_A_SEAT, [stream_id, sequence, seat])
    return None if not found else (found[0][0], found[0][1], found[0][2])


def payout_id(stream: str, sequence: int, line: int) -> str:
    """The id of a payout: where it stands on its stream."""
    return f"{stream}-{sequence}-{line}"


def _named(rows: list[Row]) -> list[dict[str, Any]]:
    """Rows of FIND as the API shows them."""
    if not rows:
        return []
    columns = list(zip(*rows, strict=True))
    names = execute(NAME, [list(columns[number]) for number in NAMED])
    slips = numbers_of([row[:3] for row in rows if row[7] in SLIPPED])
    return [_shown(row, name, slips.get(row[:3])) for row, name in zip(rows, names, strict=True)]


def _shown(row: Row, name: Row, slip: str | None) -> dict[str, Any]:
    _, sequence, line, _, _, seat, hand, kind, cents, dealt_at, counts_at, gaming_date = row
    stream, reference, table, link, level, state = name
    return {
        "id": payout_id(stream, sequence, line),
        "round": reference,
        "table": table,
        "link": link,
        "level": level,
        "seat": seat,
        "hand": hand or None,
        "kind": kind,
        "cents": cents,
        "state": state,
        "slip": slip,
        "dealt_at": dealt_at.isoformat(),
        "counts_at": counts_at.isoformat(),
        "gaming_date": gaming_date.isoformat(),
    }


def _cursor(row: Row, order: Order) -> str:
    stream_id, sequence, line, *_, cents, _, counts_at, _ = row
    place = (counts_at.isoformat(), stream_id, sequence, line)
    key = place if order.by == KEY else (cents, *place)
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def _from_cursor(text: str, order: Order) -> tuple[Any, ...]:
    """The place that a cursor names, in the columns of its order."""
    try:
        key = msgspec.json.decode(base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True), type=order.key)
        *first, at, stream_id, sequence, line = key
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not all(0 <= number < 2**63 for number in (*first, stream_id, sequence, line)):
            raise ValueError(text)
        moment.astimezone(ZoneInfo("UTC"))
    except (msgspec.MsgspecError, binascii.Error, ValueError, OverflowError) as error:
        raise BadParameter("cursor", "not a cursor of this list in this order") from error
    return *first, moment, stream_id, sequence, line


Clause = tuple[str, tuple[Any, ...]]


def _where(given: Parameters, order: Order) -> tuple[str, list[Any]]:
    clauses: list[Clause] = [
        clause for name, read in FILTERS.items() if name in given and (clause := read(given, name))
    ]
    if cursor := given.text("cursor"):
        clauses.append((order.beyond, _from_cursor(cursor, order)))
    if not clauses:
        return "", []
    return "WHERE " + " AND ".join(text for text, _ in clauses), [value for _, values in clauses for value in values]


def _text(clause: str) -> Callable[[Parameters, str], Clause]:
    return lambda given, name: (clause, (given.text(name),))


def _whole(clause: str) -> Callable[[Parameters, str], Clause]:
    return lambda given, name: (clause, (given.whole(name, most=2**62),))


def _seat(given: Parameters, name: str) -> Clause:
    return "payout.seat = %s", (given.whole(name, most=2**15 - 1),)


def _kind(given: Parameters, name: str) -> Clause:
    return "payout.kind = %s", (given.choice(name, Payout.Kind.values),)


def _slip(given: Parameters, name: str) -> Clause:
    """The payout that a slip is for, by its number; what is no number of a slip matches nothing."""
    place = place_of_slip(given.text(name) or "")
    if place is None:
        return "false", ()
    return "payout.stream_id = %s AND payout.sequence = %s AND payout.line = %s", place


# Said first, for the index of what is owed by a level or for envy, or of the rounds that were voided.
WALKS = "payout.kind IN ('level', 'envy')"
IN_STATE = {
    "paid": "true",
    "void": """payout.kind NOT IN ('level', 'envy')
        AND (payout.stream_id, payout.sequence) IN (SELECT stream_id, sequence FROM tables_voidedround)""",
}


def _state(given: Parameters, name: str) -> Clause:
    state = given.choice(name, STATES)
    assert state is not None, "asked for only where it was given"
    return f"{IN_STATE.get(state, WALKS)} AND {STATE} = %s", (state,)


def _began(day: date, zone: ZoneInfo) -> datetime:
    return began(day, zone=zone, starts=the_property().gaming_day_starts)


# The day of the ledger decides. The moments, with room to spare, are for the indexes: what counts on a day is booked on
# it or, where it was closed, on a later one.
ROOM = timedelta(hours=3)
BOOKED_FROM = """
    payout.gaming_date >= %s AND payout.counts_at >= least(%s, (
        SELECT min(round.counts_at) FROM tables_round round
        WHERE round.original_date IS NOT NULL AND round.gaming_date >= %s))
"""
BOOKED_TO = "payout.gaming_date <= %s AND payout.counts_at <= %s"


def _from(given: Parameters, name: str) -> Clause:
    """From a gaming day on as the ledger booked them, or from a moment that counts on."""
    first = given.day_or_moment(name)
    if isinstance(first, datetime):
        return "payout.counts_at >= %s", (first,)
    assert first is not None, "asked for only where it was given"
    return BOOKED_FROM, (first, _began(first, ZoneInfo(the_property().time_zone)) - ROOM, first)


def _to(given: Parameters, name: str) -> Clause:
    """To a gaming day as the ledger booked them, the whole of it, or to a moment that counts, this one included."""
    last = given.day_or_moment(name)
    if isinstance(last, datetime):
        return "payout.counts_at <= %s", (last,)
    assert last is not None, "asked for only where it was given"
    return BOOKED_TO, (last, _began(last + timedelta(days=1), ZoneInfo(the_property().time_zone)) + ROOM)


def _none(given: Parameters, name: str) -> None:
    """Read by the list itself, not by a clause."""


LEVELS = "SELECT level.id FROM jackpot_level level JOIN jackpot_link link ON link.id = level.link_id"
OF_LEVELS = "payout.level_id = ANY (ARRAY({levels})) AND payout.level_id IS NOT NULL"
FILTERS: dict[str, Callable[[Parameters, str], Clause | None]] = {
    "from": _from,
    "to": _to,
    # By its id, so that the index of a table can be used whatever else is asked.
    "table": _text("payout.table_id = (SELECT id FROM tables_table WHERE code = %s)"),
    # Said twice, so that the index of what is owed can be used: an unknown id alone does not tell that it is one.
    "link": _text(OF_LEVELS.format(levels=f"{LEVELS} WHERE link.code = %s")),
    "level": _text(OF_LEVELS.format(levels=f"{LEVELS} WHERE level.code = %s")),
    "hand": _text("payout.hand = %s"),
    "kind": _kind,
    "seat": _seat,
    "min_cents": _whole("payout.cents >= %s"),
    "max_cents": _whole("payout.cents <= %s"),
    "slip": _slip,
    "state": _state,
    "sort": _none,
    "cursor": _none,
}
