"""The weekly review: a week beside those before it, its sheet made once and signed, what is overdue (REQUIREMENTS R93)."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest
import time_machine
from django.core.cache import cache

from accounting.office import registry
from accounting.office.refusals import NotYours
from accounting.office.rules.person import Person
from accounting.office.services import proposals
from accounting.office.services.jobs import Report as Progress
from accounting.queries import the_property
from accounting.reporting import making
from accounting.rules.acts import ActRefused
from accounting.rules.roles import ACCOUNTING, CAGE, CONTROLLER
from devices import exceptions
from devices.audit.findings import Difference
from devices.audit.weeks import compare_weeks
from tables import jobs, reports
from tables.odds.thresholds import Thresholds
from tables.queries import statistics, weeks
from tables.queries.days import tables_on
from tables.services import weeks as sheets
from tests.services.house import LINKED, RECEIVED, TWIN, House, message, rows, royal, run, two_hits
from tests.services.tampering_of_weeks import TAMPERING_OF_WEEKS

WEEK = date(2026, 11, 23)
OVER = RECEIVED + timedelta(days=5)
"""Wednesday of the week after."""
NAME = "2026-W48"


@pytest.fixture(autouse=True)
def _of_few_wagers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One deviation is enough, of a single wager: no test plays a thousand."""
    cache.clear()
    for place in ("tables.queries.weeks", "tables.services.weeks", "tables.reports"):
        monkeypatch.setattr(f"{place}.thresholds_in", lambda jurisdiction, on: Thresholds(100, 40_000, 1, 4, 7))


@pytest.fixture
def played(house: House) -> House:
    """Two weeks: of the first plain rounds at two tables, of the second a royal at one of them."""

    def at(day: int) -> str:
        return f"2026-11-{day}T20:00:00-05:00"

    house.play(
        *(message(f"R-{day}", dealt_at=at(day)) for day in (16, 18, 21)), message("T-1", table=TWIN, dealt_at=at(17)),
        message("R-23", dealt_at=at(23)), royal("R-24", dealt_at=at(24)), two_hits("R-26", dealt_at=at(26)),
        message("R-27", dealt_at=at(27)),
    )  # fmt: skip
    return house


def closed(house: House) -> House:
    """The same with every day of both weeks closed."""
    house.close_day("2026-11-29", at=OVER)
    return house


def by_settlements(first: date, last: date) -> tuple[Counter[str], Counter[str]]:
    """Handle and hold by table as the settlements say, envy aside."""
    handle: Counter[str] = Counter()
    hold: Counter[str] = Counter()
    for (settlement,) in rows("SELECT settlement FROM tables_round WHERE gaming_date BETWEEN %s AND %s", first, last):
        said = json.loads(bytes(settlement))
        for seat in said["seats"]:
            for line in seat["lines"]:
                handle[said["table"]] += line["stake_cents"]
                hold[said["table"]] += line["stake_cents"] - line["paid_cents"]
    return handle, hold


def test_a_week_stands_beside_the_weeks_before_it(played: House) -> None:
    found = {line.table: line for line in weeks.lines(WEEK)}
    assert set(found) == {LINKED, TWIN}
    handle, hold = by_settlements(WEEK, date(2026, 11, 29))
    usual_handle, usual_hold = by_settlements(date(2026, 10, 26), date(2026, 11, 22))
    line = found[LINKED]
    assert (line.rounds, line.handle_cents, line.hold_cents) == (4, handle[LINKED], hold[LINKED])
    theory = {each.table: each.theory for each in statistics.by_table(statistics.over(WEEK, date(2026, 11, 29)))}
    before = {
        each.table: each.theory for each in statistics.by_table(statistics.over(date(2026, 10, 26), date(2026, 11, 22)))
    }
    times = Fraction(handle[LINKED], usual_handle[LINKED])
    win, variance = theory[LINKED]
    assert win is not None and variance is not None
    win_then, variance_then = before[LINKED]
    assert win_then is not None and variance_then is not None
    off = (hold[LINKED] - win) - (usual_hold[LINKED] - win_then) * times
    assert line.off_theory == hold[LINKED] - round(win) < 0, "royals fell"
    assert line.off_usual == round(off)
    assert float(line.theory_deviations or 0) == pytest.approx(
        float(hold[LINKED] - win) / float(variance) ** 0.5, abs=0.006
    )
    both = float(variance + variance_then * times**2)
    assert float(line.usual_deviations or 0) == pytest.approx(float(off) / both**0.5, abs=0.006)
    assert line.unusual == "below theory, below the weeks before"
    days = [each for day in range(16, 23) for each in tables_on(date(2026, 11, day)) if each.table == LINKED]
    assert line.before_cents == sum(each.win_cents for each in days) != 0
    assert found[TWIN].unusual == "did not play, and did in the weeks before"


