"""Cover All: the highest of several hands on three shared cards, against dealing them all where that is short."""

from fractions import Fraction
from math import comb

import pytest

from jackpot.rules.paytable import FIVE_CARD_HANDS, RANKS
from tables.odds import cover_all, of_edition
from tables.odds.cover_all import CATEGORY, MOST_HANDS, board_distribution, distribution
from tables.odds.deck import CARDS, WEIGHT, classes, members
from tables.odds.hands import five_card_classes
from tables.odds.matchings import allowed_pairings, pairings
from tables.rules.hands import five_card_strength
from tables.rules.paytables import builtin


def dealt(board: list[int], deck: list[int], hands: int) -> list[int]:
    """The same distribution by dealing every set of disjoint pairs."""
    shared = sum(WEIGHT[card] for card in board)
    found = [0] * len(FIVE_CARD_HANDS)

    def deal(rest: list[int], left: int, best: int) -> None:
        if left == 0:
            found[best] += 1
            return
        for place, first in enumerate(rest):
            later = rest[place + 1 :]
            for other, second in enumerate(later):
                made = five_card_strength(shared + WEIGHT[first] + WEIGHT[second]) // CATEGORY
                deal(later[:other] + later[other + 1 :], left - 1, max(best, made))

    deal([card for card in deck if card not in board], hands, 0)
    return found


@pytest.mark.parametrize(
    "board",
    [
        pytest.param([8, 9, 10], id="T-J-Q of one suit"),
        pytest.param([3, 17, 31], id="5-5-6"),
    ],
)
def test_two_hands_on_a_board_of_the_whole_deck(board: list[int]) -> None:
    assert board_distribution(board)[2] == dealt(board, list(CARDS), 2)


@pytest.mark.parametrize("board", [[8, 9, 10], [8, 21, 34], [8, 21, 9], [8, 22, 12]])
@pytest.mark.parametrize("hands", [1, 2, 3, 4])
def test_several_hands_of_a_small_deck(board: list[int], hands: int) -> None:
    deck = [rank + 13 * suit for rank in (8, 9, 10, 11, 12) for suit in range(4)][:17]
    assert board_distribution(board, deck, hands)[hands] == dealt(board, deck, hands)


def test_forbidden_pairs_of_a_triangle_and_a_loner() -> None:
    # Cards 0, 1, 2 may not meet each other; 3 and 4 may meet anyone.
    forbidden = [0b00110, 0b00101, 0b00011, 0, 0]
    assert allowed_pairings(forbidden, 2) == [1, comb(5, 2) - 3, 6]
    # Card 0 may meet nobody.
    assert allowed_pairings([0b1110, 0b0001, 0b0001, 0b0001], 2) == [1, 3, 0]
    assert pairings(49, 2) == comb(49, 2) * comb(47, 2) // 2


def test_one_hand_is_any_five_cards() -> None:
    size = len(RANKS)
    counts = five_card_classes()
    # Ten ways to take three of five cards for the board.
    assert list(distribution()[1]) == [10 * sum(counts[i * size : (i + 1) * size]) for i in range(len(FIVE_CARD_HANDS))]


def test_every_deal_has_one_highest_hand() -> None:
    assert [sum(counts) for counts in distribution()] == [22_100 * pairings(49, n) for n in range(MOST_HANDS + 1)]
    assert all(count >= 0 for counts in distribution() for count in counts)


def test_more_hands_are_never_worse() -> None:
    def at_least(counts: tuple[int, ...], category: int) -> Fraction:
        return Fraction(sum(counts[category:]), sum(counts))

    for fewer, more in zip(distribution()[1:], distribution()[2:], strict=False):
        for category in range(1, len(FIVE_CARD_HANDS)):
            assert at_least(more, category) > at_least(fewer, category)


def test_two_royals_never_meet() -> None:
    """A royal on the board's three cards is made by one pair only, so n hands have n times the royals of one."""
    royals = [Fraction(counts[-1], sum(counts)) for counts in distribution()]
    assert all(royals[n] == n * royals[1] for n in range(1, MOST_HANDS + 1))


def test_three_of_a_kind_on_the_board_always_pays() -> None:
    three = FIVE_CARD_HANDS.index("three_of_a_kind")
    for board in classes(3):
        cards = members(board)
        if len({card % 13 for card in cards}) == 1:
            counts = board_distribution(cards, most=2)
            assert all(sum(counts[n][:three]) == 0 for n in (1, 2))


def test_the_record_is_what_is_counted() -> None:
    odds = of_edition("ms-cover-all")
    assert odds.wagers == cover_all.cover_all(builtin()["ms-cover-all"].odds_by_players)
    assert [dict(wager.case) for wager in odds.wagers[:6]] == [
        {"players": n, "dealer_hand": False} for n in range(1, 7)
    ]
    # A dealer's hand is one more chance at the same odds: the wager then favours the player.
    assert all(wager.edge is not None and wager.edge > 0 for wager in odds.wagers[:6])
    assert all(wager.edge is not None and wager.edge < 0 for wager in odds.wagers[6:])
    assert [round(float(wager.edge or 0) * 100, 4) for wager in odds.wagers[:6]] == [
        9.0195,
        9.8073,
        8.4566,
        8.4328,
        8.1072,
        8.3634,
    ]
