"""Every report in every form, and every total recomputed from the rounds, messages and acts alone (REQUIREMENTS R74-R102)."""

from __future__ import annotations

import csv
import io
import json
import re
import tracemalloc
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from hashlib import sha256
from html import unescape
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from zoneinfo import ZoneInfo

import pypdfium2
import pytest
from django.db import connection
from django.test import Client, override_settings
from pytest_django import DjangoDbBlocker

from accounting.office.services import jobs
from accounting.reporting import making, registry
from accounting.reporting.footing import Totals
from accounting.reporting.forms import csv as as_csv
from accounting.reporting.forms import xlsx as as_xlsx
from accounting.reporting.making import Heading, Made
from accounting.reporting.shape import MONEY, TEXT, Asked, Column, Foot, Report
from accounting.rules.roles import (
    ACCOUNTING,
    ADMINISTRATOR,
    AUDITOR,
    CAGE,
    CONTROLLER,
    MANAGER,
    ROLES,
    SECURITY,
    SUPERVISOR,
)
from accounting.rules.version import VERSION
from devices.closing import sheet
from tables.odds import of_edition
from tests.pages.conftest import text_of
from tests.pages.lived_in import client_of, furnish
from tests.pages.test_decided import agree, ask
from tests.services.fixtures import Databases
from tests.services.house import LINKED, NEIGHBOUR, TWIN, House, Message, locked, message, rows, royal, run, seat, value

ROOT = Path(__file__).parents[2]
CODES = (
    "progressive", "roll-forward", "jackpots", "slips", "tax", "unclaimed", "statistics", "trial-balance", "ledger",
    "adjustments", "acts", "access", "exceptions",
)  # fmt: skip
FIRST = "2026-11-01"
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


