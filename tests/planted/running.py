"""A copy of the tree with a PostgreSQL of its own, in which one fault after another is planted and tried."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from jackpot.config.embedded_postgres import EmbeddedPostgres
from tests.planted.choosing import Timed
from tests.planted.faults import ROOT, Fault

Inside = tuple[Fault, list[str], dict[str, Any]]  # a fault, the tests to try, and the line that its outcome completes
LEFT_OUT: Final = shutil.ignore_patterns(".git", ".venv", ".jackpot", "*_cache", ".hypothesis", "test-results")
MIGRATED: Final = "migrated"
ALL_PASSED, NOTHING_RUN = 0, 5
A_TEST, MORE = 180, 300  # seconds that a test, and beside its tests a run, may take before it hangs


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of a run: who saw it (None: nobody), in how many seconds."""

    by: str | None
    seconds: float
    why: str = ""


class Copy:
    """The tree and its server, under a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = folder / "tree"
        self.server = EmbeddedPostgres(folder / "postgres", durable=False)
        self._moment = time.time()

    def __enter__(self) -> Copy:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o711)
        shutil.rmtree(self.tree, ignore_errors=True)
        shutil.copytree(ROOT, self.tree, ignore=LEFT_OUT)
        self.server.start()
        self._migrate()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _migrate(self) -> None:
        """A database that tests copy, so that not every fault pays for migrating one."""
        with self.server.connect() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {MIGRATED}")
            connection.execute(f"CREATE DATABASE {MIGRATED}")
        url = self.server.database_url.rsplit("/", 1)[0] + f"/{MIGRATED}"
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        environment = {**os.environ, "JACKPOT_NO_VENV": "1", "JACKPOT_DATA": str(self.folder), "DATABASE_URL": url}
        subprocess.run(command, cwd=self.tree, env=environment, check=True)

    @contextlib.contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """The fault in its place while the block lasts. Its file's time is new, so that no compiled file hides it."""
        path = self.tree / fault.file
        times = path.stat()
        source = path.read_text("utf-8")
        path.write_text(fault.planted(source), "utf-8")
        self._moment += 2
        os.utime(path, (self._moment, self._moment))
        try:
            yield
        finally:
            path.write_text(source, "utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def run(self, tests: list[Timed], fault: Fault) -> Seen:
        """Run tests in their order until one fails. A fault in a migration needs databases that were migrated with it."""
        listed = self.folder / "chosen"
        listed.write_text("\n".join(test.id for test in tests), "utf-8")
        expected = sum(test.seconds for test in tests)
        kept = {} if "/migrations/" in fault.file else {"JACKPOT_TEST_MIGRATED": MIGRATED}
        files = list(dict.fromkeys(test.file for test in tests))
        return self._pytest(files, expected, {"PLANTED_CHOSEN": str(listed)} | kept)

    def run_inside(self, work: list[Inside], results: Path) -> None:
        """Plant one fault after another in one process of tests, which writes a line of each; some may be left."""
        listed = self.folder / "inside"
        listed.write_text(
            json.dumps([{"fault": asdict(fault), "tests": tests, "line": line} for fault, tests, line in work]), "utf-8"
        )
        files = sorted({test.split("::", 1)[0] for _, tests, _ in work for test in tests})
        more = {"PLANTED_INSIDE": str(listed), "PLANTED_OUT": str(results), "JACKPOT_TEST_MIGRATED": MIGRATED}
        self._pytest(["-p", "tests.planted.inside", *files], 600, more)

    def run_whole(self, files: list[str]) -> Seen:
        """Run the tests of a house as a whole."""
        return self._pytest(["--timeout", "170", *files], 600, {})

    def _pytest(self, arguments: list[str], expected: float, more: dict[str, str]) -> Seen:
        seen = self.folder / "seen"
        seen.unlink(missing_ok=True)
        temporary = self.folder / "temporary"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        environment = {
            **os.environ, **more, "PLANTED_SEEN": str(seen), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1",
            "JACKPOT_NO_VENV": "1", "JACKPOT_DATA": str(temporary), "DATABASE_URL": self.server.database_url,
            "CELERY_BROKER_URL": self.server.broker_url, "JACKPOT_TEST_POSTGRES": str(self.server.folder),
        }  # fmt: skip
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "tests.planted.chosen"]
        command += ["--timeout", str(A_TEST), "--tb", "line", *arguments]
        began = time.monotonic()
        with (self.folder / "output").open("wb") as output:
            process = subprocess.Popen(
                command, cwd=self.tree, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code: int | None = process.wait(10 * expected + MORE)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        took = round(time.monotonic() - began, 1)
        if code is None:
            return Seen("it hangs", took)
        if code in (ALL_PASSED, NOTHING_RUN):
            return Seen(None, took)
        named = seen.read_text("utf-8").splitlines() if seen.exists() else []
        by, _, why = (named[0] if named else f"pytest\tended with {code}").partition("\t")
        return Seen(by, took, why)
