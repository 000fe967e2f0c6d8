"""A link's life for its page: its states, its members and its terms side by side, as the events of its stream say."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from accounting.event_queries import documented
from accounting.rules.dated import ALWAYS
from accounting.rules.events import TERMS
from accounting.rules.moments import at_nanoseconds, instant_nanoseconds
from jackpot.acts.links import SHOWN, worded
from jackpot.rules.state import LinkState


@dataclass(frozen=True, slots=True)
class Span:
    """Something that counted from a moment until another; `since` is None where it was so from the beginning."""

    what: str
    since: datetime | None
    until: datetime | None
    is_now: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One term of a level in every edition, in order; `cells` are its words and whether they differ from those before."""

    level: str
    what: str
    cells: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """The editions of a link's terms side by side; rows that were ever changed come with `changed` cells."""

    editions: tuple[Span, ...]
    rows: tuple[Row, ...]


def _spans(changes: list[tuple[int, str]], now: int) -> list[Span]:
    """Changes by the moment they count from, each until the next."""
    ends = [since for since, _ in changes[1:]]
    spans = []
    for (since, what), until in zip(changes, [*ends, None], strict=True):
        begun = since == ALWAYS or since <= now
        spans.append(
            Span(
                what,
                None if since == ALWAYS else at_nanoseconds(since),
                None if until is None else at_nanoseconds(until),
                begun and (until is None or now < until),
            )
        )
    return spans


def states(link: LinkState, at: datetime) -> list[Span]:
    """What the link was, is and will be, oldest first."""
    return _spans(list(link.states), instant_nanoseconds(at))


def terms(link: LinkState, at: datetime) -> Terms:
    """Every edition of its terms, oldest first."""
    editions = [edition for _, edition in link.terms]
    spans = _spans([(since, f"{number}") for number, (since, _) in enumerate(link.terms, 1)], instant_nanoseconds(at))
    rows = []
    for level in editions[0].levels:
        for key, what in SHOWN.items():
            values = [getattr(edition.level[level.code], key) for edition in editions]
            cells = tuple(
                (worded(key, value), place > 0 and value != values[place - 1]) for place, value in enumerate(values)
            )
            rows.append(Row(level.code, what, cells))
    return Terms(tuple(spans), tuple(rows))


def members(stream_id: int, link: str, at: datetime) -> list[Span]:
    """The tables that are or were on the link, by code, each with when it joined and left."""
    changes: dict[str, list[tuple[int, str]]] = {}
    for event in documented(stream_id, TERMS):
        for change in _changes(event.result):
            if change["what"] in ("table.installed", "table.link") and change.get("table"):
                since = instant_nanoseconds(datetime.fromisoformat(change["counts_from"]))
                changes.setdefault(change["table"], []).append((since, change.get("link") or ""))
    now = instant_nanoseconds(at)
    return [
        Span(table, span.since, span.until, span.is_now)
        for table, moves in sorted(changes.items())
        for span in _spans(sorted(moves, key=lambda move: move[0]), now)
        if span.what == link
    ]


def _changes(result: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msgspec.json.decode(result).get("changes", [])
    return found
