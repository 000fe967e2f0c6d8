"""Houses that earlier versions recorded stay verifiable and play on (ARCHITECTURE §3a, issue: every event a decision)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from devices.audit import verification
from devices.packing.stretch import pack, wanted
from tables.rules.packs import read
from tables.rules.repeated import repeat
from tests.histories.restore import DUMPS, restore
from tests.services import auditor
from tests.services.fixtures import Databases
from tests.services.house import House, rows, value
from tests.services.played import tamper


def recorded() -> dict[tuple[str, int], bytes]:
    """The hash of every event by stream and sequence."""
    found = rows(
        "SELECT stream.code, event.sequence, event.hash FROM accounting_event event"
        " JOIN accounting_stream stream ON stream.id = event.stream_id"
    )
    return {(code, sequence): bytes(hashed) for code, sequence, hashed in found}


@pytest.fixture(scope="module", params=DUMPS, ids=[dump.name for dump in DUMPS])
def migrated(
    request: pytest.FixtureRequest, databases: Databases, django_db_blocker: DjangoDbBlocker
) -> Iterator[tuple[str, dict[tuple[str, int], bytes]]]:
    """A recorded house, migrated to this version, and the hashes that it was recorded with."""
    with django_db_blocker.unblock():
        name = databases.create()
        with databases.entered(name):
            where = connection.settings_dict
            with psycopg.connect(
                host=where["HOST"], port=where["PORT"] or None, user=where["USER"], dbname=name, autocommit=True
            ) as there:
                restore(request.param, there)
            before = recorded()
            call_command("migrate", verbosity=0)
        yield name, before
        databases.drop(name)


@pytest.fixture
def past(
    migrated: tuple[str, dict[tuple[str, int], bytes]], databases: Databases, django_db_blocker: DjangoDbBlocker
) -> Iterator[dict[tuple[str, int], bytes]]:
    """A copy of it to play on in; the hashes that it was recorded with."""
    template, before = migrated
    with django_db_blocker.unblock():
        name = databases.create(like=template)
        with databases.entered(name):
            yield before
        databases.drop(name)


def verify() -> verification.Counts:
    """What `manage.py verify` does."""
    return verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=500)


def test_there_is_a_history() -> None:
    assert DUMPS


def test_a_recorded_house_is_verified_after_migration(past: dict[tuple[str, int], bytes]) -> None:
    now = recorded()
    assert past, "a history has events"
    assert {key: now[key] for key in past} == past
    counts = verify()
    assert counts.rounds >= 1_861
    assert (counts.streams, counts.holds) >= (6, 15)
    auditor.everything_agrees()
    every = rows("SELECT code, next_sequence - 1 FROM accounting_stream ORDER BY code")
    for place, (stream, last) in enumerate(every):
        first = last - 9 if place % 2 else 0
        found = repeat(read(pack(wanted(stream, first, first + 9))))
        assert found.checked.events == 10, "an auditor takes a stretch of it away, from its opening or from later on"


def another(sent: dict[str, Any], reference: str, at: datetime) -> dict[str, Any]:
    """The same deal again under a reference of its own."""
    return sent | {"round": reference, "dealt_at": at.isoformat()}


def test_play_goes_on_in_it(past: dict[tuple[str, int], bytes]) -> None:
    """Rounds, acts on tables and levels, a held round released: all on the old streams, and all verified again."""
    now = value("SELECT max(recorded_at) FROM accounting_event") + timedelta(hours=1)
    house = House(now=now)
    sent = []
    for number, (raw,) in enumerate(rows("SELECT raw FROM devices_message ORDER BY id DESC LIMIT 200")):
        sent.append(another(json.loads(bytes(raw)), f"AGAIN-{number}", now - timedelta(seconds=5)))
    house.play(*sent)
    outcomes = {house.outcome(each)[0] for each in sent}
    assert "settled" in outcomes
    code, link, level = rows(
        "SELECT tabl.code, link.code, level.code FROM tables_table tabl JOIN jackpot_link link ON link.id = tabl.link_id"
        " JOIN jackpot_level level ON level.link_id = link.id ORDER BY tabl.code LIMIT 1"
    )[0]
    house.act("table.close", code)
    house.act("table.open", code, at=now + timedelta(seconds=1))
    house.act("level.adjust", f"{link}/{level}", part="reserve", cents=5, reason="correction")
    held = rows(
        "SELECT tabl.code || '/' || hold.reference, hold.reasons FROM tables_hold hold"
        " JOIN tables_table tabl ON tabl.id = hold.table_id ORDER BY message_id"
    )
    for subject, _ in held[:3]:
        house.act("round.void", subject)
    verify()
    kept = recorded()
    assert {key: kept[key] for key in past} == past
    auditor.everything_agrees()


def test_its_hits_and_settled_rounds_are_decided_about(past: dict[tuple[str, int], bytes]) -> None:
    """What an older edition settled is read back from its settlements: the first round of a stream, some in between, hits."""
    house = House(now=value("SELECT max(recorded_at) FROM accounting_event") + timedelta(hours=1))
    hits = [hit for (hit,) in rows(
        "SELECT link.code || '-' || lpad(hit.number::text, 6, '0') FROM jackpot_hit hit"
        " JOIN jackpot_link link ON link.id = hit.link_id ORDER BY hit.id LIMIT 3"
    )]  # fmt: skip
    assert len(hits) == 3
    for hit in hits:
        house.act("hit.verify", hit)
    house.act("hit.approve", hits[0])
    house.act("hit.pay", hits[0], method="cage")
    house.act("hit.reject", hits[1])
    settled = rows("""
        SELECT tabl.code || '/' || round.reference FROM (
            SELECT *, row_number() OVER (PARTITION BY stream_id ORDER BY sequence) AS place FROM tables_round
            WHERE outcome = 'settled'
        ) round JOIN tables_table tabl ON tabl.id = round.table_id
        WHERE place IN (1, 2, 50) OR EXISTS (SELECT FROM jackpot_hit hit JOIN jackpot_link link ON link.id = hit.link_id
            WHERE link.stream_id = round.stream_id AND hit.sequence = round.sequence AND hit.number > 3)
        ORDER BY round.stream_id, round.sequence LIMIT 20
    """)
    for (subject,) in settled:
        house.act("round.void", subject)
    verify()
    kept = recorded()
    assert {key: kept[key] for key in past} == past


def test_a_change_of_the_past_is_found_in_it_too(past: dict[tuple[str, int], bytes]) -> None:
    tamper(
        "UPDATE tables_tableterms SET minimum_cents = minimum_cents + 1 WHERE id = (SELECT min(id) FROM tables_tableterms)"
    )
    with pytest.raises(verification.Difference, match="minimum_cents"):
        verify()


def test_receipts_of_the_first_version_are_compared(past: dict[tuple[str, int], bytes]) -> None:
    tamper("UPDATE devices_message SET received_at = received_at + interval '1 second' WHERE id = 1")
    with pytest.raises(verification.Difference, match="reference and message"):
        verify()


def test_a_definition_that_no_longer_agrees_stops_the_migration(
    databases: Databases, django_db_blocker: DjangoDbBlocker
) -> None:
    """What cannot be written down as it was hashed is not written down at all."""
    with django_db_blocker.unblock():
        name = databases.create()
        with databases.entered(name):
            where = connection.settings_dict
            with psycopg.connect(
                host=where["HOST"], port=where["PORT"] or None, user=where["USER"], dbname=name, autocommit=True
            ) as there:
                restore(DUMPS[0], there)
                there.execute("SET session_replication_role = replica")
                there.execute("UPDATE jackpot_levelterms SET rate_ppm = rate_ppm + 1")
            with pytest.raises(Exception, match="its definition is not the one that it opened with"):
                call_command("migrate", verbosity=0)
        databases.drop(name)
