"""Locks: at the door, what they contribute, and how their result or their void undoes it (DECISIONS A50-A52)."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.rules.meter import Meter
from tables.rules import lock
from tables.rules.door import Refusal
from tests.rules.lines import Lines, at, contributed, locking, moved

GOOD = locking("R-1", "MS-1", "21:13")
SEAT = {"seat": 1, "wagers": {"progressive": 100}}
VOID = "void"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "result", "colour": 1}, ("invalid_value", "/kind")),
        ({"kind": None}, ("invalid_value", "/kind")),
        ({"dealt_at": at("21:13"), "round": 7}, ("unknown_field", "/dealt_at")),
        ({"round": ""}, ("invalid_value", "/round")),
        ({"round": "x" * 65}, ("invalid_value", "/round")),
        ({"table": 7, "locked_at": 1}, ("invalid_value", "/table")),
        ({"table": "MS-99", "locked_at": 1}, ("unknown_table", "/table")),
        ({"locked_at": "2026-11-27T21:13:00", "seats": []}, ("invalid_value", "/locked_at")),
        ({"locked_at": "1899-12-31T23:59:59Z"}, ("invalid_value", "/locked_at")),
        ({"seats": []}, ("invalid_value", "/seats")),
        ({"seats": {}}, ("invalid_value", "/seats")),
        ({"seats": [1]}, ("invalid_value", "/seats/0")),
        ({"seats": [SEAT | {"cards": []}]}, ("unknown_field", "/seats/0/cards")),
        ({"seats": [{"wagers": {"progressive": 100}}]}, ("missing_field", "/seats/0/seat")),
        ({"seats": [SEAT | {"seat": 0}]}, ("invalid_value", "/seats/0/seat")),
        ({"seats": [SEAT | {"seat": True}]}, ("invalid_value", "/seats/0/seat")),
        ({"seats": [SEAT | {"seat": 10**30}]}, ("invalid_value", "/seats/0/seat")),
        ({"seats": [SEAT, SEAT]}, ("duplicate_seat", "/seats/1/seat")),
        ({"seats": [{"seat": 1}]}, ("missing_field", "/seats/0/wagers")),
        ({"seats": [SEAT | {"wagers": []}]}, ("invalid_value", "/seats/0/wagers")),
        ({"seats": [SEAT | {"wagers": {}}]}, ("missing_field", "/seats/0/wagers/progressive")),
        ({"seats": [SEAT | {"wagers": {"progressive": 100, "ante": 1}}]}, ("unknown_field", "/seats/0/wagers/ante")),
        ({"seats": [SEAT | {"wagers": {"progressive": 0}}]}, ("invalid_value", "/seats/0/wagers/progressive")),
        ({"seats": [SEAT | {"wagers": {"progressive": 1.0}}]}, ("invalid_value", "/seats/0/wagers/progressive")),
        ({"seats": [SEAT | {"wagers": {"progressive": 10**12 + 1}}]}, ("invalid_value", "/seats/0/wagers/progressive")),
        ({"sequence": 0}, ("invalid_value", "/sequence")),
    ],
)
def test_a_lock_is_refused_for_its_first_fault(change: dict[str, Any], fault: tuple[str, str]) -> None:
    refused = lock.read(GOOD | change, {"MS-1"})
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.pointer) == fault


@pytest.mark.parametrize("key", ["round", "table", "locked_at", "seats"])
def test_a_key_that_is_missing_is_named(key: str) -> None:
    value = {name: entry for name, entry in GOOD.items() if name != key}
    refused = lock.read(value, {"MS-1"})
    assert refused == Refusal("missing_field", f"/{key}", None if key == "round" else "R-1")


def test_a_lock_is_held_for_every_reason_in_order_and_is_then_as_if_it_had_never_come() -> None:
    lines = Lines()
    lines.done("link.suspend", "cc", "21:00")
    lines.done("table.close", "MS-4", "21:00")
    answer = lines.lock("R-1", "MS-4", seats=(9, 1), cents=500)
    assert answer["outcome"] == "held"
    assert answer["reasons"] == [
        "wager_not_allowed", "seat_not_at_table", "unreasonable_contribution", "link_not_open", "table_closed",
    ]  # fmt: skip
    assert answer["meters"] == []
    assert lines.lock("R-1", "MS-5")["reasons"] == ["wager_not_offered"]
    assert lines.lock("R-2", seats=(7,))["reasons"] == ["seat_not_at_table"]
    assert lines.lock("R-2", seats=(6,))["outcome"] == "locked", "the last seat of the table"
    assert lines.code("lock.void", "MS-4/R-1") == "unknown_subject"
    settled = lines.round("R-1", "MS-4", "20:00", seats=(1,))
    assert contributed(settled) == {"cc": 25_321_700}


def test_a_lock_that_comes_after_its_result_is_a_duplicate_even_if_that_is_held() -> None:
    lines = Lines()
    assert lines.round("R-1", seats=(9,))["outcome"] == "held"
    assert lines.round("R-2", void=("all",))["outcome"] == VOID
    for reference in ("R-1", "R-2"):
        answer = lines.lock(reference)
        assert (answer["outcome"], answer["reasons"], answer["meters"]) == ("duplicate", [], [])


def test_the_result_counts_from_the_lock_in_everything() -> None:
    lines = Lines()
    lines.lock("R-1", "MS-1", "21:13")
    lines.done("table.terms", "MS-1", "21:20", minimum_cents=2_000)
    lines.done("table.close", "MS-1", "21:21")
    lines.done("link.suspend", "aa", "21:22")
    lines.done("link.terms", "aa", "21:23", levels=[{"code": "major", "rate_ppm": 100_000}])
    lines.done("table.leave", "MS-1", "21:24")
    lines.done("table.join", "MS-1", "21:25", link="st")
    settled = lines.round("R-1", "MS-1", "21:30")
    assert settled["outcome"] == "settled", settled["reasons"]
    assert contributed(settled) == {"aa": 0}
    assert lines.round("R-2", "MS-1", "21:30")["reasons"] == ["wager_not_allowed", "table_closed"]


def test_a_void_seat_takes_its_share_of_the_lock_back_before_the_awards() -> None:
    lines = Lines()
    lines.lock("R-1")
    settled = lines.round("R-1", void=(1,))
    assert (settled["outcome"], contributed(settled)) == ("settled", {"aa": -17_000_000})
    assert lines.meter("aa") == Meter(10_017, 0, 3)
    assert lines.last is not None
    back = [movement for movement in lines.last.movements if movement.credit == "contribution_expense"]
    assert back == [
        ("level:aa/major:liability", "contribution_expense", 17, VOID),
        ("level:aa/major:reserve", "contribution_expense", 3, VOID),
    ]


def test_a_void_round_takes_all_of_it_back_and_a_held_one_nothing_yet() -> None:
    lines = Lines()
    lines.lock("R-1")
    void = lines.round("R-1", void=("all",))
    assert (void["outcome"], contributed(void), lines.meter("aa")) == (VOID, {"aa": -34_000_000}, Meter(10_000))
    lines.lock("R-2")
    held = lines.round("R-2", dealing={"players": 7})
    assert (held["reasons"], lines.meter("aa").value_cents) == (["players_mismatch"], 10_034)
    called_off = lines.act("round.void", "MS-1/R-2")
    assert (called_off["reasons"], contributed(called_off)) == (["voided"], {"aa": -34_000_000})
    assert lines.meter("aa") == Meter(10_000)


def test_what_goes_back_is_first_what_overflowed_then_the_display_and_the_reserve_in_proportion() -> None:
    lines = Lines(aa=Meter(11_990, 500_000))
    lines.lock("R-1", seats=(5, 3, 1))
    assert lines.meter("aa") == Meter(12_000, 0, 9, 0, 41, 500_000), "9.50 of 51 cents fitted"
    settled = lines.round("R-1", seats=(5, 3, 1), void=(1,))
    assert contributed(settled) == {"aa": -17_000_000}
    assert lines.meter("aa") == Meter(12_000, 0, 6, 0, 24, 500_000)
    lines.lock("R-2", "MS-2", seats=(1,))
    lines.done("level.adjust", "aa/major", part="overflow", cents=-40, reason="correction")
    answer = lines.done("lock.void", "MS-2/R-2")
    assert contributed(answer) == {"aa": -17_000_000}
    assert moved(answer) == [
        ("level:aa/major:reserve", "contribution_expense", 3, VOID),
        ("adjustments", "level:aa/major:overflow", 16, VOID),
        ("level:aa/major:overflow", "contribution_expense", 17, VOID),
    ], "1.50 of the 17 cents were there: 15.50 are missing, which is sixteen whole cents"
    assert lines.meter("aa") == Meter(12_000, 0, 6, 0, 0, 500_000)


def test_lock_mismatch_compares_seats_and_amounts_void_ones_too() -> None:
    lines = Lines()
    other: dict[str, dict[str, Any]] = {
        "R-1": {"seats": (5,)}, "R-2": {"seats": (5, 2)}, "R-3": {"betting": (5,)}, "R-4": {"betting": (), "void": ("all",)},
    }  # fmt: skip
    for reference, more in other.items():
        lines.lock(reference)
        assert lines.round(reference, **more)["reasons"] == ["lock_mismatch"], reference
    lines.lock("R-5")
    assert lines.round("R-5", void=(5, 1))["outcome"] == "settled"


def test_released_or_corrected_the_seats_of_the_result_count() -> None:
    lines = Lines()
    lines.lock("R-1", seats=(1,))
    lines.round("R-1", seats=(5, 3, 1))
    released = lines.act("round.release", "MS-1/R-1")
    assert (released["reasons"], contributed(released)) == (["lock_mismatch"], {"aa": 34_000_000})
    lines.lock("R-2", "MS-2", seats=(1, 2))
    lines.round("R-2", "MS-2", seats=(5,))
    released = lines.act("round.release", "MS-2/R-2")
    assert contributed(released) == {"aa": -17_000_000}
    undone = lines.done("round.void", "MS-2/R-2")
    assert contributed(undone) == {"aa": -17_000_000}, "what lock and result brought together"
    assert lines.meter("aa") == Meter(10_051, 0, 9)


def test_a_lock_is_void_only_while_no_result_has_come() -> None:
    lines = Lines()
    assert lines.code("lock.void", "MS-1/R-1") == "unknown_subject"
    assert lines.code("lock.void", "MS-1/R-1", note="late") == ("unknown_field", "/payload/note")
    lines.lock("R-1")
    lines.round("R-1", seats=(9,), betting=())
    assert lines.code("lock.void", "MS-1/R-1") == "wrong_state", "a held result has come"
    lines.lock("R-2")
    lines.round("R-2")
    assert lines.code("lock.void", "MS-1/R-2") == "wrong_state"
    lines.lock("R-3")
    lines.done("lock.void", "MS-1/R-3")
    assert lines.code("lock.void", "MS-1/R-3") == "wrong_state"
    settled = lines.round("R-3", seats=(2,))
    assert (settled["outcome"], contributed(settled)) == ("settled", {"aa": 17_000_000}), "as if there had been no lock"
