"""What each act may carry, key by key (CONTRACT §7), and that the rules read it themselves, whoever asks."""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import replace
from typing import Any

import pytest

import jackpot.rules
import tables.rules
from accounting.rules.acts import LONGEST_TEXT, NESTED, ActRefused, Field, Shape, expected, field_schema, judge
from jackpot.rules.decision import Act
from tables.rules.acts import TABLE_JOIN, TABLE_TERMS
from tables.rules.deciding import decide
from tests.rules.lines import Lines, at
from tests.rules.test_any_act import GOOD, standing_house

PARTS = "display, reserve, overflow"
EVERY = {
    "hit.verify hit": {"checks": "choices of cards, seat, wager_sensor, surveillance"},
    "hit.approve hit": {"note": "text"},
    "hit.pay hit": {"method": "required choice of cage, table"},
    "hit.reject hit": {},
    "hit.unclaimed hit": {},
    "hit.remit hit": {},
    "hit.withhold hit": {
        "method": "required choice of cage, table",
        "cents": "required whole from 1 to 1000000000000000 money",
    },
    "payout.withhold payout": {
        "method": "required choice of cage, table",
        "cents": "required whole from 1 to 1000000000000000 money",
    },
    "payout.unclaimed payout": {},
    "payout.remit payout": {},
    "day.close day": {"sequences": "required nested"},
    "payout.pay payout": {"method": "required choice of cage, table"},
    "level.adjust level": {
        "part": f"required choice of {PARTS}",
        "cents": "required whole from -1000000000000 to 1000000000000 money",
        "reason": "required choice of correction, boost, malfunction, regulator_order, over_limit, reserve_release",
    },
    "level.transfer level": {"to": "required text from 1", "parts": f"required choices of {PARTS}"},
    "link.file link": {"link": "required nested", "initial": "nested", "filing": "required text from 1 to 200"},
    "link.open link": {"counts_from": "moment"},
    "link.suspend link": {"counts_from": "moment"},
    "link.resume link": {"counts_from": "moment"},
    "link.terms link": {"levels": "required nested", "counts_from": "moment"},
    "link.close link": {"disposition": "required nested"},
    "link.funds link": {
        "balance_cents": "required whole from 0 to 1000000000000 money",
        "as_of": "required moment",
        "unpaid_cents": "required whole from 0 to 1000000000000000000 money",
        "required": "required flag",
    },
    "lock.void round": {},
    "round.release round": {},
    "round.correct round": {"message": "required nested", "override": "nested"},
    "round.void round": {},
    "table.open table": {},
    "table.close table": {},
    "table.contact table": {"heard": "required flag", "last": "required moment"},
    "table.join table": {"link": "required text from 1"},
    "table.leave table": {},
    "table.terms table": {
        "minimum_cents": "whole from 1 to 1000000000000000 money",
        "maximum_cents": "whole from 1 to 1000000000000000 money",
        "terms": "nested",
    },
}


def said(field: Field) -> str:
    """A field in words."""
    words = ["required"] if field.required else []
    words += [field.kind]
    words += [f"of {', '.join(field.choices)}"] if field.choices else []
    words += [f"from {field.least}"] if field.least is not None else []
    words += [f"to {field.most}"] if field.most is not None else []
    words += ["money"] if field.money else []
    words += ["or null"] if field.may_be_null else []
    assert (field.read is not None) == (field.kind == NESTED), field.name
    return " ".join(words)


def shapes() -> list[Shape]:
    """Every shape that a module of rules declares."""
    modules = [
        importlib.import_module(f"{package.__name__}.{module.name}")
        for package in (jackpot.rules, tables.rules)
        for module in pkgutil.iter_modules(package.__path__)
    ]
    found = {shape.name: shape for module in modules for shape in vars(module).values() if isinstance(shape, Shape)}
    return list(found.values())


def test_every_act_carries_what_is_printed_and_nothing_else() -> None:
    assert {
        f"{shape.name} {shape.subject}": {field.name: said(field) for field in shape.fields} for shape in shapes()
    } == EVERY


def test_amounts_are_typed_as_dollars_and_nothing_else_is() -> None:
    for shape in shapes():
        for field in shape.fields:
            assert field.money == (field.name == "cents" or field.name.endswith("_cents")), (shape.name, field.name)


@pytest.mark.parametrize(
    ("name", "subject"),
    [*(each[:2] for each in GOOD), ("table.open", "MS-1"), ("table.close", "MS-1"), ("link.funds", "aa")],
)
def test_the_rules_read_the_payload_themselves(name: str, subject: str) -> None:
    """What was recorded is read as what is asked: a key that no act has is refused, though no edge looked at it."""
    for payload, fault in (({"nobody": 1}, ("unknown_field", "/payload/nobody")), ([], ("invalid_value", "/payload"))):
        with pytest.raises(ActRefused) as refused:
            decide(Act(name, subject, at("22:00"), payload), standing_house())  # type: ignore[arg-type]
        assert (refused.value.code, refused.value.pointer) == fault


