"""The day as it is played, step by step, from the opening of the house to the closing of the day.

What nobody comes for is the state's a year after its game: the first evening is 400 days before the day, and nothing else
happens in between.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from importlib.resources import files
from typing import Any, Final
from zoneinfo import ZoneInfo

from accounting import book_queries
from accounting.office import registry
from accounting.queries import Balance, NoProperty, the_property, trial_balance
from accounting.rules.events import KINDS, REASONS
from accounting.rules.gaming_day import began, gaming_date
from accounting.rules.roles import ACCOUNTING, ADMINISTRATOR, CAGE, CONTROLLER, MANAGER, SUPERVISOR
from accounting.services import readings
from accounting.slips.payables import PAYABLES
from accounting.slips.queries import slip_of
from accounting.slips.rules.register import slip_name
from accounting.slips.services import printing, winners
from devices import demo
from devices.closing import checklist, sheet, verifying
from devices.demo_day.house import DemoHouse, NotPlayed
from devices.demo_day.rounds import BAY, LATE, LONE, TIDE, dealt, locked, miscounted, quads, royal, twice, two_hits
from devices.intake import contact, directory
from devices.models import Device
from jackpot.queries import liabilities
from tables.jobs import SERVICE
from tables.queries import weeks
from tables.rules.floor import read_floor
from tables.services import floors
from tables.services import weeks as sheets

FLOOR: Final = (files("devices") / "demo_day" / "floor.toml").read_text("utf-8")
LATE_TABLE: Final = FLOOR[FLOOR.index('[[tables]]\ncode = "DD-1"') : FLOOR.index('[[tables]]\ncode = "DD-2"')]
BAY_LIMIT_CENTS: Final = 3_000_000
YEAR_AND_MORE: Final = timedelta(days=400)
CHECKS: Final = ["cards", "seat", "wager_sensor", "surveillance"]
LEVEL: Final = {"code": "major", "reset_cents": 10_000, "rate_ppm": 170_000, "reserve_ppm": 30_000}
NEW_LINK: Final[dict[str, Any]] = {
    "link": {"code": "cove", "paytable": "ms-mg-01", "decks": 1, "levels": [LEVEL]},
    "initial": {"major": 25_000},
    "filing": "MGC 2026-114",
}
CLOSED_TO: Final = [
    {"level": "grand", "part": "display", "to": "regulator_order"},
    {"level": "grand", "part": "reserve", "to": "revenue_booked"},
    {"level": "grand", "part": "overflow", "to": "revenue_booked"},
    {"level": "minor", "part": "display", "to": "bay/major"},
    {"level": "minor", "part": "overflow", "to": "revenue_booked"},
]


PAYER: Final = {
    "name": "Harbor Lights Gaming LLC", "address": "1 Harbor Street, Boston MA 02110", "telephone": "617 555 0100",
    "number": "12-3456789", "state_number": "00-000000",
}  # fmt: skip


class AnotherHouse(Exception):
    """There is a house already: the day is played in one of its own."""


@dataclass(frozen=True, slots=True)
class Played:
    """What the day came to: what was recorded and decided, by kind, and its trial balance."""

    day: date
    kinds: Counter[str]
    acts: Counter[str]
    reasons: Counter[str]
    messages: Counter[str]
    balances: list[Balance]
    levels_read: int
    slips_printed: int


def refuse_another_house() -> None:
    """Raise AnotherHouse unless the database is without one."""
    try:
        there = the_property()
    except NoProperty:
        return
    raise AnotherHouse(f"this is the house of {there.name}")


def play(*, now: datetime) -> Played:
    """Open the house and play until the gaming day before `now` is closed.

    Raises NotPlayed where anything that is declared was not played, ActRefused where a step was refused.
    """
    home = read_floor(FLOOR).property
    zone, begins = ZoneInfo(home.time_zone), time.fromisoformat(home.gaming_day_starts)
    day = gaming_date(now, zone=zone, starts=begins) - timedelta(days=1)
    starts, ends = (began(each, zone=zone, starts=begins) for each in (day, day + timedelta(days=1)))
    first = starts - YEAR_AND_MORE
    floors.install(FLOOR, at=first)
    house = DemoHouse(_keys(), first + timedelta(hours=14))
    house.ask(ACCOUNTING, "payer.state", home.code, **(PAYER | {"counts_from": first.date().isoformat()}))
    _first_evening(house)
    house.now = starts + timedelta(hours=8)
    _rounds(house)
    _hits(house)
    _held(house)
    _levels(house)
    _links(house)
    _tables(house)
    house.now = max(house.now, ends)
    levels = _close(house, day)
    _week(house)
    played = Played(
        day, book_queries.events_by_kind(), house.acts, book_queries.transfers_by_reason(), house.messages, trial_balance(day),
        levels, house.prints,
    )  # fmt: skip
    require_all(played)
    return played


def require_all(played: Played) -> None:
    """Raise NotPlayed unless every kind of event, act and reason that is declared was played."""
    for what, declared, found in (
        ("kinds of events", KINDS, played.kinds),
        ("acts", registry.acts(), played.acts),
        ("reasons", REASONS, played.reasons),
    ):
        if left := [name for name in declared if not found[name]]:
            raise NotPlayed(f"{what} that are declared and were not played: {', '.join(left)}")


def _keys() -> dict[str, str]:
    """The keys of the tables' devices, whose people exist then, too."""
    keys = {table: device["api_key"] for table, device in demo.ensure()["devices"].items()}
    directory.forget()
    return keys


