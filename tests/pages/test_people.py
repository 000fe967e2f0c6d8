"""The pages of people, in the order in which they happen: invited, first sign-in, at work, changed, shut out."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import reverse

from accounting.models import AuditRecord
from accounting.people.models import PersonalToken, Session
from accounting.people.rules.keeping import handle_of
from accounting.rules.roles import AUDITOR, CAGE, MANAGER, ROLES, SECURITY, SUPERVISOR
from tests.pages.conftest import PASSWORD, SignedIn, person, text_of
from tests.services.house import House

NEW_PASSWORD = "quite another password"


def secret_in(response: Any) -> str:
    """What a page shows once."""
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store"
    found = re.search(r'id="secret" readonly value="([^"]+)"', response.content.decode())
    assert found, "nothing is shown"
    return html.unescape(found[1])


def signed_in_as(name: str, password: str = PASSWORD) -> Client:
    """A browser in which somebody has signed in by the form."""
    client = Client()
    assert client.post("/sign-in", {"username": name, "password": password}).status_code == 302
    return client


def records(name: str) -> list[tuple[str, str]]:
    """Who did what about a person, oldest first."""
    return list(AuditRecord.objects.filter(subject=f"person {name}").order_by("id").values_list("actor", "action"))


@pytest.fixture
def security(signed_in: SignedIn) -> Client:
    """A browser of security."""
    return signed_in(SECURITY)


def test_from_the_invitation_to_the_floor(security: Client) -> None:
    given = secret_in(
        security.post("/people/", {"name": "Maria", "full_name": "Maria Lopez", "roles": [SUPERVISOR, MANAGER]})
    )
    address, _, secret = given.partition("#")
    assert address == "http://testserver/first-sign-in/maria"
    maria = Client(REMOTE_ADDR="10.9.9.9")
    assert maria.get(address).status_code == 200
    answer = maria.post(address, {"secret": secret, "new_password1": PASSWORD, "new_password2": PASSWORD}, follow=True)
    assert answer.redirect_chain == [("/", 302)]
    assert "maria" in text_of(answer)
    assert records("maria") == [("security", "invite person"), ("maria", "set password")]
    shown = text_of(security.get("/people/maria/"))
    for words in (
        "Maria Lopez",
        "pit supervisor",
        "shift manager",
        "10.9.9.9",
        "invite person",
        "roles supervisor + manager",
    ):
        assert words in shown, words
    again = Client().post(address, {"secret": secret, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD})
    assert again.status_code == 400
    assert "This link was used" in text_of(again)
    signed_in_as("MARIA")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"secret": "", "new_password1": PASSWORD, "new_password2": PASSWORD}, "This field is required"),
        ({"secret": "x", "new_password1": PASSWORD, "new_password2": PASSWORD}, "Ask for a new one"),
        ({"secret": "x", "new_password1": "short", "new_password2": "short"}, "at least 12 characters"),
        ({"secret": "x", "new_password1": PASSWORD, "new_password2": NEW_PASSWORD}, "didn’t match"),
        ({"secret": "x", "new_password1": "password1234", "new_password2": "password1234"}, "too common"),
        ({"secret": "x", "new_password1": "maria.lopez.1", "new_password2": "maria.lopez.1"}, "too similar"),
    ],
)
def test_a_first_password_that_is_refused_says_why(house: House, typed: dict[str, str], words: str) -> None:
    response = Client().post("/first-sign-in/maria.lopez", typed)
    assert response.status_code == 400
    assert words in text_of(response)
    assert response.headers["Cache-Control"].count("no-store") == 1
    for value in (PASSWORD, NEW_PASSWORD, "password1234"):
        assert value not in response.content.decode()


def test_an_invitation_that_is_refused_keeps_what_was_typed(security: Client) -> None:
    response = security.post("/people/", {"name": "maria", "full_name": "Maria Lopez", "roles": [SUPERVISOR, CAGE]})
    assert response.status_code == 400
    page = response.content.decode()
    assert "Nobody holds a gaming role and an accounting role" in page
    assert 'value="Maria Lopez"' in page
    assert page.count("checked") == 2
    assert not User.objects.filter(username="maria").exists()


def test_changed_roles_count_from_the_next_click(house: House, security: Client) -> None:
    person("maria", SUPERVISOR)
    maria = signed_in_as("maria")
    assert maria.get("/accounting/").status_code == 403
    answer = security.post("/people/maria/roles", {"roles": ["accounting"]}, follow=True)
    assert "count from now on" in text_of(answer)
    assert maria.get("/accounting/").status_code == 200
    answer = security.post("/people/maria/roles", {"roles": ["accounting", "auditor"]}, follow=True)
    assert "An auditor holds no other role" in text_of(answer)
    assert records("maria") == [("security", "change roles")]


def test_suspended_is_out_at_once_and_reinstated_is_back(house: House, security: Client) -> None:
    person("maria", SUPERVISOR)
    maria = signed_in_as("maria")
    token = secret_in(maria.post("/account/tokens", {"purpose": "export"}))
    bearer = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/v1/links", headers=bearer).status_code == 200
    security.post("/people/maria/suspend")
    assert maria.get("/").status_code == 302
    assert Client().get("/api/v1/links", headers=bearer).status_code == 401
    assert not Session.objects.filter(person__username="maria").exists()
    refused = Client().post("/sign-in", {"username": "maria", "password": PASSWORD})
    assert refused.status_code == 200
    assert "suspended" in text_of(security.get("/people/"))
    assert "suspended already" in text_of(security.post("/people/maria/suspend", follow=True))
    security.post("/people/maria/reinstate")
    signed_in_as("maria")
    assert Client().get("/api/v1/links", headers=bearer).status_code == 401


def test_a_reset_gives_a_new_link_and_ends_the_password(house: House, security: Client) -> None:
    person("maria", SUPERVISOR)
    maria = signed_in_as("maria")
    address, _, secret = secret_in(security.post("/people/maria/reset")).partition("#")
    assert maria.get("/").status_code == 302
    assert Client().post("/sign-in", {"username": "maria", "password": PASSWORD}).status_code == 200
    Client().post(address, {"secret": secret, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD})
    signed_in_as("maria", NEW_PASSWORD)


def test_security_ends_sessions_and_tokens_of_others(house: House, security: Client) -> None:
    person("maria", SUPERVISOR)
    first, second = signed_in_as("maria"), signed_in_as("maria")
    key = first.session.session_key
    assert key
    security.post("/people/maria/sessions", {"session": handle_of(key)})
    assert (first.get("/").status_code, second.get("/").status_code) == (302, 200)
    security.post("/people/maria/sessions")
    assert second.get("/").status_code == 302
    assert "Issue a token" not in security.get("/people/maria/").content.decode()
    assert security.post("/people/maria/tokens", {"purpose": "for maria"}).status_code == 404
    maria = signed_in_as("maria")
    token = secret_in(maria.post("/account/tokens", {"purpose": "for maria"}))
    bearer = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/v1/links", headers=bearer).status_code == 200
    issued = PersonalToken.objects.get()
    assert (issued.person.username, issued.issued_by) == ("maria", "maria")
    security.post(f"/people/maria/tokens/{issued.pk}/withdraw")
    assert Client().get("/api/v1/links", headers=bearer).status_code == 401
    assert [action for _, action in records("maria")] == [
        "end sessions", "end sessions", "issue token", "withdraw token",
    ]  # fmt: skip


ACTS = ("roles", "suspend", "reinstate", "reset", "sessions", "tokens/1/withdraw")


@pytest.mark.parametrize("act", ACTS)
def test_nobody_changes_himself_on_the_pages_of_others(security: Client, act: str) -> None:
    response = security.post(f"/people/security/{act}", {"roles": [AUDITOR]}, follow=True)
    assert "ask a colleague" in text_of(response)
    assert records("security") == []
    page = security.get("/people/security/").content.decode()
    assert "/people/security/" not in page.replace('href="/people/security/"', "")


@pytest.mark.parametrize("role", [role for role in ROLES if role != SECURITY])
def test_only_security_changes_people(house: House, signed_in: SignedIn, role: str) -> None:
    person("maria", SUPERVISOR)
    client = signed_in(role)
    for act in ACTS:
        assert client.post(f"/people/maria/{act}", {"roles": [CAGE]}).status_code == 403, act
        assert client.get(f"/people/maria/{act}").status_code == 405, act
    assert client.post("/people/", {"name": "new", "roles": [CAGE]}).status_code == 403
    assert records("maria") == []
    if role == AUDITOR:
        for page in ("/people/", "/people/maria/"):
            main = client.get(page).content.decode().partition("<main")[2].partition("</main>")[0]
            assert "<form" not in main, page


def test_whoever_is_not_there_is_a_page_that_says_so(security: Client) -> None:
    assert security.get("/people/none/").status_code == 404
    for act in ACTS:
        assert security.post(f"/people/none/{act}", {"roles": [CAGE]}, follow=True).status_code == 404, act


# ── one's own account ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("role", [*ROLES, None])
def test_everybody_has_an_account_of_their_own(house: House, signed_in: SignedIn, role: str | None) -> None:
    response = signed_in(role).get("/account/")
    assert response.status_code == 200
    assert (ROLES[role] if role else "no role yet") in text_of(response)


def test_changing_one_s_password_ends_the_other_sessions(house: House) -> None:
    person("maria", SUPERVISOR)
    here, elsewhere = signed_in_as("maria"), signed_in_as("maria")
    typed = {"old_password": PASSWORD, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    wrong = here.post("/account/password", typed | {"old_password": "not this one"})
    assert wrong.status_code == 400
    assert "entered incorrectly" in text_of(wrong)
    assert elsewhere.get("/").status_code == 200
    done = here.post("/account/password", typed, follow=True)
    assert done.status_code == 200
    assert "The password is changed, and every other session of yours has ended." in text_of(done)
    assert here.get("/").status_code == 200
    assert elsewhere.get("/").status_code == 302
    assert Session.objects.filter(person__username="maria").count() == 1
    signed_in_as("maria", NEW_PASSWORD)
    assert records("maria") == [("maria", "change password")]


def test_ten_wrong_passwords_lock_the_change_of_one_too(house: House) -> None:
    person("maria", SUPERVISOR)
    here = signed_in_as("maria")
    typed = {"old_password": "not this one", "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    answers = [here.post("/account/password", typed).status_code for _ in range(10)]
    assert answers == [400] * 9 + [429]
    assert here.post("/account/password", typed | {"old_password": PASSWORD}).status_code == 429


def test_one_s_own_sessions_and_tokens(house: House) -> None:
    person("maria", SUPERVISOR)
    here, elsewhere = signed_in_as("maria"), signed_in_as("maria")
    page = text_of(here.get("/account/"))
    assert "this one" in page
    assert "127.0.0.1" in page
    assert "Sessions ended: 1." in text_of(here.post("/account/sessions", follow=True))
    assert (here.get("/").status_code, elsewhere.get("/").status_code) == (200, 302)
    again = here.post("/account/sessions", {"session": "0123456789abcdef"}, follow=True)
    assert "This session has ended already." in text_of(again)
    secret_in(here.post("/account/tokens", {"purpose": "night export"}))
    assert "night export" in text_of(here.get("/account/"))
    token = PersonalToken.objects.get()
    assert "The token is withdrawn." in text_of(here.post(f"/account/tokens/{token.pk}/withdraw", follow=True))
    token.refresh_from_db()
    assert token.withdrawn_at is not None
    person("other", CAGE)
    foreign = signed_in_as("other")
    assert "has no token" in text_of(foreign.post(f"/account/tokens/{token.pk}/withdraw", follow=True))


# ── the way in ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_wrong_passwords_are_counted_for_the_account_whatever_its_case(house: House) -> None:
    person("accounting", "accounting")
    client = Client()
    spellings = ["accounting", "ACCOUNTING", "Accounting", " accounting ", "aCcounting"] * 2
    answers = [client.post("/sign-in", {"username": name, "password": "wrong"}).status_code for name in spellings]
    assert answers == [200] * 9 + [429]
    for name in ("accounting", "ACCOUNTING"):
        assert client.post("/sign-in", {"username": name, "password": PASSWORD}).status_code == 429


def test_demo_people_sign_in_to_a_demo_only(house: House) -> None:
    from devices import demo

    with override_settings(DEMO=True):
        made = demo.ensure()["people"]
        assert [row["roles"] for row in made] == [[role] for role in ROLES]
        for row in made:
            signed_in_as(row["username"], row["password"])
            bearer = {"Authorization": f"Bearer {row['token']}"}
            assert Client().get("/api/v1/links", headers=bearer).status_code == 200
        assert demo.ensure()["people"] == made
        own = secret_in(signed_in_as("cage", made[4]["password"]).post("/account/tokens"))
    with override_settings(DEMO=False):
        assert Client().get("/api/v1/links", headers={"Authorization": f"Bearer {own}"}).status_code == 401
        for row in made:
            answer = Client().post("/sign-in", {"username": row["username"], "password": row["password"]})
            assert "Demo people sign in to a demo only" in text_of(answer)
            bearer = {"Authorization": f"Bearer {row['token']}"}
            assert Client().get("/api/v1/links", headers=bearer).status_code == 401


def test_a_start_without_demo_mode_shuts_the_demo_s_people_out(house: House) -> None:
    from django.utils import timezone

    from accounting.people.services import demo as people
    from devices import demo

    made = demo.ensure()["people"]
    person("maria", SUPERVISOR)
    client = signed_in_as("cage", next(row["password"] for row in made if row["username"] == "cage"))
    assert client.get("/").status_code == 200
    assert people.retire(at=timezone.now()) == sorted(ROLES)
    assert client.get("/").status_code == 302
    assert people.retire(at=timezone.now()) == []
    signed_in_as("maria")
    demo.ensure()
    signed_in_as("cage", next(row["password"] for row in made if row["username"] == "cage"))


def test_the_link_to_one_s_account_stands_on_every_page(signed_in: SignedIn) -> None:
    assert f'href="{reverse("account")}"' in signed_in(CAGE).get("/").content.decode()
