"""Links: what may be asked of them, in which order it is refused, what it moves (DECISIONS A53-A56, A65, A70)."""

from __future__ import annotations

from typing import Any

import pytest

from accounting.rules.acts import ActRefused
from jackpot.rules import link, links
from jackpot.rules.link_shapes import LEVEL_SCHEMA, TERMS
from jackpot.rules.meter import Meter
from jackpot.rules.paytable import ProgressivePaytable, Row
from tests.rules.lines import ROYAL, Lines, at, moved

LEVEL = {"code": "major", "reset_cents": 10_000, "rate_ppm": 170_000}
LINK = {"code": "nn", "paytable": "ms-mg-01", "decks": 1, "levels": [LEVEL]}
FILING: dict[str, Any] = {"link": LINK, "initial": {"major": 25_000}, "filing": "MGC 2026-114"}
EMPTY = Meter(0)
NEXT_DAY = "2026-11-28T06:00:00-05:00"


def filed(**change: Any) -> dict[str, Any]:
    return FILING | {"link": LINK | change}


@pytest.mark.parametrize(
    ("payload", "fault"),
    [
        (FILING | {"signage": True}, ("unknown_field", "/payload/signage")),
        ({"filing": "F"}, ("missing_field", "/payload/link")),
        (FILING | {"link": "nn"}, ("invalid_value", "/payload/link")),
        (filed(colour="red"), ("unknown_field", "/payload/link/colour")),
        (filed(levels=[LEVEL | {"a/b": 1}]), ("unknown_field", "/payload/link/levels/0/a~1b")),
        ({"link": {"code": "nn", "levels": [LEVEL]}, "filing": "F"}, ("missing_field", "/payload/link/paytable")),
        (filed(levels=[{"code": "major", "rate_ppm": 1}]), ("missing_field", "/payload/link/levels/0/reset_cents")),
        (filed(paytable="ms-mg-99"), ("invalid_value", "/payload/link/paytable")),
        (filed(levels=[]), ("invalid_value", "/payload/link/levels")),
        (filed(levels=[LEVEL | {"limit_cents": 9_999}]), ("invalid_value", "/payload/link/levels/0/limit_cents")),
        (filed(code="mm"), ("invalid_value", "/payload/link/code")),
        (FILING | {"initial": {"minor": 1}}, ("invalid_value", "/payload/initial/minor")),
        (FILING | {"initial": {"major": -1}}, ("invalid_value", "/payload/initial/major")),
        (FILING | {"initial": {"major": 10**12 + 1}}, ("invalid_value", "/payload/initial/major")),
        ({"link": LINK, "initial": {}}, ("missing_field", "/payload/filing")),
        (FILING | {"filing": ""}, ("invalid_value", "/payload/filing")),
    ],
)
def test_a_filing_is_refused_at_its_first_fault(payload: dict[str, Any], fault: tuple[str, str]) -> None:
    assert Lines().code("link.file", "nn", **payload) == fault


@pytest.mark.parametrize("key", ["code", "reset_cents", "rate_ppm"])
def test_a_level_that_lacks_a_parameter_is_refused_by_its_name(key: str) -> None:
    """What every level has; reserve rate, limit, most of one round and initial amount may be absent (REQUIREMENTS R1)."""
    lacking = {name: value for name, value in LEVEL.items() if name != key}
    fault = Lines().code("link.file", "nn", **filed(levels=[lacking]))
    assert fault == ("missing_field", f"/payload/link/levels/0/{key}")
    lines = Lines()
    lines.done("link.file", "nn", link=LINK, filing="MGC 2026-114")  # none of the optional ones, and no initial amount
    lines.done("link.open", "nn")
    assert lines.meter("nn", "major").value_cents == LEVEL["reset_cents"]


def test_a_code_in_use_by_a_link_or_a_table_is_not_filed_again() -> None:
    lines = Lines()
    lines.done("link.file", "nn", **FILING)
    assert lines.code("link.file", "nn", **FILING) == "wrong_state"
    assert lines.code("link.file", "aa", **filed(code="aa")) == "wrong_state"
    assert lines.code("link.file", "MS-1", **filed(code="MS-1")) == "wrong_state", (
        "its rounds are numbered by that name"
    )


