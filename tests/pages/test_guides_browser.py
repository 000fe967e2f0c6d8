"""What the guides say and show stands on the pages, for the role that reads it."""

from __future__ import annotations

import os
from typing import Any

import pytest
from playwright.sync_api import Page

from accounting.guides import wording
from tests.conftest import Service
from tests.guides.taking import (
    COMMAND,
    HEIGHT,
    NAMES,
    WIDTH,
    address_of,
    digest,
    furnish_shift,
    guides,
    is_among,
    keep,
    structure,
    take,
)
from tests.pages.browsers import bring_session
from tests.services.house import House

pytestmark = pytest.mark.browser


@pytest.mark.timeout(300)
def test_what_guides_name_and_show_is_on_their_pages(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    furnish_shift(open_house)
    page = browser_page
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    taken: dict[str, dict[str, Any]] = {}
    wrong: list[str] = []
    for guide in guides():
        bring_session(page, live_service, f"a-{guide.role}")
        names: dict[str, list[str]] = {}
        for step in guide.all_steps():
            seen: list[str] = []
            for look in step.looks:
                shows = step.picture if step.picture and look == step.looks[-1] else None
                if look not in names or shows:
                    page.goto(live_service.url + address_of(look), wait_until="domcontentloaded")
                    if shows and (found := structure(page, shows)) is None:
                        wrong.append(f"{shows.name}: {shows.of} is not on {look}")
                    elif shows and found is not None:
                        taken[shows.name] = {"digest": digest(found), "structure": found}
                        if os.environ.get("TAKE_GUIDES"):
                            taken[shows.name] |= take(page, shows)
                    names[look] = page.evaluate(NAMES)
                seen += names[look]
            wrong += [f"{guide.role}: {step.title}: {name!r}" for name in step.names() if not is_among(name, seen)]
    assert wrong == [], "guides name what is not on the page for the role:\n" + "\n".join(wrong)
    if os.environ.get("TAKE_GUIDES"):
        keep(taken)
        wording.pictures.cache_clear()
    kept = wording.pictures()
    assert taken.keys() == kept.keys(), f"take the pictures anew: {COMMAND}"
    for name, now in taken.items():
        assert now["structure"] == kept[name]["structure"], f"what {name} shows has changed; take it anew: {COMMAND}"
        assert now["digest"] == kept[name]["digest"], f"{name} was not taken with what is kept of it: {COMMAND}"
