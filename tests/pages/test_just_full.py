"""A list that is just full leads no further: every list of the API that is read page by page, found in its own description."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from accounting.rules.roles import AUDITOR, CAGE, CONTROLLER, SECURITY
from tests.pages.lived_in import client_of, furnish
from tests.services.house import House

NAMED = {"code": "ms-mg01", "stream": "ms-mg01", "name": "a-auditor"}
"""What stands for the parts of an address, and for what must be given."""
ACCOUNT = "wagers"


def lists() -> list[tuple[str, dict[str, str]]]:
    """Every address that takes a limit, with what it must be given."""
    found = []
    schema = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    for path, methods in schema["paths"].items():
        given = {each["name"]: each for each in methods.get("get", {}).get("parameters", ())}
        if "limit" not in given:
            continue
        address = path
        for name, each in given.items():
            if each["in"] == "path":
                address = address.replace(f"{{{name}}}", ACCOUNT if "accounts" in path else NAMED[name])
        needed = {name: NAMED[name] for name, each in given.items() if each["in"] == "query" and each.get("required")}
        if "from" in given and "to" in given and "accounts" in path:
            needed |= {"from": "2026-11-01", "to": "2026-11-27"}
        found.append((address, needed))
    return found


def read(address: str, given: dict[str, str]) -> dict[str, Any]:
    """A page, as the first of these roles that may read it."""
    for role in (AUDITOR, CONTROLLER, CAGE, SECURITY):
        client: Client = client_of(role)
        answer = client.get(f"{address}?{urlencode(given)}")
        if answer.status_code != 403:
            break
    assert answer.status_code == 200, (address, answer.content)
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.timeout(300)
def test_every_list_ends_with_its_last_row_whatever_its_pages_hold(house: House) -> None:
    furnish(house)
    several = 0
    for address, given in lists():
        whole = read(address, given | {"limit": "500"})
        rows = whole["items"]
        assert whole["next"] is None, address
        if not rows:
            continue
        full = read(address, given | {"limit": str(len(rows))})
        assert (full["items"], full["next"]) == (rows, None), f"{address}: {len(rows)} of {len(rows)}"
        if len(rows) < 2:
            continue
        several += 1
        half = -(-len(rows) // 2)
        first = read(address, given | {"limit": str(half)})
        second = read(address, given | {"limit": str(half), "cursor": first["next"]})
        assert (first["items"] + second["items"], second["next"]) == (rows, None), address
    assert several >= 5, "lists with more than one row are among them"
