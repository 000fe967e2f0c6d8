"""What every kind of event books, shown on one that was really recorded.

The page of the product and the page in docs/ are made from the same file; a test records all of it again and compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction

from accounting.office.acts import Asked, Performed
from devices.intake import contact
from devices.models import Device
from jackpot.rules.decision import Act
from jackpot.services import funds
from tables.acts.slips import handed_over
from tables.models import Table
from tables.services import floors
from tests.services.house import (
    ALONE,
    DEALT,
    FLOOR,
    LINKED,
    NEIGHBOUR,
    RECEIVED,
    TWIN,
    House,
    locked,
    message,
    rows,
    royal,
    seat,
    two_hits,
)  # fmt: skip

ROOT = Path(__file__).parents[2]
FILE, PAGE = ROOT / "accounting" / "terms" / "postings.json", ROOT / "docs" / "postings.md"
HIT, SECOND = "ms-mg01-000001", "ms-mg01-000002"
FILED: dict[str, Any] = {
    "link": {
        "code": "nn", "paytable": "ms-mg-01", "decks": 1,
        "levels": [{"code": "major", "reset_cents": 10_000, "rate_ppm": 170_000}],
    },
    "initial": {"major": 25_000}, "filing": "MGC 2026-114",
}  # fmt: skip
TO_BOOKS = [
    {"level": "grand", "part": "display", "to": "regulator_order"},
    {"level": "grand", "part": "reserve", "to": "revenue_booked"},
    {"level": "grand", "part": "overflow", "to": "revenue_booked"},
    {"level": "minor", "part": "display", "to": "ms-mg01/major"},
    {"level": "minor", "part": "overflow", "to": "revenue_booked"},
]


class Worked(NamedTuple):
    """An event with what is said of it."""

    title: str
    stream: str
    sequence: int


def record(house: House) -> Iterator[Worked]:
    """Record an event of every kind, in an order that lets each be done; each as it is recorded."""
    day = timedelta(days=1)

    def last(stream: str) -> int:
        ((found,),) = rows("SELECT next_sequence - 1 FROM accounting_stream WHERE code = %s", stream)
        return int(found)

    def played(title: str, sent: dict[str, Any], stream: str = "ms-mg01", **more: Any) -> Worked:
        house.play(sent, **more)
        return Worked(title, stream, last(stream))

    def acted(title: str, name: str, subject: str, **more: Any) -> Worked:
        return Worked(title, *house.act(name, subject, **more))

    def taxed(title: str, name: str, subject: str, method: str, paid: Worked) -> Worked:
        asked = Asked(name, subject, {"method": method}, "", house.now, None, "tester")
        with transaction.atomic():
            handed_over(asked, Performed(paid.stream, paid.sequence))
        return Worked(title, paid.stream, paid.sequence + 1)

    yield Worked("A link is installed: the house seeds its level", "ms-mg01", 0)
    yield Worked("A lone table is installed", ALONE, 0)
    more = FLOOR[FLOOR.index('[[tables]]\ncode = "MS-102"') : FLOOR.index('[[tables]]\ncode = "TW-201"')]
    floors.install(FLOOR + more.replace("MS-102", "MS-103"), at=DEALT - day)
    yield Worked("A table is installed on a link that is there", "ms-mg01", last("ms-mg01"))

    yield played("A lock: progressive wagers are taken before the deal", locked("R-1"))
    yield played("Its result: a losing round whose contribution is on the meter already", message("R-1"))
    quads = message("R-2", seat(1, "9c 9d", progressive=100, three_card_bonus=500), community="9h 9s Kd")
    yield played("A winning hand: stakes, fixed pays, and the contribution", quads)
    yield played("A royal flush: the award, the reset, and envy", royal("R-3"))
    yield played("A straight flush and a royal at one table", two_hits("R-4"))
    spoilt = message("R-5", irregularities=[{"code": "shoe_failed"}])
    yield played("A void round: nothing is wagered, nothing is paid", spoilt)
    near = {"part": "display", "cents": 90, "reason": "boost"}
    yield acted("A level is boosted to just below its limit", "level.adjust", "twin/minor", **near)
    yield played("A level at its limit: what it cannot take goes to overflow", message("T-1", table=TWIN), "twin")
    minor = message("T-2", seat(1, "9c 9d", progressive=500), table=TWIN, community="9h 9s Kd")
    yield played("A level whose overflow becomes revenue when it is won", minor, "twin")

    topped = two_hits("T-3", table=TWIN)
    yield played("A level that is topped up after a share of it, and one that is reset", topped, "twin")

    yield acted("A hit is verified", "hit.verify", HIT, checks=["cards", "seat", "wager_sensor", "surveillance"])
    yield acted("A hit is approved", "hit.approve", HIT, note="tape 12")
    yield (paid := acted("An award is handed over by the cage", "hit.pay", HIT, method="cage"))
    yield taxed("Tax of the award is withheld: it stays in the cage", "hit.pay", HIT, "cage", paid)
    yield acted("Envy is handed over at the table", "payout.pay", f"{LINKED}/R-3/1/3", method="table")
    large = f"{TWIN}/T-3/6/2"
    yield (paid := acted("Envy of a larger wager is handed over at the table", "payout.pay", large, method="table"))
    yield taxed("Tax of envy is withheld: its chips stay in the tray", "payout.pay", large, "table", paid)
    yield acted("A hit is rejected: award and seeds go back, unpaid envy is cancelled", "hit.reject", SECOND)
    third = "ms-mg01-000003"
    for step in ("hit.verify", "hit.approve"):
        house.act(step, third)
    owed = f"{LINKED}/R-4/4/2"
    yield acted("An award that nobody came for is unclaimed", "hit.unclaimed", third, at=RECEIVED + day)
    yield acted("Envy that nobody came for is unclaimed", "payout.unclaimed", owed, at=RECEIVED + day)
    late = "ms-mg01-000004"
    yield played("A later royal, for what follows", royal("R-6", table=NEIGHBOUR))
    for step in ("hit.verify", "hit.approve"):
        house.act(step, late)
    house.act("hit.unclaimed", late, at=RECEIVED + day)
    yield acted("Somebody comes for an unclaimed award", "hit.pay", late, at=RECEIVED + 2 * day, method="cage")
    year = RECEIVED + 370 * day
    yield acted("An unclaimed award is the state's after its year", "hit.remit", third, at=year)
    yield acted("Unclaimed envy is the state's after its year", "payout.remit", owed, at=year)

    held = message("H-1", dealing={"method": "shuffler", "mode": "cover_all", "players": 3})
    house.play(held)
    yield acted("A held round is released", "round.release", f"{LINKED}/H-1")
    house.play(message("H-2", seat(1, "As As", progressive=100)))
    yield acted("A held round is corrected", "round.correct", f"{LINKED}/H-2", message=message("H-2"))
    house.play(message("H-3", seat(1, "As As", progressive=100)))
    yield acted("A held round is called off", "round.void", f"{LINKED}/H-3")
    yield acted("A settled round is voided", "round.void", f"{LINKED}/R-2")
    house.play(locked("L-1"))
    yield acted("A lock without a result is voided", "lock.void", f"{LINKED}/L-1")

    adjust = {"part": "display", "reason": "boost"}
    yield acted("A level is boosted by the house", "level.adjust", "ms-mg01/major", cents=50_000, **adjust)
    reserve = {"part": "reserve", "cents": -2, "reason": "reserve_release"}
    yield acted("A reserve is released", "level.adjust", "ms-mg01/major", **reserve)
    adjust = {"part": "display", "reason": "malfunction"}
    yield acted("A level is corrected down", "level.adjust", "ms-mg01/major", cents=-1_250, **adjust)

    yield Worked("A link is filed", *house.act("link.file", "nn", **FILED))
    yield acted("A filed link opens with its initial amounts", "link.open", "nn")
    yield acted("A link is suspended", "link.suspend", "twin")
    yield acted("Terms of a level change", "link.terms", "twin", levels=[{"code": "minor", "rate_ppm": 60_000}])
    parts = {"to": "nn/major", "parts": ["reserve"]}
    yield acted("A part is carried over to a level of another link", "level.transfer", "twin/grand", **parts)
    yield acted("A link is resumed", "link.resume", "twin")
    house.act("link.suspend", "twin")
    for number in (3, 2):
        house.act("hit.reject", f"twin-{number:06d}")
    yield acted("A hit is rejected whose overflow had become revenue", "hit.reject", "twin-000001")
    yield acted("A link is closed: every part goes where it was decided", "link.close", "twin", disposition=TO_BOOKS)

    yield acted("A table closes", "table.close", ALONE)
    yield acted("A table opens", "table.open", ALONE)
    yield acted("A table's minimum changes", "table.terms", ALONE, minimum_cents=1_500)
    yield acted("A table joins a link", "table.join", ALONE, link="ms-mg01")
    yield acted("A table leaves its link", "table.leave", ALONE)
    device = Device.objects.create(code="G-1", enrolled_at=RECEIVED)
    device.tables.set(Table.objects.filter(code=LINKED))
    contact.hear(device.pk, at=RECEIVED)
    contact.watch(at=RECEIVED + timedelta(minutes=1))
    yield Worked("A table loses contact", "ms-mg01", last("ms-mg01"))
    said = {"balance_cents": 100_000_000, "as_of": RECEIVED.isoformat()}
    with transaction.atomic():
        balance = Act("link.funds", "ms-mg01", RECEIVED.isoformat(), said)
        yield Worked("The balance that stands behind a link is recorded", *funds.record(balance, at=RECEIVED, by="ann"))
    closed = house.close_day("2026-11-27", at=RECEIVED + timedelta(minutes=2))
    yield Worked(
        "A gaming day is closed: one event on every stream, behind which nothing is booked on it",
        "ms-mg01",
        closed["ms-mg01"],
    )


def worked(house: House) -> list[dict[str, Any]]:
    """Every example with what its event booked."""
    found = []
    for title, stream, sequence in record(house):
        ((kind, subject),) = rows(
            "SELECT kind, subject FROM accounting_event event JOIN accounting_stream stream ON stream.id = event.stream_id"
            " WHERE stream.code = %s AND sequence = %s", stream, sequence,
        )  # fmt: skip
        booked = rows(
            "SELECT debit.code, credit.code, amount_cents, reason FROM accounting_transfer transfer"
            " JOIN accounting_stream stream ON stream.id = transfer.stream_id"
            " JOIN accounting_account debit ON debit.id = debit_id JOIN accounting_account credit ON credit.id = credit_id"
            " WHERE stream.code = %s AND sequence = %s ORDER BY line", stream, sequence,
        )  # fmt: skip
        transfers = [dict(zip(("debit", "credit", "cents", "reason"), row, strict=True)) for row in booked]
        found.append({"kind": kind, "subject": subject, "title": title, "transfers": transfers})
    return found


def file_of(examples: list[dict[str, Any]]) -> str:
    """The data file: one transfer a line."""
    parts = []
    for example in examples:
        head = ", ".join(f"{json.dumps(key)}: {json.dumps(example[key])}" for key in ("kind", "subject", "title"))
        body = ",\n".join(f"   {json.dumps(transfer)}" for transfer in example["transfers"])
        parts.append(f'{{{head},\n  "transfers": [' + (f"\n{body}]" if body else "]") + "}")
    return "[" + ",\n ".join(parts) + "]\n"


HEAD = """# What every kind of event books

Each of these events was really recorded, in a house like that of the tests, by `python3 -m tests.worked_postings`, which
writes this page; a test records them again and compares. A transfer moves whole cents from the account in the column "credit" to
the one in the column "debit". Assets and expenses usually stand on the debit side, liabilities and income on the credit side; in
the product the page of worked examples shows each account's side.
"""


def page_of(examples: list[dict[str, Any]]) -> str:
    """The page in docs/."""
    from accounting.rules.accounts import named

    text = HEAD
    for example in examples:
        text += f"\n## `{example['kind']}`: {example['title']}\n\n"
        if not example["transfers"]:
            text += "Moves no money.\n"
            continue
        text += "| reason | debit | credit | dollars |\n|---|---|---|--:|\n"
        for row in example["transfers"]:
            dollars = f"{row['cents'] // 100:,}.{row['cents'] % 100:02d}"
            text += (
                f"| {row['reason'].replace('_', ' ')} | {named(row['debit'])} | {named(row['credit'])} | {dollars} |\n"
            )
    return text
