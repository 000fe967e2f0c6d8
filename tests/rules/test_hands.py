"""Every five-card and every three-card hand of one deck, counted, and compared with a slow, plain ranking."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from jackpot.rules.paytable import FIVE_CARD_HANDS, RANKS, Row
from tables.rules import hands
from tables.rules.cards import DECK, RANK_WEIGHT, SUIT_WEIGHT, WEIGHT

CARDS = sorted(DECK)


def five(cards: str) -> int:
    return hands.five_card_strength(hands.weigh(cards.split()))


def three(cards: str) -> int:
    return hands.three_card_strength(hands.weigh(cards.split()))


def five_name(cards: str) -> str:
    return hands.FIVE_CARD_NAMES[five(cards) // hands.FIVE_CARD_LEADS]


def three_name(cards: str) -> str:
    return hands.THREE_CARD_NAMES[three(cards) // hands.THREE_CARD_LEADS]


def test_all_2598960_five_card_hands_are_ranked() -> None:
    weights = [WEIGHT[card] for card in CARDS]
    strength = hands.five_card_strength
    counts: Counter[int] = Counter()
    for one, two in combinations(range(52), 2):
        pair = weights[one] + weights[two]
        rest = weights[two + 1 :]
        counts.update([strength(pair + a + b + c) for a, b, c in combinations(rest, 3)])

    assert counts.total() == 2_598_960
    by_name: Counter[str] = Counter()
    for value, times in counts.items():
        by_name[hands.FIVE_CARD_NAMES[value // hands.FIVE_CARD_LEADS]] += times
    assert by_name == {
        "royal_flush": 4,
        "straight_flush": 36,
        "four_of_a_kind": 624,
        "full_house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "three_of_a_kind": 54_912,
        "two_pair": 123_552,
        "pair": 1_098_240,
        "high_card": 1_302_540,
    }
    # 7,462 hands differ in strength, and every rank has the same number of pairs.
    assert len(counts) == 7_462
    pairs = Counter[int]()
    for value, times in counts.items():
        category, lead = divmod(value // hands.FIVE_CARD_LEADS, len(RANKS))
        if FIVE_CARD_HANDS[category] == "pair":
            pairs[lead] += times
    assert pairs == dict.fromkeys(range(13), 84_480)


def test_all_22100_three_card_hands_are_ranked() -> None:
    counts = Counter(hands.three_card_strength(hands.weigh(cards)) for cards in combinations(CARDS, 3))

    assert counts.total() == 22_100
    by_name: Counter[str] = Counter()
    for value, times in counts.items():
        by_name[hands.THREE_CARD_NAMES[value // hands.THREE_CARD_LEADS]] += times
    assert by_name == {
        "mini_royal": 4,
        "straight_flush": 44,
        "three_of_a_kind": 52,
        "straight": 720,
        "flush": 1_096,
        "pair": 3_744,
        "high_card": 16_440,
    }
    assert len(counts) == 741


def test_a_sum_of_weights_names_its_ranks_and_suits() -> None:
    total = hands.weigh(["As", "Ad", "Ac", "Ah", "Ks"])
    assert total == 4 * RANK_WEIGHT[12] + RANK_WEIGHT[11] + sum(SUIT_WEIGHT) + SUIT_WEIGHT[3]


def test_named_five_card_hands() -> None:
    assert five_name("As Ks Qs Js Ts") == "royal_flush"
    assert five_name("Ah 2h 3h 4h 5h") == "straight_flush"
    assert five_name("As 2h 3h 4h 5h") == "straight"
    assert five_name("Qs Ks As 2h 3h") == "high_card", "an ace does not turn the corner"
    assert five_name("Qs Ks As 2s 3s") == "flush"
    assert five("6c 2h 3h 4h 5h") > five("As 2h 3h 4h 5h"), "A-2-3-4-5 is the lowest straight"
    assert five("Kc Kd 4h 3h 2h") > five("Qc Qd Ah Kh Jh")


def test_named_three_card_hands() -> None:
    assert three_name("As Ks Qs") == "mini_royal"
    assert three_name("Ah 2h 3h") == "straight_flush"
    assert three_name("As 2h 3h") == "straight"
    assert three_name("Ks As 2h") == "high_card"
    assert three_name("Ks As 2s") == "flush"
    assert three("2s 3h 4h") > three("As 2h 3h")
    assert three("2s 3h 4h") > three("As Qs Js"), "three in sequence beat three of a suit"


def plain_five(cards: list[str]) -> tuple[int, list[int]]:
    """A slow ranking that follows the wording of the rules."""
    ranks = sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    counts = Counter(ranks)
    grouped = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    shape = sorted(counts.values(), reverse=True)
    suited = len({card[1] for card in cards}) == 1
    wheel = ranks == [12, 3, 2, 1, 0]
    running = wheel or (len(counts) == 5 and ranks[0] - ranks[4] == 4)
    if running:
        grouped = [3 if wheel else ranks[0]]
    if running and suited:
        name = "royal_flush" if ranks[4] == RANKS.index("T") else "straight_flush"
    elif shape[0] == 4:
        name = "four_of_a_kind"
    elif shape == [3, 2]:
        name = "full_house"
    elif suited:
        name = "flush"
    elif running:
        name = "straight"
    else:
        name = {3: "three_of_a_kind", 1: "high_card"}.get(shape[0], "two_pair" if shape[1] == 2 else "pair")
    return FIVE_CARD_HANDS.index(name), grouped


@given(st.lists(st.sampled_from(CARDS), min_size=10, max_size=10, unique=True))
def test_any_two_hands_compare_as_the_wording_says(cards: list[str]) -> None:
    one, other = cards[:5], cards[5:]
    by_table = hands.five_card_strength(hands.weigh(one)), hands.five_card_strength(hands.weigh(other))
    by_wording = plain_five(one), plain_five(other)
    assert (by_table[0] > by_table[1]) == (by_wording[0] > by_wording[1])
    assert (by_table[0] == by_table[1]) == (by_wording[0] == by_wording[1])
    assert by_table[0] // hands.FIVE_CARD_LEADS // len(RANKS) == by_wording[0][0]


def test_a_mini_royal_is_a_straight_flush_where_the_paytable_does_not_list_it() -> None:
    straight_flush = Row("straight_flush", "to", odds=40)
    mini_royal = Row("mini_royal", "to", odds=50)
    rank = three("As Ks Qs") // hands.THREE_CARD_LEADS
    assert hands.by_three_card_class([straight_flush])[rank] is straight_flush
    assert hands.by_three_card_class([straight_flush, mini_royal])[rank] is mini_royal


def test_rows_between_ranks_pay_those_leads_only() -> None:
    table = hands.by_five_card_class([Row("pair", "to", odds=1, from_rank="J", to_rank="A")])
    assert table[five("Jc Jd 4h 3h 2h") // hands.FIVE_CARD_LEADS] is not None
    assert table[five("Tc Td 4h 3h 2h") // hands.FIVE_CARD_LEADS] is None
    assert table[five("Jc Jd 4h 4c 2h") // hands.FIVE_CARD_LEADS] is None
