"""The simulated shuffler and the rigs: real decks, fair shuffles, chosen hands."""

from collections import Counter
from random import Random

import pytest

from devices.simulator import rig
from devices.simulator.deck import NAMES, Deck, card
from tables.rules import hands


def test_fifty_two_different_cards_have_names() -> None:
    assert len(set(NAMES)) == 52
    assert [card(name) for name in NAMES] == list(range(52))
    assert card("2c") == 0
    assert card("As") == 51


def test_a_shuffle_is_a_permutation_and_repeats_with_its_seed() -> None:
    deck, again, other = Deck("blue"), Deck("blue"), Deck("blue")
    one, same, different = Random(7), Random(7), Random(8)
    for _ in range(200):
        deck.shuffle(one)
        again.shuffle(same)
        other.shuffle(different)
        assert sorted(deck.cards) == list(range(52))
        assert deck.cards == again.cards
        assert deck.cards != other.cards


def test_every_card_comes_to_every_place_equally_often() -> None:
    deck, rng = Deck("blue"), Random(11)
    shuffles = 20_000
    seen = [[0] * 52 for _ in range(52)]
    for _ in range(shuffles):
        deck.shuffle(rng)
        for place, number in enumerate(deck.cards):
            seen[place][number] += 1
    expected = shuffles / 52
    chi_square = sum((count - expected) ** 2 / expected for place in seen for count in place)
    # 51 x 51 degrees of freedom: mean 2601, standard deviation 72.
    assert 2601 - 5 * 72 < chi_square < 2601 + 5 * 72


def test_cards_are_brought_to_their_places_by_swapping() -> None:
    deck, rng = Deck("red"), Random(3)
    for _ in range(500):
        deck.shuffle(rng)
        wanted = rng.sample(range(52), 5)
        places = rng.sample(range(52), 5)
        deck.bring(wanted, places)
        assert sorted(deck.cards) == list(range(52))
        assert [deck.cards[place] for place in places] == wanted


def named(cards: list[int]) -> str:
    strength = hands.five_card_strength(hands.weigh(NAMES[number] for number in cards))
    return hands.FIVE_CARD_NAMES[strength // hands.FIVE_CARD_LEADS]


@pytest.mark.parametrize("hand", sorted(set(rig.HANDS.values())))
def test_a_rigged_hand_is_that_hand(hand: str) -> None:
    rng = Random(5)
    made = Counter(named(rig.five_cards(hand, rng)) for _ in range(500))
    assert made == {hand: 500}


def test_rigs_are_read() -> None:
    assert rig.read("royal@120") == rig.Rig("royal_flush", number=120)
    assert rig.read("straight_flush@7:MS-101") == rig.Rig("straight_flush", number=7, table="MS-101")
    assert rig.read("royal@2.5s") == rig.Rig("royal_flush", after_ms=2500)
    assert [each.after_ms for each in rig.show()] == [20_000, 40_000]


@pytest.mark.parametrize(
    "text", ["royal", "royal@", "royal@0", "royal@1.5", "royal@-3", "nothing@4", "royal@x", "royal@4:"]
)
def test_other_rigs_are_refused_with_their_text(text: str) -> None:
    with pytest.raises(rig.RigRefused, match=f"'{text}'"):
        rig.read(text)
