"""Every report in every form: who sees it, what it says of itself, long ones by a worker, rows of any number."""

from __future__ import annotations

import csv
import io
import json
import re
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from hashlib import sha256
from tempfile import TemporaryFile
from typing import Any
from zoneinfo import ZoneInfo

import pypdfium2
import pytest
from django.db import connection

from accounting.office.services import jobs
from accounting.reporting import making, registry
from accounting.reporting.footing import Totals
from accounting.reporting.forms import csv as as_csv
from accounting.reporting.forms import pdf
from accounting.reporting.forms import xlsx as as_xlsx
from accounting.reporting.making import Heading, Made
from accounting.reporting.shape import MONEY, TEXT, WHOLE, Asked, Column, Foot, Report
from accounting.rules.parameters import BadParameter
from accounting.rules.roles import (
    ACCOUNTING,
    ADMINISTRATOR,
    AUDITOR,
    CONTROLLER,
    MANAGER,
    ROLES,
    SECURITY,
)
from accounting.rules.version import VERSION
from accounting.shell.templatetags.pages import day
from tests.pages.conftest import text_of
from tests.pages.lived_in import client_of
from tests.pages.reported import (
    CODES,
    FIRST,
    FORMULA,
    ROOT,
    Lived,
    cells,
    got,
    period,
    report,
    today,
)
from tests.services.house import TWIN, run, value


# ── every form ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_every_report_is_there_and_foots(reported: Lived) -> None:
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
def test_every_form_says_its_title_version_period_and_who_made_it(reported: Lived, code: str) -> None:
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
def test_every_form_has_the_same_figures(reported: Lived, code: str) -> None:
    client, wanted = client_of(AUDITOR), registry.reports()[code]
    found = json.loads(got(client, code))
    titles = [column.title for column in wanted.columns]
    lines = list(csv.reader(io.StringIO(got(client, code, "csv").decode())))
    start = lines.index(titles) + 1
    book = cells(got(client, code, "xlsx"))
    first = book.index(titles) + 1
    for number, row in enumerate(found["rows"]):
        values = [row[column.name] for column in wanted.columns]
        assert {name for name in row if row[name] == ""} <= {"about"}, "what there is nothing of is none"
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


def test_no_text_becomes_a_formula(reported: Lived) -> None:
    client = client_of(AUDITOR)
    assert f'"\'{FORMULA.replace(chr(34), chr(34) * 2)}"' in got(client, "slips", "csv").decode()
    assert FORMULA in [cell for row in cells(got(client, "slips", "xlsx")) for cell in row]


# ── who, and with what ──────────────────────────────────────────────────────────────────────────────────────────
def test_a_role_sees_its_reports_and_no_others(reported: Lived) -> None:
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
    assert listed[MANAGER] == {
        "progressive",
        "jackpots",
        "slips",
        "statistics",
        "games",
        "weekly",
        "acts",
        "exceptions",
    }
    assert listed[SECURITY] == listed[ADMINISTRATOR] == set()


def test_what_cannot_be_read_names_the_field_and_shows_nothing(reported: Lived) -> None:
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


def test_filters_narrow_and_are_said_in_words(reported: Lived) -> None:
    found = report("ledger", account="cage", reason="payment")
    assert found["filters"] == "Account: Cage; Reason: payment"
    assert {row["credit"] for row in found["rows"]} == {"cage"}
    assert {row["reason"] for row in found["rows"]} == {"payment"}
    (remark,) = found["remarks"]
    assert remark.startswith("Cage: brought forward $0.00")
    assert {row["link"] for row in report("roll-forward", link="twin")["rows"]} == {"twin"}
    assert {row["state"] for row in report("slips", state="void")["rows"]} == {"void"}
    assert {row["table"] for row in report("statistics", table=TWIN)["rows"]} == {TWIN}
    assert {row["kind"] for row in report("exceptions", kind="round held")["rows"]} == {"round held"}


