"""Databases with their roles, to try what these can do: the embedded server, and one that `docker/roles.sql` has furnished."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from jackpot.config.database_roles.privileges import ROLES
from jackpot.config.embedded_postgres import BROKER, OWNER, EmbeddedPostgres, find_binaries

ROOT = Path(__file__).resolve().parents[2]
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Place:
    """A migrated database and whose its tables are."""

    server: EmbeddedPostgres
    owner: str

    def connect(self, role: str, database: str = "jackpot") -> psycopg.Connection[Any]:
        """A connection of a role's, committing at once."""
        return psycopg.connect(host=str(self.server.socket), user=role, dbname=database, autocommit=True)

    @contextmanager
    def somebody_to_end(self) -> Iterator[None]:
        """A session of the owner's that somebody could try to end."""
        with self.connect(self.owner):
            yield

    def rows(self, statement: str, *params: Any, role: str = OWNER, database: str = "jackpot") -> Rows:
        """What a statement gives, asked by the superuser."""
        with self.connect(role, database) as connection:
            return connection.execute(statement.encode(), params).fetchall()


def embedded(server: EmbeddedPostgres) -> str:
    """Migrated as `up` and `manage.py migrate` do it; the owner."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "CELERY_BROKER_URL")
    }
    _migrate({**environment, "JACKPOT_DATA": str(server.folder.parent)})
    return OWNER


def furnished_by_hand(server: EmbeddedPostgres) -> str:
    """Roles by `docker/roles.sql`, migrated with the owner's password; the owner. The embedded server's own are taken away."""
    without_roles(server)
    passwords = [word for role in ("owner", "service", "settle", "auditor") for word in ("-v", f"{role}=secret")]
    where = ["-h", str(server.socket), "-U", OWNER, "-d", "jackpot"]
    psql = [str(find_binaries() / "psql"), "-q", "-v", "ON_ERROR_STOP=1", *where, *passwords]
    subprocess.run([*psql, "-f", "docker/roles.sql"], cwd=ROOT, check=True)
    # As an installation of 0.1.0 has them: whatever the owner makes is the service's to change.
    with server.connect("jackpot") as connection:
        connection.execute("""
            ALTER DEFAULT PRIVILEGES FOR ROLE jackpot_owner IN SCHEMA public
                GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO jackpot_service, jackpot_settle;
            ALTER DEFAULT PRIVILEGES FOR ROLE jackpot_owner IN SCHEMA public
                GRANT USAGE, SELECT ON SEQUENCES TO jackpot_service, jackpot_settle;
            ALTER DEFAULT PRIVILEGES FOR ROLE jackpot_owner IN SCHEMA public GRANT SELECT ON TABLES TO jackpot_auditor;
        """)
    _migrate({**os.environ, "DATABASE_URL": server.url_of("jackpot_owner")})
    return "jackpot_owner"


def without_roles(server: EmbeddedPostgres) -> None:
    """The server as one of 0.1.0 left it: its owner, and nobody else."""
    with server.connect("jackpot") as inside:
        inside.execute("DROP FUNCTION IF EXISTS end_onlookers(interval)")
    for role in map(sql.Identifier, ROLES):
        for database in ("jackpot", BROKER):
            with server.connect(database) as inside:
                inside.execute(sql.SQL("DROP OWNED BY {}").format(role))
        with server.connect() as connection:
            connection.execute(sql.SQL("DROP ROLE {}").format(role))


def _migrate(environment: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, check=True, env={**environment, "JACKPOT_NO_VENV": "1"})
