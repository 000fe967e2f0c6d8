"""Personal tokens over HTTP, and a house without demo mode: its people and devices by command, one after the other."""

from __future__ import annotations

import io
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from accounting.models import AuditRecord
from accounting.people.authentication import Bearer
from accounting.people.services import accounts, tokens
from accounting.people.services.acting import Actor
from accounting.rules.roles import ROLES
from accounting.shell.pages import roles_of
from devices import demo
from devices.models import Device
from tests.api.conftest import Api
from tests.api.test_access import READING
from tests.conftest import ROOT, service_environment, serving
from tests.services.house import House, message

PASSWORD = "a long enough password"
SAM = Actor("sam")
OWNER = Actor("tess")


def said(*words: str, **options: Any) -> str:
    """What a command prints."""
    out = io.StringIO()
    call_command(*words, stdout=out, **options)
    return out.getvalue().strip()


# ── tokens ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("role", ROLES)
def test_a_demo_token_reads_as_its_person(role: str, api: Api) -> None:
    person = next(row for row in demo.ensure()["people"] if row["roles"] == [role])
    header = {"Authorization": f"Bearer {person['token']}"}
    assert httpx.get(f"{api.url}/api/v1/links", headers=header, trust_env=False).status_code == 200


@pytest.mark.parametrize("route", READING)
def test_a_token_reads_what_a_signed_in_person_reads(route: str, api: Api) -> None:
    person = next(row for row in demo.ensure()["people"] if row["username"] == "auditor")
    route = f"{route}?stream=ms-mg01" if route == "/api/v1/rounds" else route
    header = {"Authorization": f"Bearer {person['token']}"}
    assert httpx.get(api.url + route, headers=header, trust_env=False).status_code in (200, 404)


@pytest.mark.parametrize("role", ROLES)
def test_every_use_of_a_token_bears_the_person_s_name_and_roles(role: str, house: House) -> None:
    accounts.invite("tess", [role], secret="x", by=SAM, at=timezone.now())
    tokens.issue("tess", secret="t", by=OWNER, at=timezone.now())
    asked = APIRequestFactory().get("/", headers={"Authorization": "Bearer t"})
    request = Request(asked, authenticators=[Bearer()])
    assert request.user.get_username() == "tess"
    assert roles_of(request) == {role}


def test_a_stream_opens_with_a_token(api: Api) -> None:
    person = next(row for row in demo.ensure()["people"] if row["username"] == "cage")
    header = {"Authorization": f"bearer {person['token']}"}
    with httpx.stream("GET", f"{api.url}/api/v1/links/ms-mg01/stream", headers=header, trust_env=False) as answer:
        assert answer.status_code == 200
        assert any(line == "event: meter" for line in itertools.islice(answer.iter_lines(), 20))


def test_a_token_posts_no_rounds_and_opens_no_page(api: Api) -> None:
    person = next(row for row in demo.ensure()["people"] if row["username"] == "supervisor")
    header = {"Authorization": f"Bearer {person['token']}"}
    answer = httpx.post(f"{api.url}/api/v1/rounds", json=api.round(), headers=header, trust_env=False)
    assert (answer.status_code, answer.json()["code"]) == (401, "unknown_key")
    assert httpx.get(f"{api.url}/people/", headers=header, trust_env=False).status_code == 302


@pytest.mark.parametrize("token", ["", "wrong", "a b", "\u00e9" * 8, "x" * 10_000, "%00"])
def test_an_unknown_token_reads_nothing(token: str, api: Api) -> None:
    header = httpx.Headers({"Authorization": f"Bearer {token}".strip()}, encoding="latin-1")
    for route in ("links", "links/ms-mg01/stream"):
        answer = httpx.get(f"{api.url}/api/v1/{route}", headers=header, trust_env=False)
        assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
        assert "Bearer" in answer.headers["www-authenticate"]


def test_a_token_of_a_suspended_person_or_withdrawn_is_401_at_once(api: Api) -> None:
    name = "tess"
    accounts.invite(name, ["cage"], secret="tess-link", by=SAM, at=timezone.now())
    tokens.issue(name, secret="tess-1", by=OWNER, at=timezone.now())
    tokens.issue(name, secret="tess-2", by=OWNER, at=timezone.now())

    def status(token: str) -> int:
        header = {"Authorization": f"Bearer {token}"}
        return httpx.get(f"{api.url}/api/v1/links", headers=header, trust_env=False).status_code

    assert (status("tess-1"), status("tess-2")) == (200, 200)
    tokens.withdraw(name, tokens.holder("tess-1", demo=False, at=timezone.now()).pk, by=SAM, at=timezone.now())  # type: ignore[union-attr]
    assert (status("tess-1"), status("tess-2")) == (401, 200)
    accounts.suspend(name, by=SAM, at=timezone.now())
    assert status("tess-2") == 401


