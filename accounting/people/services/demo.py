"""People of demo mode: made anew at each start, shut out by a start without it."""

from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import transaction

from accounting.people.models import PersonalToken
from accounting.people.rules.keeping import digest_of
from accounting.people.services import accounts
from accounting.people.services.acting import Actor

STARTED = Actor("command (up)")


@transaction.atomic
def ensure(name: str, *, last_name: str, role: str, password: str, token: str, at: datetime) -> None:
    """One person of the demo with this role, password and token, whatever was done to the account meanwhile."""
    person, _ = User.objects.get_or_create(username=name, defaults={"first_name": "Demo", "last_name": last_name})
    person.is_active = True
    if not person.check_password(password):
        person.set_password(password)
    person.save()
    group, _ = Group.objects.get_or_create(name=role)
    person.groups.set([group])
    PersonalToken.objects.update_or_create(
        digest=digest_of(token),
        defaults={"withdrawn_at": None},
        create_defaults={
            "person": person, "purpose": "demo", "demo": True, "issued_at": at, "issued_by": STARTED.name,
        },
    )  # fmt: skip


def is_demo(person: User) -> bool:
    """Whether this is one of the demo's people, whose password stands in a file."""
    return PersonalToken.objects.filter(person=person, demo=True).exists()


def may_sign_in(person: User) -> bool:
    """Demo people are honoured in demo mode only."""
    return settings.DEMO or not is_demo(person)


def retire(*, at: datetime) -> list[str]:
    """Suspend the demo's people: this house is run without demo mode. The names of those who were not suspended yet."""
    names = User.objects.filter(is_active=True, tokens__demo=True).distinct().values_list("username", flat=True)
    retired = sorted(names)
    for name in retired:
        accounts.suspend(name, by=STARTED, at=at)
    return retired
