"""What the house records and shows does not change unsaid: rows, pages, reports and answers are as they were kept.

Where it is to be otherwise, `python3 -m tests.shown` keeps it anew: the commit has the change, line by line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import unified_diff

import pytest
from pytest_django import DjangoDbBlocker

from jackpot.config import celery  # noqa: F401  # tasks are sent by our transport
from tests.services.fixtures import Databases
from tests.shown import looking

pytestmark = pytest.mark.xdist_group("shown")
FILES = sorted(file.stem for file in looking.KEPT.glob("*.txt"))
ANEW = "JACKPOT_SHOWN_ANEW"


@pytest.fixture(scope="session")
def lit_house(
    databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker
) -> Iterator[tuple[str, looking.House]]:
    """The demo's day, played once in a database of its own."""
    with django_db_blocker.unblock():
        name = databases.create(like=migrated)
        with databases.entered(name):
            house = looking.House()
        yield name, house
        databases.drop(name)


@pytest.fixture
def lit(
    lit_house: tuple[str, looking.House], databases: Databases, django_db_blocker: DjangoDbBlocker
) -> Iterator[looking.House]:
    """The house, to be looked at."""
    name, house = lit_house
    with django_db_blocker.unblock(), databases.entered(name):
        yield house


def test_the_day_is_recorded_as_it_was_kept(
    databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker
) -> None:
    """Played anew for this: what is played once for all of the tests here would not show how it is played."""
    with django_db_blocker.unblock():
        name = databases.create(like=migrated)
        with databases.entered(name):
            looking.House()
            found = looking.recorded()
        databases.drop(name)
    was = looking.RECORD.read_text("utf-8").splitlines()
    changed = list(unified_diff(was, found, "record.txt", "this day", lineterm="", n=1))
    assert not changed, "\n".join(changed)


@pytest.mark.parametrize("file", FILES)
def test_it_is_shown_as_it_was_kept(file: str, lit: looking.House) -> None:
    changed: list[str] = []
    for place, lines in looking.kept(file).items():
        changed += unified_diff(lines, lit.shows(place), f"{place.head} (kept)", place.head, lineterm="", n=2)
    assert not changed, "\n".join(changed)


def test_every_place_that_people_come_to_is_kept(lit: looking.House) -> None:
    if os.environ.get(ANEW):
        looking.keep(lit)
        looking.RECORD.write_text("\n".join(looking.recorded()) + "\n", "utf-8")
    files = [file.stem for file in looking.KEPT.glob("*.txt")]
    assert {place for file in files for place in looking.kept(file)} == set(lit.places())


def test_nothing_kept_is_an_error_or_empty(lit: looking.House) -> None:
    for file in FILES:
        for place, lines in looking.kept(file).items():
            assert not lines or not lines[0].isdigit() or len(lines[0]) != 3, place
            assert lines or place.role != "auditor", place
