"""A real settling worker whose Mississippi Stud cannot bear two rounds: CRASH raises, KILL ends the process at once.

python -m tests.faults.poisoned
"""

import os
import sys
from typing import Any

from tables.rules.message import RoundMessage
from tables.rules.mississippi_stud import MississippiStud

DEAD = 77

_deal = MississippiStud.deal


def deal(self: MississippiStud, sent: RoundMessage, ruling: Any) -> Any:
    """As ever, but for the two."""
    if sent.round == "CRASH":
        raise ZeroDivisionError("cannot divide this pot")
    if sent.round == "KILL":
        os._exit(DEAD)  # as a segmentation fault or the kernel's memory killer would end it: nothing is cleaned up
    return _deal(self, sent, ruling)


if __name__ == "__main__":
    MississippiStud.deal = deal  # type: ignore[method-assign, assignment]
    from celery.bin.celery import main

    sys.argv = ["celery", "-A", "jackpot.config.celery", "worker", "-Q", "settle", "-P", "solo", "--without-gossip"]
    sys.argv += ["--without-mingle", "--without-heartbeat", "--loglevel", "ERROR"]
    main()
