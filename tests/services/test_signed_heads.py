"""Heads that were signed and taken away say what the database alone could not: that nothing was cut off or written anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import connection, transaction

from accounting.rules.heads import FILE, Unreadable, from_file, to_file
from accounting.services import closed_days, signing
from devices.audit.closings import compare_heads
from devices.audit.findings import Difference
from tests.services.house import ALONE, RECEIVED, House, forget, message, rows, run, seat, two_hits, value, verify

MORNING = RECEIVED + timedelta(hours=12)
DAY = "2026-11-27"
NEXT = "2026-11-28"


@pytest.fixture
def closed(busy_house: House) -> House:
    """A house that played, closed its day, and played on."""
    busy_house.play(message("R-1"), two_hits("R-2"), message("R-1", table=ALONE), message("R-2", table=ALONE))
    busy_house.close_day(DAY, at=MORNING)
    busy_house.play(message("N-1", table=ALONE, dealt_at="2026-11-28T08:00:00-05:00"), at=MORNING)
    return busy_house


@pytest.fixture
def heads(closed: House, tmp_path: Path) -> Path:
    """The heads, as an auditor took them away."""
    file = tmp_path / "heads.json"
    call_command("heads", out=file)
    return file


def undo_closing() -> None:
    """Take a closing out of the record as whoever owns the database could: every trace of it, on every stream."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchall() == [(True,)], "this is the owner of it all"
        cursor.execute("SET session_replication_role = replica")
    for table in ("closedhead", "closedday", "reading"):
        run(f"DELETE FROM accounting_{table}")
    run("UPDATE accounting_gamingday SET closed_at = NULL")
    run("UPDATE accounting_property SET closed_through = NULL")


def cut_off(stream_id: int, first: int) -> None:
    """Cut off a stream of a lone table, or of a link whose meters did not move since: rows, totals, head, messages."""
    run("DELETE FROM devices_reference WHERE message_id IN (SELECT message_id FROM tables_round WHERE stream_id = %s"
        " AND sequence >= %s)", stream_id, first)  # fmt: skip
    run("DELETE FROM devices_message WHERE id IN (SELECT message_id FROM tables_round WHERE stream_id = %s"
        " AND sequence >= %s)", stream_id, first)  # fmt: skip
    for table in ("tables_round", "tables_payout", "accounting_transfer", "accounting_event", "accounting_document"):
        run(f"DELETE FROM {table} WHERE stream_id = %s AND sequence >= %s", stream_id, first)
    run("UPDATE accounting_stream SET next_sequence = %s, head = (SELECT hash FROM accounting_event"
        " WHERE stream_id = %s AND sequence = %s) WHERE id = %s", first, stream_id, first - 1, stream_id)  # fmt: skip
    run("UPDATE jackpot_meter SET sequence = %s WHERE level_id IN (SELECT level.id FROM jackpot_level level"
        " JOIN jackpot_link link ON link.id = level.link_id WHERE link.stream_id = %s)", first - 1, stream_id)  # fmt: skip
    run("DELETE FROM accounting_total WHERE stream_id = %s", stream_id)
    run(
        """
        INSERT INTO accounting_total (stream_id, account_id, gaming_date, debit_cents, credit_cents)
        SELECT moved.stream_id, side.account_id, event.gaming_date, sum(side.debit), sum(side.credit)
        FROM accounting_transfer moved
        JOIN accounting_event event ON event.stream_id = moved.stream_id AND event.sequence = moved.sequence
        CROSS JOIN LATERAL (VALUES (moved.debit_id, moved.amount_cents, 0), (moved.credit_id, 0, moved.amount_cents))
            AS side (account_id, debit, credit)
        WHERE moved.stream_id = %s GROUP BY 1, 2, 3
        """,
        stream_id,
    )


def without_the_closing(house: House, lone_from: int) -> None:
    """The house as if its day had never been closed, and its lone table had ended before an event."""
    closings = dict(rows("SELECT stream_id, sequence FROM accounting_event WHERE kind = 'day.close'"))
    undo_closing()
    for stream_id, sequence in closings.items():
        cut_off(stream_id, lone_from if stream_id == house.stream(ALONE) else sequence)
    run("SET session_replication_role = origin")
    forget()


def test_a_house_that_plays_on_is_as_it_was_signed(closed: House, heads: Path) -> None:
    said = StringIO()
    call_command("verify", heads=heads, stdout=said)
    assert f"as signed: 3 heads of 1 closed gaming days, by {signing.public_key().hex()}" in said.getvalue()
    closed.close_day(NEXT, at=MORNING + timedelta(days=1))
    assert compare_heads(from_file(heads.read_bytes())) == 3


