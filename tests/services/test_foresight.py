"""Proposed terms: a link's own record replayed under them, the job, and the command."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounting.statements import execute
from devices.foresight import proposed, report
from devices.foresight import replay as replaying
from devices.foresight.proposed import ProposedRefused, Standing
from devices.foresight.replay import NotReplayable, Sides, replay
from devices.foresight.stretch import EVENTS, Recorded, Stretch, house_before
from devices.simulator.floor import Play
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import MILLION
from tables.rules.alternative import Alternative
from tables.rules.deciding import Result
from tables.rules.floor import read_floor
from tables.services.recording import decode
from tables.services.rounds import dated
from tests.services.house import (
    DEALT,
    FLOOR,
    LINKED,
    NEIGHBOUR,
    TWIN,
    House,
    locked,
    message,
    rows,
    royal,
    run,
    seat,
    two_hits,
)

NOW = DEALT + timedelta(days=3)


def standing(code: str) -> Standing:
    """A link as it stands."""
    found = proposed.standing(code, NOW)
    assert found is not None
    return found


def again(
    code: str, terms: LinkTerms | None = None, *, first: int = 1, last: int | None = None, size: int = 5_000
) -> Sides:
    """The link's record replayed, under its own terms unless others are given."""
    link = standing(code)
    until = link.next_sequence - 1 if last is None else last
    return replay(link, terms or link.terms, first, until, size=size)


def as_recorded(code: str) -> list[tuple[Any, ...]]:
    """The meters of a link and what was paid, as the database shows them."""
    return rows(
        """SELECT level.code, meter.value_cents, meter.residual_millionths, meter.reserve_cents,
            meter.reserve_residual_millionths, meter.overflow_cents, meter.overflow_residual_millionths, meter.wagers,
            meter.hits, meter.wins_cents::bigint
        FROM jackpot_meter meter JOIN jackpot_level level ON level.id = meter.level_id
        JOIN jackpot_link link ON link.id = level.link_id WHERE link.code = %s ORDER BY level.id""",
        code,
    )


def as_replayed(sides: Sides) -> list[tuple[Any, ...]]:
    """The same of the side that would have been."""
    found = []
    for code, tally in sides.would.items():
        meter = tally.meter
        found.append((
            code, meter.value_cents, meter.residual_millionths, meter.reserve_cents, meter.reserve_residual_millionths,
            meter.overflow_cents, meter.overflow_residual_millionths, sides.wagers, tally.hits, tally.paid_cents,
        ))  # fmt: skip
    return found


def with_level(link: LinkTerms, code: str, **more: Any) -> LinkTerms:
    """A link's terms with one level changed."""
    return replace(link, levels=tuple(replace(each, **more) if each.code == code else each for each in link.levels))


@pytest.fixture
def eventful(house: House) -> House:
    """Rounds, hits, a void, held ones of which one is released, and a suspension, on both links."""
    house.play(
        message("R-1"),
        two_hits("R-2"),
        message("R-3", table=NEIGHBOUR, irregularities=[{"code": "shoe_failed"}]),
        message("R-4", seat(1, "3s 3s", progressive=100)),
        message("R-5", seat(2, "4s 4d", progressive=100)),
        royal("R-6", table=NEIGHBOUR),
        two_hits("R-1", table=TWIN),
        royal("R-2", table=TWIN),
    )
    tables = {code: table for code, table in read_floor(FLOOR).tables.items() if table.link is not None}
    played = Play(tables, seed=11, prefix="P", start=DEALT - timedelta(hours=2), pace_seconds=1)
    house.play(*islice(played, 240), royal("R-9"), two_hits("R-9", table=TWIN))
    return house


