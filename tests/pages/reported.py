"""A house whose reports are looked at: played once, and asked for its reports in every form."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client, override_settings
from pytest_django import DjangoDbBlocker

from accounting.reporting import registry
from accounting.rules.roles import (
    AUDITOR,
    CAGE,
    MANAGER,
    SUPERVISOR,
)
from devices.closing import sheet
from tests.pages.lived_in import client_of, furnish
from tests.pages.test_decided import agree, ask
from tests.services.fixtures import Databases
from tests.services.house import LINKED, NEIGHBOUR, TWIN, House, Message, locked, message, royal, run, seat, value

ROOT = Path(__file__).parents[2]
CODES = (
    "progressive", "roll-forward", "jackpots", "slips", "tax", "unclaimed", "statistics", "games", "weekly", "trial-balance",
    "ledger", "adjustments", "acts", "access", "exceptions",
)  # fmt: skip
FIRST = "2026-11-01"
PLAYED = "2026-W48"
"""The week of the deals of these tests."""
FORMULA = '=HYPERLINK("http://x","y")'
ALL = ["cards", "seat", "wager_sensor", "surveillance"]
SPREADSHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def live(house: House) -> None:
    """A house in which people work, and then: locks, late rounds, payments with slips and forms, voids, transfers, readings."""
    furnish(house)
    house.play(
        locked("K-1"), message("K-1"), locked("K-2", 1, 3, table=TWIN), message("late-1", dealt_at="2026-11-26T21:00:00-05:00"),
        royal("K-2", table=TWIN), royal("n-1", table=NEIGHBOUR), message("w-1", seat(1, "As Ad", progressive=100)),
    )  # fmt: skip
    cage, manager, supervisor = (client_of(role) for role in (CAGE, MANAGER, SUPERVISOR))
    envy = f"{NEIGHBOUR}/n-1/1/3"
    ask(cage, "slip.issue", envy, payload={"method": "cage", "form": "cheque"})
    agree(manager, ask(cage, "slip.void", "000002", reason=FORMULA))
    ask(cage, "payout.pay", envy, payload={"method": "cage"})
    hit = hit_of(NEIGHBOUR, "n-1")
    ask(supervisor, "hit.verify", hit, payload={"checks": ALL})
    ask(manager, "hit.approve", hit)
    ask(cage, "hit.pay", hit, payload={"method": "cage"})
    now = datetime.now(UTC)
    house.act("level.transfer", "twin/minor", at=now, to="ms-mg01/major", parts=["display"])
    house.act("hit.reject", hit_of(TWIN, "K-2"), at=now)
    house.act("round.void", f"{LINKED}/w-1", at=now)
    assert sheet.read_by_machine(today(), at=datetime.now(UTC), by="a-accounting") == 3
    run("UPDATE office_job SET state = 'done', finished_at = now() WHERE state = 'running'")
    Client().post("/sign-in", {"username": "a-auditor", "password": "wrong"})
    assert Client().post("/sign-in", {"username": "a-auditor", "password": "a long enough password"}).status_code == 302


def hit_of(table: str, round: str) -> str:
    """The hit of a round."""
    return str(
        value(
            "SELECT link.code || '-' || lpad(hit.number::text, 6, '0') FROM jackpot_hit hit"
            " JOIN jackpot_link link ON link.id = hit.link_id WHERE hit.\"table\" = %s AND hit.round = %s",
            table, round,
        )
    )  # fmt: skip


def today() -> date:
    """The gaming day that it is now in the house."""
    return (datetime.now(UTC).astimezone(ZoneInfo("America/New_York")) - timedelta(hours=6)).date()


@dataclass
class Lived:
    """The house that was lived in: its database, and what was posted."""

    name: str
    posted: list[Message]


@pytest.fixture(scope="session")
def reported_house(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[Lived]:
    """A house of its own in which all of that happened, looked at by every test of this module."""
    with django_db_blocker.unblock(), override_settings(PATRON_KEY="A" * 43):
        name = databases.create(like=floored)
        with databases.entered(name):
            house = House()
            live(house)
        yield Lived(name, house.posted)
        databases.drop(name)


@pytest.fixture
def reported(reported_house: Lived, databases: Databases, django_db_blocker: DjangoDbBlocker) -> Iterator[Lived]:
    """Its database, to be looked at."""
    with django_db_blocker.unblock(), databases.entered(reported_house.name):
        yield reported_house


def period(code: str) -> dict[str, str]:
    """All that ever happened, as this report is asked for it."""
    # Taxes know no gaming days: what is paid after midnight is of the next calendar day.
    last = today() + timedelta(days=code == "tax")
    periods = {
        "days": {"from": FIRST, "to": str(last)},
        "day": {"day": str(today())},
        "week": {"week": PLAYED},
        "now": {},
    }
    return periods[registry.reports()[code].period]


def got(client: Client, code: str, form: str = "json", **more: str) -> bytes:
    """A report in a form."""
    answer: Any = client.get(f"/api/v1/reports/{code}", period(code) | {"form": form} | more)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert answer.status_code == 200, body
    return bytes(body)


def report(code: str, role: str = AUDITOR, **more: str) -> Any:
    """A report as JSON."""
    return json.loads(got(client_of(role), code, **more))


def cells(book: bytes, number: int = 1) -> list[list[Any]]:
    """The cells of a workbook, row by row: text or the very digits of a number."""
    found = []
    with zipfile.ZipFile(io.BytesIO(book)) as file:
        sheet = file.read(f"xl/worksheets/sheet{number}.xml").decode()
    assert "<f>" not in sheet and "<hyperlink" not in sheet
    for row in re.findall(r"<row [^>]*>(.*?)</row>", sheet, re.DOTALL):
        found.append([
            unescape(text) if text or not number else number
            for number, text in re.findall(r"<c [^>]*>(?:<v>(.*?)</v>|<is><t[^>]*>(.*?)</t></is>)</c>", row, re.DOTALL)
        ])  # fmt: skip
    return found
