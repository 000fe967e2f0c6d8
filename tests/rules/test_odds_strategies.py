"""Games in which the player decides: the published edges, and the counts behind them against dealing cards out."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from jackpot.rules.paytable import Row
from tables.odds import boston_5_stud, double_down_stud, let_it_ride, mini_tex, mississippi_stud, of_edition, red_dog
from tables.odds import three_card_poker as three_card_odds
from tables.odds.dealers_hand import DealersHand
from tables.odds.deck import BIT, CARDS, WEIGHT, canonical, classes, members, strength
from tables.odds.edition import WagerOdds
from tables.odds.mini_tex import meetings
from tables.odds.pays import five_card_rows, net
from tables.rules.cards import RANKS
from tables.rules.hands import (
    FIVE_CARD_LEADS,
    FIVE_CARD_NAMES,
    THREE_CARD_LEADS,
    five_card_strength,
    three_card_strength,
)
from tables.rules.mini_tex import ACE_KING, SUITED_ACE_KING_QUEEN
from tables.rules.paytables import builtin


def percent(odds: WagerOdds) -> float:
    assert odds.edge is not None
    return round(float(odds.edge * 100), 4)


# -- published edges -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "edge"),
    [
        ("ms-base", "4.9149"),
        ("3cs-01", "2.32"),
        ("3cs-02", "5.57"),
        ("3cs-03", "7.28"),
        ("3cs-04", "2.14"),
        ("3cs-05", "5.39"),
        ("3cs-06", "7.10"),
        ("lir-base", "3.51"),
        ("tcp-base", "3.37"),
        ("tcp-pair-plus", "2.32"),
        ("rd-base", "3.155"),
    ],
)
def test_the_published_edge(code: str, edge: str) -> None:
    counted = of_edition(code).edge
    assert counted is not None
    assert f"{float(counted * 100):.{len(edge) - 2}f}" == edge


@pytest.mark.parametrize(("decks", "edge"), [(1, 3.155), (2, 3.077), (4, 2.884), (6, 2.798), (8, 2.751)])
def test_red_dog_by_decks(decks: int, edge: float) -> None:
    counted = red_dog.base(builtin()["rd-base"].rows, decks)
    assert round(percent(counted), 3) == edge
    assert sum(counted.combinations.values()) == counted.total == 52 * decks * (52 * decks - 1) * (52 * decks - 2)
    # A raise is right from a spread of seven on, as every book says.
    cards, copies = 52 * decks, 4 * decks
    raised = sum(2 * (12 - spread) * copies**2 for spread in range(7, 12))
    assert counted.plays["raise"] == Fraction(raised, cards * (cards - 1))


def test_the_published_element_of_risk() -> None:
    stud, rides, three = (of_edition(code).ordinary for code in ("ms-base", "lir-base", "tcp-base"))
    assert round(float(stud.average_stake), 2) == 3.59
    assert round(float(stud.element_of_risk or 0) * 100, 2) == 1.37
    assert round(float(three.element_of_risk or 0) * 100, 2) == 2.01
    assert round(float(rides.average_stake), 3) == 1.224


# -- the record, counted again -----------------------------------------------------------------------------------------


def test_mississippi_stud_is_what_is_recorded() -> None:
    assert of_edition("ms-base").wagers == (mississippi_stud.base(builtin()["ms-base"].rows),)


def test_let_it_ride_and_double_down_stud_are_what_is_recorded() -> None:
    assert of_edition("lir-base").wagers == (let_it_ride.base(builtin()["lir-base"].rows),)
    assert of_edition("dds-base").wagers == (double_down_stud.base(builtin()["dds-base"].rows),)


def test_three_card_poker_is_what_is_recorded() -> None:
    assert of_edition("tcp-base").wagers == (three_card_odds.base(builtin()["tcp-base"].rows),)


# -- play ----------------------------------------------------------------------------------------------------------------


def test_double_down_stud_of_another_house() -> None:
    """The published table of the machine version, whose edge is 2.1033 %."""
    odds = {
        "royal_flush": 3_999,
        "straight_flush": 199,
        "four_of_a_kind": 49,
        "full_house": 11,
        "flush": 8,
        "straight": 5,
        "three_of_a_kind": 3,
        "two_pair": 2,
    }
    rows = [Row(hand, "to", odds=pays) for hand, pays in odds.items()]
    rows += [Row("pair", "to", odds=1, from_rank="J", to_rank="A"), Row("pair", "push", from_rank="6", to_rank="T")]
    assert percent(double_down_stud.base(rows)) == 2.1033


def test_the_last_street_of_mississippi_stud_against_dealing_it() -> None:
    strategy = mississippi_stud.Strategy([net(row) for row in five_card_rows(builtin()["ms-base"].rows)])
    paid = five_card_rows(builtin()["ms-base"].rows)
    for cards in list(classes(4))[::1_500]:
        held = sum(WEIGHT[card] for card in members(cards))
        pays = [net(paid[five_card_strength(held + WEIGHT[c]) // 13**4]) for c in CARDS if not cards & BIT[c]]
        for stake in (3, 5, 7):
            best = strategy.value(cards, stake)
            assert best.net == max(-48 * stake, *((stake + multiple) * sum(pays) for multiple in (1, 2, 3)))


def test_a_pair_of_jacks_raises_and_a_bare_deuce_folds() -> None:
    strategy = mississippi_stud.Strategy([net(row) for row in five_card_rows(builtin()["ms-base"].rows)])
    deals = 50 * 49 * 48
    jacks, seven_deuce = BIT[9] | BIT[22], BIT[0] | BIT[18]
    assert strategy.value(canonical(jacks), 1).staked == 10 * deals
    assert strategy.value(canonical(seven_deuce), 1).folds == (deals, 0, 0)


@pytest.mark.parametrize(
    ("nets", "chosen"), [((-4, -4, -4), 0), ((-5, -4, -4), 1), ((-5, -3, -2), 2), ((-5, -5, -6), None)]
)
def test_of_equal_plays_the_smallest_raise_is_made_and_a_fold_only_if_every_raise_is_worse(
    nets: tuple[int, ...], chosen: int | None
) -> None:
    fold, *raises = [mississippi_stud.Play(each, 0, staked, 0, (0, 0, 0)) for staked, each in enumerate((-4, *nets))]
    assert mississippi_stud._best(fold, raises) == (fold if chosen is None else raises[chosen])


def test_boston_5_with_no_hand_worth_a_fold() -> None:
    """Whoever always plays wins as often as the dealer, so the edge is the beaten antes less the bonus."""
    odds = of_edition("b5-base").ordinary
    assert odds.plays == {"second_wager": 1, "fold": 0}
    bonus = {
        "royal_flush": 1_000,
        "straight_flush": 200,
        "four_of_a_kind": 100,
        "full_house": 25,
        "flush": 15,
        "straight": 8,
        "three_of_a_kind": 4,
        "two_pair": 2,
    }
    mean_bonus = Fraction(sum(odds.combinations[hand] * pays for hand, pays in bonus.items()), comb(52, 5))
    assert odds.hit_frequency is not None
    assert odds.edge == odds.hit_frequency * boston_5_stud.ANTE - mean_bonus
    # Ties: two hands of five different cards with the same ranks.
    assert Fraction(499, 1_000) < odds.hit_frequency < Fraction(1, 2)


# -- against the dealer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cards", [[0, 14, 28], [12, 11, 10], [5, 18, 31], [12, 24, 3]])
def test_three_cards_meet_every_hand_of_the_dealer(cards: list[int]) -> None:
    own = sum(BIT[card] for card in cards)
    mine = strength(own)
    rest = [WEIGHT[card] for card in CARDS if card not in cards]
    met = Counter(
        (theirs > mine) - (theirs < mine) for theirs in map(three_card_strength, map(sum, combinations(rest, 3)))
    )
    assert DealersHand(3).meet(own) == (met[-1], met[0], met[1])


def best_of(own: tuple[int, ...], board: list[int]) -> int:
    """The best three of five cards that are not the three of the board."""
    return max(
        three_card_strength(sum(WEIGHT[card] for card in three))
        for three in combinations((*own, *board), 3)
        if set(three) != set(board)
    )


@pytest.mark.parametrize("board", [[8, 9, 10], [8, 21, 34], [11, 24, 12], [9, 22, 36]])
def test_mini_tex_on_a_small_deck_against_dealing_every_two_hands(board: list[int]) -> None:
    deck = sorted(rank + 13 * suit for rank in (8, 9, 10, 11, 12) for suit in range(4))
    rest = [card for card in deck if card not in board]
    strengths = {own: best_of(own, board) for own in combinations(rest, 2)}
    for meeting in meetings(board, deck):
        first, second = own = members(meeting.cards)
        mine = strengths[first, second]
        against = [theirs for other, theirs in strengths.items() if not set(other) & set(own)]
        assert meeting.strength == mine
        assert meeting.unqualified_wins == sum(theirs < mine and theirs < ACE_KING for theirs in against)
        assert meeting.qualified_wins == sum(theirs < mine and theirs >= ACE_KING for theirs in against)
        assert meeting.ties == sum(theirs == mine for theirs in against)
        assert meeting.losses == sum(theirs > mine for theirs in against)


def test_mini_tex_is_even_before_anybody_qualifies_or_folds() -> None:
    for board in list(classes(3))[::400]:
        met = list(meetings(members(board)))
        assert sum(hand.unqualified_wins + hand.qualified_wins for hand in met) == sum(hand.losses for hand in met)
        assert {hand.unqualified_wins + hand.qualified_wins + hand.ties + hand.losses for hand in met} == {1_081}


def test_the_ante_bonus_of_mini_tex_gives_back_what_it_pays() -> None:
    without, most = of_edition("mt-base").wagers
    assert without.edge is not None
    assert most.edge is not None
    assert (without.case["ante_bonus_odds"], most.case["ante_bonus_odds"]) == (0, 30)
    # A suited ace-king-queen is never folded, so the bonus costs thirty antes each time.
    assert without.edge - most.edge == 30 * Fraction(without.combinations["suited_ace_king_queen"], without.total)
    assert round(percent(without), 3) == 4.958


# -- a smaller deck, dealt out -------------------------------------------------------------------------------------------


def of_ranks(ranks: str) -> list[int]:
    """The cards of a deck that has these ranks alone."""
    return sorted(RANKS.index(rank) + 13 * suit for suit in range(4) for rank in ranks)


Results = dict[tuple[Fraction, bool], int]
"""What hands of the dealer come to in antes, and whether they are beaten: of how many of them."""


class Dealt:
    """What is dealt from a small deck, added up as it is played."""

    def __init__(self) -> None:
        self.deals = self.wins = self.staked = 0
        self.net = self.square = Fraction(0)
        self.plays: Counter[str] = Counter()

    def played(self, results: Results, stake: int, play: str) -> Dealt:
        """Add deals that are played alike."""
        for (came_to, won), deals in results.items():
            self.deals += deals
            self.wins += deals * won
            self.net += deals * came_to
            self.square += deals * came_to**2
            self.staked += deals * stake
            self.plays[play] += deals
        return self

    def then(self, *parts: Dealt) -> Dealt:
        """Add deals that were played already."""
        for part in parts:
            for name in ("deals", "wins", "net", "square", "staked", "plays"):
                setattr(self, name, getattr(self, name) + getattr(part, name))
        return self

    def or_fold(self, stake: int, play: str) -> Dealt:
        """These, or as many that are given up where that costs less."""
        if self.net >= -stake * self.deals:
            return self
        return Dealt().played({(Fraction(-stake), False): self.deals}, stake, play)

    def are_those_of(self, odds: WagerOdds) -> None:
        """See that the odds are those of what was dealt."""
        mean = self.net / self.deals
        assert odds.edge == -mean
        assert odds.variance == self.square / self.deals - mean**2
        assert odds.hit_frequency == Fraction(self.wins, self.deals)
        assert odds.average_stake == Fraction(self.staked, self.deals)
        assert odds.plays == {play: Fraction(self.plays[play], self.deals) for play in odds.plays}
        assert min(odds.plays.values()) > 0, "no way to play is left untried"


def test_boston_5_of_twelve_cards_is_what_is_dealt_from_them() -> None:
    """By terms so poor that some hands are folded: whoever beats the dealer loses half of it."""
    deck = of_ranks("AK7")
    rows = [Row("beats_dealer", "half"), Row("four_of_a_kind", "to", odds=3), Row("two_pair", "half")]
    bonus = {"four_of_a_kind": Fraction(3), "two_pair": Fraction(-1, 2)}
    strengths = {frozenset(hand): strength(sum(BIT[card] for card in hand)) for hand in combinations(deck, 5)}
    finished: dict[frozenset[int], Results] = {}
    for hand, mine in strengths.items():
        paid = bonus.get(FIVE_CARD_NAMES[mine // FIVE_CARD_LEADS], Fraction(0))
        found: Counter[tuple[Fraction, bool]] = Counter()
        for left in combinations([card for card in deck if card not in hand], 5):
            theirs = strengths[frozenset(left)]
            found[paid - (2 if mine > theirs else 5 if mine < theirs else 0), mine > theirs] += 1
        finished[hand] = found
    dealt = Dealt()
    for own in combinations(deck, 3):
        hands = [frozenset((*own, *more)) for more in combinations([card for card in deck if card not in own], 2)]
        after = Dealt()
        for hand in hands:
            after.played(finished[hand], 5, "second_wager")
        dealt.then(after.or_fold(3, "fold"))
    dealt.are_those_of(boston_5_stud.base(rows, deck))


def test_sums_of_mini_tex_are_added_and_of_equals_the_hand_is_played() -> None:
    sums = mini_tex.Sums(1, -1, 1, 3, 0, (1, 2, 3))
    sums.add(mini_tex.Sums(2, 5, 7, 9, 1, (4, 5, 6)), 10)
    assert sums == mini_tex.Sums(21, 49, 71, 93, 10, (41, 52, 63))
    even = mini_tex.Sums(2, -4, 8, 10, 1)
    assert even.or_fold(1) == even
    assert mini_tex.Sums(2, -5, 13, 10, 0).or_fold(1) == mini_tex.Sums(2, -4, 8, 4, 0, (0, 2, 0))


@pytest.mark.parametrize(("ranks", "bonus"), [("KQ7", 0), ("AKQ", 3)])
def test_mini_tex_of_twelve_cards_is_what_is_dealt_from_them(ranks: str, bonus: int) -> None:
    """By terms so poor that some hands are folded on every street."""
    deck = of_ranks(ranks)
    best = {
        (own, board): best_of(own, list(board))
        for board in combinations(deck, 3)
        for own in combinations([card for card in deck if card not in board], 2)
    }
    beating = Fraction(1, 7)
    finished: dict[tuple[tuple[int, ...], tuple[int, ...]], Dealt] = {}
    for (own, board), mine in best.items():
        paid = bonus if mine // THREE_CARD_LEADS == SUITED_ACE_KING_QUEEN else 0
        found: Counter[tuple[Fraction, bool]] = Counter()
        against = Counter(
            (theirs >= ACE_KING, (mine > theirs) - (mine < theirs))
            for dealers in combinations([card for card in deck if card not in (*own, *board)], 2)
            for theirs in [best[dealers, board]]
        )
        for (qualifies, result), deals in against.items():
            came_to = {1: (5 if qualifies else 3) * beating, 0: Fraction(0), -1: Fraction(-5)}[result]
            found[came_to + paid, result > 0] += deals
        finished[own, board] = Dealt().played(found, 5, "play_to_the_end").or_fold(3, "fold_on_play")
    everything = Dealt()
    for own in combinations(deck, 2):
        hand = Dealt()
        for flop in combinations([card for card in deck if card not in own], 2):
            rivers = [card for card in deck if card not in (*own, *flop)]
            boards = [finished[own, tuple(sorted((*flop, river)))] for river in rivers]
            hand.then(Dealt().then(*boards).or_fold(2, "fold_on_river"))
        everything.then(hand.or_fold(1, "fold_on_flop"))
    odds = mini_tex.base([Row("beats_dealer", "to", odds=1, per=7)], bonus, deck)
    everything.are_those_of(odds)
    suited = sum(mine // THREE_CARD_LEADS == SUITED_ACE_KING_QUEEN for mine in best.values())
    assert odds.combinations == {"suited_ace_king_queen": suited, "other": len(best) - suited}
    assert odds.case == {"ante_bonus_odds": bonus}
