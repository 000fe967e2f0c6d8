"""An error of ours is no evidence against a message: the stream stands still, says why, and goes on when it is mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, ProgrammingError
from django.test import Client

from accounting.services.ledger import UnknownAccount
from devices.intake import settling
from jackpot.services.meters import LinkMeters
from tables.rules import books
from tables.services import locks, rounds, routing, terms
from tests.services import auditor
from tests.services.house import ALONE, LINKED, RECEIVED, TWIN, House, locked, message, rows, royal, run, value, verify

LINK = "ms-mg01"


def stopped() -> list[tuple[str, str]]:
    """The streams that stand still, and why."""
    return rows("SELECT code, reason FROM devices_stoppage JOIN accounting_stream ON id = stream_id ORDER BY code")


def stands_still(house: House, error: type[Exception], why: str, *, times: int = 8) -> None:
    """However often it is tried: nothing is held, no attempt counts, and health says why."""
    before = house.waiting(), house.order()
    for _ in range(times):
        with pytest.raises(error):
            settling.settle_next(house.stream(LINK), clock=lambda: RECEIVED)
    assert (house.waiting(), house.order()) == before
    assert value("SELECT count(*) FROM tables_hold") == 0
    assert value("SELECT coalesce(max(attempts), 0) FROM devices_attempt") == 0
    ((stream, reason),) = stopped()
    assert (stream, why in reason) == (LINK, True), reason
    settling.beat("sweep", RECEIVED)
    body = Client().get("/api/v1/health").json()
    assert [(each["stream"], each["reason"]) for each in body["stopped"]] == [(LINK, reason)]
    assert (body["status"], body["streams"][0]["reason"]) == ("stalled", reason)  # it has waited since RECEIVED
    run("UPDATE devices_queued SET received_at = now()")
    run("UPDATE devices_heartbeat SET seen_at = now()")
    answer = Client().get("/api/v1/health")
    assert (answer.status_code, answer.json()["status"]) == (200, f"stream {LINK} stands still: {reason}")


def goes_on(house: House) -> None:
    """Mended: everything that waited is settled in its order, and nothing is said any more."""
    assert house.settle() == len(house.posted)
    assert [sent["round"] for sent in house.posted if sent["table"] == LINKED] == house.order()
    assert stopped() == []
    assert Client().get("/api/v1/health").json()["stopped"] == []
    auditor.everything_agrees()
    verify()


@contextmanager
def column_gone(table: str, column: str) -> Iterator[None]:
    """A column that the code needs is missing, as it is while a newer version's migration has run."""
    run(f"ALTER TABLE {table} RENAME COLUMN {column} TO gone")
    yield
    run(f"ALTER TABLE {table} RENAME COLUMN gone TO {column}")


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("tables_payout", "hand"), ("accounting_event", "subject"), ("jackpot_meter", "wagers"),
        ("accounting_total", "debit_cents"), ("jackpot_hit", "seat"), ("devices_message", "digest"),
        ("accounting_property", "closed_through"),
    ],
)  # fmt: skip
def test_a_column_that_is_missing(table: str, column: str, busy_house: House) -> None:
    busy_house.play(message("R-0"))
    busy_house.posted.clear()
    busy_house.post(royal("R-1"), message("R-2"), message("R-3"))
    terms.forget()
    with column_gone(table, column):
        for _ in range(8):
            with pytest.raises(ProgrammingError):
                settling.settle_next(busy_house.stream(LINK), clock=lambda: RECEIVED)
        assert value("SELECT count(*) FROM tables_hold") == 0
        assert value("SELECT attempts FROM devices_attempt") == 0
        ((stream, reason),) = stopped()
        assert stream == LINK
        assert column in reason
    assert busy_house.settle() == 3
    assert busy_house.order() == ["R-0", "R-1", "R-2", "R-3"]
    assert stopped() == []
    auditor.everything_agrees()


