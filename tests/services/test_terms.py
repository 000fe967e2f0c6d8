"""The terms a stream is settled under are kept, and dropped when they move or anything fails (ARCHITECTURE §3, §8)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tables.services import rounds, terms
from tests.services.house import LINKED, House, earlier_door, message, run, seat


def close_table(*, moving: bool) -> None:
    """Close a table; with `moving` the stream's version says so, as whoever changes terms must."""
    run("UPDATE tables_table SET state = 'closed' WHERE code = %s", LINKED)
    if moving:
        run("UPDATE accounting_stream SET terms_version = terms_version + 1 WHERE code = 'ms-mg01'")


def test_kept_terms_cost_no_query(house: House) -> None:
    house.play(message("R-1"))
    house.post(message("R-2"))
    with CaptureQueriesContext(connection) as queries:
        house.settle()
    read = [
        query["sql"] for query in queries if "tables_tableterms" in query["sql"] or "jackpot_levelterms" in query["sql"]
    ]
    assert read == []


def test_a_batch_costs_the_same_statements_whatever_its_size(house: House) -> None:
    """No query per round (ARCHITECTURE §7)."""
    house.play(message("R-0"))

    def statements(*sent: dict[str, Any]) -> int:
        house.post(*sent)
        with CaptureQueriesContext(connection) as queries:
            house.settle()
        return len(queries)

    one = statements(message("R-1"))
    assert statements(*(message(f"S-{number}") for number in range(40))) == one


def test_terms_are_read_anew_when_their_version_moves(house: House) -> None:
    before, after = message("R-1"), message("R-2")
    house.play(before)
    close_table(moving=False)
    house.play(unseen := message("R-1b"))
    assert house.outcome(unseen) == ("settled", []), "the version did not move: what is kept counts"
    run("UPDATE accounting_stream SET terms_version = terms_version + 1 WHERE code = 'ms-mg01'")
    house.play(after)
    assert house.outcome(after) == ("held", ["table_closed"])


def test_only_the_stream_whose_terms_moved_is_read_anew(house: House) -> None:
    house.play(message("R-1"), message("R-1", seat(1, "3s 7d", progressive=500), table="TW-201"))
    kept = dict(terms._KEPT)
    close_table(moving=True)
    house.play(message("R-2"), message("R-2", seat(1, "3s 7d", progressive=500), table="TW-201"))
    twin, mg = house.stream("twin"), house.stream("ms-mg01")
    assert terms._KEPT[twin] is kept[twin]
    assert terms._KEPT[mg][1] is not kept[mg][1]


def test_nothing_is_kept_after_a_database_error(house: House) -> None:
    """After any exception every cached state is dropped: what is known may be half-known (ARCHITECTURE §8)."""
    house.play(message("R-1"))
    assert terms._KEPT
    seen: list[bool] = []
    real = rounds.settle_batch

    def watched(*args: Any, **more: Any) -> Any:
        seen.append(bool(terms._KEPT))
        return real(*args, **more)

    with earlier_door(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "settle_batch", watched)
        house.play(message("R-2", seat(1, "3s 7d", three_card_bonus=3 * 10**17), community="2c 3c 4c"))
    assert seen == [True, False]


def test_what_a_web_process_keeps_of_tables_and_devices_is_a_second_old_at_most(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from devices.services import directory

    now = [100.0]
    monkeypatch.setattr("devices.services.directory.time.monotonic", lambda: now[0])
    directory.forget()
    first = directory.current()
    now[0] += 0.999
    assert directory.current() is first
    now[0] += 0.001
    assert directory.current() is not first