def test_the_document_of_the_api_names_keys_and_tokens(api: Api) -> None:
    schemes = api.client.get("/api/v1/schema", params={"format": "json"}, headers=api.key()).json()["components"][
        "securitySchemes"
    ]
    assert schemes["personalToken"]["scheme"] == "bearer"
    assert schemes["deviceKey"]["type"] == "apiKey"


def test_changing_the_forwarded_address_does_not_buy_more_attempts(api: Api) -> None:
    with httpx.Client(base_url=api.url, trust_env=False) as client:
        client.get("/sign-in")
        answers = []
        for attempt in range(11):
            form = {"username": "accounting", "password": "wrong", "csrfmiddlewaretoken": client.cookies["csrftoken"]}
            answers.append(client.post("/sign-in", data=form, headers={"X-Forwarded-For": f"198.51.100.{attempt}"}))
    assert [answer.status_code for answer in answers] == [200] * 9 + [429] * 2
    call_command("axes_reset", stdout=io.StringIO())


# ── a house without demo mode ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def plain(busy_house: House) -> Iterator[str]:
    """Where the web process serves a house whose JACKPOT_DEMO is not set."""
    with serving(demo=False) as service:
        yield service.url


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """A command of manage.py in a process of its own, as somebody at the server runs it."""
    environment = {**service_environment(demo=False), "JACKPOT_NO_VENV": "1"}
    return subprocess.run(
        [sys.executable, "manage.py", *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )


def test_a_house_without_demo_mode_is_run_by_its_commands(plain: str) -> None:
    made = command("person", "Sam", "--role", "security", "--full-name", "Sam Stone", "--base-url", plain)
    assert (made.returncode, made.stderr) == (0, "")
    *said, link = made.stdout.splitlines()
    assert link.startswith(f"{plain}/first-sign-in/sam#")
    once = "The password is set here, once, within three days:"
    assert said == ["sam is here as security", once]
    again = command("person", "SAM", "--role", "security")
    assert again.returncode == 2
    assert "sam has an account already (roles: security). --link gives out a new one-time link." in again.stderr
    second = command("person", "sam", "--link", "--base-url", plain)
    assert (second.returncode, second.stderr) == (0, "")
    ended = "a new link for sam; the one before, the password and sessions have ended"
    assert second.stdout.splitlines()[:-1] == [ended, once]

    with httpx.Client(trust_env=False, follow_redirects=True) as browser:
        assert set_password(browser, link).status_code == 400, "the first link ended with the second"
        page = set_password(browser, second.stdout.splitlines()[-1])
        assert (page.status_code, page.url.path) == (200, "/devices/")
        assert "Sam Stone" in page.text
    with httpx.Client(base_url=plain, trust_env=False, follow_redirects=True) as browser:
        form = {"username": "SAM", "password": PASSWORD, "csrfmiddlewaretoken": token_of(browser, "/sign-in")}
        page = browser.post("/sign-in", data=form)
        assert page.url.path == "/devices/"
        assert "Demo people" not in page.text

    key = command("device", "IDP-0042", "--tables", "MS-101,MS-102").stdout.strip()
    posted = httpx.post(
        f"{plain}/api/v1/rounds",
        json=message("R-1", dealt_at=timezone.now().isoformat()),
        headers={"Authorization": f"Api-Key {key}"},
        trust_env=False,
    )
    assert (posted.status_code, posted.json()["status"]) == (202, "accepted")
    token = command("token", "sam").stdout.strip()
    read = httpx.get(f"{plain}/api/v1/rounds/MS-101/R-1", headers={"Authorization": f"Bearer {token}"}, trust_env=False)
    assert (read.status_code, read.json()["state"]) == (200, "queued")

    for device in demo.ensure()["devices"].values():
        header = {"Authorization": f"Api-Key {device['api_key']}"}
        assert httpx.get(f"{plain}/api/v1/links", headers=header, trust_env=False).status_code == 401


def token_of(browser: httpx.Client, address: str) -> str:
    """The form token of a page."""
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', browser.get(address).text)
    assert found
    return found[1]


def set_password(browser: httpx.Client, link: str) -> httpx.Response:
    """Follow a one-time link as a browser does, and set the password."""
    address, _, secret = link.partition("#")
    form = {"secret": secret, "new_password1": PASSWORD, "new_password2": PASSWORD}
    return browser.post(address, data=form | {"csrfmiddlewaretoken": token_of(browser, address)})


# ── commands ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (
            ["person", "maria", "--role", "dealer"],
            "--role: No role 'dealer': there are supervisor, manager, accounting",
        ),
        (
            ["person", "maria", "--role", "cage", "--role", "manager"],
            "--role: Nobody holds a gaming role and an accounting",
        ),
        (["person", "maria"], "--role: Somebody without a role can see nothing"),
        (["person", "maria lopez", "--role", "cage"], "NAME: 'maria lopez' is no account name"),
        (["person", "nobody", "--link"], "NAME: There is nobody called nobody."),
        (["person", "nobody", "--link", "--role", "cage"], "--link: roles are changed on the page of people"),
        (["token", "nobody"], "NAME: There is nobody called nobody."),
        (["token", "nobody", "--withdraw"], "NAME: There is nobody called nobody."),
        (["device", "X-1", "--tables", "MS-101,MS-999"], "--tables: there is no table MS-999"),
        (["device", "X-1"], "--tables: a device posts for one table at least"),
        (["device", "demo-X", "--tables", "MS-101"], "CODE: 'demo-X' is no code for a device"),
        (["device", "X-1", "--new-key"], "CODE: there is no device X-1"),
        (["device", "X-1", "--withdraw"], "CODE: there is no device X-1"),
    ],
)
def test_a_command_that_is_refused_says_what_was_wrong_and_does_nothing(
    house: House, words: list[str], refusal: str
) -> None:
    before = (User.objects.count(), Device.objects.count(), AuditRecord.objects.count())
    with pytest.raises(CommandError) as refused:
        said(*words)
    assert refusal in str(refused.value)
    assert (User.objects.count(), Device.objects.count(), AuditRecord.objects.count()) == before