def test_a_permission_that_was_revoked(busy_house: House) -> None:
    """The settling role may not write meters: as `docker/roles.sql` would leave it with one line too few."""
    busy_house.post(royal("R-1"), message("R-2"))
    run("""
        CREATE ROLE settling;
        GRANT USAGE ON SCHEMA public TO settling;
        GRANT ALL ON ALL TABLES IN SCHEMA public TO settling;
        GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO settling;
        GRANT EXECUTE ON FUNCTION pg_try_advisory_lock(bigint), pg_advisory_unlock(bigint) TO settling;
        REVOKE UPDATE ON jackpot_meter FROM settling;
    """)
    try:
        run("SET ROLE settling")
        stands_still(busy_house, ProgrammingError, "permission denied for table jackpot_meter")
        run("RESET ROLE")
        run("GRANT UPDATE ON jackpot_meter TO settling")
        run("SET ROLE settling")
        busy_house.settle()
    finally:
        run("RESET ROLE")
        run("DROP OWNED BY settling; DROP ROLE settling")
    assert stopped() == []
    assert busy_house.order() == ["R-1", "R-2"]
    auditor.everything_agrees()


def test_a_clash_on_the_number_of_an_event(busy_house: House) -> None:
    """A row that should not be there has the number that the stream would give next."""
    busy_house.post(royal("R-1"), message("R-2"))
    run("SET session_replication_role = replica")
    run("""
        INSERT INTO accounting_event (stream_id, sequence, kind, subject, gaming_date, original_date, recorded_at, rules,
            message_digest, result_digest, previous, hash)
        SELECT stream_id, 2, 'round', subject, gaming_date, original_date, recorded_at, rules,
            message_digest, result_digest, previous, hash FROM accounting_event
        WHERE stream_id = %s AND sequence = 0
    """, busy_house.stream(LINK))  # fmt: skip
    run("SET session_replication_role = origin")
    stands_still(busy_house, IntegrityError, "accounting_event_pkey")
    run("SET session_replication_role = replica")
    run("DELETE FROM accounting_event WHERE sequence = 2")
    run("SET session_replication_role = origin")
    goes_on(busy_house)


def test_a_total_that_is_full(busy_house: House) -> None:
    """What the messages add up to fits no column any more; no message is at fault by itself."""
    busy_house.play(message("R-0"))
    busy_house.posted.clear()
    run(
        "UPDATE accounting_total SET debit_cents = 10::numeric ^ 40 - 1 WHERE debit_cents > 0 AND gaming_date > '2026-11-02'"
    )
    busy_house.post(message("R-1"))
    for _ in range(5):
        with pytest.raises(DatabaseError, match="numeric field overflow"):
            settling.settle_next(busy_house.stream(LINK), clock=lambda: RECEIVED)
    assert value("SELECT count(*) FROM tables_hold") == 0
    ((stream, reason),) = stopped()
    assert stream == LINK
    assert "numeric field overflow" in reason


def test_a_guard_of_ours_that_refuses(busy_house: House) -> None:
    """A trigger's own exception says nothing against a message, whichever rows it looks at."""
    busy_house.post(royal("R-1"), message("R-2"))
    run("""
        CREATE FUNCTION not_today() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$;
        CREATE TRIGGER not_today AFTER INSERT ON tables_payout FOR EACH STATEMENT EXECUTE FUNCTION not_today();
    """)
    stands_still(busy_house, DatabaseError, "not today")
    run("DROP TRIGGER not_today ON tables_payout")
    goes_on(busy_house)


def test_an_orphan_is_a_fault_of_ours(busy_house: House) -> None:
    """An account that was there when the terms were read is gone: refused by the guard, then unknown when read anew."""
    busy_house.play(message("R-0"))
    busy_house.post(royal("R-1"), message("R-2"))
    run("SET session_replication_role = replica")
    run("DELETE FROM accounting_account WHERE code = 'envy'")
    run("SET session_replication_role = origin")
    for error, why in ((IntegrityError, "refers to no accounting_account"), (UnknownAccount, "envy")):
        with pytest.raises(error, match=why):
            settling.settle_next(busy_house.stream(LINK), clock=lambda: RECEIVED)
        ((_, reason),) = stopped()
        assert why in reason
    assert value("SELECT count(*) FROM tables_hold") == 0
    assert value("SELECT attempts FROM devices_attempt") == 0


