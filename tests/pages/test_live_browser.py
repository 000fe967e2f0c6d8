"""Pages that are open while the house plays: meters, charts, hits, alarms, clocks and signs move by themselves."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from accounting.shell.templatetags.pages import age
from tests.conftest import Service
from tests.pages.browsers import meter, sign_in
from tests.pages.conftest import person
from tests.services.house import NEIGHBOUR, House, message, royal, two_hits

pytestmark = pytest.mark.browser


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
    aged = (130, 7_300, 116_950, 180_000)  # far from where the words change
    browser_page.evaluate(
        "ages => ages.forEach(age => { const place = document.createElement('b'); place.dataset.age = age;"
        " document.body.append(place); })",
        aged,
    )
    for one in aged:
        expect(browser_page.locator(f"[data-age='{one}']")).to_have_text(age(one))


def seconds(clock: str) -> int:
    hours, minutes, rest = map(int, clock.split(":"))
    return (hours * 60 + minutes) * 60 + rest


def test_a_chart_is_drawn(open_house: House, live_service: Service, browser_page: Page) -> None:
    open_house.play(*(message(f"r-{number}") for number in range(12)))
    sign_in(browser_page, live_service, onward="/jackpots/ms-mg01/")
    chart = browser_page.locator(".chart")
    expect(chart.locator("canvas")).to_be_visible()
    expect(chart.locator(".u-legend")).to_contain_text("$10,002.04")


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


def test_a_sign_needs_nobody_to_sign_in_and_says_who_won_until_that_is_acknowledged_and_when_it_is_closed(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    # Another link's than in the next test: for a minute the server knows which link an address means, by its number.
    browser_page.goto(f"{live_service.url}/sign/ms-mg01")
    expect(browser_page.locator(".live")).to_have_attribute("data-live", "live")
    open_house.play(royal("r-1"))
    wins, shut = browser_page.locator("[data-wins] p"), browser_page.locator("[data-shut]")
    expect(wins).to_have_text(["WIN MS-101 $10,000.34"])
    expect(meter(browser_page)).to_have_text("$10,000.00")
    open_house.play(royal("r-2", table=NEIGHBOUR))
    both = [f"WIN {NEIGHBOUR} $10,000.34", "WIN MS-101 $10,000.34"]
    expect(wins).to_have_text(both)
    browser_page.wait_for_timeout(6_000)
    expect(wins).to_have_text(both)
    browser_page.reload()
    expect(wins).to_have_text(both)
    open_house.act("hit.verify", "ms-mg01-000001")
    expect(wins).to_have_text(both[:1])
    open_house.act("hit.reject", "ms-mg01-000002")
    expect(wins).to_have_count(0)
    expect(shut).to_be_hidden()
    open_house.act("link.suspend", "ms-mg01")
    expect(shut).to_be_visible()
    browser_page.reload()
    expect(shut).to_be_visible()
    open_house.act("link.resume", "ms-mg01", at=open_house.now + timedelta(seconds=1))
    expect(shut).to_be_hidden()
    boost = {"part": "display", "cents": 48_000_000, "reason": "boost"}
    open_house.act("level.adjust", "ms-mg01/major", at=open_house.now + timedelta(seconds=2), **boost)
    browser_page.set_viewport_size({"width": 1080, "height": 1920})
    expect(meter(browser_page)).to_have_text("$490,000.34")
    box = meter(browser_page).bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= 1080, "a long amount is written smaller, never cut"


def test_a_sign_shows_every_level_is_read_at_ten_metres_and_is_stale_after_five_seconds_of_silence(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    """Half a millimetre a pixel on a 43-inch screen: what matters is 54 pixels high at least, meters and wins a hundred."""
    browser_page.clock.install()
    open_house.play(royal("r-1", table="TW-201"))
    browser_page.goto(f"{live_service.url}/sign/twin")
    live = browser_page.locator(".live")
    expect(live).to_have_attribute("data-live", "live")
    expect(browser_page.locator("section[data-level]")).to_have_count(2)
    expect(browser_page.locator("[data-wins] p")).to_contain_text("WIN TW-201 $20,00")

    def pixels(part: str) -> float:
        found: float = browser_page.evaluate(
            "(part) => Math.min(...[...document.querySelectorAll(part)].map("
            "each => parseFloat(getComputedStyle(each).fontSize)))",
            part,
        )
        return found

    fits = "document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight"
    for width, height in ((1920, 1080), (1080, 1920)):
        browser_page.set_viewport_size({"width": width, "height": height})
        assert min(pixels(".bigmeter"), pixels("[data-wins] p")) >= 96, (width, height)
        assert min(pixels("h1"), pixels("h2")) >= 54, (width, height)
        assert browser_page.evaluate(fits), (width, height)
        if folder := os.environ.get("JACKPOT_PICTURES"):  # for whoever wants to look
            browser_page.screenshot(path=f"{folder}/sign-{width}.png")
    assert browser_page.evaluate("getComputedStyle(document.body).cursor") == "none"
    browser_page.clock.fast_forward(5_000)
    expect(live).to_have_attribute("data-live", "stale")
    expect(live).to_have_attribute("data-live", "live")
