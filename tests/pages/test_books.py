"""The pages of the books: balances at a moment, statements, events, the chart with the house's numbers, the general ledger."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
import time_machine
from django.test import Client

from accounting.book_queries import Line, statement
from accounting.models import Account
from accounting.queries import trial_balance
from accounting.rules.chart import CHART, worked_examples
from accounting.rules.roles import ACCOUNTING, AUDITOR, CAGE, CONTROLLER
from accounting.shell.templatetags.pages import money
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import DEALT, LINKED, RECEIVED, House, message, rows, royal, two_hits

DAY = "2026-11-27"


def sent(answer: Any) -> str:
    """The text of a file that is streamed."""
    return b"".join(answer.streaming_content).decode()


@pytest.fixture
def played(house: House) -> Iterator[House]:
    """Two gaming days with rounds, hits, a payment and a voided round."""
    house.play(message("R-1"), royal("R-2"), two_hits("R-3"))
    house.act("payout.pay", f"{LINKED}/R-2/1/3", method="cage")
    later = DEALT + timedelta(days=1)
    house.play(message("R-4", dealt_at=later.isoformat()), at=RECEIVED + timedelta(days=1))
    house.act("round.void", f"{LINKED}/R-1", at=RECEIVED + timedelta(days=1))
    yield house


def test_the_balance_behind_every_line_is_the_accounts(played: House) -> None:
    """Worked out from the transfers one by one; the last is the trial balance's."""
    last = trial_balance((DEALT + timedelta(days=1)).date())
    for account in Account.objects.all():
        lines = statement(account, DEALT.date() - timedelta(days=30), DEALT.date() + timedelta(days=30), limit=1000)
        running = 0
        for line in lines:
            running += line.debit_cents - line.credit_cents
            assert line.balance_cents == running, (account.code, line.sequence)
        assert running == next((each.after_cents for each in last if each.code == account.code), 0), account.code


def test_pages_of_a_statement_go_on_where_the_one_before_ended(played: House) -> None:
    account = Account.objects.get(code="awards_payable")
    span = (DEALT.date() - timedelta(days=1), DEALT.date() + timedelta(days=1))
    whole = statement(account, *span, limit=1000)
    paged, after = [], None
    while page := statement(account, *span, after=after, limit=2):
        paged += page
        after = page[-1].place
    assert paged == whole
    assert len(whole) > 5


def test_filters_leave_lines_out_and_balances_as_they_are(played: House) -> None:
    account = Account.objects.get(code="awards_payable")
    span = (DEALT.date() - timedelta(days=1), DEALT.date() + timedelta(days=1))
    whole = statement(account, *span, limit=1000)
    least, most = (end(line.debit_cents + line.credit_cents for line in whole) for end in (min, max))
    kept: list[tuple[dict[str, Any], Callable[[Line], bool]]] = [
        ({"reason": "envy"}, lambda line: line.reason == "envy"),
        ({"kind": "payout.pay"}, lambda line: line.kind == "payout.pay"),
        ({"other": "cage"}, lambda line: line.other == "cage"),
        ({"subject": f"{LINKED}/R-3"}, lambda line: line.subject == f"{LINKED}/R-3"),
        ({"min_cents": 100_001}, lambda line: line.debit_cents + line.credit_cents > 100_000),
        ({"min_cents": most}, lambda line: line.debit_cents + line.credit_cents >= most),
        ({"max_cents": 100_000}, lambda line: line.debit_cents + line.credit_cents <= 100_000),
        ({"max_cents": least}, lambda line: line.debit_cents + line.credit_cents == least),
        ({"stream": "twin"}, lambda line: line.stream == "twin"),
    ]
    for filters, keep in kept:
        found = statement(account, *span, filters, limit=1000)
        assert found == [line for line in whole if keep(line)], filters
        assert (len(found) < len(whole)) and (found or "stream" in filters), filters