def test_what_is_marked_is_what_lies_past_the_threshold(played: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def marks(hundredths: int) -> str:
        cache.clear()
        monkeypatch.setattr(weeks, "thresholds_in", lambda jurisdiction, on: Thresholds(hundredths, 40_000, 1, 4, 7))
        (line,) = [each for each in weeks.lines(WEEK) if each.table == LINKED]
        return line.unusual or ""

    (line,) = [each for each in weeks.lines(WEEK) if each.table == LINKED]
    for deviations, mark in (
        (line.theory_deviations, "below theory"),
        (line.usual_deviations, "below the weeks before"),
    ):
        assert deviations is not None
        at = round(abs(float(deviations)) * 100)
        assert mark in marks(at - 1) and mark not in marks(at + 1), mark


def test_a_week_is_compared_with_others_of_as_many_wagers_as_are_enough(
    played: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fewer of the two count; of a table that did not play, those that it had before."""

    def marks(least: int) -> dict[str, bool]:
        cache.clear()
        monkeypatch.setattr(weeks, "thresholds_in", lambda jurisdiction, on: Thresholds(1, 1, least, 4, 7))
        found = {line.table: line.unusual or "" for line in weeks.lines(WEEK)}
        return {LINKED: "the weeks before" in found[LINKED], TWIN: "did not play" in found[TWIN]}

    now, before = (
        {each.table: each.wagers for each in statistics.by_table(statistics.over(first, last))}
        for first, last in ((WEEK, date(2026, 11, 29)), (date(2026, 10, 26), date(2026, 11, 22)))
    )
    fewer = min(now[LINKED], before[LINKED])
    for table, enough in ((LINKED, fewer), (TWIN, before[TWIN])):
        assert (marks(enough)[table], marks(enough + 1)[table]) == (True, False), table


def test_what_was_held_more_is_marked_as_above(played: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weeks, "thresholds_in", lambda jurisdiction, on: Thresholds(1, 1, 1, 4, 7))
    played.play(message("R-30", dealt_at="2026-11-30T20:00:00-05:00"), at=OVER)

    def mark(first: date) -> str | None:
        return next(line.unusual for line in weeks.lines(first) if line.table == LINKED)

    assert mark(WEEK - timedelta(days=7)) == "above theory", "no week was before it"
    assert mark(WEEK + timedelta(days=7)) == "above theory, above the weeks before", "royals fell in the week before it"


def test_a_sheet_is_made_once_every_day_is_closed_and_stays_as_it_is(played: House) -> None:
    with pytest.raises(ActRefused, match="not closed"):
        sheets.make(WEEK, at=OVER, by="ann")
    closed(played)
    sheet = sheets.make(WEEK, at=OVER, by="ann")
    shown = list(weeks.lines(WEEK))
    assert list(weeks.kept_lines(sheet)) == shown
    played.act("round.void", f"{LINKED}/R-27", at=OVER)  # booked on a later day; statistics leave the round out
    cache.clear()
    assert list(weeks.lines(WEEK)) != shown, "the test would prove nothing"
    again = sheets.make(WEEK, at=OVER + timedelta(days=1), by="bob")
    assert (again.by, bytes(again.digest)) == ("ann", bytes(sheet.digest))
    asked = making.asked(reports.WEEKLY, [("week", [NAME])], at=OVER)
    assert (asked.first, asked.last) == (WEEK, date(2026, 11, 29))
    made = making.made(reports.WEEKLY, asked, by="ann")
    assert list(made.rows()) == [tuple(line) for line in shown]
    assert all(verdict.is_even for verdict in made.totals.verdicts())
    assert any(bytes(sheet.digest).hex() in remark for remark in made.remarks)
    assert made.heading.period == "week 2026-W48, gaming days 2026-11-23 to 2026-11-29"


def test_the_job_makes_what_is_due(played: House) -> None:
    closed(played)
    with time_machine.travel(OVER, tick=False):
        said = jobs.make_sheets(Progress())
        assert said["summary"] == "sheets made: " + ", ".join(week.name for week in weeks.weeks(OVER)[::-1])
        assert all(week.sheet for week in weeks.weeks(OVER))
        assert [name for name, _ in weeks.all_sheets()] == [week.name for week in weeks.weeks(OVER)[::-1]]
        assert jobs.make_sheets(Progress())["summary"].startswith("no week waits")


def body(**changes: object) -> dict[str, object]:
    """A sign-off as it is asked for."""
    return {"act": "week.review", "subject": NAME, "payload": {}, "reason": "two royals at MS-101, verified"} | changes


def test_a_week_is_signed_by_its_people_once_each_with_what_was_found(played: House) -> None:
    closed(played)
    ann, carl, cage = (
        Person(name, frozenset({role})) for name, role in (("ann", ACCOUNTING), ("carl", CONTROLLER), ("cy", CAGE))
    )
    with pytest.raises(ActRefused, match="there is no week"):
        proposals.propose(body(), by=ann, at=OVER)
    with pytest.raises(ActRefused, match="the sheet of week 2026-W48 is not made yet") as unmade:
        sheets.sign_off(WEEK, "two royals", at=OVER, by="ann")
    assert unmade.value.code == "unknown_subject"
    sheet = sheets.make(WEEK, at=OVER, by="the service")
    with pytest.raises(NotYours):
        proposals.propose(body(), by=cage, at=OVER)
    with pytest.raises(ActRefused, match="eason"):
        proposals.propose(body(reason=" "), by=ann, at=OVER)
    with time_machine.travel(OVER, tick=False):
        assert list(registry.subjects()["week"]()) == [NAME], "what a form offers: sheets that nobody has signed"
    for person in (ann, carl):
        proposals.propose(body(), by=person, at=OVER)
        with pytest.raises(ActRefused, match="already") as refusal:
            proposals.propose(body(), by=person, at=OVER)
        assert refusal.value.code == "already_signed"
    signed = [(review.by, review.at, review.note) for review in weeks.reviews_of(WEEK)]
    assert signed == [(name, OVER, "two royals at MS-101, verified") for name in ("ann", "carl")]
    made = making.made(reports.WEEKLY, making.asked(reports.WEEKLY, [("week", [NAME])], at=OVER), by="ann")
    assert sum(remark.startswith("Signed off by ") for remark in made.remarks) == 2
    compare_weeks()
    assert sheet.first == WEEK
    with time_machine.travel(OVER, tick=False):
        assert list(registry.subjects()["week"]()) == []


def test_what_nobody_signed_in_its_days_is_due_and_then_an_exception(played: House) -> None:
    closed(played)

    def week(at: datetime) -> weeks.Week:
        return next(each for each in weeks.weeks(at) if each.first == WEEK)

    def excepted(at: datetime) -> list[tuple[str, str]]:
        found = exceptions.between(date(2026, 12, 7), date(2026, 12, 7), only=exceptions.UNREVIEWED, at=at)
        return [(each.about, each.detail) for each in found]

    overdue = date(2026, 12, 7)
    assert not [each for each in weeks.weeks(RECEIVED) if each.first == WEEK], "it is not over"
    assert week(OVER).overdue_from == overdue
    assert not week(OVER).is_overdue(date(2026, 12, 6)) and week(OVER).is_overdue(overdue)
    late = datetime.fromisoformat("2026-12-08T12:00:00-05:00")
    assert excepted(OVER) == []
    due = datetime.fromisoformat("2026-12-07T06:00:00-05:00")
    assert excepted(due - timedelta(seconds=1)) == [], "the day has not begun"
    assert excepted(due) == [(NAME, "nobody signed it off yet")]
    assert excepted(late) == [(NAME, "nobody signed it off yet")]
    sheets.make(WEEK, at=OVER, by="the service")
    sheets.sign_off(WEEK, "looked at late", at=late, by="ann")
    assert excepted(late) == [(NAME, "signed off by ann since")]
    assert not week(late).is_overdue(late.date())


def test_a_hold_far_off_its_theory_is_an_exception(played: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told at the end of the days asked for, as what was held beyond theory; a table within the threshold is none."""
    last = WEEK + timedelta(days=6)

    def off(most: int) -> list[exceptions.Exceptional]:
        """With a threshold of so many hundredths of a deviation."""
        monkeypatch.setattr(exceptions, "thresholds_in", lambda jurisdiction, on: Thresholds(most, 40_000, 1, 4, 7))
        return list(exceptions.between(WEEK, last, only=exceptions.OFF_THEORY, at=OVER))

    handle, hold = by_settlements(WEEK, last)
    assert (handle[LINKED], hold[LINKED]) == (33_700, -9_384_453), "royals fell"
    assert off(33_430) == []
    (found,) = off(33_429)
    assert (found.at, found.about) == (datetime.fromisoformat("2026-11-30T06:00:00-05:00"), LINKED)
    assert found.detail == "held −27847.0415 % of 15 wagers, theory 2.0811 %, −334.30 standard deviations"
    assert found.cents == hold[LINKED] - round(handle[LINKED] * 0.020811)


@pytest.mark.parametrize("what", TAMPERING_OF_WEEKS)
def test_tampering_with_a_review_is_found(what: str, played: House) -> None:
    closed(played)
    sheets.make(WEEK, at=OVER, by="the service")
    sheets.sign_off(WEEK, "as usual", at=OVER, by="ann")
    compare_weeks()
    statement, named = TAMPERING_OF_WEEKS[what]
    run("SET CONSTRAINTS ALL IMMEDIATE")
    for table in ("tables_weeksheet", "tables_weekreview"):
        run(f"ALTER TABLE {table} DISABLE TRIGGER append_only")
    run(statement)
    with pytest.raises(Difference, match=named):
        compare_weeks()


def test_a_week_begins_no_earlier_than_the_house(house: House) -> None:
    first = weeks.weeks(OVER)[-1].first
    assert first <= the_property().opened_at.date() <= first + timedelta(days=6)
