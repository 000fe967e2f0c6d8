"""Amounts as slips write them: in figures and in words (REQUIREMENTS R76: "both alpha and numeric")."""

from typing import Final

_ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS: Final = ("", " thousand", " million", " billion", " trillion", " quadrillion", " quintillion")


def in_words(cents: int) -> str:
    """Whole cents in words, as cheques have them: `One thousand two hundred and 05/100 dollars`. ValueError below zero."""
    if cents < 0:
        raise ValueError("nothing negative is paid")
    dollars, rest = divmod(cents, 100)
    said = _number(dollars)
    return f"{said[0].upper()}{said[1:]} and {rest:02d}/100 dollar{'' if dollars == 1 and not rest else 's'}"


def _number(number: int) -> str:
    if number == 0:
        return _ONES[0]
    groups = []
    for name in _GROUPS:
        number, group = divmod(number, 1000)
        if group:
            groups.append(_below_a_thousand(group) + name)
    if number:
        raise ValueError("more than words are for")
    return " ".join(reversed(groups))


def _below_a_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    said = [f"{_ONES[hundreds]} hundred"] if hundreds else []
    if rest >= 20:
        tens, ones = divmod(rest, 10)
        said.append(_TENS[tens] + (f"-{_ONES[ones]}" if ones else ""))
    elif rest:
        said.append(_ONES[rest])
    return " ".join(said)
