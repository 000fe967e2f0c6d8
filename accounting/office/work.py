"""How an app declares long work: its `jobs.py` holds `JOBS: tuple[JobKind, ...]`, found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any, Final, Protocol

SILENT: Final = timedelta(seconds=30)
"""A running job without a sign of life for so long is lost: its worker died."""


class Cancelled(Exception):
    """Somebody asked the job to stop."""


class Progress(Protocol):
    """How far a job has come, for whoever watches it. Telling it costs nothing; it is written once a second at most."""

    @property
    def asked(self) -> Mapping[str, Any]:
        """What the job was asked to do; nothing where its kind can do one thing only."""

    def expect(self, total: int) -> None:
        """There are so many pieces of work, as far as is known now."""

    def advance(self, done: int = 1) -> None:
        """So many more are done. Raises Cancelled when somebody asked the job to stop."""

    def keep(self, file: IO[bytes], *, name: str, content_type: str) -> dict[str, Any]:
        """Keep a file for whoever asked; what the result must say of it, under `file`."""


@dataclass(frozen=True, kw_only=True)
class JobKind:
    """A kind of long work: who may start it, and the function that does it and returns its result.

    A result is a JSON object whose `summary` is one line in words; `ok` false marks a result that somebody must look at.
    A kind that must be told what to do is started on a page of its own: `address` names the page that shows such a job.
    """

    name: str
    title: str
    roles: frozenset[str]
    run: Callable[[Progress], dict[str, Any]]
    address: str = ""
