"""Levels: adjusting them and moving their parts to another (CONTRACT §7, DECISIONS A60-A62)."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.rules.meter import Meter
from tests.rules.lines import Lines, moved

ONE: dict[str, Any] = {"part": "display", "cents": 1, "reason": "correction"}


@pytest.mark.parametrize(
    ("payload", "fault"),
    [
        (ONE | {"note": "x"}, ("unknown_field", "/payload/note")),
        ({"cents": 1, "reason": "correction"}, ("missing_field", "/payload/part")),
        (ONE | {"part": "shown"}, ("invalid_value", "/payload/part")),
        (ONE | {"cents": 0}, ("invalid_value", "/payload/cents")),
        (ONE | {"cents": True}, ("invalid_value", "/payload/cents")),
        (ONE | {"cents": 1.0}, ("invalid_value", "/payload/cents")),
        (ONE | {"cents": 10**12 + 1}, ("invalid_value", "/payload/cents")),
        (ONE | {"reason": "gift"}, ("invalid_value", "/payload/reason")),
        (ONE, "unknown_subject"),
    ],
)
def test_an_adjustment_is_refused_at_its_first_fault(payload: dict[str, Any], fault: Any) -> None:
    assert Lines().code("level.adjust", "zz/major", **payload) == fault


@pytest.mark.parametrize("subject", ["aa", "aa/minor", "/major", "aa/major/", ""])
def test_a_level_is_named_by_its_link_and_its_code(subject: str) -> None:
    assert Lines().code("level.adjust", subject, **ONE) == "unknown_subject"


@pytest.mark.parametrize("part", ["display", "reserve", "overflow"])
@pytest.mark.parametrize("cents", [-5, 5])
@pytest.mark.parametrize(
    "reason", ["correction", "boost", "malfunction", "regulator_order", "over_limit", "reserve_release"]
)
def test_sign_part_and_reason_are_judged_together(part: str, cents: int, reason: str) -> None:
    lines = Lines(aa=Meter(11_000, 0, 100, 0, 100, 0))
    up = {"correction": ("display", "reserve", "overflow"), "boost": ("display",)}
    down = dict.fromkeys(("correction", "malfunction", "regulator_order"), ("display", "reserve", "overflow"))
    fits = part in (up if cents > 0 else down | {"reserve_release": ("reserve",)}).get(reason, ())
    answer = lines.act("level.adjust", "aa/major", part=part, cents=cents, reason=reason)
    assert answer["code"] == (None if fits else "reason_does_not_fit"), "over_limit: it is not over its limit"


def test_an_adjustment_keeps_to_zero_and_to_the_limit_that_counts_then() -> None:
    lines = Lines(aa=Meter(11_998, 500_000, 3, 999_999))
    adjust = ("level.adjust", "aa/major")
    assert lines.code(*adjust, part="reserve", cents=-4, reason="correction") == "below_zero", "whole cents count"
    assert lines.code(*adjust, part="display", cents=2, reason="boost") == "above_limit", "the fraction counts"
    lines.done(*adjust, part="reserve", cents=-3, reason="correction")
    assert lines.meter("aa") == Meter(11_998, 500_000, 0, 999_999)
    lines.done(*adjust, part="display", cents=1, reason="boost")
    assert lines.code(*adjust, part="display", cents=-20_000, reason="over_limit") == "reason_does_not_fit"
    lines.done("link.suspend", "aa", "22:01")
    lines.done("link.terms", "aa", "22:01", levels=[{"code": "major", "limit_cents": 13_000}])
    assert lines.code(*adjust, "22:00", part="display", cents=5, reason="boost") == "above_limit"
    lines.done(*adjust, "22:01", part="display", cents=5, reason="boost")
    full = Lines(aa=Meter(11_998))
    full.done(*adjust, part="display", cents=2, reason="boost")
    assert full.code(*adjust, part="display", cents=1, reason="boost") == "above_limit"


def test_over_limit_comes_down_to_the_limit_and_its_fraction_may_stay() -> None:
    lines = Lines(aa=Meter(12_500, 1), st=Meter(500))
    adjust = ("level.adjust", "aa/major")
    assert lines.code(*adjust, part="display", cents=-501, reason="over_limit") == "reason_does_not_fit"
    lines.done(*adjust, part="display", cents=-500, reason="over_limit")
    assert lines.meter("aa") == Meter(12_000, 1)
    assert (
        lines.code("level.adjust", "st/major", part="display", cents=-1, reason="over_limit") == "reason_does_not_fit"
    )


def test_a_transfer_is_refused_in_order() -> None:
    lines = Lines()
    lines.done("link.file", "nn", link={
        "code": "nn", "paytable": "ms-mg-01", "levels": [{"code": "major", "reset_cents": 1, "rate_ppm": 1}],
    }, initial={}, filing="F")  # fmt: skip
    transfer = "level.transfer"
    parts = ["display"]
    assert lines.code(transfer, "zz/major", parts=parts) == ("missing_field", "/payload/to")
    assert lines.code(transfer, "zz/major", to="bb/major") == ("missing_field", "/payload/parts")
    assert lines.code(transfer, "zz/major", to="bb/major", parts=[]) == ("invalid_value", "/payload/parts")
    assert lines.code(transfer, "zz/major", to="bb/major", parts="display") == ("invalid_value", "/payload/parts")
    assert lines.code(transfer, "zz/major", to="bb/major", parts=["display", "shown"]) == (
        "invalid_value", "/payload/parts/1",
    )  # fmt: skip
    assert lines.code(transfer, "zz/major", to="bb/major", parts=["reserve", "reserve"])[0] == "invalid_value"
    assert lines.code(transfer, "zz/major", to="zz/major", parts=parts) == "unknown_subject"
    for to in ("zz/major", "bb", "bb/minor", "aa/major", "nn/major"):
        assert lines.code(transfer, "aa/major", to=to, parts=parts) == ("invalid_value", "/payload/to"), to
    assert lines.code(transfer, "aa/major", to="bb/major", parts=parts) == "link_open"
    assert lines.code(transfer, "nn/major", to="bb/major", parts=parts) == "wrong_state"
    lines.done("link.suspend", "aa")
    lines.done("link.suspend", "bb")
    lines.done(transfer, "aa/major", to="bb/major", parts=parts)


def test_parts_are_booked_in_their_order_and_the_source_becomes_exactly_nothing() -> None:
    lines = Lines(aa=Meter(11_000, 600_000, 3, 700_000, 5, 900_000), st=Meter(100, 500_000, 1, 400_000, 0, 50_000))
    lines.done("link.suspend", "aa")
    answer = lines.done("level.transfer", "aa/major", to="st/major", parts=["overflow", "reserve", "display"])
    assert moved(answer) == [
        ("level:aa/major:liability", "level:st/major:liability", 11_000, "transfer"),
        ("contribution_expense", "level:st/major:liability", 1, "transfer"),
        ("level:aa/major:reserve", "level:st/major:reserve", 3, "transfer"),
        ("contribution_expense", "level:st/major:reserve", 1, "transfer"),
        ("level:aa/major:overflow", "level:st/major:overflow", 5, "transfer"),
    ]
    assert lines.meter("aa") == Meter(0)
    assert lines.meter("st") == Meter(11_101, 100_000, 5, 100_000, 5, 950_000)
    assert [row["link"] for row in answer["meters"]] == ["aa", "st"]
    assert moved(lines.done("level.transfer", "aa/major", to="st/major", parts=["display"])) == [], "nothing is there"


def test_a_display_fills_its_target_to_the_limit_and_the_rest_overflows() -> None:
    lines = Lines(aa=Meter(100, 999_999), bb=Meter(5_099, 1))
    lines.done("link.suspend", "aa")
    answer = lines.done("level.transfer", "aa/major", to="bb/major", parts=["display"])
    assert moved(answer) == [
        ("level:aa/major:liability", "level:bb/major:liability", 1, "transfer"),
        ("level:aa/major:liability", "level:bb/major:overflow", 99, "transfer"),
        ("contribution_expense", "level:bb/major:overflow", 1, "transfer"),
    ]
    assert lines.meter("bb") == Meter(5_100, 0, 0, 0, 100, 0)
    above = Lines(aa=Meter(100), bb=Meter(6_000))
    above.done("link.suspend", "aa")
    assert moved(above.done("level.transfer", "aa/major", to="bb/major", parts=["display"])) == [
        ("level:aa/major:liability", "level:bb/major:overflow", 100, "transfer"),
    ]
