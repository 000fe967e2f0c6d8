"""What a settlement means for the books, against a reading of every line of every seat (SPEC §6.1, §9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tables.rules import books

CASES = Path(__file__).parents[1] / "acceptance" / "public"


def settlements() -> list[Any]:
    """Every settled or void round of the worked cases."""
    found = [
        line
        for file in sorted(CASES.glob("*.json"))
        for line in json.loads(file.read_text("utf-8")).get("expected", [])
    ]
    return [line for line in found if line.get("outcome") in ("settled", "void") and "seats" in line]


def test_a_seat_that_was_handed_nothing_is_read_as_if_line_by_line() -> None:
    """Its progressive wager is counted and it has no payout: that it is the last line is so in every game."""
    lost_with_a_progressive = 0
    for settlement in settlements():
        accepted = [
            (seat["seat"], line["result"])
            for seat in settlement["seats"] for line in seat["lines"]
            if line["wager"] == "progressive" and line["result"] != "void"
        ]  # fmt: skip
        paid = [line["win_cents"] for seat in settlement["seats"] for line in seat["lines"] if line["win_cents"]]
        paid += [envy["paid_cents"] for seat in settlement["seats"] for envy in seat["envy"]]
        stakes = [
            line["stake_cents"] for seat in settlement["seats"] for line in seat["lines"] if line["result"] != "void"
        ]
        posting = books.posting(settlement, base_wagers=frozenset(), contributions=(), link=None)
        assert posting.progressives == len(accepted), settlement["round"]
        assert sorted(line.cents for line in posting.payouts) == sorted(paid), settlement["round"]
        assert posting.stakes_cents == sum(stakes), settlement["round"]
        nothing = {seat["seat"] for seat in settlement["seats"] if not seat["paid_cents"]}
        lost_with_a_progressive += sum(number in nothing for number, _ in accepted)
    assert lost_with_a_progressive > 20, "the cases have such seats"
