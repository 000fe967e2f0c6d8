"""A table to play on in tests: terms, messages and settlements without a database.

Everything goes in by the same door as a controller's message, so a test cannot settle what a table could not report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import Meter
from jackpot.rules.meter import opening as opening_meter
from jackpot.rules.paytable import builtin as progressive_editions
from tables.rules import door, floor, settle
from tables.rules.games import Games, game_of
from tables.rules.message import RoundMessage
from tables.rules.settle import Settled
from tables.rules.settlement import SeatEntry
from tables.rules.table import TableTerms

# Every irregularity that concerns the whole table, with what its report says beside the code.
REPORTS: dict[str, dict[str, Any]] = {
    "card_exposed_early": {},
    "face_up_card": {},
    "face_up_cards": {},
    "shoe_failed": {},
    "shuffler_failed": {},
    "deck_count_wrong": {},
}


def five_card_link(paytable: str = "ms-mg-01", **level: Any) -> LinkTerms:
    """A link of one level at a rate of 17 % and a reserve of 3 %."""
    definition = {
        "code": "mg",
        "paytable": paytable,
        "levels": [{"code": "major", "reset_cents": 1_000_000, "rate_ppm": 170_000, "reserve_ppm": 30_000} | level],
    }
    return floor.link_terms(definition, progressive_editions())


def table(game: str, paytables: Mapping[str, str], /, link: LinkTerms | None = None, **more: Any) -> TableTerms:
    """A table of a game; further keys are those of a floor file, and may be refused like them."""
    definition: dict[str, Any] = {
        "code": "T-1",
        "game": game,
        "seats": 6,
        "minimum_cents": 500,
        "maximum_cents": 100_000,
        "paytables": dict(paytables),
    }
    if link is not None:
        definition["link"] = link.code
    return floor.table_terms(definition | more, {link.code: link} if link else {})


def without(terms: TableTerms, *hands: str) -> TableTerms:
    """The same table with an edition of its game that has no row for these."""
    base = terms.paytables["base"]
    fewer = replace(base, rows=tuple(row for row in base.rows if row.hand not in hands))
    return replace(terms, paytables={**terms.paytables, "base": fewer})


def seat(number: int, cards: str, /, **wagers: Any) -> dict[str, Any]:
    """A seat of a message; `folded` and `withdrawn` are told apart from the wagers."""
    entry: dict[str, Any] = {"seat": number, "cards": cards.split()}
    for key in ("folded", "withdrawn"):
        if key in wagers:
            entry[key] = wagers.pop(key)
    entry["wagers"] = wagers
    return entry


def report(code: str, **more: Any) -> dict[str, Any]:
    """One irregularity."""
    return {"code": code} | more


def message(*seats: dict[str, Any], community: str = "", dealer: str = "", **more: Any) -> dict[str, Any]:
    """A round message; `irregularities` and other keys may be added."""
    return (
        {
            "round": "T-1-000001",
            "table": "T-1",
            "dealt_at": "2026-11-27T21:14:05.120-05:00",
            "dealing": {"method": "shuffler"},
            "community": community.split(),
            "seats": list(seats),
        }
        | ({"dealer": dealer.split()} if dealer else {})
        | more
    )


def play(terms: TableTerms, sent: dict[str, Any], meters: Mapping[str, Meter] | None = None) -> Settled:
    """Settle a message; it must pass the door."""
    read = door.read(json.loads(json.dumps(sent)), Games({terms.code: terms}))
    assert isinstance(read, RoundMessage), read
    if meters is None:
        meters = {level.code: opening_meter(level) for level in terms.link.levels} if terms.link else {}
    return settle.settle(read, game_of(terms), meters)


def refused(terms: TableTerms, sent: dict[str, Any]) -> tuple[str, str]:
    """The code and the pointer of a message that is refused at the door."""
    read = door.read(json.loads(json.dumps(sent)), Games({terms.code: terms}))
    assert isinstance(read, door.Refusal), "the door let it in"
    return read.code, read.pointer


def only_seat(terms: TableTerms, sent: dict[str, Any]) -> SeatEntry:
    """The settlement of the one seat of a round that is settled or void."""
    settled = play(terms, sent)
    assert settled.outcome in ("settled", "void"), settled.settlement["reasons"]
    (found,) = settled.settlement["seats"]
    adds_up(found)
    return found


def reasons(terms: TableTerms, sent: dict[str, Any]) -> list[str]:
    """Why a round is held; none if it is not."""
    settled = play(terms, sent)
    found: list[str] = settled.settlement["reasons"] if settled.outcome == "held" else []
    return found


def lines(entry: SeatEntry) -> dict[str, tuple[str, str | None, int, int]]:
    """Result, odds, winnings and pay of every line of a seat, by wager."""
    return {
        line["wager"]: (line["result"], line["odds"], line["win_cents"], line["paid_cents"]) for line in entry["lines"]
    }


def adds_up(entry: SeatEntry) -> None:
    """What a seat staked and was paid is the sum of its lines and envy."""
    assert entry["staked_cents"] == sum(line["stake_cents"] for line in entry["lines"])
    envy = sum(each["paid_cents"] for each in entry["envy"])
    assert entry["paid_cents"] == sum(line["paid_cents"] for line in entry["lines"]) + envy
    if entry["limit"] is not None:
        withheld = entry["limit"]["uncapped_win_cents"] - entry["limit"]["limit_cents"]
        assert entry["limit"]["withheld_cents"] == max(withheld, 0)