def _first_evening(house: DemoHouse) -> None:
    """A straight flush, a royal and their envy; nobody comes for them."""
    house.post(two_hits("N-1", table=BAY, at=house.now))
    for hit in ("bay-000001", "bay-000002"):
        house.ask(SUPERVISOR, "hit.verify", hit, checks=CHECKS)
        house.ask(MANAGER, "hit.approve", hit, note="tape 12")
    house.now += timedelta(days=1)
    for hit in ("bay-000001", "bay-000002"):
        house.ask(ACCOUNTING, "hit.unclaimed", hit)
    house.ask(ACCOUNTING, "payout.unclaimed", f"{BAY}/N-1/6/2")
    _taken_down(house, "bay-000002")
    house.ask(CAGE, "hit.pay", "bay-000002", method="cage")


def _taken_down(house: DemoHouse, subject: str) -> None:
    """Keep who won a payout, sealed."""
    payee = {
        "name": "Pat Demo", "address": "1 Harbor Street, Boston MA", "taxpayer_number": "123-45-6789",
        "first_id": "MA S0000001", "second_id": "passport P0000002", "share_cents": PAYABLES.cents(subject),
    }  # fmt: skip
    winners.take_down(subject, [payee], by=CAGE, at=house.later(), random=os.urandom)


def _rounds(house: DemoHouse) -> None:
    """Rounds of every outcome, on two links and a lone table; a table that is installed meanwhile; a lock before its round."""
    house.ask(ACCOUNTING, "hit.remit", "bay-000001")
    house.ask(ACCOUNTING, "payout.remit", f"{BAY}/N-1/6/2")
    floors.install(FLOOR + LATE_TABLE.replace(BAY, LATE), at=house.later())
    house.keys = _keys()
    house.post(locked("R-1", table=BAY, at=house.now), dealt("R-1", table=BAY, at=house.now))
    house.post(dealt("R-1", table=LATE, at=house.now), dealt("R-1", table=LONE, at=house.now))
    again = quads("R-2", table=BAY, at=house.now)
    house.post(again, again)
    house.post(royal("R-3", table=BAY, at=house.now), two_hits("R-4", table=LATE, at=house.now))
    house.post(dealt("R-5", table=BAY, at=house.now, irregularities=[{"code": "shoe_failed"}]))
    house.ask(ACCOUNTING, "level.adjust", "tide/minor", part="display", cents=90, reason="boost")  # near its limit
    house.post(dealt("T-1", table=TIDE, at=house.now), quads("T-2", table=TIDE, at=house.now))
    house.post(two_hits("T-3", table=TIDE, at=house.now))