def test_a_closing_that_was_signed_and_is_not_on_record_is_missed(closed: House, heads: Path) -> None:
    """Every event stands, the days of the closings are gone."""
    undo_closing()
    run("SET session_replication_role = origin")
    with pytest.raises(
        Difference, match=f"gaming day {DAY}: closed day on record: expected the one that was signed, found none"
    ):
        compare_heads(from_file(heads.read_bytes()))


def test_whoever_owns_the_database_cannot_cut_off_the_end_unseen(closed: House, heads: Path) -> None:
    without_the_closing(closed, lone_from=2)
    verify()  # what is left is whole: nothing in the database says that there was more
    with pytest.raises(
        Difference, match=f"event 3 of stream {ALONE}: .* the stream ends with sequence 1, its end is cut off"
    ):
        compare_heads(from_file(heads.read_bytes()), stream=ALONE)
    said = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("verify", heads=heads, stderr=said)
    assert ended.value.code == 1
    assert said.getvalue().startswith(f"DIFFERENT signed head of gaming day {DAY}: event ")


def test_whoever_owns_the_database_cannot_write_the_chain_anew_unseen(
    closed: House, heads: Path, settings: LazySettings
) -> None:
    """Everything is made anew by the service itself, with another hand on the lone table, and signed with another key."""
    without_the_closing(closed, lone_from=2)
    closed.play(message("R-2", seat(1, "Ks Kc"), table=ALONE))
    settings.SIGNING_KEY = "11" * 32
    closed.close_day(DAY, at=MORNING)
    verify()
    assert value("SELECT next_sequence FROM accounting_stream WHERE code = %s", ALONE) == 4
    with pytest.raises(Difference, match=f"hash of event 3 of stream {ALONE}: "):
        compare_heads(from_file(heads.read_bytes()), stream=ALONE)


def test_the_same_chain_signed_by_another_is_named(closed: House, heads: Path, settings: LazySettings) -> None:
    undo_closing()
    (signed,) = from_file(heads.read_bytes())
    ids = dict(rows("SELECT code, id FROM accounting_stream"))
    settings.SIGNING_KEY = "11" * 32
    run("SET session_replication_role = origin")
    with transaction.atomic():
        closed_days.close(signed.statement.day, at=signed.statement.closed_at)
        closed_days.keep(
            signed.statement.day,
            [closed_days.StreamHead(ids[head.stream], head) for head in signed.statement.heads],
            home="BOS",
            at=signed.statement.closed_at,
            proposal=None,
        )
    verify()
    with pytest.raises(Difference, match="signature on record"):
        compare_heads([signed])


FORGED: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "a sequence": (lambda day: day["statement"]["heads"][0].update(sequence=99), "signature: expected one by key"),
    "the signature of the day": (lambda day: day.update(signature="00" * 64), "signature: expected one by key"),
    "the key": (lambda day: day.update(public_key="22" * 32), "signature: expected one by key"),
    "the signature of a stream": (
        lambda day: day["heads"].update({ALONE: "00" * 64}), f"signature of stream {ALONE}: expected one by key",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGED)
def test_a_file_that_was_changed_is_no_witness(what: str, closed: House) -> None:
    file = json.loads(to_file(closed_days.signed_days()))
    change, named = FORGED[what]
    change(file["days"][0])
    with pytest.raises(Difference, match=named):
        compare_heads(from_file(json.dumps(file).encode()))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{}", b'{"what": "signed heads", "edition": 2, "days": []}',
        b'{"what": "signed heads", "edition": 1, "days": [{}]}', b"\xff\xfe",
        b'{"what": "signed heads", "edition": 1, "days": [{"statement": {"what": "closed gaming day", "edition": 1},'
        b' "public_key": "", "signature": "", "heads": {}}]}',
    ],
)  # fmt: skip
def test_what_is_no_file_of_heads_is_refused_in_words(content: bytes, tmp_path: Path, closed: House) -> None:
    with pytest.raises(Unreadable):
        from_file(content)
    file = tmp_path / "heads.json"
    file.write_bytes(content)
    said = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("verify", heads=file, stderr=said)
    assert ended.value.code == 2
    assert said.getvalue().startswith("--heads ")


def test_heads_can_be_exported_and_are_read_back(closed: House) -> None:
    said = StringIO()
    call_command("heads", stdout=said)
    (day,) = from_file(said.getvalue().encode())
    assert json.loads(said.getvalue())["what"] == FILE
    assert day == closed_days.signed_days()[0]
    assert [head.stream for head in day.statement.heads] == [ALONE, "ms-mg01", "twin"]
    key = StringIO()
    call_command("heads", key=True, stdout=key)
    assert key.getvalue().strip() == day.public_key.hex() == signing.public_key().hex()
    none = StringIO()
    call_command("heads", since=day.statement.day + timedelta(days=1), stdout=none)
    assert from_file(none.getvalue().encode()) == []
