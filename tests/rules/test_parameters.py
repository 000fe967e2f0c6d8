"""Query parameters are followed as printed, or refused by name (CONTRACT §5)."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from accounting.rules.parameters import BadParameter, Parameters, read

KNOWN = ("table", "from", "limit", "state", "min", "a/b", "week")


def given(**values: str) -> Parameters:
    return read([(name.rstrip("_"), [value]) for name, value in values.items()], KNOWN)


def test_what_is_empty_is_as_if_not_given() -> None:
    found = given(table="", limit="", from_="", state="", min="")
    assert "table" not in found
    assert (found.text("table"), found.whole("limit"), found.day("from"), found.day_or_moment("from")) == (None,) * 4
    assert (found.choice("state", ["open"]), found.dollars("min")) == (None, None)
    assert read([("table", ["", "MS-101"])], KNOWN).text("table") == "MS-101"


@pytest.mark.parametrize(
    ("query", "pointer", "words"),
    [
        ([("tabel", ["MS-101"])], "/tabel", "no such parameter"),
        ([("tabel", [""])], "/tabel", "no such parameter"),
        ([("table", ["MS-101", "MS-101"])], "/table", "more than once"),
        ([("c/d~e", ["1"])], "/c~1d~0e", "no such parameter"),
    ],
)
def test_an_unknown_or_repeated_parameter_is_refused(query: list[Any], pointer: str, words: str) -> None:
    with pytest.raises(BadParameter, match=words) as refusal:
        read(query, KNOWN)
    assert refusal.value.pointer == pointer


def test_an_address_without_parameters_says_so() -> None:
    with pytest.raises(BadParameter, match="takes none"):
        read([("x", ["1"])], ())


NO_WHOLE = ["²", "٣", "1_000", "+5", "-1", "1.0", "1e3", " 1", "1 ", "0x10", "007", "12,50", "1001", "9" * 5_000]


@pytest.mark.parametrize("value", NO_WHOLE)
def test_a_whole_number_is_plain_digits_within_bounds(value: str) -> None:
    with pytest.raises(BadParameter, match="whole number from 0 to 1,000"):
        given(limit=value).whole("limit", most=1_000)


def test_whole_numbers_at_their_bounds() -> None:
    assert [given(limit=text).whole("limit", least=-1, most=1_000) for text in ("-1", "0", "1000")] == [-1, 0, 1_000]
    assert given(limit=str(2**62)).whole("limit") == 2**62
    with pytest.raises(BadParameter, match=r"from 0 to 4,611,686,018,427,387,904 is expected"):
        given(limit=str(2**62 + 1)).whole("limit")


@pytest.mark.parametrize(
    "value",
    ["2026-W48-6", "20261127", "2026-11-31", "2026-1-1", "1899-12-31", "2200-01-01", "0000-01-01", "٢٠٢٦-11-27",
     "2026-11-27 ", "2026-11-27T21:14:05", "2026-11-27T21:14:05 00:00", "27.11.2026"],
)  # fmt: skip
@pytest.mark.parametrize("read_it", [Parameters.day, Parameters.day_or_moment])
def test_a_day_is_year_month_day(value: str, read_it: Callable[[Parameters, str], Any]) -> None:
    with pytest.raises(BadParameter, match="2026-11-27"):
        read_it(given(from_=value), "from")


def test_days_and_moments() -> None:
    assert given(from_="2026-11-27").day("from") == date(2026, 11, 27)
    assert given(from_="1900-01-01").day_or_moment("from") == date(1900, 1, 1)
    assert given(from_="2199-12-31").day("from") == date(2199, 12, 31)
    at = given(from_="2026-11-27T21:14:05-05:00").day_or_moment("from")
    assert at == datetime(2026, 11, 27, 21, 14, 5, tzinfo=timezone(timedelta(hours=-5)))
    assert given(from_="2026-11-27t21:14:05.5z").day_or_moment("from") == datetime(
        2026, 11, 27, 21, 14, 5, 500_000, tzinfo=UTC
    )
    with pytest.raises(BadParameter):
        given(from_="2026-11-27T21:14:05-05:00").day("from")


def test_a_week_is_named_by_its_monday_between_the_first_year_and_the_last() -> None:
    for name, monday in (
        ("1900-W01", date(1900, 1, 1)),
        ("2026-W48", date(2026, 11, 23)),
        ("2199-W52", date(2199, 12, 23)),
    ):
        assert given(week=name).week("week") == monday
    for name in ("1899-W52", "2200-W02", "2026-W54", "2026-48", "2026-11-23"):
        with pytest.raises(BadParameter, match="a week like 2026-W48 is expected, from 1900 to 2199"):
            given(week=name).week("week")
    assert given().week("week") is None


@pytest.mark.parametrize(
    "value", ["12,50", "0,01", "1,2,3,4", "1_000", "+5", "-5", "٣", "1.5", "1.505", "$5", ".50", "5.", "1 250"]
)
def test_an_amount_that_can_be_read_in_two_ways_is_refused(value: str) -> None:
    with pytest.raises(BadParameter, match="dollars"):
        given(min=value).dollars("min")


def test_amounts() -> None:
    cents = {
        text: given(min=text).dollars("min") for text in ("1,250.00", "1250", "0.01", "1,250", "1,000,000.50", "0")
    }
    assert cents == {
        "1,250.00": 125_000,
        "1250": 125_000,
        "0.01": 1,
        "1,250": 125_000,
        "1,000,000.50": 100_000_050,
        "0": 0,
    }


@pytest.mark.parametrize("value", ["x" * 4_001, "a\0b", "\ud800"])
def test_a_text_that_nothing_can_hold_is_refused(value: str) -> None:
    with pytest.raises(BadParameter):
        given(table=value).text("table")


def test_texts_and_words_come_as_they_were() -> None:
    assert given(table=" MS-101 ").text("table") == " MS-101 "
    assert given(table="x" * 4_000).text("table") == "x" * 4_000, "as long as may be"
    assert given(table="x" * 9).text("table", longest=9) == "x" * 9
    with pytest.raises(BadParameter, match="9 characters at most"):
        given(table="x" * 10).text("table", longest=9)
    assert given(state="open").choice("state", ("open", "closed")) == "open"
    with pytest.raises(BadParameter, match="one of open, closed"):
        given(state="Open").choice("state", ("open", "closed"))


def test_what_cannot_be_followed_is_named_wherever_it_is_sent() -> None:
    """From one process to another too."""
    refused = pickle.loads(pickle.dumps(BadParameter("from", "a day is expected")))
    assert (refused.name, refused.detail, str(refused)) == ("from", "a day is expected", "from: a day is expected")
