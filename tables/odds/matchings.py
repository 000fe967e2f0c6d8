"""Ways to deal several disjoint pairs of cards so that no pair is a forbidden one.

A graph has the cards as vertices and the forbidden pairs as edges.  Choosing k disjoint edges is a k-matching; a
polynomial lists how many there are for k = 0, 1, … up to the number of hands asked for.  Inclusion and exclusion over the
forbidden pairs gives the ways to choose n disjoint pairs none of which is forbidden:

    Σ (-1)^k · (k-matchings of the forbidden graph) · (ways to pair off n - k of the other cards)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from math import factorial

Polynomial = tuple[int, ...]


@cache
def pairings(cards: int, pairs: int) -> int:
    """Ways to choose so many disjoint pairs from so many cards, in no order."""
    if 2 * pairs > cards:
        return 0
    return factorial(cards) // (factorial(cards - 2 * pairs) * factorial(pairs) * 2**pairs)


def allowed_pairings(forbidden: Sequence[int], most: int) -> list[int]:
    """For n = 0 … most, the ways to choose n disjoint pairs of cards, none of them forbidden.

    `forbidden[i]` has bit j set if cards i and j must not be a pair; it is symmetric.
    """
    left = _pairable(forbidden)
    polynomial = _product((_component_polynomial(forbidden, part, most) for part in _components(forbidden, left)), most)
    cards = left.bit_count()
    return [
        sum(
            (-1) ** chosen * ways * pairings(cards - 2 * chosen, pairs - chosen)
            for chosen, ways in enumerate(polynomial[: pairs + 1])
            if 2 * chosen <= cards
        )
        for pairs in range(most + 1)
    ]


def _pairable(forbidden: Sequence[int]) -> int:
    """The cards that may be paired with some other; the rest can be in no pair at all."""
    left = (1 << len(forbidden)) - 1
    while True:
        stuck = 0
        for card in _bits(left):
            if not left & ~forbidden[card] & ~(1 << card):
                stuck |= 1 << card
        if not stuck:
            return left
        left &= ~stuck


def _bits(cards: int) -> list[int]:
    found = []
    while cards:
        lowest = cards & -cards
        found.append(lowest.bit_length() - 1)
        cards ^= lowest
    return found


def _components(forbidden: Sequence[int], left: int) -> list[int]:
    """The connected parts of the forbidden graph among these cards that have an edge."""
    found = []
    unseen = left
    while unseen:
        part = unseen & -unseen
        edge = part
        while edge:
            reached = 0
            for card in _bits(edge):
                reached |= forbidden[card]
            edge = reached & left & ~part
            part |= edge
        unseen &= ~part
        if part & (part - 1):
            found.append(part)
    return found


def _component_polynomial(forbidden: Sequence[int], part: int, most: int) -> Polynomial:
    """The matchings of one connected part, its interchangeable cards counted as one kind.

    Cards are of a kind if they have the same neighbours outside it; inside it all are neighbours, or none are.
    """
    closed: dict[int, list[int]] = {}
    for card in _bits(part):
        closed.setdefault(forbidden[card] & part | 1 << card, []).append(card)
    kinds = [(True, cards) for cards in closed.values() if len(cards) > 1]
    opened: dict[int, list[int]] = {}
    for cards in closed.values():
        if len(cards) == 1:
            opened.setdefault(forbidden[cards[0]] & part, []).append(cards[0])
    kinds += [(False, cards) for cards in opened.values()]
    # The numerous and the little connected go first: what is left then is small.
    kinds.sort(key=lambda kind: (-len(kind[1]), (forbidden[kind[1][0]] & part).bit_count()))
    adjacent = tuple(
        tuple(place for place, (_, others) in enumerate(kinds) if forbidden[cards[0]] >> others[0] & 1)
        for _, cards in kinds
    )
    sizes = tuple(len(cards) for _, cards in kinds)
    return _kinds_polynomial(sizes, tuple(clique for clique, _ in kinds), adjacent, most)


@cache
def _kinds_polynomial(
    sizes: tuple[int, ...], inside: tuple[bool, ...], adjacent: tuple[tuple[int, ...], ...], most: int
) -> Polynomial:
    """The matchings of kinds of cards: their numbers, whether a kind's own cards are neighbours, and the kinds next to it."""
    known: dict[tuple[int, ...], Polynomial] = {}

    def polynomial(left: tuple[int, ...]) -> Polynomial:
        first = next((kind for kind, size in enumerate(left) if size), None)
        if first is None:
            return (1,)
        answer = known.get(left)
        if answer is None:
            # One card of the first kind is in no edge, or in one with a card of its own kind, or of a kind next to it.
            fewer = _less(left, first)
            sums = [0] * (most + 2)
            _add(sums, polynomial(fewer), 1, 0)
            if inside[first] and fewer[first]:
                _add(sums, polynomial(_less(fewer, first)), fewer[first], 1)
            for kind in adjacent[first]:
                if fewer[kind]:
                    _add(sums, polynomial(_less(fewer, kind)), fewer[kind], 1)
            answer = tuple(sums[: most + 1])
            known[left] = answer
        return answer

    return polynomial(sizes)


def _less(left: tuple[int, ...], kind: int) -> tuple[int, ...]:
    return (*left[:kind], left[kind] - 1, *left[kind + 1 :])


def _add(sums: list[int], polynomial: Polynomial, times: int, edges: int) -> None:
    """Add so many times a polynomial with so many edges more."""
    for degree, ways in enumerate(polynomial):
        sums[degree + edges] += ways * times


def _product(polynomials: Iterable[Polynomial], most: int) -> Polynomial:
    answer = [1] + [0] * most
    for polynomial in polynomials:
        sums = [0] * (most + 1)
        for degree, ways in enumerate(answer):
            for other, times in enumerate(polynomial[: most + 1 - degree]):
                sums[degree + other] += ways * times
        answer = sums
    return tuple(answer)
