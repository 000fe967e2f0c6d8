"""Every address that there is, asked with whatever nobody means: never an error of ours, and a refusal names what was wrong.

Which addresses and parameters there are is found: from the list of addresses, and from what an address says when it is asked
with a parameter that it does not know. So a page that comes is covered by being there.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounting.rules.roles import AUDITOR, ROLES
from tests.pages.lived_in import LONG, client_of, furnish
from tests.services.house import House

WHOLLY = "JACKPOT_FUZZ_WHOLLY" in os.environ
"""Every value for every parameter; else a few of them, by chance that is always the same."""

HOSTILE = (
    " ", "²", "٣", "9" * 5_000, "-1", "0", "+5", "1_000", "12,50", "1e3", "0x1f", "NaN", "%00", "\0", "a\nb",
    "a\r\nSet-Cookie: x", "e\u0301", "\u00a0", "\u202eabc", "\ud800".encode("utf-8", "surrogatepass"), "0001-01-01",
    "9999-12-31", "2026-02-30", "2026-11-27", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-05:00", "2026-11-27T25:00:00Z",
    "2026-W48-6", "none", "' OR 1=1 --", "<script>", "../../etc/passwd", "%", "%%", "{}", "[]", "null", "9223372036854775807",
    "9223372036854775808", "9223372036854775807~1", "1~2", "a/b/c/d/e", "x" * 4_001, "MS-101", "ms-mg01", "ms-mg01/major",
    "ms-mg01-000001",
)  # fmt: skip
FILLED = {
    "code": "ms-mg01", "path": f"MS-101/{LONG}", "payout_id": "ms-mg01-1-1", "reference": f"MS-101/{LONG}", "day": "2026-11-27",
    "name": "a-cage", "report": "progressive", "hit": "ms-mg01-000001", "table": "MS-101", "role": "cage", "account": "cage",
    "stream": "ms-mg01", "link": "ms-mg01",
}  # fmt: skip
ENDLESS = {"/sign/{}/stream", "/live", "/api/v1/links/{}/stream"}


def routes(patterns: list[Any], before: str = "/") -> Iterator[tuple[str, list[str]]]:
    """Every address with `{}` in its places, and what its places are called."""
    for pattern in patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, here)
        else:
            assert isinstance(pattern, URLPattern)
            places = re.findall(r"<(?:\w+:)?(\w+)>", here)
            yield re.sub(r"<[^>]+>", "{}", here), places


ROUTES = sorted(dict(routes(get_resolver().url_patterns)).items())


def escaped(value: str | bytes) -> str:
    return quote(value, safe="")


def usual(route: str, places: list[str]) -> str:
    return route.format(*(escaped(FILLED.get(place, "1")) for place in places))


def known_by(client: Client, address: str) -> list[str] | None:
    """The parameters of an address, as it says itself; None where it does not care."""
    answer = client.get(address, {"no-such": "1"})
    if answer.status_code == 200:
        return None
    said = answer.content.decode() if answer.status_code == 400 else ""
    found = re.search(r"known are ([\w, -]+)", said)
    return found[1].split(", ") if found else []


REQUIRED = {"/api/v1/rounds": "stream=ms-mg01"}
"""Addresses that cannot be asked without a parameter."""
HEEDLESS = {
    "/", "/account/", "/accounting/liabilities/", "/api/v1/docs", "/api/v1/health", "/api/v1/hits/{}", "/api/v1/links/{}",
    "/api/v1/payouts/{}/explanation", "/api/v1/payouts/{}/verification", "/api/v1/rounds/{}", "/api/v1/schema",
    "/audit/retention/", "/clock", "/decisions/", "/decisions/{}/", "/first-sign-in/{}", "/floor/now", "/foreseen/new/",
    "/guide/", "/guide/{}/", "/jackpots/", "/jackpots/hits", "/jackpots/{}/hits", "/metrics", "/payouts/{}/", "/people/",
    "/people/{}/", "/reports/made/{}/", "/reports/made/{}/files/{}", "/rounds/{}", "/set-up/", "/sign/{}",
}  # fmt: skip
"""Addresses that answer as ever whatever else they are asked; every other refuses a parameter that it does not know."""
OF_A_FORM = re.compile(r"\d+-")
"""Fields of a form that is sent as a whole: one that is left empty is missing there."""
SAID = re.compile(r'class="[^"]*\b(?:refusal|notice|bad|invalid)\b|role="alert"|aria-invalid')
"""How a page says that something cannot be followed."""


class Asking:
    """Somebody who asks, and what was wrong with the answers, in words."""

    def __init__(self, role: str, chance: random.Random) -> None:
        self.role, self.chance = role, chance
        self.client = client_of(role)
        self.client.raise_request_exception = False
        self.wrong: list[str] = []
        self.heedless: set[str] = set()

    def few(self, how_many: int) -> Any:
        return HOSTILE if WHOLLY else self.chance.sample(HOSTILE, how_many)

    def get(self, address: str) -> Any:
        answer = self.client.get(address)
        if answer.status_code >= 500:
            self.say(address, f"{answer.status_code}")
        return answer

    def say(self, address: str, what: str) -> None:
        self.wrong.append(f"{self.role}: {address[:300]}: {what}")

    def places(self, route: str, places: list[str]) -> None:
        """Every place of an address filled with something odd."""
        for place in range(len(places)):
            for value in self.few(1):
                filled = [escaped(FILLED.get(name, "1")) for name in places]
                filled[place] = escaped(value)
                self.get(route.format(*filled))

    def parameters(self, address: str) -> None:
        """Every parameter of an address odd, twice and empty."""
        known = known_by(self.client, address)
        if known is None:
            self.heedless.add(address)
        names = known or []
        if address in REQUIRED:
            names, address = (
                [name for name in names if name not in REQUIRED[address]],
                f"{address}?{REQUIRED[address]}&",
            )
        else:
            address += "?"
        without = self.get(address).status_code if names else None
        for name in names:
            for value in self.few(1):
                here = f"{address}{name}={escaped(value)}"
                answer = self.get(here)
                if answer.status_code == 400:
                    self.refused(answer, name, here)
                if "format" in names and name not in ("format", "limit", "cursor"):
                    as_csv = self.get(f"{here}&format=csv").status_code
                    if as_csv != answer.status_code:
                        self.say(here, f"{answer.status_code}, as CSV {as_csv}")
            if WHOLLY or self.chance.random() < 0.5:
                self.twice(address, name)
            if WHOLLY or self.chance.random() < 0.3:
                blank = self.get(f"{address}{name}=").status_code
                if blank != without and not OF_A_FORM.match(name):
                    self.say(f"{address}{name}=", f"{blank}, without it {without}")

    def twice(self, address: str, name: str) -> None:
        here = f"{address}{name}=1&{name}=2"
        answer = self.get(here)
        if answer.status_code == 400:
            self.refused(answer, name, here)
        else:
            self.say(here, f"{answer.status_code}, given twice")

    def refused(self, answer: Any, name: str, address: str) -> None:
        """A refusal names the parameter: the API by pointer, a page in one line or beside the field."""
        if answer.headers["Content-Type"].startswith("application/problem+json"):
            said = json.loads(answer.content)
            if said.get("pointer") != f"/{name}" or said.get("code") != "invalid_value":
                self.say(address, f"{said}")
        elif not re.search(
            r'class="(?:[^"]*\b(?:refusal|notice|bad|invalid)\b)|role="alert"|aria-invalid', answer.content.decode()
        ):
            self.say(address, "does not say what is wrong")


def test_every_address_answers_whatever_it_is_asked(house: House) -> None:
    furnish(house)
    asking = Asking(AUDITOR, random.Random(8))
    for route, places in ROUTES:
        if route not in ENDLESS:
            asking.places(route, places)
            asking.parameters(usual(route, places))
    assert not asking.wrong, "\n".join(asking.wrong)
    heedless = {route for route, places in ROUTES if usual(route, places) in asking.heedless}
    assert heedless <= HEEDLESS, "a parameter that it does not know is as good as none"


def test_every_role_is_answered_everywhere(house: House) -> None:
    furnish(house)
    wrong = []
    for role in sorted(set(ROLES) - {AUDITOR}):
        asking = Asking(role, random.Random(role))
        for route, places in ROUTES if WHOLLY else asking.chance.sample(ROUTES, 12):
            if route not in ENDLESS:
                asking.get(usual(route, places))
                asking.get(f"{usual(route, places)}?a={escaped(asking.chance.choice(HOSTILE))}")
                asking.places(route, places)
        wrong += asking.wrong
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("asked", ["format=xml", "format=csv&format=json", "format=1&format=2"])
@pytest.mark.parametrize("of", ["payouts", "slips"])
def test_a_form_that_there_is_not_is_a_parameter_like_others(of: str, asked: str, house: House) -> None:
    answer = client_of(AUDITOR).get(f"/api/v1/{of}?{asked}")
    said = json.loads(answer.content)
    assert (answer.status_code, said["code"], said["pointer"]) == (400, "invalid_value", "/format")
