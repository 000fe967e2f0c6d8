"""People to look at pages with."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client
from playwright.sync_api import Page

from accounting.rules.roles import AUDITOR, SUPERVISOR
from tables.services import floors
from tests.conftest import Service
from tests.services.house import FLOOR, OPENED, House

PASSWORD = "a long enough password"
GIVE_UP_MILLISECONDS = 40_000
"""What a browser waits for may take its time on a busy machine."""


def person(username: str, *roles: str) -> User:
    """Somebody with these roles."""
    user = User.objects.create_user(username, password=PASSWORD)
    user.groups.set([Group.objects.get_or_create(name=role)[0] for role in roles])
    return user


@pytest.fixture(autouse=True)
def _nothing_kept_by_pages() -> None:
    """What pages keep for a second does not pass from one test to the next."""
    cache.clear()


@pytest.fixture(autouse=True)
def _a_loop_runs_beside_a_browser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Playwright's synchronous interface keeps one in this thread, and Django would refuse the database beside it."""
    if request.node.get_closest_marker("browser"):
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


SignedIn = Callable[..., Client]


@pytest.fixture
def open_house(live_service: Service) -> House:
    """A floor that the server serves; what is played is settled here."""
    floors.install(FLOOR, at=OPENED)
    person("everyone", AUDITOR)
    person("maria", SUPERVISOR)
    return House()


@pytest.fixture
def signed_in(house: House) -> SignedIn:
    """A browser in which somebody with these roles is signed in: `signed_in("cage")`; an auditor unless roles are named."""

    def sign_in(*roles: str | None) -> Client:
        wanted = [role for role in roles if role] if roles else [AUDITOR]
        name = "-".join(wanted) or "nobody"
        somebody = User.objects.filter(username=name).first() or person(name, *wanted)
        client = Client()
        client.force_login(somebody, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return sign_in


def text_of(response: Any) -> str:
    """A page's words, without tags and with single spaces."""
    import html
    import re

    body = re.sub(r"<(script|head)\b.*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", body)))
