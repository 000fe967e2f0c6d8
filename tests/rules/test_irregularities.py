"""Irregularities at Mississippi Stud: what each voids, what each leaves alone (SPEC §8)."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.rules.meter import Meter
from tables.rules.floor import read_floor

BOARD = "Ts Js Qs"
METERS = {"major": Meter(5_000_000, 250_000, 40, 1, 2, 3)}


def royal_round(harbor: Any, *reports: dict[str, Any], table: str = "MS-101") -> Any:
    """Seat 2 holds a royal, seat 1 folded; both have the progressive."""
    return harbor.message(
        table,
        BOARD,
        harbor.seat(1, "2c 7d", folded="third_street", progressive=100),
        harbor.seat(2, "As Ks", progressive=100, three_card_bonus=500, cover_all=500),
        irregularities=list(reports),
    )


@pytest.mark.parametrize(
    ("reports", "reasons"),
    [
        ([{"code": "card_exposed_early"}], ["card_exposed_early"]),
        ([{"code": "face_up_cards"}], ["face_up_cards"]),
        ([{"code": "face_up_card"}, {"code": "face_up_card"}], ["face_up_card"]),
        ([{"code": "wrong_card_count", "position": "community"}], ["wrong_card_count"]),
        ([{"code": "wrong_card_count", "position": "dealer"}], ["wrong_card_count"]),
        ([{"code": "shoe_failed"}], ["shoe_failed"]),
        ([{"code": "deck_count_wrong"}], ["deck_count_wrong"]),
        (
            [
                {"code": "shuffler_failed"},
                {"code": "shoe_failed"},
                {"code": "forfeit", "seat": 1},
                {"code": "card_exposed_early"},
                {"code": "shoe_failed"},
                {"code": "face_up_card"},
            ],
            ["shoe_failed", "card_exposed_early"],
        ),
    ],
)
def test_a_void_round_gives_every_stake_back(harbor: Any, reports: list[dict[str, Any]], reasons: list[str]) -> None:
    settled = harbor.settle(royal_round(harbor, *reports), METERS)
    settlement = settled.settlement
    assert (settled.outcome, settlement["reasons"], settlement["players"]) == ("void", reasons, 2)
    assert [entry["seat"] for entry in settlement["seats"]] == [2, 1]
    for entry in settlement["seats"]:
        assert (entry["hand"], entry["result"], entry["envy"]) == (None, "void", [])
        assert entry["paid_cents"] == entry["staked_cents"] == sum(line["stake_cents"] for line in entry["lines"])
        assert {(line["result"], line["odds"], line["win_cents"]) for line in entry["lines"]} == {("void", None, 0)}
    assert [line["wager"] for line in settlement["seats"][0]["lines"]] == [
        "ante",
        "third_street",
        "fourth_street",
        "fifth_street",
        "three_card_bonus",
        "cover_all",
        "progressive",
    ]
    assert settlement["awards"] == []
    assert (settled.meters, settled.movements) == (METERS, ())
    row = settlement["meters"][0]
    assert (row["before_cents"], row["after_cents"], row["contributed_millionths"]) == (5_000_000, 5_000_000, 0)
    assert (row["residual_millionths"], row["reserve_cents"], row["overflow_cents"]) == (250_000, 40, 2)


@pytest.mark.parametrize("code", ["face_up_card", "shuffler_failed"])
def test_a_discarded_card_and_a_jammed_shuffler_change_nothing(harbor: Any, code: str) -> None:
    with_report = harbor.settle(royal_round(harbor, {"code": code}), METERS)
    without = harbor.settle(royal_round(harbor), METERS)
    assert with_report == without
    assert with_report.outcome == "settled"


def test_a_misdealt_seat_is_void_and_the_others_play_on(harbor: Any) -> None:
    message = harbor.message(
        "MS-101",
        BOARD,
        harbor.seat(3, "2c 7d 9h", progressive=100, three_card_bonus=500, cover_all=500),
        harbor.seat(2, "3c 8d", folded="third_street", progressive=100, cover_all=500),
        harbor.seat(1, "As Ks", progressive=100),
        irregularities=[{"code": "wrong_card_count", "seat": 3}],
    )
    settled = harbor.settle(message)
    assert (settled.outcome, settled.settlement["reasons"]) == ("settled", [])
    void, folded, _royal = settled.settlement["seats"]
    assert (void["hand"], void["result"], void["paid_cents"], void["envy"]) == (None, "void", 5_100, [])
    assert folded["envy"] == [{"from_seat": 1, "hand": "royal_flush", "paid_cents": 100_000, "order": 1}]
    cover_all = next(line for line in folded["lines"] if line["wager"] == "cover_all")
    assert cover_all["odds"] == "200 to 1", "three were dealt in"
    assert settled.settlement["meters"][0]["contributed_millionths"] == 34_000_000, "the void wager is not accepted"


def test_a_void_royal_triggers_nothing_and_does_not_count(harbor: Any) -> None:
    report = {"code": "wrong_card_count", "seat": 2}
    settled = harbor.settle(royal_round(harbor, report))
    assert settled.settlement["awards"] == []
    assert settled.settlement["seats"][1]["envy"] == []
    message = royal_round(harbor, report)
    message["seats"][0]["wagers"]["cover_all"] = 500
    entries = harbor.entries(message)
    assert entries[1]["line"]["cover_all"]["result"] == "lose", "no hand counts"


def test_every_seat_void_one_by_one_is_still_settled(harbor: Any) -> None:
    reports = [{"code": "wrong_card_count", "seat": number} for number in (1, 2)]
    settled = harbor.settle(royal_round(harbor, *reports), METERS)
    assert (settled.outcome, settled.settlement["reasons"]) == ("settled", [])
    assert {entry["result"] for entry in settled.settlement["seats"]} == {"void"}
    assert settled.meters == METERS


def test_a_misdeal_voids_the_round_where_the_table_says_so(house: Any, harbor: Any) -> None:
    text = """
