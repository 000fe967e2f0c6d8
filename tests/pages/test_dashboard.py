"""The dashboard: every figure of its tables worked out again from the settlements alone, and what is drawn is what is listed."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest

from accounting.book_queries import balances_by_day
from accounting.rules.roles import CONTROLLER
from devices.views import dashboard
from jackpot.drawing import Line, draw
from tables.queries import statistics
from tables.queries.payouts import won_by_day
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import RECEIVED, TWIN, House, message, rows, royal, two_hits, value

DAYS = [date(2026, 11, day) for day in (24, 25, 26, 27)]
PAGE = "/accounting/dashboard/?from=2026-11-24&to=2026-11-27"


@pytest.fixture(autouse=True)
def _the_morning_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the next gaming day: pages read this clock."""
    monkeypatch.setattr("django.utils.timezone.now", lambda: RECEIVED + timedelta(hours=12))


@pytest.fixture
def played(house: House) -> House:
    """Rounds and hits on three of four gaming days, one of them late in the night; on both links."""

    def at(day: int, hour: int = 20) -> str:
        return f"2026-11-{day}T{hour:02d}:00:00-05:00"

    house.play(
        message("R-1", dealt_at=at(24)), two_hits("R-2", dealt_at=at(24)), royal("R-3", dealt_at=at(24, 21)),
        royal("T-1", table=TWIN, dealt_at=at(25)), two_hits("R-4", dealt_at=at(26)), message("R-5", dealt_at=at(26, 21)),
        royal("T-2", table=TWIN, dealt_at=at(27, 3)), message("R-6", dealt_at=at(27)),
    )  # fmt: skip
    return house


def settled() -> list[tuple[date, str, dict[str, object]]]:
    """Every settlement with its gaming day and stream, in the order of events."""
    found = rows(
        "SELECT round.gaming_date, stream.code, round.settlement FROM tables_round round"
        " JOIN accounting_stream stream ON stream.id = round.stream_id ORDER BY round.stream_id, round.sequence"
    )
    return [(day, stream, msgspec.json.decode(bytes(settlement))) for day, stream, settlement in found]


def test_liabilities_are_what_the_rounds_left_on_the_meters(played: House) -> None:
    """A stream's meters after its last round of a day; here rounds are booked in the order of their days."""
    found = balances_by_day("liability", DAYS[0], DAYS[-1])
    for owner, days in found.items():
        link, _, level = owner.rpartition("/")
        assert [day for day, _ in days] == [DAYS[0] - timedelta(days=1), *DAYS]
        for day, cents in days:
            after = [
                meter["after_cents"]
                for booked, stream, settlement in settled()
                if stream == link and booked <= day
                for meter in settlement["meters"]  # type: ignore[attr-defined]
                if meter["level"] == level
            ]
            if after:
                assert cents == after[-1], (owner, day)
    assert set(found) == {"ms-mg01/major", "twin/grand", "twin/minor"}


def test_hits_of_each_day_are_those_of_the_settlements(played: House) -> None:
    expected: Counter[date] = Counter()
    paid: Counter[date] = Counter()
    for day, _, settlement in settled():
        for award in settlement["awards"]:  # type: ignore[attr-defined]
            expected[day] += 1
            paid[day] += award["paid_cents"]
    found, cents = Counter[date](), Counter[date]()
    for won in won_by_day(DAYS[0], DAYS[-1]):
        found[won.day] += won.hits
        cents[won.day] += won.cents
    assert (found, cents) == (expected, paid)
    assert len(found) == 3 and date(2026, 11, 27) not in found, "three in the morning is the day before's"
    assert sum(won.hits for won in won_by_day(DAYS[1], DAYS[1])) == expected[DAYS[1]]


def test_what_is_drawn_is_what_is_listed(played: House, signed_in: SignedIn) -> None:
    page = signed_in(CONTROLLER).get(PAGE)
    body, shown = page.content.decode(), re.sub(r"\s+", " ", text_of(page))
    hits = Counter(day for day, _, settlement in settled() for _ in settlement["awards"])  # type: ignore[attr-defined]
    for day in DAYS:
        (said,) = re.findall(rf"<title>{day:%a} {day.day} Nov 2026: (.*?)</title>", body)
        assert said.startswith(f"{hits[day]} hit" if hits[day] else "none")
    total = sum(hits.values())
    assert f"{total} hits on 3 of 4 gaming days" in shown
    liability = balances_by_day("liability", DAYS[0], DAYS[-1])
    ends = sum(days[-1][1] for days in liability.values())
    assert f"and ${ends // 100:,}.{ends % 100:02d} at the end of Fri 27 Nov 2026" in shown
    assert body.count('class="line ') == 2, "a line a link"
    # Each at the end of its day, six in the morning of the next.
    ends_at = [datetime.fromisoformat(f"2026-11-{day}T06:00:00-05:00").timestamp() for day in range(24, 29)]
    lines = [
        Line(link, look, [
            (at, sum(days[place][1] for owner, days in liability.items() if owner.startswith(f"{link}/")))
            for place, at in enumerate(ends_at)
        ])
        for link, look in (("ms-mg01", "first"), ("twin", "second"))
    ]  # fmt: skip
    drawn = draw(lines, (), ZoneInfo("America/New_York"), "")
    found = page.context["liability"].drawing
    assert drawn is not None and (found.lines, found.times) == (drawn.lines, drawn.times)


