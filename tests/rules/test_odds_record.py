"""The record of the odds: complete, true to the editions as they are, and printed by the command."""

import json
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tables.odds import NoOdds, calculation, of_edition, record, tables
from tables.odds.calculation import NotCounted, definitions, digest
from tables.odds.edition import from_json

ROOT = Path(__file__).resolve().parents[2]


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("odds", *arguments, stdout=out)
    return out.getvalue()


def test_every_edition_has_been_counted_as_it_is_now() -> None:
    """A changed or a new edition: `manage.py odds --recompute CODE`, then `manage.py odds --markdown > docs/odds.md`."""
    recorded = {file.stem for file in record.FOLDER.glob("*.json")}
    assert recorded == set(definitions())
    for code, definition in definitions().items():
        assert of_edition(code).digest == digest(definition)


# Not the two that take half a minute and more; their parts are counted in test_odds_strategies.
QUICK = sorted(
    set(definitions()) - {"b5-base", "mt-base", "ms-base", "lir-base", "dds-base", "tcp-base", "ms-cover-all"}
)


@pytest.mark.parametrize("code", QUICK)
def test_what_is_counted_in_no_time_is_what_is_recorded(code: str) -> None:
    assert calculation.count(code) == of_edition(code)


@pytest.mark.parametrize("code", sorted(definitions()))
def test_an_entry_is_complete(code: str) -> None:
    odds = of_edition(code)
    for entry, wager in zip(odds.to_json(), odds.wagers, strict=True):
        assert (entry["edition"], entry["wager"]) == (code, odds.wager)
        assert sum(entry["combinations"].values()) == entry["total"]
        if entry["edge"] is None:
            assert entry["reason"]
            continue
        assert Fraction(entry["edge"]) + Fraction(entry["return"]) == 1
        assert "/" in entry["edge"]
        assert abs(entry["edge_percent"] - float(Fraction(entry["edge"]) * 100)) < 1e-6
        assert 0 < Fraction(entry["hit_frequency"]) < 1
        assert Fraction(entry["variance"]) > 0
        assert wager.average_stake >= 1
    assert from_json(odds.to_json()) == odds


def test_an_edition_changed_since_it_was_counted_is_not_answered_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    altered = dict(definitions()["3cs-01"])
    altered["rows"] = [{**row, "odds": row["odds"] + 1} for row in altered["rows"]]
    assert digest(altered) != digest(definitions()["3cs-01"])
    entries: list[dict[str, Any]] = [entry | {"digest": digest(altered)} for entry in of_edition("3cs-01").to_json()]
    (tmp_path / "3cs-01.json").write_text(json.dumps(entries), "utf-8")
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    record.forget()
    try:
        with pytest.raises(NoOdds, match="3cs-01 has changed since it was counted"):
            of_edition("3cs-01")
        with pytest.raises(NoOdds, match="3cs-02 has not been counted"):
            of_edition("3cs-02")
        assert record.keep(calculation.count("3cs-01"))
        assert of_edition("3cs-01").edge is not None
        assert not record.keep(calculation.count("3cs-01"))
    finally:
        record.forget()


def test_editions_nobody_knows() -> None:
    with pytest.raises(NoOdds, match="there is no edition nonsense"):
        of_edition("nonsense")
    with pytest.raises(NotCounted, match="there is no edition nonsense"):
        calculation.count("nonsense")


def test_the_command_prints_json() -> None:
    entries = json.loads(printed("ms-base", "rd-base", "--json"))
    assert [entry["edition"] for entry in entries] == ["ms-base", *["rd-base"] * 5]
    assert entries[0]["edge"] == "53223/1082900"
    assert entries[0]["edge_percent"] == 4.914858
    assert entries[0]["combinations"]["royal_flush"] == 4
    assert [entry["decks"] for entry in entries[1:]] == [1, 2, 4, 6, 8]
    assert len(json.loads(printed("--json"))) == sum(len(of_edition(code).wagers) for code in definitions())


def test_the_command_prints_a_table_and_the_combinations_of_one_edition() -> None:
    lines = printed("ms-base").splitlines()
    assert lines[0].split()[0] == "edition"
    assert "4.9149 %" in lines[1]
    assert any(line.split() == ["royal_flush", "4"] for line in lines)
    assert "fold on third street: 31.0709 %" in "\n".join(lines)
    progressive = printed("ms-mg-01")
    assert "breaks even with 0 others at $160,530.53" in progressive
    assert "major is hit once in 64,974.00" in progressive
    assert len(printed().splitlines()) > len(definitions())


def test_the_command_refuses_what_it_does_not_know() -> None:
    error = StringIO()
    with pytest.raises(SystemExit) as stop:
        call_command("odds", "ms-base", "nonsense", stderr=error)
    assert stop.value.code == 2
    assert error.getvalue() == "there is no edition nonsense\n"


def test_the_command_counts_anew() -> None:
    error = StringIO()
    call_command("odds", "3cs-06", "--recompute", "--processes", "1", stdout=StringIO(), stderr=error)
    assert error.getvalue().startswith("3cs-06: the same as recorded")


def test_the_page_is_what_the_command_writes() -> None:
    page = (ROOT / "docs" / "odds.md").read_text("utf-8")
    assert page == tables.page([of_edition(code) for code in definitions()])
    assert page == printed("--markdown")
