"""Texts that look alike and are not: which of their signs cannot be told from others by looking."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple


class Piece(NamedTuple):
    """A piece of a text as it is shown; `name` says what the sign is, where it could be taken for another."""

    shown: str
    name: str = ""


def pieces(text: str) -> list[Piece]:
    """A text in pieces: plain ones as they are, every other sign by itself, visible and with its name.

    Plain are the printable signs of ASCII and single blanks between them.  A letter beyond ASCII is shown as it is; what
    cannot be seen, or joins the sign before it, is shown by a sign that stands for it.
    """
    found: list[Piece] = []
    plain = ""
    for place, sign in enumerate(text):
        if "!" <= sign <= "~" or (sign == " " and _between(text, place)):
            plain += sign
            continue
        if plain:
            found.append(Piece(plain))
            plain = ""
        found.append(
            Piece(_visible(sign), f"U+{ord(sign):04X} {unicodedata.name(sign, 'a control character').lower()}")
        )
    return [*found, Piece(plain)] if plain else found


def _between(text: str, place: int) -> bool:
    return 0 < place < len(text) - 1 and text[place - 1] != " " and text[place + 1] != " "


def _visible(sign: str) -> str:
    kind = unicodedata.category(sign)
    if kind[0] == "Z":
        return "\u2423"  # an open box
    if kind[0] == "M":
        return f"\u25cc{sign}"  # on a dotted circle
    return f"\u27e8{ord(sign):04X}\u27e9" if kind[0] == "C" else sign
