"""Boston 5 stud (SPEC §7, §8; seed 001, 19:47-24.11 and 24.12; DECISIONS A33, A34, A38)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from tables.rules.boston_5_stud import Boston5Stud, Dealer
from tables.rules.cards import DECK
from tables.rules.games import game_of
from tables.rules.message import Seat
from tables.rules.table import TableTerms
from tests.rules.felt import (
    REPORTS,
    five_card_link,
    lines,
    message,
    only_seat,
    play,
    reasons,
    refused,
    report,
    seat,
    table,
)

PAYTABLES = {"base": "b5-base", "optional_bonus": "b5-bonus"}
ALL_IN = {"ante": 500, "first": 1000, "second": 1500, "optional_bonus": 300}
HIGH_CARD = "Kc Jd 9c 6h 3h"  # for the dealer: beaten by any pair
FOUR_ACES = "Ac Ad Ah As Kd"

# Five own cards, category, ante bonus to 1 (24.11(c)), optional bonus on the first three to 1 (24.11(d)).
HANDS = [
    ("Ts Js Qs Ks As", "royal_flush", 1000, 40),
    ("9s Ts Js Qs Ks", "straight_flush", 200, 40),
    ("Ah Qh Kh Jh Th", "royal_flush", 1000, 40),
    ("7s 7d 7h 7c 2d", "four_of_a_kind", 100, 25),
    ("7s 7d 2c 2d 2s", "full_house", 25, 1),
    ("2s 4s 9s Js Qs", "flush", 15, 3),
    ("As 2d 3s 4s 5c", "straight", 8, 6),
    ("3d As 2d 5d 4c", "straight", 8, 6),
    ("7s 7d Kh 2d 7h", "three_of_a_kind", 4, 1),
    ("7s Kh 2d 7d Ks", "two_pair", 2, None),
    ("As Ad Kh 4c 2d", "pair", None, 1),
    ("As Qd Kh Kd 2d", "pair", None, 6),
]


@pytest.fixture
def terms() -> TableTerms:
    return table("boston-5-stud", PAYTABLES)


def odds(stake: int, to_one: int | None) -> tuple[str, str | None, int, int]:
    if to_one is None:
        return ("lose", None, 0, 0)
    return ("win", f"{to_one} to 1", stake * to_one, stake * to_one + stake)


@pytest.mark.parametrize(("own", "hand", "ante_bonus", "bonus"), HANDS)
def test_every_row_of_both_bonuses_against_a_weak_dealer(
    terms: TableTerms, own: str, hand: str, ante_bonus: int | None, bonus: int | None
) -> None:
    entry = only_seat(terms, message(seat(1, own, **ALL_IN), dealer=HIGH_CARD))
    expected = {
        "ante": ("push", None, 0, 500),
        "first": odds(1000, 1),
        "second": odds(1500, 1),
        "optional_bonus": odds(300, bonus),
    }
    if ante_bonus is not None:
        expected["ante_bonus"] = ("win", f"{ante_bonus} to 1", 500 * ante_bonus, 500 * ante_bonus)
    assert lines(entry) == expected
    assert (entry["hand"], entry["result"], entry["staked_cents"]) == (hand, "win", 3300)


def test_the_ante_bonus_is_paid_although_the_dealer_wins(terms: TableTerms) -> None:
    entry = only_seat(terms, message(seat(1, "7s 7d Kh 2d 7h", **ALL_IN), dealer=FOUR_ACES))
    assert lines(entry) == {
        "ante": ("lose", None, 0, 0),
        "ante_bonus": ("win", "4 to 1", 2000, 2000),
        "first": ("lose", None, 0, 0),
        "second": ("lose", None, 0, 0),
        "optional_bonus": odds(300, 1),
    }
    assert (entry["result"], entry["paid_cents"]) == ("lose", 2600)


def test_a_tie_returns_the_three_wagers(terms: TableTerms) -> None:
    entry = only_seat(terms, message(seat(1, "As 2d 3s 4s 5c", **ALL_IN), dealer="Ac 2h 3d 4h 5d"))
    assert lines(entry) == {
        "ante": ("push", None, 0, 500),
        "ante_bonus": ("win", "8 to 1", 4000, 4000),
        "first": ("push", None, 0, 1000),
        "second": ("push", None, 0, 1500),
        "optional_bonus": odds(300, 6),
    }
    assert entry["result"] == "push"


@pytest.mark.parametrize(
    ("own", "dealer", "result"),
    [
        ("As Ad Kh 4c 2d", "Ac Ah Kd 3c 2s", "win"),
        ("As Ad Kh 4c 2d", "Ac Ah Kd 5c 2s", "lose"),
        ("As 2d 3s 4s 5c", "2h 3d 4h 5d 6d", "lose"),
        ("Ks Kd 2h 2d 4c", "Kh Kc 2s 2c 3c", "win"),
        ("9s 9d 9h 2d 4c", "8h 8c 8s Ac Kc", "win"),
        ("As Qd 9h 7d 4c", "Ah Qc 9s 7c 4d", "push"),
    ],
)
def test_who_beats_whom(terms: TableTerms, own: str, dealer: str, result: str) -> None:
    entry = only_seat(terms, message(seat(1, own, **ALL_IN), dealer=dealer))
    assert (entry["result"], lines(entry)["second"][0]) == (result, result)


def test_a_fold_loses_what_was_wagered_but_the_optional_bonus_stands(terms: TableTerms) -> None:
    wagers = {"ante": 500, "first": 1000, "optional_bonus": 300}
    entry = only_seat(terms, message(seat(1, "7s 7d 7h 7c 2d", **wagers, folded="second"), dealer=HIGH_CARD))
    assert lines(entry) == {
        "ante": ("lose", None, 0, 0),
        "first": ("lose", None, 0, 0),
        "optional_bonus": odds(300, 25),
    }
    assert (entry["hand"], entry["result"]) == ("four_of_a_kind", "fold")
    assert refused(terms, message(seat(1, "7s", ante=500, folded="ante"))) == ("invalid_value", "/seats/0/folded")


@pytest.mark.parametrize(
    ("wagers", "expected"),
    [
        ({"ante": 500, "first": 1, "second": 99_999_999}, []),  # sizes are not checked (A33)
        ({"ante": 500, "first": 500, "folded": "second"}, []),
        ({"ante": 500, "folded": "first"}, []),
        ({"ante": 499, "first": 500, "second": 500}, ["wager_not_allowed"]),
        ({"ante": 100_001, "first": 500, "second": 500}, ["wager_not_allowed"]),
        ({"first": 500, "second": 500}, ["wager_out_of_order"]),
        ({"optional_bonus": 500}, ["wager_out_of_order"]),
        ({"ante": 500, "second": 500}, ["wager_out_of_order"]),
        ({"ante": 500, "first": 500}, ["wager_out_of_order"]),
        ({"ante": 500, "folded": "second"}, ["wager_out_of_order"]),
        ({"ante": 500, "first": 500, "second": 500, "folded": "second"}, ["wager_after_fold"]),
        ({"ante": 500, "first": 500, "folded": "first"}, ["wager_after_fold"]),
        ({"ante": 500, "first": 500, "second": 500, "bonus": 5}, ["wager_not_offered"]),
    ],
)
def test_what_may_be_wagered(terms: TableTerms, wagers: dict[str, Any], expected: list[str]) -> None:
    assert reasons(terms, message(seat(1, "7s 7d 7h 7c 2d", **wagers), dealer=HIGH_CARD)) == expected


def test_a_void_round_does_not_miss_the_second_wager(terms: TableTerms) -> None:
    sent = message(seat(1, "7s 7d 8h", ante=500, first=500), irregularities=[report("card_exposed_early")])
    assert reasons(terms, sent) == []
    sent = message(seat(1, "7s 7d 8h", ante=400, first=500), irregularities=[report("card_exposed_early")])
    assert reasons(terms, sent) == ["wager_not_allowed"]


@pytest.mark.parametrize(
    ("own", "community", "dealer"),
    [
        ("7s 7d 7h", "", HIGH_CARD),
        ("7s 7d 7h 7c 2d", "", ""),
        ("7s 7d 7h 7c 2d", "", "2c 3c 4c"),
        ("7s 7d 7h", "2d 3d", HIGH_CARD),
    ],
)
def test_other_numbers_of_cards_are_held(terms: TableTerms, own: str, community: str, dealer: str) -> None:
    sent = message(seat(1, own, **ALL_IN), community=community, dealer=dealer)
    assert reasons(terms, sent) == ["wrong_card_count"]


def test_the_limit_is_on_wagers_and_ante_bonus_but_not_on_the_optional_bonus(terms: TableTerms) -> None:
    wagers = {"ante": 10_000, "first": 5_000, "second": 5_000, "optional_bonus": 200_000}
    entry = only_seat(terms, message(seat(1, "Ts Js Qs Ks As", **wagers), dealer=HIGH_CARD))
    # 10,000,000 + 5,000 + 5,000 won, 5,000,000 paid: 4,995,004.995 and twice 2,497.502.  Of the two cents left over
    # one goes to the greatest remainder, one to the earlier of the two wagers that are alike.
    assert {line["wager"]: line["win_cents"] for line in entry["lines"]} == {
        "ante": 0,
        "ante_bonus": 4_995_005,
        "first": 2_498,
        "second": 2_497,
        "optional_bonus": 8_000_000,
    }
    assert entry["limit"] == {"limit_cents": 5_000_000, "uncapped_win_cents": 10_010_000, "withheld_cents": 5_010_000}


@pytest.mark.parametrize(
    ("minimum", "limit"), [(500, 5_000_000), (4_980, 5_000_000), (4_981, 5_000_924), (10_000, 10_040_000)]
)
def test_the_limit_follows_the_minimum(minimum: int, limit: int) -> None:
    terms = table("boston-5-stud", PAYTABLES, minimum_cents=minimum)
    wagers = ALL_IN | {"ante": minimum}
    entry = only_seat(terms, message(seat(1, "2s 3d 5h 7c 9d", **wagers), dealer=HIGH_CARD))
    assert entry["limit"] == {"limit_cents": limit, "uncapped_win_cents": 0, "withheld_cents": 0}


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    sent = message(seat(1, "7s 7d 7h 7c 2d", **ALL_IN), dealer=HIGH_CARD, irregularities=[report(code)])
    settled = play(terms, sent).settlement
    (entry,) = settled["seats"]
    if code in ("face_up_card", "shuffler_failed"):
        assert (settled["outcome"], entry["result"]) == ("settled", "win")
        return
    assert (settled["outcome"], settled["reasons"], entry["result"], entry["hand"]) == ("void", [code], "void", None)
    back: dict[str, Any] = {wager: ("void", None, 0, stake) for wager, stake in ALL_IN.items()}
    if code in ("card_exposed_early", "shoe_failed"):
        # Only three of a kind among the first three cards can earn an ante bonus (A38): 4 to 1, whatever came later.
        back |= {"ante_bonus": ("win", "4 to 1", 2000, 2000), "optional_bonus": odds(300, 25)}
    assert lines(entry) == back
    assert entry["limit"] == {
        "limit_cents": 5_000_000,
        "uncapped_win_cents": 2000 if "ante_bonus" in back else 0,
        "withheld_cents": 0,
    }


@pytest.mark.parametrize(
    ("cards", "more", "reports", "expected"),
    [
        # A losing optional bonus comes back, a winning one is paid; other hands earn no ante bonus on three cards.
        ("7s 7d 2h", {}, ["card_exposed_early"], {"optional_bonus": odds(300, 1)}),
        ("7s 9d 2h", {}, ["card_exposed_early"], {}),
        ("7s 8s 9s", {}, ["shoe_failed"], {"optional_bonus": odds(300, 40)}),
        ("7s 7d", {}, ["shoe_failed"], {}),
        ("", {}, ["shoe_failed"], {}),
        ("7s 7s 7s", {}, ["shoe_failed"], {}),  # no deck has them: nothing to pay on
        # The bonus on the ante is not for a hand that was folded before.
        ("7s 7d 7h", {"folded": "second"}, ["card_exposed_early"], {"optional_bonus": odds(300, 25)}),
        # Any other cause beside it voids the bonuses too, and so does a misdealt or forfeited hand.
        ("7s 7d 7h", {}, ["card_exposed_early", "face_up_cards"], {}),
        ("7s 7d 7h", {}, ["card_exposed_early", "deck_count_wrong"], {}),
        ("7s 7d 7h", {}, [("wrong_card_count", 1), "shoe_failed"], {}),
        ("7s 7d 7h", {}, [("forfeit", 1), "shoe_failed"], {}),
    ],
)
def test_three_card_hands_that_a_void_round_pays(
    terms: TableTerms, cards: str, more: dict[str, Any], reports: list[Any], expected: dict[str, Any]
) -> None:
    wagers = {"ante": 500, "first": 1000, "optional_bonus": 300}
    entries = [report(each) if isinstance(each, str) else report(each[0], seat=each[1]) for each in reports]
    entry = only_seat(terms, message(seat(1, cards, **wagers, **more), irregularities=entries))
    assert lines(entry) == {wager: ("void", None, 0, stake) for wager, stake in wagers.items()} | expected
    assert (entry["result"], entry["hand"]) == ("void", None)


def test_a_misdealt_seat_is_void_alone_and_so_is_its_bonus(terms: TableTerms) -> None:
    sent = message(seat(1, "7s 7d 7h 7c", **ALL_IN), seat(2, "8s 8d 8h 8c 2d", **ALL_IN), dealer=HIGH_CARD)
    settled = play(terms, sent | {"irregularities": [report("wrong_card_count", seat=1)]}).settlement
    assert settled["outcome"] == "settled"
    assert [entry["result"] for entry in settled["seats"]] == ["win", "void"]
    assert settled["seats"][1]["paid_cents"] == 3300


def test_a_misdeal_to_the_dealer_or_the_term_voids_the_round(terms: TableTerms) -> None:
    sent = message(seat(1, "7s 7d 7h 7c 2d", **ALL_IN), dealer="2c 3c")
    for position in ("dealer", "community"):
        settled = play(terms, sent | {"irregularities": [report("wrong_card_count", position=position)]}).settlement
        assert (settled["outcome"], settled["seats"][0]["paid_cents"]) == ("void", 3300)
    strict = table("boston-5-stud", PAYTABLES, terms={"misdeal_voids": "round"})
    settled = play(strict, sent | {"irregularities": [report("wrong_card_count", seat=1)]}).settlement
    assert (settled["outcome"], settled["reasons"]) == ("void", ["wrong_card_count"])


def test_two_royals_can_be_and_the_progressive_pays_both() -> None:
    """Nobody shares a card here, so more than one royal is no impossible report."""
    terms = table("boston-5-stud", {"base": "b5-base"}, link=five_card_link())
    wagers = {"ante": 500, "first": 500, "second": 500, "progressive": 100}
    folded = {"ante": 500, "first": 500, "progressive": 100, "folded": "second"}
    sent = message(seat(1, "Ts Js Qs Ks As", **wagers), seat(2, "Th Jh Qh Kh Ah", **folded), dealer="2c 3c 5c 7d 9d")
    settled = play(terms, sent).settlement
    assert [(award["seat"], award["paid_cents"]) for award in settled["awards"]] == [(2, 1_000_034), (1, 1_000_000)]
    assert [each["paid_cents"] for each in settled["seats"][0]["envy"]] == [100_000]


def test_the_optional_bonus_over_all_first_three_cards(terms: TableTerms) -> None:
    """22,100 threes: 48 straight flushes, 52 threes, 720 straights, 1,096 flushes, 3,744 pairs."""
    game = game_of(terms)
    assert isinstance(game, Boston5Stud)
    won = dict.fromkeys((40, 25, 6, 3, 1, 0), 0)
    for three in combinations(sorted(DECK), 3):
        rest = [card for card in ("2c", "3d", "4h", "9s", "Kc") if card not in three][:2]
        dealt = Seat(1, [*three, *rest], {"ante": 1, "first": 1, "optional_bonus": 1}, "second")
        won[game.outcome(dealt, Dealer(0)).lines[-1]["win_cents"]] += 1
    assert won == {40: 48, 25: 52, 6: 720, 3: 1096, 1: 3744, 0: 16_440}