def account_never_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    real = books.posting

    def posting(*arguments: Any, **more: Any) -> Any:
        found = real(*arguments, **more)
        return found._replace(movements=[movement._replace(debit="slot drop") for movement in found.movements])

    monkeypatch.setattr(books, "posting", posting)


def meters_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def apply(self: LinkMeters, **more: Any) -> None:
        raise KeyError("no such level")

    monkeypatch.setattr(LinkMeters, "apply", apply)


def memory_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    def posting(*arguments: Any, **more: Any) -> Any:
        raise MemoryError("no room for the books")

    monkeypatch.setattr(books, "posting", posting)


OURS: list[tuple[Callable[[pytest.MonkeyPatch], None], type[Exception], str]] = [
    (account_never_opened, UnknownAccount, "UnknownAccount: slot drop"),
    (meters_broken, KeyError, "KeyError: 'no such level'"),
    (memory_spent, MemoryError, "MemoryError: no room for the books"),
]


@pytest.mark.parametrize(("fault", "error", "why"), OURS, ids=[each[2] for each in OURS])
def test_an_exception_of_the_services_around_the_rules(
    fault: Callable[[pytest.MonkeyPatch], None],
    error: type[Exception],
    why: str,
    busy_house: House,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy_house.post(royal("R-1"), message("R-2"))
    with monkeypatch.context() as broken:
        fault(broken)
        stands_still(busy_house, error, why)
    goes_on(busy_house)


def spent(*arguments: Any, **more: Any) -> Any:
    raise MemoryError("no room " * 100)


@pytest.mark.parametrize(
    ("module", "name"), [(rounds, "decode"), (rounds, "decide_result"), (locks, "decide_lock"), (routing, "decode")]
)
def test_memory_that_is_spent_says_nothing_against_a_message(
    module: ModuleType, name: str, busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it ends: neither a round is held nor a lock set aside for it."""
    if module is routing:
        busy_house.act("table.leave", LINKED)  # its rounds from before are the link's
    busy_house.post(locked("R-1") if module is locks else message("R-1"))
    (stream,) = settling.streams_waiting()
    with monkeypatch.context() as broken:
        broken.setattr(module, name, spent)
        with pytest.raises(MemoryError):
            settling.settle_next(stream, clock=lambda: RECEIVED)
    said = f"MemoryError: {'no room ' * 100}"[:300]
    assert (busy_house.waiting(), [reason for _, reason in stopped()]) == (1, [said])
    while waiting := settling.streams_waiting():
        settling.settle_next(waiting[0], clock=lambda: RECEIVED)
    found = [value(f"SELECT count(*) FROM tables_{table}") for table in ("round", "lock", "hold", "locksetaside")]
    assert found == ([0, 1, 0, 0] if module is locks else [1, 0, 0, 0])


def test_other_streams_go_on(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that meets one link stops that one alone."""
    busy_house.post(message("R-1"), message("R-1", table=TWIN), message("R-1", table=ALONE))
    with monkeypatch.context() as broken:
        real = LinkMeters.apply

        def apply(self: LinkMeters, **more: Any) -> None:
            if self.link == LINK:
                raise KeyError("no such level")
            real(self, **more)

        broken.setattr(LinkMeters, "apply", apply)
        for stream in ("twin", ALONE, LINK):
            try:
                settling.settle_next(busy_house.stream(stream), clock=lambda: RECEIVED)
            except KeyError:
                assert stream == LINK
    assert (busy_house.order("twin"), busy_house.order(ALONE)) == (["R-1"], ["R-1"])
    assert [stream for stream, _ in stopped()] == [LINK]


def test_a_stream_has_stood_still_since_the_first_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.post(message("R-1"))
    moments = [RECEIVED, RECEIVED.replace(hour=5)]
    for number, at in enumerate(moments):
        with monkeypatch.context() as broken, pytest.raises(ValueError, match=str(number)):

            def act(*arguments: Any, number: int = number, **more: Any) -> Any:
                raise ValueError(f"number {number}\nand more")

            broken.setattr(rounds, "settle_batch", act)
            settling.settle_next(house.stream(LINK), clock=[at, at].pop)
    assert rows("SELECT since, reason FROM devices_stoppage") == [(moments[0], "ValueError: number 1")]
    house.settle()
    assert stopped() == []
