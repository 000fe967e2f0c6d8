"""Three card poker (SPEC §7; seed 003, 19:47-20.3 to 20.12; DECISIONS A34, A37)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from jackpot.rules.definition import DefinitionRefused
from tables.rules.cards import DECK
from tables.rules.games import game_of
from tables.rules.message import Seat
from tables.rules.table import TableTerms
from tables.rules.three_card_poker import Dealer, ThreeCardPoker
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

PAYTABLES = {"base": "tcp-base", "pair_plus": "tcp-pair-plus"}
ALL_IN = {"ante": 500, "play": 500, "pair_plus": 300}
QUEEN_HIGH = "Qc 7d 2h"  # just qualifies
JACK_HIGH = "Jc Td 8h"  # just does not
BACK = ("push", None, 0, 500)
LOST = ("lose", None, 0, 0)
WON = ("win", "1 to 1", 500, 1000)

# Three cards, category, ante bonus to 1, pair plus to 1 (20.11(a)).
HANDS = [
    ("As Ks Qs", "straight_flush", 5, 40),
    ("As 2s 3s", "straight_flush", 5, 40),
    ("4s 4d 4h", "three_of_a_kind", 4, 30),
    ("As Kd Qs", "straight", 1, 6),
    ("As 2d 3s", "straight", 1, 6),
    ("Ks As 2s", "flush", None, 4),  # no straight: the ace is not in the middle
    ("3s 3d 2c", "pair", None, 1),
    ("Ks As 2d", "high_card", None, None),
]


@pytest.fixture
def terms() -> TableTerms:
    return table("three-card-poker", PAYTABLES)


def pays(stake: int, to_one: int | None) -> tuple[str, str | None, int, int]:
    if to_one is None:
        return LOST
    return ("win", f"{to_one} to 1", stake * to_one, stake * to_one + stake)


@pytest.mark.parametrize(("own", "hand", "ante_bonus", "pair_plus"), HANDS)
def test_every_row_against_a_dealer_who_just_qualifies(
    terms: TableTerms, own: str, hand: str, ante_bonus: int | None, pair_plus: int | None
) -> None:
    entry = only_seat(terms, message(seat(1, own, **ALL_IN), dealer=QUEEN_HIGH))
    expected = {"ante": WON, "play": WON, "pair_plus": pays(300, pair_plus)}
    if ante_bonus is not None:
        expected["ante_bonus"] = ("win", f"{ante_bonus} to 1", 500 * ante_bonus, 500 * ante_bonus)
    assert lines(entry) == expected
    assert (entry["hand"], entry["result"], entry["limit"]) == (hand, "win", None)


@pytest.mark.parametrize("own", ["2s 3d 5h", "As Kd 5h", "Jd Tc 8s"])
def test_without_a_queen_the_ante_is_paid_to_any_hand_and_the_play_returned(terms: TableTerms, own: str) -> None:
    entry = only_seat(terms, message(seat(1, own, ante=500, play=500), dealer=JACK_HIGH))
    assert lines(entry) == {"ante": WON, "play": BACK}
    assert (entry["result"], entry["paid_cents"]) == ("win", 1500)


@pytest.mark.parametrize(
    ("own", "dealer", "result"),
    [
        ("Qd 7s 2c", QUEEN_HIGH, "push"),
        ("Qd 7s 3c", QUEEN_HIGH, "win"),
        ("Qd 6s 5c", QUEEN_HIGH, "lose"),
        ("As Kd Jh", "2s 2d 3h", "lose"),
        ("3s 3d 2c", "2s 2d Ah", "win"),
        ("2s 2d Kh", "2c 2h Qh", "win"),
        ("As 2d 3s", "2c 3d 4s", "lose"),
        ("2c 4c 5c", "As Ad Kh", "win"),
        ("2c 3d 4s", "As Ks Js", "win"),
        ("2c 2d 2s", "As Kd Qh", "win"),
        ("2c 3c 4c", "As Ad Ah", "win"),
        ("As Ks Qs", "Ad Kd Qd", "push"),
        ("As 2s 3s", "2d 3d 4d", "lose"),
    ],
)
def test_who_beats_whom(terms: TableTerms, own: str, dealer: str, result: str) -> None:
    entry = only_seat(terms, message(seat(1, own, ante=500, play=500), dealer=dealer))
    line = {"win": WON, "lose": LOST, "push": BACK}[result]
    assert entry["result"] == result
    assert {wager: lines(entry)[wager] for wager in ("ante", "play")} == {"ante": line, "play": line}


def test_the_ante_bonus_is_paid_although_the_dealer_wins(terms: TableTerms) -> None:
    entry = only_seat(terms, message(seat(1, "2c 3d 4s", **ALL_IN), dealer="As Ad Ah"))
    assert lines(entry) == {
        "ante": LOST, "ante_bonus": ("win", "1 to 1", 500, 500), "play": LOST, "pair_plus": pays(300, 6),
    }  # fmt: skip
    assert entry["result"] == "lose"


def test_a_fold_forfeits_ante_and_pair_plus(terms: TableTerms) -> None:
    sent = message(seat(1, "As Ks Qs", ante=500, pair_plus=300, folded="play"), dealer=JACK_HIGH)
    entry = only_seat(terms, sent)
    assert lines(entry) == {"ante": LOST, "pair_plus": LOST}
    assert (entry["hand"], entry["result"]) == ("straight_flush", "fold")


@pytest.mark.parametrize(("own", "result"), [("3s 3d 2c", "win"), ("Ks As 2d", "lose")])
def test_pair_plus_alone_decides_the_seat(terms: TableTerms, own: str, result: str) -> None:
    for dealer in (QUEEN_HIGH, JACK_HIGH, "Ac Kc Qc"):
        entry = only_seat(terms, message(seat(1, own, pair_plus=300), dealer=dealer))
        assert lines(entry) == {"pair_plus": pays(300, 1 if result == "win" else None)}
        assert entry["result"] == result


@pytest.mark.parametrize(
    ("wagers", "expected"),
    [
        ({"ante": 500, "play": 500, "pair_plus": 1}, []),
        ({"pair_plus": 100_000_000}, []),  # no bounds for a side wager (A31)
        ({"ante": 500, "play": 1000}, ["wager_not_allowed"]),
        ({"ante": 499, "play": 499}, ["wager_not_allowed"]),
        ({"ante": 100_001, "play": 100_001}, ["wager_not_allowed"]),
        ({"ante": 500}, ["wager_out_of_order"]),
        ({"ante": 500, "pair_plus": 300}, ["wager_out_of_order"]),
        ({"play": 500}, ["wager_out_of_order"]),
        ({"play": 500, "pair_plus": 500}, ["wager_out_of_order"]),
        ({"pair_plus": 500, "folded": "play"}, ["wager_out_of_order"]),
        ({}, ["wager_out_of_order"]),
        ({"ante": 500, "play": 500, "folded": "play"}, ["wager_after_fold"]),
        ({"ante": 500, "play": 500, "pocket": 5}, ["wager_not_offered"]),
    ],
)
def test_what_may_be_wagered(terms: TableTerms, wagers: dict[str, Any], expected: list[str]) -> None:
    assert reasons(terms, message(seat(1, "3s 3d 2c", **wagers), dealer=QUEEN_HIGH)) == expected


def test_pair_plus_is_not_offered_without_its_paytable() -> None:
    terms = table("three-card-poker", {"base": "tcp-base"})
    sent = message(seat(1, "3s 3d 2c", pair_plus=300), dealer=QUEEN_HIGH)
    assert reasons(terms, sent) == ["wager_not_offered"]


def test_only_the_play_can_be_declined(terms: TableTerms) -> None:
    sent = message(seat(1, "3s 3d 2c", ante=500, folded="ante"), dealer=QUEEN_HIGH)
    assert refused(terms, sent) == ("invalid_value", "/seats/0/folded")


@pytest.mark.parametrize(
    ("own", "dealer"), [("3s 3d", QUEEN_HIGH), ("3s 3d 2s 4s", QUEEN_HIGH), ("3s 3d 2s", "Qc 7d"), ("3s 3d 2s", "")]
)
def test_other_numbers_of_cards_are_held(terms: TableTerms, own: str, dealer: str) -> None:
    assert reasons(terms, message(seat(1, own, **ALL_IN), dealer=dealer)) == ["wrong_card_count"]


def test_a_card_of_the_dealers_is_in_the_deck_once(terms: TableTerms) -> None:
    assert reasons(terms, message(seat(1, "Qc 3d 2s", **ALL_IN), dealer=QUEEN_HIGH)) == ["duplicate_card"]


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    sent = message(seat(1, "3s 3d 2c", **ALL_IN), dealer=QUEEN_HIGH, irregularities=[report(code)])
    settled = play(terms, sent).settlement
    standing = code in ("face_up_card", "shuffler_failed")
    assert (settled["outcome"], settled["reasons"]) == (("settled", []) if standing else ("void", [code]))
    assert settled["seats"][0]["paid_cents"] == (2600 if standing else 1300)


@pytest.mark.parametrize("where", [{"seat": 1}, {"position": "dealer"}])
def test_any_misdeal_voids_all_hands(terms: TableTerms, where: dict[str, Any]) -> None:
    sent = message(seat(1, "3s 3d", **ALL_IN), seat(2, "4s 4d 4c", **ALL_IN), dealer=QUEEN_HIGH)
    settled = play(terms, sent | {"irregularities": [report("wrong_card_count", **where)]}).settlement
    assert settled["outcome"] == "void"
    assert [entry["paid_cents"] for entry in settled["seats"]] == [1300, 1300]


def test_a_forfeit_loses_the_ante_bonus_too(terms: TableTerms) -> None:
    sent = message(seat(1, "As Ks Qs", **ALL_IN), dealer=QUEEN_HIGH, irregularities=[report("forfeit", seat=1)])
    assert lines(only_seat(terms, sent)) == {"ante": LOST, "play": LOST, "pair_plus": LOST}


def test_no_link_fits() -> None:
    with pytest.raises(DefinitionRefused) as refusal:
        table("three-card-poker", PAYTABLES, link=five_card_link())
    assert refusal.value.path == "link"


def test_pair_plus_over_every_hand_keeps_512_of_22100(terms: TableTerms) -> None:
    """The house keeps 2.32 %, as published."""
    game = game_of(terms)
    assert isinstance(game, ThreeCardPoker)
    won = 0
    counted: Counter[str | None] = Counter()
    for three in combinations(sorted(DECK), 3):
        found = game.outcome(Seat(1, list(three), {"pair_plus": 1}), Dealer(0, False))
        counted[found.hand] += 1
        won += found.lines[0]["paid_cents"] - 1
    assert won == -512
    assert counted == {
        "straight_flush": 48, "three_of_a_kind": 52, "straight": 720, "flush": 1096, "pair": 3744, "high_card": 16_440,
    }  # fmt: skip
