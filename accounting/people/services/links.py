"""One-time links: the way in for somebody without a password."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from accounting.people.models import OneTimeLink
from accounting.people.rules.keeping import LINK_TERM, digest_of
from accounting.people.rules.names import folded
from accounting.people.services.acting import Actor, PersonRefused, on_record


def issue(person: User, *, secret: str, by: Actor, at: datetime) -> datetime:
    """Open a link that `secret` opens, once; the one before is withdrawn. Until when it is good."""
    withdraw(person, at=at)
    return OneTimeLink.objects.create(
        person=person, digest=digest_of(secret), issued_at=at, issued_by=by.name, expires_at=at + LINK_TERM
    ).expires_at


def withdraw(person: User, *, at: datetime) -> bool:
    """End a person's open link; whether there was one."""
    still_open = OneTimeLink.objects.filter(person=person, ended_at=None)
    return bool(still_open.update(ended_at=at, ended=OneTimeLink.Ended.WITHDRAWN))


def opened_by(name: str, secret: str, *, at: datetime) -> User | None:
    """Whose way in the secret is, if it is this person's, unused, in its term and the person not suspended."""
    link = (
        OneTimeLink.objects.filter(digest=digest_of(secret), person__username=folded(name), ended_at=None)
        .filter(expires_at__gt=at, person__is_active=True)
        .select_related("person")
        .first()
    )
    return link.person if link else None


@transaction.atomic
def use(name: str, secret: str, password: str, *, address: str, at: datetime) -> User:
    """Set the password behind a one-time link, which ends. PersonRefused where it opens nothing (any more)."""
    OneTimeLink.objects.select_for_update().filter(digest=digest_of(secret)).first()  # of two at once, one is used
    person = opened_by(name, secret, at=at)
    if person is None:
        raise PersonRefused("no_such_link", "This link was used, withdrawn or is too old. Ask for a new one.")
    OneTimeLink.objects.filter(digest=digest_of(secret)).update(ended_at=at, ended=OneTimeLink.Ended.USED)
    person.set_password(password)
    person.save(update_fields=["password"])
    on_record(Actor(person.username, address), "set password", person.username, at, by="one-time link")
    return person