def test_the_schema_of_terms_says_that_a_table_has_no_others() -> None:
    assert TABLE_TERMS.schema()["additionalProperties"] is False
    assert TABLE_TERMS.schema()["properties"]["terms"]["additionalProperties"] is False


def test_texts_and_amounts_are_taken_at_their_bounds() -> None:
    assert TABLE_JOIN.read({"link": "z"}) == {"link": "z"}
    least = {"minimum_cents": 1, "maximum_cents": 10**15}
    assert TABLE_TERMS.read(least) == least
    assert TABLE_TERMS.read({}) == {}
    for key, value in (
        ("minimum_cents", 0),
        ("maximum_cents", 10**15 + 1),
        ("maximum_cents", 1.5),
        ("minimum_cents", None),
    ):
        with pytest.raises(ActRefused) as refused:
            TABLE_TERMS.read({key: value})
        assert (refused.value.code, refused.value.pointer) == ("invalid_value", f"/payload/{key}")
    with pytest.raises(ActRefused, match="text of"):
        TABLE_JOIN.read({"link": ""})


CHOICE = ("pit", "door")
KINDS = [
    (
        Field("a", "text", "A"), {"type": "string", "maxLength": LONGEST_TEXT}, "text of 2,000 characters at most",
        ["", "x" * LONGEST_TEXT], ["x" * (LONGEST_TEXT + 1), 1, None, "\0"],
    ),
    (
        Field("a", "text", "A", least=1, most=2), {"type": "string", "maxLength": 2, "minLength": 1},
        "text of 2 characters at most", ["x", "xx"], ["", "xxx"],
    ),
    (Field("a", "whole", "A"), {"type": "integer"}, "a whole number", [0, -5, 10**20], [1.0, True, "1"]),
    (
        Field("a", "whole", "A", least=0, most=5), {"type": "integer", "minimum": 0, "maximum": 5},
        "a whole number, 0 at least and 5 at most", [0, 5], [-1, 6],
    ),
    (Field("a", "whole", "A", least=1), {"type": "integer", "minimum": 1}, "a whole number, 1 at least", [1], [0]),
    (Field("a", "whole", "A", most=1_000), {"type": "integer", "maximum": 1_000}, "a whole number, 1,000 at most", [-1], [1_001]),
    (Field("a", "flag", "A"), {"type": "boolean"}, "true or false", [True, False], [0, 1, "true", None]),
    (
        Field("a", "choice", "A", choices=CHOICE), {"type": "string", "enum": ["pit", "door"]},
        "one of pit, door", ["pit"], ["", 1],
    ),
    (
        Field("a", "choices", "A", choices=CHOICE),
        {"type": "array", "items": {"type": "string", "enum": ["pit", "door"]}, "uniqueItems": True, "minItems": 1},
        "a list of pit, door, each once", [["pit"], ["door", "pit"]], [[], "pit", ["pit", "pit"], ["sky"], [1]],
    ),
    (
        Field("a", "moment", "A"), {"type": "string", "format": "date-time"},
        "a moment with its offset, like 2026-11-27T22:00:00-05:00,", ["2026-11-27T22:00:00-05:00"], ["2026-11-27T22:00:00", 5],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("field", "schema", "words", "good", "bad"), KINDS)
@pytest.mark.parametrize("may_be_null", [False, True])
def test_a_field_says_what_it_takes_in_a_schema_and_in_words(
    field: Field, schema: dict[str, Any], words: str, good: list[Any], bad: list[Any], may_be_null: bool
) -> None:
    told = replace(field, may_be_null=may_be_null, help="How it is.")
    typed = [schema["type"], "null"] if may_be_null else schema["type"]
    assert field_schema(told) == {"title": "A", "description": "How it is."} | schema | {"type": typed}
    assert "description" not in field_schema(field)
    assert expected(told) == words
    for value in good:
        judge(told, value, "/payload/a")
    for value in bad:
        if value is None and may_be_null:
            continue
        with pytest.raises(ActRefused, match=f"A: {re.escape(words)} is expected") as refused:
            judge(told, value, "/payload/a")
        place = "/0" if value in (["sky"], [1]) else "/1" if value == ["pit", "pit"] else ""
        assert (refused.value.code, refused.value.pointer) == ("invalid_value", f"/payload/a{place}")


def test_a_term_is_judged_by_itself_before_its_table_is_looked_for() -> None:
    lines = Lines()
    for terms, key in (({"limit_scope": "all"}, "limit_scope"), ({"ace_two_consecutive": 1}, "ace_two_consecutive")):
        assert lines.code("table.terms", "MS-99", terms=terms) == ("invalid_value", f"/payload/terms/{key}")
    assert lines.code("table.terms", "MS-99", terms={"limit_scope": "base"}) == "unknown_subject"
