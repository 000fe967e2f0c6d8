"""Rounds: released, corrected, called off, and undone when they are settled (CONTRACT §7, DECISIONS A66-A69)."""

from __future__ import annotations

from typing import Any

import pytest

from accounting.rules.acts import ActRefused, Shape
from jackpot.rules.decision import read_act
from jackpot.rules.meter import Meter
from tables.rules.deciding import ACTS, SHAPES
from tables.rules.unclaimed import OF_UNCLAIMED
from tables.rules.withholding import OF_WITHHOLDING
from tests.rules.lines import ROYAL, STRAIGHT_FLUSH, Lines, at, contributed, message, moved

LIABILITY = "level:aa/major:liability"
VOID = "void"


@pytest.mark.parametrize("name", ["round.release", "round.void", "round.correct"])
def test_what_is_asked_of_a_round_that_is_not_there_or_in_no_state_for_it(name: str) -> None:
    lines = Lines()
    payload = {"message": message("R-1", "MS-1", "21:14")} if name == "round.correct" else {}
    assert lines.code(name, "MS-1/R-1", colour=1, **payload) == ("unknown_field", "/payload/colour")
    assert lines.code(name, "MS-1/R-1", **payload) == "unknown_subject"
    assert lines.code(name, "MS-1", **payload) == "unknown_subject"
    assert lines.round("R-1", void=("all",))["outcome"] == VOID
    assert lines.code(name, "MS-1/R-1", **payload) == "wrong_state"


TAXED = set(OF_WITHHOLDING.values())


def test_only_what_people_may_override_is_released() -> None:
    lines = Lines()
    lines.round("R-1", seats=(9, 1), dealing={"players": 7})
    assert lines.code("round.release", "MS-1/R-1") == "not_releasable"
    lines.done("table.close", "MS-1", "21:00")
    lines.round("R-2", void=("all",), dealing={"players": 7})
    released = lines.act("round.release", "MS-1/R-2")
    assert (released["outcome"], released["reasons"]) == (VOID, ["players_mismatch", "table_closed", "shoe_failed"])
    assert lines.code("round.release", "MS-1/R-2") == "wrong_state"


def test_a_correction_is_refused_in_order() -> None:
    lines = Lines()
    lines.round("R-1", dealing={"players": 7})
    good = message("R-1", "MS-1", "21:14")
    correct = ("round.correct", "MS-1/R-1")
    faults: list[tuple[dict[str, Any], Any]] = [
        ({}, ("missing_field", "/payload/message")),
        ({"message": []}, ("invalid_value", "/payload/message")),
        ({"message": good, "override": "all"}, ("invalid_value", "/payload/override")),
        ({"message": good, "override": ["link_not_open", "rain"]}, ("invalid_value", "/payload/override/1")),
        ({"message": good | {"kind": "lock"}}, ("invalid_value", "/payload/message/kind")),
        ({"message": good | {"colour": 1}}, ("unknown_field", "/payload/message/colour")),
        ({"message": good | {"table": "MS-99"}}, ("unknown_table", "/payload/message/table")),
        ({"message": good | {"seats": []}}, ("invalid_value", "/payload/message/seats")),
        ({"message": good | {"round": "R-2"}}, ("invalid_value", "/payload/message/round")),
        ({"message": good | {"table": "MS-2"}}, ("invalid_value", "/payload/message/table")),
        ({"message": good, "override": ["duplicate_card"]}, "not_releasable"),
    ]
    for payload, fault in faults:
        assert lines.code(*correct, **payload) == fault, payload
    lines.act(*correct, message=good)
    assert lines.code(*correct, message=good, override=["duplicate_card"]) == "wrong_state", "before not_releasable"


def test_a_correction_that_is_still_held_changes_nothing() -> None:
    lines = Lines()
    lines.round("R-1", dealing={"players": 7})
    before = lines.standing()
    still = lines.act("round.correct", "MS-1/R-1", message=message("R-1", "MS-1", "21:14", seats=(9,)))
    assert (still["outcome"], still["reasons"]) == ("held", ["seat_not_at_table"])
    assert lines.standing() == before
    released = lines.act("round.release", "MS-1/R-1")
    assert [seat["seat"] for seat in released["seats"]] == [5, 1], "it stayed held as posted"


def test_a_correction_counts_by_its_own_deal_and_names_what_was_overridden() -> None:
    lines = Lines()
    lines.done("link.suspend", "aa", "21:30")
    lines.round("R-1", "MS-1", "21:14", dealing={"players": 7})
    late = message("R-1", "MS-1", "21:40", dealing={"players": 7})
    overridden = ["players_mismatch", "link_not_open", "table_closed"]
    settled = lines.act("round.correct", "MS-1/R-1", message=late, override=overridden)
    assert (settled["outcome"], settled["reasons"]) == ("settled", ["players_mismatch", "link_not_open"])


def test_a_held_round_that_is_called_off_gives_every_stake_back() -> None:
    lines = Lines()
    sent = message("R-1", "MS-5", "21:14", seats=(1,))
    sent["seats"][0]["wagers"]["lucky_ladies"] = 7
    lines.line(sent)
    void = lines.act("round.void", "MS-5/R-1")
    assert (void["outcome"], void["reasons"], void["meters"]) == (VOID, ["voided"], [])
    (seat,) = void["seats"]
    assert (seat["staked_cents"], seat["paid_cents"], seat["result"]) == (4_107, 4_107, VOID)
    assert lines.code("round.void", "MS-5/R-1") == "wrong_state"


