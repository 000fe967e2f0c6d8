"""A progressive paytable as it is defined: what each row keeps, and every bound from both sides (CONTRACT §1)."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.rules.definition import DefinitionRefused
from jackpot.rules.paytable import ProgressivePaytable, Row, read
from tables.rules.paytables import read as read_edition

ROYAL = {"hand": "royal_flush", "pays": "share", "level": "major", "share_ppm": 1_000_000, "envy_cents": 5_000}
ROWS: list[dict[str, Any]] = [
    ROYAL,
    {"hand": "straight_flush", "pays": "share", "level": "minor", "share_ppm": 1},
    {"hand": "four_of_a_kind", "pays": "for", "odds": 1},
    {"hand": "full_house", "pays": "to", "odds": 3, "per": 2},
    {"hand": "flush", "pays": "sum", "cents": 1},
    {"hand": "straight", "pays": "push", "from": "7", "to": "7"},
    {"hand": "straight", "pays": "for", "odds": 1_000_000, "per": 1_000_000, "from": "A"},
    {"hand": "straight", "pays": "for", "odds": 2, "to": "2"},
]


def definition(*rows: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {"code": "own", "games": ["mississippi-stud"], "wager_cents": 1, "rows": list(rows) or ROWS} | other


def refusal(given: dict[str, Any]) -> tuple[str, str, str]:
    with pytest.raises(DefinitionRefused) as refused:
        read(given)
    return refused.value.path, refused.value.code, refused.value.detail


def test_a_definition_is_kept_row_by_row() -> None:
    assert read(definition()) == ProgressivePaytable(
        "own",
        ("mississippi-stud",),
        1,
        (
            Row("royal_flush", "share", "major", 1_000_000, 0, 0, 5_000, None, None, 1),
            Row("straight_flush", "share", "minor", 1, 0, 0, 0, None, None, 1),
            Row("four_of_a_kind", "for", None, 0, 1, 0, 0, None, None, 1),
            Row("full_house", "to", None, 0, 3, 0, 0, None, None, 2),
            Row("flush", "sum", None, 0, 0, 1, 0, None, None, 1),
            Row("straight", "push", None, 0, 0, 0, 0, "7", "7", 1),
            Row("straight", "for", None, 0, 1_000_000, 0, 0, "A", None, 1_000_000),
            Row("straight", "for", None, 0, 2, 0, 0, None, "2", 1),
        ),
    )
    assert Row("pair", "push") == Row("pair", "push", None, 0, 0, 0, 0, None, None, 1)
    assert read(definition(wager_cents=10_000_000)).wager_cents == 10_000_000
    assert read(definition(games=["a", "b"])).games == ("a", "b")


def test_levels_are_named_once_in_the_order_of_the_rows() -> None:
    again = {"hand": "flush", "pays": "share", "level": "minor", "share_ppm": 5}
    assert read(definition(ROWS[1], ROYAL, ROWS[2], again)).levels == ("minor", "major")


@pytest.mark.parametrize(
    ("given", "path", "words"),
    [
        (definition(wager_cents=0), "wager_cents", "1 at least"),
        (definition(wager_cents=10_000_001), "wager_cents", "10000000 at most"),
        (definition(games=[5]), "games[0]", "a game title is expected"),
        (definition(games=["a", ""]), "games[1]", "a game title is expected"),
        (definition(games=["a", "b", "a"]), "games[2]", "a is named twice"),
        (definition(games=[]), "games", "one at least"),
        (definition() | {"rows": []}, "rows", "one at least"),
        (definition(ROYAL | {"share_ppm": 0}), "rows[0].share_ppm", "1 at least"),
        (definition(ROYAL | {"share_ppm": 1_000_001}), "rows[0].share_ppm", "1000000 at most"),
        (definition(ROYAL | {"envy_cents": -1}), "rows[0].envy_cents", "0 at least"),
        (definition(ROYAL | {"per": 1}), "rows[0].per", "does not go with pays = share"),
        (definition(ROWS[4] | {"per": 2}), "rows[0].per", "does not go with pays = sum"),
        (definition(ROWS[4] | {"cents": 0}), "rows[0].cents", "1 at least"),
        (definition(ROWS[4] | {"odds": 1}), "rows[0].odds", "does not go with pays = sum"),
        (definition(ROWS[4] | {"envy_cents": 0}), "rows[0].envy_cents", "does not go with pays = sum"),
        (definition(ROWS[2] | {"odds": 0}), "rows[0].odds", "1 at least"),
        (definition(ROWS[2] | {"odds": 1_000_001}), "rows[0].odds", "1000000 at most"),
        (definition(ROWS[3] | {"per": 0}), "rows[0].per", "1 at least"),
        (definition(ROWS[3] | {"per": 1_000_001}), "rows[0].per", "1000000 at most"),
        (definition(ROWS[2] | {"hand": "mini_royal"}), "rows[0].hand", "mini_royal is no hand of this paytable"),
        (definition(ROWS[2] | {"pays": "half"}), "rows[0].pays", "share or for or to or sum or push is expected"),
        (definition(ROWS[2] | {"from": "1"}), "rows[0].from", "is expected"),
        (definition(ROWS[2] | {"from": "8", "to": "7"}), "rows[0].to", "7 is below 8"),
        (definition(ROWS[2], ROWS[2] | {"from": "2", "to": "2"}), "rows[1].hand", "is paid by an earlier row"),
        (definition(ROWS[2], ROWS[2] | {"from": "A"}), "rows[1].hand", "is paid by an earlier row"),
        (definition(ROWS[2] | {"to": "9"}, ROWS[2] | {"from": "9"}), "rows[1].hand", "is paid by an earlier row"),
    ],
)  # fmt: skip
def test_what_cannot_stand_is_named_with_its_rule(given: dict[str, Any], path: str, words: str) -> None:
    found, code, detail = refusal(given)
    assert (found, code) == (path, "invalid_value")
    assert words in detail


@pytest.mark.parametrize("key", ["code", "games", "wager_cents", "rows"])
def test_what_is_missing_is_named(key: str) -> None:
    given = definition()
    del given[key]
    assert refusal(given) == (key, "missing_field", "missing")


@pytest.mark.parametrize(
    ("row", "key"),
    [(ROYAL, "level"), (ROYAL, "share_ppm"), (ROYAL, "hand"), (ROYAL, "pays"), (ROWS[2], "odds"), (ROWS[4], "cents")],
)
def test_what_a_row_needs_is_named(row: dict[str, Any], key: str) -> None:
    given = {name: value for name, value in row.items() if name != key}
    assert refusal(definition(given)) == (f"rows[0].{key}", "missing_field", "missing")


@pytest.mark.parametrize(("odds", "stands"), [(0, False), (1, True), (2, True), (1_000_000, True), (1_000_001, False)])
def test_the_odds_of_cover_all_are_one_at_least(odds: int, stands: bool) -> None:
    given = {
        "code": "own-cover-all", "game": "mississippi-stud", "wager": "cover_all",
        "odds_by_players": {"royal_flush": [odds] * 6},
    }  # fmt: skip
    if stands:
        assert read_edition(given).odds_by_players == {"royal_flush": (odds,) * 6}
        return
    with pytest.raises(DefinitionRefused) as refused:
        read_edition(given)
    assert refused.value.path.startswith("odds_by_players")


def test_an_edition_has_rows_or_odds_by_players_and_not_both() -> None:
    given = {"code": "own-cover-all", "game": "mississippi-stud", "wager": "cover_all"}
    for both, path in (
        ({"rows": [{"hand": "flush", "pays": "to", "odds": 1}], "odds_by_players": {"royal_flush": [2] * 6}}, "rows"),
        ({}, "rows"),
    ):
        with pytest.raises(DefinitionRefused) as refused:
            read_edition(given | both)
        assert refused.value.path == path
