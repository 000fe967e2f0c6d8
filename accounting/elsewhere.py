"""Reading elsewhere: what people look up, export and verify is read from a copy of the database, and cannot slow settling.

`READ_DATABASE_URL` names the copy, a standby of the house's server. A page, a call or a job says that it may read there
(`reads_elsewhere`, `JobKind.reads_elsewhere`, `reading()`); whatever says nothing never does. Inside, Django's connection is
another one, on which nothing can be written: the copy refuses it, and where the house itself is read instead its session is
read only. Who somebody is and what they may see has been decided before, by the house itself.

The house itself is read where the copy does not answer, is none any more or is too far behind, and for a while after somebody
signed in or acted, so that they see what they did.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, Final, TypeVar

import structlog
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, InterfaceError, OperationalError, connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

log = structlog.get_logger()

COPY: Final = "elsewhere"
READ_ONLY: Final = "read_only"
"""The house's own server, on a session that cannot write."""

ACTED: Final = "acted"
"""The cookie of a browser whose person has just done something."""

TOO_LONG: Final = "57014"
"""What is too long for the copy is not tried on the house."""

WAY_OF_REPLAY: Final = "40001"
"""The copy ended what stood in the way of replaying. It is well."""

CATCHING_UP_SECONDS: Final = 10.0

AGAIN_SECONDS: Final = 5.0
"""So long a copy that failed is not asked again: each page would wait for it."""

# The last commit that arrived is as old as the copy is behind, unless it has everything that the house had when it was asked:
# where nothing goes on, nothing arrives.
HAD = "SELECT pg_current_wal_insert_lsn()::text"
LOOK = """
    SELECT follows, as_of, extract(epoch FROM clock_timestamp() - as_of)::float8 FROM (
        SELECT pg_is_in_recovery() AS follows, CASE WHEN NOT pg_is_in_recovery() THEN NULL
            WHEN pg_last_wal_replay_lsn() >= %s::pg_lsn THEN clock_timestamp()
            ELSE pg_last_xact_replay_timestamp() END AS as_of
    ) copy
"""

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is read. `behind` and `as_of` are the copy's; `why` says why it is not read there."""

    alias: str = DEFAULT_DB_ALIAS
    as_of: datetime | None = None
    behind: float = 0.0
    why: str = ""

    @property
    def is_copy(self) -> bool:
        """Whether it is a copy, and what is read may be some seconds old."""
        return self.alias == COPY

    @property
    def words(self) -> str:
        """Where it is read, for whoever looks at it; nothing where there is no copy."""
        if self.is_copy:
            return f"read from a copy of the database, {self.behind:.0f} s behind"
        return f"read from the house itself: {self.why}" if self.why else ""

    @contextmanager
    def entered(self) -> Iterator["Place"]:
        """Django's connection of this thread is this place's."""
        if self.alias == DEFAULT_DB_ALIAS:
            yield self
            return
        before, was = connections[DEFAULT_DB_ALIAS], _PLACE.get()
        connections[DEFAULT_DB_ALIAS] = connections[self.alias]
        token = _PLACE.set(Inside(self, was.house if was else before))
        try:
            yield self
        finally:
            connections[DEFAULT_DB_ALIAS] = before
            _PLACE.reset(token)

    def drawn(self, parts: Iterable[Part]) -> Iterator[Part]:
        """The same parts, each read at this place, whoever takes them and whenever."""
        if self.alias == DEFAULT_DB_ALIAS:
            yield from parts
            return
        iterator = iter(parts)
        while True:
            with self.entered():
                try:
                    part = next(iterator)
                except StopIteration:
                    return
            yield part


@dataclass(frozen=True, slots=True)
class Inside:
    """Where this thread reads now, and the house's own connection meanwhile."""

    place: Place
    house: Any


_PLACE: ContextVar[Inside | None] = ContextVar("reads_from", default=None)