# ── long ones, by a worker ──────────────────────────────────────────────────────────────────────────────────────
def test_a_long_report_is_made_by_a_worker_and_kept_for_a_term(
    monkeypatch: pytest.MonkeyPatch, reported: Lived
) -> None:
    called: list[int] = []
    monkeypatch.setattr(jobs, "call", called.append)
    client = client_of(ACCOUNTING)
    for length, is_long in ((30, False), (31, True)):
        days = {"from": str(today()), "to": str(today() + timedelta(days=length))}
        assert ("This may take long." in text_of(client.get("/reports/ledger/", days))) is is_long
    days = {"from": FIRST, "to": str(today() + timedelta(days=40))}
    assert "This may take long." in text_of(client.get("/reports/ledger/", days))
    assert "This may take long." not in text_of(client.get("/reports/ledger/"))
    asked = client.post("/reports/ledger/make", days | {"form": "xlsx", "account": "cage"})
    assert asked.status_code == 302
    page, job_id = asked.headers["Location"], int(asked.headers["Location"].strip("/").rpartition("/")[2])
    assert called == [job_id]
    assert "Waits for a worker." in text_of(client.get(page))
    assert client.get(f"{page}files/1").status_code == 404
    again = client.post("/reports/ledger/make", days | {"form": "xlsx", "account": "cage"}, follow=True)
    assert again.redirect_chain[-1][0] == page and "You have asked for this report already" in text_of(again)
    other = client.post("/reports/ledger/make", days | {"form": "csv"})
    assert other.headers["Location"] not in (page, "/reports/ledger/"), "another form waits beside it"

    assert jobs.run(job_id, clock=lambda: datetime.now(UTC))
    shown = text_of(client.get(page))
    count = report("ledger", account="cage", to=days["to"])["count"]
    assert f"Ledger, gaming days {FIRST} to {days['to']}, {count} rows as XLSX" in shown
    answer: Any = client.get(f"{page}files/1")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="ledger-{FIRST}-{days["to"]}.xlsx"'
    file = b"".join(answer.streaming_content)
    assert sha256(file).hexdigest() in shown
    made, direct = cells(file), cells(got(client, "ledger", "xlsx", account="cage", to=days["to"]))
    assert made[0] == direct[0]
    assert made[6:] == direct[6:]
    assert any("by a-accounting" in str(cell) for row in made[:6] for cell in row)

    assert client_of(SECURITY).get(page).status_code == client_of(MANAGER).get(page).status_code == 403
    assert client_of(MANAGER).get(f"{page}files/1").status_code == 403
    assert client_of(AUDITOR).get(f"{page}files/1").status_code == 200
    assert client_of(AUDITOR).get(f"/audit/jobs/{job_id}/files/1").status_code == 404, "its page gives it out, by role"
    assert "Ledger" in text_of(client.get("/reports/made/"))
    assert "Ledger" not in text_of(client_of(MANAGER).get("/reports/made/")).partition("What came of it")[2]

    # The database judges by its own clock: the job is moved into the past, which nothing forbids a test.
    past = "UPDATE office_job SET finished_at = finished_at - interval '1 day' * %s WHERE id = %s"
    run(past, 40, job_id)
    jobs.remove_results(datetime.now(UTC))
    assert client.get(f"{page}files/1").status_code == 200
    last = value("SELECT finished_at FROM office_job WHERE id = %s", job_id).astimezone(UTC) + timedelta(days=90)
    assert f"bytes, kept until {day(last.date())} SHA-256" in text_of(client.get(page))
    run(
        "UPDATE office_job SET asked = jsonb_set(asked, '{report}', '\"none\"') WHERE id = %s",
        other.headers["Location"].split("/")[3],
    )
    assert client.get(other.headers["Location"]).status_code == 404, "a report that this version does not know"
    assert client.get("/reports/made/").status_code == 200
    run(past, 52, job_id)
    jobs.remove_results(datetime.now(UTC))
    assert client.get(f"{page}files/1").status_code == 404
    assert "is removed: ask for the report again" in text_of(client.get(page))
    assert not value("SELECT count(*) FROM office_resultpart WHERE job_id = %s", job_id)


def test_what_a_worker_could_not_make_is_refused_at_once(reported: Lived) -> None:
    client = client_of(ACCOUNTING)
    before = value("SELECT count(*) FROM office_job")
    for given in ({"form": "docx"}, {}, {"form": "csv", "from": "soon"}, {"form": "csv", "account": "none"}):
        assert client.post("/reports/ledger/make", given).status_code == 400, given
    assert client.post("/reports/access/make", {"form": "csv"}).status_code == 403
    assert client.post("/reports/none/make", {"form": "csv"}).status_code == 404
    assert client.get("/reports/made/999999/").status_code == 404
    assert value("SELECT count(*) FROM office_job") == before


def test_pages_of_more_rows_than_anybody_reads_are_refused(monkeypatch: pytest.MonkeyPatch, reported: Lived) -> None:
    monkeypatch.setattr("accounting.reporting.forms.pdf.MOST_ROWS", 3)
    answer = client_of(AUDITOR).get("/api/v1/reports/ledger", period("ledger") | {"form": "pdf"})
    assert answer.status_code == 400
    assert answer.json()["pointer"] == "/form"
    assert "more than 3 rows are for csv or xlsx" in answer.json()["detail"]


def test_a_page_says_how_much_it_leaves_out(monkeypatch: pytest.MonkeyPatch, reported: Lived) -> None:
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


def test_a_long_pdf_comes_in_parts_that_carry_their_sums_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MOST_ROWS", 900)
    made = many()
    texts: list[str] = []
    for number, count, content in pdf.documents(made):
        assert (number, count) == (len(texts) + 1, 9)
        document = pypdfium2.PdfDocument(content)
        texts.append(" ".join(" ".join(page.get_textpage().get_text_range().split()) for page in document))
    assert len(texts) == 9
    for number, text in enumerate(texts):
        until = min(900 * (number + 1), MANY)
        carried = f"${until * (until - 1) // 200:,}.{until * (until - 1) // 2 % 100:02d}"
        assert f"Many, part {number + 1} of 9" in text
        assert f"Rows {900 * number + 1:,} to {until:,} of 8,000 rows" in text
        assert (f"Total {carried}" if number == 8 else f"Carried forward {carried}") in text, number
        assert ("Brought forward" in text) == (number > 0)
        assert ("Foots: nothing is left" in text) == (number == 8), "only the last has all rows"
    monkeypatch.setattr(pdf, "MOST_PARTS", 8)
    with pytest.raises(BadParameter, match="more than 7,200 rows"):
        list(pdf.documents(many()))


