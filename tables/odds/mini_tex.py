"""Mini-Tex played as well as it can be (SPEC §7): flop and river once the ante, play twice, or a fold on each street.

A hand is the best three of two own cards and the board, at least one of them own.  For each class of boards every pair of
cards is ranked once; a player's pair then meets the pairs without its own two cards by taking the pairs with either
of them out of all.  What a board is worth is added to the three flops it may have come from, and a flop to its two own
cards: each decision compares two sums over all cards to come.  All figures are in antes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.deck import BIT, CARDS, WEIGHT, canonical, classes, members, pair_key
from tables.odds.edition import WagerOdds
from tables.odds.pays import split_bonus
from tables.rules.hands import THREE_CARD_LEADS, three_card_strength
from tables.rules.mini_tex import ACE_KING, STREETS, SUITED_ACE_KING_QUEEN

# Antes staked before the flop, river and play wagers, and the play wager.
STAKED: Final = (1, 2, 3)
PLAY: Final = 2
EVERYTHING: Final = STAKED[-1] + PLAY

Key = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Meeting:
    """A pair of own cards on a board against the dealer's hands."""

    cards: int
    strength: int
    unqualified_wins: int
    qualified_wins: int
    ties: int
    losses: int

    @property
    def hands(self) -> int:
        """How many hands the dealer may hold."""
        return self.unqualified_wins + self.qualified_wins + self.ties + self.losses


def meetings(board: Sequence[int], deck: Sequence[int] = CARDS, qualifying: int = ACE_KING) -> Iterator[Meeting]:
    """Every pair of cards off the board as the player's hand.  A smaller deck may be given, to be counted by hand."""
    rest = [card for card in deck if card not in board]
    singles = [WEIGHT[card] for card in board]
    pairs = [singles[0] + singles[1], singles[0] + singles[2], singles[1] + singles[2]]
    alone = {card: max(three_card_strength(WEIGHT[card] + pair) for pair in pairs) for card in rest}
    everyone: list[int] = []
    with_card: dict[int, list[int]] = {card: [] for card in rest}
    hands: list[tuple[int, int, int]] = []
    for place, first in enumerate(rest):
        for second in rest[place + 1 :]:
            both = WEIGHT[first] + WEIGHT[second]
            best = max(three_card_strength(both + single) for single in singles)
            best = max(best, alone[first], alone[second])
            hands.append((first, second, best))
            everyone.append(best)
            with_card[first].append(best)
            with_card[second].append(best)
    everyone.sort()
    for strengths in with_card.values():
        strengths.sort()
    below = bisect_left(everyone, qualifying)
    below_with = {card: bisect_left(strengths, qualifying) for card, strengths in with_card.items()}
    others = comb(len(rest) - 2, 2)
    for first, second, best in hands:
        mine, too = with_card[first], with_card[second]
        wins = bisect_left(everyone, best) - bisect_left(mine, best) - bisect_left(too, best)
        # The player's own pair is among the pairs with either card, so it was taken out twice.
        at_most = bisect_right(everyone, best) - bisect_right(mine, best) - bisect_right(too, best) + 1
        if best < qualifying:
            unqualified = wins
        else:
            unqualified = below - below_with[first] - below_with[second]
        yield Meeting(BIT[first] | BIT[second], best, unqualified, wins - unqualified, at_most - wins, others - at_most)


@dataclass(slots=True)
class Sums:
    """Sums over deals: how many, net result, its square, everything staked, wins, and folds by street."""

    deals: int = 0
    net: int | Fraction = 0
    square: int | Fraction = 0
    staked: int = 0
    wins: int = 0
    folds: tuple[int, int, int] = (0, 0, 0)

    def add(self, other: Sums, times: int = 1) -> None:
        """Add so many times the sums of other deals."""
        self.deals += other.deals * times
        self.net += other.net * times
        self.square += other.square * times
        self.staked += other.staked * times
        self.wins += other.wins * times
        flop, river, play = other.folds
        if flop or river or play:
            mine = self.folds
            self.folds = (mine[0] + flop * times, mine[1] + river * times, mine[2] + play * times)

    def or_fold(self, street: int) -> Sums:
        """These sums, or those of a fold on a street if that loses less; of equals the hand is played."""
        stake = STAKED[street]
        if self.net >= -stake * self.deals:
            return self
        flop, river, play = (self.deals if place == street else 0 for place in range(len(STREETS)))
        return Sums(self.deals, -stake * self.deals, stake**2 * self.deals, stake * self.deals, 0, (flop, river, play))


def played(meeting: Meeting, beating: int | Fraction, bonus: int) -> Sums:
    """The play wager made."""
    unqualified, qualified = STAKED[-1] * beating + bonus, EVERYTHING * beating + bonus
    lost = bonus - EVERYTHING
    return Sums(
        deals=meeting.hands,
        net=(
            meeting.unqualified_wins * unqualified
            + meeting.qualified_wins * qualified
            + meeting.ties * bonus
            + meeting.losses * lost
        ),
        square=(
            meeting.unqualified_wins * unqualified**2
            + meeting.qualified_wins * qualified**2
            + meeting.ties * bonus**2
            + meeting.losses * lost**2
        ),
        staked=EVERYTHING * meeting.hands,
        wins=meeting.unqualified_wins + meeting.qualified_wins,
    )


def base(rows: Iterable[Row], ante_bonus_odds: int = 0, deck: Sequence[int] = CARDS) -> WagerOdds:
    """All four wagers under the best play, with so much "to 1" on the ante for a suited ace-king-queen (a term).

    A smaller deck may be given, to be counted by hand.
    """
    beating, _ = split_bonus(rows)
    after_flop: dict[Key, Sums] = {}
    bonus_hands = 0
    for board, count in classes(3, deck).items():
        cards = members(board)
        flops = [board & ~BIT[river] for river in cards]
        for meeting in meetings(cards, deck):
            suited = meeting.strength // THREE_CARD_LEADS == SUITED_ACE_KING_QUEEN
            bonus_hands += count * suited
            sums = played(meeting, beating, ante_bonus_odds if suited else 0).or_fold(2)
            for flop in flops:
                key = pair_key(meeting.cards, flop)
                known = after_flop.get(key)
                if known is None:
                    known = after_flop[key] = Sums()
                known.add(sums, count)
    before_flop: dict[int, Sums] = {}
    for key, sums in after_flop.items():
        own = canonical(sum((suit >> 13) << 13 * place for place, suit in enumerate(key)))
        before_flop.setdefault(own, Sums()).add(sums.or_fold(1))
    everything = Sums()
    for sums in before_flop.values():
        everything.add(sums.or_fold(0))
    deals = everything.deals
    mean = Fraction(everything.net, deals)
    total = comb(len(deck), 2) * comb(len(deck) - 2, 3)
    plays = {
        f"fold_on_{street}": Fraction(folds, deals) for street, folds in zip(STREETS, everything.folds, strict=True)
    }
    return WagerOdds(
        combinations={"suited_ace_king_queen": bonus_hands, "other": total - bonus_hands},
        total=total,
        edge=-mean,
        hit_frequency=Fraction(everything.wins, deals),
        variance=Fraction(everything.square, deals) - mean**2,
        case={"ante_bonus_odds": ante_bonus_odds},
        average_stake=Fraction(everything.staked, deals),
        plays=plays | {"play_to_the_end": 1 - Fraction(sum(everything.folds), deals)},
    )
