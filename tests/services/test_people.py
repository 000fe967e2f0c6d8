"""Accounts, roles, one-time links, sessions and personal tokens: what services allow, and what the database refuses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import IntegrityError, connections, transaction
from django.db.models import ProtectedError

from accounting.models import AuditRecord
from accounting.people import queries
from accounting.people.management.server import whoever_runs_this
from accounting.people.models import OneTimeLink, PersonalToken, Session
from accounting.people.services import accounts, demo, links, sessions, tokens
from accounting.people.services.acting import Actor, PersonRefused
from accounting.rules.roles import ROLES, RolesRefused, may_hold, require_together
from tests.services.house import House, refused_by, rows, run

AT = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
LATER = AT + HOUR
SAM = Actor("sam", "10.1.2.3")
OWNER = Actor("maria", "10.1.2.4")
PASSWORD = "a long enough password"


@pytest.fixture
def maria(house: House) -> Iterator[User]:
    """A supervisor who has set her password."""
    accounts.invite("maria", ["supervisor"], full_name="Maria Lopez", secret="first", by=SAM, at=AT)
    yield links.use("maria", "first", PASSWORD, address="10.9.9.9", at=AT)


def refused(code: str, act: Any, *arguments: Any, **named: Any) -> PersonRefused:
    """The refusal of an act, which must have this code."""
    with pytest.raises(PersonRefused) as refusal:
        act(*arguments, **named)
    assert refusal.value.code == code
    return refusal.value


def signed_in(person: User, key: str) -> None:
    """A session of a person."""
    Session.objects.create(
        session_key=key, session_data="", expire_date=AT + timedelta(days=1), person=person, since=AT
    )


def last_record(name: str) -> AuditRecord:
    """What was last put on record about a person."""
    found = AuditRecord.objects.filter(subject=f"person {name}").order_by("-id").first()
    assert found is not None
    return found


# ── roles ───────────────────────────────────────────────────────────────────────────────────────────────────────

EVERY_SET = [held for count in range(1, len(ROLES) + 1) for held in combinations(ROLES, count)]


def test_the_database_refuses_the_same_roles_as_the_rule_by_the_same_names(house: House) -> None:
    person = User.objects.create(username="x1")
    groups = {role: Group.objects.get_or_create(name=role)[0] for role in ROLES}
    refusals = set()
    for held in EVERY_SET:
        try:
            require_together(held)
        except RolesRefused as refusal:
            refusals.add(refusal.rule)
            with refused_by(refusal.rule):
                person.groups.set([groups[role] for role in held])
            assert not person.groups.exists()
        else:
            person.groups.set([groups[role] for role in held])
            assert set(person.groups.values_list("name", flat=True)) == set(held)
            person.groups.clear()
    assert len(refusals) == 3
    with refused_by("a_role_is_one_of_the_house"):
        person.groups.add(Group.objects.create(name="dealer"))


def test_one_role_after_the_other_is_refused_too_and_by_update(house: House) -> None:
    person = User.objects.create(username="x1")
    groups = {role: Group.objects.get_or_create(name=role)[0] for role in ROLES}
    person.groups.add(groups["cage"], groups["controller"])
    with refused_by("nobody_holds_gaming_and_accounting_roles"):
        person.groups.add(groups["manager"])
    with refused_by("nobody_holds_gaming_and_accounting_roles"):
        run("UPDATE auth_user_groups SET group_id = %s WHERE group_id = %s", groups["manager"].pk, groups["cage"].pk)


def test_a_role_cannot_be_renamed_into_another(house: House) -> None:
    Group.objects.get_or_create(name="cage")
    with refused_by("a_role_keeps_its_name"):
        run("UPDATE auth_group SET name = 'croupier' WHERE name = 'cage'")


def test_two_who_give_roles_to_one_person_at_the_same_time_see_each_other(busy_house: House) -> None:
    person = User.objects.create(username="x1")
    groups = {role: Group.objects.get_or_create(name=role)[0].pk for role in ("supervisor", "cage")}
    ready, outcomes = threading.Barrier(2), []

    def give(role: str) -> None:
        try:
            with transaction.atomic():
                ready.wait(20)
                person.groups.through.objects.create(user_id=person.pk, group_id=groups[role])
                threading.Event().wait(0.2)  # hold the transaction open while the other one tries
            outcomes.append("given")
        except IntegrityError:
            outcomes.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=give, args=[role]) for role in groups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == ["given", "refused"]
    assert person.groups.count() == 1


def test_changing_roles_is_refused_by_the_service_first(maria: User) -> None:
    for roles in EVERY_SET:
        if not may_hold(roles):
            assert refused(_rule(roles), accounts.change_roles, "maria", roles, by=SAM, at=AT).field == "roles"
    refused("no_role", accounts.change_roles, "maria", [], by=SAM, at=AT)
    refused("no_change", accounts.change_roles, "maria", ["supervisor"], by=SAM, at=AT)
    accounts.change_roles("maria", ["cage", "controller"], by=SAM, at=AT)
    assert accounts.roles_of(maria) == ["controller", "cage"]
    record = last_record("maria")
    assert (record.actor, record.action, record.recorded_at) == ("sam", "change roles", AT)
    assert record.origin == "10.1.2.3"
    assert record.detail == {
        "before": {"roles": ["supervisor"]}, "after": {"roles": ["controller", "cage"]},
    }  # fmt: skip


def _rule(roles: Any) -> str:
    with pytest.raises(RolesRefused) as refusal:
        require_together(roles)
    return refusal.value.rule


# ── accounts ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("typed", ["Maria", " maria ", "MARIA", "\uff2d\uff21\uff32\uff29\uff21"])
def test_a_name_is_one_whatever_its_case(maria: User, typed: str) -> None:
    refusal = refused("already_there", accounts.invite, typed, ["cage"], secret="x", by=SAM, at=AT)
    assert "supervisor" in str(refusal)
    assert accounts.locked(typed) == maria


def test_the_database_knows_a_name_in_one_case_only(house: House) -> None:
    for name in ("Maria", "MARIA", "maria lopez", "мария", ""):
        with refused_by("an_account_name_is_one_whatever_its_case"):
            User.objects.create(username=name)


def test_accounts_from_before_are_brought_into_small_letters(busy_house: House) -> None:
    call_command("migrate", "people", "0001", verbosity=0)
    old = User.objects.create(username="Root", password="x")
    old.groups.add(Group.objects.get_or_create(name="supervisor")[0])
    call_command("migrate", verbosity=0)
    old.refresh_from_db()
    assert old.username == "root"
    with refused_by("nobody_holds_gaming_and_accounting_roles"):
        old.groups.add(Group.objects.get_or_create(name="cage")[0])


@pytest.mark.parametrize("name", ["", "m", "-x", "a b", "мария", "x" * 61, "a/b", "a\0b", "command (root)"])
def test_what_is_no_name_of_an_account(house: House, name: str) -> None:
    assert refused("invalid_name", accounts.invite, name, ["cage"], secret="x", by=SAM, at=AT).field == "name"


def test_an_invitation_has_a_role_and_no_password(house: House) -> None:
    refused("no_role", accounts.invite, "maria", [], secret="x", by=SAM, at=AT)
    refused("a_role_is_one_of_the_house", accounts.invite, "maria", ["dealer"], secret="x", by=SAM, at=AT)
    assert not User.objects.filter(username="maria").exists()
    accounts.invite("maria", ["cage"], full_name="Maria Lopez", secret="x", by=SAM, at=AT)
    shown = queries.people(AT, name="maria")[0]
    assert (shown.state, shown.roles, shown.full_name) == ("invited", ["cage"], "Maria Lopez")
    assert shown.link_until == AT + timedelta(hours=72)
    assert queries.people(AT + timedelta(hours=73), name="maria")[0].state == "no way in"
    assert not User.objects.get(username="maria").has_usable_password()
    assert last_record("maria").detail["after"]["roles"] == ["cage"]


ON_ONESELF = {
    "roles": lambda by: accounts.change_roles("maria", ["manager"], by=by, at=AT),
    "suspend": lambda by: accounts.suspend("maria", by=by, at=AT),
    "reinstate": lambda by: accounts.reinstate("maria", by=by, at=AT),
    "reset": lambda by: accounts.reset("maria", secret="x", by=by, at=AT),
}


@pytest.mark.parametrize("act", ON_ONESELF)
def test_nobody_changes_himself(maria: User, act: str) -> None:
    before = AuditRecord.objects.count()
    refused("own_account", ON_ONESELF[act], Actor("maria", "10.1.2.3"))
    assert AuditRecord.objects.count() == before


def test_suspending_ends_sessions_tokens_and_the_open_link_at_once(maria: User) -> None:
    signed_in(maria, "k1")
    signed_in(maria, "k2")
    tokens.issue("maria", secret="t", by=OWNER, at=AT)
    accounts.reset("maria", secret="again", by=SAM, at=AT)
    signed_in(maria, "k3")
    accounts.suspend("maria", by=SAM, at=AT)
    assert not Session.objects.filter(person=maria).exists()
    assert tokens.holder("t", demo=True, at=AT) is None
    refused("no_such_link", links.use, "maria", "again", PASSWORD, address="", at=AT)
    assert last_record("maria").detail["after"] == {
        "state": "suspended", "sessions_ended": 1, "tokens_withdrawn": 1, "link_withdrawn": True,
    }  # fmt: skip
    refused("already_suspended", accounts.suspend, "maria", by=SAM, at=AT)
    refused("suspended", accounts.reset, "maria", secret="x", by=SAM, at=AT)
    refused("suspended", tokens.issue, "maria", secret="x", by=OWNER, at=AT)
    accounts.reinstate("maria", by=SAM, at=AT)
    refused("not_suspended", accounts.reinstate, "maria", by=SAM, at=AT)
    assert tokens.holder("t", demo=True, at=AT) is None, "a token that was withdrawn stays so"
    assert queries.people(AT, name="maria")[0].state == "no way in"


def test_a_reset_ends_the_password_and_every_session(maria: User) -> None:
    signed_in(maria, "k1")
    assert User.objects.get(username="maria").check_password(PASSWORD)
    accounts.reset("maria", secret="second", by=SAM, at=AT)
    assert not User.objects.get(username="maria").has_usable_password()
    assert not Session.objects.filter(person=maria).exists()
    links.use("maria", "second", "another long password", address="", at=LATER)
    assert User.objects.get(username="maria").check_password("another long password")


def test_nobody_s_name_is_refused_everywhere(house: House) -> None:
    for act in (
        lambda: accounts.change_roles("nobody", ["cage"], by=SAM, at=AT),
        lambda: accounts.suspend("nobody", by=SAM, at=AT),
        lambda: accounts.reset("nobody", secret="x", by=SAM, at=AT),
        lambda: tokens.issue("nobody", secret="x", by=SAM, at=AT),
        lambda: tokens.withdraw_all("nobody", by=SAM, at=AT),
        lambda: sessions.end_of("nobody", None, by=SAM, at=AT),
    ):
        refused("no_such_person", act)


# ── one-time links ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_link_is_kept_as_a_digest_and_opens_once(house: House) -> None:
    accounts.invite("maria", ["cage"], secret="the secret itself", by=SAM, at=AT)
    assert not any("the secret itself" in str(row) for row in rows("SELECT * FROM people_onetimelink"))
    refused("no_such_link", links.use, "maria", "another secret", PASSWORD, address="", at=AT)
    refused("no_such_link", links.use, "sam", "the secret itself", PASSWORD, address="", at=AT)
    person = links.use("MARIA", "the secret itself", PASSWORD, address="10.9.9.9", at=LATER)
    assert person.check_password(PASSWORD)
    record = last_record("maria")
    assert (record.actor, record.action, record.origin) == (
        "maria",
        "set password",
        "10.9.9.9",
    )
    refused("no_such_link", links.use, "maria", "the secret itself", "yet another password", address="", at=LATER)
    assert User.objects.get(username="maria").check_password(PASSWORD)


def test_a_link_is_good_for_its_term_to_the_second(house: House) -> None:
    accounts.invite("maria", ["cage"], secret="x", by=SAM, at=AT)
    until = AT + timedelta(hours=72)
    assert links.opened_by("maria", "x", at=until) is None
    assert links.opened_by("maria", "x", at=until - timedelta(seconds=1)) is not None


def test_a_new_link_ends_the_one_before(house: House) -> None:
    accounts.invite("maria", ["cage"], secret="first", by=SAM, at=AT)
    accounts.reset("maria", secret="second", by=SAM, at=LATER)
    refused("no_such_link", links.use, "maria", "first", PASSWORD, address="", at=LATER)
    assert links.use("maria", "second", PASSWORD, address="", at=LATER).username == "maria"
    assert list(OneTimeLink.objects.order_by("id").values_list("ended", flat=True)) == ["withdrawn", "used"]


def test_the_database_keeps_one_open_link_a_person(maria: User) -> None:
    def link(digest: bytes) -> None:
        OneTimeLink.objects.create(person=maria, digest=digest, issued_at=AT, issued_by="x", expires_at=LATER)

    link(b"1")
    with refused_by("a_person_has_one_open_link"):
        link(b"2")
    with refused_by("a_link_that_ended_says_how"):
        OneTimeLink.objects.update(ended_at=AT)
    with refused_by("a_link_is_good_for_a_term"):
        OneTimeLink.objects.update(expires_at=AT - timedelta(days=1))


def test_of_two_who_use_a_link_at_once_one_does(busy_house: House) -> None:
    accounts.invite("maria", ["cage"], secret="x", by=SAM, at=AT)
    ready, outcomes = threading.Barrier(2), []

    def use(password: str) -> None:
        try:
            ready.wait(20)
            links.use("maria", "x", password, address="", at=AT)
            outcomes.append(password)
        except PersonRefused as refusal:
            outcomes.append(refusal.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=use, args=[f"long password number {number}"]) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(outcomes) == 2
    assert outcomes.count("no_such_link") == 1
    winner = next(outcome for outcome in outcomes if outcome != "no_such_link")
    assert User.objects.get(username="maria").check_password(winner)


# ── tokens and sessions ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_token_is_kept_as_a_digest_and_names_its_person(maria: User) -> None:
    tokens.issue("MARIA", secret="the token itself", purpose="night export", by=OWNER, at=AT)
    assert not any("the token itself" in str(row) for row in rows("SELECT * FROM people_personaltoken"))
    found = tokens.holder("the token itself", demo=False, at=AT)
    assert found is not None
    assert found.person == maria
    assert tokens.holder("the token itsel", demo=False, at=AT) is None
    record = last_record("maria")
    assert record.action == "issue token"
    assert "the token itself" not in str(record.detail)


def test_nobody_issues_a_token_that_acts_as_somebody_else(maria: User) -> None:
    """Whoever issued one for another could act as them, whatever roles they have."""
    before = AuditRecord.objects.count()
    for by in (SAM, Actor("marias"), Actor("command (root)")):
        refused("not_yours", tokens.issue, "maria", secret="t", by=by, at=AT)
    assert (PersonalToken.objects.count(), AuditRecord.objects.count()) == (0, before)
    tokens.issue("maria", secret="t", by=whoever_runs_this(), at=AT)
    assert PersonalToken.objects.get().issued_by.startswith("command (")


def test_a_token_s_use_is_noted_to_the_minute(maria: User) -> None:
    token = tokens.issue("maria", secret="t", by=OWNER, at=AT)

    def noted() -> datetime | None:
        token.refresh_from_db()
        return token.used_at

    assert noted() is None
    for seconds, wanted in ((0, 0), (59, 0), (60, 60), (61, 60)):
        tokens.holder("t", demo=False, at=AT + timedelta(seconds=seconds))
        assert noted() == AT + timedelta(seconds=wanted)


def test_a_withdrawn_token_is_nobody_s(maria: User) -> None:
    first = tokens.issue("maria", secret="a", by=OWNER, at=AT)
    tokens.issue("maria", secret="b", by=OWNER, at=AT)
    tokens.withdraw("maria", first.pk, by=SAM, at=AT)
    assert tokens.holder("a", demo=False, at=AT) is None
    assert tokens.holder("b", demo=False, at=AT) is not None
    refused("already_withdrawn", tokens.withdraw, "maria", first.pk, by=SAM, at=AT)
    refused("no_such_token", tokens.withdraw, "sam", first.pk, by=SAM, at=AT)
    assert tokens.withdraw_all("maria", by=SAM, at=AT) == 1
    assert tokens.holder("b", demo=False, at=AT) is None
    assert PersonalToken.objects.filter(withdrawn_at=None).count() == 0


def test_sessions_are_ended_one_by_one_or_all_and_named_without_their_key(maria: User) -> None:
    for key in ("k1", "k2", "k3"):
        signed_in(maria, key)
    shown = queries.sessions_of("maria", AT, current_key="k2")
    assert [row.current for row in shown].count(True) == 1
    assert not {"k1", "k2", "k3"} & {row.handle for row in shown}
    chosen = next(row.handle for row in shown if not row.current)
    assert sessions.end_of("maria", chosen, by=SAM, at=AT) == 1
    refused("no_such_session", sessions.end_of, "maria", chosen, by=SAM, at=AT)
    assert sessions.end(maria, None, keep="k2", by=SAM, at=AT) == 1
    assert [row.current for row in queries.sessions_of("maria", AT, current_key="k2")] == [True]
    assert last_record("maria").detail["after"] == {"sessions_ended": 1}


def test_what_ends_of_one_person_ends_of_nobody_else(maria: User) -> None:
    accounts.invite("zoe", ["cage"], secret="of zoe", by=SAM, at=AT)
    zoe = User.objects.get(username="zoe")
    for person in (maria, zoe):
        signed_in(person, f"key of {person.username}")
        tokens.issue(person.username, secret=f"token of {person.username}", by=Actor(person.username), at=AT)
    second = tokens.issue("maria", secret="second", purpose="the second", by=OWNER, at=AT)
    for code, name, token in (("no_such_token", "maria", second.pk + 1), ("no_such_token", "zoe", second.pk)):
        refused(code, tokens.withdraw, name, token, by=SAM, at=AT)
    tokens.withdraw("maria", second.pk, by=SAM, at=AT)
    said = last_record("maria").detail["after"]
    assert (said["token"], said["purpose"]) == (second.pk, "the second")
    refused(
        "no_such_session",
        sessions.end_of,
        "maria",
        queries.sessions_of("zoe", AT, current_key="")[0].handle,
        by=SAM,
        at=AT,
    )
    accounts.suspend("maria", by=SAM, at=AT)
    assert tokens.holder("token of maria", demo=True, at=AT) is None
    assert tokens.holder("token of zoe", demo=True, at=AT) is not None
    assert list(Session.objects.values_list("session_key", flat=True)) == ["key of zoe"]
    assert links.opened_by("zoe", "of zoe", at=AT) == zoe


def test_everybody_stands_by_name_with_what_is_open_of_their_own_the_newest_first(maria: User) -> None:
    accounts.invite("ann", ["cage"], secret="of ann", by=SAM, at=AT)
    ann = User.objects.get(username="ann")
    for number, person in enumerate((maria, ann, maria)):
        signed_in(person, f"k{number}")
        Session.objects.filter(session_key=f"k{number}").update(since=AT + timedelta(minutes=number))
        tokens.issue(person.username, secret=str(number), purpose=str(number), by=Actor(person.username), at=AT)
    shown = [(one.name, one.state, one.sessions, one.tokens) for one in queries.people(AT)]
    assert shown == [("ann", "invited", 1, 1), ("maria", "active", 2, 2)]
    for name, own in (("ann", [1]), ("maria", [2, 0])):
        since = [session.since for session in queries.sessions_of(name, AT)]
        assert since == [AT + timedelta(minutes=number) for number in own]
        assert [token.purpose for token in queries.tokens_of(name)] == [str(number) for number in own]
    over = AT + timedelta(hours=72)
    for at, until in ((over - timedelta(microseconds=1), over), (over, None)):
        assert [one.link_until for one in queries.people(at)] == [until, None]


def test_a_session_counts_until_the_moment_it_ends(maria: User) -> None:
    signed_in(maria, "k1")
    over = AT + timedelta(days=1)
    for at, counted in ((over - timedelta(microseconds=1), 1), (over, 0)):
        assert (
            queries.people(at, name="maria")[0].sessions
            == len(queries.sessions_of("maria", at, current_key=""))
            == counted
        )


def test_wrong_passwords_stand_by_name_and_by_where_they_came_from(house: House) -> None:
    for name, address, wrong in (
        ("zoe", "10.0.0.1", 1), ("maria", "10.0.0.9", 2), ("maria", "10.0.0.8", 3), ("ann", "10.0.0.7", 0),
    ):  # fmt: skip
        AccessAttempt.objects.create(username=name, ip_address=address, failures_since_start=wrong)
    assert queries.wrong_passwords() == ["maria 3 from 10.0.0.8", "maria 2 from 10.0.0.9", "zoe 1 from 10.0.0.1"]


def test_only_the_demos_people_are_shut_out_of_a_house_without_it(maria: User, settings: Any) -> None:
    tokens.issue("maria", secret="t", by=OWNER, at=AT)
    demo.ensure("dora", last_name="D", role="cage", password=PASSWORD, token="of the demo", at=AT)
    dora = User.objects.get(username="dora")
    for mode in (True, False):
        settings.DEMO = mode
        assert (demo.may_sign_in(dora), demo.may_sign_in(maria)) == (mode, True)
        assert (tokens.holder("of the demo", demo=mode, at=AT) is not None) == mode
        assert tokens.holder("t", demo=mode, at=AT) is not None
    assert (demo.retire(at=AT), demo.retire(at=AT)) == (["dora"], [])
    assert list(User.objects.filter(is_active=True).values_list("username", flat=True)) == ["maria"]


@pytest.mark.parametrize("at_once", [1, 2, 500])
def test_who_came_and_went_is_told_moment_by_moment_each_once(
    at_once: int, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one moment in the order of their rows, from a moment to before another, however many are read at a time."""
    monkeypatch.setattr(queries, "AT_ONCE", at_once)
    every = []
    for name, minutes in (("cy", 3), ("ann", 1), ("bob", 1), ("dan", 2), ("eve", 1)):
        row = AccessLog.objects.create(username=name, ip_address="10.0.0.7")
        came = AT + timedelta(minutes=minutes)
        AccessLog.objects.filter(pk=row.pk).update(
            attempt_time=came, logout_time=None if name == "bob" else came + HOUR
        )
        every.append((came, row.pk, name))
    every.sort()
    moments = [AT + timedelta(minutes=minutes) for minutes in range(5)]
    for first in moments:
        for end in moments:
            came_in = [(name, at) for at, _, name in every if first <= at < end]
            assert [(one.who, one.at) for one in queries.signed_in(first, end)] == came_in
            went = [(name, at + HOUR) for name, at in came_in if name != "bob"]
            assert [(one.who, one.at) for one in queries.signed_out(first + HOUR, end + HOUR)] == went


def test_an_account_with_tokens_or_links_is_not_deleted(maria: User) -> None:
    with pytest.raises(ProtectedError):
        maria.delete()
