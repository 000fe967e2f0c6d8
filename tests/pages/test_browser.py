"""Pages in a real browser on the real server: live meters, keys, theme, signing in, contrast."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from accounting.rules.roles import ROLES, SECURITY
from tests.conftest import Service
from tests.pages.conftest import PASSWORD, person
from tests.services.house import House, message, royal, seat, two_hits

pytestmark = pytest.mark.browser

# What is waited for may take its time on a busy machine.
GIVE_UP_MILLISECONDS = 40_000
expect.set_options(timeout=GIVE_UP_MILLISECONDS)

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()


@pytest.fixture(autouse=True)
def _a_loop_runs_in_this_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Playwright's synchronous interface keeps one, and Django would refuse the database beside it."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@pytest.fixture
def browser_page(page: Page) -> Iterator[Page]:
    """A page on which nothing may be said on the console: no error, no refusal by the content policy."""
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.set_default_timeout(GIVE_UP_MILLISECONDS)
    yield page
    assert said == []


def sign_in(page: Page, service: Service, username: str = "everyone", onward: str = "/") -> None:
    """Bring a session along, as a browser does in which somebody signed in before."""
    client = Client()
    client.force_login(User.objects.get(username=username), backend="django.contrib.auth.backends.ModelBackend")
    page.context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": service.url}])
    page.goto(service.url + onward)


def meter(page: Page, level: str = "ms-mg01/major") -> Any:
    return page.locator(f'[data-level="{level}"] [data-value]')


def test_a_meter_on_the_floor_changes_without_a_reload(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    sign_in(browser_page, live_service)
    expect(browser_page.locator(".live").first).to_have_attribute("data-live", "live")
    expect(meter(browser_page)).to_have_text("$10,000.00")
    browser_page.evaluate("window.sameDocument = true")
    open_house.play(message("r-1"))
    expect(meter(browser_page)).to_have_text("$10,000.17")
    expect(browser_page.locator("#rounds")).to_contain_text("r-1")
    open_house.play(royal("r-2"))
    expect(browser_page.locator("#news")).to_contain_text("$10,000.51")
    expect(browser_page.locator("[data-hit-news]")).to_have_text("royal flush pays $10,000.51 (ms-mg01-000001)")
    expect(meter(browser_page)).to_have_text("$10,000.00")
    assert browser_page.evaluate("window.sameDocument") is True


def test_the_live_stream_is_for_people_with_a_role(open_house: House, live_service: Service, page: Page) -> None:
    assert page.request.get(f"{live_service.url}/live").status == 401
    person("nobody")
    sign_in(page, live_service, "nobody")
    assert page.request.get(f"{live_service.url}/live").status == 403


def test_five_tabs_of_one_browser_are_all_live(open_house: House, live_service: Service, page: Page) -> None:
    sign_in(page, live_service)
    tabs = [page.context.new_page() for _ in range(4)]
    for tab in tabs:
        tab.goto(live_service.url)
        expect(tab.locator(".live").first).to_have_attribute("data-live", "live")
    open_house.play(message("r-1"))
    for tab in tabs:
        expect(meter(tab)).to_have_text("$10,000.17")


def test_what_waits_for_a_supervisor_appears_while_the_floor_is_open(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    sign_in(browser_page, live_service, "maria")
    expect(browser_page.locator("#news")).to_contain_text("Every round received was settled")
    open_house.play(message("bad", community="2c 2c Kd"), message("good"))
    expect(browser_page.locator("#news")).to_contain_text("duplicate card")
    browser_page.get_by_role("link", name="bad").click()
    expect(browser_page.get_by_text("This round waits for a supervisor.")).to_be_visible()


def test_a_sign_needs_nobody_to_sign_in_and_follows_its_meter(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    browser_page.goto(f"{live_service.url}/sign/twin")
    expect(browser_page.locator(".live")).to_have_attribute("data-live", "live")
    open_house.play(royal("r-1", table="TW-201"))
    expect(browser_page.locator("[data-hit-news]")).to_contain_text("royal flush pays $20,001")
    expect(meter(browser_page, "twin/grand")).to_have_text("$20,000.00")


def test_a_lost_server_is_said_and_found_again(open_house: House, live_service: Service, page: Page) -> None:
    sign_in(page, live_service)
    live = page.locator(".link-card .live").first
    expect(live).to_have_attribute("data-live", "live")
    page.context.set_offline(True)
    page.evaluate(
        "window.dispatchEvent(new Event('pagehide'));"
        "window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))"
    )
    expect(live).to_have_attribute("data-live", "reconnecting")
    page.context.set_offline(False)
    open_house.play(message("r-1"))
    expect(live).to_have_attribute("data-live", "live")
    expect(meter(page)).to_have_text("$10,000.17")


def test_keys_lead_through_the_house(open_house: House, live_service: Service, browser_page: Page) -> None:
    open_house.play(message("r-1"), message("r-2"), message("r-3"))
    sign_in(browser_page, live_service)
    for keys, address in (("gj", "/jackpots/"), ("ga", "/accounting/"), ("gu", "/audit/"), ("gf", "/")):
        for key in keys:
            browser_page.keyboard.press(key)
        browser_page.wait_for_url(f"{live_service.url}{address}")
    browser_page.keyboard.press("?")
    help_list = browser_page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(help_list).to_be_visible()
    browser_page.keyboard.press("Escape")
    expect(help_list).to_be_hidden()
    browser_page.keyboard.press("/")
    finder = browser_page.get_by_label("Find a round, payout or hit")
    expect(finder).to_be_focused()
    browser_page.keyboard.type("r-2gj?")
    expect(finder).to_have_value("r-2gj?")
    finder.fill("r-2")
    browser_page.keyboard.press("Enter")
    browser_page.wait_for_url(f"{live_service.url}/rounds/MS-101/r-2")
    browser_page.keyboard.press("]")
    browser_page.wait_for_url(f"{live_service.url}/rounds/MS-101/r-3")
    browser_page.keyboard.press("[")
    browser_page.wait_for_url(f"{live_service.url}/rounds/MS-101/r-2")


def test_rows_are_walked_with_j_and_k_and_keep_the_place_when_read_anew(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    open_house.play(message("r-1"), message("r-2"))
    sign_in(browser_page, live_service)
    browser_page.keyboard.press("j")
    browser_page.keyboard.press("j")
    browser_page.keyboard.press("k")
    chosen = browser_page.evaluate("document.activeElement.id")
    assert chosen.startswith("round-ms-mg01-")
    open_house.play(message("r-3"))
    expect(browser_page.locator("#rounds")).to_contain_text("r-3")
    expect(browser_page.locator(f"#{chosen}")).to_be_focused()
    browser_page.keyboard.press("Enter")
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("r-2")


def test_the_theme_is_chosen_and_kept(open_house: House, live_service: Service, browser_page: Page) -> None:
    sign_in(browser_page, live_service)
    root, button = browser_page.locator("html"), browser_page.locator("#theme")
    expect(root).to_have_attribute("data-bs-theme", "light")
    button.click()
    button.click()
    expect(root).to_have_attribute("data-bs-theme", "dark")
    browser_page.reload()
    expect(root).to_have_attribute("data-bs-theme", "dark")
    button.click()
    browser_page.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-bs-theme", "dark")
    browser_page.emulate_media(color_scheme="light")
    expect(root).to_have_attribute("data-bs-theme", "light")


def test_the_keyboard_reaches_the_page_first_by_the_skip_link(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    sign_in(browser_page, live_service)
    browser_page.keyboard.press("Tab")
    skip = browser_page.get_by_role("link", name="Skip to the page")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    browser_page.keyboard.press("Enter")
    expect(browser_page.locator("#main")).to_be_focused()


def test_signing_in_leads_to_what_was_asked_for_and_a_refusal_says_why(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    User.objects.filter(username="maria").update(password=make_password(PASSWORD, hasher="scrypt"))
    browser_page.goto(f"{live_service.url}/devices/")
    browser_page.get_by_label("User name").fill("maria")
    browser_page.get_by_label("Password").fill("wrong")
    browser_page.keyboard.press("Enter")
    expect(browser_page.get_by_role("alert")).to_contain_text("correct username and password")
    expect(browser_page.get_by_label("User name")).to_have_value("maria")
    browser_page.get_by_label("Password").fill(PASSWORD)
    browser_page.get_by_role("button", name="Sign in").click()
    browser_page.wait_for_url(f"{live_service.url}/devices/")
    browser_page.locator("summary", has_text="maria").click()
    browser_page.get_by_role("button", name="Sign out").click()
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_readable_and_within_the_content_policy(
    open_house: House, live_service: Service, browser_page: Page, scheme: Any
) -> None:
    open_house.play(
        two_hits("r-1"),
        message("r-2", seat(2, "Jc Js", 1, 1, 3, three_card_bonus=500)),
        message("void", irregularities=[{"code": "card_exposed_early"}]),
        message("held", community="2c 2c Kd"),
    )
    browser_page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    sign_in(browser_page, live_service)
    for address in (
        "/", "/rounds/MS-101/r-1", "/rounds/MS-101/void", "/rounds/MS-101/held", "/jackpots/", "/jackpots/ms-mg01/",
        "/payouts/", "/payouts/ms-mg01-1-1/", "/accounting/2026-11-27/", "/accounting/liabilities/", "/decisions/", "/audit/",
        "/devices/", "/set-up/", "/find?q=none", "/sign/twin", "/people/", "/people/maria/", "/account/",
    ):  # fmt: skip
        browser_page.goto(live_service.url + address)
        shown = "dark" if address.startswith("/sign/") else scheme
        expect(browser_page.locator("html")).to_have_attribute("data-bs-theme", shown)
        assert browser_page.evaluate(CONTRAST) == [], address
        assert browser_page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
            f"{address} is too wide"
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_somebody_is_invited_in_one_browser_and_comes_in_by_the_link_in_another(
    open_house: House, live_service: Service, browser_page: Page, browser: Browser, scheme: Any
) -> None:
    person("sam", SECURITY)
    browser_page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    sign_in(browser_page, live_service, "sam", onward="/people/")
    browser_page.get_by_label("Account name").fill("tess")
    browser_page.get_by_label("cage").check()
    assert browser_page.evaluate(CONTRAST) == []
    browser_page.get_by_role("button", name="Invite").click()
    secret = browser_page.locator("#secret")
    expect(secret).to_be_focused()
    link = secret.input_value()
    assert browser_page.evaluate("String(getSelection())") in (link, ""), "ready to be copied"
    assert browser_page.evaluate(CONTRAST) == []

    with browser.new_context(color_scheme=scheme, reduced_motion="reduce") as elsewhere:
        tess = elsewhere.new_page()
        tess.set_default_timeout(GIVE_UP_MILLISECONDS)
        tess.goto(link)
        expect(tess.locator("#id_secret")).to_have_value(link.partition("#")[2])
        assert tess.url == link.partition("#")[0], "the secret does not stay in the address"
        tess.get_by_label("New password").fill(PASSWORD)
        tess.get_by_label("The same again").fill(PASSWORD)
        assert tess.evaluate(CONTRAST) == []
        tess.get_by_role("button", name="Set password").click()
        tess.wait_for_url(f"{live_service.url}/")
        expect(tess.locator("summary")).to_contain_text("tess")

        browser_page.get_by_role("link", name="I have it").click()
        expect(browser_page.locator(".head")).to_contain_text("active")
        assert browser_page.evaluate(CONTRAST) == []
        browser_page.get_by_role("button", name="Suspend").click()
        expect(browser_page.locator(".notice")).to_contain_text("Suspended")
        assert browser_page.evaluate(CONTRAST) == []
        tess.reload()
        expect(tess.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_chart_is_drawn(open_house: House, live_service: Service, browser_page: Page) -> None:
    open_house.play(*(message(f"r-{number}") for number in range(12)))
    sign_in(browser_page, live_service, onward="/jackpots/ms-mg01/")
    chart = browser_page.locator(".chart")
    expect(chart.locator("canvas")).to_be_visible()
    expect(chart.locator(".u-legend")).to_contain_text("$10,002.04")


def as_role(page: Page, service: Service, role: str) -> list[tuple[str, str]]:
    """Somebody with this role alone, signed in; the entries of the menu by name with the key that leads there."""
    person(f"a-{role}", role)
    sign_in(page, service, f"a-{role}")
    menu = page.locator("nav.side a[data-key]")
    entries = [(menu.nth(n).inner_text().strip(), menu.nth(n).get_attribute("data-key")) for n in range(menu.count())]
    assert entries, "a role without any page"
    return [(name, key or "") for name, key in entries]


@pytest.mark.parametrize("role", list(ROLES))
def test_every_menu_entry_and_shortcut_leads_to_its_page_as_every_role(
    open_house: House, live_service: Service, page: Page, role: str
) -> None:
    open_house.play(two_hits("r-1"), message("held", community="2c 2c Kd"))
    entries = as_role(page, live_service, role)
    for name, key in entries:
        page.get_by_role("navigation", name="Sections").get_by_role("link", name=name).click()
        expect(page.locator('nav.side a[aria-current="page"]')).to_have_text(name)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        clicked = page.url
        page.get_by_role("navigation", name="Sections").get_by_role("link", name=entries[0][0]).click()
        expect(page.locator('nav.side a[aria-current="page"]')).to_have_text(entries[0][0])
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(clicked)
        expect(page.locator('nav.side a[aria-current="page"]')).to_have_text(name)


@pytest.mark.parametrize("role", list(ROLES))
def test_every_link_on_every_page_of_a_role_leads_to_a_page(
    open_house: House, live_service: Service, page: Page, role: str
) -> None:
    """Followed from page to page, beginning with the menu, until nothing new is named."""
    open_house.play(two_hits("r-1"), message("void", irregularities=[{"code": "card_exposed_early"}]),
                    message("held", community="2c 2c Kd"))  # fmt: skip
    as_role(page, live_service, role)
    named = "[...document.querySelectorAll('a[href]')].map((link) => link.href.split('#')[0])"
    menu = "[...document.querySelectorAll('nav.side a[href]')].map((link) => link.href)"
    todo, seen = list(page.evaluate(menu)), set[str]()
    while todo and len(seen) < 90:
        address = todo.pop(0)
        if address in seen:
            continue
        seen.add(address)
        response = page.goto(address)
        assert response is not None
        kind = response.headers["content-type"]
        assert response.status == 200, f"{address}: {response.status}"
        assert kind.startswith("text/html"), f"{address}: {kind}"
        todo += [link for link in page.evaluate(named) if link.startswith(live_service.url) and "/api/" not in link]
    assert seen


def test_the_menus_payouts_is_a_page(open_house: House, live_service: Service, browser_page: Page) -> None:
    """It opened the raw JSON of the API, which had the same name."""
    sign_in(browser_page, live_service)
    browser_page.get_by_role("navigation", name="Sections").get_by_role("link", name="Payouts").click()
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("Payouts")


def test_a_sum_that_takes_its_time_comes_later(open_house: House, live_service: Service, browser_page: Page) -> None:
    open_house.play(two_hits("r-1"))
    sign_in(browser_page, live_service, onward="/payouts/?kind=level")
    browser_page.evaluate("""() => {
        const row = document.querySelector("main tfoot tr");
        const asks = 'hx-get="/payouts/total?kind=level" hx-trigger="load" hx-target="closest tr" hx-swap="innerHTML"';
        row.innerHTML = "<td " + asks + "></td>";
        htmx.process(row);
    }""")
    expect(browser_page.locator("main tfoot tr")).to_have_text(re.compile(r"All that match, 2 payouts\s*\$10,000\.51"))


CUT = """() => [...document.querySelectorAll("main .scroll, main table, main .sheet, main .facts, .bar")]
    .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).display !== "table"
        || box.tagName === "TABLE" && box.parentElement.clientWidth + 1 < box.offsetWidth)
    .map((box) => (box.id || box.className || box.tagName) + ": " + box.scrollWidth + " in " + box.parentElement.clientWidth)"""
EVERYWHERE = (
    "/", "/floor/tables/MS-101/", "/rounds/MS-101/r-1", "/rounds/MS-101/void", "/rounds/MS-101/held", "/jackpots/",
    "/jackpots/ms-mg01/", "/jackpots/twin/", "/payouts/", "/payouts/ms-mg01-1-1/", "/payouts/?min=12,50",
    "/accounting/2026-11-27/", "/accounting/tables/2026-11-27/", "/accounting/2026-11-27/accounts/wagers/",
    "/accounting/liabilities/", "/devices/", "/set-up/", "/find?q=none", "/nowhere",
)  # fmt: skip
SHORT = (
    "/rounds/MS-101/held",
    "/find?q=none",
    "/nowhere",
    "/accounting/tables/2026-11-27/",
    "/accounting/liabilities/",
)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_nothing_is_cut_off_and_short_pages_do_not_scroll(
    open_house: House, live_service: Service, page: Page, width: int, height: int
) -> None:
    open_house.play(
        two_hits("MS-101-20261127T211405-000001"), two_hits("r-1"), royal("t-1", table="TW-201"),
        message("void", irregularities=[{"code": "card_exposed_early"}]), message("held", community="2c 2c Kd"),
    )  # fmt: skip
    page.set_viewport_size({"width": width, "height": height})
    sign_in(page, live_service)
    cut = {}
    for address in EVERYWHERE:
        page.goto(live_service.url + address)
        if found := page.evaluate(CUT):
            cut[address] = found
        if address in SHORT:
            assert page.evaluate("document.documentElement.scrollHeight") <= height, address
    assert cut == {}


TOO_SMALL = """() => [...document.querySelectorAll("main a, nav a, main button, header a, header button")]
    .filter((part) => part.checkVisibility() && !part.classList.contains("skip") && part.getBoundingClientRect().height < 24)
    .map((part) => part.textContent.trim() + ": " + part.getBoundingClientRect().height)"""


def test_links_are_large_enough_for_a_finger_on_a_tablet(
    open_house: House, live_service: Service, browser: Any
) -> None:
    open_house.play(two_hits("r-1"), message("held", community="2c 2c Kd"))
    wrong = {}
    context = browser.new_context(viewport={"width": 1024, "height": 768}, has_touch=True, is_mobile=True)
    page = context.new_page()
    try:
        sign_in(page, live_service)
        for address in EVERYWHERE:
            page.goto(live_service.url + address)
            if found := page.evaluate(TOO_SMALL):
                wrong[address] = found
    finally:
        context.close()
    assert wrong == {}


UNMARKED = """() => {
    const wrong = [];
    document.querySelectorAll("th, h1, h2, h3, summary").forEach((head) => {
        if (head.checkVisibility() && !head.textContent.trim()) { wrong.push("empty " + head.tagName); }
    });
    document.querySelectorAll("main a").forEach((link) => {
        const block = link.closest("p, dd, li, div, span");
        const parts = block ? [...block.childNodes] : [];
        const beside = parts.some((part) => part.nodeType === 3 && /\\w/.test(part.textContent));
        const underlined = getComputedStyle(link).textDecorationLine.includes("underline");
        if (link.checkVisibility() && beside && !link.classList.contains("btn") && !underlined) {
            wrong.push("link in text: " + link.textContent.trim());
        }
    });
    return wrong;
}"""


def test_links_in_text_are_underlined_and_no_heading_is_empty(
    open_house: House, live_service: Service, page: Page
) -> None:
    open_house.play(two_hits("r-1"), message("held", community="2c 2c Kd"))
    sign_in(page, live_service)
    wrong = {}
    for address in EVERYWHERE:
        page.goto(live_service.url + address)
        if found := page.evaluate(UNMARKED):
            wrong[address] = found
    assert wrong == {}


def test_the_clock_goes_on_while_rounds_arrive(open_house: House, live_service: Service, browser_page: Page) -> None:
    sign_in(browser_page, live_service)
    face = browser_page.locator("#clock")
    told = set()
    for number in range(6):
        open_house.play(message(f"r-{number}"))
        browser_page.wait_for_timeout(1300)
        told.add(face.inner_text())
    assert len(told) == 6
    shown, now = (
        face.inner_text(),
        browser_page.evaluate(
            "new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23',"
            " timeZone: 'America/New_York'}).format(new Date())"
        ),
    )
    assert abs(seconds(shown) - seconds(now)) in (0, 1, 2)


def seconds(clock: str) -> int:
    hours, minutes, rest = map(int, clock.split(":"))
    return (hours * 60 + minutes) * 60 + rest


def test_a_links_chart_and_hits_move_while_its_page_is_open(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    open_house.play(*(message(f"r-{number}") for number in range(6)))
    sign_in(browser_page, live_service, onward="/jackpots/ms-mg01/")
    words = browser_page.locator("[data-words]")
    expect(words).to_contain_text("to $10,001.02")
    browser_page.evaluate("window.sameDocument = true")
    open_house.play(royal("r-6"))
    expect(browser_page.locator("#hits-list")).to_contain_text("ms-mg01-000001")
    expect(words).to_contain_text("fell once")
    expect(browser_page.locator(".u-legend")).to_contain_text("$10,000.00")
    browser_page.goto(live_service.url + "/jackpots/")
    open_house.play(royal("r-7"))
    expect(browser_page.locator("#hits-list")).to_contain_text("$10,000.34")
    assert browser_page.evaluate("window.sameDocument === undefined") is True


def test_what_must_not_be_missed_stands_large_on_the_floor(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    sign_in(browser_page, live_service)
    alerts = browser_page.locator(".alerts li")
    expect(alerts).to_have_count(0)
    sound = browser_page.locator("#sound")
    expect(sound).to_have_text("Sound off")
    open_house.play(message("bad", community="2c 2c Kd"), at=datetime.now(UTC))
    expect(alerts).to_have_count(1)
    expect(alerts).to_contain_text("1 round held")
    open_house.play(royal("r-1"), at=datetime.now(UTC))
    expect(alerts).to_have_count(2)
    expect(alerts.nth(1)).to_contain_text("royal flush pays $10,000.34")
    expect(browser_page.locator("[data-alarm-news]")).to_contain_text("royal flush pays")
    assert browser_page.evaluate("parseFloat(getComputedStyle(document.querySelector('.alerts b')).fontSize)") >= 28
    sound.click()
    expect(sound).to_have_text("Sound on")
    browser_page.reload()
    expect(sound).to_have_text("Sound on")
    alerts.nth(0).get_by_role("link").click()
    expect(browser_page.get_by_text("This round waits for a supervisor.")).to_be_visible()


def test_lists_that_are_all_there_are_sorted_by_a_click(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    open_house.play(two_hits("r-1"), message("r-2", table="MS-102"))
    sign_in(browser_page, live_service, onward="/accounting/tables/2026-11-27/")
    first = browser_page.locator("main tbody tr").first
    expect(first).to_contain_text("MS-101")
    heading = browser_page.get_by_role("columnheader", name="Pays")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    expect(browser_page.locator("main tbody tr").last).to_contain_text("MS-101")
    heading.get_by_role("button").click()
    expect(first).to_contain_text("MS-101")


def test_a_sign_stands_upright_too_and_forgets_its_news(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    browser_page.clock.install()
    browser_page.set_viewport_size({"width": 1080, "height": 1920})
    browser_page.goto(f"{live_service.url}/sign/twin")
    expect(browser_page.locator(".live")).to_have_attribute("data-live", "live")
    sizes = [
        browser_page.evaluate("(part) => parseFloat(getComputedStyle(document.querySelector(part)).fontSize)", part)
        for part in ("h1", "h2", "footer", ".news", ".bigmeter", ".state", ".live")
    ]
    assert min(sizes) >= 36, sizes
    assert browser_page.evaluate("getComputedStyle(document.body).cursor") == "none"
    assert browser_page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    news = browser_page.locator("[data-hit-news]")
    open_house.play(royal("r-1", table="TW-201"))
    expect(news).to_contain_text("royal flush pays $20,001")
    browser_page.clock.fast_forward(61_000)
    expect(news).to_have_text("")


def test_the_printed_payouts_name_their_filters(open_house: House, live_service: Service, browser_page: Page) -> None:
    open_house.play(two_hits("r-1"))
    sign_in(browser_page, live_service, onward="/payouts/?table=MS-101&kind=level&min=5&from=2026-11-27")
    browser_page.emulate_media(media="print")
    expect(
        browser_page.get_by_text("From gaming day 2026-11-27; Table MS-101; Kind level; At least, $ 5; newest first.")
    ).to_be_visible()
    expect(browser_page.locator("form.filters")).to_be_hidden()
    expect(browser_page.locator("tfoot")).to_contain_text("All that match, 2 payouts")
