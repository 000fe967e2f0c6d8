"""Whether a process gets on, for who watches it from outside: it touches a file whenever it has done some of its work.

    python -m jackpot.config.alive settle        # 0 while it does, 1 with a line when it does not

A settling worker touches it with every sweep that reached the database, beat with everything that it handed to the broker, a
process for long work while it is at a task, or had one within the last seconds: there is one every two.
"""

import argparse
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from jackpot.config.data_folder import DataFolder

WATCHED = ("settle", "work", "beat")
WITHIN_SECONDS = 30.0
IDLE_SECONDS = 15.0
LOOK_SECONDS = 2.0


def file_of(role: str) -> Path:
    """What a process of this role touches."""
    return DataFolder().path / f"alive.{role}"


def watch(role: str) -> None:
    """Have a Celery process of this role touch its file; a settling worker does so itself."""
    if role in WATCHED:
        with suppress(OSError):
            file_of(role).parent.mkdir(parents=True, exist_ok=True)
    if role == "beat":
        from celery.signals import after_task_publish

        after_task_publish.connect(_touch_for_beat)
    elif role == "work":
        from celery.signals import worker_process_init

        worker_process_init.connect(_watch_this_child)


def _touch(file: Path) -> None:
    with suppress(OSError):
        file.touch()


def _touch_for_beat(**_: Any) -> None:
    _touch(file_of("beat"))


def _watch_this_child(**_: Any) -> None:
    from celery.signals import task_postrun, task_prerun

    at_work = threading.Event()
    ended_at = [time.monotonic()]

    def begin(**_: Any) -> None:
        at_work.set()

    def end(**_: Any) -> None:
        ended_at[0] = time.monotonic()
        at_work.clear()

    def look() -> None:
        while True:
            if at_work.is_set() or time.monotonic() - ended_at[0] < IDLE_SECONDS:
                _touch(file_of("work"))
            time.sleep(LOOK_SECONDS)

    task_prerun.connect(begin, weak=False)
    task_postrun.connect(end, weak=False)
    threading.Thread(target=look, name="alive", daemon=True).start()


def main(argv: list[str]) -> int:
    """Look at the file of a role."""
    parser = argparse.ArgumentParser(prog="python -m jackpot.config.alive", description="whether a process gets on")
    parser.add_argument("role", choices=WATCHED)
    parser.add_argument("--within", type=float, default=WITHIN_SECONDS, metavar="SECONDS")
    wanted = parser.parse_args(argv)
    try:
        ago = time.time() - file_of(wanted.role).stat().st_mtime
    except OSError as error:
        print(f"{wanted.role} has never been seen at work ({error.strerror})", file=sys.stderr)
        return 1
    if ago > wanted.within:
        print(f"{wanted.role} was last seen at work {ago:.0f} s ago", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
