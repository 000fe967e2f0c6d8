"""Big six wheel (SPEC §7; seed 003, 19:47-5.5 and 5.6)."""

from __future__ import annotations

from typing import Any

import pytest

from tables.rules.big_six import SYMBOLS
from tables.rules.table import TableTerms
from tests.rules.felt import lines, message, only_seat, reasons, refused, seat, table

ODDS = {"dollar_1": 1, "dollar_2": 2, "dollar_5": 5, "dollar_10": 10, "dollar_20": 20, "joker": 45, "flag": 45}


@pytest.fixture
def terms() -> TableTerms:
    return table("big-six", {"base": "bs-base"}, minimum_cents=100)


def spin(result: str | None, **wagers: int) -> dict[str, Any]:
    sent = message(seat(1, "", **wagers), dealing={"method": "hand"})
    return sent if result is None else sent | {"result": result}


@pytest.mark.parametrize("result", SYMBOLS)
def test_every_symbol_pays_those_who_bet_on_it(terms: TableTerms, result: str) -> None:
    entry = only_seat(terms, spin(result, **dict.fromkeys(SYMBOLS, 300)))
    odds = ODDS[result]
    won = ("win", f"{odds} to 1", 300 * odds, 300 * odds + 300)
    assert lines(entry) == dict.fromkeys(SYMBOLS, ("lose", None, 0, 0)) | {result: won}
    # Seven stakes of which one comes back with its win.
    assert entry["result"] == ("lose" if odds < 6 else "win")
    assert entry["hand"] == result


def test_what_is_held_and_what_is_refused(terms: TableTerms) -> None:
    assert reasons(terms, spin("flag", dollar_3=500)) == ["wager_not_offered"]
    assert reasons(terms, spin("flag", flag=99)) == ["wager_not_allowed"]
    assert reasons(terms, spin(None, flag=100)) == ["result_impossible"]
    assert refused(terms, spin("dollar_3", flag=100)) == ("invalid_value", "/result")
