"""A correction beside the message as posted: every part that differs is named, and no other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tables.rules.differences import changed, side_by_side

FIRST: dict[str, Any] = {"seat": 1, "cards": ["As", "Kd"], "wagers": {"ante": 500, "third_street": 1_500}}
SECOND: dict[str, Any] = {"seat": 2, "cards": ["3s", "7d"], "folded": "third_street", "wagers": {"ante": 500}}
POSTED: dict[str, Any] = {
    "round": "R-1", "table": "MS-1", "dealing": {"method": "shuffler", "players": 2}, "seats": [SECOND, FIRST],
    "community": ["Jd", "9h"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("correction", "rows"),
    [
        ({}, []),
        ({"community": ["Jd", "9c"]}, [("community", '["Jd", "9h"]', '["Jd", "9c"]')]),
        ({"dealer": ["é"]}, [("dealer", "", '["é"]')]),
        ({"dealing": {"players": 3, "method": "shuffler"}}, [("dealing players", "2", "3")]),
        ({"dealing": {"method": "shuffler"}}, [("dealing players", "2", "")]),
        ({"seats": [FIRST, SECOND]}, []),
        ({"seats": [FIRST | {"cards": ["As", "Ah"]}, SECOND]}, [("seat 1 cards", '["As", "Kd"]', '["As", "Ah"]')]),
        (
            {"seats": [FIRST | {"wagers": {"third_street": 500, "progressive": 100}}, SECOND]},
            [("seat 1 ante", "500", ""), ("seat 1 third_street", "1500", "500"), ("seat 1 progressive", "", "100")],
        ),
        (
            {"seats": [FIRST | {"seat": 3}, SECOND | {"folded": "fourth_street"}]},
            [
                ("seat 2 folded", '"third_street"', '"fourth_street"'), ("seat 1 cards", '["As", "Kd"]', ""),
                ("seat 1 ante", "500", ""), ("seat 1 third_street", "1500", ""), ("seat 3 cards", "", '["As", "Kd"]'),
                ("seat 3 ante", "", "500"), ("seat 3 third_street", "", "1500"),
            ],
        ),
    ],
)  # fmt: skip
def test_what_a_correction_changed_is_named_as_finely_as_it_can_be(
    correction: dict[str, Any], rows: list[tuple[str, str, str]]
) -> None:
    corrected = dict(reversed((POSTED | correction).items()))
    assert [(row.part, row.posted, row.corrected) for row in changed(POSTED, corrected)] == rows


def test_all_of_two_messages_stands_side_by_side_with_the_seats_last_and_by_their_number() -> None:
    found = side_by_side(POSTED, POSTED | {"sequence": 7, "seats": [FIRST | {"cards": []}, {"seat": 3}]})
    parts = ["round", "table", "dealing", "community", "sequence", "seat 1", "seat 2", "seat 3"]
    assert [row.part for row in found] == parts
    assert [row.part for row in found if row.differs] == parts[4:]
    assert (found[6].corrected, found[7].posted, found[7].corrected) == ("", "", '{"seat": 3}')


def test_the_order_in_which_keys_and_seats_stand_is_no_difference() -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(seat) for seat in reversed(value)] if value == POSTED["seats"] else value

    assert json.dumps(turned(POSTED)) != json.dumps(POSTED)
    assert not [row.part for row in side_by_side(POSTED, turned(POSTED)) if row.differs]