def test_a_pdf_of_as_many_rows_as_one_document_has_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MOST_ROWS", MANY)
    ((number, count, content),) = pdf.documents(many())
    assert (number, count, content) == (1, 1, pdf.document(many()))


def test_a_long_pdf_is_made_in_parts_by_a_worker(monkeypatch: pytest.MonkeyPatch, reported: Lived) -> None:
    monkeypatch.setattr(jobs, "call", lambda job_id: None)
    client, days = client_of(ACCOUNTING), period("ledger")
    count = report("ledger")["count"]
    few = days | {"from": days["to"]}
    of_few = report("ledger", **few)["count"]
    for most, is_long in ((of_few, False), (of_few - 1, True)):
        monkeypatch.setattr(pdf, "MOST_ROWS", most)
        assert ("This may take long." in text_of(client.get("/reports/ledger/", few))) is is_long
    monkeypatch.setattr(pdf, "MOST_ROWS", 40)
    parts = -(-count // 40)
    assert parts > 1 and "a long PDF in parts" in text_of(client.get("/reports/ledger/", days))
    page = client.post("/reports/ledger/make", days | {"form": "pdf"}).headers["Location"]
    assert jobs.run(int(page.strip("/").rpartition("/")[2]), clock=lambda: datetime.now(UTC))
    shown = text_of(client.get(page))
    assert f"{count} rows as PDF in {parts} parts" in shown
    for number in (1, parts):
        answer: Any = client.get(f"{page}files/{number}")
        assert answer.headers["Content-Disposition"].endswith(f'-{number}-of-{parts}.pdf"')
        assert b"".join(answer.streaming_content).startswith(b"%PDF")
    assert client.get(f"{page}files/{parts + 1}").status_code == 404


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
    with zipfile.ZipFile(io.BytesIO(book)) as file:
        about = file.read("docProps/core.xml").decode()
        assert all(said in about for said in ("<dc:title>Many<", "<dc:creator>House<", ">2026-11-28T00:00:00Z<"))
        sheets = [file.read(f"xl/worksheets/sheet{number}.xml").decode() for number in (1, 2)]
    for sheet, titles in zip(sheets, (8, 1), strict=True):
        assert '<pageSetup fitToHeight="0" orientation="landscape"/>' in sheet, "as wide as a page"
        assert f'<pane xSplit="1" ySplit="{titles}" topLeftCell="B{titles + 1}"' in sheet, "titles stay where they are"
        assert re.findall(r'<col min="(\d)" max="(\d)" width="(\d+)', sheet) == [("1", "1", "20"), ("2", "3", "14")]


def test_the_version_is_that_of_the_package() -> None:
    assert f'version = "{VERSION}"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_a_report_over_no_day_is_empty_and_says_so(reported: Lived) -> None:
    client = client_of(AUDITOR)
    page = text_of(client.get("/reports/ledger/", {"from": "2020-01-01", "to": "2020-01-02"}))
    assert "Nothing in this period." in page
    assert making.names(registry.reports()["ledger"]) == ("from", "to", "account", "stream", "reason")
    assert connection.connection is not None


def test_taxes_know_days_of_the_calendar_and_everything_else_gaming_days(lived: Lived) -> None:
    half_past_one = datetime(2026, 11, 28, 6, 30, tzinfo=UTC)  # at night, in the house
    asked = {code: making.asked(registry.reports()[code], [], at=half_past_one).last for code in ("tax", "slips")}
    assert asked == {"tax": date(2026, 11, 28), "slips": date(2026, 11, 27)}
    shown = text_of(client_of(AUDITOR).get("/reports/tax/", {"from": "2026-11-01", "to": "2026-11-28"}))
    assert "days 2026-11-01 to 2026-11-28" in shown and "gaming days" not in shown


def test_every_amount_and_number_is_added_up_but_what_adds_up_to_nothing() -> None:
    """A balance at a moment, a deviation, an order, what one row repeats of another, and what acts of every kind are worth."""
    left = {
        f"{code}.{column.name}"
        for code, report in registry.reports().items()
        for column in report.columns
        if column.kind in (MONEY, WHOLE) and not column.sums
    }
    assert left == {
        "progressive.wagers", "progressive.wagered", "roll-forward.opening", "roll-forward.closing", "jackpots.order",
        "jackpots.meter_before", "jackpots.meter_after", "tax.payee", "tax.payees", "statistics.deviation", "acts.amount",
        "exceptions.amount",
    }  # fmt: skip
