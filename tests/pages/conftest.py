"""People to look at pages with."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client

from accounting.rules.roles import AUDITOR, SUPERVISOR
from tables.services import floors
from tests.conftest import Service
from tests.services.house import FLOOR, OPENED, House

PASSWORD = "a long enough password"


def person(username: str, *roles: str) -> User:
    """Somebody with these roles."""
    user = User.objects.create_user(username, password=PASSWORD)
    user.groups.set([Group.objects.get_or_create(name=role)[0] for role in roles])
    return user


@pytest.fixture(autouse=True)
def _nothing_kept_by_pages() -> None:
    """What pages keep for a second does not pass from one test to the next."""
    cache.clear()


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
