"""What went otherwise than it should, by kind (REQUIREMENTS §8.6, R92): for the report of exceptions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import zip_longest
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from accounting import reconciliation
from accounting.book_queries import first_of, last_of
from accounting.day_queries import began_on
from accounting.event_queries import documented_between
from accounting.queries import streams, the_property
from accounting.reporting.written import moment
from accounting.rules.events import CONTACT, FUNDS
from accounting.rules.moments import instant, is_moment
from accounting.shell.templatetags.pages import money, words
from accounting.slips import queries as slips
from devices.intake.contact import LOST, REGAINED
from devices.models import SignificantEvent
from jackpot.fund_queries import late
from tables.odds.theory import deviations
from tables.odds.thresholds import thresholds_in
from tables.queries import exceptions as rounds
from tables.queries import statistics
from tables.queries.exceptions import contact_turns
from tables.queries.weeks import weeks
from tables.queries.worth import percent

HELD: Final = "round held"
LATE: Final = "round booked late"
SIGNIFICANT: Final = "significant event"
OVERRIDE: Final = "slip with override"
UNCHECKED: Final = "slip not all checked"
VOID_SLIP: Final = "slip void"
BY_HAND: Final = "meter read by hand"
VARIANCE: Final = "meter off its movements"
OFF_THEORY: Final = "hold off its theory"
SHORT: Final = "funds short"
UNFUNDED: Final = "balance not recorded"
UNREVIEWED: Final = "week not reviewed"
SILENT: Final = "device silent or back"
OF_ACTS: Final = {
    "round.release": "round released", "round.correct": "round corrected", "round.void": "round voided",
    "lock.void": "lock voided",
    "hit.reject": "hit rejected", CONTACT: SILENT,
}  # fmt: skip
KINDS: Final = (
    HELD,
    *OF_ACTS.values(),
    LATE,
    OVERRIDE,
    UNCHECKED,
    VOID_SLIP,
    BY_HAND,
    VARIANCE,
    OFF_THEORY,
    SHORT,
    UNFUNDED,
    UNREVIEWED,
    SIGNIFICANT,
)
AT_ONCE: Final = 1_000


class Exceptional(NamedTuple):
    """Something that went otherwise: when, what kind, what it is about, who did it, and what is said of it.

    `minutes` are those of lost contact, whole ones begun, on the row on which it was lost.
    """

    at: datetime
    kind: str
    about: str
    who: str | None
    detail: str
    cents: int | None
    minutes: int | None = None


def between(
    first: date, last: date, *, only: str | None = None, but: Collection[str] = (), at: datetime | None = None
) -> Iterator[Exceptional]:
    """Everything from one gaming day to another, kind by kind, each in its order; contact that is lost still, as of a moment."""
    begins, end = began_on(first), began_on(last + timedelta(days=1))
    for kind in KINDS:
        if kind in but or (only is not None and kind != only):
            continue
        yield from _of(kind, first, last, begins, end, at or end)


def _of(kind: str, first: date, last: date, begins: datetime, end: datetime, at: datetime) -> Iterator[Exceptional]:
    if kind == HELD:
        for name, reasons, at, waits in rounds.held_between(begins, end):
            yield Exceptional(
                at, kind, name, None, f"{', '.join(map(words, reasons))}{'; still waits' if waits else ''}", None
            )
    elif kind == LATE:
        for name, at, own, booked in rounds.booked_late(first, last):
            yield Exceptional(at, kind, name, None, f"of gaming day {own}, booked on {booked}", None)
    elif kind in (OVERRIDE, UNCHECKED, VOID_SLIP):
        yield from _slips(kind, first, last)
    elif kind in (BY_HAND, VARIANCE):
        yield from _readings(kind, first, last)
    elif kind == OFF_THEORY:
        yield from _off_theory(first, last, end)
    elif kind == SHORT:
        yield from _short(first, last)
    elif kind == UNFUNDED:
        for balance in late(at):
            if begins <= balance.due < end:
                told = (
                    "not recorded yet" if balance.recorded_at is None else f"recorded on {balance.recorded_at.date()}"
                )
                yield Exceptional(balance.due, kind, balance.link, None, told, None)
    elif kind == UNREVIEWED:
        yield from _unreviewed(first, last, at)
    elif kind == SILENT:
        yield from _silent(begins, end, at)
    elif kind == SIGNIFICANT:
        yield from _significant(begins, end)
    else:
        yield from _acts(kind, first, last)


def _acts(kind: str, first: date, last: date) -> Iterator[Exceptional]:
    names = [name for name, called in OF_ACTS.items() if called == kind]
    for stream_id, _, _ in streams():
        found = documented_between(stream_id, names, first_of(first, stream_id), last_of(last, stream_id), first, last)
        for at, subject, cause, result in found:
            asked = json.loads(cause)
            yield Exceptional(at, kind, subject, asked.get("by"), _said(asked, result), None)


def _said(asked: dict[str, Any], result: bytes) -> str:
    agreed = f"agreed {', '.join(asked['approved_by'])}" if asked.get("approved_by") else ""
    return "; ".join(filter(None, [asked.get("reason") or "", agreed]))


def _silent(begins: datetime, end: datetime, now: datetime) -> Iterator[Exceptional]:
    """Every turn of contact, table by table: lost from the last sign of life to the next one, or to now."""
    for table, turns in contact_turns(until=max(end, now)).items():
        for turn, following in zip_longest(turns, turns[1:]):
            if not begins <= turn.at < end:
                continue
            if turn.heard:
                yield Exceptional(turn.at, SILENT, table, None, "heard of again", None)
                continue
            lost = (following.last if following else now) - turn.last
            minutes = -(-max(lost, timedelta()) // timedelta(minutes=1))
            said = f"silent for {minutes:,} min{'' if following else ', and still is'}"
            yield Exceptional(turn.at, SILENT, table, None, said, None, minutes)


def _off_theory(first: date, last: date, end: datetime) -> Iterator[Exceptional]:
    thresholds = thresholds_in(the_property().jurisdiction, last)
    for hold in statistics.by_table(statistics.over(first, last)):
        win, variance = hold.theory
        if not thresholds.are_passed(hold.wagers, hold.handle_cents, hold.hold_cents, hold.theory) or win is None:
            continue
        off = deviations(hold.hold_cents - win, variance) if variance else None
        told = [
            f"held {percent(Fraction(hold.hold_cents, hold.handle_cents))} of {hold.wagers:,} wagers",
            f"theory {percent(Fraction(win, hold.handle_cents))}",
        ]
        told += [f"{_signed(off)} standard deviations"] if off is not None else []
        yield Exceptional(end, OFF_THEORY, hold.table, None, ", ".join(told), hold.hold_cents - round(win))


def _short(first: date, last: date) -> Iterator[Exceptional]:
    """Balances that fell short of what their link owed, each of which closed it for new wagers or kept it closed."""
    for stream_id, _, _ in streams():
        ends = first_of(first, stream_id), last_of(last, stream_id)
        for at, subject, cause, result in documented_between(stream_id, [FUNDS], *ends, first, last):
            change = json.loads(result)["changes"][0]
            if change["short"]:
                said = f"balance {money(change['balance_cents'])}, owed {money(change['owed_cents'])}"
                missing = change["balance_cents"] - change["owed_cents"]
                yield Exceptional(at, SHORT, subject, json.loads(cause).get("by"), said, missing)


def _unreviewed(first: date, last: date, now: datetime) -> Iterator[Exceptional]:
    """Weeks whose review became overdue on these days and nobody had signed off in time; whether somebody has since."""
    for week in weeks(now)[::-1]:
        due = began_on(week.overdue_from)
        late = not week.reviews or week.reviews[0].at >= due
        if first <= week.overdue_from <= last and due <= now and late:
            since = f"signed off by {week.reviews[0].by} since" if week.reviews else "nobody signed it off yet"
            yield Exceptional(due, UNREVIEWED, week.name, None, since, None)


def _signed(off: Fraction) -> str:
    hundredths = abs(round(off * 100))
    return f"{'−' if off < 0 else '+'}{hundredths // 100}.{hundredths % 100:02d}"


def _slips(kind: str, first: date, last: date) -> Iterator[Exceptional]:
    for slip in slips.issued_between(first, last, {}):
        if kind == OVERRIDE and slip["override"]:
            yield Exceptional(
                slip["issued_at"], kind, slip["slip"], slip["prepared_by"], slip["override"], slip["cents"]
            )
        elif kind == UNCHECKED and not slip["complete"] and not slip["override"]:
            yield Exceptional(
                slip["issued_at"], kind, slip["slip"], slip["prepared_by"], slip["subject"], slip["cents"]
            )
        elif kind == VOID_SLIP and slip["void_at"] is not None:
            said = f"{slip['void_reason']}; agreed {slip['void_agreed_by']}"
            yield Exceptional(slip["void_at"], kind, slip["slip"], slip["void_by"], said, slip["cents"])


def _readings(kind: str, first: date, last: date) -> Iterator[Exceptional]:
    for reading in reconciliation.latest_between(first, last):
        said = [reading.note, *(note.text for note in reading.explanations)]
        if kind == BY_HAND and reading.method == "hand":
            cents = reading.display_cents
        elif kind == VARIANCE and reading.variance_cents:
            cents = reading.variance_cents
            said.append(f"signed off by {reading.signed.by}" if reading.signed else "not signed off")
        else:
            continue
        yield Exceptional(reading.read_at, kind, reading.level, reading.by, "; ".join(filter(None, said)), cents)


def _significant(begins: datetime, end: datetime) -> Iterator[Exceptional]:
    found = SignificantEvent.objects.filter(recorded_at__gte=begins, recorded_at__lt=end).order_by("id")
    found = found.exclude(code__in=(LOST, REGAINED))  # these are among the devices that were silent, with their minutes
    after, zone = 0, ZoneInfo(the_property().time_zone)
    while run := list(found.filter(id__gt=after)[:AT_ONCE]):
        for one in run:
            said = ", ".join(f"{words(name)} {_written(value, zone)}" for name, value in one.detail.items())
            told = f"{words(one.code)}{': ' if said else ''}{said}"
            yield Exceptional(one.recorded_at, SIGNIFICANT, one.table or one.device, one.device or None, told, None)
        after = run[-1].pk


def _written(value: Any, zone: ZoneInfo) -> str:
    """A value of a significant event: a moment on the property's clock."""
    return moment(instant(value), zone) if isinstance(value, str) and is_moment(value) else str(value)