def test_days_that_cannot_be_drawn_are_refused(
    house: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(CONTROLLER)
    monkeypatch.setattr(dashboard, "MOST_DAYS", 4)
    assert client.get(PAGE).status_code == 200, "just so many"
    assert client.get(PAGE.replace("11-24", "11-23")).status_code == 400
    assert client.get(PAGE.replace("11-24", "11-27")).status_code == 200, "one day"
    monkeypatch.undo()
    monkeypatch.setattr("django.utils.timezone.now", lambda: RECEIVED + timedelta(hours=12))
    assert client.get("/accounting/dashboard/").status_code == 200
    for query in ("from=2026-11-27&to=2026-11-26", "from=2020-01-01", "from=yesterday", "day=2026-11-27"):
        assert client.get(f"/accounting/dashboard/?{query}").status_code == 400, query


def test_holds_are_those_of_the_settlements_and_their_bands_those_of_the_odds(
    played: House, signed_in: SignedIn
) -> None:
    """Handle and hold from the lines alone; of the base wager, whose edge is published, theory by hand as well."""
    page = signed_in(CONTROLLER).get(PAGE)
    staked, paid = Counter[str](), Counter[str]()
    for _, _, settlement in settled():
        for seat in settlement["seats"]:  # type: ignore[attr-defined]
            for line in seat["lines"]:
                staked[str(settlement["table"])] += line["stake_cents"] * (line["result"] != "void")
                paid[str(settlement["table"])] += line["paid_cents"] * (line["result"] != "void")
    holds = page.context["holds"]
    assert {hold.table: (hold.handle_cents, hold.hold_cents) for hold in holds.rows} == {
        table: (staked[table], staked[table] - paid[table]) for table in staked
    }
    assert len(holds.picture.rows) == len(staked) == 2
    for hold in holds.rows:
        measured = hold.measured()
        assert measured.value_ppm == hold.hold_cents * 1_000_000 // hold.handle_cents
        assert measured.low_ppm < measured.expected_ppm < measured.high_ppm
        reach = 2 * hold.deviation_cents * 1_000_000 // hold.handle_cents
        assert abs((measured.high_ppm - measured.low_ppm) - 2 * reach) <= 4
        assert hold.look == ("inside" if measured.low_ppm <= measured.value_ppm <= measured.high_ppm else "below")
        wagers = [one for one in statistics.over(DAYS[0], DAYS[-1], table=hold.table).wagers if one.wager != "envy"]
        assert hold.theory.win == sum(one.theory.win for one in wagers if one.theory.win is not None)


def test_exceptions_are_counted_by_kind(played: House, signed_in: SignedIn) -> None:
    played.play(message("H-1", community="2c 2c Kd"), message("H-2", community="2c 2c Kd"))
    played.act("round.void", f"{TWIN}/T-2", at=played.now + timedelta(minutes=1))
    page = signed_in(CONTROLLER).get(PAGE)
    found = page.context["exceptions"]
    kinds = {kind: number for kind, number, _ in found.rows}
    held = value("SELECT count(*) FROM tables_hold")
    assert (kinds["round held"], kinds["round voided"]) == (held, 1) == (2, 1)
    assert [(bar.name, bar.figure) for bar in found.picture.bars] == [
        (kind, f"{number:,}") for kind, number, _ in found.rows
    ]
    longest, most = max(bar.length for bar in found.picture.bars), max(kinds.values())
    for bar in found.picture.bars:
        assert bar.length == pytest.approx(longest * kinds[bar.name] / most, abs=0.2)


def test_too_much_is_not_read_for_a_picture(
    played: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, events = signed_in(CONTROLLER), value("SELECT count(*) FROM accounting_event")
    for most in (events, events - 1):
        monkeypatch.setattr(dashboard, "MOST_EVENTS", most)
        page = client.get(PAGE)
        assert page.context["holds"].events == events
        assert ("too many to be read for a picture" in text_of(page)) is (most < events)
