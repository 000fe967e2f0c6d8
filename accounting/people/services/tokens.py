"""Personal tokens: `Authorization: Bearer TOKEN`. Only a digest is kept, so a token is shown once."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from accounting.people.models import PersonalToken
from accounting.people.rules.keeping import digest_of
from accounting.people.rules.names import folded
from accounting.people.services.acting import Actor, PersonRefused, on_record

USE_NOTED_EVERY = timedelta(minutes=1)


@transaction.atomic
def issue(name: str, *, secret: str, purpose: str = "", by: Actor, at: datetime) -> PersonalToken:
    """A token that `secret` is: of one's own, or of anybody's by a command at the server.

    Whoever has it acts as its owner. So nobody else is handed one, and security withdraws what it did not issue. Raises
    PersonRefused for nobody's name, for somebody else's, and for somebody who is suspended.
    """
    person = User.objects.filter(username=folded(name)).first()
    if person is None:
        raise PersonRefused("no_such_person", f"There is nobody called {name}.", "name")
    if not by.at_server and by.name != person.username:
        raise PersonRefused("not_yours", f"A token acts as its owner: {person.username} issues it, nobody else.")
    if not person.is_active:
        raise PersonRefused("suspended", f"{person.username} is suspended: a token would not work.")
    token = PersonalToken.objects.create(
        person=person, digest=digest_of(secret), purpose=purpose.strip()[:60], issued_at=at, issued_by=by.name
    )
    on_record(by, "issue token", person.username, at, token=token.pk, purpose=token.purpose)
    return token


@transaction.atomic
def withdraw(name: str, token_id: int, *, by: Actor, at: datetime) -> None:
    """End one token of a person."""
    token = PersonalToken.objects.filter(pk=token_id, person__username=name).select_related("person").first()
    if token is None:
        raise PersonRefused("no_such_token", f"{name} has no token {token_id}.")
    if not PersonalToken.objects.filter(pk=token_id, withdrawn_at=None).update(withdrawn_at=at):
        raise PersonRefused("already_withdrawn", f"Token {token_id} was withdrawn already.")
    on_record(by, "withdraw token", name, at, token=token_id, purpose=token.purpose)


@transaction.atomic
def withdraw_all(name: str, *, by: Actor, at: datetime) -> int:
    """End every token of a person; how many there were."""
    person = User.objects.filter(username=folded(name)).first()
    if person is None:
        raise PersonRefused("no_such_person", f"There is nobody called {name}.", "name")
    ended = withdraw_all_of(person, at=at)
    if ended:
        on_record(by, "withdraw tokens", person.username, at, tokens_withdrawn=ended)
    return ended


def withdraw_all_of(person: User, *, at: datetime) -> int:
    """End every token of a person as a part of another act."""
    return PersonalToken.objects.filter(person=person, withdrawn_at=None).update(withdrawn_at=at)


def holder(secret: str, *, demo: bool, at: datetime) -> PersonalToken | None:
    """The token that `secret` is, with its person; None where it is unknown or withdrawn, or the person suspended, or one
    of the demo's outside demo mode. That it was used is noted once a minute."""
    good = PersonalToken.objects.filter(digest=digest_of(secret), withdrawn_at=None, person__is_active=True)
    if not demo:
        good = good.exclude(person__tokens__demo=True)
    token = good.select_related("person").first()
    if token is not None and (token.used_at is None or at - token.used_at >= USE_NOTED_EVERY):
        PersonalToken.objects.filter(pk=token.pk).update(used_at=at)
    return token
