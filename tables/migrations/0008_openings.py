"""Documents of the streams that the first version opened, and an event for every table that it had put on a link.

What an opening was hashed over is written down once, from the rows as they are, after its digest agrees; a table on a link
had no event of its own, so it gets one now that says it was found. No recorded hash changes.
"""

from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from django.db import migrations
from django.db.backends.utils import CursorWrapper

from accounting.rules.chain import event_hash
from accounting.rules.edition import CURRENT
from accounting.rules.gaming_day import gaming_date
from jackpot.rules.decision import Act, cause_of
from jackpot.rules.meter import Meter
from tables.rules.deciding import decide
from tables.rules.house import House
from tables.rules.installing import INSTALL
from tables.rules.opening import first_changes

encode = msgspec.json.Encoder(order="sorted").encode

LEVELS = """
    SELECT level.code, terms.reset_cents, terms.rate_ppm, terms.reserve_ppm, terms.overflow_policy, terms.seed_funding,
        terms.floor_policy, terms.limit_cents, terms.unreasonable_cents, meter.value_cents, meter.residual_millionths,
        meter.reserve_cents, meter.reserve_residual_millionths, meter.overflow_cents, meter.overflow_residual_millionths
    FROM jackpot_level level JOIN jackpot_levelterms terms ON terms.level_id = level.id
    JOIN jackpot_meter meter ON meter.level_id = level.id WHERE level.link_id = %s ORDER BY level.id
"""
LEVEL_KEYS = ("code", "reset_cents", "rate_ppm", "reserve_ppm", "overflow_policy", "seed_funding", "floor_policy",
              "limit_cents", "unreasonable_cents")  # fmt: skip
LINK = """
    SELECT link.id, link.code, link.name, paytable.code, link.decks, link.envy_scope, link.tie_policy
    FROM jackpot_link link JOIN jackpot_progressiveedition paytable ON paytable.id = link.paytable_id
    WHERE link.stream_id = %s
"""
TABLES = """
    SELECT tabl.id, tabl.code, tabl.game, tabl.decks, tabl.state, tabl.opened_at, terms.seats, terms.minimum_cents,
        terms.maximum_cents, terms.terms::text,
        (SELECT jsonb_object_agg(offered.wager, edition.code) FROM tables_tablepaytable offered
            JOIN tables_wageredition edition ON edition.id = offered.edition_id WHERE offered.terms_id = terms.id)::text,
        (SELECT count(*) FROM tables_tableterms other WHERE other.table_id = tabl.id)
    FROM tables_table tabl JOIN tables_tableterms terms ON terms.table_id = tabl.id
    WHERE tabl.stream_id = %s ORDER BY tabl.id
"""


DOCUMENT = "INSERT INTO accounting_document (stream_id, sequence, cause, result) VALUES (%s, %s, %s, %s)"


class CannotBeRecorded(Exception):
    """The rows are not what the first version recorded."""


