"""Cards drawn as cards."""

from collections.abc import Iterable

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from tables.addresses import round_address
from tables.rules.wagers import called

register = template.Library()
register.simple_tag(round_address)

RANKS = {
    "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight", "9": "nine",
    "T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace",
}  # fmt: skip
SUITS = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}


@register.filter
def wager(code: str | None) -> str:
    """A wager as people call it: `three_card_bonus` is `3 Card Bonus`."""
    return called(code or "")


def name(card: str) -> str:
    """What a dealer calls the card: `As` is `ace of spades`. A code that is no card names itself."""
    if len(card) == 2 and card[0] in RANKS and card[1] in SUITS:
        return f"{RANKS[card[0]]} of {SUITS[card[1]]}"
    return "joker" if card.lower() in {"jk", "joker"} else card


def face(card: str, size: str) -> SafeString:
    """One card face. Hearts and diamonds are red; the suit sign tells them apart without colour."""
    if name(card) in {card, "joker"}:
        return format_html('<span class="pc pc-{}" title="{}"><b>{}</b></span>', size, name(card), card)
    rank = "10" if card[0] == "T" else card[0]
    suit = f"{static('suits.svg')}#{card[1]}"
    colour = "red" if card[1] in "dh" else "black"
    return format_html(
        '<span class="pc pc-{} pc-{}"><b>{}</b><svg><use href="{}"/></svg>{}</span>',
        size, colour, rank, suit,
        format_html('<svg class="pip"><use href="{}"/></svg>', suit) if size == "large" else "",
    )  # fmt: skip


def row(cards: Iterable[str], size: str) -> SafeString:
    """Several cards side by side, read aloud as one phrase."""
    dealt = list(cards)
    if not dealt:
        return format_html('<span class="muted">{}</span>', "no cards")
    return format_html(
        '<span class="hand" role="img" aria-label="{}">{}</span>',
        ", ".join(map(name, dealt)),
        format_html_join("", "{}", ((face(card, size),) for card in dealt)),
    )


@register.simple_tag
def cards(dealt: Iterable[str]) -> SafeString:
    """Cards in a table's row: small."""
    return row(dealt, "small")


@register.simple_tag
def large_cards(dealt: Iterable[str]) -> SafeString:
    """Cards on a round's own page: large enough to check against the felt."""
    return row(dealt, "large")
