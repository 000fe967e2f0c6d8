"""A link's meters over time: points read from the results of events, each by key, so that years cost what an hour does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from accounting.event_queries import documented, recorded_from
from accounting.office.registry import title
from accounting.queries import stream_row
from devices.foresight.stretch import read_result
from jackpot.hits_on_record import latest_hits_between
from jackpot.queries import level_ids, link_key
from jackpot.rules.meter import MILLION
from tables.queries.record import results_at

POINTS: Final = 400
"""Events read for a drawing, at most; hits and acts apart."""
MOST_HITS: Final = 100
"""Hits that are marked one by one; of more the latest."""
ACTS: Final = {
    "level.adjust": "adjusted",
    "level.transfer": "adjusted",
    "hit.reject": "adjusted",
    "link.suspend": "suspended",
    "link.resume": "resumed",
    "link.open": "resumed",
    "link.close": "suspended",
    "link.terms": "terms",
}
"""What people do to a link that bears on its meters, and how it is marked."""


class Happened(NamedTuple):
    """A hit or an act: its event, when it was recorded, how it is marked, on which level (None: on all), and what it was.

    Of a hit `cents` is what it paid, else what the display moved by.
    """

    sequence: int
    at: datetime
    kind: str
    level: str | None
    what: str
    cents: int | None


@dataclass(frozen=True, slots=True)
class History:
    """A link's displays from one moment to another: points in whole cents by level, and what happened, in its order."""

    code: str
    levels: dict[str, list[tuple[float, int]]]
    happened: list[Happened]
    events: int
    further_hits: int


def history(code: str, since: datetime | None, until: datetime | None) -> History | None:
    """The meters of a link over the events recorded in a period; None where there is no such link."""
    key = link_key(code)
    if key is None:
        return None
    stream_id = key[1]
    following = stream_row(stream_id)[2]
    first = 0 if since is None else recorded_from(stream_id, since)
    last = (following if until is None else recorded_from(stream_id, until)) - 1
    shown, hits = latest_hits_between(stream_id, first, last, MOST_HITS)
    acts = [event for event in documented(stream_id, list(ACTS)) if first <= event.sequence <= last]
    step = max(1, -(-(last - first + 1) // POINTS))
    wanted = {first - 1, *range(first, last + 1, step), last}
    for sequence in [hit.sequence for hit in shown] + [event.sequence for event in acts]:
        wanted |= {sequence - 1, sequence}
    levels: dict[str, list[tuple[float, int]]] = {level: [] for level in level_ids(code)}
    displays: dict[int, dict[str, int]] = {}
    for sequence, at, result in results_at(stream_id, sorted(each for each in wanted if 0 <= each <= last)):
        rows = {row.level: row.after_cents for row in read_result(result or b"{}").meters if row.link == code}
        displays[sequence] = rows
        moment = at.timestamp()
        if since is not None and at < since:
            moment = since.timestamp()  # what the period began with
        for level, cents in rows.items():
            levels[level].append((moment, cents))
    happened = [_hit(hit) for hit in shown]
    for event in acts:
        happened += _acts(event, code, displays)
    happened.sort(key=lambda one: one.sequence)
    return History(code, levels, happened, max(last - first + 1, 0), hits - len(shown))


def _hit(hit: Any) -> Happened:
    full = hit.share_ppm == MILLION
    what = f"{hit.hand.replace('_', ' ')} at table {hit.table}, seat {hit.seat}"
    kind = "reset" if full else "hit"
    return Happened(hit.sequence, hit.detected_at, kind, hit.level.code, what, hit.paid_cents)


def _acts(event: Any, code: str, displays: dict[int, dict[str, int]]) -> list[Happened]:
    """An act, on each level whose display it moved, or once on all of them; another link that closed only brought money."""
    asked = msgspec.json.decode(event.cause)
    what = title(event.kind)
    if reason := asked.get("payload", {}).get("reason"):
        what = f"{what}: {reason.replace('_', ' ')}"
    before, after = displays.get(event.sequence - 1, {}), displays.get(event.sequence, {})
    moved = {level: cents - before.get(level, cents) for level, cents in after.items()}
    kind = ACTS[event.kind]
    if event.kind.startswith("link.") and (closed := asked["subject"]) != code:
        kind, what = "adjusted", f"{what}: {closed}"
    if kind != "adjusted":
        return [Happened(event.sequence, event.recorded_at, kind, None, what, None)]
    return [
        Happened(event.sequence, event.recorded_at, kind, level, what, cents) for level, cents in moved.items() if cents
    ] or [Happened(event.sequence, event.recorded_at, kind, None, what, None)]