def test_a_jackpot_rarer_than_allowed_is_refused_last() -> None:
    lines = Lines()
    rare = ProgressivePaytable(
        "rare", ("mississippi-stud",), 100, (Row("royal_flush", "share", "major", 10**6, to_rank="K"),)
    )
    lines.house.paytables = {"rare": rare}
    assert lines.code("link.file", "nn", **filed(paytable="rare")) == "rarer_than_allowed"
    assert lines.code("link.file", "aa", **filed(paytable="rare", code="aa")) == "wrong_state"
    unread = filed(paytable="rare", levels=[LEVEL | {"rate_ppm": -1}])
    assert lines.code("link.file", "nn", **unread) == ("invalid_value", "/payload/link/levels/0/rate_ppm")


def test_a_filed_link_keeps_its_odds_and_opens_with_what_was_filed_once() -> None:
    lines = Lines()
    (nothing,) = Lines().done("link.file", "nn", **FILING | {"initial": {"major": 0}})["changes"]
    assert nothing["initial"] == {"major": 0}
    (change,) = lines.done("link.file", "nn", **FILING | {"initial": {}})["changes"]
    assert change["odds"]["major"]["mississippi-stud"] == "1/64974", "4 royals and 36 straight flushes in 2,598,960"
    assert change["initial"] == {"major": 10_000}, "what is not named opens at its reset"
    assert lines.meter("nn") == EMPTY
    for name in ("link.suspend", "link.resume"):
        assert lines.code(name, "nn") == "wrong_state"
    assert lines.code("link.close", "nn", disposition=[]) == "wrong_state"
    assert lines.code("link.terms", "nn", levels=[{"code": "major", "rate_ppm": 1}]) == "wrong_state"
    assert lines.code("level.adjust", "nn/major", part="display", cents=1, reason="correction") == "wrong_state"
    opened = lines.done("link.open", "nn", "22:10", counts_from=NEXT_DAY)
    assert moved(opened) == [("seed_expense", "level:nn/major:liability", 10_000, "seed")]
    assert lines.code("link.open", "nn", "22:11") == "wrong_state", "it is seeded once, though it is not open yet"
    assert lines.house.links["nn"].state(0) == "filed"


def test_states_are_changed_from_the_state_before_at_the_moment_they_count_from() -> None:
    lines = Lines()
    assert lines.code("link.open", "aa") == "wrong_state"
    assert lines.code("link.resume", "aa") == "wrong_state"
    assert lines.code("link.suspend", "zz") == "unknown_subject"
    assert lines.code("link.suspend", "zz", counts_from="tomorrow") == ("invalid_value", "/payload/counts_from")
    assert lines.code("link.suspend", "zz", counts_from=at("21:59")) == "unknown_subject"
    assert lines.code("link.resume", "aa", counts_from=at("21:59")) == "in_the_past", "before wrong_state"
    lines.done("link.suspend", "aa", counts_from=at("23:00"))
    assert lines.code("link.resume", "aa") == "wrong_state", "at 22:00 it is open still"
    lines.done("link.resume", "aa", counts_from=at("23:00"))
    assert lines.round("R-1", "MS-1", "23:00")["outcome"] == "settled", "of equal moments the later line counts"
    lines.done("link.suspend", "aa", "22:30", counts_from=at("22:30"))
    assert lines.round("R-2", "MS-1", "22:29:59.999999999")["outcome"] == "settled"
    assert lines.round("R-3", "MS-1", "22:30")["reasons"] == ["link_not_open"]
    assert lines.round("R-4", "MS-1", "23:00")["outcome"] == "settled"