@pytest.fixture(scope="module")
def lived_in(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[Lived]:
    """A house of its own in which all of that happened, looked at by every test of this module."""
    with django_db_blocker.unblock(), override_settings(PATRON_KEY="A" * 43):
        name = databases.create(like=floored)
        with databases.entered(name):
            house = House()
            live(house)
        yield Lived(name, house.posted)
        databases.drop(name)


@pytest.fixture
def lived(lived_in: Lived, databases: Databases, django_db_blocker: DjangoDbBlocker) -> Iterator[Lived]:
    """Its database, to be looked at."""
    with django_db_blocker.unblock(), databases.entered(lived_in.name):
        yield lived_in


def period(code: str) -> dict[str, str]:
    """All that ever happened, as this report is asked for: after midnight a gaming day is yesterday's, a payment today's."""
    last = str(today() + timedelta(days=1))
    return {"days": {"from": FIRST, "to": last}, "day": {"day": str(today())}, "now": {}}[
        registry.reports()[code].period
    ]


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


# ── every form ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_every_report_is_there_and_foots(lived: Lived) -> None:
    assert tuple(registry.reports()) == CODES
    empty = set()
    for code in CODES:
        found = report(code)
        assert all(foot["is_even"] for foot in found["feet"]), (code, found["feet"])
        assert found["count"] == len(found["rows"])
        if not found["rows"]:
            empty.add(code)
        for column in registry.reports()[code].columns:
            if column.sums:
                assert found["totals"][column.name] == sum(row[column.name] or 0 for row in found["rows"]), (
                    code,
                    column.name,
                )
    assert empty == set()


@pytest.mark.parametrize("code", CODES)
def test_every_form_says_its_title_version_period_and_who_made_it(lived: Lived, code: str) -> None:
    client = client_of(AUDITOR)
    found = json.loads(got(client, code))
    said = {"Boston Harbor (BOS)", found["title"], VERSION, found["period"], "by a-auditor"}
    assert found["version"].startswith(f"{VERSION}, build 0123456789ab")
    days = period(code)
    assert all(day in found["period"] for day in days.values())

    lines = list(csv.reader(io.StringIO(got(client, code, "csv").decode())))
    head = dict(line for line in lines[:6])
    assert list(head) == ["Property", "Report", "Software version", "Period", "Generated", "Filters"]
    assert all(any(words in value for value in head.values()) for words in said if "stands" not in words)

    book = cells(got(client, code, "xlsx"))
    texts = [str(cell) for row in book[:6] for cell in row]
    assert all(any(words in text for text in texts) for words in said if "stands" not in words)

    pages = pypdfium2.PdfDocument(got(client, code, "pdf"))
    text = pages[0].get_textpage().get_text_range().replace("\u200b", "")
    assert all(words in text for words in said if "stands" not in words), text[:400]
    assert f"page {len(pages)} of {len(pages)}" in pages[len(pages) - 1].get_textpage().get_text_range()

    page = text_of(client.get(f"/reports/{code}/", days))
    assert all(words in page for words in said if "stands" not in words)


@pytest.mark.parametrize("code", CODES)
def test_every_form_has_the_same_figures(lived: Lived, code: str) -> None:
    client, wanted = client_of(AUDITOR), registry.reports()[code]
    found = json.loads(got(client, code))
    titles = [column.title for column in wanted.columns]
    lines = list(csv.reader(io.StringIO(got(client, code, "csv").decode())))
    start = lines.index(titles) + 1
    book = cells(got(client, code, "xlsx"))
    first = book.index(titles) + 1
    for number, row in enumerate(found["rows"]):
        values = [row[column.name] for column in wanted.columns]
        written = lines[start + number]
        numbers = []
        for column, amount, cell in zip(wanted.columns, values, written, strict=True):
            if column.kind == MONEY and amount is not None:
                assert Fraction(cell) * 100 == amount, (code, column.name)
                numbers.append(amount)
            elif column.kind == TEXT and amount is not None:
                assert cell.removeprefix("'") == str(amount)
        exact = [Fraction(cell) * 100 for cell in book[first + number] if re.fullmatch(r"-?\d+(\.\d+)?", str(cell))]
        assert Counter(numbers) <= Counter(exact), (code, row)
    assert len(found["rows"]) == found["count"]


def test_no_text_becomes_a_formula(lived: Lived) -> None:
    client = client_of(AUDITOR)
    assert f'"\'{FORMULA.replace(chr(34), chr(34) * 2)}"' in got(client, "slips", "csv").decode()
    assert FORMULA in [cell for row in cells(got(client, "slips", "xlsx")) for cell in row]


# ── who, and with what ──────────────────────────────────────────────────────────────────────────────────────────
def test_a_role_sees_its_reports_and_no_others(lived: Lived) -> None:
    listed: dict[str, set[str]] = {}
    for role in ROLES:
        client = client_of(role)
        answer = client.get("/api/v1/reports")
        page = client.get("/reports/")
        if role not in (ACCOUNTING, CONTROLLER, AUDITOR, MANAGER):
            assert (answer.status_code, page.status_code) == (403, 403), role
            assert answer.json()["code"] == "not_your_role"
            listed[role] = set()
            continue
        listed[role] = {item["code"] for item in answer.json()["items"]}
        assert {item["title"] for item in answer.json()["items"]} <= {each.title for each in registry.seen_by([role])}
        assert all(f'href="/reports/{code}/"' in page.content.decode() for code in listed[role])
        for code in CODES:
            expected = 200 if code in listed[role] else 403
            assert client.get(f"/reports/{code}/").status_code == expected, (role, code)
            assert client.get(f"/api/v1/reports/{code}").status_code == expected, (role, code)
    assert listed[AUDITOR] == listed[CONTROLLER] == set(CODES)
    assert listed[ACCOUNTING] == set(CODES) - {"access"}
    assert listed[MANAGER] == {"progressive", "jackpots", "slips", "statistics", "acts", "exceptions"}
    assert listed[SECURITY] == listed[ADMINISTRATOR] == set()


def test_what_cannot_be_read_names_the_field_and_shows_nothing(lived: Lived) -> None:
    client = client_of(AUDITOR)
    for code, given, name, rule in (
        ("ledger", {"from": "yesterday"}, "from", "a day like"),
        ("ledger", {"from": "2026-11-27", "to": "2026-11-26"}, "to", "not before from"),
        ("ledger", {"account": "no-such"}, "account", "one of"),
        ("ledger", {"acount": "cage"}, "acount", "no such parameter"),
        ("roll-forward", {"by": "week"}, "by", "one of day, month, quarter, year"),
        ("progressive", {"day": "2026-13-01"}, "day", "a day like"),
        ("progressive", {"from": "2026-11-27"}, "from", "no such parameter"),
        ("statistics", {"table": "MS-999"}, "table", "one of"),
        ("unclaimed", {"form": "docx"}, "form", "one of json, csv, xlsx, pdf"),
    ):
        answer = client.get(f"/api/v1/reports/{code}", given)
        assert answer.status_code == 400, given
        assert answer.json()["pointer"] == f"/{name}"
        assert rule in answer.json()["detail"]
        if name != "form":
            page = client.get(f"/reports/{code}/", given)
            assert page.status_code == 400
            assert rule in text_of(page)
            assert "Nothing is shown." in text_of(page)
            assert "figures tight report" not in page.content.decode()
    assert client.get("/api/v1/reports/none").status_code == 404
    assert client.get("/reports/none/").status_code == 404


def test_filters_narrow_and_are_said_in_words(lived: Lived) -> None:
    found = report("ledger", account="cage", reason="payment")
    assert found["filters"] == "Account: cage; Reason: payment"
    assert {row["credit"] for row in found["rows"]} == {"cage"}
    assert {row["reason"] for row in found["rows"]} == {"payment"}
    (remark,) = found["remarks"]
    assert remark.startswith("Cage: brought forward $0.00")
    assert {row["link"] for row in report("roll-forward", link="twin")["rows"]} == {"twin"}
    assert {row["state"] for row in report("slips", state="void")["rows"]} == {"void"}
    assert {row["table"] for row in report("statistics", table=TWIN)["rows"]} == {TWIN}
    assert {row["kind"] for row in report("exceptions", kind="round held")["rows"]} == {"round held"}


# ── long ones, by a worker ──────────────────────────────────────────────────────────────────────────────────────
def test_a_long_report_is_made_by_a_worker_and_kept_for_a_term(monkeypatch: pytest.MonkeyPatch, lived: Lived) -> None:
    called: list[int] = []
    monkeypatch.setattr(jobs, "call", called.append)
    client = client_of(ACCOUNTING)
    days = {"from": FIRST, "to": str(today() + timedelta(days=40))}
    assert "This may take long." in text_of(client.get("/reports/ledger/", days))
    assert "This may take long." not in text_of(client.get("/reports/ledger/"))
    asked = client.post("/reports/ledger/make", days | {"form": "xlsx", "account": "cage"})
    assert asked.status_code == 302
    page, job_id = asked.headers["Location"], int(asked.headers["Location"].strip("/").rpartition("/")[2])
    assert called == [job_id]
    assert "Waits for a worker." in text_of(client.get(page))
    assert client.get(f"{page}file").status_code == 404
    again = client.post("/reports/ledger/make", days | {"form": "xlsx", "account": "cage"}, follow=True)
    assert again.redirect_chain[-1][0] == page and "You have asked for this report already" in text_of(again)
    other = client.post("/reports/ledger/make", days | {"form": "csv"})
    assert other.headers["Location"] not in (page, "/reports/ledger/"), "another form waits beside it"

    assert jobs.run(job_id, clock=lambda: datetime.now(UTC))
    shown = text_of(client.get(page))
    count = report("ledger", account="cage", to=days["to"])["count"]
    assert f"Ledger, gaming days {FIRST} to {days['to']}, {count} rows as XLSX" in shown
    answer: Any = client.get(f"{page}file")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="ledger-{FIRST}-{days["to"]}.xlsx"'
    file = b"".join(answer.streaming_content)
    assert sha256(file).hexdigest() in shown
    made, direct = cells(file), cells(got(client, "ledger", "xlsx", account="cage", to=days["to"]))
    assert made[0] == direct[0]
    assert made[6:] == direct[6:]
    assert any("by a-accounting" in str(cell) for row in made[:6] for cell in row)

    assert client_of(SECURITY).get(page).status_code == client_of(MANAGER).get(page).status_code == 403
    assert client_of(MANAGER).get(f"{page}file").status_code == 403
    assert client_of(AUDITOR).get(f"{page}file").status_code == 200
    assert "Ledger" in text_of(client.get("/reports/made/"))
    assert "Ledger" not in text_of(client_of(MANAGER).get("/reports/made/")).partition("What came of it")[2]

    jobs.remove_results(datetime.now(UTC))
    assert client.get(f"{page}file").status_code == 200
    # The database judges by its own clock: the job is moved into the past, which nothing forbids a test.
    run("UPDATE office_job SET finished_at = finished_at - interval '92 days' WHERE id = %s", job_id)
    jobs.remove_results(datetime.now(UTC))
    assert client.get(f"{page}file").status_code == 404
    assert "is removed: ask for the report again" in text_of(client.get(page))
    assert not value("SELECT count(*) FROM office_resultpart WHERE job_id = %s", job_id)


def test_what_a_worker_could_not_make_is_refused_at_once(lived: Lived) -> None:
    client = client_of(ACCOUNTING)
    before = value("SELECT count(*) FROM office_job")
    for given in ({"form": "docx"}, {}, {"form": "csv", "from": "soon"}, {"form": "csv", "account": "none"}):
        assert client.post("/reports/ledger/make", given).status_code == 400, given
    assert client.post("/reports/access/make", {"form": "csv"}).status_code == 403
    assert client.post("/reports/none/make", {"form": "csv"}).status_code == 404
    assert client.get("/reports/made/999999/").status_code == 404
    assert value("SELECT count(*) FROM office_job") == before


def test_pages_of_more_rows_than_anybody_reads_are_refused(monkeypatch: pytest.MonkeyPatch, lived: Lived) -> None:
    monkeypatch.setattr("accounting.reporting.forms.pdf.MOST_ROWS", 3)
    answer = client_of(AUDITOR).get("/api/v1/reports/ledger", period("ledger") | {"form": "pdf"})
    assert answer.status_code == 400
    assert answer.json()["pointer"] == "/form"
    assert "more than 3 rows are for csv or xlsx" in answer.json()["detail"]


def test_a_page_says_how_much_it_leaves_out(monkeypatch: pytest.MonkeyPatch, lived: Lived) -> None:
    client, days = client_of(AUDITOR), period("ledger")
    count = report("ledger")["count"]
    monkeypatch.setattr("accounting.reporting.views.SHOWN", 5)
    page = client.get("/reports/ledger/", days).content.decode()
    assert f"The first 5 rows are shown; {count - 5} more are in the files." in page
    assert "<tfoot>" in page
    assert "In the files there is more of each row: For day, Line." in page
    monkeypatch.setattr("accounting.reporting.views.LOOKED_THROUGH", 7)
    page = client.get("/reports/ledger/", days).content.decode()
    assert "of more than can be added up on a page" in page
    assert "<tfoot>" not in page


# ── what they come to, from the record of rounds and acts alone ─────────────────────────────────────────────────
def settlements() -> list[tuple[str, dict[str, Any], bool]]:
    """Every round that counts, as its settlement says; and whether people voided it later."""
    voided = {
        json.loads(bytes(cause))["subject"]
        for (cause,) in rows(
            "SELECT cause FROM accounting_document document JOIN accounting_event event USING (stream_id, sequence)"
            " WHERE event.kind = 'round.void'"
        )
    }
    found = rows("SELECT settlement FROM tables_round ORDER BY stream_id, sequence")
    read = [json.loads(bytes(settlement)) for (settlement,) in found]
    return [(each["table"], each, f"{each['table']}/{each['round']}" in voided) for each in read]


def test_statistics_are_what_the_messages_staked_and_the_settlements_handed_back(lived: Lived) -> None:
    staked: Counter[tuple[str, str]] = Counter()
    paid: Counter[tuple[str, str]] = Counter()
    antes: Counter[tuple[str, str]] = Counter()
    sent = {(each["table"], each["round"]): each for each in lived.posted if each.get("kind") != "lock"}
    streets = ("ante", "third_street", "fourth_street", "fifth_street")
    for table, settled, is_voided in settlements():
        if is_voided or settled["outcome"] != "settled":
            continue
        stands = {entry["seat"]: entry for entry in settled["seats"] if entry["result"] != "void"}
        for asked in sent[table, settled["round"]]["seats"]:
            if asked["seat"] in stands:
                for wager, cents in asked["wagers"].items():
                    name = "base" if wager in streets else wager
                    staked[table, name] += cents
                    antes[table, name] += cents if wager not in streets[1:] else 0
        for entry in stands.values():
            for line in entry["lines"]:
                paid[table, "base" if line["wager"] in streets else line["wager"]] += line["paid_cents"]
            for envy in entry["envy"]:
                paid[table, "envy"] += envy["paid_cents"]
    found = report("statistics")
    by_wager = {(row["table"], row["wager"]): row for row in found["rows"]}
    assert len(by_wager) == len(found["rows"])
    assert {name: row["handle"] for name, row in by_wager.items() if row["handle"]} == dict(staked)
    assert {name: row["paid"] for name, row in by_wager.items() if row["paid"]} == {n: c for n, c in paid.items() if c}
    assert found["totals"]["hold"] == sum(staked.values()) - sum(paid.values())
    for (table, wager), row in by_wager.items():
        if wager in ("base", "three_card_bonus"):
            edge = of_edition(row["edition"]).edge
            assert edge is not None
            assert row["theory"] == round(edge * antes[table, wager])


def test_the_roll_forward_closes_at_the_meters_that_the_last_events_left(lived: Lived) -> None:
    last: dict[str, dict[str, Any]] = {}
    for stream, result in rows(
        "SELECT stream.code, coalesce(round.settlement, lock.result, document.result) FROM accounting_event event"
        " JOIN accounting_stream stream ON stream.id = stream_id"
        " LEFT JOIN tables_round round USING (stream_id, sequence) LEFT JOIN tables_lock lock USING (stream_id, sequence)"
        " LEFT JOIN accounting_document document USING (stream_id, sequence) ORDER BY event.stream_id, event.sequence"
    ):
        for row in json.loads(bytes(result)).get("meters", ()):
            if row["link"] == stream:  # a transfer's event has the meters of both links
                last[f"{row['link']}/{row['level']}"] = row
    assert len(last) == 3
    for by in ("day", "month", "quarter", "year"):
        found = report("roll-forward", by=by)
        final = found["rows"][-1]["period"]
        closing = {
            (row["level"], row["part"]): row["closing"]
            for row in found["rows"]
            if row["period"] == final and row["link"]
        }
        for level, row in last.items():
            for part, key in (("display", "after_cents"), ("reserve", "reserve_cents"), ("overflow", "overflow_cents")):
                assert closing.get((level, part), 0) == row[key], (by, level, part)
        # What was taken off one period's closing is the next one's opening.
        before: dict[tuple[str, str, str], int] = {}
        for row in found["rows"]:
            name = row["link"], row["level"], row["part"]
            assert row["opening"] == before.get(name, 0), (by, row)
            before[name] = row["closing"]
    day, year = report("roll-forward", by="day"), report("roll-forward", by="year")
    assert day["totals"] == year["totals"]
    awards = sum(award["paid_cents"] for _, settled, _ in settlements() for award in settled["awards"])
    envy = sum(
        each["paid_cents"] for _, settled, _ in settlements() for entry in settled["seats"] for each in entry["envy"]
    )
    moved = Counter[str]()
    for row in year["rows"]:
        moved[row["part"]] += row["award"]
    assert moved["display"] == -awards
    assert moved["unpaid"] == awards + envy


def test_jackpots_are_the_awards_of_the_settlements(lived: Lived) -> None:
    expected = [
        (award["hit"], award["level"], award["paid_cents"], award["meter_before_cents"], award["meter_after_cents"])
        for _, settled, _ in settlements()
        for award in settled["awards"]
    ]
    found = report("jackpots")
    shown = [(row["hit"], row["level"], row["award"], row["meter_before"], row["meter_after"]) for row in found["rows"]]
    assert sorted(shown) == sorted(expected)
    assert found["totals"]["award"] == sum(award[2] for award in expected)
    ended = {row["hit"]: row for row in found["rows"]}
    paid = ended[hit_of(NEIGHBOUR, "n-1")]
    assert (paid["state"], paid["verified_by"], paid["approved_by"], paid["ended_by"]) == (
        "paid", "a-supervisor", "a-manager", "a-cage",
    )  # fmt: skip
    assert found["totals"]["paid"] == paid["award"]
    assert (
        found["totals"]["rejected"]
        == sum(ended[name]["award"] for name in ended if ended[name]["state"] == "rejected")
        > 0
    )


def test_what_is_owed_is_what_was_won_and_neither_paid_nor_taken_back(lived: Lived) -> None:
    owed: dict[str, int] = {}
    for table, settled, _ in settlements():
        for award in settled["awards"]:
            owed[award["hit"]] = award["paid_cents"]
        for entry in settled["seats"]:
            for envy in entry["envy"]:
                owed[f"{table}/{settled['round']}/{entry['seat']}/{envy['from_seat']}"] = envy["paid_cents"]
    for (result,) in rows("SELECT result FROM accounting_document"):
        for step in json.loads(bytes(result)).get("steps", ()):
            if step["state"] in ("paid", "rejected", "cancelled", "remitted"):
                owed.pop(step["name"], None)
    found = report("unclaimed")
    assert {row["name"]: row["payable"] + row["unclaimed"] for row in found["rows"]} == {
        n: c for n, c in owed.items() if c
    }
    assert found["totals"]["payable"] == sum(owed.values())
    assert all("agrees with the register" in remark for remark in found["remarks"])


def test_the_daily_report_goes_from_nothing_to_the_readings(lived: Lived) -> None:
    found = report("progressive")
    read = dict(rows("SELECT level, display_cents FROM accounting_reading"))
    assert {row["level"]: row["reading"] for row in found["rows"]} == read
    assert found["totals"]["variance"] == 0
    progressives: Counter[str] = Counter()
    for table, settled, _ in settlements():
        for entry in settled["seats"]:
            for line in entry["lines"]:
                if line["wager"] == "progressive" and line["result"] != "void":
                    progressives["twin" if table == TWIN else "ms-mg01"] += line["stake_cents"]
    for row in found["rows"]:
        assert row["wagered"] == progressives[row["level"].partition("/")[0]], row["level"]
    hits = Counter(
        f"{'twin' if table == TWIN else 'ms-mg01'}/{award['level']}"
        for table, settled, _ in settlements()
        for award in settled["awards"]
    )
    assert {row["level"]: row["hits"] for row in found["rows"] if row["hits"]} == dict(hits)
    assert "000004" in next(row["slips"] for row in found["rows"] if row["level"] == "ms-mg01/major")


def test_the_books_are_the_movements_of_the_record(lived: Lived) -> None:
    """From the documents and settlements: what the ledger moved on the cage, and debits that equal credits."""
    ledger, balance = report("ledger"), report("trial-balance")
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in ledger["rows"]:
        sums[row["debit"]][0] += row["amount"]
        sums[row["credit"]][1] += row["amount"]
    assert {row["code"]: [row["debits"], row["credits"]] for row in balance["rows"]} == dict(sums)
    assert balance["totals"]["debits"] == balance["totals"]["credits"] == ledger["totals"]["amount"]
    wagered = sum(
        line["stake_cents"]
        for _, settled, _ in settlements()
        for entry in settled["seats"]
        for line in entry["lines"]
        if line["result"] != "void"
    )
    assert sum(row["amount"] for row in ledger["rows"] if row["reason"] == "wager") == wagered
    people = {
        row["event"] for row in ledger["rows"] if row["reason"] in ("correction", "transfer", "rejection", "void")
    }
    adjusted = report("adjustments")
    assert {row["event"] for row in adjusted["rows"]} == people
    assert adjusted["totals"]["amount"] == sum(
        row["amount"] for row in ledger["rows"] if row["reason"] in ("correction", "transfer", "rejection", "void")
    )
    correction = next(row for row in adjusted["rows"] if row["reason"] == "correction")
    assert (correction["by"], correction["approved_by"], correction["why"]) == (
        "accounting.one", "controller.one", "looked into",
    )  # fmt: skip


def test_the_slips_register_and_the_tax_pack(lived: Lived) -> None:
    slips = report("slips")
    assert [row["slip"] for row in slips["rows"]] == ["000001", "000002", "000003", "000004"]
    assert [row["state"] for row in slips["rows"]] == ["paid", "void", "paid", "paid"]
    assert slips["remarks"] == ["No number is missing from 000001 to 000004, the last that was given out."]
    (settled,) = [settled for table, settled, _ in settlements() if (table, settled["round"]) == (NEIGHBOUR, "n-1")]
    award = settled["awards"][0]["paid_cents"]
    (envy,) = (each["paid_cents"] for entry in settled["seats"] for each in entry["envy"])
    (first,) = (
        each["paid_cents"]
        for table, settled, _ in settlements()
        if (table, settled["round"]) == (LINKED, "r-1")
        for entry in settled["seats"]
        for each in entry["envy"]
        if (entry["seat"], each["from_seat"]) == (6, 2)
    )
    assert (slips["totals"]["paid"], slips["totals"]["void"], slips["totals"]["issued"]) == (
        first + envy + award,
        envy,
        0,
    )
    tax = report("tax")
    (form,) = tax["rows"]
    assert (form["slip"], form["paid"], form["wager"], form["known"]) == ("000004", award, 100, "NOT YET")
    assert form["winnings"] == award - 100, "the wager is deducted by the terms of the day"
    assert tax["totals"]["withheld"] == slips["totals"]["withheld"] == form["withheld"]
    assert "Forms W-2G: 1" in tax["remarks"][0]
    run("SET session_replication_role = replica")
    run("UPDATE slips_slip SET number = 20 WHERE number = 2")
    run("UPDATE slips_slipcounter SET last = 21")
    try:
        (gap,) = report("slips")["remarks"]
        assert gap.startswith("MISSING of 000001 to 000021: 000002, 000005–000019, 000021.")
    finally:
        run("UPDATE slips_slip SET number = 2 WHERE number = 20")
        run("UPDATE slips_slipcounter SET last = 4")
        run("SET session_replication_role = origin")


def test_acts_exceptions_and_access_name_who_did_what(lived: Lived) -> None:
    acts = report("acts")
    states = Counter(row["state"] for row in acts["rows"])
    assert states == Counter(dict(rows("""
        SELECT coalesce(outcome.state, 'waiting'), count(*) FROM office_proposal proposal
        LEFT JOIN office_outcome outcome ON outcome.proposal_id = proposal.id GROUP BY 1
    """)))  # fmt: skip
    first = acts["rows"][0]
    assert (first["act"], first["by"], first["approved_by"], first["evidence"], first["amount"]) == (
        "Adjust a level", "accounting.one", "controller.one as controller", "Ticket 4711", 500,
    )  # fmt: skip
    assert {row["act"] for row in report("acts", role=MANAGER, act="slip.void")["rows"]} == {"Void a slip"}

    found = report("exceptions")
    kinds = Counter(row["kind"] for row in found["rows"])
    held = sum(house_settled(each) == "held" for each in lived.posted)
    assert kinds["round held"] >= held > 0
    assert kinds["round booked late"] == 1
    assert kinds["hit rejected"] == 1
    assert kinds["slip void"] == 1
    assert kinds["significant event"] == value("SELECT count(*) FROM devices_significantevent")
    voided = next(row for row in found["rows"] if row["kind"] == "round voided")
    assert (voided["about"], voided["who"]) == (f"{LINKED}/w-1", "tester")
    assert f"round held {kinds['round held']}" in found["remarks"][0]

    access = report("access")
    came_in = Counter(row["who"] for row in access["rows"] if row["what"] == "sign in")
    assert came_in == Counter(dict(rows("SELECT username, count(*) FROM axes_accesslog GROUP BY username")))
    assert came_in["a-auditor"] > 1
    assert any(row["what"].startswith("issue") or "token" in row["what"] for row in access["rows"])
    assert [row["at"] for row in access["rows"]] == sorted(row["at"] for row in access["rows"])
    assert report("access", person="tess")["rows"]


def house_settled(sent: Message) -> str:
    """What became of a message at first."""
    return str(House().settlement(sent)["outcome"]) if sent.get("kind") != "lock" else "lock"


# ── rows of any number ──────────────────────────────────────────────────────────────────────────────────────────
MANY = 8_000


def _many(asked: Asked) -> Iterator[tuple[Any, ...]]:
    return ((f"=row {number}", number, -number) for number in range(MANY))


ENDLESS = Report(
    code="many", title="Many", purpose="Many rows", group="Books", roles=frozenset(), rows=_many,
    columns=(
        Column(name="name", title="Name"),
        Column(name="up", title="Up", kind=MONEY, sums=True),
        Column(name="down", title="Down", kind=MONEY, sums=True),
    ),
    feet=(Foot(said="nothing is left", left=("up", "down"), right=()),),
)  # fmt: skip


def many() -> Made:
    """A report of many rows."""
    at = datetime(2026, 11, 28, tzinfo=UTC)
    heading = Heading("House", "Many", VERSION, "gaming day 2026-11-27", "now by ann", "none")
    return Made(ENDLESS, Asked(at.date(), at.date(), at, {}), heading, ZoneInfo("UTC"), [])


def test_files_of_any_length_take_no_more_memory_than_short_ones() -> None:
    tracemalloc.start()
    try:
        made = many()
        length = sum(len(part) for part in as_csv.parts(made))
        in_csv = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        with TemporaryFile() as file:
            as_xlsx.write(many(), file)
            size = file.tell()
        in_xlsx = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert made.totals.row() == (None, MANY * (MANY - 1) // 2, -MANY * (MANY - 1) // 2)
    assert [verdict.is_even for verdict in made.totals.verdicts()] == [True]
    assert length > 150_000 and size > 60_000
    assert in_csv < 500_000
    assert in_xlsx < 2_000_000


def test_what_does_not_foot_is_said() -> None:
    totals = Totals(ENDLESS)
    assert list(totals.passing([("a", 5, -5), ("b", 7, -6), ("c", None, 4)])) == [
        ("a", 5, -5),
        ("b", 7, -6),
        ("c", None, 4),
    ]
    (verdict,) = totals.verdicts()
    assert not verdict.is_even
    assert verdict.words == "DOES NOT FOOT: nothing is left; the totals differ by 1 cents and 1 row differ"
    assert totals.row() == (None, 12, -7)


def test_an_amount_keeps_every_cent_in_a_spreadsheet() -> None:
    amounts = [1, -1, 10, 999_999_999_999_999, -123_456_789_012_345, 1_000_000_000_000_001, 2**62]
    report = Report(
        code="large", title="Large", purpose="", group="Books", roles=frozenset(),
        rows=lambda asked: ((amount,) for amount in amounts), columns=(Column(name="a", title="A", kind=MONEY),),
    )  # fmt: skip
    made = many()
    made.report, made.totals = report, Totals(report)
    with TemporaryFile() as file:
        as_xlsx.write(made, file)
        file.seek(0)
        book = cells(file.read())
    start = book.index(["A"]) + 1
    written = [row[0] for row in book[start : start + len(amounts)]]
    assert [Fraction(each) * 100 for each in written] == amounts


def test_what_a_sheet_has_no_room_for_goes_on_on_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_xlsx, "ROWS_OF_A_SHEET", MANY - 10)
    with TemporaryFile() as file:
        as_xlsx.write(many(), file)
        file.seek(0)
        book = file.read()
    first, second = cells(book), cells(book, 2)
    assert len(first) == 6 + 1 + MANY - 10, "a row of nothing is none"
    assert second[0] == first[6] == ["Name", "Up", "Down"]
    assert [row[0] for row in second[1:11]] == [f"=row {number}" for number in range(MANY - 10, MANY)]
    assert second[-2:] == [[f"Rows: {MANY:,}"], ["Foots: nothing is left"]]


def test_the_version_is_that_of_the_package() -> None:
    assert f'version = "{VERSION}"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_a_report_over_no_day_is_empty_and_says_so(lived: Lived) -> None:
    client = client_of(AUDITOR)
    page = text_of(client.get("/reports/ledger/", {"from": "2020-01-01", "to": "2020-01-02"}))
    assert "Nothing in this period." in page
    assert making.names(registry.reports()["ledger"]) == ("from", "to", "account", "stream", "reason")
    assert connection.connection is not None
