"""Workers, gateways and people at three links, a dozen of them killed at random; two hundred are `tests.faults.crowded`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from tables.services import floors
from tests.conftest import service_environment
from tests.faults.crowded import crowded
from tests.rules.stages import EVERY_POLICY
from tests.services.fixtures import Databases
from tests.services.house import OPENED

pytestmark = [pytest.mark.alone, pytest.mark.timeout(400)]

KILLS = 12


@pytest.fixture
def floor(databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A database of its own with three links."""
    with django_db_blocker.unblock():
        name = databases.create(like=migrated)
        with databases.entered(name):
            floors.install(EVERY_POLICY[0].text, at=OPENED)
            yield
        databases.drop(name)


def test_whoever_is_killed_loses_nothing_doubles_nothing_and_leaves_nothing_half_done(floor: None) -> None:
    outcome = crowded(service_environment(), kills=KILLS, seed=3)
    assert outcome.struck.total() == KILLS
    assert any("while it wrote" in how for how in outcome.struck)
    assert outcome.done and outcome.accepted
    assert outcome.ends.keys() >= {"settled"}