@pytest.fixture
def locked_house(eventful: House) -> House:
    """The same with locks: decided, decided by a hit, void, mismatched and released, and one whose result has not come."""
    eventful.play(
        locked("L-1"), message("L-1"), locked("L-2", 1, 2, 4, 6), locked("L-3"), locked("L-4", 1, 5), message("L-4"),
        locked("L-5", table=NEIGHBOUR), locked("L-1", table=TWIN), message("L-1", table=TWIN),
    )  # fmt: skip
    eventful.act("lock.void", f"{LINKED}/L-3")
    eventful.act("round.release", f"{LINKED}/L-4")
    eventful.play(two_hits("L-2"), message("L-3"), message("R-10"))
    return eventful


@pytest.mark.parametrize("code", ["ms-mg01", "twin"])
@pytest.mark.parametrize("with_locks", [False, True])
def test_under_the_same_terms_the_replay_is_the_record_to_the_millionth(
    request: pytest.FixtureRequest, code: str, *, with_locks: bool
) -> None:
    request.getfixturevalue("locked_house" if with_locks else "eventful")
    sides = again(code)
    assert sides.rounds > 60 and sum(tally.hits for tally in sides.would.values()) >= 3
    assert as_replayed(sides) == as_recorded(code)
    assert sides.would == sides.was
    assert [hit.was_cents for hit in sides.hits] == [hit.would_cents for hit in sides.hits]
    assert [hit.was_cents for hit in sides.hits] == [
        paid for (paid,) in rows(
            "SELECT paid_cents FROM jackpot_hit hit JOIN jackpot_link link ON link.id = hit.link_id"
            " WHERE link.code = %s ORDER BY number", code)
    ]  # fmt: skip
    for line in sides.series.values():
        assert line and all(point.was_cents == point.would_cents for point in line)


def test_locks_that_wait_when_a_period_begins_are_known_in_it(locked_house: House) -> None:
    """However the record is cut into periods or stretches, and under other terms too."""
    link = standing("ms-mg01")
    terms = with_level(link.terms, "major", rate_ppm=250_000, limit_cents=2_000_100)
    whole = again("ms-mg01", terms)
    for size in (1, 3):
        assert replace(again("ms-mg01", terms, size=size), series=whole.series) == whole
    under = again("ms-mg01")
    for first in range(link.next_sequence - 9, link.next_sequence):
        head, tail = again("ms-mg01", last=first - 1), again("ms-mg01", first=first)
        assert tail.would["major"].began == head.would["major"].meter
        assert tail.would["major"].meter == under.would["major"].meter
    for each in (link, standing("twin")):
        events = [Recorded(*row) for row in execute(EVENTS, (each.stream_id, 0, each.next_sequence))]
        assert [event.sequence for event in events] == list(range(each.next_sequence)), "each once"
        ended = rows("SELECT ended FROM tables_lock WHERE stream_id = %s AND ended > 0 ORDER BY 1", each.stream_id)
        assert [(event.sequence,) for event in events if event.ends_lock] == ended


def test_a_period_begins_with_the_meters_recorded_before_it(eventful: House) -> None:
    whole = again("ms-mg01")
    middle = standing("ms-mg01").next_sequence // 2
    head, tail = again("ms-mg01", last=middle - 1), again("ms-mg01", first=middle)
    assert tail.would["major"].began == head.would["major"].meter
    assert tail.would["major"].meter == whole.would["major"].meter
    assert head.rounds + tail.rounds == whole.rounds and head.wagers + tail.wagers == whole.wagers


@pytest.mark.parametrize(
    "change",
    [
        {"rate_ppm": 250_000}, {"reserve_ppm": 1}, {"limit_cents": 2_000_100, "overflow_policy": "revenue"},
        {"seed_funding": "house"}, {"floor_policy": "allow"}, {"reset_cents": 1_999_999, "limit_cents": None},
    ],
)  # fmt: skip
def test_under_other_terms_nothing_is_lost_on_either_side(eventful: House, change: dict[str, Any]) -> None:
    sides = again("twin", with_level(standing("twin").terms, "grand", **change))
    assert sides.would["grand"] != sides.was["grand"], "the change makes a difference"
    assert sides.would["minor"] == sides.was["minor"]
    for side in (sides.was, sides.would):
        assert [tally.unexplained_millionths for tally in side.values()] == [0, 0]
    stakes_cents = sides.wagers * 500
    for level in sides.terms.levels:
        assert sides.would[level.code].contributed_millionths == stakes_cents * level.rate_ppm
        assert sides.would[level.code].reserved_millionths == stakes_cents * level.reserve_ppm


