"""Meters on an axis of time: what is drawn is what is on record, and what happened is marked."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from devices.foresight.history import history
from jackpot.drawing import HEIGHT, Line, Mark, amounts, draw, times
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import DEALT, TWIN, House, message, rows, royal, two_hits

LATER = timedelta(hours=2)
PAGE = "/jackpots/ms-mg01/meters/"


@pytest.fixture
def eventful(house: House) -> House:
    """Rounds, two hits, an adjustment and a suspension, an hour apart from more."""
    house.play(message("R-1"), two_hits("R-2"), royal("R-1", table=TWIN))
    house.act("level.adjust", "ms-mg01/major", part="display", cents=-5_000, reason="malfunction")
    house.play(message("R-3"), at=house.now + LATER)
    house.act("link.suspend", "ms-mg01", at=house.now + LATER)
    return house


def test_the_line_is_what_the_meter_showed(eventful: House) -> None:
    found = history("ms-mg01", None, None)
    assert found is not None
    recorded = rows(
        """SELECT sequence, (convert_from(settlement, 'UTF8')::json -> 'meters' -> 0 ->> 'after_cents')::bigint
        FROM tables_round WHERE stream_id = %s ORDER BY sequence""",
        House.stream("ms-mg01"),
    )
    cents = [each for _, each in found.levels["major"]]
    assert cents[0] == 1_000_000 and cents[1] == recorded[0][1] and cents[2] == recorded[1][1]
    assert cents[3] == recorded[1][1] - 5_000
    assert [(one.kind, one.cents) for one in found.happened][2:] == [("adjusted", -5_000), ("suspended", None)]
    assert [one.kind for one in found.happened][:2] == ["hit", "reset"]
    assert [one.what for one in found.happened][2:] == ["Adjust a level: malfunction", "Suspend a link"]


def test_a_period_begins_with_what_it_began_with(eventful: House) -> None:
    since = DEALT + timedelta(hours=1)
    found = history("ms-mg01", since, None)
    assert found is not None
    whole = history("ms-mg01", None, None)
    assert whole is not None
    assert found.levels["major"][0] == (since.timestamp(), whole.levels["major"][3][1])
    assert [one.kind for one in found.happened] == ["suspended"] and found.events == 2
    again = eventful.now + LATER + timedelta(minutes=1)
    eventful.act("link.resume", "ms-mg01", at=again)
    for since, until, kinds in ((again, None, ["resumed"]), (DEALT + timedelta(hours=1), again, ["suspended"])):
        between = history("ms-mg01", since, until)
        assert between is not None and [one.kind for one in between.happened] == kinds
    nothing = history("ms-mg01", DEALT - timedelta(days=900), DEALT - timedelta(days=800))
    assert nothing is not None and (nothing.events, nothing.happened) == (0, [])
    assert history("nowhere", None, None) is None


def test_of_many_hits_the_last_are_drawn_and_the_rest_counted(eventful: House, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = history("ms-mg01", None, None)
    monkeypatch.setattr("devices.foresight.history.MOST_HITS", 1)
    found = history("ms-mg01", None, None)
    assert whole is not None and found is not None
    assert (whole.further_hits, found.further_hits, len(whole.happened) - len(found.happened)) == (0, 1, 1)


def test_the_page_says_what_it_draws(eventful: House, signed_in: SignedIn) -> None:
    client = signed_in()
    answer = client.get(PAGE)
    said, body = text_of(answer), answer.content.decode()
    assert "Level major: from $10,000.00 to" in said and "2 hits and 2 other marks" in said
    for mark in ("mark hit", "mark reset", "mark adjusted", "mark suspended"):
        assert f'class="{mark}"' in body
    assert "royal flush at table MS-101, seat 2" in said
    assert client.get("/jackpots/ms-mg01/").content.decode().count(PAGE) == 1
    both = client.get(PAGE + "?with=twin")
    assert "twin grand" in text_of(both) and 'class="line second"' in both.content.decode()
    later = text_of(client.get(PAGE + "?from=2026-11-28T03:00:00Z"))
    assert "0 hits and 1 other marks" in later
    day = text_of(client.get(PAGE + "?from=2026-11-27&to=2026-11-27"))
    assert "2 hits and 2 other marks" in day, "the gaming day that the deals belong to"
    assert "Nothing is on record in this period" in text_of(client.get(PAGE + "?from=2020-01-01&to=2020-01-02"))


def test_another_link_that_closes_brings_money_and_suspends_nothing(house: House) -> None:
    """What is left of it goes to a level of this link: a closing there, an adjustment here."""
    house.play(message("R-1"), message("R-1", table=TWIN))
    house.act("link.suspend", "twin", at=house.now + LATER)
    levels = [
        each
        for (each,) in rows(
            "SELECT code FROM jackpot_level WHERE link_id = (SELECT id FROM jackpot_link WHERE code = 'twin')"
        )
    ]
    parts = [
        {"level": level, "part": part, "to": "ms-mg01/major"}
        for level in levels
        for part in ("display", "reserve", "overflow")
    ]
    house.act("link.close", "twin", at=house.now + LATER, disposition=parts)
    found = history("ms-mg01", None, None)
    assert found is not None
    assert {(one.kind, one.what) for one in found.happened} == {("adjusted", "Close a link: twin")}


def test_zooming_moves_both_ends(eventful: House, signed_in: SignedIn) -> None:
    client = signed_in()
    body = client.get(PAGE + "?from=2026-11-28T02:00:00Z&to=2026-11-28T06:00:00Z&with=twin").content.decode()
    # Four hours from 21:00 in Boston: their middle half, twice their length, half of it earlier.
    for first, last in (("22:00", "28T00:00"), ("19:00", "28T03:00"), ("19:00", "27T23:00")):
        wanted = f"?from=2026-11-27T{first}:00-05:00&to=2026-11-{last}:00-05:00&with=twin"
        assert wanted.replace(":", "%3A").replace("&", "&amp;") in body
    for onward in ("?from=1970-01-02&to=2099-12-31", "?from=2026-11-27&to=2026-11-27"):
        assert client.get(PAGE + onward).status_code == 200


@pytest.mark.parametrize("query", ["from=yesterday", "with=nowhere", "from=2026-11-28&to=2026-11-27", "colour=red"])
def test_what_cannot_be_shown_is_refused(eventful: House, signed_in: SignedIn, query: str) -> None:
    assert signed_in().get(f"{PAGE}?{query}").status_code == 400


def test_a_period_of_moments_ends_after_it_begins(signed_in: SignedIn) -> None:
    client, begins = signed_in(), "2026-11-28T03:00:00Z"
    assert client.get(f"{PAGE}?from={begins}&to={begins}").status_code == 400
    assert client.get(f"{PAGE}?from={begins}&to=2026-11-28T03:00:01Z").status_code == 200


def test_a_link_that_is_not_there(signed_in: SignedIn) -> None:
    assert signed_in().get("/jackpots/nowhere/meters/").status_code == 404


BOSTON = ZoneInfo("America/New_York")


def test_a_drawing_by_hand() -> None:
    drawing = draw(
        [Line("one", "first", [(0, 1_000), (50, 2_000), (100, 1_500)])], [Mark(50, "hit", "w"), Mark(101, "hit", "out")],
        UTC_ZONE, "said", (0, 100),
    )  # fmt: skip
    assert drawing is not None
    # 1,000 to 2,000 cents with a twentieth of room at either end; from 88 to 1,028 across, 232 up to 26.
    assert drawing.lines[0].path == "M88.0 222.6H558.0V35.4H1028.0V129.0"
    assert [(mark.x, mark.letter) for mark in drawing.marks] == [(558.0, "H")]
    assert drawing.kinds == (("hit", "H"),) and drawing.bottom == HEIGHT - 28
    assert draw([Line("none", "first", [])], [], UTC_ZONE, "") is None


UTC_ZONE = ZoneInfo("UTC")


def test_ticks_of_time_are_on_the_clock_of_the_house() -> None:
    first = datetime(2026, 10, 30, 15, 0, tzinfo=UTC).timestamp()
    found = times(first, first + 5 * 86_400, BOSTON)
    # The clocks change on the first of November: midnight is midnight on either side.
    assert [label for _, label in found] == ["Oct 31", "Nov 1", "Nov 2", "Nov 3", "Nov 4"]
    assert {datetime.fromtimestamp(at, BOSTON).time() for at, _ in found} == {time()}
    midnight, next_midnight = found[0][0], found[1][0]
    assert times(midnight, next_midnight, BOSTON)[0] == (midnight, "Oct 31 00:00"), "a tick at either end"
    assert times(midnight, next_midnight, BOSTON)[-1] == (next_midnight, "Nov 1 00:00")
    assert [label for _, label in times(first, first + 40, BOSTON)][:2] == ["11:00:00", "11:00:05"]


MINUTE, HOUR, DAY = 60, 3_600, 86_400


@pytest.mark.parametrize(
    "step",
    [
        1, 5, 15, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
        DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 91 * DAY, 365 * DAY,
    ],
)  # fmt: skip
def test_ticks_of_time_are_as_close_as_nine_steps_allow(step: int) -> None:
    first = datetime(2026, 3, 2, tzinfo=UTC).timestamp()
    assert [at - first for at, _ in times(first, first + 9 * step, UTC_ZONE)] == [step * n for n in range(10)]


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 99), (1_000_000, 1_000_060), (0, 10**12), (5, 10**9)])
def test_ticks_of_money_are_few_and_round(low: int, high: int) -> None:
    found = amounts(low, high)
    assert 1 <= len(found) <= 7 and all(low <= cents <= high for cents, _ in found)


@pytest.mark.parametrize(
    ("high", "labels"),
    [
        (6, ["$0.00", "$0.01", "$0.02", "$0.03", "$0.04", "$0.05", "$0.06"]),
        (120, ["$0.00", "$0.20", "$0.40", "$0.60", "$0.80", "$1.00", "$1.20"]),
        (121, ["$0.00", "$0.50", "$1.00"]),
        (600, ["$0", "$1", "$2", "$3", "$4", "$5", "$6"]),
        (601, ["$0", "$2", "$4", "$6"]),
    ],
)
def test_a_scale_is_marked_as_finely_as_six_steps_allow(high: int, labels: list[str]) -> None:
    assert [label for _, label in amounts(0, high)] == labels


def test_a_line_is_drawn_where_it_lies_in_the_span_that_was_asked_for() -> None:
    drawing = draw(
        [Line("one", "first", [(25, 1_000), (75, 2_000)])], [Mark(0, "hit", "w")], UTC_ZONE, "said", (0, 100)
    )
    assert drawing is not None
    assert drawing.lines[0].path == "M323.0 222.6H793.0V35.4"
    assert [mark.x for mark in drawing.marks] == [88.0], "at its very beginning"


def test_a_line_of_its_own_scale_fills_the_drawing_too() -> None:
    lines = [
        Line("one", "first", [(0, 1_000), (100, 2_000)]),
        Line("two", "second", [(0, 100_000_000), (100, 100_001_000)], own_scale=True),
    ]
    drawing = draw(lines, [], UTC_ZONE, "said")
    assert drawing is not None and drawing.right == 952
    # Two wholly different sums run from the bottom to the top alike; each has its amounts.
    assert drawing.lines[0].path == drawing.lines[1].path == "M88.0 222.6H952.0V35.4"
    assert drawing.amounts[0].label == "$10" and drawing.own_amounts[0].label == "$1,000,000"


def test_no_label_under_a_drawing_ends_beyond_it() -> None:
    day = 86_400
    midnight = datetime(2026, 11, 1, tzinfo=UTC).timestamp()
    drawn = draw([Line("major", "first", [(midnight, 0), (midnight + 28 * day, 5_000)])], [], UTC_ZONE, "a month")
    assert drawn is not None
    *others, last = drawn.times
    assert last.place + 20 > drawn.width and last.anchor == "end"
    assert {tick.anchor for tick in others} == {"middle"}


def test_a_line_runs_from_end_to_end_whenever_it_began() -> None:
    began = datetime(2026, 11, 1, tzinfo=UTC).timestamp()
    drawing = draw(
        [Line("one", "first", [(began, 1_000), (began + 50, 1_500), (began + 100, 2_000)])], [], UTC_ZONE, "said"
    )
    assert drawing is not None
    assert drawing.lines[0].path == f"M88.0 222.6H{(88 + drawing.right) / 2}V129.0H{drawing.right}.0V35.4"
