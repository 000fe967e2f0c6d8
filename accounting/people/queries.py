"""Reading who works here."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from axes.models import AccessAttempt, AccessLog
from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import User
from django.db.models import Q

from accounting.people.models import OneTimeLink, PersonalToken, SavedFilter, Session
from accounting.people.rules.browsers import in_two_words
from accounting.people.rules.keeping import handle_of
from accounting.people.rules.names import folded
from accounting.queries import audit_between
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


class Access(NamedTuple):
    """Something that was done to get in, to who may get in, or to see what is sealed."""

    at: datetime
    what: str
    who: str
    about: str | None
    origin: str | None
    detail: str | None


AT_ONCE = 1_000
OF_ACCESS = (
    Q(subject__startswith="person ") | Q(subject__startswith="device ")
    | Q(action__in=("look at particulars", "take down particulars"))
)  # fmt: skip
"""What the audit trail has of access: people, keys of devices, and what is sealed of winners."""


def signed_in(first: datetime, end: datetime) -> Iterator[Access]:
    """Who signed in by name and password from a moment to before another, in order."""
    return _doors("attempt_time", "sign in", first, end)


def signed_out(first: datetime, end: datetime) -> Iterator[Access]:
    """Who signed out from a moment to before another, in order; whoever closed the browser did not."""
    return _doors("logout_time", "sign out", first, end)


def _doors(field: str, what: str, first: datetime, end: datetime) -> Iterator[Access]:
    found = AccessLog.objects.filter(**{f"{field}__gte": first, f"{field}__lt": end}).order_by(field, "id")
    beyond = Q()
    while run := list(found.filter(beyond)[:AT_ONCE]):
        for one in run:
            yield Access(
                getattr(one, field), what, one.username or "", None, one.ip_address, in_two_words(one.user_agent)
            )
        last = getattr(run[-1], field)
        beyond = Q(**{f"{field}__gt": last}) | Q(**{field: last, "id__gt": run[-1].pk})


def _said(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else "none" if value is None else str(value)


def acts_of_access(first: datetime, end: datetime) -> Iterator[Access]:
    """What the audit trail has of access from a moment to before another, in its order."""
    for one in audit_between(first, end, about=OF_ACCESS):
        said = one.detail.get("after", one.detail)
        words = ", ".join(
            f"{name.replace('_', ' ')} {_said(value)}"
            for name, value in said.items()
            if not isinstance(value, dict | list)
        )
        about = one.subject.removeprefix("person ")
        yield Access(one.recorded_at, one.action, one.actor, about, one.origin or None, words or None)


def wrong_passwords() -> list[str]:
    """Names with wrong passwords that count against them now, how many, and from where."""
    found = AccessAttempt.objects.filter(failures_since_start__gt=0).order_by("username", "ip_address")
    return [f"{one.username} {one.failures_since_start} from {one.ip_address}" for one in found]
