"""The payout history: filters, keyset pages, and how one payout was reached (CONTRACT §5, SPEC §10)."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from accounting.queries import NoProperty
from accounting.rules.gaming_day import began
from accounting.services.statements import Row, execute
from tables.models import Payout

COLUMNS = ("id", "round", "table", "link", "level", "seat", "hand", "kind", "cents", "state", "slip", "dealt_at")
MOST = 1_000
MANY_AT_ONCE = 2_000
STATES = ("detected", "verified", "approved", "paid", "rejected")


class BadFilter(ValueError):
    """A filter that cannot be read; `name` is the parameter at fault."""

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(f"{name}: {detail}")
        self.name = name
        self.detail = detail


# A fixed pay is paid at the table with the round. What a level or envy owes walks the steps of its hit.
STATE = """
    CASE WHEN payout.kind NOT IN ('level', 'envy') THEN 'paid' ELSE (
        SELECT step.state FROM jackpot_hit hit
        JOIN jackpot_link won ON won.id = hit.link_id AND won.stream_id = payout.stream_id
        JOIN jackpot_hitstep step ON step.hit_id = hit.id
        WHERE hit.sequence = payout.sequence AND hit.hand = payout.hand
            AND (payout.kind = 'envy' AND hit.seat <> payout.seat OR payout.kind = 'level' AND hit.seat = payout.seat)
        ORDER BY step.id DESC LIMIT 1) END
"""
# Which payouts: of one table alone, so that it is planned in no time for the very values that are asked.
FIND = """
    SELECT payout.stream_id, payout.sequence, payout.line, payout.table_id, payout.level_id, payout.seat, payout.hand,
        payout.kind, payout.cents, payout.dealt_at
    FROM tables_payout payout
"""
ORDER = " ORDER BY payout.dealt_at DESC, payout.stream_id DESC, payout.sequence DESC, payout.line DESC LIMIT %s"
BY_KEY = """
    WHERE payout.stream_id = (SELECT id FROM accounting_stream WHERE code = %s)
        AND payout.sequence = %s AND payout.line = %s
"""
# What they are called, in the order they come in. The round is a look-up by key of its own, which no plan made while
# the history was short can turn into reading all rounds.
NAME = """
    SELECT stream.code, (SELECT round.reference FROM tables_round round
            WHERE round.stream_id = payout.stream_id AND round.sequence = payout.sequence),
        tabl.code, link.code, level.code, 'paid'
    FROM unnest((SELECT %s::bigint[]), (SELECT %s::bigint[]), (SELECT %s::bigint[]), (SELECT %s::bigint[]),
            (SELECT %s::smallint[]), (SELECT %s::text[]), (SELECT %s::text[]))
        WITH ORDINALITY AS payout (stream_id, sequence, table_id, level_id, seat, hand, kind, place)
    JOIN accounting_stream stream ON stream.id = payout.stream_id
    JOIN tables_table tabl ON tabl.id = payout.table_id
    LEFT JOIN jackpot_level level ON level.id = payout.level_id
    LEFT JOIN jackpot_link link ON link.id = level.link_id
    ORDER BY payout.place
"""
NAME_OWED = NAME.replace("'paid'", STATE)  # hits and their steps are looked into only where something is owed
OWED = {"level", "envy"}
NAMED = (0, 1, 3, 4, 5, 6, 7)  # the columns of FIND that NAME takes
KIND = 7


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the history, newest first; `next` is the cursor of the one after, None on the last."""

    items: list[dict[str, Any]]
    next: str | None


def page(filters: Mapping[str, str], *, limit: int = 100) -> Page:
    """A page of payouts. BadFilter names the parameter at fault."""
    where, values = _where(filters)
    rows = execute(FIND + where + ORDER, [*values, limit + 1], prepare=False)
    return Page(_named(rows[:limit]), _cursor(rows[limit - 1]) if len(rows) > limit else None)


def every(filters: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """All payouts that match, page by page, so that no snapshot is held while somebody downloads."""
    cursor: str | None = filters.get("cursor")
    while True:
        asked = {**filters, "cursor": cursor} if cursor else dict(filters)
        found = page({name: value for name, value in asked.items() if value}, limit=MANY_AT_ONCE)
        yield from found.items
        cursor = found.next
        if cursor is None:
            return


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


def payout_id(stream: str, sequence: int, line: int) -> str:
    """The id of a payout: where it stands on its stream."""
    return f"{stream}-{sequence}-{line}"


def _named(rows: list[Row]) -> list[dict[str, Any]]:
    """Rows of FIND as the API shows them."""
    if not rows:
        return []
    columns = list(zip(*rows, strict=True))
    owed = not OWED.isdisjoint(columns[KIND])
    names = execute(NAME_OWED if owed else NAME, [list(columns[number]) for number in NAMED])
    return [_shown(row, name) for row, name in zip(rows, names, strict=True)]


def _shown(row: Row, name: Row) -> dict[str, Any]:
    _, sequence, line, _, _, seat, hand, kind, cents, dealt_at = row
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
        "slip": None,
        "dealt_at": dealt_at.isoformat(),
    }


