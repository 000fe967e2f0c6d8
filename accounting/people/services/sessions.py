"""Ending the sessions of people."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from accounting.people.models import Session
from accounting.people.rules.keeping import handle_of
from accounting.people.rules.names import folded
from accounting.people.services.acting import Actor, PersonRefused, on_record


def end_all(person: User, *, keep: str | None = None) -> int:
    """End a person's sessions as a part of another act, all but the one with the key `keep`; how many there were."""
    ended, _ = Session.objects.filter(person=person).exclude(session_key=keep or "").delete()
    return ended


def remove_over(at: datetime) -> int:
    """Remove sessions that ended by themselves; how many there were."""
    over, _ = Session.objects.filter(expire_date__lt=at).delete()
    return over


@transaction.atomic
def end_of(name: str, handle: str | None, *, by: Actor, at: datetime) -> int:
    """End the session of this handle of somebody else, or without one all of them; how many that were."""
    person = User.objects.filter(username=folded(name)).first()
    if person is None:
        raise PersonRefused("no_such_person", f"There is nobody called {name}.", "name")
    return end(person, handle, by=by, at=at)


@transaction.atomic
def end(person: User, handle: str | None, *, keep: str | None = None, by: Actor, at: datetime) -> int:
    """End the session of this handle, or without one all but `keep`; how many that were."""
    keys = Session.objects.filter(person=person).values_list("session_key", flat=True)
    chosen = [key for key in keys if (key != keep if handle is None else handle_of(key) == handle)]
    if handle is not None and not chosen:
        raise PersonRefused("no_such_session", "This session has ended already.")
    ended, _ = Session.objects.filter(person=person, session_key__in=chosen).delete()
    if ended:
        on_record(by, "end sessions", person.username, at, sessions_ended=ended)
    return ended