def test_terms_change_in_the_order_of_refusals() -> None:
    lines = Lines(aa=Meter(11_500, 1))
    rate: dict[str, Any] = {"levels": [{"code": "major", "rate_ppm": 100_000}]}
    low: dict[str, Any] = {"levels": [{"code": "major", "limit_cents": 11_500}]}
    assert lines.code("link.terms", "zz", levels=[]) == ("invalid_value", "/payload/levels")
    assert lines.code("link.terms", "zz", levels=[{"rate_ppm": 1}]) == ("missing_field", "/payload/levels/0/code")
    assert lines.code("link.terms", "zz", levels=[{"code": "major", "rate_ppm": "1"}]) == (
        "invalid_value", "/payload/levels/0/rate_ppm",
    )  # fmt: skip
    twice = [{"code": "major"}, {"code": "major"}]
    assert lines.code("link.terms", "zz", levels=twice) == ("invalid_value", "/payload/levels/1/code")
    assert lines.code("link.terms", "zz", **rate) == "unknown_subject"
    assert lines.code("link.terms", "aa", levels=[{"code": "minor"}], counts_from=at("21:00")) == (
        "invalid_value", "/payload/levels/0/code",
    )  # fmt: skip
    assert lines.code("link.terms", "aa", **rate, counts_from=at("21:00")) == "in_the_past"
    assert lines.code("link.terms", "aa", **low) == "link_open"
    lines.done("link.suspend", "aa")
    assert lines.code("link.terms", "aa", **low) == "limit_below_meter", "the fraction counts"
    lines.done("link.terms", "aa", levels=[{"code": "major", "limit_cents": 11_501}])
    lines.done("level.adjust", "aa/major", part="display", cents=-400, reason="correction")
    lines.done("level.adjust", "aa/major", part="display", cents=400, reason="correction")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"reset_cents": 12_001}, "reset_cents"),
        ({"limit_cents": 9_999}, "limit_cents"),
        ({"rate_ppm": 970_001}, "rate_ppm"),
        ({"reserve_ppm": 830_001}, "reserve_ppm"),
        ({"rate_ppm": None}, "rate_ppm"),
        ({"overflow_policy": "keep"}, "overflow_policy"),
    ],
)
def test_terms_that_a_floor_could_not_have_name_the_key_that_was_sent(change: dict[str, Any], pointer: str) -> None:
    lines = Lines()
    lines.done("link.suspend", "aa")
    fault = lines.code("link.terms", "aa", levels=[{"code": "major"} | change])
    assert fault == ("invalid_value", f"/payload/levels/0/{pointer}")


def test_of_several_levels_the_one_that_was_sent_is_named() -> None:
    rows = tuple(
        Row(hand, "share", level, 10**6) for hand, level in (("straight_flush", "major"), ("four_of_a_kind", "minor"))
    )
    levels = [LEVEL | {"rate_ppm": 500_000}, LEVEL | {"code": "minor", "rate_ppm": 400_000}]
    two = ProgressivePaytable("two", ("mississippi-stud",), 100, rows)
    before = link.read({"code": "nn", "paytable": "two", "levels": levels}, {"two": two})
    for sent, pointer in (
        ([{"code": "major", "reset_cents": 1}, {"code": "minor", "rate_ppm": 500_001}], "1/rate_ppm"),
        ([{"code": "minor", "reset_cents": 1}, {"code": "major", "rate_ppm": -1}], "1/rate_ppm"),
        ([{"code": "major", "rate_ppm": 600_001}], "0/rate_ppm"),
    ):
        with pytest.raises(ActRefused) as refused:
            links.changed(before, sent)
        assert (refused.value.code, refused.value.pointer) == ("invalid_value", f"/payload/levels/{pointer}"), sent


@pytest.mark.parametrize("key", [key for key, schema in LEVEL_SCHEMA.items() if schema["type"] == "integer"])
def test_a_level_s_figures_are_taken_at_their_bounds_and_not_beyond(key: str) -> None:
    least, most = LEVEL_SCHEMA[key]["minimum"], LEVEL_SCHEMA[key]["maximum"]
    for value in (least, most):
        TERMS.read({"levels": [{"code": "major", key: value}]})
    for value in (least - 1, most + 1):
        with pytest.raises(ActRefused) as refused:
            TERMS.read({"levels": [{"code": "major", key: value}]})
        assert refused.value.pointer == f"/payload/levels/0/{key}", value


def test_what_is_not_named_stays_null_takes_a_limit_away_and_an_unchanged_limit_is_not_judged() -> None:
    lines = Lines(aa=Meter(12_500))
    lines.done("link.suspend", "aa")
    lines.done("link.terms", "aa", levels=[{"code": "major", "limit_cents": 12_000, "rate_ppm": 100_000}])
    terms = lines.house.links["aa"].terms.at(2**62).level["major"]
    assert (terms.rate_ppm, terms.reserve_ppm, terms.limit_cents) == (100_000, 30_000, 12_000)
    lines.done("link.terms", "aa", levels=[{"code": "major", "limit_cents": None}])
    terms = lines.house.links["aa"].terms.at(2**62).level["major"]
    assert (terms.rate_ppm, terms.limit_cents) == (100_000, None)


