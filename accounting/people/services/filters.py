"""Searches that people keep under a name: their own, and shared with whoever holds a role of theirs."""

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from accounting.people.models import SavedFilter
from accounting.people.rules.filters import LONGEST_QUERY, MOST_FILTERS, FilterRefused, filter_name
from accounting.people.services.acting import PersonRefused


def save(
    person: User, page: str, name: str, query: str, *, shared_with: str = "", roles: Collection[str], at: datetime
) -> SavedFilter:
    """Keep a search of a page under a name; one that this person keeps under it already is replaced.

    It is shared with the people of one of the `roles` that this person holds, or with nobody. Raises PersonRefused.
    """
    kept_name = _named(name)
    if not query or len(query) > LONGEST_QUERY:
        raise PersonRefused("nothing_asked", f"a search of 1 to {LONGEST_QUERY:,} characters is expected", "query")
    _shared(shared_with, roles)
    with transaction.atomic():
        # Whoever saves twice at once waits here, so that each sees the places that the other took.
        User.objects.select_for_update(no_key=True).get(pk=person.pk)
        mine = SavedFilter.objects.filter(person=person, page=page)
        found = mine.filter(name=kept_name).first()
        if found is not None:
            found.query, found.shared_with, found.saved_at = query, shared_with, at
            found.save()
            return found
        taken = set(mine.values_list("place", flat=True))
        place = next((place for place in range(1, MOST_FILTERS + 1) if place not in taken), None)
        if place is None:
            raise PersonRefused("too_many", f"{MOST_FILTERS} are kept already: remove one first", "name")
        return SavedFilter.objects.create(
            person=person, page=page, place=place, name=kept_name, query=query, shared_with=shared_with, saved_at=at
        )


def change(person: User, filter_id: int, *, name: str, shared_with: str, roles: Collection[str], at: datetime) -> None:
    """Give a search of one's own another name, or share it otherwise. Raises PersonRefused."""
    found = _own(person, filter_id)
    kept_name = _named(name)
    if shared_with != found.shared_with:
        _shared(shared_with, roles)
    found.name, found.shared_with, found.saved_at = kept_name, shared_with, at
    try:
        with transaction.atomic():
            found.save()
    except IntegrityError:
        raise PersonRefused("name_taken", f"you keep another search under the name {kept_name}", "name") from None


def remove(person: User, filter_id: int) -> str:
    """Remove a search of one's own; how it was called. Raises PersonRefused."""
    found = _own(person, filter_id)
    found.delete()
    return found.name


def _own(person: User, filter_id: int) -> SavedFilter:
    found = SavedFilter.objects.filter(pk=filter_id, person=person).first()
    if found is None:
        raise PersonRefused("no_such_filter", "you keep no such search: only whose it is changes or removes one")
    return found


def _named(name: str) -> str:
    try:
        return filter_name(name)
    except FilterRefused as refusal:
        raise PersonRefused("invalid_name", str(refusal), "name") from None


def _shared(role: str, roles: Collection[str]) -> None:
    if role and role not in roles:
        raise PersonRefused(
            "not_your_role", "it is shared with people of a role that you hold, or with nobody", "share"
        )
