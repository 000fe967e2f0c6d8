"""The page that says who may do what is what the declarations say, and what the office does."""

from __future__ import annotations

from pathlib import Path

from accounting.office import registry
from accounting.office.management.commands import roles
from accounting.office.rules.person import Person
from accounting.reporting.registry import reports
from accounting.rules.roles import ROLES

ROOT = Path(__file__).parents[2]


def cells(name: str) -> list[str]:
    """The row of an act or page in the document, by its roles."""
    (line,) = [line for line in roles.document().splitlines() if line.startswith(f"| {name}<br>")]
    return [cell.strip() for cell in line.strip("|").split("|")[1:]]


def test_the_page_is_what_the_declarations_say() -> None:
    assert (ROOT / roles.PAGE).read_text("utf-8") == roles.document(), "run `python3 manage.py roles`"


def test_every_act_and_every_role_is_in_it() -> None:
    for act in registry.acts().values():
        row = cells(f"`{act.name}`")
        assert len(row) == len(ROLES)
        for role, cell in zip(ROLES, row, strict=True):
            person = Person("somebody", frozenset({role}), "")
            assert ("asks" in cell) == (not act.proposes.isdisjoint(person.roles))
            assert ("agrees" in cell) == any(tier.role == role and tier.count for tier in act.approves)


def test_every_report_is_in_it() -> None:
    for code, report in reports().items():
        seen = dict(zip(ROLES, cells(f"`{code}`"), strict=True))
        assert {role for role, cell in seen.items() if cell == "sees"} == report.roles


def test_an_adjustment_needs_a_manager_from_ten_thousand_dollars() -> None:
    row = dict(zip(ROLES, cells("`level.adjust`"), strict=True))
    assert row["accounting"] == "asks"
    assert row["controller"] == "agrees (1)"
    assert row["manager"] == "agrees (1 from $10,000.00)"
    assert row["auditor"] == ""
