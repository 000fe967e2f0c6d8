"""Reading elsewhere: what failed on the copy is read on the house, and what was too long for the copy is not tried there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, connections
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from psycopg.errors import AdminShutdown, QueryCanceled, SerializationFailure
from structlog.testing import capture_logs

from accounting import elsewhere
from accounting.elsewhere import ACTED, COPY, READ_ONLY, Place
from tests.services.house import House, rows, run

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


Says = Callable[[str], None]
AS_OF = "'2026-11-28 02:14:05Z'::timestamptz"
FRESH = f"true, {AS_OF}, 3.4"
WELL = "read from a copy of the database, 3 s behind"
ASKED = "you have just signed in or done something"


@pytest.fixture
def copy_says(house: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[Says]:
    """Two more ways to the house's server, one of them for a copy: what it says of itself is as a test says, at first well."""
    there, house_itself = connections.settings, connections["default"]
    for alias in (COPY, READ_ONLY):
        monkeypatch.setitem(there, alias, there["default"] | {"CONN_MAX_AGE": 0})
    monkeypatch.setattr(elsewhere, "_COPY", elsewhere._Copy())
    monkeypatch.setattr(elsewhere, "_PLACE", ContextVar("reads_from", default=None))

    def says(row: str) -> None:
        monkeypatch.setattr(elsewhere, "LOOK", f"SELECT {row} WHERE %s::pg_lsn <= pg_current_wal_insert_lsn()")

    says(FRESH)
    yield says
    connections["default"] = house_itself
    for alias in (COPY, READ_ONLY):
        connections[alias].close()
        del connections[alias]


@pytest.mark.parametrize(
    ("row", "alias", "words"),
    [
        (FRESH, COPY, WELL),
        (f"true, {AS_OF}, -0.2", COPY, "read from a copy of the database, 0 s behind"),
        (f"true, {AS_OF}, 60.0", COPY, "read from a copy of the database, 60 s behind"),
        (f"true, {AS_OF}, 1234.5", READ_ONLY, "read from the house itself: the copy is too far behind, 1,234 s"),
        ("true, NULL, NULL", READ_ONLY, "read from the house itself: the copy is too far behind"),
        ("false, NULL, NULL", READ_ONLY, "read from the house itself: the copy follows nobody any more"),
        ("true, now(), 1 / 0", READ_ONLY, "read from the house itself: the copy does not answer"),
    ],
)
def test_what_the_copy_says_of_itself_decides_whether_it_is_read(
    row: str, alias: str, words: str, copy_says: Says
) -> None:
    """It is read in words that name why. One that is only behind is asked again for the next page, a broken one later."""
    copy_says(row)
    place = elsewhere.choose()
    assert (place.alias, place.words, place.is_copy) == (alias, words, alias == COPY)
    assert place.as_of == (datetime(2026, 11, 28, 2, 14, 5, tzinfo=UTC) if alias == COPY else None)
    assert place.behind >= 0
    copy_says(FRESH)
    broken = "nobody" in words or "answer" in words
    assert elsewhere.choose().words == (words if broken else WELL)
    elsewhere._COPY.asked_again_at -= elsewhere.AGAIN_SECONDS
    assert elsewhere.choose().words == WELL


@pytest.mark.parametrize(("replayed", "behind"), [("1/10", 0), ("1/11", 0), ("1/F", 3_600)])
def test_a_copy_that_has_all_that_the_house_had_is_not_behind_however_old_its_last_commit_is(
    replayed: str, behind: int, db: None
) -> None:
    """What the server of a copy says of itself is said by functions of this test, which stand before the server's own."""
    run(
        "CREATE SCHEMA copy_says; SET LOCAL search_path = copy_says, pg_catalog, public;"
        " CREATE FUNCTION pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true';"
        f" CREATE FUNCTION pg_last_wal_replay_lsn() RETURNS pg_lsn LANGUAGE sql AS $$SELECT '{replayed}'::pg_lsn$$;"
        " CREATE FUNCTION pg_last_xact_replay_timestamp() RETURNS timestamptz LANGUAGE sql"
        " AS $$SELECT clock_timestamp() - interval '1 hour'$$"
    )
    ((follows, _, found),) = rows(elsewhere.LOOK, "1/10")
    assert follows is True
    assert abs(found - behind) < 60
    run("SET LOCAL search_path = public")
    assert rows(elsewhere.LOOK, "1/10") == [(False, None, None)], "the house itself is no copy"


def test_what_is_wrong_with_the_copy_is_logged_when_it_is_another_thing_than_before() -> None:
    copy = elsewhere._Copy()
    assert copy.said() == ""
    with capture_logs() as logged:
        for why in ("gone", "gone", "behind", "gone"):
            copy.failed(why)
    assert logged == [
        {"event": "copy_not_read", "log_level": "warning", "why": why} for why in ("gone", "behind", "gone")
    ]


def test_there_may_be_a_reason_not_to_ask_the_copy(copy_says: Says) -> None:
    assert elsewhere.choose(here="so it is").words == "read from the house itself: so it is"
    assert elsewhere.choose(since=datetime(2026, 11, 28, 2, 14, 5, tzinfo=UTC)).is_copy
    assert Place().words == "" and elsewhere.current() == Place()


def test_inside_everything_is_read_there_and_what_must_be_written_is_written_to_the_house(copy_says: Says) -> None:
    house = connections["default"]

    def parts() -> Iterator[str]:
        for _ in range(2):
            yield elsewhere.current().alias

    with elsewhere.reading() as place:
        assert place.alias == elsewhere.current().alias == COPY
        assert connections["default"] is connections[COPY]
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        assert elsewhere.choose(here="already inside") == place
        with elsewhere.reading() as within:
            assert within == place
        assert connections[COPY].connection is not None, "the outermost ends it"
        with elsewhere.here():
            assert connections["default"] is house and elsewhere.current() == Place()
        assert connections["default"] is connections[COPY] and elsewhere.current() == place
    assert connections["default"] is house and elsewhere.current() == Place()
    assert connections[COPY].connection is None and house.connection is not None
    with elsewhere.here():
        assert connections["default"] is house
    drawn = place.drawn(parts())
    assert next(drawn) == COPY
    assert connections["default"] is house, "between two parts"
    assert list(drawn) == [COPY]
    assert list(Place().drawn(parts())) == ["default"] * 2
    assert list(Place().drawn(["each", "once"])) == ["each", "once"]


def test_a_page_that_only_looks_is_read_there_and_says_so(copy_says: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    @elsewhere.reads_elsewhere
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(elsewhere.current().alias)

    def read(request: HttpRequest) -> tuple[str, str | None]:
        answer: Any = view(request)
        return answer.content.decode(), answer.headers.get("X-Read-From")

    factory = RequestFactory()
    assert read(factory.get("/")) == read(factory.head("/")) == (COPY, WELL)
    assert read(factory.post("/")) == ("default", None)
    factory.cookies[ACTED] = "1"
    assert read(factory.get("/")) == (READ_ONLY, f"read from the house itself: {ASKED}")
    monkeypatch.setattr(elsewhere, "there_is_one", lambda: False)
    assert read(factory.get("/")) == ("default", None)
    with elsewhere.reading() as place:
        assert place == elsewhere.current() == Place(), "where there is no copy"
