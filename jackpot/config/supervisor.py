"""Keeps children running: whoever dies is started again, at once the first time, more slowly when it keeps dying."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from jackpot.config.embedded_postgres import DatabaseProblem, EmbeddedPostgres
from jackpot.config.processes import Child, State, end

TICK_SECONDS = 0.25
SETTLED_SECONDS = 30.0  # who lived this long starts with a clean record
LONGEST_PAUSE_SECONDS = 8.0  # a killed child is back within fifteen, its own start included
LOG_CHECK_SECONDS = 60.0


@dataclass(slots=True)
class Watched:
    """A child with its record: when it was started, how often it died young, when it is due again."""

    child: Child
    started: float
    deaths: int = 0
    due: float | None = None


class Supervisor:
    """Children and the embedded server under one watch. `say` gets one line per event."""

    def __init__(
        self, server: EmbeddedPostgres | None, say: Callable[[str], None], note: Callable[[State], None]
    ) -> None:
        self.server = server
        self.say = say
        self.note = note
        self.state = State()
        self.watched: list[Watched] = []
        self.retry_server = 0.0
        self.server_failures = 0
        self.look_at_logs = 0.0

    def add(self, child: Child) -> None:
        """Start a child and watch it from now on."""
        self.watched.append(Watched(child, time.monotonic()))
        self._start(self.watched[-1])

    def look(self) -> None:
        """One look at everybody; to be called every TICK_SECONDS."""
        self._look_at_server()
        now = time.monotonic()
        for watched in self.watched:
            if watched.due is not None:
                if now >= watched.due:
                    self._start(watched)
                    self.say(
                        f"{watched.child.name} is started again as process {self.state.children[watched.child.name].pid}"
                    )
                continue
            if (death := watched.child.death()) is None:
                continue
            if watched.child.once and death == "ended with exit code 0":
                self.say(f"{watched.child.name} has finished")
                self.watched.remove(watched)
                self.state.children.pop(watched.child.name, None)
                self.note(self.state)
                return  # the list has changed; the next look comes soon
            watched.deaths = 0 if now - watched.started > SETTLED_SECONDS else watched.deaths + 1
            pause = min(LONGEST_PAUSE_SECONDS, 0.5 * (2**watched.deaths - 1))
            watched.due = now + pause
            self.say(
                f"{watched.child.name} {death}"
                + (f"; again in {pause:.1f} s, see {watched.child.log}" if pause else "")
            )
        if now >= self.look_at_logs:
            self.look_at_logs = now + LOG_CHECK_SECONDS
            for watched in self.watched:
                watched.child.trim_log()

    def _start(self, watched: Watched) -> None:
        watched.started, watched.due = time.monotonic(), None
        self.state.children[watched.child.name] = watched.child.start()
        self.note(self.state)

    def _look_at_server(self) -> None:
        if self.server is None or self.server.process() is not None or time.monotonic() < self.retry_server:
            return
        self.say("postgres has died")
        try:
            self.server.start()
        except DatabaseProblem as problem:
            # After a kill its old processes hold its memory for a moment: look again soon, then less and less often.
            self.server_failures += 1
            self.retry_server = time.monotonic() + min(LONGEST_PAUSE_SECONDS, 0.5 * 2**self.server_failures)
            self.say(f"postgres does not start, trying again: {problem}")
            return
        self.server_failures = 0
        process = self.server.process()
        self.say(f"postgres is started again as process {process.pid if process else 'unknown'}")

    def failing(self) -> Child | None:
        """A child that keeps dying, if there is one: what a start that does not get ready should show."""
        return next((watched.child for watched in self.watched if watched.deaths > 1), None)

    def stop(self) -> None:
        """End every child, then the server."""
        alive = [process for known in self.state.children.values() if (process := known.alive()) is not None]
        end(alive)
        for watched in self.watched:
            if watched.child.process is not None:
                watched.child.process.wait(5)
        if self.server is not None:
            self.server.stop()
