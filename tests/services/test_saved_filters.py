"""Searches that people keep: a few of each page, named once, shared with a role of their own, changed by nobody else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from accounting.people.models import SavedFilter
from accounting.people.queries import filters_of
from accounting.people.rules.filters import MOST_FILTERS, FilterRefused, filter_name
from accounting.people.services import filters
from accounting.people.services.acting import PersonRefused
from tests.pages.conftest import person
from tests.services.house import House, refused_by

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)
BOOKS = ("accounting",)


def kept(user: User, name: str, query: str = "table=MS-101", **more: Any) -> SavedFilter:
    values: dict[str, Any] = {"roles": BOOKS, "at": AT}
    return filters.save(user, "payouts", name, query, **values | more)


def names(user: User, *roles: str) -> list[str]:
    return [one.name for one in filters_of(user, "payouts", roles)]


def test_they_are_ones_own_until_they_are_shared_with_a_role(house: House) -> None:
    ann, bob, cat = person("ann", "accounting"), person("bob", "accounting"), person("cat", "cage")
    kept(ann, "  Large   ones ", "min=1000", shared_with="accounting")
    mine = kept(ann, "at night")
    kept(bob, "Large ones", "min=500")
    assert names(ann, "accounting") == ["at night", "Large ones"]
    assert names(bob, "accounting") == ["Large ones", "Large ones"]
    assert [(one.owner, one.query, one.with_whom) for one in filters_of(bob, "payouts", ["accounting"])] == [
        ("bob", "min=500", ""), ("ann", "min=1000", "accounting"),
    ]  # fmt: skip
    assert names(cat, "cage") == []
    assert filters_of(ann, "slips", ["accounting"]) == []
    for act in (
        lambda: filters.remove(bob, mine.pk),
        lambda: filters.change(bob, mine.pk, name="mine now", shared_with="", roles=BOOKS, at=AT),
    ):
        with pytest.raises(PersonRefused, match="only whose it is") as refused:
            act()
        assert refused.value.code == "no_such_filter"
    User.objects.filter(pk=ann.pk).update(is_active=False)
    assert names(bob, "accounting") == ["Large ones"], "of somebody who is suspended nothing is shown"


def test_the_same_name_takes_the_place_and_another_is_given(house: House) -> None:
    ann = person("ann", "accounting")
    first = kept(ann, "large", "min=1000")
    assert kept(ann, "large", "min=2000", shared_with="accounting").pk == first.pk
    assert [(one.query, one.shared_with) for one in SavedFilter.objects.all()] == [("min=2000", "accounting")]
    second = kept(ann, "small", "max=5")
    with pytest.raises(PersonRefused, match="another search under the name large"):
        filters.change(ann, second.pk, name="large", shared_with="", roles=BOOKS, at=AT)
    # Who has lost the role keeps what was shared with it, and shares nothing more.
    filters.change(ann, first.pk, name="larger", shared_with="accounting", roles=(), at=AT)
    with pytest.raises(PersonRefused, match="a role that you hold"):
        filters.change(ann, second.pk, name="small", shared_with="accounting", roles=(), at=AT)
    assert names(ann) == ["larger", "small"]
    assert filters.remove(ann, first.pk) == "larger"
    assert names(ann) == ["small"]


def test_nobody_keeps_more_than_a_few(house: House) -> None:
    ann = person("ann", "accounting")
    all_ = [kept(ann, f"search {number}") for number in range(MOST_FILTERS)]
    with pytest.raises(PersonRefused, match=f"{MOST_FILTERS} are kept already"):
        kept(ann, "one more")
    filters.remove(ann, all_[7].pk)
    assert kept(ann, "one more").place == 8
    assert SavedFilter.objects.count() == MOST_FILTERS
    filters.save(ann, "slips", "another page", "state=void", roles=BOOKS, at=AT)


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\0b", "a\u202eb"])
def test_a_name_is_one_line_that_can_be_seen(name: str, house: House) -> None:
    with pytest.raises(FilterRefused):
        filter_name(name)
    with pytest.raises(PersonRefused, match="a name of 1 to 60 characters"):
        kept(person("ann", "accounting"), name)
    assert not SavedFilter.objects.exists()
    assert kept(person("bob", "accounting"), "x" * 60).name == "x" * 60, "as long as the page's field"


@pytest.mark.parametrize(("query", "share"), [("", ""), ("x" * 1_001, ""), ("min=1", "cage"), ("min=1", "nobody")])
def test_nothing_is_kept_of_what_is_refused(query: str, share: str, house: House) -> None:
    with pytest.raises(PersonRefused):
        kept(person("ann", "accounting"), "large", query, shared_with=share)
    assert not SavedFilter.objects.exists()


def row(user: User, **changes: Any) -> SavedFilter:
    values = {"page": "payouts", "place": 1, "name": "large", "query": "min=1", "saved_at": AT}
    return SavedFilter.objects.create(person=user, **values | changes)


RULES: dict[str, Callable[[User], object]] = {
    "a_person_names_a_filter_once": lambda ann: (row(ann), row(ann, place=2)),
    "a_filter_has_a_place_of_its_own": lambda ann: (row(ann), row(ann, name="larger")),
    "a_person_keeps_a_few_filters_of_a_page": lambda ann: row(ann, place=31),
    "a_filter_has_a_name_and_asks_something": lambda ann: row(ann, query=""),
    "a_filter_is_shared_with_a_known_role": lambda ann: row(ann, shared_with="nobody"),
}


@pytest.mark.parametrize("rule", RULES)
def test_the_database_refuses_what_the_service_would_not_do(rule: str, house: House) -> None:
    ann = person("ann", "accounting")
    with refused_by(rule), transaction.atomic():
        RULES[rule](ann)
