"""Random play on the whole floor: whatever happens, the books agree to the cent (ARCHITECTURE §4.4, §4.5)."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from accounting.queries import trial_balance
from devices.intake import settling
from devices.simulator import rig
from devices.simulator.floor import FIRST_DEAL, Play
from devices.simulator.irregularities import Rates
from jackpot.queries import liabilities, link_states
from tables.rules.floor import read_floor
from tables.services import rounds
from tests.services import auditor
from tests.services.house import FLOOR, House, rows, value, verify

RIGS = ("royal@20", "straight_flush@10:TW-201", "four_of_a_kind@15:TW-201", "royal@25:TW-201", "straight_flush@120",
        "four_of_a_kind@40:TW-201", "royal@50:MS-102", "straight_flush@51:MS-101")  # fmt: skip


def dealt(seed: int, rounds: int) -> list[dict[str, Any]]:
    """Rounds of every table, with jackpots and fifty times the usual mishaps."""
    play = Play(
        read_floor(FLOOR).tables, seed=seed, rigs=[rig.read(text) for text in RIGS], rates=Rates(times=30),
        start=FIRST_DEAL,
    )  # fmt: skip
    return play.first(rounds)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_books_agree_after_random_play(seed: int, busy_house: House) -> None:
    rng = random.Random(seed)
    messages = dealt(seed, 350)
    last = FIRST_DEAL + timedelta(days=1)
    while messages:
        size = rng.choice((1, 1, 7, 40))
        busy_house.post(*messages[:size], at=last)
        del messages[:size]
        if rng.random() < 0.5:
            for stream in settling.streams_waiting():
                settling.settle_next(stream, clock=lambda: last, limit=rng.choice((1, 3, 25, 1_000)))
    busy_house.settle(last)
    auditor.everything_agrees()
    outcomes = Counter(dict(rows("SELECT outcome, count(*) FROM tables_round GROUP BY outcome")))
    held = value("SELECT count(*) FROM tables_hold")
    assert sum(outcomes.values()) + held == 350
    assert outcomes["void"] > 0
    assert held > 0
    assert value("SELECT count(*) FROM jackpot_hit") >= 8
    assert value("SELECT count(DISTINCT gaming_date) FROM accounting_event") >= 2
    counts = verify()
    assert (counts.rounds, counts.holds, counts.messages) == (sum(outcomes.values()), held, 350)
    what_pages_read_agrees()


def what_pages_read_agrees() -> None:
    """The queries that people and signs read give what the rows give."""
    balances = liabilities()
    assert balances
    assert all(balance.agrees for balance in balances)
    by_level = {(balance.link, balance.level): balance.meter_cents for balance in balances}
    for link in link_states():
        for level in link["levels"]:
            assert level["value_cents"] == by_level[link["code"], level["code"]]
    last_day = value("SELECT max(gaming_date) FROM accounting_total")
    lines = trial_balance(last_day)
    assert sum(line.after_cents for line in lines) == 0
    assert sum(line.debit_cents for line in lines) == sum(line.credit_cents for line in lines) > 0
    owed = {line.code: -line.after_cents for line in lines}
    for (link_code, level_code), cents in by_level.items():
        assert owed[f"level:{link_code}/{level_code}:liability"] == cents


def test_the_same_rounds_in_other_posts_and_batches_come_to_the_same_record(busy_house: House) -> None:
    """Settlement is a function of the order alone: resettling in other cuts gives the same settlements, byte for byte."""
    messages = dealt(5, 1_200)
    last = FIRST_DEAL + timedelta(days=1)

    def record() -> list[tuple[Any, ...]]:
        return rows("""SELECT stream.code, sequence, reference, outcome, settlement FROM tables_round
            JOIN accounting_stream stream ON stream.id = stream_id ORDER BY 1, 2""")  # fmt: skip

    busy_house.post(*messages[:1_000], at=last)
    busy_house.post(*messages[1_000:], at=last)
    busy_house.settle(last)
    at_once = record()
    of_stream = Counter(stream for stream, *_ in at_once)
    assert max(of_stream.values()) > 2 * rounds.PORTION, "one batch, several portions"
    empty_the_house()
    for sent in messages:
        busy_house.post(sent, at=last)
    while any(settling.settle_next(stream, clock=lambda: last, limit=7).more for stream in settling.streams_waiting()):
        pass
    busy_house.settle(last)
    assert record() == at_once
    auditor.everything_agrees()


def empty_the_house() -> None:
    """Take everything back to the opening, past every guard."""
    from tests.services.house import run

    run("""
        SET session_replication_role = replica;
        DELETE FROM devices_message; DELETE FROM devices_reference; DELETE FROM devices_queued; DELETE FROM devices_attempt;
        DELETE FROM tables_round; DELETE FROM tables_hold; DELETE FROM tables_payout;
        DELETE FROM jackpot_hitstep; DELETE FROM jackpot_hit; UPDATE jackpot_link SET next_hit = 1;
        DELETE FROM accounting_transfer WHERE sequence > 0; DELETE FROM accounting_event WHERE sequence > 0;
        DELETE FROM accounting_total WHERE gaming_date > '2026-11-01';
        UPDATE accounting_stream stream SET next_sequence = 1,
            head = (SELECT hash FROM accounting_event WHERE stream_id = stream.id AND sequence = 0);
        UPDATE jackpot_meter meter SET value_cents = terms.reset_cents, residual_millionths = 0, reserve_cents = 0,
            reserve_residual_millionths = 0, overflow_cents = 0, overflow_residual_millionths = 0, wagers = 0, hits = 0,
            wins_cents = 0, contributed_millionths = 0, reserved_millionths = 0, overflowed_millionths = 0, sequence = 0
            FROM jackpot_levelterms terms WHERE terms.level_id = meter.level_id;
        SET session_replication_role = origin;
    """)
