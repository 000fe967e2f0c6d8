"""Who sees which page: by role, and nobody who is not signed in, save the sign."""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from accounting.rules.roles import ACCOUNTING, ADMINISTRATOR, AUDITOR, CONTROLLER, MANAGER, ROLES, SECURITY, SUPERVISOR
from accounting.shell.navigation import SECTIONS, home, may_use
from jackpot.feeds import DISPLAYED, INVITATION, UNNUMBERED, said
from tests.pages.conftest import PASSWORD, SignedIn, person, text_of
from tests.services.house import ODD, House, message, open_odd_table, royal

HOUSE: set[str | None] = {role for role in ROLES if role != SECURITY}
PAGES: dict[str, set[str | None]] = {
    "/floor/now": HOUSE,
    "/floor/tables/MS-101/": HOUSE,
    "/floor/held/": HOUSE,
    "/rounds/MS-101/r-1": HOUSE,
    "/find?q=r-1": HOUSE,
    "/clock": {*ROLES, None},
    "/jackpots/": HOUSE,
    "/jackpots/ms-mg01/": HOUSE,
    "/hits/": HOUSE,
    "/hits/ms-mg01-000001/": HOUSE,
    "/payouts/": HOUSE,
    "/payouts/ms-mg01-1-1/": HOUSE,
    "/accounting/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/2026-11-27/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/liabilities/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/tables/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/tables/2026-11-27/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/2026-11-27/accounts/cage/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/days/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/days/heads.json": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/days/2026-11-27/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/days/2026-11-27/readings/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/?at=2026-11-27T22:00:00Z": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/chart/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/postings/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/export/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/dashboard/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/unclaimed/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/weeks/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/accounting/events/ms-mg01/1/": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/reports/": {ACCOUNTING, CONTROLLER, AUDITOR, MANAGER},
    "/reports/progressive/": {ACCOUNTING, CONTROLLER, AUDITOR, MANAGER},
    "/reports/weekly/?week=2026-W48": {ACCOUNTING, CONTROLLER, AUDITOR, MANAGER},
    "/reports/ledger/?from=2026-11-01": {ACCOUNTING, CONTROLLER, AUDITOR},
    "/reports/access/": {CONTROLLER, AUDITOR},
    "/payouts/total": HOUSE,
    "/slips/": HOUSE - {ADMINISTRATOR},
    "/jackpots/hits": HOUSE,
    "/jackpots/series": HOUSE,
    "/jackpots/ms-mg01/hits": HOUSE,
    "/jackpots/ms-mg01/meters/": HOUSE,
    "/foreseen/new/": {ADMINISTRATOR, ACCOUNTING, CONTROLLER, AUDITOR},
    "/jackpots/ms-mg01/foresee/": {ADMINISTRATOR, ACCOUNTING, CONTROLLER, AUDITOR},
    "/audit/": {AUDITOR, CONTROLLER},
    "/audit/retention/": {AUDITOR, CONTROLLER},
    "/guide/": {*ROLES, None},
    "/guide/cage/": {*ROLES, None},
    "/audit/packs/": {AUDITOR, CONTROLLER},
    "/decisions/": {*ROLES},
    "/devices/": {SUPERVISOR, MANAGER, AUDITOR, ADMINISTRATOR, SECURITY},
    "/set-up/": {AUDITOR, ADMINISTRATOR},
}


@pytest.mark.parametrize("role", ROLES)
def test_everybody_begins_at_a_page_of_their_own(house: House, signed_in: SignedIn, role: str) -> None:
    answer = signed_in(role).get("/", follow=True)
    assert answer.status_code == 200
    assert (answer.redirect_chain == []) is (role in HOUSE), "the floor itself, for all who use it"


@pytest.mark.parametrize("role", [*ROLES, None])
def test_a_role_sees_its_pages_and_no_others(house: House, signed_in: SignedIn, role: str | None) -> None:
    house.play(royal("r-1"))
    client = signed_in(role)
    for page, roles in PAGES.items():
        response = client.get(page)
        assert response.status_code == ((302 if page.startswith("/find") else 200) if role in roles else 403), page
        if response.status_code == 302:
            assert response.headers["Location"] == "/rounds/MS-101/r-1"  # found, and not sent to the sign-in page


