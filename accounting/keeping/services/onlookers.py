"""Whoever only reads and holds a snapshot for too long is ended: every row that changes often grows dearer meanwhile."""

from dataclasses import dataclass

import structlog

from accounting.statements import execute

log = structlog.get_logger()

# Where the roles are somebody else's there is no such function, and nobody to end.
THERE = "SELECT to_regprocedure('public.end_onlookers(interval)') IS NOT NULL"
END = "SELECT pid, role, seconds, address, ended FROM end_onlookers(make_interval(secs => %s))"


@dataclass(frozen=True, slots=True)
class Onlooker:
    """A session that was ended: whose, and how long its transaction had lasted."""

    pid: int
    role: str
    seconds: float
    address: str


def end(*, after_seconds: float) -> list[Onlooker]:
    """End the sessions of auditors that have held a snapshot longer than so many seconds; those that were ended."""
    if execute(THERE) != [(True,)]:
        return []
    ended = [Onlooker(*row[:4]) for row in execute(END, [after_seconds]) if row[4]]
    for each in ended:
        log.warning(
            "onlooker_ended", pid=each.pid, role=each.role, seconds=round(each.seconds, 1), address=each.address
        )
    return ended
