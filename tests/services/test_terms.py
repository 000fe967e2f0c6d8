"""The terms a stream is settled under are kept, and dropped when they move or anything fails (ARCHITECTURE §3, §8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tables.services import rounds, terms
from tests.services.house import DEALT, LINKED, RECEIVED, House, earlier_door, message, rows, seat, value


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
    house.play(before, at=DEALT)
    kept = terms._KEPT[house.stream("ms-mg01")]
    house.play(message("R-1b"), at=DEALT)
    assert terms._KEPT[house.stream("ms-mg01")] is kept, "the version did not move: what is kept counts"
    house.act("table.close", LINKED, at=DEALT)
    house.play(after)
    assert house.outcome(after) == ("held", ["table_closed"])
    assert terms._KEPT[house.stream("ms-mg01")] is not kept


def test_only_the_stream_whose_terms_moved_is_read_anew(house: House) -> None:
    house.play(message("R-1"), message("R-1", seat(1, "3s 7d", progressive=500), table="TW-201"))
    kept = dict(terms._KEPT)
    house.act("table.close", LINKED, at=DEALT)
    house.play(message("R-2"), message("R-2", seat(1, "3s 7d", progressive=500), table="TW-201"))
    twin, mg = house.stream("twin"), house.stream("ms-mg01")
    assert terms._KEPT[twin] is kept[twin]
    assert terms._KEPT[mg][1] is not kept[mg][1]


def test_an_act_that_is_rolled_back_leaves_nothing_kept(house: House) -> None:
    """Versions are used again after a rollback: whoever kept the terms of one that never was would settle by them."""
    house.play(message("R-1"), at=DEALT)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        house.act("table.close", LINKED, at=DEALT)
        raise ZeroDivisionError
    house.play(sent := message("R-2"), at=DEALT)
    assert house.outcome(sent) == ("settled", [])
    house.act("table.terms", LINKED, at=DEALT, minimum_cents=2_500)
    house.play(sent := message("R-3"))
    assert house.outcome(sent) == ("held", ["wager_not_allowed"])


def test_a_round_names_the_terms_that_it_was_settled_under(house: House) -> None:
    """Of several editions of its table's the one that counted."""
    least = {}
    for number, minimum in enumerate((None, 700, 300, 500)):
        at = RECEIVED + timedelta(minutes=number)
        if minimum is not None:
            house.act("table.terms", LINKED, at=at, minimum_cents=minimum)
        house.play(
            message(f"R-{number}", dealt_at=(at + timedelta(seconds=5)).isoformat()), at=at + timedelta(seconds=9)
        )
        least[f"R-{number}"] = minimum or terms_of_opening()
    named = rows(
        "SELECT round.reference, terms.minimum_cents FROM tables_round round"
        " JOIN tables_tableterms terms ON terms.id = round.terms_id"
    )
    assert dict(named) == least


def terms_of_opening() -> int:
    """The minimum that the table was opened with."""
    found: int = value(
        "SELECT minimum_cents FROM tables_tableterms JOIN tables_table tabl ON tabl.id = table_id WHERE tabl.code = %s"
        " ORDER BY tables_tableterms.id LIMIT 1",
        LINKED,
    )
    return found


def test_nothing_is_kept_after_a_database_error(house: House) -> None:
    """After any exception every cached state is dropped: what is known may be half-known (ARCHITECTURE §8)."""
    house.play(message("R-1"))
    _, kept = terms._KEPT[house.stream("ms-mg01")]
    seen: list[bool] = []
    real = rounds.settle_batch

    def watched(*args: Any, **more: Any) -> Any:
        seen.append(terms._KEPT[house.stream("ms-mg01")][1] is kept)
        return real(*args, **more)

    with earlier_door(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "settle_batch", watched)
        house.play(message("R-2", seat(1, "3s 7d", three_card_bonus=3 * 10**17), community="2c 3c 4c"))
    assert seen == [True, False]


def test_what_a_web_process_keeps_of_tables_and_devices_is_a_second_old_at_most(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from devices.intake import directory

    now = [100.0]
    monkeypatch.setattr("devices.intake.directory.time.monotonic", lambda: now[0])
    directory.forget()
    first = directory.current()
    now[0] += 0.999
    assert directory.current() is first
    now[0] += 0.001
    assert directory.current() is not first