def navigation(response: Any) -> dict[str, str]:
    """The open sections of a page's navigation, their addresses by name."""
    page = response.content.decode()
    shown = page[page.index('<nav class="side"') : page.index("</nav>")]
    return {name: address for address, name in re.findall(r'<a href="([^"]+)".*?<span>(.*?)</span></a>', shown)}


def current(response: Any) -> str:
    """The section that the navigation marks as the one being looked at."""
    page = response.content.decode()
    return page.partition('aria-current="page">')[2].partition("<span>")[2].partition("</span>")[0]


@pytest.mark.parametrize("role", ROLES)
def test_a_role_clicks_through_its_sections_and_is_refused_the_others(
    house: House, signed_in: SignedIn, role: str
) -> None:
    client = signed_in(role)
    begins = home({role})
    assert begins is not None
    offered = navigation(client.get(reverse(begins.address)))
    assert set(offered) == {section.name for section in SECTIONS if role in section.roles}
    for section in SECTIONS:
        response = client.get(offered.get(section.name, reverse(section.address)))
        if role in section.roles:
            assert response.status_code == 200, section
            assert response.headers["Content-Type"].startswith("text/html"), section
            assert current(response) == section.name
            assert set(navigation(response)) == set(offered), section
        elif section.address == "floor":  # where everybody begins: a role without it is sent to its own first page
            assert (response.status_code, response["Location"]) == (302, reverse(begins.address))
        else:
            assert response.status_code == 403, section
            assert f'href="{reverse(begins.address)}"' in response.content.decode(), "a way back to one's own pages"


def test_auditors_read_everything_and_nobody_else_does() -> None:
    for role in ROLES:
        assert all(may_use(section.code, {role}) for section in SECTIONS) is (role == AUDITOR), role


def test_a_superuser_without_a_role_is_nobody_here(house: House) -> None:
    User.objects.create_superuser("root", password=PASSWORD)
    client = Client()
    assert client.post("/sign-in", {"username": "root", "password": PASSWORD}).status_code == 302
    for section in SECTIONS:
        assert client.get(reverse(section.address)).status_code == 403, section


@pytest.mark.parametrize("role", ROLES)
def test_signing_in_leads_to_where_the_role_begins(house: House, role: str) -> None:
    person("maria", role)
    response = Client().post("/sign-in", {"username": "maria", "password": PASSWORD}, follow=True)
    assert response.status_code == 200
    assert response.redirect_chain == [("/devices/" if role == SECURITY else "/", 302)]


def test_whoever_may_not_see_rounds_is_not_asked_to_find_one(signed_in: SignedIn) -> None:
    assert 'id="find"' in signed_in(SUPERVISOR).get("/").content.decode()
    assert 'id="find"' not in signed_in(SECURITY).get("/devices/").content.decode()


def test_whoever_is_not_signed_in_is_sent_to_the_sign_in_page_and_back(house: House) -> None:
    house.play(royal("r-1"))
    person("maria", SUPERVISOR)
    client = Client()
    for page in PAGES:
        response = client.get(page)
        assert response.status_code == 302, page
        assert response.headers["Location"].startswith("/sign-in?next="), page
    response = client.post(
        "/sign-in", {"username": "maria", "password": PASSWORD, "next": "/rounds/MS-101/r-1"}, follow=True
    )
    assert response.redirect_chain == [("/rounds/MS-101/r-1", 302)]
    assert "r-1" in text_of(response)


def test_a_part_that_reads_itself_anew_makes_a_signed_out_page_reload(house: House) -> None:
    response = Client().get("/floor/now", headers={"HX-Request": "true"})
    assert response.headers["HX-Refresh"] == "true"
    assert response.content == b""


def test_signing_out_ends_the_session(signed_in: SignedIn) -> None:
    client = signed_in(SUPERVISOR)
    assert client.get("/").status_code == 200
    client.post("/sign-out")
    assert client.get("/").status_code == 302