def test_a_link_is_closed_in_the_order_of_refusals() -> None:
    lines = Lines(bb=Meter(5_050, 500_000, 0, 1, 30))
    shown = {"level": "major", "part": "display", "to": "aa/major"}
    rest = [{"level": "major", "part": part, "to": "revenue_booked"} for part in ("overflow", "reserve")]
    wrong: list[tuple[Any, tuple[str, str]]] = [
        ({"level": "major"}, ("invalid_value", "/payload/disposition")),
        ([shown | {"cents": 1}], ("unknown_field", "/payload/disposition/0/cents")),
        ([{"level": "major", "part": "display"}], ("missing_field", "/payload/disposition/0/to")),
        ([shown | {"part": "shown"}], ("invalid_value", "/payload/disposition/0/part")),
    ]
    for disposition, fault in wrong:
        assert lines.code("link.close", "zz", disposition=disposition) == fault
    assert lines.code("link.close", "zz", disposition=[shown]) == "unknown_subject"
    assert lines.code("link.close", "bb", counts_from=at("23:00"), disposition=[shown])[0] == "unknown_field"
    lines.done("link.file", "nn", **FILING)
    for change in ({"level": "minor"}, {"to": "aa/minor"}, {"to": "bb/major"}, {"to": "nn/major"}, {"to": "house"}):
        key = next(iter(change))
        assert lines.code("link.close", "bb", disposition=[shown | change]) == (
            "invalid_value", f"/payload/disposition/0/{key}",
        )  # fmt: skip
    lines.lock("R-1", "MS-3", seats=(1,))
    lines.round("R-2", "MS-3", board=ROYAL)
    assert lines.code("link.close", "bb", disposition=[shown]) == "wrong_state"
    lines.done("link.suspend", "bb")
    assert lines.code("link.close", "bb", disposition=[shown]) == "money_left", "a fraction is money too"
    twice = [shown, shown | {"to": "revenue_booked"}, *rest]
    assert lines.code("link.close", "bb", disposition=twice) == "money_left", "each part goes to one place"
    assert lines.code("link.close", "bb", disposition=[shown, *rest]) == "open_locks"
    held = lines.round("R-1", "MS-3", seats=(2,))
    assert held["reasons"] == ["lock_mismatch"]
    assert lines.code("link.close", "bb", disposition=[shown, *rest]) == "open_locks", "a held one is not decided"
    lines.act("round.void", "MS-3/R-1")
    assert lines.code("link.close", "bb", disposition=[shown, *rest]) == "open_hits"
    lines.done("hit.reject", "bb-000001")
    lines.done("link.close", "bb", disposition=[shown, *rest])
    assert lines.meter("bb") == EMPTY


def test_a_closed_link_never_moves_again() -> None:
    lines = Lines(bb=Meter(0), aa=Meter(10_000))
    lines.round("R-1", "MS-3", board=ROYAL)
    lines.done("hit.reject", "bb-000001")
    lines.done("link.suspend", "bb")
    held = lines.round("R-2", "MS-3", "22:01")
    assert held["reasons"] == ["link_not_open"]
    quiet = lines.round("R-3", "MS-3", "21:00", betting=())
    assert quiet["outcome"] == "settled"
    parts = [{"level": "major", "part": part, "to": "regulator_order"} for part in ("overflow", "display")]
    closing = lines.done("link.close", "bb", disposition=parts)
    assert {reason for *_, reason in moved(closing)} == {"regulator_order"}
    assert lines.meter("bb") == EMPTY
    assert lines.round("R-4", "MS-3", "20:00")["reasons"] == ["link_not_open"], "whatever its moment"
    asked: dict[str, dict[str, Any]] = {
        "link.open": {}, "link.suspend": {}, "link.resume": {}, "link.close": {"disposition": []},
        "link.terms": {"levels": [{"code": "major", "rate_ppm": 1}]},
    }  # fmt: skip
    for name, payload in asked.items():
        assert lines.code(name, "bb", "21:00", **payload) == "wrong_state", name
    assert lines.code("level.adjust", "bb/major", part="display", cents=1, reason="correction") == "wrong_state"
    assert lines.code("level.transfer", "bb/major", to="aa/major", parts=["display"]) == "wrong_state"
    assert lines.code("level.transfer", "aa/major", to="bb/major", parts=["display"]) == "wrong_state"
    assert lines.code("table.join", "MS-5", link="bb") == "wrong_state"
    assert lines.code("round.release", "MS-3/R-2") == "wrong_state"
    assert lines.code("round.void", "MS-3/R-1") == "wrong_state", "it contributed"
    assert lines.done("round.void", "MS-3/R-3")["meters"][0]["after_cents"] == 0, "it did not"
    assert lines.act("round.void", "MS-3/R-2")["outcome"] == "void"
    assert lines.round("R-5", "MS-3", "22:30", betting=())["outcome"] == "settled"
    assert moved(lines.done("table.leave", "MS-3")) == []
