"""Forms of acts whose payload is nested: objects are typed key by key, lists of them row by row (CONTRACT §7)."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils.datastructures import MultiValueDict

from accounting.office import registry
from accounting.office.forms import ActForm
from accounting.rules.acts import ActRefused

ZONE = ZoneInfo("America/New_York")


def form(act: str, begins: dict[str, Any] | None = None) -> ActForm:
    """The form of an act."""
    found = ActForm(registry.acts()[act], subject="nn", zone=ZONE)
    if begins is not None:
        found.begin(begins)
    return found


def typed(form: ActForm, **values: str) -> Any:
    """What is sent when this is typed; every input of the page is posted, as a browser does."""
    data = {one.name: [""] for one in form.inputs} | {
        name.replace("__", "."): [value] for name, value in values.items()
    }
    body = form.read(MultiValueDict({key: list(value) for key, value in data.items()} | {"subject": ["nn"]}), {})
    return None if body is None else body["payload"]


def values(**more: str) -> dict[str, str]:
    """Values of inputs by their names without the prefix."""
    return {f"p-{name}": value for name, value in more.items()}


def test_a_link_is_filed_by_typing_it_key_by_key() -> None:
    empty = form("link.file")
    names = [one.name for one in empty.inputs]
    assert names[:3] == ["p-link.name", "p-link.paytable", "p-link.decks"], "its code is what the act is about"
    assert "p-link.levels.0.rate_ppm" in names
    titles = {one.name: one.of.title for one in empty.inputs}
    assert (titles["p-link.paytable"], titles["p-link.levels.0.reset_cents"]) == ("Paytable", "Level 1: reset")
    first = values(link__paytable="two-prizes", link__decks="1", filing="F-1")
    first |= values(
        link__levels__0__code="grand", link__levels__0__reset_cents="100.00", link__levels__0__rate_ppm="17.0003"
    )
    level = {"code": "grand", "reset_cents": 10_000, "rate_ppm": 170_003}
    assert typed(empty, **first) == {
        "link": {"code": "nn", "paytable": "two-prizes", "decks": 1, "levels": [level]}, "filing": "F-1",
    }  # fmt: skip
    empty.refused(ActRefused("invalid_value", "/payload/link/code", "printable signs are expected"))
    assert empty.errors == {"subject": "printable signs are expected"} and not [
        one for one in empty.inputs if one.error
    ]
    # Shown again it has room for one more.
    assert [one.of.title for one in empty.inputs if one.name == "p-link.levels.1.code"] == ["Level 2: code"]
    second = values(
        link__levels__1__code="minor", link__levels__1__reset_cents="1", link__levels__1__overflow_policy="revenue"
    )
    sent = typed(form("link.file"), **first, **second)
    assert sent["link"]["levels"] == [level, {"code": "minor", "reset_cents": 100, "overflow_policy": "revenue"}]


def test_rows_in_which_nothing_is_typed_are_left_out_and_faults_stand_in_the_row_that_was_typed() -> None:
    shown = form("link.close", {"disposition": [{"level": "major", "part": "display", "to": ""}]})
    assert {one.name: one.typed for one in shown.inputs if one.typed} == {
        "p-disposition.0.level": "major", "p-disposition.0.part": "display",
    }  # fmt: skip
    assert len(shown.inputs) == 6, "a row to spare"
    third = values(disposition__2__level="major", disposition__2__part="reserve", disposition__2__to="nowhere")
    assert typed(shown, **third) == {"disposition": [{"level": "major", "part": "reserve", "to": "nowhere"}]}
    shown.refused(ActRefused("invalid_value", "/payload/disposition/0/to", "no such place"))
    assert [one.name for one in shown.inputs if one.error] == ["p-disposition.2.to"]
    assert typed(form("link.close")) == {"disposition": []}


@pytest.mark.parametrize(
    ("code", "pointer", "beside"),
    [
        ("invalid_value", "/payload/link/code", "subject"), ("invalid_value", "/subject", "subject"),
        ("unknown_subject", None, "subject"), ("invalid_value", "/reason", "reason"),
        ("missing_field", "/evidence", "evidence"), ("invalid_value", "/evidence/file/name", "evidence"),
        ("invalid_value", "/payload/link/decks", "p-link.decks"), ("invalid_value", "/payload/link/name/x", "p-link.name"),
        ("invalid_value", "/payload/nowhere", ""), ("invalid_value", "/payload", ""), ("wrong_state", None, ""),
        ("invalid_value", "/seen", ""),
    ],
)  # fmt: skip
def test_a_refusal_stands_beside_what_it_points_at_else_above_the_form(
    code: str, pointer: str | None, beside: str
) -> None:
    shown = form("link.file")
    typed(shown)
    shown.refused(ActRefused(code, pointer, "no"))
    said = shown.errors | {one.name: one.error.removeprefix("x: ") for one in shown.inputs if one.error}
    assert (said, shown.refusal) == (({beside: "no"}, "") if beside else ({}, "no"))


def test_terms_name_only_what_changes_and_a_limit_can_be_taken_away() -> None:
    shown = form("link.terms", {"levels": [{"code": "grand"}, {"code": "minor"}]})
    one = values(levels__0__code="grand", levels__1__code="minor", levels__1__rate_ppm="7 %")
    assert typed(shown, **one, **{"p-levels__0__limit_cents-none": "on"}) == {
        "levels": [{"code": "grand", "limit_cents": None}, {"code": "minor", "rate_ppm": 70_000}]
    }
    assert typed(shown, **values(levels__0__rate_ppm="many")) is None
    assert [each.name for each in shown.inputs if each.error] == ["p-levels.0.rate_ppm"]


def test_nobody_types_rows_without_end() -> None:
    data = MultiValueDict({"subject": ["nn"], "p-disposition.999.to": ["x"], "p-disposition.9999999.to": ["x"]})
    shown = form("link.close")
    shown.read(data, {})
    assert len(shown.inputs) <= 3 * 60


def test_what_each_level_of_a_new_link_opens_with_is_typed_beside_it_in_dollars() -> None:
    shown = form("link.file")
    titles = {one.name: one.of.title for one in shown.inputs}
    assert titles["p-link.levels.0.initial_cents"] == "Level 1: opens with" and "p-initial" not in titles
    assert not [one.name for one in shown.inputs if one.of.kind == "nested"], "nothing is typed as JSON"
    first = values(
        link__levels__0__code="grand", link__levels__0__reset_cents="100.00", link__levels__0__rate_ppm="17.0003"
    )
    second = values(link__levels__1__code="minor", link__levels__1__reset_cents="1", link__levels__1__rate_ppm="5")
    amounts = values(link__levels__0__initial_cents="1,250.00", link__levels__1__initial_cents="0.05")
    sent = typed(shown, **first, **second, **amounts)
    assert sent["initial"] == {"grand": 125_000, "minor": 5}
    assert [set(level) for level in sent["link"]["levels"]] == [{"code", "reset_cents", "rate_ppm"}] * 2
    shown.refused(ActRefused("invalid_value", "/payload/initial/minor", "less than the reset"))
    assert {one.name: one.error for one in shown.inputs if one.error} == {
        "p-link.levels.1.initial_cents": "less than the reset"
    }
    assert "initial" not in typed(form("link.file"), **first), "its reset where it is left empty"


def test_an_amount_that_is_none_or_whose_level_is_not_named_is_refused_in_its_place() -> None:
    shown = form("link.file")
    first = values(link__levels__0__code="grand", link__levels__0__initial_cents="a lot")
    assert typed(shown, **first) is None
    assert [one.name for one in shown.inputs if one.error] == ["p-link.levels.0.initial_cents"]
    assert typed(shown, **values(link__levels__0__initial_cents="5")) is None
    assert {one.name: one.error for one in shown.inputs if one.error} == {
        "p-link.levels.0.initial_cents": "code is missing: it says whose amount this is"
    }


def test_a_filed_link_is_shown_again_with_what_each_level_opens_with() -> None:
    level = {"code": "grand", "reset_cents": 10_000, "rate_ppm": 170_003}
    shown = form("link.file", {"link": {"code": "nn", "levels": [level]}, "initial": {"grand": 125_000}, "filing": "F"})
    typed_now = {one.name: one.typed for one in shown.inputs if one.typed}
    assert typed_now["p-link.levels.0.initial_cents"] in ("1250.00", "1,250.00")
