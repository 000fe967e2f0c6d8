"""Let it ride (SPEC §7; seed 003, 19:47-18.6 to 18.12)."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.rules.definition import DefinitionRefused
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

PAYTABLES = {"base": "lir-base", "bonus": "lir-bonus"}
BETS = {"bet_one": 500, "bet_two": 500, "bet_three": 500}

# Own cards, community cards, category, what each bet pays to 1 (None: loses) and the bonus sum in cents (seed tables).
HANDS = [
    ("As Ks Qs", "Js Ts", "royal_flush", 1000, 2_500_000),
    ("9s Ks Qs", "Js Ts", "straight_flush", 200, 250_000),
    ("As 2s 3s", "4s 5s", "straight_flush", 200, 250_000),
    ("7s 7d 7h", "7c 2d", "four_of_a_kind", 50, 40_000),
    ("7s 7d 7h", "2c 2d", "full_house", 11, 20_000),
    ("2s 4s 9s", "Js Ks", "flush", 8, 5_000),
    ("As 2d 3s", "4s 5c", "straight", 5, 2_500),
    ("7s 7d 7h", "Kc 2d", "three_of_a_kind", 3, 500),
    ("7s 7d Kh", "Kc 2d", "two_pair", 2, None),
    ("As Ad Kh", "4c 2d", "pair", 1, None),
    ("Ts 3d Kh", "Tc 2d", "pair", 1, None),
    ("9s 3d Kh", "9c 2d", "pair", None, None),
    ("Qs Kd Ah", "2c 3d", "high_card", None, None),
]


@pytest.fixture
def terms() -> TableTerms:
    return table("let-it-ride", PAYTABLES)


def at_seat_one(cards: str, community: str, **more: Any) -> dict[str, Any]:
    return message(seat(1, cards, **(BETS | more)), community=community)


@pytest.mark.parametrize(("own", "community", "hand", "odds", "bonus_cents"), HANDS)
def test_every_row_pays_the_bets_and_the_bonus(
    terms: TableTerms, own: str, community: str, hand: str, odds: int | None, bonus_cents: int | None
) -> None:
    entry = only_seat(terms, at_seat_one(own, community, bonus=100))
    base = ("lose", None, 0, 0) if odds is None else ("win", f"{odds} to 1", 500 * odds, 500 * odds + 500)
    sum_text = None if bonus_cents is None else f"${bonus_cents // 100:,}"
    bonus = ("lose", None, 0, 0) if bonus_cents is None else ("win", sum_text, bonus_cents, bonus_cents)
    assert entry["hand"] == hand
    assert lines(entry) == {"bet_one": base, "bet_two": base, "bet_three": base, "bonus": bonus}
    assert entry["result"] == ("lose" if odds is None else "win")
    assert entry["staked_cents"] == 1600


@pytest.mark.parametrize("taken_back", [["bet_one"], ["bet_two"], ["bet_one", "bet_two"]])
@pytest.mark.parametrize("cards", ["Ts 3d Kh", "9s 3d Kh"])
def test_a_bet_taken_back_is_returned_whatever_the_hand(terms: TableTerms, taken_back: list[str], cards: str) -> None:
    entry = only_seat(terms, at_seat_one(cards, "Tc 2d", withdrawn=taken_back))
    wins = "Ts" in cards
    for bet in BETS:
        rides = ("win", "1 to 1", 500, 1000) if wins else ("lose", None, 0, 0)
        assert lines(entry)[bet] == (("void", None, 0, 500) if bet in taken_back else rides)
    assert entry["staked_cents"] == 1500
    assert entry["result"] == ("win" if wins else "lose")


def test_the_third_bet_cannot_be_taken_back(terms: TableTerms) -> None:
    sent = at_seat_one("Ts 3d Kh", "Tc 2d", withdrawn=["bet_three"])
    assert refused(terms, sent) == ("invalid_value", "/seats/0/withdrawn/0")


def test_nobody_folds(terms: TableTerms) -> None:
    sent = at_seat_one("Ts 3d Kh", "Tc 2d", folded="bet_two")
    assert refused(terms, sent) == ("invalid_value", "/seats/0/folded")


@pytest.mark.parametrize(
    ("wagers", "reason"),
    [
        ({"bet_one": 500, "bet_two": 500, "bet_three": 1000}, "wager_not_allowed"),
        ({"bet_one": 1000, "bet_two": 500, "bet_three": 500}, "wager_not_allowed"),
        ({"bet_one": 400, "bet_two": 400, "bet_three": 400}, "wager_not_allowed"),
        ({"bet_one": 100_100, "bet_two": 100_100, "bet_three": 100_100}, "wager_not_allowed"),
        ({"bet_one": 500, "bet_two": 500}, "wager_out_of_order"),
        ({"bet_one": 500, "bet_three": 500}, "wager_out_of_order"),
        ({"bet_two": 500, "bet_three": 500}, "wager_out_of_order"),
        ({"bonus": 100}, "wager_out_of_order"),
        ({**BETS, "bonus": 200}, "wager_not_allowed"),
        ({**BETS, "ante": 500}, "wager_not_offered"),
        ({**BETS, "progressive": 100}, "wager_not_offered"),
    ],
)
def test_bets_that_cannot_be_are_held(terms: TableTerms, wagers: dict[str, int], reason: str) -> None:
    sent = message(seat(1, "Ts 3d Kh", **wagers), community="Tc 2d")
    assert reasons(terms, sent) == [reason]
    # A void round's wagers are judged as well, and all three bets were made before its deal.
    assert reasons(terms, sent | {"irregularities": [report("shoe_failed")]}) == [reason]


@pytest.mark.parametrize(
    ("own", "community", "dealer"),
    [
        ("Ts 3d", "Tc 2d", ""),
        ("Ts 3d Kh 4h", "Tc 2d", ""),
        ("Ts 3d Kh", "Tc 2d 4h", ""),
        ("Ts 3d Kh", "Tc 2d", "5h 6h"),
    ],
)
def test_other_numbers_of_cards_are_held(terms: TableTerms, own: str, community: str, dealer: str) -> None:
    assert reasons(terms, message(seat(1, own, **BETS), community=community, dealer=dealer)) == ["wrong_card_count"]


def test_the_limit_is_on_the_bets_alone_and_shared_among_them(terms: TableTerms) -> None:
    bets = {"bet_one": 10_000, "bet_two": 10_000, "bet_three": 10_000}
    entry = only_seat(terms, at_seat_one("As Ks Qs", "Js Ts", **bets, bonus=100))
    # 3 × $100 × 1,000 = $300,000 of which $50,000 is paid; the odd cents go to the earlier bets.
    assert [line["win_cents"] for line in entry["lines"]] == [1_666_667, 1_666_667, 1_666_666, 2_500_000]
    assert entry["limit"] == {"limit_cents": 5_000_000, "uncapped_win_cents": 30_000_000, "withheld_cents": 25_000_000}
    assert entry["paid_cents"] == 5_000_000 + 30_000 + 2_500_000


def test_a_greater_approved_limit_is_a_term() -> None:
    terms = table("let-it-ride", PAYTABLES, terms={"payout_limit_cents": 7_500_000})
    entry = only_seat(terms, at_seat_one("As Ks Qs", "Js Ts", bet_one=10_000, bet_two=10_000, bet_three=10_000))
    assert entry["limit"] is not None
    assert entry["limit"]["limit_cents"] == 7_500_000
    assert entry["paid_cents"] == 7_500_000 + 30_000
    with pytest.raises(DefinitionRefused, match=r"terms\.payout_limit_cents"):
        table("let-it-ride", PAYTABLES, terms={"payout_limit_cents": 4_999_999})


def test_the_bonus_returns_its_stake_where_the_term_says_so() -> None:
    terms = table("let-it-ride", PAYTABLES, terms={"bonus_returns_stake": True})
    entry = only_seat(terms, at_seat_one("7s 7d 7h", "Kc 2d", bonus=100))
    assert lines(entry)["bonus"] == ("win", "$5", 500, 600)
    assert lines(only_seat(terms, at_seat_one("7s 7d Kh", "Kc 2d", bonus=100)))["bonus"] == ("lose", None, 0, 0)


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    sent = at_seat_one("Ts 3d Kh", "Tc 2d", bonus=100, withdrawn=["bet_one"]) | {"irregularities": [report(code)]}
    settled = play(terms, sent)
    if code in ("face_up_card", "shuffler_failed"):
        assert settled.outcome == "settled"
        return
    assert (settled.outcome, settled.settlement["reasons"]) == ("void", [code])
    (entry,) = settled.settlement["seats"]
    assert (entry["hand"], entry["result"], entry["paid_cents"]) == (None, "void", 1600)
    assert {line["result"] for line in entry["lines"]} == {"void"}


@pytest.mark.parametrize("where", [{"seat": 2}, {"position": "community"}])
@pytest.mark.parametrize("misdeal_voids", ["seat", "round"])
def test_any_misdeal_voids_all_hands_whatever_the_term_says(where: dict[str, Any], misdeal_voids: str) -> None:
    terms = table("let-it-ride", PAYTABLES, terms={"misdeal_voids": misdeal_voids})
    sent = message(seat(1, "Ts 3d Kh", **BETS), seat(2, "4s 5s", **BETS), community="Tc 2d")
    settled = play(terms, sent | {"irregularities": [report("wrong_card_count", **where)]})
    assert (settled.outcome, settled.settlement["reasons"]) == ("void", ["wrong_card_count"])
    assert [entry["paid_cents"] for entry in settled.settlement["seats"]] == [1500, 1500]


def test_a_forfeit_loses_what_was_not_taken_back(terms: TableTerms) -> None:
    sent = at_seat_one("As Ks Qs", "Js Ts", bonus=100, withdrawn=["bet_one"])
    entry = only_seat(terms, sent | {"irregularities": [report("forfeit", seat=1)]})
    assert lines(entry) == {
        "bet_one": ("void", None, 0, 500),
        "bet_two": ("lose", None, 0, 0),
        "bet_three": ("lose", None, 0, 0),
        "bonus": ("lose", None, 0, 0),
    }
    assert (entry["hand"], entry["result"]) == ("royal_flush", "lose")


def test_a_table_on_a_five_card_link_pays_awards_and_envy() -> None:
    terms = table("let-it-ride", PAYTABLES, link=five_card_link())
    wagers = BETS | {"progressive": 100}
    # Two straight flushes of one board: the dealer's right is paid first.
    sent = message(
        seat(1, "2h 3h 4h", **wagers), seat(3, "7h 8h 9h", **wagers), seat(5, "As Kd 2c", **wagers), community="5h 6h"
    )
    settled = play(terms, sent).settlement
    # Three times 17 cents first; then a tenth, and a tenth of what is left.
    assert [(award["seat"], award["paid_cents"]) for award in settled["awards"]] == [(3, 100_005), (1, 90_004)]
    assert settled["meters"][0]["after_cents"] == 1_000_051 - 100_005 - 90_004
    envy = {entry["seat"]: [each["paid_cents"] for each in entry["envy"]] for entry in settled["seats"]}
    assert envy == {5: [30_000, 30_000], 3: [30_000], 1: [30_000]}
    assert lines(settled["seats"][0])["progressive"] == ("lose", None, 0, 0)


def test_a_progressive_of_another_amount_is_held() -> None:
    terms = table("let-it-ride", PAYTABLES, link=five_card_link())
    assert reasons(terms, at_seat_one("Ts 3d Kh", "Tc 2d", progressive=500)) == ["wager_not_allowed"]


def test_a_table_has_the_paytables_and_the_deck_of_its_game() -> None:
    for wrong, key in (
        ({"decks": 2}, "decks"),
        ({"paytables": {"bonus": "lir-bonus"}}, "paytables.base"),
        ({"paytables": {"base": "dds-base"}}, "paytables.base"),
        ({"paytables": PAYTABLES | {"bonus": "3cs-01"}}, "paytables.bonus"),
        ({"paytables": PAYTABLES | {"cover_all": "ms-cover-all"}}, "paytables.cover_all"),
        ({"seats": 8}, "seats"),
    ):
        with pytest.raises(DefinitionRefused) as refusal:
            table("let-it-ride", PAYTABLES, **wrong)
        assert refusal.value.path == key
    with pytest.raises(DefinitionRefused, match="link"):
        table("let-it-ride", PAYTABLES, link=five_card_link("ms-stud-01"))
