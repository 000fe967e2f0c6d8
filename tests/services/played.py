"""A database with a bit of everything on record, and copies of it to be tampered with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from tests.services.fixtures import Databases
from tests.services.house import ALONE, LINKED, NEIGHBOUR, TWIN, House, locked, message, royal, run, seat, two_hits

MISCOUNTED = {"method": "shuffler", "mode": "cover_all", "players": 2}


@pytest.fixture(scope="module")
def record(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database with a bit of everything on record."""
    with django_db_blocker.unblock():
        name = databases.create(like=floored)
        with databases.entered(name):
            house = House()
            run("INSERT INTO accounting_gamingday (date, closed_at) VALUES ('2026-11-26', now())")
            house.play(
                message("R-1"),
                two_hits("R-2"),
                message("R-3", table=NEIGHBOUR, irregularities=[{"code": "shoe_failed"}]),
                message("R-4", seat(1, "3s 3s", progressive=100)),
                message("R-5", dealt_at="2026-11-26T21:00:00-05:00"),
                royal("R-6", table=NEIGHBOUR),
                two_hits("R-1", table=TWIN),
                royal("R-2", table=TWIN),
                message("R-1", seat(1, "Ks Kc"), table=ALONE),
            )
            house.post(message("R-7"))
        yield name
        databases.drop(name)


@pytest.fixture
def played(databases: Databases, record: str, django_db_blocker: DjangoDbBlocker) -> Iterator[House]:
    """A copy of it, to be tampered with."""
    with django_db_blocker.unblock():
        name = databases.create(like=record)
        with databases.entered(name):
            yield House()
        databases.drop(name)


@pytest.fixture
def lived(house: House) -> House:
    """Every kind of event on three streams, at sequences that they share; rounds held, released, corrected and voided."""
    house.play(
        locked("K-1"), locked("K-1", 1, 3, table=TWIN), locked("K-2"), locked("K-9", progressive=200),
        message("K-1"), royal("K-1", table=TWIN), royal("R-3", table=NEIGHBOUR), message("R-1", table=ALONE),
        two_hits("R-2"), two_hits("R-2", table=TWIN), message("R-2", seat(1, "Ks Kc"), table=ALONE),
        message("H-1", dealing=MISCOUNTED), message("H-1", table=TWIN, dealing=MISCOUNTED),
        message("H-2", seat(1, "3s 3s"), table=ALONE),
        message("H-3", seat(1, "3s 3s", progressive=100), table=NEIGHBOUR),
    )  # fmt: skip
    stirred()
    return house


def decided(house: House) -> None:
    """Held rounds of three tables are decided: one as it was, one as corrected, one not at all."""
    house.act("round.release", f"{LINKED}/H-1")
    house.act("round.correct", f"{TWIN}/H-1", message=message("H-1", table=TWIN))
    house.act("round.void", f"{ALONE}/H-2")
    stirred()


STIRRED = {
    "accounting_stream": "id", "accounting_account": "id", "accounting_event": "sequence", "accounting_document": "sequence",
    "accounting_transfer": "sequence * 100 + line", "accounting_total": "stream_id", "jackpot_link": "id", "jackpot_level": "id",
    "jackpot_meter": "level_id", "jackpot_hit": "id", "jackpot_hitstep": "id", "tables_table": "id", "tables_round": "sequence",
    "tables_payout": "sequence * 100 + line", "tables_hold": "message_id", "tables_lock": "sequence",
    "tables_locksetaside": "message_id", "devices_message": "id", "devices_device": "id", "devices_queued": "receipt",
    "devices_significantevent": "id",
}  # fmt: skip


def stirred() -> None:
    """Let rows lie in no order, and no index bring them into one: until this transaction ends, only an ORDER BY does.

    Every third row, and of the rest every second, is written anew behind the others.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        for table, key in STIRRED.items():
            cursor.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND attgenerated = ''"
                " AND NOT attisdropped ORDER BY attnum LIMIT 1",
                [table],
            )
            ((column,),) = cursor.fetchall()
            for chosen in ("%% 3 = 1", "%% 2 = 0"):
                cursor.execute(f'UPDATE {table} SET "{column}" = "{column}" WHERE ({key}) {chosen}', [])
        cursor.execute("SET session_replication_role = origin")
    unindexed()


def unindexed() -> None:
    """Let no index bring rows into an order until this transaction ends."""
    for way in ("indexscan", "indexonlyscan", "bitmapscan"):
        run(f"SET LOCAL enable_{way} = off")


def planted_is_what_was_found(planted: set[str], said: str) -> None:
    """What was planted stands in a difference as what was found, never as what was expected."""
    expected, found = said.rpartition(": expected ")[2].partition(", found ")[::2]
    for text in planted:
        if text == "None" or len(text) < 3:
            continue  # it may stand there for something else
        alone = re.compile(rf"(?<![\w.]){re.escape(text)}(?![\w.])")
        assert alone.search(found) or not alone.search(expected), said


def tamper(statement: str) -> set[str]:
    """Change what is on record as somebody could who owns the database: with every guard switched off.

    What it planted, in words: the values of an UPDATE, and what the statement names itself.
    """
    updated = re.match(r"UPDATE (\w+)(?: (?!SET)(\w+))? SET (.*?)(?: WHERE | FROM |$)", statement)
    columns = re.findall(r"(?:^|, )(\w+) = ", updated[3]) if updated else []
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        returning = ", ".join(f"{updated[2] or updated[1]}.{column}" for column in columns) if updated else ""
        cursor.execute(f"{statement} RETURNING {returning}" if returning else statement)
        assert cursor.rowcount > 0, "nothing was changed"
        planted = [value for row in (cursor.fetchall() if returning else []) for value in row]
        cursor.execute("SET session_replication_role = origin")
    words = {str(value) for value in planted if not isinstance(value, bytes | memoryview)}
    words |= {repr(value) for value in planted if isinstance(value, datetime)}
    words |= {sha256(text.encode()).hexdigest() for text in re.findall(r"sha256\('([^']*)'\)", statement)}
    return words | set(re.findall(r"= '([^'%]{4,})'", statement.partition(" WHERE ")[0]))
