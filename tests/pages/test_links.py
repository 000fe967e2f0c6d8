"""Every link of every page, as every role: it leads to a page, and every page that there is, is come to."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.converters import IntConverter
from django.urls.resolvers import URLPattern, URLResolver

from accounting.rules.roles import ROLES, SECURITY
from accounting.shell.navigation import SECTIONS
from tests.pages.lived_in import client_of, furnish
from tests.pages.walking import pages_of, walk
from tests.services.house import House

PARTS = {"clock", "floor-now", "jackpots-hits", "jackpot-hits", "jackpot-series", "payout-total"}
"""Parts of pages that read themselves anew."""
STREAMS = {"live", "sign-stream"}
ASKED_FOR = {
    "find",
    "decision-evidence",
    "foreseen",
    "report-file",
    "signed-heads",
    "slip-print",
    "job-file",
    "reading-photo",
}
"""What no link leads to: a form does; and files."""


@pytest.mark.timeout(600)
def test_every_link_of_every_role_leads_to_a_page_and_every_page_is_come_to(house: House) -> None:
    """A page that no link leads to would be looked at by no test that goes from page to page."""
    furnish(house)
    came: set[str] = set()
    wrong: dict[str, list[str]] = {}
    for role in ROLES:
        walked = pages_of(client_of(role), role, most=5)
        wrong |= {role: walked.wrong} if walked.wrong else {}
        assert {section.address for section in SECTIONS if role in section.roles} <= walked.names()
        assert role == SECURITY or {"round-page", "table-page", "payout-page", "jackpot"} <= walked.names(), role
        came |= walked.names()
    assert wrong == {}
    came |= walk(Client(), "/sign-in", "/first-sign-in/tess", "/sign/twin", most=1).names()
    assert names_of_pages() - came == PARTS | STREAMS | ASKED_FOR


def names_of_pages() -> set[str]:
    """The names of all addresses that are no API and that a GET is answered at."""
    found = set()

    def gather(resolver: URLResolver, before: str = "") -> None:
        for pattern in resolver.url_patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                gather(pattern, route)
            elif not route.startswith(("api/", "metrics")) and is_got(pattern):
                found.add(str(pattern.name))

    gather(get_resolver())
    return found


def is_got(pattern: URLPattern) -> bool:
    """Whether an address is asked by GET; 405 says that it is not."""
    converters = pattern.pattern.converters.items()
    sample = {name: 1 if isinstance(converter, IntConverter) else "x" for name, converter in converters}
    return Client().get(reverse(str(pattern.name), kwargs=sample)).status_code != 405