class _Copy:
    """What this process knows of the copy."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.asked_again_at = float("-inf")
        self.why = ""

    def failed(self, why: str) -> None:
        with self.lock:
            if why != self.why:
                log.warning("copy_not_read", why=why)
            self.asked_again_at, self.why = time.monotonic() + AGAIN_SECONDS, why

    def said(self) -> str:
        """Why it is not asked now; nothing when it may be."""
        with self.lock:
            return self.why if time.monotonic() < self.asked_again_at else ""


_COPY = _Copy()


def there_is_one() -> bool:
    """Whether this house has a copy to read from."""
    return COPY in connections.settings


def current() -> Place:
    """Where this thread reads now."""
    inside = _PLACE.get()
    return inside.place if inside else Place()


def choose(*, here: str = "", since: datetime | None = None) -> Place:
    """The copy, when it may be read now; else the house itself, and why. `here`: a reason to read there in any case.

    With `since` a copy that lacks what was recorded before that moment is waited for, `CATCHING_UP_SECONDS` at most.
    """
    if not there_is_one() or _PLACE.get() is not None:
        return current()
    why = here or _COPY.said()
    if why:
        return Place(READ_ONLY, why=why)
    give_up = time.monotonic() + CATCHING_UP_SECONDS
    while True:
        place = _look()
        if since is None or not place.is_copy or place.as_of is None or place.as_of >= since:
            return place
        if time.monotonic() > give_up:
            return Place(READ_ONLY, why="the copy lacks what was recorded last")
        time.sleep(0.2)


def _look() -> Place:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(HAD)
        had = cursor.fetchone()
    try:
        with connections[COPY].cursor() as cursor:
            cursor.execute(LOOK, had)
            follows, as_of, behind = cursor.fetchone()
    except Error:
        connections[COPY].close()
        _COPY.failed("the copy does not answer")
        return Place(READ_ONLY, why="the copy does not answer")
    if not follows:
        _COPY.failed("the copy follows nobody any more")
        return Place(READ_ONLY, why="the copy follows nobody any more")
    if behind is None or behind > settings.READ_BEHIND_SECONDS:
        return Place(READ_ONLY, why="the copy is too far behind" + (f", {behind:,.0f} s" if behind is not None else ""))
    return Place(COPY, as_of, max(0.0, behind))


@contextmanager
def reading(place: Place | None = None) -> Iterator[Place]:
    """Read elsewhere inside, if that is possible; nothing can be written there, wherever it is read."""
    outermost = _PLACE.get() is None
    place = place or choose()
    house = connections[DEFAULT_DB_ALIAS]
    if outermost and place.alias != DEFAULT_DB_ALIAS and not house.in_atomic_block:
        house.close()  # whoever reads for minutes does not keep others from the pool
    try:
        with place.entered():
            yield place
    finally:
        if outermost and place.alias != DEFAULT_DB_ALIAS:
            connections[place.alias].close()


@contextmanager
def here() -> Iterator[None]:
    """Inside `reading`, for what must be written down meanwhile: the house's own connection."""
    inside = _PLACE.get()
    if inside is None:
        yield
        return
    place = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = inside.house
    token = _PLACE.set(None)
    try:
        yield
    finally:
        _PLACE.reset(token)
        connections[DEFAULT_DB_ALIAS] = place


def done_elsewhere(
    act: Callable[[Place], Part],
    *,
    here: str = "",
    since: datetime | None = None,
    again: Callable[[], None] = lambda: None,
) -> Part:
    """What `act` gives, read elsewhere. A copy that fails under it is given up: after `again`, the house itself is read."""
    with reading(choose(here=here, since=since)) as place:
        try:
            return act(place)
        except (OperationalError, InterfaceError) as error:
            state = getattr(error.__cause__, "sqlstate", None)
            if not place.is_copy or state == TOO_LONG:
                raise
            said = str(error).strip().partition("\n")[0]
    if state != WAY_OF_REPLAY:
        _COPY.failed("the copy does not answer")
    again()
    with reading(Place(READ_ONLY, why=f"the copy gave up: {said}")) as place:
        return act(place)


def reads_elsewhere(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page or a call of the API that only looks things up; below `page` or inside a view, where it is known who asks.

    What it answers is read by then, but for what is written while it is sent (`shell.downloads`), which is read here as well.
    """

    @wraps(view)
    def seen(*args: Any, **kwargs: Any) -> HttpResponseBase:
        asked = next(each for each in args if hasattr(each, "method"))  # a view's own `self` may come before it
        request: HttpRequest = getattr(asked, "_request", asked)
        if not there_is_one() or request.method not in ("GET", "HEAD"):
            return view(*args, **kwargs)

        def look(place: Place) -> HttpResponseBase:
            request.read_from = place  # type: ignore[attr-defined]
            answer = view(*args, **kwargs)
            answer.headers["X-Read-From"] = place.words
            return answer

        acted = "you have just signed in or done something" if ACTED in request.COOKIES else ""
        return done_elsewhere(look, here=acted)

    return seen
