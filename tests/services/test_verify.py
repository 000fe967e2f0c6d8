"""`manage.py verify`: silent after play; whatever was changed past the guards, it says where and what (SPEC §9)."""

from __future__ import annotations

from datetime import date
from io import StringIO
from pathlib import Path
from string import Template

import pytest
from django.core.management import call_command
from pytest_django import DjangoDbBlocker

from devices.audit import verification
from devices.audit.inbox_check import verify_inbox
from devices.audit.verification import Difference, verify_stream
from tests.services.fixtures import Databases
from tests.services.house import RECEIVED, House, run, value, verify
from tests.services.played import planted_is_what_was_found, tamper
from tests.services.tampering import TAMPERING


def test_what_was_played_is_verified(played: House) -> None:
    counts = verify()
    assert (counts.streams, counts.rounds, counts.holds, counts.messages) == (3, 8, 1, 10)
    assert (counts.events, counts.hits) == (3 + 8, 3 + 3)
    assert counts.payouts == value("SELECT count(*) FROM tables_payout")
    assert counts.transfers == value("SELECT count(*) FROM accounting_transfer")


def test_where_nothing_is_on_record_nothing_differs(
    databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker
) -> None:
    """A database that no floor was loaded into yet has no chart of accounts either."""
    with django_db_blocker.unblock(), databases.entered(migrated):
        counts = verify()
    assert (counts.streams, counts.events, counts.messages) == (0, 0, 0)


@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_is_found_and_named(what: str, played: House) -> None:
    statement, named = (Template(each) for each in TAMPERING[what])
    places = {
        "first": value("SELECT min(id) FROM devices_message"),
        "held": value("SELECT id FROM devices_message WHERE reference = 'R-4'"),
        "waiting": value("SELECT id FROM devices_message WHERE reference = 'R-7'"),
        "major": value("SELECT id FROM jackpot_level WHERE code = 'major'"),
        "minor": value("SELECT id FROM jackpot_level WHERE code = 'minor'"),
        "wagers": value("SELECT id FROM accounting_account WHERE code = 'wagers'"),
        "link": value("SELECT id FROM jackpot_link WHERE code = 'ms-mg01'"),
        "stream": played.stream("ms-mg01"),
        "table": played.table("MS-101"),
    }
    planted = tamper(statement.substitute(places))
    with pytest.raises(Difference) as difference:
        verify()
    assert named.substitute(places) in str(difference.value)
    planted_is_what_was_found(planted, str(difference.value))
    # However the streams are cut, the same is said of it.
    for size in (1, 2, 3):
        with pytest.raises(Difference) as again:
            verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=size)
        assert str(again.value) == str(difference.value), size


def test_the_command_says_what_it_checked(played: House) -> None:
    said = StringIO()
    call_command("verify", stdout=said)
    first, last = said.getvalue().splitlines()
    assert first.startswith("verified: 3 streams, 11 events, 8 rounds, ")
    assert "no difference" in last


def test_the_command_ends_with_1_and_the_first_difference(played: House, capsys: pytest.CaptureFixture[str]) -> None:
    tamper("UPDATE jackpot_meter SET value_cents = value_cents + 1")
    said = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("verify", stderr=said)
    assert ended.value.code == 1
    assert said.getvalue().startswith("DIFFERENT stream ms-mg01: meter major")


def test_one_stream_alone_can_be_verified(played: House) -> None:
    grand = value("SELECT id FROM jackpot_level WHERE code = 'grand'")
    tamper(f"UPDATE jackpot_meter SET value_cents = value_cents + 1 WHERE level_id = {grand}")
    call_command("verify", stream="ms-mg01", stdout=StringIO())
    with pytest.raises(SystemExit) as ended:
        call_command("verify", stream="twin", stderr=StringIO())
    assert ended.value.code == 1
    with pytest.raises(SystemExit) as ended:
        call_command("verify", stream="nobody", stderr=StringIO())
    assert ended.value.code == 2


def test_days_closed_since_change_nothing_that_was_booked(played: House) -> None:
    run("UPDATE accounting_gamingday SET closed_at = %s WHERE date = %s", RECEIVED, date(2026, 11, 27))
    verify()


def test_a_floor_that_grew_is_verified_from_its_opening(played: House, tmp_path: Path) -> None:
    """A table that joined later changes nothing of what the stream opened with."""
    from tables.services import floors
    from tests.services.house import FLOOR

    added = FLOOR + FLOOR[
        FLOOR.index('[[tables]]\ncode = "MS-102"') : FLOOR.index('[[tables]]\ncode = "TW-201"')
    ].replace("MS-102", "MS-103")
    assert floors.install(added, at=RECEIVED).tables == ("MS-103",)
    verify()


def test_a_round_whose_table_is_on_another_stream_is_named(played: House) -> None:
    tamper("UPDATE tables_table SET link_id = NULL, link_paytable_id = NULL,"
           " stream_id = (SELECT id FROM accounting_stream WHERE code = 'twin') WHERE code = 'MS-102'")  # fmt: skip
    tamper("UPDATE accounting_stream SET terms_version = terms_version + 1")
    with pytest.raises(
        Difference, match=r"stream ms-mg01: tables: expected \['MS-101', 'MS-102'\], found \['MS-101'\]"
    ):
        verify_stream(played.stream("ms-mg01"))


def test_terms_that_end_without_an_event_are_named(played: House) -> None:
    tamper("UPDATE tables_tableterms SET in_force = tstzrange(lower(in_force), lower(in_force) + interval '1 hour')")
    with pytest.raises(Difference, match="table MS-101, terms 1: until"):
        verify_stream(played.stream("ms-mg01"))


def test_a_hold_of_a_table_that_is_gone_or_whose_stream_is_is_named(played: House) -> None:
    table = played.table("MS-101")
    for gone in (
        "UPDATE tables_table SET id = 999 WHERE code = 'MS-101'",
        f"WITH back AS (UPDATE tables_table SET id = {table} WHERE id = 999)"
        " DELETE FROM accounting_stream WHERE code = 'ms-mg01'",
    ):
        tamper(gone)
        with pytest.raises(Difference, match=r"R-4.: table: expected one that is on a stream"):
            verify_inbox()


def test_the_page_of_what_is_found_is_what_is_tried() -> None:
    from tests.verify_table import PAGE, page

    assert PAGE.read_text("utf-8") == page(), "write it anew: python3 -m tests.verify_table"
