"""The one way in which a database is named: an address as PostgreSQL's own library reads it, in both its notations.

    postgresql://user:password@h1:5432,h2:5433/database?target_session_attrs=read-write&sslmode=verify-full&sslrootcert=FILE
    postgresql://user:password@/database?host=h1,h2&port=5432,5433&…

Django, sessions beside Django's (`accounting.connecting`) and the broker on PostgreSQL connect with what is read here, so that
none of them knows another server, or trusts it for less, than the others.
"""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

SCHEMES = ("postgresql", "postgres", "pgsql")

CUT_OFF: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 2, "keepalives_interval": 1, "keepalives_count": 3, "tcp_user_timeout": 3_000,
}  # fmt: skip
"""How soon a server that is cut off is given up, unless the address says otherwise; seconds, and milliseconds."""

BESIDE = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
"""What Django's settings know by a name of their own."""


class WrongAddress(ValueError):
    """An address that names no database which could be connected to; the words say why."""


def read(url: str) -> dict[str, Any]:
    """What an address says, by the names that PostgreSQL's library gives it. WrongAddress where it says nothing."""
    scheme, named, rest = url.partition("://")
    if not named:
        raise WrongAddress("cannot be read (it has no ://)")
    if scheme not in SCHEMES:
        raise WrongAddress("names no PostgreSQL")
    try:
        said = conninfo_to_dict(f"postgresql://{rest}")
    except psycopg.Error as error:
        raise WrongAddress(f"cannot be read ({str(error).strip().splitlines()[0]})") from None
    ports = str(said.get("port", "")).split(",")
    hosts = str(said.get("hostaddr") or said.get("host", "")).split(",")
    if not all(port.isdigit() or not port for port in ports):
        raise WrongAddress("cannot be read (a port is a number)")
    if len(ports) not in (1, len(hosts)):
        raise WrongAddress(f"cannot be read ({len(ports)} ports for {len(hosts)} hosts)")
    if not said.get("dbname") and not said.get("service"):
        raise WrongAddress("names no database")
    return dict(said)


def for_django(url: str) -> dict[str, Any]:
    """An address as one of Django's DATABASES."""
    said = read(url)
    known = {ours: str(said.pop(theirs, "")) for theirs, ours in BESIDE.items()}
    return {"ENGINE": "django.db.backends.postgresql", **known, "OPTIONS": {**CUT_OFF, **said}}


def conninfo(url: str, more: Mapping[str, Any] | None = None) -> str:
    """The same as one string for whoever connects without Django; `more` where the address does not say otherwise."""
    return make_conninfo(**{**CUT_OFF, **(more or {}), **read(url)})