def test_a_balance_at_a_moment_is_what_had_been_recorded_by_then(played: House, signed_in: SignedIn) -> None:
    client = signed_in(ACCOUNTING)
    recorded = [at for (at,) in rows("SELECT DISTINCT recorded_at FROM accounting_event ORDER BY 1")]
    assert len(recorded) >= 3
    for at in (*recorded, recorded[0] - timedelta(microseconds=1), recorded[-1] + timedelta(days=9)):
        expected = rows(
            "SELECT account.code, sum(CASE WHEN account.id = debit_id THEN amount_cents ELSE -amount_cents END)::bigint"
            " FROM accounting_transfer JOIN accounting_event USING (stream_id, sequence)"
            " JOIN accounting_account account ON account.id IN (debit_id, credit_id) WHERE recorded_at <= %s GROUP BY 1", at,
        )  # fmt: skip
        answer = client.get("/api/v1/books/trial-balance", {"at": at.isoformat()})
        items = {item["account"]: item["balance_cents"] for item in answer.json()["items"]}
        assert items == dict(expected)
    page = text_of(client.get(f"/accounting/?at={quote(recorded[0].isoformat())}"))
    assert "as it was recorded by" in page
    typed = '{}" name="at" type="datetime-local" step="1" value="{}"'
    for asked, shown in (("", ""), ("?at=2026-11-27T21:14:05", "2026-11-27T21:14:05")):
        assert typed.format("f-at", shown) in client.get(f"/accounting/{asked}").content.decode()
    assert client.get("/accounting/?at=yesterday").status_code == 400
    assert client.get(f"/api/v1/books/trial-balance?day={DAY}&at={quote(recorded[0].isoformat())}").status_code == 400


def test_from_a_total_to_its_rows_to_the_round_and_its_message(played: House, signed_in: SignedIn) -> None:
    client = signed_in(AUDITOR)
    balance = client.get(f"/accounting/{DAY}/").content.decode()
    assert f'href="/accounting/{DAY}/accounts/wagers/"' in balance
    lines = client.get(f"/accounting/{DAY}/accounts/wagers/").content.decode()
    assert 'href="/accounting/events/ms-mg01/1/"' in lines
    assert f'href="/rounds/{LINKED}/R-1"' in lines
    event = client.get("/accounting/events/ms-mg01/1/")
    assert f'href="/rounds/{LINKED}/R-1"' in event.content.decode()
    assert "A table's message" in text_of(event)
    ((last,),) = rows("SELECT max(sequence) FROM accounting_event WHERE kind = 'round.void'")
    act = text_of(client.get(f"/accounting/events/ms-mg01/{last}/"))
    assert "Asked by" in act
    assert "Cause" in act
    opening = client.get("/accounting/events/ms-mg01/0/")
    assert opening.status_code == 200
    for nowhere in ("ms-mg01/99", "none/0", f"ms-mg01/{10**30}"):
        assert client.get(f"/accounting/events/{nowhere}/").status_code == 404


def test_a_statement_over_several_days_carries_over(played: House, signed_in: SignedIn) -> None:
    client = signed_in(CONTROLLER)
    answer = client.get(f"/accounting/{DAY}/accounts/wagers/?to=2026-11-28")
    page = text_of(answer)
    wagers = next(each for each in trial_balance((DEALT + timedelta(days=1)).date()) if each.code == "wagers")
    assert money(wagers.after_cents) in page
    assert "All of these days" in page
    assert client.get(f"/accounting/{DAY}/accounts/wagers/?to=2026-11-26").status_code == 400
    assert client.get(f"/accounting/{DAY}/accounts/wagers/?reason=whim").status_code == 400
    assert client.get(f"/accounting/{DAY}/accounts/wagers/?min=1.234").status_code == 400
    assert client.get(f"/accounting/{DAY}/accounts/wagers/?after=x~1~1~1").status_code == 400
    end = f"{DAY}~{House.stream('ms-mg01')}~{2**62}~{2**62}"
    assert client.get(f"/accounting/{DAY}/accounts/wagers/?after={end}").status_code == 200


def test_the_statement_comes_as_json_and_csv_with_the_same_lines(played: House, signed_in: SignedIn) -> None:
    client = signed_in(ACCOUNTING)
    items: list[dict[str, Any]] = []
    asked: dict[str, str] | None = {"limit": "3"}
    while asked:
        answer = client.get("/api/v1/books/accounts/awards_payable", asked)
        assert answer.status_code == 200, answer.content
        items += answer.json()["items"]
        asked = {"limit": "3", "cursor": answer.json()["next"]} if answer.json()["next"] else None
    answer = client.get("/api/v1/books/accounts/awards_payable", {"form": "csv"})
    found = list(csv.DictReader(io.StringIO(sent(answer))))
    assert [(row["stream"], row["sequence"], row["line"], row["balance_cents"]) for row in found] == [
        (item["stream"], str(item["sequence"]), str(item["line"]), str(item["balance_cents"])) for item in items
    ]
    assert len(items) > 5
    assert client.get("/api/v1/books/accounts/none").status_code == 404
    for of in ("accounts/cage", "general-ledger"):
        assert client.get(f"/api/v1/books/{of}?from={DAY}&to={DAY}").status_code == 200
        backwards: Any = client.get(f"/api/v1/books/{of}?from={DAY}&to=2026-11-26")
        assert (backwards.status_code, backwards.json()["pointer"]) == (400, "/to")
    assert client.get("/api/v1/books/general-ledger?carried=yes").status_code == 400
    both: Any = client.get("/api/v1/books/trial-balance", {"day": DAY, "at": RECEIVED.isoformat()})
    assert (both.status_code, both.json()["pointer"]) == (400, "/at")
    assert client.get("/api/v1/books/accounts/cage?cursor=~~~").status_code == 400


