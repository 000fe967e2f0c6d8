"""How money, shares, meters and cards are written."""

import pytest
from django.utils import timezone

from accounting.shell.templatetags import pages
from tables.templatetags import cards


@pytest.mark.parametrize(
    ("cents", "written"),
    [
        (0, "$0.00"), (5, "$0.05"), (123456, "$1,234.56"), (-7, "\N{MINUS SIGN}$0.07"), (-123456, "\N{MINUS SIGN}$1,234.56"),
        (10**15, "$10,000,000,000,000.00"), (None, "\N{EN DASH}"),
    ],
)  # fmt: skip
def test_money(cents: int | None, written: str) -> None:
    assert pages.money(cents) == written


@pytest.mark.parametrize(
    ("ppm", "written"), [(1_000_000, "100%"), (170_003, "17.0003%"), (30_000, "3%"), (1, "0.0001%"), (0, "0%")]
)
def test_shares(ppm: int, written: str) -> None:
    assert pages.share(ppm) == written


def test_millionths_lose_nothing() -> None:
    assert pages.residual(7) == "+.000007¢"
    assert pages.from_millionths(51_000_000) == "$0.51"
    assert pages.from_millionths(17_000_300) == "$0.170003"
    assert pages.from_millionths(-1) == "\N{MINUS SIGN}$0.00000001"


@pytest.mark.parametrize(
    ("card", "name"),
    [("As", "ace of spades"), ("Td", "ten of diamonds"), ("2c", "two of clubs"), ("Jk", "joker"), ("??", "??"),
     ("Xs", "Xs"), ("Ax", "Ax"), ("A", "A"), ("Ass", "Ass"), ("", "")],
)  # fmt: skip
def test_cards_have_names(card: str, name: str) -> None:
    assert cards.name(card) == name


@pytest.mark.parametrize(
    ("round", "written"), [("DD-1-000012", "DD-1 000012"), ("R-1", "DD-1 R-1"), ("DD-12-7", "DD-1 DD-12-7")]
)
def test_a_round_in_a_list_always_names_its_table(round: str, written: str) -> None:
    assert pages.reference("DD-1", round) == written


def test_a_ten_is_drawn_as_ten_and_red_suits_are_red() -> None:
    assert "<b>10</b>" in cards.face("Th", "small")
    assert "pc-red" in cards.face("Th", "small")
    assert "pc-red" not in cards.face("Ts", "small")


def test_a_day_of_another_year_says_which() -> None:
    now = timezone.localtime()
    assert pages.calendar(now) == f"{now.day} {now:%b}"
    assert pages.calendar(now.replace(year=now.year - 1, day=1)) == f"1 {now:%b} {now.year - 1}"


def test_moments_of_a_record_are_on_the_house_s_clock_and_the_rest_is_as_it_is() -> None:
    with timezone.override("America/New_York"):
        assert pages.told("2026-11-27T20:44:00+00:00") == "2026-11-27 15:44:00"
    assert (pages.told("bay"), pages.told(43)) == ("bay", "43")


def test_nothing_from_outside_becomes_markup() -> None:
    assert "<script>" not in cards.row(["<script>"], "small")
    assert "<b>" not in pages.account("level:<b>/x:liability")


def test_a_change_to_nothing_has_no_arrow_to_it() -> None:
    before, after = (
        {"Hits": "1 is carried", "State": "open", "Link": "cove"},
        {"Hits": "", "State": "closed", "Link": "none"},
    )
    assert pages.gist({"before": before, "after": after}) == "Hits 1 is carried, State open → closed, Link cove → none"


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("$5.00", "$6.00", "It $5.00 → $6.00"),
        ("", "$6.00", "It: $6.00"),
        ("one day is open", "", "It: one day is open"),
        ("", "", "It"),
        ("b" * 80, "a" * 81, f"It {'b' * 80} → {'a' * 79}…"),
    ],
)
def test_what_an_act_changed_has_an_arrow_only_between_two_sides(before: str, after: str, line: str) -> None:
    assert pages.before_and_after({"what": "It", "before": before, "after": after}) == line
