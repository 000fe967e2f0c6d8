"""Accounts of people: who there is, in which roles, suspended or not."""

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import Group, User
from django.db import transaction

from accounting.people.rules.names import NameRefused, account_name, folded
from accounting.people.services import links, sessions, tokens
from accounting.people.services.acting import Actor, PersonRefused, on_record
from accounting.rules.roles import RolesRefused, in_order, require_together


def locked(name: str) -> User:
    """The account of this name, nobody else changing it until the transaction ends. Raises PersonRefused."""
    try:
        return User.objects.select_for_update(no_key=True).get(username=folded(name))
    except User.DoesNotExist:
        raise PersonRefused("no_such_person", f"There is nobody called {name}.", "name") from None


@transaction.atomic
def invite(name: str, roles: Collection[str], *, full_name: str = "", secret: str, by: Actor, at: datetime) -> User:
    """A new account without a usable password, and a one-time link to it that `secret` opens."""
    try:
        kept = account_name(name)
    except NameRefused as refusal:
        raise PersonRefused("invalid_name", str(refusal), "name") from None
    _require(roles)
    person, is_new = User.objects.get_or_create(username=kept, defaults={"first_name": full_name.strip()[:150]})
    if not is_new:
        held = ", ".join(roles_of(person)) or "none"
        raise PersonRefused("already_there", f"{kept} has an account already (roles: {held}).", "name")
    person.set_unusable_password()
    person.save()
    _give(person, roles)
    expires_at = links.issue(person, secret=secret, by=by, at=at)
    on_record(by, "invite person", kept, at, roles=in_order(roles), link_until=expires_at.isoformat())
    return person


@transaction.atomic
def change_roles(name: str, roles: Collection[str], *, by: Actor, at: datetime) -> None:
    """Give a person exactly these roles, from the next request on."""
    person = locked(name)
    by.is_not(person.username)
    _require(roles)
    before = roles_of(person)
    if before == in_order(roles):
        raise PersonRefused("no_change", f"{person.username} has these roles already.", "roles")
    _give(person, roles)
    on_record(by, "change roles", person.username, at, before={"roles": before}, roles=in_order(roles))


@transaction.atomic
def suspend(name: str, *, by: Actor, at: datetime) -> None:
    """Shut a person out, at once: sessions, tokens and an open link end."""
    person = locked(name)
    by.is_not(person.username)
    if not person.is_active:
        raise PersonRefused("already_suspended", f"{person.username} is suspended already.")
    person.is_active = False
    person.save(update_fields=["is_active"])
    ended = {
        "sessions_ended": sessions.end_all(person),
        "tokens_withdrawn": tokens.withdraw_all_of(person, at=at),
        "link_withdrawn": links.withdraw(person, at=at),
    }
    on_record(by, "suspend person", person.username, at, before={"state": "active"}, state="suspended", **ended)


@transaction.atomic
def reinstate(name: str, *, by: Actor, at: datetime) -> None:
    """Let a suspended person in again, with the roles and the password there were; tokens stay withdrawn."""
    person = locked(name)
    by.is_not(person.username)
    if person.is_active:
        raise PersonRefused("not_suspended", f"{person.username} is not suspended.")
    person.is_active = True
    person.save(update_fields=["is_active"])
    on_record(by, "reinstate person", person.username, at, before={"state": "suspended"}, state="active")


@transaction.atomic
def reset(name: str, *, secret: str, by: Actor, at: datetime) -> datetime:
    """A new one-time link that `secret` opens; the password and every session end at once. Until when it is good."""
    person = locked(name)
    by.is_not(person.username)
    if not person.is_active:
        raise PersonRefused("suspended", f"{person.username} is suspended: reinstate first.")
    person.set_unusable_password()
    person.save(update_fields=["password"])
    ended = sessions.end_all(person)
    expires_at = links.issue(person, secret=secret, by=by, at=at)
    on_record(by, "reset person", person.username, at, sessions_ended=ended, link_until=expires_at.isoformat())
    return expires_at


@transaction.atomic
def set_password(person: User, password: str, *, by: Actor, at: datetime, keep: str | None) -> None:
    """A person's own new password. Every session but the one with the key `keep` ends."""
    person.set_password(password)
    person.save(update_fields=["password"])
    on_record(by, "change password", person.username, at, sessions_ended=sessions.end_all(person, keep=keep))


def roles_of(person: User) -> list[str]:
    """The roles that a person holds, in the order of the house."""
    return in_order(person.groups.values_list("name", flat=True))


def _require(roles: Collection[str]) -> None:
    try:
        require_together(roles)
    except RolesRefused as refusal:
        said = str(refusal)
        raise PersonRefused(refusal.rule, f"{said[0].upper()}{said[1:]}.", "roles") from None
    if not roles:
        raise PersonRefused("no_role", "Somebody without a role can see nothing: choose one.", "roles")


def _give(person: User, roles: Collection[str]) -> None:
    person.groups.set([Group.objects.get_or_create(name=role)[0] for role in in_order(roles)])