def _hits(house: DemoHouse) -> None:
    """Hits verified, approved, paid with their slips, rejected; envy paid at the table and on a slip that is signed first."""
    house.ask(SUPERVISOR, "hit.verify", "bay-000003", checks=CHECKS)
    house.ask(MANAGER, "hit.approve", "bay-000003", note="tape 13")
    _taken_down(house, "bay-000003")
    house.ask(CAGE, "slip.issue", "bay-000003", method="cage", form="cheque")
    house.ask(CAGE, "hit.pay", "bay-000003", method="cage")
    house.ask(SUPERVISOR, "payout.pay", f"{BAY}/R-3/1/3", method="table")
    signed = f"{TIDE}/T-3/6/2"
    _taken_down(house, signed)
    house.ask(CAGE, "slip.issue", signed, method="cage", form="cash")
    house.ask(CAGE, "payout.pay", signed, method="cage")
    original = _print(house, signed)
    house.ask(CAGE, "slip.void", slip_name(original), why="the wrong form was ticked")
    for subject in (signed, "bay-000003", "bay-000003"):
        _print(house, subject)


def _print(house: DemoHouse, subject: str) -> int:
    """Print the slip of a payout once more; its number."""
    slip = slip_of(subject)
    if slip is None:
        raise NotPlayed(f"{subject} has no slip")
    printing.print_slip(slip.number, by=CAGE, at=house.later())
    house.prints += 1
    return slip.number


def _held(house: DemoHouse) -> None:
    """Held rounds released, corrected and called off; a settled one voided; a lock without a round."""
    house.post(miscounted("H-1", table=BAY, at=house.now))
    house.ask(SUPERVISOR, "round.release", f"{BAY}/H-1")
    house.post(twice("H-2", table=BAY, at=house.now))
    right = dealt("H-2", table=BAY, at=house.now)
    house.ask(SUPERVISOR, "round.correct", f"{BAY}/H-2", message=right)
    house.post(twice("H-3", table=BAY, at=house.now))
    house.ask(SUPERVISOR, "round.void", f"{BAY}/H-3")
    house.ask(SUPERVISOR, "round.void", f"{BAY}/R-2", why="the deck had two nines of clubs")
    house.post(locked("L-1", table=BAY, at=house.now))
    house.ask(SUPERVISOR, "lock.void", f"{BAY}/L-1", why="the deal was called off")


def _levels(house: DemoHouse) -> None:
    """Adjustments for every reason; a boost up to the limit, large enough for a second signature, a rejection above it."""
    for part, cents, reason in (
        ("display", -1_250, "malfunction"),
        ("display", 500, "correction"),
        ("display", -300, "regulator_order"),
        ("reserve", -1, "reserve_release"),
    ):
        house.ask(ACCOUNTING, "level.adjust", "bay/major", part=part, cents=cents, reason=reason)
    room = BAY_LIMIT_CENTS - 1 - _displayed("bay")  # a fraction of a cent may stand beside it
    house.ask(ACCOUNTING, "level.adjust", "bay/major", part="display", cents=room, reason="boost")
    house.ask(MANAGER, "hit.reject", "bay-000004", why="the deck was not counted")
    above = _displayed("bay") - BAY_LIMIT_CENTS
    house.ask(ACCOUNTING, "level.adjust", "bay/major", part="display", cents=-above, reason="over_limit")


def _displayed(link: str) -> int:
    """What the first level of a link shows, in cents."""
    return next(level.meter_cents for level in liabilities() if level.link == link)


