"""Tables: open and closed, their terms, joining and leaving a link (CONTRACT §7, DECISIONS A53-A57)."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.rules.meter import Meter
from tests.rules.lines import Lines, at, contributed


def test_a_table_is_opened_only_when_closed_and_closed_only_when_open() -> None:
    lines = Lines()
    assert lines.code("table.close", "MS-99") == "unknown_subject"
    assert lines.code("table.close", "MS-99", counts_from=at("22:00")) == ("unknown_field", "/payload/counts_from")
    assert lines.code("table.open", "MS-1") == "wrong_state"
    lines.done("table.close", "MS-1")
    assert lines.code("table.close", "MS-1") == "wrong_state"
    assert lines.round("R-1", "MS-1", "21:59:59.999999999")["outcome"] == "settled"
    assert lines.round("R-2", "MS-1", "22:00")["reasons"] == ["table_closed"]


@pytest.mark.parametrize(
    ("payload", "fault"),
    [
        ({"seats": 7}, ("unknown_field", "/payload/seats")),
        ({"minimum_cents": 0}, ("invalid_value", "/payload/minimum_cents")),
        ({"minimum_cents": 50_001}, ("invalid_value", "/payload/minimum_cents")),
        ({"maximum_cents": 999}, ("invalid_value", "/payload/maximum_cents")),
        ({"terms": []}, ("invalid_value", "/payload/terms")),
        ({"terms": {"a~b": 1}}, ("unknown_field", "/payload/terms/a~0b")),
        ({"terms": {"limit_scope": "all"}}, ("invalid_value", "/payload/terms/limit_scope")),
        ({"terms": {"ante_bonus_odds": 3}}, ("invalid_value", "/payload/terms/ante_bonus_odds")),
    ],
)
def test_terms_of_a_table_name_the_key_at_fault(payload: dict[str, Any], fault: tuple[str, str]) -> None:
    assert Lines().code("table.terms", "MS-1", **payload) == fault


def test_joining_is_refused_in_order() -> None:
    lines = Lines()
    assert lines.code("table.join", "MS-99") == ("missing_field", "/payload/link")
    assert lines.code("table.join", "MS-99", link=7) == ("invalid_value", "/payload/link")
    assert lines.code("table.join", "MS-99", link="zz") == "unknown_subject"
    assert lines.code("table.join", "MS-1", link="zz") == ("invalid_value", "/payload/link")
    assert lines.code("table.join", "MS-1", link="st") == "wrong_state", "it is on a link"
    assert lines.code("table.join", "TCP-1", link="aa") == "does_not_fit"
    assert lines.code("table.join", "LIR-1", link="st") == "does_not_fit", "ms-stud-01 fits Mississippi Stud only"
    assert lines.code("table.leave", "MS-5") == "wrong_state"
    assert lines.code("table.leave", "MS-99") == "unknown_subject"
    lines.done("link.suspend", "aa")
    lines.done("table.join", "LIR-1", link="aa")


def test_a_round_counts_on_the_link_of_its_moment() -> None:
    lines = Lines()
    left = lines.done("table.leave", "MS-1", "22:00")
    assert [row["link"] for row in left["meters"]] == ["aa"], "the link it leaves"
    joined = lines.done("table.join", "MS-1", "22:10", link="bb")
    assert [row["link"] for row in joined["meters"]] == ["bb"]
    assert contributed(lines.round("R-1", "MS-1", "22:10")) == {"bb": 40_000_000}
    assert contributed(lines.round("R-2", "MS-1", "21:59")) == {"aa": 34_000_000}
    assert lines.round("R-3", "MS-1", "22:00")["reasons"] == ["wager_not_offered"]
    assert lines.round("R-4", "MS-1", "22:05", betting=())["meters"] == []


def test_terms_that_change_show_the_meters_of_the_link_that_the_table_is_on_then() -> None:
    lines = Lines()
    changed = lines.done("table.terms", "MS-1", minimum_cents=500)
    assert [row["link"] for row in changed["meters"]] == ["aa"]
    assert lines.done("table.terms", "MS-5", minimum_cents=500)["meters"] == [], "it is on no link"


def test_nobody_joins_a_link_that_is_closed_for_good() -> None:
    lines = Lines(cc=Meter(0))
    lines.done("link.suspend", "cc", "21:30")
    lines.done("link.close", "cc", "21:40", disposition=[{"level": "major", "part": "display", "to": "aa/major"}])
    assert lines.code("table.join", "MS-5", link="cc") == "wrong_state"