def test_a_settled_round_is_undone_last_hit_first_with_later_hits_between() -> None:
    lines = Lines(aa=Meter(11_000))
    lines.round("R-1", board=STRAIGHT_FLUSH)
    lines.round("R-2", "MS-2", board=ROYAL)
    undone = lines.done("round.void", "MS-1/R-1")
    assert moved(undone) == [
        ("awards_payable", LIABILITY, 1_103, "rejection"),
        ("awards_payable", "envy", 30_000, "rejection"),
        (LIABILITY, "contribution_expense", 34, VOID),
        ("adjustments", "level:aa/major:reserve", 6, VOID),
        ("level:aa/major:reserve", "contribution_expense", 6, VOID),
        ("wagers", "table:MS-1:inventory", 8_200, VOID),
        ("table:MS-1:inventory", "fixed_pays", 412_000, VOID),
    ], "the royal has taken the reserve since"
    assert contributed(undone) == {"aa": -34_000_000}
    assert lines.meter("aa") == Meter(10_000 + 1_103 - 34)
    assert lines.code("hit.verify", "aa-000001") == "already_rejected"
    assert lines.code("payout.pay", "MS-1/R-1/1/5", method="cage") == "wrong_state"
    assert lines.code("round.void", "MS-1/R-1") == "wrong_state"


def test_a_round_whose_award_is_paid_is_not_undone_and_paid_envy_stands() -> None:
    lines = Lines()
    lines.round("R-1", board=STRAIGHT_FLUSH, seats=(5, 2, 1))
    lines.done("payout.pay", "MS-1/R-1/2/5", method="cage")
    for step in ("hit.verify", "hit.approve"):
        lines.done(step, "aa-000001")
    lines.round("R-2", "MS-2", board=STRAIGHT_FLUSH)
    lines.done("hit.reject", "aa-000002")
    assert not any(row[0] == "awards_payable" for row in moved(lines.done("round.void", "MS-2/R-2"))), "rejected before"
    undone = moved(lines.done("round.void", "MS-1/R-1"))
    assert [row for row in undone if row[1] == "envy"] == [("awards_payable", "envy", 30_000, "rejection")]
    lines.round("R-3", board=STRAIGHT_FLUSH)
    for step in ("hit.verify", "hit.approve"):
        lines.done(step, "aa-000003")
    lines.done("hit.pay", "aa-000003", method="cage")
    assert lines.code("round.void", "MS-1/R-3") == "award_paid"


def test_a_round_on_no_link_gives_back_stakes_and_pays_alone() -> None:
    lines = Lines()
    lines.round("R-1", "MS-5", betting=())
    undone = lines.done("round.void", "MS-5/R-1")
    assert moved(undone) == [
        ("wagers", "table:MS-5:inventory", 8_000, VOID),
        ("table:MS-5:inventory", "fixed_pays", 8_000, VOID),
    ]
    assert undone["meters"] == []


def test_what_overflowed_is_taken_from_the_overflow_to_the_millionth() -> None:
    lines = Lines(cc=Meter(20_099, 990_000))
    lines.round("R-1", "MS-4", seats=(1,))
    assert lines.meter("cc") == Meter(20_100, 0, 3, 111_300, 25, 311_700)
    undone = lines.done("round.void", "MS-4/R-1")
    assert contributed(undone) == {"cc": -25_321_700}
    assert lines.meter("cc") == Meter(20_099, 990_000)


def test_every_act_of_the_contract_has_a_shape_and_a_decider() -> None:
    assert SHAPES.keys() <= ACTS.keys()
    assert SHAPES.keys() >= OF_UNCLAIMED | TAXED
    assert len(SHAPES) == 23 + len(OF_UNCLAIMED) + len(TAXED), "CONTRACT §7, what nobody came for, and tax withheld"
    assert all(isinstance(shape, Shape) and shape.schema()["type"] == "object" for shape in SHAPES.values())


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ({"act": "link.open", "colour": 1}, ("unknown_field", "/colour")),
        ({"act": "link.blow", "at": 1}, ("invalid_value", "/act")),
        ({"act": ["link.open"]}, ("invalid_value", "/act")),
        ({"act": "link.open", "at": 1}, ("missing_field", "/subject")),
        ({"act": "link.open", "subject": 1}, ("invalid_value", "/subject")),
        ({"act": "link.open", "subject": "aa"}, ("missing_field", "/at")),
        ({"act": "link.open", "subject": "aa", "at": "22:00"}, ("invalid_value", "/at")),
        ({"act": "link.open", "subject": "aa", "at": at("22:00"), "payload": []}, ("invalid_value", "/payload")),
    ],
)
def test_a_line_that_is_no_act_is_refused_at_its_first_fault(line: dict[str, Any], fault: tuple[str, str]) -> None:
    with pytest.raises(ActRefused) as refused:
        read_act(line, SHAPES)
    assert (refused.value.code, refused.value.pointer) == fault
