"""The aggregate payout limit: what it covers, and how it is shared to the cent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables.rules.limit import shared


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=8), st.data())
def test_shares_are_proportional_and_add_up(wins: list[int], data: st.DataObject) -> None:
    limit = data.draw(st.integers(0, sum(wins) - 1))
    shares = shared(limit, wins)
    assert sum(shares) == limit
    total = sum(wins)
    for share, win in zip(shares, wins, strict=True):
        assert share in (win * limit // total, win * limit // total + 1), "never a cent or more away"
        assert share <= win
    # A cent more never goes to a smaller remainder, nor past an earlier equal one.
    extra = [share - win * limit // total for share, win in zip(shares, wins, strict=True)]
    keys = [(-(win * limit % total), place) for place, win in enumerate(wins)]
    given_to = [key for key, cent in zip(keys, extra, strict=True) if cent]
    passed_over = [key for key, cent in zip(keys, extra, strict=True) if not cent]
    assert not given_to or not passed_over or max(given_to) < min(passed_over)


ROYAL = ("Ts Js Qs", "As Ks")


def royal(harbor: Any, table: str, *streets: int, ante: int, **wagers: int) -> Any:
    board, cards = ROYAL
    return harbor.entries(harbor.message(table, board, harbor.seat(1, cards, *streets, ante=ante, **wagers)))[1]


@pytest.mark.parametrize(
    ("table", "limit"),
    [("MS-103", 5_000_000), ("MS-101", 5_000_000), ("MS-104", 7_500_000), ("MS-105", 12_500_000)],
)
def test_the_limit_is_the_greater_of_50000_dollars_and_the_minimum_players_best(
    harbor: Any, table: str, limit: int
) -> None:
    entry = royal(harbor, table, 3, 3, 3, ante=20_000)
    assert entry["limit"] == {
        "limit_cents": limit,
        "uncapped_win_cents": 100_000_000,
        "withheld_cents": 100_000_000 - limit,
    }
    assert entry["paid_cents"] == limit + 200_000, "stakes come back outside the limit"


def test_shares_follow_the_largest_remainder(harbor: Any) -> None:
    entry = royal(harbor, "MS-101", 1, 2, 3, ante=2000)
    wins = [line["win_cents"] for line in entry["lines"]]
    assert wins == [714_286, 714_286, 1_428_571, 2_142_857]
    assert [line["odds"] for line in entry["lines"]] == ["500 to 1"] * 4
    assert all(line["paid_cents"] == line["win_cents"] + line["stake_cents"] for line in entry["lines"])


def test_exactly_the_limit_withholds_nothing(harbor: Any) -> None:
    entry = royal(harbor, "MS-101", 3, 3, 3, ante=1000)
    assert entry["limit"]["withheld_cents"] == 0
    assert entry["paid_cents"] == 5_010_000


def test_side_wagers_stay_outside_a_base_limit(harbor: Any) -> None:
    entry = royal(harbor, "MS-101", 3, 3, 3, ante=2000, three_card_bonus=500, cover_all=500, progressive=100)
    assert entry["limit"]["uncapped_win_cents"] == 10_000_000
    assert entry["line"]["three_card_bonus"]["win_cents"] == 20_000
    assert entry["line"]["cover_all"]["win_cents"] == 250_000
    assert entry["line"]["progressive"]["win_cents"] == 1_000_017


def test_all_fixed_odds_share_one_limit_and_the_progressive_never_does(harbor: Any) -> None:
    entry = royal(harbor, "MS-109", 1, 1, 1, ante=5000, three_card_bonus=500, cover_all=500, progressive=100)
    uncapped = 500 * 20_000 + 40 * 500 + 500 * 500
    assert entry["limit"] == {
        "limit_cents": 5_000_000,
        "uncapped_win_cents": uncapped,
        "withheld_cents": uncapped - 5_000_000,
    }
    capped = [line["win_cents"] for line in entry["lines"] if line["wager"] != "progressive"]
    assert capped == shared(5_000_000, [2_500_000] * 4 + [20_000, 250_000])
    assert entry["line"]["progressive"]["win_cents"] == 1_000_017


def test_the_limit_is_shown_on_losing_folded_and_void_seats(harbor: Any) -> None:
    entries = harbor.entries(
        harbor.message(
            "MS-101",
            "4d 9h 3s",
            harbor.seat(1, "Kc 7h"),
            harbor.seat(2, "Kd 7d", folded="third_street"),
            harbor.seat(3, "Ks 7s 2c"),
            irregularities=[{"code": "wrong_card_count", "seat": 3}],
        )
    )
    nothing = {"limit_cents": 5_000_000, "uncapped_win_cents": 0, "withheld_cents": 0}
    assert [entries[number]["limit"] for number in (1, 2, 3)] == [nothing] * 3
