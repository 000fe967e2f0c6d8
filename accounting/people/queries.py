"""Reading who works here."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import User
from django.db.models import Q

from accounting.people.models import OneTimeLink, PersonalToken, SavedFilter, Session
from accounting.people.rules.browsers import in_two_words
from accounting.people.rules.keeping import handle_of
from accounting.people.rules.names import folded
from accounting.rules.roles import ROLES, in_order


@dataclass(frozen=True, slots=True)
class PersonShown:
    """A person as security sees one. `state` is active, invited (a link is open), suspended, or no way in."""

    name: str
    full_name: str
    roles: list[str]
    state: str
    joined_at: datetime
    last_sign_in: datetime | None
    sessions: int
    tokens: int
    link_until: datetime | None

    @property
    def titles(self) -> list[str]:
        """The roles by their titles."""
        return [ROLES[role] for role in self.roles]


def people(at: datetime, *, name: str | None = None) -> list[PersonShown]:
    """Everybody with an account, by name; or the one of this name."""
    found = User.objects.order_by("username").prefetch_related("groups")
    if name is not None:
        found = found.filter(username=folded(name))
    links = dict(OneTimeLink.objects.filter(ended_at=None, expires_at__gt=at).values_list("person_id", "expires_at"))
    sessions = Counter(Session.objects.filter(expire_date__gt=at).values_list("person_id", flat=True))
    tokens = Counter(PersonalToken.objects.filter(withdrawn_at=None).values_list("person_id", flat=True))
    return [
        PersonShown(
            name=person.username,
            full_name=person.get_full_name(),
            roles=in_order(group.name for group in person.groups.all()),
            state=_state(person, links.get(person.pk)),
            joined_at=person.date_joined,
            last_sign_in=person.last_login,
            sessions=sessions[person.pk],
            tokens=tokens[person.pk],
            link_until=links.get(person.pk),
        )
        for person in found
    ]


def _state(person: User, link_until: datetime | None) -> str:
    if not person.is_active:
        return "suspended"
    if is_password_usable(person.password):
        return "active"
    return "invited" if link_until else "no way in"


@dataclass(frozen=True, slots=True)
class SessionShown:
    """Somebody signed in somewhere. `handle` names the session and opens nothing."""

    handle: str
    since: datetime | None
    until: datetime
    address: str
    browser: str
    current: bool


def sessions_of(name: str, at: datetime, *, current_key: str | None = None) -> list[SessionShown]:
    """The open sessions of a person, the newest first."""
    rows = Session.objects.filter(person__username=name, expire_date__gt=at).order_by("-since")
    return [
        SessionShown(
            handle=handle_of(row.session_key),
            since=row.since,
            until=row.expire_date,
            address=row.address,
            browser=in_two_words(row.browser),
            current=row.session_key == current_key,
        )
        for row in rows
    ]


def tokens_of(name: str) -> list[PersonalToken]:
    """The personal tokens of a person, also withdrawn ones, the newest first."""
    return list(PersonalToken.objects.filter(person__username=name).order_by("-id"))


@dataclass(frozen=True, slots=True)
class FilterShown:
    """A search that is kept, as somebody sees it who may use it."""

    id: int
    name: str
    query: str
    owner: str
    is_own: bool
    shared_with: str

    @property
    def with_whom(self) -> str:
        """The role that it is shared with, by its title."""
        return ROLES.get(self.shared_with, "")


def filters_of(person: User, page: str, roles: Collection[str]) -> list[FilterShown]:
    """The searches of a page that somebody may use: their own by name, then those that colleagues share with their roles."""
    found = SavedFilter.objects.filter(
        Q(person=person) | Q(shared_with__in=list(roles), person__is_active=True), page=page
    ).select_related("person")
    shown = [
        FilterShown(one.pk, one.name, one.query, one.person.username, one.person_id == person.pk, one.shared_with)
        for one in found
    ]
    return sorted(shown, key=lambda one: (not one.is_own, one.name.casefold(), one.owner))
