"""Whatever arrives: the door answers, what it lets in is settled or held, and the money adds up."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from jackpot.rules.meter import MILLION
from tables.rules.cards import DECK
from tables.rules.door import Refusal
from tables.rules.irregularities import CODES, POSITIONS
from tables.rules.message import RoundMessage

STREETS = ("third_street", "fourth_street", "fifth_street")
SIDE = ("three_card_bonus", "cover_all")

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(sorted(DECK)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def seats(draw: st.DrawFn, number: int, cards: list[str]) -> dict[str, Any]:
    ante = draw(st.sampled_from([1000, 1500, 20_000]))
    wagers = {"ante": ante}
    folded = draw(st.sampled_from([None, *STREETS]))
    for street in STREETS:
        if street == folded:
            break
        wagers[street] = ante * draw(st.integers(1, 3))
    for side in SIDE:
        if draw(st.booleans()):
            wagers[side] = draw(st.integers(1, 10_000))
    if draw(st.booleans()):
        wagers["progressive"] = 100
    seat = {"seat": number, "cards": cards, "wagers": wagers}
    return seat if folded is None else seat | {"folded": folded}


@st.composite
def rounds(draw: st.DrawFn) -> dict[str, Any]:
    """A round that a table of six could well report, on a short deck so that high hands are common."""
    table = draw(st.sampled_from(["MS-101", "MS-108", "MS-109"]))
    short = sorted(card for card in DECK if card[0] in "TJQKA9")
    deck = draw(st.permutations(short if draw(st.booleans()) else sorted(DECK)))
    numbers = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6, unique=True))
    dealt = [draw(seats(number, list(deck[3 + 2 * place : 5 + 2 * place]))) for place, number in enumerate(numbers)]
    reports = draw(
        st.lists(
            st.one_of(
                st.sampled_from([{"code": code} for code in CODES if code not in ("wrong_card_count", "forfeit")]),
                st.builds(lambda seat: {"code": "wrong_card_count", "seat": seat}, st.sampled_from(numbers)),
                st.builds(lambda seat: {"code": "forfeit", "seat": seat}, st.sampled_from(numbers)),
                st.sampled_from([{"code": "wrong_card_count", "position": position} for position in POSITIONS]),
            ),
            max_size=1,
        )
    )
    return {
        "round": "R-1",
        "table": table,
        "dealt_at": "2026-11-27T21:14:05Z",
        "dealing": {"method": "shuffler", "mode": "cover_all", "players": len(numbers), "cards_in_deck": 52},
        "community": list(deck[:3]),
        "seats": dealt,
        "irregularities": reports,
    }


@given(rounds())
@settings(max_examples=300)
def test_the_money_of_any_round_adds_up(harbor: Any, message: dict[str, Any]) -> None:
    settled = harbor.settle(message)
    assert settled.outcome in ("settled", "void")
    settlement = settled.settlement
    assert [entry["seat"] for entry in settlement["seats"]] == sorted(
        (seat["seat"] for seat in message["seats"]), reverse=True
    )
    reported = {seat["seat"]: seat["wagers"] for seat in message["seats"]}
    for entry in settlement["seats"]:
        lines = entry["lines"]
        assert {line["wager"]: line["stake_cents"] for line in lines} == reported[entry["seat"]]
        assert entry["staked_cents"] == sum(line["stake_cents"] for line in lines)
        assert entry["paid_cents"] == sum(line["paid_cents"] for line in lines) + sum(
            each["paid_cents"] for each in entry["envy"]
        )
        for line in lines:
            keeps = line["result"] in ("push", "void") or (line["result"] == "win" and line["wager"] != "progressive")
            assert line["paid_cents"] == line["win_cents"] + (line["stake_cents"] if keeps else 0)
            assert (line["odds"] is not None) == (line["result"] == "win")
        limit = entry["limit"]
        limited = ("ante", *STREETS, *(SIDE if message["table"] == "MS-109" else ()))
        won = sum(line["win_cents"] for line in lines if line["wager"] in limited)
        assert won == min(limit["uncapped_win_cents"], limit["limit_cents"])
        assert limit["withheld_cents"] == limit["uncapped_win_cents"] - won
        if entry["result"] == "void":
            assert entry["paid_cents"] == entry["staked_cents"]
    row = settlement["meters"][0]
    accepted = sum(
        line["stake_cents"]
        for entry in settlement["seats"]
        for line in entry["lines"]
        if line["wager"] == "progressive" and line["result"] != "void"
    )
    assert row["contributed_millionths"] == accepted * 170_000
    awarded = sum(award["paid_cents"] for award in settlement["awards"])
    seeded = sum(award["seed"]["reserve_cents"] + award["seed"]["house_cents"] for award in settlement["awards"])
    assert (row["after_cents"] - row["before_cents"] + awarded - seeded) * MILLION == row["contributed_millionths"]
    assert [award["order"] for award in settlement["awards"]] == list(range(1, len(settlement["awards"]) + 1))
    from_lines = sum(
        line["win_cents"]
        for entry in settlement["seats"]
        for line in entry["lines"]
        if line["odds"] is not None and line["odds"].endswith("% of major")
    )
    assert from_lines == awarded


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    return [path, *(place for key, item in inside for place in _places(item, (*path, key)))]


@given(rounds(), st.data())
@settings(max_examples=500)
def test_nothing_that_arrives_makes_the_rules_fail(harbor: Any, message: dict[str, Any], data: st.DataObject) -> None:
    changed: Any = copy.deepcopy(message)
    for _ in range(data.draw(st.integers(1, 3))):
        *path, last = data.draw(st.sampled_from(_places(changed)[1:]))
        place = changed
        for step in path:
            place = place[step]
        match data.draw(st.sampled_from(["replace", "remove", "repeat"])):
            case "replace":
                place[last] = data.draw(anything)
            case "remove":
                del place[last]
            case "repeat" if isinstance(place, list):
                place.append(copy.deepcopy(place[last]))
        if not isinstance(changed, dict) or len(_places(changed)) < 2:
            break
    read = harbor.read(changed)
    if isinstance(read, Refusal):
        assert read.code in ("missing_field", "unknown_field", "invalid_value", "unknown_table", "duplicate_seat")
        assert isinstance(read.pointer, str)
    else:
        assert isinstance(read, RoundMessage)
        settled = harbor.settle(changed)
        assert settled.outcome in ("settled", "void", "held")
        json.dumps(settled.settlement)


@given(anything)
def test_any_value_gets_an_answer(harbor: Any, value: Any) -> None:
    assert isinstance(harbor.read(value), Refusal)
