"""Slips by rule: amounts in words, names of numbers, gaps in a register (REQUIREMENTS R74, R76)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.rules.acts import ActRefused
from accounting.slips.rules.amounts import in_words
from accounting.slips.rules.register import gaps, slip_name, slip_number, state
from accounting.slips.rules.winners import FIELDS, MOST_PAYEES, masked, winners, written


@pytest.mark.parametrize(
    ("cents", "said"),
    [
        (0, "Zero and 00/100 dollars"),
        (1, "Zero and 01/100 dollars"),
        (100, "One and 00/100 dollar"),
        (101, "One and 01/100 dollars"),
        (1_999, "Nineteen and 99/100 dollars"),
        (2_000, "Twenty and 00/100 dollars"),
        (4_205, "Forty-two and 05/100 dollars"),
        (100_000, "One thousand and 00/100 dollars"),
        (876_543, "Eight thousand seven hundred sixty-five and 43/100 dollars"),
        (10_010_000, "One hundred thousand one hundred and 00/100 dollars"),
        (100_000_001_17, "One hundred million one and 17/100 dollars"),
        (10**14 + 12, "One trillion and 12/100 dollars"),
    ],
)
def test_amounts_are_said_in_words(cents: int, said: str) -> None:
    assert in_words(cents) == said


def test_nothing_negative_is_said_and_nothing_that_there_are_no_words_for() -> None:
    with pytest.raises(ValueError, match="nothing negative"):
        in_words(-1)
    assert in_words(10**23 - 1).startswith("Nine hundred ninety-nine quintillion nine hundred ninety-nine quadrillion")
    with pytest.raises(ValueError, match="more than words are for"):
        in_words(10**23)


WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
ONES = dict(zip(WORDS.split(), [*range(20), *range(20, 100, 10)], strict=True))
GROUPS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


@given(st.integers(0, 10**15))
def test_words_say_the_figures(cents: int) -> None:
    words, rest = in_words(cents).lower().rsplit(" and ", 1)
    total = group = 0
    for word in words.replace("-", " ").split():
        if word == "hundred":
            group *= 100
        elif word in GROUPS:
            total, group = total + group * GROUPS[word], 0
        else:
            group += ONES[word]
    assert (total + group) * 100 + int(rest[:2]) == cents


def test_a_number_has_six_digits_or_more_and_is_read_with_and_without_zeros() -> None:
    assert [slip_name(number) for number in (1, 999_999, 1_000_000)] == ["000001", "999999", "1000000"]
    assert [slip_number(name) for name in ("000012", "12", "1x", "", "-1", "١", "9" * 19)] == [12, 12] + [None] * 5


def test_gaps_are_every_number_that_no_slip_has() -> None:
    assert gaps([1, 2, 3], 3) == []
    assert gaps([], 0) == []
    assert gaps([2, 5, 6], 8) == [(1, 1), (3, 4), (7, 8)]
    assert gaps([3, 1], 3) == [(2, 2)]


@given(st.sets(st.integers(1, 60)), st.integers(0, 60))
def test_gaps_and_numbers_make_the_whole(numbers: set[int], more: int) -> None:
    last = max(numbers, default=0) + more
    missing = {number for first, end in gaps(numbers, last) for number in range(first, end + 1)}
    assert missing == set(range(1, last + 1)) - numbers


def test_a_void_slip_is_void_whatever_was_paid() -> None:
    assert [state(is_void=v, is_paid=p) for v in (False, True) for p in (False, True)] == [
        "issued",
        "paid",
        "void",
        "void",
    ]


PAYEE = {
    "name": "Pat Winner", "address": "1 Main Street", "taxpayer_number": "123-45-6789", "first_id": "MA S1",
    "second_id": "passport", "share_cents": 10,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "code", "key"),
    [
        *(({name: "x" * (longest + 1)}, "invalid_value", f"/{name}") for name, (_, longest) in FIELDS.items()),
        *(({name: value}, "invalid_value", f"/{name}") for name in FIELDS for value in (5, None, "a\nb")),
        *(({name: "  "}, "missing_field", f"/{name}") for name in FIELDS if name != "taxpayer_number"),
        *(
            ({"taxpayer_number": number}, "invalid_value", "/taxpayer_number")
            for number in ("12345678", "1234567890", "12-345678", "123-456789x", "1-23456789")
        ),
        *(({"share_cents": share}, "invalid_value", "/share_cents") for share in (0, -1, 1.0, True, "10", 10**15)),
        ({"second_id": " MA S1"}, "invalid_value", "/second_id"),
        ({"shoe_size": 5}, "unknown_field", "/shoe_size"),
    ],
)
def test_a_payee_is_judged_key_by_key(changes: dict[str, Any], code: str, key: str) -> None:
    with pytest.raises(ActRefused) as refused:
        winners([PAYEE, PAYEE | changes], 20)
    assert (refused.value.code, refused.value.pointer) == (code, f"/payees/1{key}")


@pytest.mark.parametrize(
    ("given", "cents", "code", "pointer"),
    [
        (None, 10, "invalid_value", "/payees"),
        ({}, 10, "invalid_value", "/payees"),
        ([], 0, "invalid_value", "/payees"),
        ([PAYEE] * (MOST_PAYEES + 1), 10 * (MOST_PAYEES + 1), "invalid_value", "/payees"),
        ([PAYEE, PAYEE], 19, "shares_differ", "/payees"),
        ([PAYEE, PAYEE], 21, "shares_differ", "/payees"),
        ([PAYEE, {name: PAYEE[name] for name in FIELDS}], 10, "missing_field", "/payees/1/share_cents"),
        ([PAYEE, "name"], 10, "invalid_value", "/payees/1"),
        ([PAYEE, [PAYEE]], 10, "invalid_value", "/payees/1"),
        ([PAYEE, None], 10, "invalid_value", "/payees/1"),
    ],
)  # fmt: skip
def test_payees_share_the_whole_payout(given: Any, cents: int, code: str, pointer: str) -> None:
    with pytest.raises(ActRefused) as refused:
        winners(given, cents)
    assert (refused.value.code, refused.value.pointer) == (code, pointer)


@pytest.mark.parametrize(
    ("number", "kept", "shown", "on_form"),
    [
        ("123-45-6789", "123456789", "•••-••-6789", "123-45-6789"), ("123456789", "123456789", "•••-••-6789", "123-45-6789"),
        ("12-3456789", "12-3456789", "••-•••6789", "12-3456789"), ("", "", "none", "none"),
    ],
)  # fmt: skip
def test_a_taxpayers_number_is_kept_in_one_way_and_shown_by_its_end(
    number: str, kept: str, shown: str, on_form: str
) -> None:
    own = {"taxpayer_number": number, "second_id": "y"}
    longest = {name: "x" * length for name, (_, length) in FIELDS.items()} | own
    first, other = winners([PAYEE | longest, PAYEE] + [PAYEE] * (MOST_PAYEES - 2), 10 * MOST_PAYEES)[:2]
    assert first.kept() == longest | {"taxpayer_number": kept} and first.share_cents == other.share_cents == 10
    assert (first.taxpayer_number, masked(kept), written(kept)) == (kept, shown, on_form)
