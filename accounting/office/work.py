"""How an app declares long work: its `jobs.py` holds `JOBS: tuple[JobKind, ...]`, found by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final, Protocol

SILENT: Final = timedelta(seconds=30)
"""A running job without a sign of life for so long is lost: its worker died."""


class Cancelled(Exception):
    """Somebody asked the job to stop."""


class Kept(Protocol):
    """A file as it was kept: its name as it is given out, how many bytes it has, and the SHA-256 over them in hexadecimal."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def size(self) -> int:
        """Its bytes."""

    @property
    def sha256(self) -> str:
        """The digest as people compare it."""


class Progress(Protocol):
    """How far a job has come, for whoever watches it. Telling it costs nothing; it is written once a second at most."""

    @property
    def asked(self) -> Mapping[str, Any]:
        """What the job was asked to do; nothing where its kind can do one thing only."""

    def expect(self, total: int) -> None:
        """There are so many pieces of work, as far as is known now."""

    def advance(self, done: int = 1) -> None:
        """So many more are done. Raises Cancelled when somebody asked the job to stop."""

    def file(self, name: str, media_type: str, chunks: Iterable[bytes]) -> Kept:
        """Keep a file as part of the result: its content comes in chunks of any length, and is never held as a whole.

        It is given out once the job is done, to whoever may see the job, for as long as results are kept. Raises Cancelled
        between two chunks when somebody asked the job to stop.
        """


@dataclass(frozen=True, kw_only=True)
class JobKind:
    """A kind of long work: who may start it, and the function that does it and returns its result.

    A result is a JSON object whose `summary` is one line in words; `ok` false marks a result that somebody must look at.
    Files come with it by `Progress.file`. A kind that must be told what to do is started on a page of its own, `started_on`;
    `address` names the page that shows such a job where the page of every job does not do.

    One of a kind is done at a time; of a kind that is `for_each`, one for each person and each thing asked for. `apart` are
    the keys of `asked` that do not make it another thing.

    One that only looks things up `reads_elsewhere`, from a copy of the database if there is one (`accounting.elsewhere`): what it
    reads may be some seconds old, and it can write nothing but its files.
    """

    name: str
    title: str
    roles: frozenset[str]
    run: Callable[[Progress], dict[str, Any]]
    address: str = ""
    started_on: str = ""
    reads_elsewhere: bool = False
    for_each: bool = False
    apart: frozenset[str] = frozenset()

    def lane(self, by: str, asked: Mapping[str, Any]) -> str:
        """What two jobs have in common of which the second is not begun before the first is over."""
        if not self.for_each:
            return ""
        thing = {key: value for key, value in asked.items() if key not in self.apart}
        return sha256(json.dumps([by, thing], sort_keys=True, default=str).encode()).hexdigest()