@pytest.mark.parametrize("address", ["trial-balance", "accounts/cage", "general-ledger"])
def test_the_books_are_read_by_those_who_keep_or_audit_them(address: str, played: House, signed_in: SignedIn) -> None:
    for role in (ACCOUNTING, CONTROLLER, AUDITOR):
        assert signed_in(role).get(f"/api/v1/books/{address}").status_code == 200
    answer = signed_in(CAGE).get(f"/api/v1/books/{address}")
    assert (answer.status_code, answer.json()["code"]) == (403, "not_your_role")
    assert Client().get(f"/api/v1/books/{address}").status_code in (401, 403)


def test_accounting_gives_numbers_and_auditors_look(played: House, signed_in: SignedIn) -> None:
    client = signed_in(ACCOUNTING)
    page = client.get("/accounting/chart/").content.decode()
    fields = re.findall(r'name="(number:[^"]+)"', page)
    assert len(fields) == Account.objects.count()
    typed = dict.fromkeys(fields, "") | {"number:cage": "1010", "number:wagers": " 4000 "}
    answer = client.post("/accounting/chart/", typed, follow=True)
    assert "2 numbers were changed." in text_of(answer)
    assert "1010" in text_of(client.get(f"/accounting/{DAY}/"))
    refused = client.post("/accounting/chart/", typed | {"number:cage": "=1"})
    assert refused.status_code == 400
    assert "is no number" in text_of(refused)
    assert client.get("/accounting/chart/").content.decode().count('value="1010"') == 1
    for cage, said in (("1010", "Nothing was changed."), ("1011", "1 number was changed.")):
        again = client.post("/accounting/chart/", typed | {"number:cage": cage}, follow=True)
        assert said in text_of(again)
    auditor = signed_in(AUDITOR)
    assert "<input class" not in auditor.get("/accounting/chart/").content.decode().partition("<main")[2]
    assert auditor.post("/accounting/chart/", typed).status_code == 403
    assert "number an account" in text_of(auditor.get("/audit/"))


def test_the_general_ledger_is_offered_and_streams(played: House, signed_in: SignedIn) -> None:
    client = signed_in(CONTROLLER)
    page = text_of(client.get("/accounting/export/"))
    assert "no number of the house" in page
    for form, begins in (("csv", "gaming_date,"), ("journal", "; Boston Harbor (BOS)")):
        answer = client.get("/api/v1/books/general-ledger", {"from": DAY, "to": "2026-11-28", "form": form})
        assert answer.streaming
        assert sent(answer).startswith(begins)
        assert form in answer["Content-Disposition"]
    for wrong in ({"from": "2026-11-28", "to": DAY}, {"form": "xls"}, {"carried": "yes"}, {"detail": "all"}):
        assert client.get("/api/v1/books/general-ledger", wrong).status_code == 400, wrong


def test_the_page_of_postings_shows_every_example(house: House, signed_in: SignedIn) -> None:
    page = text_of(signed_in(ACCOUNTING).get("/accounting/postings/"))
    for example in worked_examples():
        assert example["title"] in page
    assert {row["debit"].rpartition(":")[2] for each in worked_examples() for row in each["transfers"]} <= set(CHART)


def test_what_is_owed_and_unclaimed_agrees_with_its_accounts(played: House, signed_in: SignedIn) -> None:
    later = RECEIVED + timedelta(days=2)
    for step in ("hit.verify", "hit.approve"):
        played.act(step, "ms-mg01-000001")
    envy = f"{LINKED}/R-3/4/2"
    played.act("payout.unclaimed", envy, at=later)
    with time_machine.travel(later, tick=False):
        answer = signed_in(ACCOUNTING).get("/accounting/unclaimed/")
    page = answer.content.decode()
    assert text_of(answer).count("account agrees") == 2
    assert "/decisions/new/hit.unclaimed/?subject=ms-mg01-000001" in page
    assert envy in page
    assert "28 Nov 2027" in text_of(answer), "kept for a whole year"
