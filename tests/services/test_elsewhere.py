"""Reading elsewhere: what failed on the copy is read on the house, and what was too long for the copy is not tried there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError
from psycopg.errors import AdminShutdown, QueryCanceled, SerializationFailure

from accounting import elsewhere
from accounting.elsewhere import COPY, READ_ONLY, Place

LOST = AdminShutdown, True
"""The copy is given up, and not asked again for a while."""
IN_THE_WAY = SerializationFailure, False
"""What stood in the way of replaying was ended: the copy itself is well."""


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A copy that is asked, and why it was given up; what is read there is as each test says."""
    why: list[str] = []

    @contextmanager
    def reading(place: Place | None = None) -> Iterator[Place]:
        yield place or Place(COPY)

    monkeypatch.setattr(elsewhere, "reading", reading)
    monkeypatch.setattr(elsewhere, "choose", lambda **more: Place(COPY))
    monkeypatch.setattr(elsewhere._COPY, "failed", why.append)
    return why


def read(failure: type[Exception], places: list[str]) -> str:
    """Read something that fails on the copy, and note where it was tried."""

    def act(place: Place) -> str:
        places.append(place.alias)
        if place.is_copy:
            raise OperationalError("no") from failure("no")
        return place.why

    return elsewhere.done_elsewhere(act, again=lambda: places.append("again"))


@pytest.mark.parametrize(("failure", "given_up"), [LOST, IN_THE_WAY])
def test_a_copy_that_fails_is_given_up_and_the_house_is_read(
    failure: type[Exception], given_up: bool, said: list[str]
) -> None:
    places: list[str] = []
    assert read(failure, places) == "the copy gave up: no"
    assert places == [COPY, "again", READ_ONLY]
    assert bool(said) is given_up


@pytest.mark.parametrize(("microseconds", "alias"), [(0, COPY), (-1, READ_ONLY)])
def test_a_copy_that_has_just_what_is_asked_for_is_read(
    microseconds: int, alias: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = datetime(2026, 11, 28, 2, 14, 5, tzinfo=UTC)
    place = Place(COPY, as_of=since + timedelta(microseconds=microseconds))
    monkeypatch.setattr(elsewhere, "there_is_one", lambda: True)
    monkeypatch.setattr(elsewhere, "_look", lambda: place)
    monkeypatch.setattr(elsewhere, "CATCHING_UP_SECONDS", 0.0)
    assert elsewhere.choose(since=since).alias == alias


def test_what_is_too_long_for_the_copy_is_not_tried_on_the_house(said: list[str]) -> None:
    """An auditor's question that was cut off after its term would slow settling down next."""
    places: list[str] = []
    with pytest.raises(OperationalError):
        read(QueryCanceled, places)
    assert places == [COPY] and said == []


def test_what_fails_on_the_house_itself_is_not_tried_again(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "choose", lambda **more: Place(READ_ONLY))
    tried: list[str] = []

    def act(place: Place) -> str:
        tried.append(place.alias)
        raise OperationalError("no") from AdminShutdown("no")

    with pytest.raises(OperationalError):
        elsewhere.done_elsewhere(act)
    assert tried == [READ_ONLY] and said == []
