"""A process that carries levels from link to link and dies of it, as often as it is told.

    python -m tests.faults.carrier

Each line it reads is a number and a transfer's ends: a child does that transfer and is killed (SIGKILL) right before it waits
for the server the so-manieth time, so between two statements, inside a COPY, or with the commit under way. Says `died`, or
`done` where the transfer needed fewer. A number below zero lets the child go on with transfers there and back until it is
killed from outside, so many milliseconds after its first.
"""

import os
import signal
import sys
import time
from datetime import timedelta
from typing import Any

import django

PARTS = ["display", "reserve", "overflow"]


def carry(source: str, target: str) -> None:
    """One transfer, as the office would have it done. Clocks of all carriers agree, and go on."""
    from django.db import transaction

    from jackpot.rules.decision import Act
    from jackpot.services import acts
    from tests.services.house import RECEIVED

    at = RECEIVED + timedelta(seconds=time.monotonic())
    with transaction.atomic():
        acts.perform(Act("level.transfer", source, at.isoformat(), {"to": target, "parts": PARTS}), at=at, by="carrier")


def die_before(wait: int) -> None:
    """Let this process be killed when it waits for the server for this time."""
    import psycopg

    real, waited = psycopg.Connection.wait, 0

    def waiting(self: Any, *arguments: Any, **more: Any) -> Any:
        nonlocal waited
        waited += 1
        if waited == wait:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *arguments, **more)

    psycopg.Connection.wait = waiting  # type: ignore[method-assign]


def child(number: int, source: str, target: str, begun: int) -> None:
    """What the child does; `begun` is told after the first transfer."""
    if number > 0:
        from django.db import connection

        connection.ensure_connection()
        die_before(number)
        carry(source, target)
        return
    while True:
        carry(source, target)
        os.write(begun, b".")
        carry(target, source)


def main() -> None:
    """Have children do as each line says."""
    django.setup()
    import tests.services.house  # noqa: F401 - a child has everything at hand

    print("ready", flush=True)
    for line in sys.stdin:
        number, source, target = line.split()
        heard, begun = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                child(int(number), source, target, begun)
            except BaseException as error:
                print(f"failed: {error!r}".splitlines()[0], flush=True)
                os._exit(1)
            os._exit(0)
        os.close(begun)
        if int(number) < 0:
            os.read(heard, 1)
            time.sleep(-int(number) / 1000)
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        os.close(heard)
        if os.WIFSIGNALED(status):
            print("died", flush=True)
        elif not os.WEXITSTATUS(status):
            print("done", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
    main()