def write_down(apps: Any, schema_editor: Any) -> None:
    """Give every stream its documents and its tables' events."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT id, code, next_sequence, head FROM accounting_stream ORDER BY id")
        streams = cursor.fetchall()
        if not streams:
            return
        cursor.execute("SELECT code, definition::text FROM jackpot_progressiveedition")
        paytables = {code: msgspec.json.decode(definition) for code, definition in cursor.fetchall()}
        now = datetime.now(UTC)
        day = _open_day(cursor, now)
        for stream_id, code, next_sequence, head in streams:
            cursor.execute(LINK, [stream_id])
            link = cursor.fetchone()
            tables = _tables(cursor, stream_id, link[1] if link else None)
            meters: dict[str, Meter] = {}
            if link:
                definition, meters = _link(cursor, link)
            else:
                ((_, definition),) = tables
            opened_at = _document(cursor, stream_id, code, definition)
            if link is None:
                continue
            house = House({}, {})
            house.change(first_changes(definition, paytables, opened_at.isoformat()))
            house.links[code].meters = meters
            head = bytes(head)
            for at, table in tables:
                head = _found(cursor, (stream_id, code, next_sequence, head), (at, table), house, now, day)
                next_sequence += 1
            cursor.execute(
                "UPDATE accounting_stream SET next_sequence = %s, head = %s, terms_version = terms_version + 1"
                " WHERE id = %s",
                [next_sequence, head, stream_id],
            )
            cursor.execute(
                "UPDATE jackpot_meter SET sequence = %s WHERE level_id IN (SELECT id FROM jackpot_level WHERE link_id = %s)",
                [next_sequence - 1, link[0]],
            )


def _open_day(cursor: CursorWrapper, now: datetime) -> date:
    cursor.execute("SELECT time_zone, gaming_day_starts FROM accounting_property")
    zone, starts = cursor.fetchone()
    day: date = gaming_date(now, zone=ZoneInfo(zone), starts=starts)
    cursor.execute("SELECT max(date) FROM accounting_gamingday WHERE closed_at IS NOT NULL")
    (closed,) = cursor.fetchone()
    return day if closed is None or day > closed else closed + timedelta(days=1)


def _link(cursor: CursorWrapper, link: tuple[Any, ...]) -> tuple[dict[str, Any], dict[str, Meter]]:
    link_id, code, name, paytable, decks, envy_scope, tie_policy = link
    cursor.execute(LEVELS, [link_id])
    levels, meters = [], {}
    for row in cursor.fetchall():
        levels.append({key: value for key, value in zip(LEVEL_KEYS, row, strict=False) if value is not None})
        meters[row[0]] = Meter(*row[9:])
    definition = {
        "code": code, "name": name, "paytable": paytable, "decks": decks, "envy_scope": envy_scope,
        "tie_policy": tie_policy, "levels": levels,
    }  # fmt: skip
    return definition, meters


def _tables(cursor: CursorWrapper, stream_id: int, link: str | None) -> list[tuple[datetime, dict[str, Any]]]:
    cursor.execute(TABLES, [stream_id])
    found = []
    for _, code, game, decks, state, at, seats, minimum, maximum, terms, paytables, editions in cursor.fetchall():
        if editions != 1 or state != "open":
            raise CannotBeRecorded(f"table {code}: the first version neither changed its terms nor closed it")
        found.append((at, {
            "code": code, "game": game, "seats": seats, "decks": decks, "minimum_cents": minimum,
            "maximum_cents": maximum, "link": link, "paytables": msgspec.json.decode(paytables or "{}"),
            "terms": msgspec.json.decode(terms),
        }))  # fmt: skip
    return found


def _document(cursor: CursorWrapper, stream_id: int, code: str, definition: dict[str, Any]) -> datetime:
    document = encode(definition)
    cursor.execute(
        "SELECT message_digest, result_digest, recorded_at FROM accounting_event WHERE stream_id = %s AND sequence = 0",
        [stream_id],
    )
    cause, result, recorded_at = cursor.fetchone()
    if not bytes(cause) == bytes(result) == sha256(document).digest():
        raise CannotBeRecorded(f"stream {code}: its definition is not the one that it opened with")
    cursor.execute(DOCUMENT, [stream_id, 0, document, document])
    opened_at: datetime = recorded_at
    return opened_at


def _found(
    cursor: CursorWrapper,
    stream: tuple[int, str, int, bytes],
    found: tuple[datetime, dict[str, Any]],
    house: House,
    now: datetime,
    day: date,
) -> bytes:
    """Record one table that was found on a link; the hash of its event."""
    stream_id, code, sequence, previous = stream
    opened_at, table = found
    act = Act(INSTALL, table["code"], opened_at.isoformat(), {"table": table, "found": True})
    cause, result = encode(cause_of(act, by="found by migration")), encode(decide(act, house).result)
    digests = sha256(cause).digest(), sha256(result).digest()
    head = event_hash(
        previous, stream=code, sequence=sequence, kind=INSTALL, subject=table["code"], gaming_date=day, recorded_at=now,
        message_digest=digests[0], result_digest=digests[1], rules=CURRENT,
    )  # fmt: skip
    cursor.execute(
        "INSERT INTO accounting_event (stream_id, sequence, kind, subject, gaming_date, recorded_at, rules, message_digest,"
        " result_digest, previous, hash) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [stream_id, sequence, INSTALL, table["code"], day, now, CURRENT, *digests, previous, head],
    )
    cursor.execute(DOCUMENT, [stream_id, sequence, cause, result])
    return head


class Migration(migrations.Migration):
    dependencies = [
        ("tables", "0007_hold_seals"),
        ("accounting", "0006_document_guards"),
        ("jackpot", "0002_guards"),
    ]

    operations = [migrations.RunPython(write_down, migrations.RunPython.noop)]
