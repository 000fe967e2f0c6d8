"""What stands still says so: web, worker and database are stopped for 25 seconds each, and the open pages are read.

No byte arrives that could tell a page so: each must find out by itself, say how old it is, and be live again afterwards.
"""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.faults.hall import LINK, Hall, by_table

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

FROZEN_SECONDS = 25
BACK_WITHIN_MILLISECONDS = 90_000
STALE = re.compile(r"stale, (\d+) s")


@contextmanager
def stopped(*processes: psutil.Process) -> Iterator[None]:
    """These stand still; whatever happens, they go on afterwards."""
    try:
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGCONT)


def frozen(hall: Hall, what: str) -> list[psutil.Process]:
    """The processes to stop: the web process, all that settle, or the whole database server."""
    if what == "database":
        server = hall.server.process()
        assert server is not None
        return [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
    found = [process for name, process in hall.children().items() if name.startswith(what)]
    assert found, sorted(hall.children())
    return [psutil.Process(process.pid) for process in found]


@pytest.fixture
def tabs(hall: Hall, context: BrowserContext) -> dict[str, Page]:
    """Floor, link and sign, open and live."""
    said: dict[str, Any] = json.loads((hall.data / "demo.json").read_text())
    person = next(person for person in said["people"] if "auditor" in person["roles"])
    pages = {name: context.new_page() for name in ("/", f"/jackpots/{LINK}/", f"/sign/{LINK}")}
    first = pages["/"]
    first.goto(f"{said['base_url']}/sign-in")
    first.get_by_label("User name").fill(person["username"])
    first.get_by_label("Password").fill(person["password"])
    first.get_by_role("button", name="Sign in").click()
    first.wait_for_load_state()
    for address, page in pages.items():
        page.goto(said["base_url"] + address)
    for page in pages.values():
        everywhere_live(page)
    return pages


def everywhere_live(page: Page) -> None:
    """Every live part of a page is live, and says how old it is."""
    signs = page.locator(".live")
    for number in range(signs.count()):
        expect(signs.nth(number)).to_have_text(re.compile(r"live, \d s"), timeout=BACK_WITHIN_MILLISECONDS)


@pytest.mark.parametrize("what", ["web", "settle", "database"])
def test_what_stands_still_is_said_by_every_live_part_with_its_age(
    hall: Hall, tabs: dict[str, Page], what: str
) -> None:
    floor = tabs["/"]
    with stopped(*frozen(hall, what)):
        floor.wait_for_timeout(FROZEN_SECONDS * 1000)
        for address, page in tabs.items():
            signs = page.locator(".live")
            for number in range(signs.count()):
                found = STALE.fullmatch(signs.nth(number).inner_text())
                assert found, f"{address}: {signs.nth(number).inner_text()}"
                assert 15 <= int(found[1]) <= 60, f"{address}: {found[0]}"
        if what == "settle":
            expect(floor.locator("#pulse")).to_contain_text("nothing settles")
    for page in tabs.values():
        everywhere_live(page)


def test_a_sign_is_stale_within_five_seconds_of_the_silence_of_the_web_process(
    hall: Hall, tabs: dict[str, Page]
) -> None:
    sign = tabs[f"/sign/{LINK}"].locator(".live")
    with stopped(*frozen(hall, "web")):
        began = time.monotonic()
        expect(sign).to_have_attribute("data-live", "stale", timeout=15_000)
        seconds = time.monotonic() - began
    assert seconds <= 5.5, f"{seconds:.1f} s"  # half a second for whoever looks
    everywhere_live(tabs[f"/sign/{LINK}"])


def test_a_queue_that_is_not_settled_tells_its_age_on_the_floor(hall: Hall, tabs: dict[str, Page]) -> None:
    floor = tabs["/"]
    with stopped(*frozen(hall, "settle")):
        for messages in by_table(hall.deal(8)).values():
            hall.post(messages)
        expect(floor.locator("#pulse")).to_have_text(re.compile(r"\d+ waiting, oldest \d+ s.*"), timeout=30_000)
        floor.wait_for_timeout(12_000)
        expect(floor.locator("#pulse")).to_have_text(re.compile(r"\d+ waiting, oldest (1\d|2\d|3\d) s.*"))
    expect(floor.locator("#pulse")).to_contain_text("queue empty", timeout=BACK_WITHIN_MILLISECONDS)
