"""What is counted is what is settled: every deal of a hand goes through the rules, and the cents come to the same."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import pytest

from tables.odds import mini_tex, of_edition, red_dog, three_card_poker
from tables.odds.dealers_hand import DealersHand
from tables.odds.deck import BIT
from tables.odds.mini_tex import meetings
from tables.rules.cards import DECK, RANKS, SUITS
from tables.rules.hands import THREE_CARD_LEADS
from tables.rules.mini_tex import SUITED_ACE_KING_QUEEN
from tables.rules.paytables import builtin
from tables.rules.red_dog import CONSECUTIVE, PAIR, hand_of, spread
from tests.rules.felt import message, play, seat, table

ANTE = 10_000


def number(card: str) -> int:
    """The card as `tables.odds.deck` counts it."""
    return RANKS.index(card[0]) + len(RANKS) * SUITS.index(card[1])


def net_antes(settled: Any) -> int:
    (entry,) = settled.settlement["seats"]
    won: int = entry["paid_cents"] - entry["staked_cents"]
    assert won % ANTE == 0
    return won // ANTE


@pytest.mark.parametrize(("cards", "bonus"), [("Qh 9c 2d", 0), ("7c 7h 7d", 4)])
def test_three_card_poker_against_every_hand_of_the_dealer(cards: str, bonus: int) -> None:
    terms = table("three-card-poker", {"base": "tcp-base"})
    own = cards.split()
    settled: Counter[int] = Counter()
    for dealt in combinations(sorted(DECK - set(own)), 3):
        sent = message(seat(1, cards, ante=ANTE, play=ANTE), dealer=" ".join(dealt))
        settled[net_antes(play(terms, sent))] += 1
    counted: Counter[int] = Counter()
    for ways, net in three_card_poker.played(DealersHand(3), sum(BIT[number(card)] for card in own), 1, bonus):
        counted[int(net)] += ways
    assert +settled == +counted


@pytest.mark.parametrize(
    ("cards", "board", "bonus"),
    [("As Ks", "Qs 7d 2c", 30), ("9c 4d", "9h Kd 6s", 0), ("8c 3d", "Ah Kd Qs", 0), ("5h 6h", "7h Jc Td", 0)],
)
def test_mini_tex_against_every_hand_of_the_dealer(cards: str, board: str, bonus: int) -> None:
    terms = table("mini-tex", {"base": "mt-base"}, terms={"ante_bonus_odds": 30})
    own = cards.split()
    settled = 0
    for dealt in combinations(sorted(DECK - set(own) - set(board.split())), 2):
        sent = message(
            seat(1, cards, ante=ANTE, flop=ANTE, river=ANTE, play=2 * ANTE), community=board, dealer=" ".join(dealt)
        )
        settled += net_antes(play(terms, sent))
    pair = sum(BIT[number(card)] for card in own)
    (meeting,) = (met for met in meetings([number(card) for card in board.split()]) if met.cards == pair)
    assert (meeting.strength // THREE_CARD_LEADS == SUITED_ACE_KING_QUEEN) == (bonus > 0)
    assert mini_tex.played(meeting, 1, bonus).net == settled


def test_red_dog_through_every_deal_of_one_deck() -> None:
    dealt: Counter[str] = Counter()
    for cards in permutations(sorted(DECK), 3):
        hand, paid = hand_of(cards)
        dealt[hand if paid else "outside_the_spread"] += 1
    one_deck = of_edition("rd-base").ordinary
    assert one_deck.case == {"decks": 1}
    assert one_deck.combinations == dealt


def test_what_red_dog_stakes_and_how_often_it_wins_through_every_deal_of_one_deck() -> None:
    """A player raises from a spread of seven on; the stake is doubled then, won or lost (seed 003, 19:47-6.5)."""
    deals = staked = won = 0
    for first, second, third in permutations(sorted(DECK), 3):
        hand, paid = hand_of((first, second, third))
        deals += 1
        staked += 2 if spread((first, second)) >= 7 else 1
        won += paid and hand not in (PAIR, CONSECUTIVE)
    for one_deck in (of_edition("rd-base").ordinary, red_dog.base(builtin()["rd-base"].rows, 1)):
        assert one_deck.average_stake == Fraction(staked, deals)
        assert one_deck.hit_frequency == Fraction(won, deals)
