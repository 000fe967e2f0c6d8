"""Who may post for which table, and under which terms a message is read: kept for a second, so a post costs no query."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from django.conf import settings

from devices.models import Device
from tables.rules.games import Games
from tables.rules.table import TableTerms
from tables.services import terms

FRESH_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Caller:
    """A device that proved who it is: the tables it may post for, by code."""

    id: int
    code: str
    tables: frozenset[str]

    @property
    def is_authenticated(self) -> bool:
        """Devices stand where REST framework expects a user."""
        return True


@dataclass(frozen=True, slots=True)
class Address:
    """Where messages of a table belong."""

    table_id: int
    stream_id: int


@dataclass(frozen=True, slots=True)
class Directory:
    """One reading of tables and devices."""

    terms: Mapping[str, TableTerms]
    games: Games
    addresses: Mapping[str, Address]
    callers: Mapping[bytes, Caller]
    demo_callers: Mapping[bytes, Caller]
    read_at: float


_kept: list[Directory] = []  # one at most
_reading = Lock()


def current() -> Directory:
    """The directory, not older than a second. One thread reads it anew, the others wait for it."""
    with _reading:
        found = kept()
        if found is None:
            found = _read()
            _kept[:] = [found]
        return found


def kept() -> Directory | None:
    """The directory where it can be had without reading the database and without waiting; else None."""
    found = next(iter(_kept), None)
    return found if found is not None and time.monotonic() - found.read_at < FRESH_SECONDS else None


def forget() -> None:
    """Read anew at the next call."""
    _kept.clear()


def caller(authorization: str, directory: Directory) -> Caller | None:
    """The device behind an `Authorization: Api-Key KEY` header; None where the key is missing, unknown or not for us."""
    scheme, _, key = authorization.partition(" ")
    if scheme.lower() != "api-key":
        return None
    digest = key_digest(key.strip())
    found = directory.callers.get(digest)
    return directory.demo_callers.get(digest) if found is None and settings.DEMO else found


def key_digest(key: str) -> bytes:
    """What is kept of a key."""
    return sha256(key.encode()).digest()


def _read() -> Directory:
    read_at = time.monotonic()
    found = terms.now_in_force()
    standing = {code: item.terms for code, item in found.items()}
    before = next(iter(_kept), None)
    callers: dict[bytes, Caller] = {}
    demo_callers: dict[bytes, Caller] = {}
    for device in Device.objects.prefetch_related("tables"):
        known = Caller(device.pk, device.code, frozenset(table.code for table in device.tables.all()))
        for keys, digest in ((callers, device.key_digest), (demo_callers, device.demo_key_digest)):
            if digest is not None:
                keys[bytes(digest)] = known
    return Directory(
        terms=standing,
        games=Games(standing, before.games if before else None),
        addresses={code: Address(item.table_id, item.stream_id) for code, item in found.items()},
        callers=callers,
        demo_callers=demo_callers,
        read_at=read_at,
    )
