"""Links and their levels as they stand (CONTRACT §5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, now_dealt, reference
from tests.services.house import NEIGHBOUR, TWIN, run, seat, two_hits

LEVEL_KEYS = [
    "code", "value_cents", "residual_millionths", "reserve_cents", "reserve_residual_millionths", "overflow_cents",
    "overflow_residual_millionths", "wagers", "hits", "wins_cents", "contributed_cents",
    "contributed_residual_millionths", "reserved_cents", "reserved_residual_millionths", "overflowed_cents",
    "overflowed_residual_millionths", "state",
]  # fmt: skip


def level(api: Api, link: str, code: str) -> dict[str, Any]:
    """One level of a link."""
    (found,) = (level for level in api.found(f"links/{link}")["levels"] if level["code"] == code)
    return dict(found)


def test_every_link_is_listed_with_its_levels(api: Api) -> None:
    page = api.found("links")
    assert set(page) == {"items", "next"}
    assert page["next"] is None
    assert [(link["code"], link["name"], link["state"]) for link in page["items"]] == [
        ("ms-mg01", "Multi-Game 1", "open"), ("twin", "Twin Prizes", "open"),
    ]  # fmt: skip
    for link in page["items"]:
        assert set(link) == {"code", "name", "state", "levels"}
        for shown in link["levels"]:
            assert list(shown) == LEVEL_KEYS
            assert shown["state"] == "open"
    assert [shown["code"] for shown in page["items"][1]["levels"]] == ["grand", "minor"]
    assert api.found("links/twin") == page["items"][1]


def test_levels_stand_as_the_last_settlement_left_them(api: Api) -> None:
    before = level(api, "twin", "grand")
    (shown,) = api.play(two_hits(reference(), table=TWIN, dealt_at=now_dealt()))
    meters = {row["level"]: row for row in shown["settlement"]["meters"]}
    for code, row in meters.items():
        after = level(api, "twin", code)
        assert after["value_cents"] == row["after_cents"]
        for key in ("residual_millionths", "reserve_cents", "reserve_residual_millionths", "overflow_cents",
                    "overflow_residual_millionths"):  # fmt: skip
            assert after[key] == row[key]
    after = level(api, "twin", "grand")
    paid = sum(award["paid_cents"] for award in shown["settlement"]["awards"])
    assert (after["wagers"] - before["wagers"], after["hits"] - before["hits"]) == (3, 2)
    assert after["wins_cents"] - before["wins_cents"] == paid


def test_only_accepted_wagers_of_settled_rounds_are_counted(api: Api) -> None:
    before = level(api, "ms-mg01", "major")["wagers"]
    bets = [seat(1, "3s 7d", progressive=100), seat(2, "4s 8d", progressive=100), seat(3, "5s 9d")]
    api.play(
        api.round(*bets),  # two
        api.round(*bets, irregularities=[{"code": "wrong_card_count", "seat": 1}]),  # one: seat 1 is void
        api.round(*bets, irregularities=[{"code": "shoe_failed"}]),  # none: all void
        api.round(seat(1, "3s 3s", progressive=100)),  # none: held
        api.round(seat(1, "3s 7d", folded="third_street", progressive=100), table=NEIGHBOUR),  # one, although it folded
    )
    assert level(api, "ms-mg01", "major")["wagers"] - before == 4


@pytest.mark.parametrize("code", ["nobody", "MS-101", "%00", "ms-mg01/", "x" * 3_000])
def test_an_unknown_link_is_404(code: str, api: Api) -> None:
    for path in (f"links/{code}", f"links/{code}/stream"):
        answer = api.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_closed_link_says_so_and_so_do_its_levels(api: Api) -> None:
    run("UPDATE jackpot_link SET state = 'closed' WHERE code = 'twin'")
    try:
        link = api.found("links/twin")
    finally:
        run("UPDATE jackpot_link SET state = 'open' WHERE code = 'twin'")
    assert link["state"] == "closed"
    assert {level["state"] for level in link["levels"]} == {"closed"}
