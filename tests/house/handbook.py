"""The commands of docs/running.md, as they stand there: who runs one gives its words, and what the page leaves open."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping

from tests.faults.hall import ROOT

PAGE = ROOT / "docs" / "running.md"
PROGRAMS = "python3? psql openssl uvicorn celery pg_[a-z]+ pgbackrest docker podman curl GET POST"
COMMAND = re.compile(rf"`((?:{'|'.join(PROGRAMS.split())})(?:\s[^`]*)?)`", re.IGNORECASE)
EXCUSED = {
    "pg_basebackup": "named as one of a server's own tools; its standby is made with it (tests/faults/replica.py)",
}
"""What stands on the page and is not run as it stands, with the reason."""


def commands() -> list[str]:
    """Every command on the page, once, in order; a line's end is a blank."""
    found = (" ".join(words.split()) for words in COMMAND.findall(PAGE.read_text("utf-8")))
    return list(dict.fromkeys(found))


class Handbook:
    """What was run of it so far."""

    def __init__(self) -> None:
        self.run: set[str] = set()

    def words(self, command: str, given: Mapping[str, str] | None = None) -> list[str]:
        """What to run for a command of the page, with what is given in place of its capitals; KeyError where it is none."""
        if command not in commands():
            raise KeyError(f"the handbook has no `{command}`")
        self.run.add(command)
        words = shlex.split(command)
        for name, value in (given or {}).items():
            assert any(name in word for word in words), f"`{command}` says nothing of {name}"
            words = [word.replace(name, value) for word in words]
        if words[0] in ("python3", "python"):
            words[0] = sys.executable
        elif words[0] in ("celery", "uvicorn"):
            words[:1] = [sys.executable, "-m", words[0]]
        return words

    def left(self) -> list[str]:
        """What is on the page, was not run, and has no excuse."""
        return [command for command in commands() if command not in self.run and command not in EXCUSED]
