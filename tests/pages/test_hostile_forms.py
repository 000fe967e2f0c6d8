"""Every form that there is, sent with whatever nobody means: never an error of ours, and what is refused leaves nothing behind.

Which forms there are is found: on the pages that each role comes to from its menu. So a new form is covered by being there.
"""

from __future__ import annotations

import html
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.urls import resolve

from accounting.rules.roles import ROLES, SECURITY
from tests.pages.conftest import text_of
from tests.pages.lived_in import client_of, furnish, worker
from tests.pages.test_hostile_addresses import ENDLESS, ROUTES, WHOLLY, usual
from tests.pages.walking import pages_of
from tests.services.house import House

ODD = (
    "", " ", "²", "٣", "9" * 5_000, "-1", "0", "1_000", "12,50", "\0", "a\r\nb", "e\u0301", "\ud800", "0001-01-01", "9999-12-31",
    "2026-02-30", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-05:00", "{", "[]", '{"a": 1}', "null", "9223372036854775808",
    "none", "x" * 100_000, "-0.01", "1.005", "NaN",
)  # fmt: skip
LONGEST_REFUSAL = 100_000
"""A page that shows a form again shows what was typed, too."""


@dataclass(frozen=True)
class Form:
    """A form as somebody of a role finds it: where it goes, and its fields with what they begin with."""

    role: str
    address: str
    fields: tuple[tuple[str, str], ...]

    @property
    def kind(self) -> tuple[str, tuple[str, ...]]:
        """Which form it is, on whatever page."""
        return resolve(self.address.partition("?")[0]).view_name, tuple(name for name, _ in self.fields)


FIELD = re.compile(r"<(input|select|textarea|button)\b([^>]*)>(.*?)(?=<(?:input|select|textarea|button)\b|$)", re.S)


def _attribute(tag: str, name: str) -> str | None:
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return html.unescape(found[1]) if found else None


def forms_of(page: str, address: str, role: str) -> Iterator[Form]:
    """The forms of a page that are posted."""
    for tag, inside in re.findall(r"<form\b([^>]*)>(.*?)</form>", page, re.S):
        if (_attribute(tag, "method") or "get").lower() != "post":
            continue
        fields = []
        for kind, attributes, after in FIELD.findall(inside):
            name = _attribute(attributes, "name")
            if name is None or name == "csrfmiddlewaretoken":
                continue
            value = _attribute(attributes, "value") or ""
            if kind == "select":
                chosen = re.search(r'<option[^>]*value="([^"]+)"', after)
                value = html.unescape(chosen[1]) if chosen else value
            fields.append((name, value))
        yield Form(role, urljoin(address, _attribute(tag, "action") or ""), tuple(fields))


def forms(*roles: str) -> list[Form]:
    """One form of every kind that people of these roles come to; wholly, of each role."""
    found: dict[Any, Form] = {}
    for role in roles:
        client = client_of(role)
        for address in pages_of(client, role, most=1).one_of_each():
            for form in forms_of(client.get(address).content.decode(), address, role):
                if resolve(form.address.partition("?")[0]).view_name not in ("sign-out",):
                    found.setdefault((form.role if WHOLLY else "", form.kind), form)
    return list(found.values())


@pytest.fixture
def untouched(house: House) -> House:
    furnish(house)
    cache.clear()
    return house


def standing() -> dict[str, int]:
    """How many rows there are of everything, save what comes and goes with whoever looks."""
    passing = {"django_session", "people_session", "axes_accessattempt", "axes_accesslog", "axes_accessfailurelog"}
    tables = {model._meta.db_table for model in apps.get_models() if model._meta.managed} - passing
    with connection.cursor() as cursor:
        counted = " UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in sorted(tables))
        cursor.execute(counted)
        return dict(cursor.fetchall())


def sent(client: Client, address: str, fields: list[tuple[str, str]], before: dict[str, int]) -> str:
    """Send a form and undo what it did; what is wrong with the answer, in words."""
    data: dict[str, list[str]] = {}
    for name, value in fields:
        data.setdefault(name, []).append(value.encode("utf-8", "replace").decode() if "\ud800" in value else value)
    point = transaction.savepoint()
    try:
        answer = client.post(address, data)
        if answer.status_code >= 500:
            return f"{answer.status_code}"
        if answer.status_code >= 400:
            if left := {table for table, count in standing().items() if count != before.get(table)}:
                return f"{answer.status_code} and leaves {sorted(left)}"
            if len(text_of(answer)) > LONGEST_REFUSAL + 20_000:
                return f"{answer.status_code} with {len(text_of(answer)):,} characters"
        return ""
    finally:
        transaction.savepoint_rollback(point)
        cache.clear()


def odd_ones(form: Form, chance: random.Random) -> Iterator[list[tuple[str, str]]]:
    """The form with one field gone, twice, or with an odd value; with a field that it does not have; and with nothing."""
    fields = list(form.fields)
    yield []
    yield [*fields, ("no-such-field", "1")]
    names = list(dict.fromkeys(name for name, _ in fields))
    for name in names if WHOLLY else chance.sample(names, min(len(names), 1)):
        yield [(one, value) for one, value in fields if one != name]
        yield [*fields, (name, "other")]
        for odd in ODD if WHOLLY else (*chance.sample(ODD, 1), "\0"):
            yield [(one, odd if one == name else value) for one, value in fields]


def test_every_form_answers_whatever_it_is_sent(untouched: House) -> None:
    chance, wrong = random.Random(8), []
    found = forms(*ROLES)
    before = standing()
    assert len({form.kind for form in found}) > 20
    for form in found:
        client = client_of(form.role)
        client.raise_request_exception = False
        for fields in odd_ones(form, chance):
            if said := sent(client, form.address, fields, before):
                odd = [(name, value[:40]) for name, value in fields if (name, value) not in form.fields]
                wrong.append(f"{form.role}: {form.address} {odd or [name for name, _ in fields]}: {said}")
    assert not wrong, "\n".join(wrong)


def test_every_address_answers_a_post_that_no_form_sends(untouched: House) -> None:
    wrong, before = [], standing()
    for role in ROLES if WHOLLY else (SECURITY, "auditor", "manager"):
        client = client_of(role)
        client.raise_request_exception = False
        for route, places in ROUTES:
            if route not in ENDLESS and (said := sent(client, usual(route, places), [("a", "\0")], before)):
                wrong.append(f"{role}: {route}: {said}")
    assert not wrong, "\n".join(wrong)


def test_no_form_is_taken_from_another_site_or_an_old_page(untouched: House) -> None:
    found, before = forms(SECURITY, "manager"), standing()
    for form in found:
        client = Client(enforce_csrf_checks=True)
        client.force_login(worker(form.role), backend="django.contrib.auth.backends.ModelBackend")
        stale = {"csrfmiddlewaretoken": "x" * 64} | dict(form.fields)
        for given in (dict(form.fields), stale):
            assert client.post(form.address, given).status_code == 403, form.address
    assert standing() == before