def test_a_line_has_a_point_wherever_as_many_events_have_passed_and_around_what_is_taken_in_its_turn(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of few events each has its own, of more every second or third; and the last has one."""
    house.play(*(message(f"R-{number}") for number in range(1, 9)))
    every = again("ms-mg01").series["major"]
    assert [point.sequence for point in every] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert every[0].was_cents < every[1].was_cents < every[-1].was_cents
    raised = with_level(standing("ms-mg01").terms, "major", rate_ppm=300_000)
    assert [point.was_cents for point in again("ms-mg01", raised).series["major"]] == [each.was_cents for each in every]
    monkeypatch.setattr(replaying, "POINTS", 4)
    assert again("ms-mg01").series["major"] == every[1::2]
    house.play(royal("R-9"), message("R-10"))
    hit = again("ms-mg01").series["major"]
    assert [point.sequence for point in hit] == [3, 6, 8, 9, 10]
    assert (hit[2].was_cents, hit[3].was_cents) == (every[-1].was_cents, 1_000_000)


def test_a_higher_rate_by_hand(house: House) -> None:
    """One seat of a dollar, then a royal: the meter before the award by hand, at 17.0003 % and at 20 %."""
    house.play(message("R-1"), royal("R-2"))
    sides = again("ms-mg01", with_level(standing("ms-mg01").terms, "major", rate_ppm=200_000))
    # R-1 brings one wager, R-2 two, before its award: 3 × 17.0003 cents, and 3 × 20.
    assert sides.hits[0].was_cents == 1_000_000 + 3 * 170_003 * 100 // MILLION
    assert sides.hits[0].would_cents == 1_000_060
    assert (sides.was["major"].meter.residual_millionths, sides.would["major"].meter.residual_millionths) == (900, 0)
    assert sides.would["major"].cost_millionths == 60 * MILLION + 3 * 30_007 * 100 + 1_000_000 * MILLION - (
        sides.would["major"].from_reserve_cents * MILLION
    )


def test_a_round_that_would_have_been_held_moves_nothing(house: House) -> None:
    house.play(message("R-1"), message("R-2", seat(1, "3s 7d", progressive=100), seat(2, "3c 7h", progressive=100)))
    sides = again("ms-mg01", with_level(standing("ms-mg01").terms, "major", unreasonable_cents=20))
    assert sides.held == {"unreasonable_contribution": 1} and sides.wagers == 1


def test_what_people_did_is_carried_over_as_it_was(house: House) -> None:
    """A suspension holds what comes meanwhile on both sides, and a table's round in between is not lost."""
    house.play(message("R-1"))
    house.suspend("ms-mg01")
    house.play(message("R-2"))
    assert house.settlement(house.posted[-1])["outcome"] == "held"
    sides = again("ms-mg01")
    assert (sides.rounds, sides.acts) == (1, 1)
    assert sides.would == sides.was and as_replayed(sides) == as_recorded("ms-mg01")


def test_an_adjustment_moves_both_meters_alike(house: House) -> None:
    house.play(message("R-1"))
    house.act("level.adjust", "ms-mg01/major", part="display", cents=-400_000, reason="malfunction")
    house.play(royal("R-2"))
    house.act("level.adjust", "ms-mg01/major", part="display", cents=-999_990, reason="malfunction")
    same = again("ms-mg01")
    assert same.would == same.was and as_replayed(same) == as_recorded("ms-mg01")
    assert same.was["major"].carried["display"] == -1_399_990 * MILLION
    # Had it been hit at a reset of a dollar, there would have been a dollar to take from: the house makes the rest good.
    sides = again("ms-mg01", with_level(standing("ms-mg01").terms, "major", reset_cents=100))
    would = sides.would["major"]
    assert (would.meter.value_cents, would.made_good_cents) == (0, 999_990 - 100)
    assert would.unexplained_millionths == 0


def test_a_released_round_is_decided_as_it_was_released(house: House) -> None:
    house.play(message("R-1"))
    house.suspend("ms-mg01")
    house.play(royal("R-2"))
    house.act("round.release", "MS-101/R-2")
    sides = again("ms-mg01", with_level(standing("ms-mg01").terms, "major", rate_ppm=200_000))
    assert (sides.rounds, sides.acts, sides.wagers, len(sides.hits)) == (2, 1, 3, 1)
    assert sides.hits[0].would_cents == 1_000_060
    same = again("ms-mg01")
    assert same.would == same.was and as_replayed(same) == as_recorded("ms-mg01")


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("change", [{}, {"rate_ppm": 250_000, "limit_cents": 2_000_100}, {"unreasonable_cents": 150}])
def test_however_it_is_divided_the_sides_are_the_same(eventful: House, size: int, change: dict[str, Any]) -> None:
    terms = with_level(standing("twin").terms, "grand", **change)
    whole, cut = again("twin", terms), again("twin", terms, size=size)
    # What is drawn differs by the points at which the record was cut.
    assert replace(cut, series=whole.series) == whole
    for level, line in whole.series.items():
        assert cut.series[level][-1] == line[-1]


def one_by_one(code: str, terms: LinkTerms) -> Alternative:
    """The link's rounds decided one after the other on meters carried from each to the next, and nothing together."""
    link = standing(code)
    house, _ = house_before(Stretch(link.stream_id, link.version, terms, 1, link.next_sequence - 1, 1))
    other = Alternative(house, terms)
    for row in execute(EVENTS, (link.stream_id, 1, link.next_sequence - 1)):
        event = Recorded(*row)
        assert event.raw is not None and event.received_at is not None, "only rounds were played"
        sent = decode(event.raw)
        other.round(Result(sent, dated(sent, event.received_at, house.tables[sent.table]).moment))
    return other


@pytest.mark.parametrize(
    "change",
    [{"rate_ppm": 0}, {"rate_ppm": 0, "reserve_ppm": 0}, {"rate_ppm": 250_000, "limit_cents": 2_000_100},
     {"overflow_policy": "revenue", "seed_funding": "house"}, {"unreasonable_cents": 150}, {"limit_cents": None}],
)  # fmt: skip
def test_rounds_taken_together_come_to_what_each_comes_to_by_itself(eventful: House, change: dict[str, Any]) -> None:
    terms = with_level(standing("twin").terms, "grand", **change)
    sides, other = again("twin", terms), one_by_one("twin", terms)
    assert (sides.would, sides.held, sides.wagers) == (other.levels, other.held, other.wagers)


def test_two_processes_come_to_what_one_does(busy_house: House) -> None:
    busy_house.play(message("R-1"), two_hits("R-2"), message("R-3"), royal("R-4"), message("R-5"))
    link = standing("ms-mg01")
    terms = with_level(link.terms, "major", rate_ppm=300_000)
    last = link.next_sequence - 1
    one, two = (replay(link, terms, 1, last, processes=count, size=2) for count in (1, 2))
    assert one == two and one.rounds == 5


@pytest.mark.parametrize(
    ("kind", "said"),
    [("lock", "has no message"), ("link.suspend", r"\(link.suspend\) is neither a message's nor an act of people")],
)
def test_what_cannot_be_decided_is_named(kind: str, said: str, house: House) -> None:
    house.play(message("R-1"), message("R-2"))
    run("ALTER TABLE accounting_event DISABLE TRIGGER USER")
    sequence = standing("ms-mg01").next_sequence - 1
    run(
        "UPDATE accounting_event SET kind = %s WHERE stream_id = %s AND sequence = %s",
        kind, House.stream("ms-mg01"), sequence,
    )  # fmt: skip
    with pytest.raises(NotReplayable, match=f"event {sequence} {said}"):
        again("ms-mg01")


def foreseen(tmp_path: Path, said: str, *words: str, link: str = "ms-mg01") -> str:
    """What `manage.py foresee` prints for a file of terms."""
    file, out = tmp_path / "terms.toml", StringIO()
    file.write_text(said, "utf-8")
    call_command("foresee", link, str(file), *words, stdout=out)
    return out.getvalue()


RAISED = '[[levels]]\ncode = "major"\nrate_ppm = 200000\n'
NEW = """
paytable = "ms-mg-02"
[initial]
major = 7500000
[[levels]]
code = "major"
reset_cents = 5000000
rate_ppm = 200000
"""


def cells(said: str, label: str) -> list[str]:
    """A line of a printed table, by its label: the words after it."""
    (line,) = [line for line in said.splitlines() if line.startswith(label)]
    return line.removeprefix(label).split()


EXACTLY = {
    "A wager hits the level": "1 in 64,974 1 in 64,974 exact",
    "Hits a month": "3.08 1 to 6 3.08 1 to 6 exact",
    "Wagers to the next hit": "64,974 3,333 to 194,644 64,974 3,333 to 194,644 exact",
    "Meter at the next hit": "$21,045.78 $10,566.62 to $43,090.06 $22,994.80 $10,666.60 to $48,928.80 exact",
    "Contributed a month": "$34,000.60 $40,000.00 exact",
    "Put aside to the reserve a month": "$6,001.40 $6,001.40 exact",
    "Resets from the house a month in the long run": "– –",
    "Return at the reset": "55.981 % at $10,000.00 55.981 % at $10,000.00 exact",
    "Return as it stands": "55.981 % at $10,000.00 55.981 % at $10,000.00 exact",
    "Return where it breaks even": "100.000 % at $160,530.53 100.000 % at $160,530.53 exact",
    "Return at the limit": "199.269 % at $500,000.00 199.269 % at $500,000.00 exact",
    "Fixed pays of the wager a month": "$106,113.83 $106,113.83 exact",
    "Envy a month for each other bettor at the table": "$1,138.92 $1,138.92 exact",
}
"""Today's terms and a rate of 20 %, where nothing is simulated."""


def test_the_command_prints_both_sides(eventful: House, tmp_path: Path) -> None:
    said = foreseen(tmp_path, RAISED, "--wagers", "200000")
    assert {label: " ".join(cells(said, label)) for label in EXACTLY} == EXACTLY
    sides = again("ms-mg01", with_level(standing("ms-mg01").terms, "major", rate_ppm=200_000))
    assert report.told(sides) in said
    paid = [report.dollars(side["major"].paid_cents * MILLION) for side in (sides.was, sides.would)]
    assert cells(said, "Paid from the meter  ")[:2] == paid
    assert "replayed" not in foreseen(tmp_path, RAISED, "--wagers", "200000", "--no-replay")
    said = foreseen(tmp_path, RAISED, "--wagers", "9", "--from", "2027-01-01T00:00:00Z")
    assert said.endswith("\nno rounds on record in this period\n"), "and nothing is replayed"


def test_the_command_foresees_a_link_that_is_not_there_yet(house: House, tmp_path: Path) -> None:
    said = foreseen(tmp_path, NEW, "--wagers", "100000", link="high-tide")
    assert "100,000 wagers a month of $5.00" in said and "replayed" not in said
    assert cells(said, "Return as it stands")[2:4] == ["at", "$75,000.00"]


@pytest.mark.parametrize(
    ("said", "link", "words", "refusal"),
    [
        ('levels = [{code = "minor", rate_ppm = 1}]', "ms-mg01", [], "code of level minor: there is no level minor"),
        ('levels = [{code = "major", rate_ppm = 1000001}]', "ms-mg01", [], "rate_ppm of level major: rate_ppm cannot be"),
        ('levels = [{code = "major", rate_ppm = 999999}]', "ms-mg01", [], "rate_ppm of level major: rate_ppm and reserve_ppm"),
        ('levels = [{code = "major", limit_cents = 1}]', "ms-mg01", [], "limit_cents of level major: below reset_cents"),
        ('levels = [{code = "major", rate = 1}]', "ms-mg01", [], "rate of level major: a level has no rate"),
        ("levels = 7", "ms-mg01", [], "levels: Levels: a list of levels is expected"),
        ("colour = 7", "ms-mg01", [], "colour: unknown key"),
        ("levels = [", "ms-mg01", [], "neither TOML nor JSON"),
        (RAISED, "new", [], "paytable: missing; there is no link new on record"),
        (NEW, "ms-mg01", [], "paytable: link ms-mg01 has ms-mg-01, which never changes"),
        (NEW.replace("200000", "2000000"), "new", [], "levels[0].rate_ppm: 1000000 at most"),
        (NEW.replace("major = 75", "minor = 75"), "new", [], "initial.minor: there is no level minor"),
        (NEW, "new", [], "--wagers: how many"),
        (RAISED, "ms-mg01", ["--wagers", "0"], "wagers a month: from 1"),
        (RAISED, "ms-mg01", ["--wagers", "5", "--from", "yesterday"], "--from: a moment like"),
    ],
)  # fmt: skip
def test_terms_that_cannot_stand_are_refused_by_field_and_rule(
    house: House, tmp_path: Path, said: str, link: str, words: list[str], refusal: str
) -> None:
    with pytest.raises(CommandError) as refused:
        foreseen(tmp_path, said, *words, link=link)
    assert refusal in str(refused.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [('{"levels": []}', {"levels": []}), (' \n{"link": 7}', {"link": 7}), ("levels = []", {"levels": []}), ("", {})],
)
def test_a_file_that_begins_with_a_brace_is_json_and_every_other_toml(text: str, found: dict[str, Any]) -> None:
    assert proposed.read_file(text) == found


def test_a_new_link_opens_with_what_is_named_or_its_resets(house: House) -> None:
    level = {"code": "major", "reset_cents": 50_000, "rate_ppm": 100_000}
    said: dict[str, Any] = {"paytable": "ms-mg-02", "levels": [level]}
    opened: list[tuple[dict[str, int], int]] = [({}, 50_000), ({"major": 0}, 0), ({"major": 70_000}, 70_000)]
    for begun, cents in opened:
        _, meters = proposed.of_file(said | {"initial": begun}, "new", None)
        assert {code: meter.value_cents for code, meter in meters.items()} == {"major": cents}
    refusals: list[tuple[Any, str]] = [
        ({"major": -1}, "/initial/major"), ({"major": True}, "/initial/major"), ([], "/initial"),
    ]  # fmt: skip
    for initial, pointer in refusals:
        with pytest.raises(ProposedRefused) as refused:
            proposed.of_file(said | {"initial": initial}, "new", None)
        assert refused.value.pointer == pointer


def test_a_period_of_one_round_is_replayed(house: House, tmp_path: Path) -> None:
    house.play(message("R-1"))
    assert "no rounds on record" not in foreseen(tmp_path, RAISED, "--wagers", "9")
    assert (again("ms-mg01").rounds, again("ms-mg01").wagers) == (1, 1)


def test_a_limit_below_what_a_level_shows_is_refused(house: House) -> None:
    at_it = proposed.changed_levels(standing("ms-mg01"), [{"code": "major", "limit_cents": 1_000_000}])
    assert at_it.level["major"].limit_cents == 1_000_000, "it shows just that"
    house.play(message("R-1"), message("R-2"), message("R-3"))
    with pytest.raises(ProposedRefused, match="limit_cents of level major: the level shows more"):
        proposed.changed_levels(standing("ms-mg01"), [{"code": "major", "limit_cents": 1_000_000}])
