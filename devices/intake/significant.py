"""Significant events that move no money: somebody posts for another's table, or uses a reference for other content.

What is refused so costs its sender nothing, so it must not cost us much either: the first of a kind from a device is put
on record at once, the others of its minute as one row that says how many they were.
"""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.db import DatabaseError, connections
from django.utils import timezone

from devices.models import SignificantEvent

log = structlog.get_logger()

NOT_YOUR_TABLE, REFERENCE_REUSED = "not_your_table", "reference_reused"
TOGETHER_SECONDS = 60.0
MOST_KINDS = 60  # in such a minute, over all devices; the rest are only counted


@dataclass(frozen=True, slots=True)
class Noted:
    """Something to be put on record: its code, the device that did it, the table it named, and the round."""

    code: str
    device: str
    table: str
    round: str | None


@dataclass(slots=True)
class Minute:
    """How often one kind came since it was last put on record."""

    began: float
    last: Noted
    times: int = 0


@dataclass(slots=True)
class Notebook:
    """Collects what is noted and hands rows to `write` from a thread of its own."""

    write: Callable[[list[tuple[Noted, int]]], None]
    together: float = TOGETHER_SECONDS
    due: list[tuple[Noted, int]] = field(default_factory=list)
    minutes: dict[tuple[str, str, str], Minute] = field(default_factory=dict)
    beyond: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    thread: threading.Thread | None = None

    def note(self, several: Iterable[Noted]) -> None:
        """Have these put on record, at once or with the others of their minute."""
        now = time.monotonic()
        with self.changed:
            for noted in several:
                self._count(noted, now)
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="significant", daemon=True)
                self.thread.start()
            self.changed.notify()

    def _count(self, noted: Noted, now: float) -> None:
        kind = (noted.code, noted.device, noted.table)
        minute = self.minutes.get(kind)
        if minute is not None:
            minute.last = noted
            minute.times += 1
        elif len(self.minutes) < MOST_KINDS:
            self.minutes[kind] = Minute(now, noted)
            self.due.append((noted, 1))
        else:
            self.beyond += 1

    def _run(self) -> None:
        while True:
            with self.changed:
                while not (ready := self._ready(time.monotonic())):
                    ends = min((minute.began + self.together for minute in self.minutes.values()), default=None)
                    self.changed.wait(None if ends is None else max(0.01, ends - time.monotonic()))
            try:
                self.write(ready)
            except DatabaseError as error:
                log.error("significant_events_not_recorded", events=len(ready), error=str(error))

    def _ready(self, now: float) -> list[tuple[Noted, int]]:
        """What is to be written now: firsts, and what came after them in minutes that are over."""
        ready, self.due = self.due, []
        for kind, minute in list(self.minutes.items()):
            if now - minute.began >= self.together:
                if minute.times:
                    ready.append((minute.last, minute.times))
                    minute.began, minute.times = now, 0
                else:
                    del self.minutes[kind]
        if self.beyond and len(self.minutes) < MOST_KINDS:
            ready.append((Noted("more_like_these", "", "", None), self.beyond))
            self.beyond = 0
        return ready


def record(noted: list[tuple[Noted, int]]) -> None:
    """Put these on record, each with how often it came."""
    at = timezone.now()
    SignificantEvent.objects.bulk_create(
        SignificantEvent(
            recorded_at=at, code=each.code, table=each.table[:64], device=each.device, detail=_detail(each, times)
        )
        for each, times in noted
    )


def _detail(noted: Noted, times: int) -> dict[str, Any]:
    if times == 1:
        return {} if noted.round is None else {"round": noted.round}
    return {"times": times} | ({} if noted.round is None else {"last_round": noted.round})


def _record_aside(noted: list[tuple[Noted, int]]) -> None:
    try:
        record(noted)
    finally:
        connections.close_all()  # the notebook's thread is idle for long


NOTEBOOK = Notebook(_record_aside)
note = NOTEBOOK.note
