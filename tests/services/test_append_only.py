"""No row of message, event, round, payout, hold, entry, transfer or audit is changed, deleted or truncated (§4.6)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest

from accounting.rules.heads import Head
from accounting.services import closed_days, house_numbers, readings
from accounting.services.readings import Photo
from devices.closing import sheet
from tables.services import weeks
from tests.services.attempts.office import decided
from tests.services.attempts.slips import slipped
from tests.services.house import (
    ALONE,
    RECEIVED,
    TWIN,
    House,
    locked,
    message,
    refused_by,
    rows,
    royal,
    run,
    seat,
    two_hits,
    value,
)

APPEND_ONLY = (
    "accounting_account",
    "accounting_auditrecord",
    "accounting_closedday",
    "accounting_closedhead",
    "accounting_document",
    "accounting_event",
    "accounting_housenumber",
    "accounting_reading",
    "accounting_readingnote",
    "accounting_readingphoto",
    "accounting_transfer",
    "accounting_verified",
    "devices_message",
    "devices_reference",
    "devices_significantevent",
    "jackpot_hit",
    "jackpot_hitstep",
    "jackpot_progressiveedition",
    "jackpot_progressivegame",
    "jackpot_progressivelevel",
    "office_approval",
    "office_evidence",
    "office_outcome",
    "office_proposal",
    "office_tier",
    "office_tieredition",
    "slips_payer",
    "slips_slip",
    "slips_slippayment",
    "slips_slipprint",
    "slips_slipvoid",
    "slips_taxform",
    "tables_envyend",
    "tables_envyunclaimed",
    "tables_hold",
    "tables_locksetaside",
    "tables_payout",
    "tables_round",
    "tables_tablepaytable",
    "tables_voidedround",
    "tables_wageredition",
    "tables_weekreview",
    "tables_weeksheet",
)


@pytest.fixture
def played(house: House) -> House:
    """A floor with something in every table."""
    house.play(
        royal("R-1"),
        two_hits("R-2", table=TWIN),
        message("R-3", seat(1, "As As"), table=ALONE),
        message("R-4", dealt_at="2031-01-01T00:00:00Z"),
        locked("R-1"),
        locked("R-5"),
    )
    house.act("payout.unclaimed", "MS-101/R-1/1/3", at=house.now + timedelta(days=1))
    house.act("payout.pay", "MS-101/R-1/1/3", at=house.now + timedelta(days=1), method="cage")
    house.act("round.void", f"{TWIN}/R-2")
    house_numbers.give({"cage": "1010"}, by="ann", at=house.now)
    decided(house)
    slipped(house)
    sheet.read_by_hand(
        date(2026, 11, 27), {"ms-mg01/major": 1}, read_at=RECEIVED, at=RECEIVED, by="ann", photo=Photo("s.jpg", b"x")
    )
    readings.explain(value("SELECT min(id) FROM accounting_reading"), "a dark digit", at=RECEIVED, by="ann")
    for stream_id, code, last, head in rows("SELECT id, code, next_sequence - 1, head FROM accounting_stream"):
        closed_days.note_verified(stream_id, 0, Head(code, last, bytes(head)), at=RECEIVED)
    house.close_day("2026-11-29", at=house.now + timedelta(days=2))
    weeks.make(date(2026, 11, 23), at=house.now, by="the service")
    weeks.sign_off(date(2026, 11, 23), "as usual", at=house.now, by="ann")
    run("SET CONSTRAINTS ALL IMMEDIATE")  # pending checks would refuse a TRUNCATE or ALTER before our trigger does
    return house


def update(table: str) -> str:
    """A statement that sets every column to what it is."""
    (column, *_) = (name for (name,) in rows(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND is_generated = 'NEVER'"
        " ORDER BY ordinal_position DESC", table,
    ))  # fmt: skip
    return f'UPDATE {table} SET "{column}" = "{column}"'


CHANGES: dict[str, Callable[[str], str]] = {
    "update": update,
    "delete": lambda table: f"DELETE FROM {table}",
    "truncate": lambda table: f"TRUNCATE {table} CASCADE",  # CASCADE: a foreign key must not be what refuses it
}


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_what_is_written_stays(table: str, played: House) -> None:
    before = value(f"SELECT count(*) FROM {table}")
    assert before, f"nothing in {table}: the test would prove nothing"
    for change in CHANGES.values():
        statement = change(table)
        with refused_by("append_only"):
            run(statement)
    assert value(f"SELECT count(*) FROM {table}") == before
    # Without the trigger the same goes through: the refusal was the trigger's, not the statement's.
    statement = update(table)
    run(f"ALTER TABLE {table} DISABLE TRIGGER append_only")
    assert run(statement) == before


@pytest.mark.parametrize("table", ["tables_tableterms", "jackpot_levelterms", "tables_lock"])
def test_terms_are_not_truncated(table: str, played: House) -> None:
    with refused_by("append_only"):
        run(f"TRUNCATE {table} CASCADE")


def test_no_table_of_records_is_forgotten(house: House) -> None:
    """What is not append-only is named here, with why: a new table must be put on one side or the other."""
    changing = {
        "accounting_stream": "its next sequence and head move on",
        "accounting_total": "sums that grow",
        "accounting_gamingday": "is closed",
        "accounting_audithead": "moves on with every audit record",
        "accounting_property": "configuration",
        "office_job": "how far it has come; its result is emptied (a_result_is_kept_for_its_term)",
        "slips_particulars": "who won is emptied after its term (who_won_is_kept_for_its_term)",
        "slips_slipcounter": "the last number (the_counter_moves_with_its_slips)",
        "office_resultfile": "files of long work, kept for a term",
        "office_resultpart": "their content",
        "jackpot_link": "next hit, state",
        "jackpot_level": "configuration",
        "jackpot_levelterms": "end (terms_only_end)",
        "jackpot_meter": "a cache of the last event",
        "tables_lock": "ends (a_lock_only_ends)",
        "tables_table": "state",
        "tables_tableterms": "end (terms_only_end)",
        "devices_attempt": "of the front of a queue",
        "devices_passed": "moves on as a queue does",
        "devices_queued": "emptied by settling",
        "devices_stoppage": "of a stream that stands still, until it goes on",
        "devices_device": "configuration",
        "devices_device_tables": "configuration",
        "devices_contact": "last sign of life of a device",
        "devices_heartbeat": "last sign of life",
        "devices_deal": "digests of what messages hold",
        "devices_looked": "how far deals were looked at",
    }
    ours = {
        name
        for (name,) in rows(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
            " AND split_part(relname, '_', 1) IN ('accounting', 'office', 'slips', 'jackpot', 'tables', 'devices')"
        )
    }
    assert ours == set(APPEND_ONLY) | set(changing)
