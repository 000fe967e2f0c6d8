"""The strategy of the simulated players: known decisions, and the house edge it is known for."""

from collections import Counter
from itertools import combinations, permutations

import pytest

from devices.simulator.deck import NAMES, card
from devices.simulator.strategy import CALL, FOLD, RAISE, fifth_street, fourth_street, third_street
from tables.rules import hands
from tables.rules.cards import WEIGHT


def cards(text: str) -> tuple[int, ...]:
    return tuple(card(name) for name in text.split())


@pytest.mark.parametrize(
    ("held", "bet"),
    [
        ("2c 2d", RAISE),  # any pair
        ("Ah 2c", CALL),  # one high card
        ("Ts 6d", CALL),  # two mid cards
        ("5h 6h", CALL),  # six and five of one suit
        ("5h 6d", FOLD),
        ("5c Td", FOLD),  # one point
        ("2c 5c", FOLD),
    ],
)
def test_third_street(held: str, bet: int) -> None:
    first, second = cards(held)
    assert third_street(first, second) == third_street(second, first) == bet


@pytest.mark.parametrize(
    ("seen", "bet"),
    [
        ("6c 6d Kh", RAISE),  # a pair that cannot lose
        ("5c 5d Kh", CALL),  # a pair that still can
        ("2c 2d 2h", RAISE),
        ("Th Kh Ah", RAISE),  # three to a royal
        ("5h 6h 7h", RAISE),  # three to a straight flush without a gap
        ("4h 5h 6h", CALL),
        ("9h Jh Th", RAISE),
        ("8h 9h Jh", RAISE),  # one gap and a high card
        ("6h 7h 9h", CALL),  # one gap and none
        ("9h Jh Kh", RAISE),  # two gaps and two high cards
        ("8h Th Qh", CALL),
        ("2h 7h Kh", CALL),  # any other three of one suit
        ("2h 3d 9c", FOLD),
        ("6h 9d 2c", FOLD),  # two points
        ("6h 9d Tc", CALL),  # three points
        ("4h 5d 6c", CALL),  # no gap, six high
        ("3h 4d 5c", FOLD),
        ("5h 6d 8c", CALL),  # one gap, two mid cards
        ("4h 5d 7c", FOLD),
        ("Ah 2d 3c", FOLD),
    ],
)
def test_fourth_street(seen: str, bet: int) -> None:
    first, second, third = cards(seen)
    assert {fourth_street(*order) for order in permutations((first, second, third))} == {bet}


@pytest.mark.parametrize(
    ("seen", "raised", "bet"),
    [
        ("9c 9d 2h 4s", False, RAISE),
        ("2c 2d 3h 3s", False, RAISE),  # two pair wins, however low
        ("4c 4d 4h Ks", False, RAISE),
        ("3c 3d 8h Ts", False, CALL),
        ("2h 5h 9h Kh", False, RAISE),  # four to a flush
        ("5c 6d 7h 8s", False, RAISE),  # open on both sides, eight high
        ("4c 5d 6h 7s", False, CALL),
        ("Tc Jd Qh Ks", False, RAISE),
        ("Jc Qd Kh As", False, CALL),  # open on one side only
        ("5c 6d 8h 9s", False, CALL),  # a gap to fill
        ("Ac 2d 4h 5s", False, CALL),
        ("Ac Kd 2h 7s", False, CALL),  # five points
        ("Jc 9d 2h 7s", False, CALL),  # four points
        ("Ac 9d 2h 3s", False, FOLD),
        ("6c 7d Ts 2h", False, FOLD),  # three mid cards
        ("6c 7d Ts 2h", True, CALL),  # and a raise to defend
    ],
)
def test_fifth_street(seen: str, raised: bool, bet: int) -> None:
    first, second, third, fourth = cards(seen)
    orders = permutations((first, second, third, fourth))
    assert {fifth_street(*order, raised=raised) for order in orders} == {bet}


# Base odds of SPEC §5 by class of hand; -1 loses, 0 pushes.
ODDS = {"royal_flush": 500, "straight_flush": 100, "four_of_a_kind": 40, "full_house": 10, "flush": 6}
ODDS |= {"straight": 4, "three_of_a_kind": 3, "two_pair": 2, "high_card": -1}
BY_CLASS = [
    ODDS[name] if name != "pair" else 1 if place % 13 >= 9 else 0 if place % 13 >= 4 else -1
    for place, name in enumerate(hands.FIVE_CARD_NAMES)
]
WEIGHTS = [WEIGHT[name] for name in NAMES]


def test_the_house_keeps_what_this_strategy_is_known_to_cost() -> None:
    """Every deal of two own and three community cards: 4.9149 per cent of the ante, with 3.5898 antes staked."""
    starts: Counter[tuple[int, int]] = Counter()
    for first, second in combinations(range(52), 2):
        suited = (first ^ second) & 3 == 0
        starts[(first >> 2) * 4, (second >> 2) * 4 + (0 if suited else 1)] += 1
    won = staked = 0
    for (first, second), weight in starts.items():
        gained, put = _every_board(first, second)
        won += weight * gained
        staked += weight * put
    deals = 1326 * 50 * 49 * 48
    assert round(won / deals, 6) == -0.049149
    assert round(staked / deals, 4) == 3.5898


def _every_board(first: int, second: int) -> tuple[int, int]:
    """Antes won and antes staked over all 50 x 49 x 48 boards of one starting hand."""
    third = third_street(first, second)
    if third == FOLD:
        return -50 * 49 * 48, 50 * 49 * 48
    rest = [number for number in range(52) if number not in (first, second)]
    # Suits that neither own card has can be exchanged: look at one board of each kind and weigh it.
    boards: Counter[tuple[int, int]] = Counter()
    for one, other in combinations(rest, 2):
        boards[_relabelled(one, other, {first & 3, second & 3})] += 1
    won = staked = 0
    for (one, other), weight in boards.items():
        total: int | None = None
        for shown, then in ((one, other), (other, one)):
            fourth = fourth_street(first, second, shown)
            raised = RAISE in (third, fourth)
            fifth = fifth_street(first, second, shown, then, raised=raised) if fourth else FOLD
            bets = 1 + third + fourth + fifth
            staked += weight * bets * 48
            if not fifth:
                won -= weight * bets * 48
                continue
            if total is None:
                total = _all_last_cards(first, second, one, other)
            won += weight * bets * total
    return won, staked


def _all_last_cards(*four: int) -> int:
    """What the 48 possible fifth cards pay together, in times the bets."""
    weight = sum(WEIGHTS[number] for number in four)
    strength = hands.five_card_strength
    return sum(
        BY_CLASS[strength(weight + other) // hands.FIVE_CARD_LEADS]
        for number, other in enumerate(WEIGHTS)
        if number not in four
    )


def _relabelled(one: int, other: int, named: set[int]) -> tuple[int, int]:
    """The two cards with the suits outside `named` renamed in order of appearance."""
    free = iter([suit for suit in range(4) if suit not in named])
    names = {suit: suit for suit in named}
    renamed = []
    for number in (one, other):
        if number & 3 not in names:
            names[number & 3] = next(free)
        renamed.append((number & ~3) | names[number & 3])
    return min(renamed), max(renamed)