def test_a_device_s_key_is_renewed_and_withdrawn(house: House, client: Any) -> None:
    from devices.intake import directory

    def status(key: str) -> int:
        directory.forget()
        answer: int = client.get("/api/v1/links", headers={"Authorization": f"Api-Key {key}"}).status_code
        return answer

    first = said("device", "IDP-1", "--tables", "MS-101", "--tables", "MS-102")
    assert status(first) == 200
    with pytest.raises(CommandError, match="there is a device IDP-1 already; it posts for MS-101, MS-102; --new-key"):
        said("device", "IDP-1", "--tables", "MS-101")
    second = said("device", "IDP-1", "--new-key")
    assert (status(first), status(second)) == (401, 200)
    device = Device.objects.get(code="IDP-1")
    assert sorted(table.code for table in device.tables.all()) == ["MS-101", "MS-102"]
    third = said("device", "IDP-1", "--new-key", "--tables", "TW-201")
    assert [table.code for table in device.tables.all()] == ["TW-201"]
    said("device", "IDP-1", "--withdraw")
    assert (status(second), status(third)) == (401, 401)
    with pytest.raises(CommandError, match="has no key"):
        said("device", "IDP-1", "--withdraw")
    trail = AuditRecord.objects.filter(subject="device IDP-1").order_by("id")
    assert [record.action for record in trail] == [
        "enrol device", "renew device key", "renew device key", "withdraw device key",
    ]  # fmt: skip
    assert all(record.actor.startswith("command (") for record in trail)
    assert not any(key in str(record.detail) for record in trail for key in (first, second, third))


def test_every_token_of_a_person_is_withdrawn_by_one_command(house: House, client: Any) -> None:
    said("person", "maria", "--role", "cage")
    issued = [said("token", "MARIA", "--purpose", f"number {number}") for number in (1, 2)]
    for token in issued:
        assert client.get("/api/v1/links", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert said("token", "maria", "--withdraw") == "2 tokens of maria withdrawn"
    for token in issued:
        assert client.get("/api/v1/links", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert said("token", "maria", "--withdraw") == "0 tokens of maria withdrawn"
