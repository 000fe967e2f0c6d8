"""Addresses: a slash too many or too few, what nobody calls anything, and days that are none. Never 500, always a way on."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
import time_machine
from django.test import Client
from django.urls import get_resolver
from django.urls.resolvers import URLResolver

from accounting.shell.templatetags.pages import money
from tests.pages.conftest import SignedIn, text_of
from tests.pages.test_access import PAGES
from tests.services.house import LINKED, House, message, rows, royal, seat, two_hits, value

DIGITS = "9" * 5_000


def names(resolver: Any) -> list[str]:
    """The names of all addresses."""
    found: list[str] = []
    for pattern in resolver.url_patterns:
        found += names(pattern) if isinstance(pattern, URLResolver) else [pattern.name]
    return found


def test_no_two_addresses_share_a_name() -> None:
    assert [name for name, times in Counter(names(get_resolver())).items() if times > 1] == []


@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ("/payouts", "/payouts/"), ("/accounting", "/accounting/"), ("/jackpots", "/jackpots/"), ("/devices", "/devices/"),
        ("/jackpots/ms-mg01", "/jackpots/ms-mg01/"), ("/accounting/2026-11-27", "/accounting/2026-11-27/"),
        ("/payouts/ms-mg01-1-1", "/payouts/ms-mg01-1-1/"), ("/floor/tables/MS-101", "/floor/tables/MS-101/"),
        ("/payouts//", "/payouts/"), ("/payouts///", "/payouts/"), ("/jackpots/ms-mg01//", "/jackpots/ms-mg01/"),
        ("/rounds/MS-101/r-1/", "/rounds/MS-101/r-1"), ("/find/", "/find"), ("/sign/ms-mg01/", "/sign/ms-mg01"),
        ("/set-up", "/set-up/"), ("/accounting/tables", "/accounting/tables/"), ("/payouts?kind=level", "/payouts/?kind=level"),
        ("/accounting/liabilities", "/accounting/liabilities/"),
    ],
)  # fmt: skip
def test_a_slash_too_many_or_too_few_leads_on(house: House, signed_in: SignedIn, asked: str, right: str) -> None:
    house.play(royal("r-1"))
    client = signed_in()
    response = client.get(asked)
    assert (response.status_code, response.headers.get("Location")) == (302, right)
    assert client.get(right).status_code == 200


def test_only_who_reads_is_led_on_and_not_by_an_address_of_any_length(house: House, signed_in: SignedIn) -> None:
    client = signed_in()
    assert client.head("/payouts").headers["Location"] == "/payouts/"
    assert client.post("/payouts").status_code == 404
    longest = "/payouts".ljust(2_000, "/")
    assert client.get(longest).headers["Location"] == "/payouts/"
    assert client.get(longest + "/").status_code == 404


READ_NOTHING = {
    "/floor/now", "/rounds/MS-101/r-1", "/clock", "/jackpots/", "/jackpots/hits", "/jackpots/ms-mg01/hits",
    "/hits/ms-mg01-000001/", "/payouts/ms-mg01-1-1/", "/accounting/liabilities/", "/foreseen/new/", "/audit/retention/",
    "/guide/", "/guide/cage/", "/set-up/",
}  # fmt: skip
"""Pages that show what they show, whatever their address says after its question mark."""


def test_what_a_page_does_not_know_of_in_its_address_is_refused(house: House, signed_in: SignedIn) -> None:
    house.play(royal("r-1"))
    client = signed_in()
    answers = {page: client.get(f"{page}{'&' if '?' in page else '?'}colour=red") for page in PAGES}
    assert {page for page, answer in answers.items() if answer.status_code != 400} == READ_NOTHING


NOWHERE = [
    "/rounds/%00", "/jackpots/%00/", "/payouts/%00/", "/sign/%00", "/floor/tables/%00/", "/static/%00", "/static/a%00b.css",
    "/accounting/2026-11-27/accounts/%00/", "/nowhere", "/nowhere/", "/rounds/x/", "/jackpots/none", "/jackpots/none/",
    "/jackpots/none/foresee/", "/payouts/none",  f"/payouts/{DIGITS}/", f"/rounds/{DIGITS}", f"/jackpots/{DIGITS}/",
    "/rounds/a%0Ab", "/payouts/a%0Ab/", "/jackpots/a%0Ab/", "/accounting/a%0Ab/", "/accounting/2026-W48-6/",
    "/accounting/20261127/", "/accounting/0001-01-01/", "/accounting/9999-12-31/", f"/accounting/{DIGITS}/",
    "/accounting/tables/2026-W48-6/", "/decisions/new/none/",
    "/decisions/4711/", "/decisions/4711/evidence", "/accounting/2026-11-27/accounts/none/", "/floor/tables/MS-101/?before=soon",
    "/floor/tables/MS-101/?before=0001-01-01T00:00:00%2B00:00/1", "/floor/tables/MS-101/?before=9999-12-31T23:59:59-05:00/1",
]  # fmt: skip
UNREADABLE = [
    f"/devices/?before={DIGITS}", f"/audit/?before={DIGITS}", f"/jackpots/ms-mg01/?before={DIGITS}", "/devices/?before=%D9%A3",
    "/floor/held/?after=x", "/floor/held/?reason=none", "/floor/held/?table=none",
    "/audit/?before=x", "/jackpots/ms-mg01/?before=0", "/jackpots/ms-mg01/?span=7", "/devices/?colour=red",
    "/devices/?before=1&before=2", "/audit/?subject=%00", "/find?q=%00", "/find?q=a&q=b", "/accounting/?day=x",
    f"/floor/tables/MS-101/?before=2026-11-27T00:00:00Z/{DIGITS}", "/accounting/2026-11-27/accounts/cage/?after=1~2",
    f"/accounting/2026-11-27/accounts/cage/?after={DIGITS}", f"/payouts/total?min={DIGITS}", "/jackpots/series?span=1",
    f"/payouts/?seat={DIGITS}", "/payouts/?from=0001-01-01", f"/payouts/?cursor={DIGITS}",
    "/jackpots/?a=%00", "/decisions/?subject=%00",
]  # fmt: skip


@pytest.mark.parametrize("asked", NOWHERE)
def test_what_nobody_calls_anything_is_a_404_with_the_navigation(house: House, signed_in: SignedIn, asked: str) -> None:
    house.play(royal("r-1"))
    response = signed_in().get(asked, follow=True)
    assert response.status_code == 404, response.status_code
    assert "Nothing here" in text_of(response)
    assert '<nav class="side"' in response.content.decode()
    assert Client().get(asked).status_code in (302, 404)


@pytest.mark.parametrize("asked", UNREADABLE)
def test_what_cannot_be_read_is_a_400_with_the_navigation(house: House, signed_in: SignedIn, asked: str) -> None:
    house.play(royal("r-1"))
    response = signed_in().get(asked)
    assert response.status_code == 400
    assert '<nav class="side"' in response.content.decode()
    assert len(text_of(response)) < 3_000


def test_pages_of_a_reference_with_a_line_break(house: House, signed_in: SignedIn) -> None:
    odd = "a\nb\r\n c"
    house.play(message(odd, seat(1, "Kc Ks", progressive=100)))
    client = signed_in()
    assert "settled" in text_of(client.get(f"/rounds/MS-101/{quote(odd)}"))
    (address,) = re.findall(r'href="(/rounds/[^"]+)"', client.get("/floor/tables/MS-101/").content.decode())
    assert client.get(address).status_code == 200
    assert (
        client.get(re.findall(r'href="(/rounds/[^"]+)"', client.get("/payouts/").content.decode())[0]).status_code
        == 200
    )
    assert client.get("/find", {"q": odd}).status_code == 302


@time_machine.travel(datetime(2026, 11, 28, 20, tzinfo=UTC))
def test_a_day_that_is_none_of_the_house_says_so(house: House, signed_in: SignedIn) -> None:
    house.play(royal("r-1"))
    client = signed_in()
    for page in ("/accounting/2030-01-01/", "/accounting/2026-11-29/", "/accounting/tables/2030-01-01/"):
        assert "has not begun" in text_of(client.get(page)), page
    for page in ("/accounting/1999-12-31/", "/accounting/2026-10-31/", "/accounting/tables/1999-12-31/"):
        assert "before the house" in text_of(client.get(page)), page
    for page in ("/accounting/2026-11-01/", "/accounting/2026-11-28/"):
        shown = text_of(client.get(page))
        assert "balances agree" in shown, page
        assert "has not begun" not in shown
    assert "balances agree" not in text_of(client.get("/accounting/2030-01-01/"))


def test_each_account_opens_its_entries(house: House, signed_in: SignedIn) -> None:
    house.play(two_hits("r-1"), royal("r-2"), message("r-3", table="TW-201"))
    client = signed_in()
    balance = client.get("/accounting/2026-11-27/")
    assert "Jackpot liability, ms-mg01 major" in text_of(balance)
    assert "Chips in the tray, MS-101" in text_of(balance)
    pages = re.findall(r'href="(/accounting/2026-11-27/accounts/[^"]+)"', balance.content.decode())
    accounts = rows("SELECT count(DISTINCT account_id) FROM accounting_total WHERE gaming_date <= '2026-11-27'")
    assert len(pages) == accounts[0][0]
    for page in pages:
        shown = client.get(page)
        assert shown.status_code == 200, page
    liability = text_of(client.get("/accounting/2026-11-27/accounts/level:ms-mg01/major:liability/"))
    moved = rows(
        "SELECT amount_cents FROM accounting_transfer transfer JOIN accounting_event event USING (stream_id, sequence)"
        " JOIN accounting_account account ON account.id IN (debit_id, credit_id)"
        " WHERE account.code = 'level:ms-mg01/major:liability' AND event.gaming_date = '2026-11-27'"
    )
    assert len(moved) > 4
    for (cents,) in moved:
        assert money(cents) in liability
    assert liability.count("ms-mg01 / ") == len(moved)


def test_entries_go_on_page_by_page(house: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch) -> None:
    from accounting import views

    monkeypatch.setattr(views, "LINES_SHOWN", 3)
    house.play(*(message(f"r-{number}") for number in range(8)), message("t", table="TW-201"))
    client, seen, page, pages = signed_in(), [], "/accounting/2026-11-27/accounts/wagers/", 0
    address = page
    while address:
        body = client.get(address).content.decode()
        seen += re.findall(r'<a href="/rounds/[^"]+" title="[^"]*">([^<]+)</a>', body)
        onward = re.findall(r'rel="next" href="([^"]+)"', body)
        address = page + onward[0] if onward else ""
        pages += 1
    assert pages == 3, "nine on three pages of three: the last leads no further"
    assert seen == [*(f"MS-101/r-{number}" for number in range(8)), "TW-201/t"]


def test_the_audit_trail_goes_on_record_by_record(
    house: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accounting import views

    client = signed_in()
    records = [number for (number,) in rows("SELECT id FROM accounting_auditrecord ORDER BY id DESC")]
    for shown, pages in ((len(records), 1), (len(records) - 1, 2), (1, len(records))):
        monkeypatch.setattr(views, "AUDIT_PAGE", shown)
        seen, addresses = [], ["/audit/"]
        for address in addresses:
            page = client.get(address)
            seen += [record.pk for record in page.context["records"]]
            addresses += re.findall(r'rel="next" href="([^"]+)"', page.content.decode())
        assert (seen, len(addresses)) == (records, pages), "the last leads no further"


def test_each_tables_day_is_what_the_ledger_booked(house: House, signed_in: SignedIn) -> None:
    house.play(two_hits("r-1"), royal("r-2"), message("r-3"), message("t-1", table="TW-201"))
    page = text_of(signed_in().get("/accounting/tables/2026-11-27/"))
    handle, pays = rows(
        "SELECT debit_cents::bigint, credit_cents::bigint FROM accounting_total"
        " JOIN accounting_account account ON account.id = account_id"
        " WHERE account.code = 'table:MS-101:inventory' AND gaming_date = '2026-11-27'"
    )[0]
    found = re.search(rf"{LINKED} Mississippi Stud ms-mg01 (\S+) (\S+) (\S+) (\S+) (\S+) (\S+) (\S+)", page)
    assert found
    rounds, taken, handed, jackpot, envy, contributions, win = found.groups()
    assert (rounds, taken, handed) == ("3", money(handle), money(pays))
    awarded = value("SELECT sum(paid_cents)::bigint FROM jackpot_hit")
    envied = value("SELECT sum(cents)::bigint FROM tables_payout WHERE kind = 'envy'")
    given = value(
        "SELECT sum(amount_cents)::bigint FROM accounting_transfer JOIN accounting_stream stream ON stream.id = stream_id"
        " WHERE reason = 'contribution' AND stream.code = 'ms-mg01'"
    )
    assert (jackpot, envy, contributions) == (money(awarded), money(envied), money(given))
    assert win == money(handle - pays - envied - given)


@time_machine.travel(datetime(2026, 11, 28, 3, tzinfo=UTC))
def test_a_tables_page_has_its_day_so_far(house: House, signed_in: SignedIn) -> None:
    house.play(two_hits("r-1"), message("r-2"), message("other", table="MS-102"))
    page = text_of(signed_in("supervisor").get("/floor/tables/MS-101/"))
    handle, pays = rows(
        "SELECT debit_cents::bigint, credit_cents::bigint FROM accounting_total"
        " JOIN accounting_account account ON account.id = account_id"
        " WHERE account.code = 'table:MS-101:inventory' AND gaming_date = '2026-11-27'"
    )[0]
    assert f"Rounds 2 Handle {money(handle)} Pays, with stakes {money(pays)} Jackpot $10,000.51" in page