def _links(house: DemoHouse) -> None:
    """A link filed, opened, played on; another suspended, changed, carried over, resumed and closed for good."""
    house.ask(ADMINISTRATOR, "link.file", "cove", **NEW_LINK)
    house.ask(ADMINISTRATOR, "link.open", "cove")
    as_of = house.now.isoformat()
    house.ask(ACCOUNTING, "link.funds", "bay", why="weekly deposit", balance_cents=100_000_000, as_of=as_of)
    house.ask(MANAGER, "link.suspend", "tide", why="the sign is dark")
    house.ask(ADMINISTRATOR, "link.terms", "tide", levels=[{"code": "minor", "rate_ppm": 60_000}])
    house.ask(ACCOUNTING, "level.transfer", "tide/grand", why="replacement", to="cove/major", parts=["reserve"])
    house.ask(ADMINISTRATOR, "link.resume", "tide")
    house.ask(ADMINISTRATOR, "link.suspend", "tide")
    for number in (3, 2, 1):
        house.ask(MANAGER, "hit.reject", f"tide-{number:06d}", why="the link is closed")
    house.ask(ADMINISTRATOR, "link.close", "tide", disposition=CLOSED_TO)


def _tables(house: DemoHouse) -> None:
    """The lone table closes, opens, gets another minimum, joins a link and leaves; another loses contact and is heard again."""
    house.ask(SUPERVISOR, "table.close", LONE)
    house.ask(SUPERVISOR, "table.open", LONE)
    house.ask(ADMINISTRATOR, "table.terms", LONE, minimum_cents=600)
    house.ask(ADMINISTRATOR, "table.join", LONE, link="cove")
    house.post(dealt("R-2", table=LONE, at=house.later()))
    house.ask(ADMINISTRATOR, "table.leave", LONE)
    device = Device.objects.get(tables__code=LATE)
    contact.hear(device.pk, at=house.later())
    house.now += timedelta(minutes=5)
    if contact.watch(at=house.now) != [LATE]:
        raise NotPlayed(f"table {LATE} did not lose contact")
    contact.hear(device.pk, at=house.later())
    if contact.watch(at=house.now) != [LATE]:
        raise NotPlayed(f"table {LATE} is not heard of again")


def _close(house: DemoHouse, day: date) -> int:
    """Verify, read the meters, explain a cent, sign off, and close the day with two signatures; how many levels were read."""
    levels = sheet.read_by_machine(day, at=house.later(), by=ACCOUNTING)
    (shown,) = [line for line in sheet.lines(day, at=house.now) if line.level == "bay/major"]
    typed = {"bay/major": shown.expected_cents - 1}
    sheet.read_by_hand(day, typed, read_at=house.now, at=house.later(), by=ACCOUNTING, note="at the sign")
    (differs,) = [
        line.reading for line in sheet.lines(day, at=house.now) if line.reading and not line.reading.is_settled
    ]
    readings.explain(differs.id, "a digit of the sign is dark", at=house.later(), by=ACCOUNTING)
    readings.sign_off(differs.id, at=house.later(), by=CONTROLLER)
    verifying.verify_all(at=house.later())
    looked = checklist.look(day, at=house.later())
    if not looked.is_ready:
        raise NotPlayed(
            f"the day is not ready to be closed: {looked.in_the_way[0].title}: {looked.in_the_way[0].words}"
        )
    house.ask(ACCOUNTING, "day.close", day.isoformat(), why="as counted", sequences=looked.sequences)
    return levels


def _week(house: DemoHouse) -> None:
    """The last week that is over, its sheet made and signed off."""
    over = next((week for week in weeks.weeks(house.later()) if week.is_closed), None)
    if over is None:
        raise NotPlayed("no week is over and closed")
    sheets.make(over.first, at=house.later(), by=SERVICE)
    house.ask(ACCOUNTING, "week.review", over.name, why="nothing beside what is marked")