def _cursor(row: Row) -> str:
    stream_id, sequence, line, *_, dealt_at = row
    key = [dealt_at.isoformat(), stream_id, sequence, line]
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def _from_cursor(text: str) -> tuple[datetime, int, int, int]:
    try:
        key = msgspec.json.decode(
            base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=tuple[str, int, int, int]
        )
        return datetime.fromisoformat(key[0]), *key[1:]
    except (msgspec.MsgspecError, binascii.Error, ValueError, UnicodeError) as error:
        raise BadFilter("cursor", "not a cursor of this list") from error


def _where(filters: Mapping[str, str]) -> tuple[str, list[Any]]:
    clauses: list[str] = []
    values: list[Any] = []
    for name, text in filters.items():
        if name not in FILTERS:
            raise BadFilter(name, f"no such filter; there are {', '.join(FILTERS)}, cursor, limit")
        clause, read = FILTERS[name]
        clauses.append(clause)
        value = read(name, text)
        values.extend(value if isinstance(value, tuple) else [value])
    return ("WHERE " + " AND ".join(clauses) if clauses else ""), values


def _text(name: str, text: str) -> str:
    if "\x00" in text:
        raise BadFilter(name, "not a text")
    return text


def _whole(name: str, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise BadFilter(name, "a whole number is expected") from None
    if not 0 <= number < 2**63:
        raise BadFilter(name, "out of range")
    return number


def _one_of(*allowed: str) -> Any:
    def read(name: str, text: str) -> str:
        if text not in allowed:
            raise BadFilter(name, f"one of {', '.join(allowed)} is expected")
        return text

    return read


def _state(name: str, text: str) -> tuple[str, str]:
    state = _one_of(*STATES)(name, text)
    return state, state


def _start_of(day: date) -> datetime:
    """When a gaming day of the house starts. Raises NoProperty before a floor was loaded."""
    for time_zone, starts in execute("SELECT time_zone, gaming_day_starts FROM accounting_property LIMIT 1"):
        return began(day, zone=ZoneInfo(time_zone), starts=starts)
    raise NoProperty("no property yet: run `python3 manage.py load_floor FLOOR.toml`")


def _instant(name: str, text: str) -> datetime:
    """An RFC 3339 instant, or a date: the start of that gaming day for `from`, its last instant for `to`."""
    try:
        if len(text) == 10:
            day = date.fromisoformat(text) + timedelta(days=1 if name == "to" else 0)
            start = _start_of(day)
            return start - timedelta(microseconds=1) if name == "to" else start
        at = datetime.fromisoformat(text.replace(" ", "+"))  # a plus sign that was not percent-encoded
    except (ValueError, OverflowError):
        raise BadFilter(name, "a date or an RFC 3339 time is expected") from None
    if at.tzinfo is None:
        raise BadFilter(name, "an offset is missing")
    return at


LEVELS = "SELECT level.id FROM jackpot_level level JOIN jackpot_link link ON link.id = level.link_id"
FILTERS: dict[str, tuple[str, Any]] = {
    "from": ("payout.dealt_at >= %s", _instant),
    "to": ("payout.dealt_at <= %s", _instant),
    # By its id, so that the index of a table can be used whatever else is asked.
    "table": ("payout.table_id = (SELECT id FROM tables_table WHERE code = %s)", _text),
    # Said twice, so that the index of what is owed can be used: an unknown id alone does not tell that it is one.
    "link": (f"payout.level_id = ANY (ARRAY({LEVELS} WHERE link.code = %s)) AND payout.level_id IS NOT NULL", _text),
    "level": (f"payout.level_id = ANY (ARRAY({LEVELS} WHERE level.code = %s)) AND payout.level_id IS NOT NULL", _text),
    "hand": ("payout.hand = %s", _text),
    "kind": ("payout.kind = %s", _one_of(*Payout.Kind.values)),
    "seat": ("payout.seat = %s", _whole),
    "min_cents": ("payout.cents >= %s", _whole),
    "max_cents": ("payout.cents <= %s", _whole),
    # No slip has been issued yet: a slip number matches nothing.
    "slip": ("%s::text IS NULL", _text),
    # What is not paid with the round is owed by a level or for envy: said first, for the index of those.
    "state": (f"(%s = 'paid' OR payout.kind IN ('level', 'envy')) AND {STATE} = %s", _state),
    "cursor": (
        "(payout.dealt_at, payout.stream_id, payout.sequence, payout.line) < (%s, %s, %s, %s)",
        lambda name, text: _from_cursor(text),
    ),
}
