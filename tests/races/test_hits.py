"""People who take the same hit on at the same moment: one of them has it, and the books know of that one only."""

from __future__ import annotations

from typing import Any

import pytest

from accounting.rules.acts import ActRefused
from devices.intake import settling
from tests.races.together import at_once
from tests.services.house import LINKED, NEIGHBOUR, RECEIVED, House, message, rows, royal, two_hits, value, verify

FIRST = "ms-mg01-000001"


def tried(house: House, name: str, subject: str, **payload: Any) -> str:
    """Do an act; done, or the code that it is refused with."""
    try:
        house.act(name, subject, **payload)
    except ActRefused as refusal:
        return refusal.code
    return "done"


@pytest.mark.parametrize("again", range(5))
def test_a_hit_is_paid_or_rejected_and_never_both(again: int, busy_house: House) -> None:
    house = busy_house
    house.play(royal("R-1"))
    house.act("hit.verify", FIRST)
    house.act("hit.approve", FIRST)

    def act(number: int) -> str:
        if number % 2:
            return tried(house, "hit.reject", FIRST)
        return tried(house, "hit.pay", FIRST, method="cage")

    answers = at_once(6, act)
    assert answers.count("done") == 1, answers
    over = "paid" if answers.index("done") % 2 == 0 else "rejected"
    assert set(answers) == {"done", f"already_{over}"}
    assert rows("SELECT state FROM jackpot_hitstep WHERE state IN ('paid', 'rejected')") == [(over,)]
    assert value("SELECT count(*) FROM accounting_event WHERE kind IN ('hit.pay', 'hit.reject')") == 1
    verify()


def test_envy_is_paid_once_while_its_hit_is_rejected_and_its_round_voided(busy_house: House) -> None:
    house = busy_house
    house.play(two_hits("R-1"))
    envy = f"{LINKED}/R-1/4/2"

    def act(number: int) -> str:
        if number == 0:
            return tried(house, "hit.reject", "ms-mg01-000002")
        if number == 1:
            return tried(house, "round.void", f"{LINKED}/R-1")
        return tried(house, "payout.pay", envy, method="table")

    answers = at_once(6, act)
    assert answers[1] == "done"
    assert answers[0] in ("done", "already_rejected")
    assert answers[2:].count("done") <= 1
    assert set(answers[2:]) <= {"done", "already_paid", "wrong_state"}
    ended = rows("SELECT state, count(*) FROM tables_envyend GROUP BY 1")
    assert sum(count for _, count in ended) == 4
    assert dict(ended).get("paid", 0) == answers[2:].count("done")
    verify()


def test_two_tables_that_hit_at_once_have_one_order_while_an_earlier_hit_is_rejected(busy_house: House) -> None:
    """Rounds are settled, and the hit before them rejected, in whatever order: it is stored, has no gap, and is replayed."""
    house = busy_house
    house.play(royal("R-1"))
    house.post(royal("R-2"), message("R-3", table=NEIGHBOUR), royal("R-4", table=NEIGHBOUR))

    def act(number: int) -> Any:
        if number == 0:
            return tried(house, "hit.reject", FIRST)
        return settling.drain(clock=lambda: RECEIVED)

    assert at_once(3, act)[0] == "done"
    house.settle()
    assert rows("SELECT number, round FROM jackpot_hit ORDER BY sequence") == [(1, "R-1"), (2, "R-2"), (3, "R-4")]
    assert rows("SELECT sequence FROM accounting_event WHERE stream_id = %s ORDER BY 1", house.stream("ms-mg01")) == [
        (number,) for number in range(6)
    ]
    verify()


@pytest.mark.parametrize("again", range(3))
def test_a_held_round_that_is_released_meanwhile_is_not_called_off_as_a_held_one(again: int, busy_house: House) -> None:
    """Who waits for the stream with the void of a held round finds it settled: nobody has agreed to undo that."""
    house = busy_house
    house.play(message("held", dealing={"method": "shuffler", "players": 5}))
    subject = f"{LINKED}/held"

    def act(number: int) -> str:
        return tried(house, "round.release" if number < 2 else "round.void", subject)

    answers = at_once(8, act)
    assert answers.count("done") >= 1 and set(answers) <= {"done", "wrong_state"}, answers
    kinds = [
        kind
        for (kind,) in rows(
            "SELECT kind FROM accounting_event WHERE kind IN ('round.release', 'round.void') ORDER BY sequence"
        )
    ]
    assert kinds in (["round.release"], ["round.void"], ["round.release", "round.void"])
    assert answers.count("done") == len(kinds)
    verify()