[property]
code = "BOS"
name = "Boston"
time_zone = "America/New_York"
gaming_day_starts = "06:00"
jurisdiction = "MA"
[[tables]]
code = "MS-1"
game = "mississippi-stud"
seats = 6
minimum_cents = 1000
maximum_cents = 50000
paytables = { base = "ms-base" }
terms = { misdeal_voids = "round" }
"""
    strict = house(read_floor(text))
    message = strict.message(
        "MS-1",
        "4d 9h 3s",
        strict.seat(1, "Jc Jh"),
        strict.seat(2, "Kc"),
        irregularities=[{"code": "wrong_card_count", "seat": 2}],
    )
    settled = strict.settle(message)
    assert (settled.outcome, settled.settlement["reasons"]) == ("void", ["wrong_card_count"])
    assert settled.settlement["meters"] == []


def test_a_forfeit_loses_every_wager_and_its_contribution_stands(harbor: Any) -> None:
    message = royal_round(harbor, {"code": "forfeit", "seat": 2})
    message["seats"].append(harbor.seat(4, "9s 8s", progressive=100, cover_all=500))
    settled = harbor.settle(message)
    other, forfeited, folded = settled.settlement["seats"]
    assert (forfeited["hand"], forfeited["result"], forfeited["paid_cents"]) == ("royal_flush", "lose", 0)
    assert {line["result"] for line in forfeited["lines"]} == {"lose"}
    assert [line["wager"] for line in forfeited["lines"]][-1] == "progressive"
    assert forfeited["envy"] == [], "no envy either way"
    assert folded["envy"] == [{"from_seat": 4, "hand": "straight_flush", "paid_cents": 30_000, "order": 1}]
    assert other["envy"] == []
    assert [award["seat"] for award in settled.settlement["awards"]] == [4]
    cover_all = next(line for line in other["lines"] if line["wager"] == "cover_all")
    assert cover_all["odds"] == "80 to 1", "the forfeited royal does not count, the three players do"
    assert settled.settlement["meters"][0]["contributed_millionths"] == 51_000_000


def test_a_folded_seat_that_forfeits_stays_folded(harbor: Any) -> None:
    message = harbor.message(
        "MS-101",
        BOARD,
        harbor.seat(1, "2c 7d", folded="third_street", three_card_bonus=500),
        irregularities=[{"code": "forfeit", "seat": 1}],
    )
    entry = harbor.entries(message)[1]
    assert (entry["result"], entry["paid_cents"], entry["line"]["three_card_bonus"]["result"]) == ("fold", 0, "lose")


def test_a_misdealt_seat_has_nothing_to_forfeit(harbor: Any) -> None:
    reports = [{"code": "forfeit", "seat": 2}, {"code": "wrong_card_count", "seat": 2}]
    entries = harbor.entries(royal_round(harbor, *reports))
    assert entries[2]["result"] == "void"
