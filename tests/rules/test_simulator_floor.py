"""The simulated floor against the rules: every message is well formed and ends as it was meant to."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from devices.simulator import rig
from devices.simulator.floor import NothingToPlay, Play, playable
from devices.simulator.irregularities import MISREADINGS, PER_ROUND, REPORTED, Rates, cut_short, happening
from devices.simulator.table import Dealt
from jackpot.rules import meter
from tables.rules import door
from tables.rules.floor import Floor, read_floor
from tables.rules.games import Games
from tables.rules.message import RoundMessage
from tables.rules.settle import settle
from tables.rules.settlement import Settlement
from tables.rules.table import TableTerms
from tests.rules.yardstick import slowness

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def floor() -> Floor:
    return read_floor((ROOT / "jackpot" / "config" / "demo" / "floor.toml").read_text())


@pytest.fixture(scope="module")
def tables(floor: Floor) -> dict[str, TableTerms]:
    return playable(floor.tables)


def played(play: Play, floor: Floor, rounds: int) -> Iterator[tuple[Dealt, Settlement]]:
    """Deal, pass the door and settle, with the meters carried along."""
    meters = {code: {level.code: meter.opening(level) for level in link.levels} for code, link in floor.links.items()}
    games = Games(floor.tables)
    for dealt in islice(play.deals(), rounds):
        message = door.read(door.parse(json.dumps(dealt.message)), games)
        assert isinstance(message, RoundMessage), (message, dealt)
        table = floor.tables[dealt.table]
        link = table.link.code if table.link is not None else ""
        settled = settle(message, games[dealt.table], meters.get(link, {}))
        if link:
            meters[link] = settled.meters
        yield dealt, settled.settlement


def test_every_round_ends_as_it_was_meant_to(floor: Floor, tables: dict[str, TableTerms]) -> None:
    rounds = 12_000
    seen: Counter[str | None] = Counter()
    for dealt, settlement in played(Play(tables, seed=5, rates=Rates(times=40)), floor, rounds):
        assert settlement["outcome"] == dealt.meant, (dealt, settlement)
        if dealt.meant != "settled":
            assert settlement["reasons"] == [dealt.note]
        seen[dealt.note] += 1
    reasons = {reason for reason, _ in MISREADINGS.values()}
    codes = {code for code in REPORTED if code != "community_misdealt"}
    # The demo floor's tables are dealt by shufflers and shoes alike, so everything that can happen did.
    assert reasons | codes <= set(seen)


@pytest.mark.parametrize("name", ["face_up_cards", "shoe_failed"])
def test_a_deal_that_stopped_on_the_way_reached_the_first_seats(name: str) -> None:
    """From the first alone to all of them, each as likely; nobody bet on, and the board was never laid."""
    reached: Counter[int] = Counter()
    for number in range(400):
        seats = [
            {"seat": seat, "cards": ["2c", "3d"], "wagers": {"ante": 5, "third_street": 5}} for seat in range(1, 5)
        ]
        message = {"seats": seats, "community": ["4h", "5s", "6c"]}
        cut_short(message, name, Random(number))
        cards = [bool(seat["cards"]) for seat in seats]
        assert cards == sorted(cards, reverse=True), "the first ones have theirs"
        assert not message["community"] and all(seat["wagers"] == {"ante": 5} for seat in seats)
        reached[sum(cards)] += 1
    assert set(reached) == {1, 2, 3, 4} and min(reached.values()) > 60


def test_irregularities_come_as_often_as_the_rates_say(floor: Floor, tables: dict[str, TableTerms]) -> None:
    rounds = 60_000
    notes = Counter(dealt.note for dealt in islice(Play(tables, seed=2).deals(), rounds))
    something = rounds - notes[None]
    # The shoe's rate counts at few tables, and a misreading needs a wager to misread.
    assert 0.5 * sum(PER_ROUND.values()) * rounds < something < 1.1 * sum(PER_ROUND.values()) * rounds
    assert not any(dealt.note for dealt in islice(Play(tables, rates=Rates(times=0)).deals(), 3_000))


def test_cards_and_bets_are_as_frequent_as_at_a_table(floor: Floor, tables: dict[str, TableTerms]) -> None:
    hands: Counter[str | None] = Counter()
    results: Counter[str] = Counter()
    wagers: Counter[str] = Counter()
    seats = 0
    for _, settlement in played(Play(tables, seed=8, rates=Rates(times=0)), floor, 12_000):
        for seat in settlement["seats"]:
            seats += 1
            hands[seat["hand"]] += 1
            results[seat["result"]] += 1
            wagers.update(line["wager"] for line in seat["lines"])
    assert 3.5 < seats / 12_000 < 5.5
    # Shares of all 2,598,960 hands, within five standard deviations of independent hands (they share a board: x 2).
    for hand, share in {
        "high_card": 0.501177,
        "pair": 0.422569,
        "two_pair": 0.047539,
        "three_of_a_kind": 0.021128,
    }.items():
        deviation = 2 * 5 * (share * (1 - share) / seats) ** 0.5
        assert abs(hands[hand] / seats - share) < deviation, hand
    assert 0.33 < results["fold"] / seats < 0.46
    assert 0.45 < wagers["progressive"] / wagers["ante"] < 0.75
    assert 0.15 < wagers["three_card_bonus"] / wagers["ante"] < 0.45
    assert wagers["cover_all"] > 0
    assert wagers["third_street"] > wagers["fourth_street"] > wagers["fifth_street"]


def test_people_come_and_go(tables: dict[str, TableTerms]) -> None:
    play = Play(tables, seed=1, rates=Rates(times=0))
    at_101 = [message["seats"] for message in play.first(4_000) if message["table"] == "MS-101"]
    taken = [frozenset(seat["seat"] for seat in seats) for seats in at_101]
    changes = sum(before != after for before, after in pairwise(taken))
    assert 20 < changes < len(taken) / 2
    assert {len(each) for each in taken} >= {3, 4, 5, 6}
    assert min(len(each) for each in taken) >= 1


def test_decks_alternate_and_counts_are_reported(tables: dict[str, TableTerms]) -> None:
    for code, terms in tables.items():
        dealings = [message["dealing"] for message in Play({code: terms}, rates=Rates(times=0)).first(50)]
        assert {dealing["deck"] for dealing in dealings} == {"blue", "red"}
        if dealings[0]["method"] in ("shuffler", "hand"):
            assert all(dealing["cards_in_deck"] == 52 and dealing["players"] for dealing in dealings)
        else:
            counted = [place for place, dealing in enumerate(dealings, 1) if "cards_in_deck" in dealing]
            assert counted == list(range(5, 51, 5))
        assert all(
            dealing.get("mode") == ("cover_all" if "cover_all" in terms.paytables else None) for dealing in dealings
        )


def test_the_same_seed_deals_the_same_floor(tables: dict[str, TableTerms]) -> None:
    first = json.dumps(Play(tables, seed=3, prefix="A").first(400))
    assert json.dumps(Play(tables, seed=3, prefix="A").first(400)) == first
    assert json.dumps(Play(tables, seed=4, prefix="A").first(400)) != first
    assert len({message["round"] for message in json.loads(first)}) == 400


def test_a_seed_deals_what_it_has_always_dealt(tables: dict[str, TableTerms]) -> None:
    """A run that somebody names by its seed can be dealt again years later: cards, bets, mishaps, rigs and moments.

    What is to be dealt otherwise gives another digest, and is in the change log.
    """
    rigs = [rig.read(text) for text in ("four_of_a_kind@30", "straight_flush@60s", "royal@40:MS-103")]
    dealt, notes = sha256(), Counter[str | None]()
    for each in islice(Play(tables, seed=5, rates=Rates(times=40), rigs=rigs).deals(), 4_000):
        dealt.update(json.dumps([each.table, each.at_ms, each.meant, each.note, each.message]).encode())
        notes[each.note] += 1
    assert {f"rig {hand}" for hand in rig.HANDS.values()} | set(REPORTED) - {"community_misdealt"} <= set(notes)
    assert dealt.hexdigest() == "31a56d72a4d20286236224ff0b3ff5111559f796a75a8aa953a04bb49ea43ca7"


@pytest.mark.parametrize(
    ("luck", "found"),
    [(0.0, "first"), (0.2499, "first"), (0.25, "second"), (0.4999, "second"), (0.5, None), (0.9, None)],
)
def test_each_mishap_has_its_own_share_of_the_luck(luck: float, found: str | None) -> None:
    class Fixed(Random):
        def random(self) -> float:
            return luck

    rates = Rates(times=0.5, per_round={"first": 0.5, "second": 0.5})
    assert happening(rates.at("shuffler"), Fixed()) == found
    assert happening(Rates(per_round={}).at("shuffler"), Fixed()) is None
    assert happening(Rates(per_round={"shoe_failed": 1.0}).at("shuffler"), Fixed()) is None
    assert happening(Rates(per_round={"shuffler_failed": 1.0}).at("manual_shoe"), Fixed()) is None
    assert happening(Rates(per_round={"shuffler_failed": 1.0}).at("hand"), Fixed()) == "shuffler_failed"


def test_more_than_one_mishap_a_round_is_refused() -> None:
    assert Rates(per_round={"first": 0.5, "second": 0.5}).at("shuffler")[-1] == ("second", 1.0)
    with pytest.raises(ValueError, match=r"more than one mishap a round: chances add up to 1\.01"):
        Rates(per_round={"first": 0.5, "second": 0.51}).at("shuffler")


def test_a_table_plays_the_same_whoever_plays_beside_it(tables: dict[str, TableTerms]) -> None:
    def cards(play: Play) -> list[Any]:
        return [message["seats"] for message in play.first(800) if message["table"] == "MS-104"][:60]

    alone = cards(Play({"MS-104": tables["MS-104"]}, seed=3))
    assert cards(Play(tables, seed=3)) == alone


def test_rounds_are_dealt_in_time_at_the_pace_asked_for(tables: dict[str, TableTerms]) -> None:
    start = datetime(2026, 11, 1, 5, 30, tzinfo=UTC)  # half an hour before clocks go back in New York
    play = Play(tables, start=start, zone=ZoneInfo("America/New_York"), pace_seconds=45)
    deals = list(islice(play.deals(), 1_600))
    moments = [datetime.fromisoformat(dealt.message["dealt_at"]) for dealt in deals]
    assert moments[0] == start
    assert moments == sorted(moments)
    assert {dealt.message["dealt_at"][-6:] for dealt in deals} == {"-04:00", "-05:00"}
    for dealt, moment in zip(deals, moments, strict=True):
        assert dealt.at_ms == round((moment - start).total_seconds() * 1000)
    a_table = deals[-1].at_ms / 1000 / (len(deals) / len(tables))
    assert 35 < a_table < 50


def test_a_rigged_hand_is_paid_and_envied(floor: Floor, tables: dict[str, TableTerms]) -> None:
    rigs = [
        rig.read("royal@100"),
        rig.read("straight_flush@20s"),
        rig.read("straight_flush@9:MS-107"),
        rig.read("four_of_a_kind@5:MS-103"),
    ]
    rigged = [
        (dealt, settlement)
        for dealt, settlement in played(Play(tables, seed=3, rigs=rigs), floor, 300)
        if dealt.note is not None and dealt.note.startswith("rig ")
    ]
    assert Counter(dealt.note for dealt, _ in rigged) == {
        "rig royal_flush": 1,
        "rig straight_flush": 2,
        "rig four_of_a_kind": 1,
    }
    for dealt, settlement in rigged:
        assert settlement["outcome"] == "settled"
        hand = str(dealt.note).removeprefix("rig ")
        awards = settlement["awards"]
        if hand == "four_of_a_kind":
            assert (dealt.table, dealt.table_round) == ("MS-103", 5)
            continue
        assert [award["hand"] for award in awards] == [hand]
        if hand == "royal_flush":
            assert dealt.floor_round == 100
            assert awards[0]["paid_cents"] == awards[0]["meter_before_cents"]
            others = [seat for seat in settlement["seats"] if seat["seat"] != awards[0]["seat"]]
            assert sum(bool(seat["envy"]) for seat in others) >= 1
        elif dealt.table == "MS-107":
            assert dealt.table_round == 9
        else:
            assert dealt.at_ms >= 20_000


@pytest.mark.parametrize("seed", range(8))
def test_a_rig_is_never_lost_at_tables_where_nobody_likes_the_progressive(
    floor: Floor, tables: dict[str, TableTerms], seed: int
) -> None:
    rigs = [rig.read(f"royal@{number}") for number in range(1, 41)]
    awards = [
        award["hand"]
        for _, settlement in played(Play(tables, seed=seed, rigs=rigs), floor, 40)
        for award in settlement["awards"]
    ]
    assert awards.count("royal_flush") == 40


def test_what_cannot_be_played_is_refused(tables: dict[str, TableTerms]) -> None:
    other = read_floor((ROOT / "tests" / "acceptance" / "floors" / "games.toml").read_text())
    assert playable(other.tables) == {}
    with pytest.raises(NothingToPlay, match="not LIR-1"):
        Play(other.tables)
    with pytest.raises(NothingToPlay, match="no tables"):
        Play({})
    with pytest.raises(rig.RigRefused, match="MS-999"):
        Play(tables, rigs=[rig.read("royal@3:MS-999")])
    alone = {"MS-101": replace(tables["MS-101"], link=None)}
    for text in ("royal@3", "royal@3:MS-101"):
        with pytest.raises(rig.RigRefused, match="royal_flush: no table on a link to win it at"):
            Play(alone, rigs=[rig.read(text)])


def test_twenty_thousand_rounds_are_dealt_in_a_few_seconds(tables: dict[str, TableTerms]) -> None:
    began = time.process_time()
    messages = Play(tables, seed=3).first(20_000)
    # About 1 s where this was written: benchmarks must not wait for their rounds.
    assert time.process_time() - began < 4 * slowness()
    assert len({message["round"] for message in messages}) == 20_000
