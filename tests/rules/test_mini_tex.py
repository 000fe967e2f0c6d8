"""Mini-Tex (SPEC §7, §8; seed 004, 19:47-36.5 to 36.12; DECISIONS A32, A38)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import pytest

from jackpot.rules.definition import DefinitionRefused
from tables.rules import hands
from tables.rules.cards import DECK
from tables.rules.games import game_of
from tables.rules.irregularities import NOTHING_WRONG
from tables.rules.message import Dealing, RoundMessage
from tables.rules.mini_tex import MiniTex, pocket_hand
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

PAYTABLES = {"base": "mt-base", "pocket": "mt-pocket-a"}
BASE = {"ante": 500, "flop": 500, "river": 500, "play": 1000}
LOST = ("lose", None, 0, 0)

# Pocket hands with the odds of tables A, B and C (36.11(c)).
POCKETS = [
    ("As Ks", "royal_straight_flush", (25, 40, 50)),
    ("As Ad", "pair_of_aces", (20, 35, 40)),
    ("Qs Ks", "straight_flush", (5, 5, 5)),
    ("3d 2d", "straight_flush", (5, 5, 5)),
    ("Ks Kd", "pair", (3, 3, 2)),
    ("2s 2d", "pair", (3, 3, 2)),
    ("As Kd", "straight", (2, 1, 1)),
    ("3s 2d", "straight", (2, 1, 1)),
    ("As 2s", None, (None, None, None)),
    ("As 2d", None, (None, None, None)),
    ("Qs As", None, (None, None, None)),
    ("9s 7s", None, (None, None, None)),
]


@pytest.fixture
def terms() -> TableTerms:
    return table("mini-tex", PAYTABLES)


Lines = dict[str, tuple[str, str | None, int, int]]


def against(result: str, *, qualifies: bool = True) -> Lines:
    """The four wagers of a hand that wins, loses or ties."""
    won: Lines = {wager: ("win", "1 to 1", stake, 2 * stake) for wager, stake in BASE.items()}
    pushed: Lines = {wager: ("push", None, 0, stake) for wager, stake in BASE.items()}
    if result == "win":
        return won if qualifies else won | {"play": pushed["play"]}
    return pushed if result == "push" else dict.fromkeys(BASE, LOST)


@pytest.mark.parametrize(
    ("own", "community", "dealer", "hand", "result", "qualifies"),
    [
        ("9c 2h", "Kd 9h 3s", "As 6c", "pair", "win", True),  # the dealer's ace-king just qualifies
        ("9c 2h", "Kd 9h 3s", "Qs Tc", "pair", "win", False),
        ("9c 2h", "Kd 9h 3s", "Ts 6c", "pair", "win", False),
        ("9c 2h", "Qd 9h 3s", "As 6c", "pair", "win", False),  # ace-queen does not
        ("8c 2h", "Kd Jh 3s", "Ts 6c", "high_card", "lose", False),  # lower loses, qualified or not
        ("8c 2h", "Kd Jh 3s", "8s 4d", "high_card", "push", False),  # K-J-8 each; a tie pushes, qualified or not
        ("Ac 5h", "Kd Jh 3s", "As 4d", "high_card", "push", True),
        ("Ac Qh", "Kd Jh 3s", "As 4d", "straight", "win", True),
        ("2c 3h", "2d 9h Js", "2s 3d", "pair", "push", True),  # both best with the jack
        # A straight is higher than a flush, three of a kind higher than a straight (36.5(b)).
        ("4c 5h", "6d 9h Kh", "Ah 2h", "straight", "win", True),
        ("4c 4h", "4d 5h 6s", "7c 8s", "three_of_a_kind", "win", True),
        # The board alone is nobody's hand: at least one card must be one's own (36.5(a)).
        ("2c 7d", "Ah Kh Qh", "3c 8d", "high_card", "lose", True),  # A-K-7 and A-K-8
        ("2c 7d", "Kh Kd Kc", "3c 8d", "pair", "lose", True),
        ("Jh 7d", "Ah Kh Qh", "Th 8d", "straight_flush", "win", True),  # K-Q-J of hearts beats A-K-10, a flush
    ],
)
def test_the_best_three_of_five_against_the_dealer(
    terms: TableTerms, own: str, community: str, dealer: str, hand: str, result: str, qualifies: bool
) -> None:
    entry = only_seat(terms, message(seat(1, own, **BASE), community=community, dealer=dealer))
    assert (entry["hand"], entry["result"], entry["limit"]) == (hand, result, None)
    assert lines(entry) == against(result, qualifies=qualifies)


def test_the_best_hand_is_the_best_of_the_nine_that_use_an_own_card(terms: TableTerms) -> None:
    game = game_of(terms)
    assert isinstance(game, MiniTex)
    shuffled = Random(36)
    deck = sorted(DECK)
    for _ in range(2_000):
        cards = shuffled.sample(deck, 7)
        board, own, dealer = cards[:3], cards[3:5], cards[5:]
        dealt = RoundMessage("1", "T-1", "", Dealing("hand"), board, [], dealer)
        found = game.deal(dealt, NOTHING_WRONG)
        for two in (own, dealer):
            threes = [three for three in combinations(board + two, 3) if set(three) != set(board)]
            best = max(hands.three_card_strength(hands.weigh(three)) for three in threes)
            assert found.best(two) == best
        assert found.dealer == found.best(dealer)


@pytest.mark.parametrize("letter", ["a", "b", "c"])
@pytest.mark.parametrize(("own", "hand", "odds"), POCKETS)
def test_pocket_poker_pays_by_its_table_and_after_a_fold(
    letter: str, own: str, hand: str | None, odds: tuple[int | None, ...]
) -> None:
    terms = table("mini-tex", PAYTABLES | {"pocket": f"mt-pocket-{letter}"})
    assert pocket_hand(own.split(), ace_two=False) == hand
    pays = odds["abc".index(letter)]
    expected = LOST if pays is None else ("win", f"{pays} to 1", 300 * pays, 300 * pays + 300)
    for street, made in (("flop", 1), ("river", 2), ("play", 3)):
        wagers = dict(list(BASE.items())[:made]) | {"pocket": 300}
        sent = message(seat(1, own, **wagers, folded=street), community="4c 8d Tc", dealer="4h 8h")
        entry = only_seat(terms, sent)
        assert lines(entry) == dict.fromkeys(list(BASE)[:made], LOST) | {"pocket": expected}
        assert entry["result"] == "fold"
    played = only_seat(terms, message(seat(1, own, **BASE, pocket=300), community="4c 8d Tc", dealer="4h 8h"))
    assert lines(played)["pocket"] == expected


def test_ace_and_two_are_consecutive_where_the_term_says_so() -> None:
    terms = table("mini-tex", PAYTABLES, terms={"ace_two_consecutive": True})
    for own, expected in (("As 2s", "5 to 1"), ("As 2d", "2 to 1"), ("As 3s", None), ("Ks 2s", None)):
        sent = message(seat(1, own, **BASE, pocket=300), community="4c 8d Tc", dealer="4h 8h")
        assert lines(only_seat(terms, sent))["pocket"][1] == expected


@pytest.mark.parametrize("ace_two", [False, True])
def test_pocket_hands_over_all_1326(ace_two: bool) -> None:
    counted = Counter(pocket_hand(two, ace_two=ace_two) for two in combinations(sorted(DECK), 2))
    # 11 suited neighbours below ace-king in each suit, and 12 ways unsuited for each of 12.
    more = (4, 12) if ace_two else (0, 0)
    assert counted == {
        "royal_straight_flush": 4,
        "pair_of_aces": 6,
        "straight_flush": 44 + more[0],
        "pair": 72,
        "straight": 144 + more[1],
        None: 1326 - 4 - 6 - 44 - 72 - 144 - sum(more),
    }


@pytest.mark.parametrize(
    ("own", "community", "odds", "expected"),
    [
        ("Ah Kh", "Qh 2c 7d", 30, "30 to 1"),
        ("Ah 3d", "Qh Kh 7d", 12, "12 to 1"),
        ("Ah Kh", "Qh 2c 7d", 0, None),
        ("3d 4d", "Ah Kh Qh", 30, None),  # nobody's hand
        ("Kh Qh", "Jh 2c 7d", 30, None),
        ("Ah Kh", "Qd 2c 7d", 30, None),
    ],
)
@pytest.mark.parametrize("dealer", ["Th 9h", "5s 6s", "2d 2s"])
def test_the_ante_bonus_is_a_term(own: str, community: str, odds: int, expected: str | None, dealer: str) -> None:
    terms = table("mini-tex", PAYTABLES, terms={"ante_bonus_odds": odds})
    entry = only_seat(terms, message(seat(1, own, **BASE), community=community, dealer=dealer))
    bonus = ("win", expected, 500 * odds, 500 * odds) if expected else None
    assert lines(entry).get("ante_bonus") == bonus


def test_a_folded_suited_ace_king_queen_earns_no_ante_bonus() -> None:
    terms = table("mini-tex", PAYTABLES, terms={"ante_bonus_odds": 30})
    sent = message(seat(1, "Ah Kh", ante=500, folded="flop"), community="Qh 2c 7d", dealer="5s 6s")
    assert lines(only_seat(terms, sent)) == {"ante": LOST}


@pytest.mark.parametrize(
    ("wagers", "expected"),
    [
        (BASE, []),
        (BASE | {"pocket": 1}, []),
        (BASE | {"flop": 1000}, ["wager_not_allowed"]),
        (BASE | {"river": 400}, ["wager_not_allowed"]),
        (BASE | {"play": 500}, ["wager_not_allowed"]),
        (BASE | {"play": 1500}, ["wager_not_allowed"]),
        ({"ante": 400, "flop": 400, "river": 400, "play": 800}, ["wager_not_allowed"]),
        ({"flop": 500, "river": 500, "play": 1000}, ["wager_out_of_order"]),
        ({"pocket": 500}, ["wager_out_of_order"]),
        ({"ante": 500, "flop": 500, "play": 1000}, ["wager_out_of_order"]),
        ({"ante": 500, "flop": 500, "river": 500}, ["wager_out_of_order"]),
        ({"ante": 500}, ["wager_out_of_order"]),
        ({"ante": 500, "folded": "river"}, ["wager_out_of_order"]),
        ({"ante": 500, "flop": 500, "folded": "flop"}, ["wager_after_fold"]),
        ({"ante": 500, "folded": "flop"}, []),
        ({"ante": 500, "flop": 500, "folded": "river"}, []),
        ({"ante": 500, "flop": 500, "river": 500, "folded": "play"}, []),
        (BASE | {"pair_plus": 5}, ["wager_not_offered"]),
        (BASE | {"progressive": 100}, ["wager_not_offered"]),
    ],
)
def test_what_may_be_wagered(terms: TableTerms, wagers: dict[str, Any], expected: list[str]) -> None:
    assert reasons(terms, message(seat(1, "9c 2h", **wagers), community="Kd 9h 3s", dealer="As 6c")) == expected


def test_a_void_round_is_held_for_a_street_without_the_one_before(terms: TableTerms) -> None:
    for wagers, expected in (({"ante": 500, "river": 500}, ["wager_out_of_order"]), ({"ante": 500, "flop": 500}, [])):
        sent = message(seat(1, "9c 2h", **wagers), irregularities=[report("shoe_failed")])
        assert reasons(terms, sent) == expected


def test_the_ante_cannot_be_folded(terms: TableTerms) -> None:
    sent = message(seat(1, "9c 2h", ante=500, folded="ante"), community="Kd 9h 3s", dealer="As 6c")
    assert refused(terms, sent) == ("invalid_value", "/seats/0/folded")


@pytest.mark.parametrize(
    ("own", "community", "dealer"),
    [("9c", "Kd 9h 3s", "As 6c"), ("9c 2h", "Kd 9h", "As 6c"), ("9c 2h", "Kd 9h 3s", "As"), ("9c 2h", "Kd 9h 3s", "")],
)
def test_other_numbers_of_cards_are_held(terms: TableTerms, own: str, community: str, dealer: str) -> None:
    assert reasons(terms, message(seat(1, own, **BASE), community=community, dealer=dealer)) == ["wrong_card_count"]


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    pair, nothing = seat(1, "9c 9d", **BASE, pocket=300), seat(2, "9s 7h", ante=500, pocket=300, folded="flop")
    sent = message(pair, nothing, community="Kd Jh 3s", dealer="As 6c", irregularities=[report(code)])
    settled = play(terms, sent).settlement
    seven, nine = settled["seats"]
    if code in ("face_up_card", "shuffler_failed"):
        assert (settled["outcome"], nine["result"], seven["result"]) == ("settled", "win", "fold")
        return
    assert (settled["outcome"], settled["reasons"]) == ("void", [code])
    back = {wager: ("void", None, 0, stake) for wager, stake in BASE.items()}
    spared = code in ("card_exposed_early", "face_up_cards")
    assert lines(nine) == back | {"pocket": ("win", "3 to 1", 900, 1200) if spared else ("void", None, 0, 300)}
    assert lines(seven) == {"ante": ("void", None, 0, 500), "pocket": LOST if spared else ("void", None, 0, 300)}
    for entry in (nine, seven):
        assert (entry["hand"], entry["result"], entry["limit"], entry["envy"]) == (None, "void", None, [])


@pytest.mark.parametrize(
    ("reports", "cards", "neighbour", "settles"),
    [
        (["card_exposed_early"], "9c 9d", "7h 2h", True),
        (["card_exposed_early"], "9c 9d", "7h", True),  # only face-up cards ask for everybody's two cards
        (["card_exposed_early"], "9c", "7h 2h", False),
        (["card_exposed_early"], "9c 9d 9h", "7h 2h", False),
        (["card_exposed_early"], "9c 9c", "7h 2h", False),  # no deck has them
        (["face_up_cards"], "9c 9d", "7h 2h", True),
        (["face_up_cards"], "9c 9d", "7h", False),
        (["face_up_card", "face_up_card"], "9c 9d", "7h 2h", True),
        (["face_up_card", "face_up_card"], "9c 9d", "", False),
        (["face_up_cards", "card_exposed_early"], "9c 9d", "7h 2h", True),
        (["face_up_cards", "deck_count_wrong"], "9c 9d", "7h 2h", False),
        (["card_exposed_early", "shoe_failed"], "9c 9d", "7h 2h", False),
        ([("wrong_card_count", {"position": "dealer"}), "card_exposed_early"], "9c 9d", "7h 2h", False),
        ([("wrong_card_count", {"seat": 1}), "card_exposed_early"], "9c 9d", "7h 2h", False),
        ([("wrong_card_count", {"seat": 2}), "card_exposed_early"], "9c 9d", "7h", True),
        ([("forfeit", {"seat": 1}), "card_exposed_early"], "9c 9d", "7h 2h", False),
    ],
)
def test_when_pocket_poker_settles_in_a_void_round(
    terms: TableTerms, reports: list[Any], cards: str, neighbour: str, settles: bool
) -> None:
    entries = [report(each) if isinstance(each, str) else report(each[0], **each[1]) for each in reports]
    sent = message(seat(1, cards, ante=500, pocket=300), seat(2, neighbour, ante=500), irregularities=entries)
    settled = play(terms, sent).settlement
    assert settled["outcome"] == "void"
    assert lines(settled["seats"][1])["pocket"] == (("win", "3 to 1", 900, 1200) if settles else ("void", None, 0, 300))


def test_a_misdealt_seat_is_void_alone_with_its_pocket_poker(terms: TableTerms) -> None:
    sent = message(
        seat(1, "9c 9d 5d", **BASE, pocket=300),
        seat(2, "8c 8h", **BASE, pocket=300),
        community="Kd Jh 3s",
        dealer="As 6c",
    )
    settled = play(terms, sent | {"irregularities": [report("wrong_card_count", seat=1)]}).settlement
    assert settled["outcome"] == "settled"
    assert [(entry["result"], entry["paid_cents"]) for entry in settled["seats"]] == [("win", 6200), ("void", 2800)]


def test_a_misdeal_to_the_dealer_or_the_board_voids_the_round(terms: TableTerms) -> None:
    for position in ("dealer", "community"):
        sent = message(seat(1, "9c 9d", ante=500, pocket=300), community="Kd Jh", dealer="As")
        settled = play(terms, sent | {"irregularities": [report("wrong_card_count", position=position)]}).settlement
        assert (settled["outcome"], settled["seats"][0]["paid_cents"]) == ("void", 800)


def test_six_seats_one_deck_no_link() -> None:
    for wrong, key in (
        ({"seats": 7}, "seats"),
        ({"decks": 2}, "decks"),
        ({"terms": {"ante_bonus_odds": 31}}, "terms.ante_bonus_odds"),
    ):
        with pytest.raises(DefinitionRefused) as refusal:
            table("mini-tex", PAYTABLES, **wrong)
        assert refusal.value.path == key
    with pytest.raises(DefinitionRefused) as refusal:
        table("mini-tex", PAYTABLES, link=five_card_link())
    assert refusal.value.path == "link"