def test_the_navigation_marks_what_a_role_cannot_use(signed_in: SignedIn) -> None:
    page = signed_in(SUPERVISOR).get("/").content.decode()
    navigation = page[page.index('<nav class="side"') : page.index("</nav>")]
    assert f'href="{reverse("devices")}"' in navigation
    for closed in ("accounting", "reports", "audit", "people", "set-up"):
        assert f'href="{reverse(closed)}"' not in navigation, closed
    assert navigation.count("Not open to your role") == 5


def test_a_wrong_password_says_so_and_ten_of_them_lock_the_name(house: House) -> None:
    person("maria", SUPERVISOR)
    client = Client()
    attempt = {"username": "maria", "password": "wrong"}
    assert "correct username and password" in text_of(client.post("/sign-in", attempt))
    answers = [client.post("/sign-in", attempt) for _ in range(9)]
    assert answers[-1].status_code == 429
    assert "Too many attempts" in text_of(answers[-1])
    assert client.post("/sign-in", {"username": "maria", "password": PASSWORD}).status_code == 429


def test_the_sign_is_open_and_shows_no_more_than_the_meter(house: House) -> None:
    house.play(message("r-1"))
    response = Client().get("/sign/ms-mg01")
    assert response.status_code == 200
    assert "$10,000.17" in text_of(response)
    assert "reserve" not in response.content.decode()
    assert Client().get("/sign/no-such-link").status_code == 404


def test_what_a_sign_hears_names_no_reserve_no_seat_and_no_counts() -> None:
    level = {
        "link": "a",
        "code": "b",
        "value_cents": 7,
        "reserve_cents": 8,
        "wagers": 9,
        "overflow_cents": 1,
        "hits": 2,
    }
    heard = said([f"id: 4\nevent: meter\ndata: {json.dumps(level)}\n\n"], DISPLAYED)
    assert heard == b'id: 4\nevent: meter\ndata: {"link":"a","code":"b","value_cents":7}\n\n'


def test_who_may_see_the_floor_hears_every_link_or_those_that_are_named(house: House, signed_in: SignedIn) -> None:
    def heard(query: str = "") -> set[str]:
        how, keys = json.loads(signed_in(SUPERVISOR).get(f"/live{query}").headers[INVITATION])
        assert how == UNNUMBERED
        return {code for code, _, _ in keys}

    assert heard() >= {"ms-mg01", "twin"}
    assert heard("?link=twin") == {"twin"} and heard("?link=twin&link=ms-mg01") == {"twin", "ms-mg01"}
    assert heard("?link=nowhere") == set()
    for client, status in ((Client(), 401), (signed_in(SECURITY), 403)):
        answer = client.get("/live")
        assert (answer.status_code, INVITATION in answer.headers) == (status, False)


def test_a_post_to_a_stream_is_refused_and_breaks_nothing(house: House) -> None:
    """Its body is looked at for the token against forged requests before the method is refused."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("sue", SUPERVISOR), backend="django.contrib.auth.backends.ModelBackend")
    client.cookies["csrftoken"] = "a" * 32
    answer = client.post("/api/v1/links/twin/stream", "{}", content_type="application/json")
    assert answer.status_code in (403, 405)


def test_nothing_there_is_a_page_that_says_so(house: House, signed_in: SignedIn) -> None:
    client = signed_in()
    for page in (
        "/nowhere", "/rounds/MS-101/none", "/rounds/x", "/payouts/none/", "/payouts/ms-mg01-1-1/", "/jackpots/none/",
        "/floor/tables/none/", "/accounting/not-a-day/", "/floor/tables/MS-101/?before=soon",
    ):  # fmt: skip
        response = client.get(page)
        assert response.status_code == 404, page
        assert "Nothing here" in text_of(response), page


def test_pages_of_codes_with_slashes_and_letters_beyond_ascii(house: House, signed_in: SignedIn) -> None:
    open_odd_table()
    house.play(message("r/1 ü", table=ODD))
    client = signed_in()
    table = client.get(reverse("table-page", args=[ODD]))
    assert table.status_code == 200
    start = table.content.decode().index('href="/rounds/')
    address = table.content.decode()[start + 6 :].partition('"')[0]
    assert "r/1 ü" in text_of(client.get(address))
    found = client.get("/find", {"q": "r/1 ü"})
    assert found.headers["Location"] == address
