"""Devices and their keys: who may post for which tables. A key is shown once; only its digest is kept."""

import re
from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from accounting.services import audit
from devices.intake import contact, directory
from devices.intake.directory import key_digest
from devices.models import Device
from tables.queries.set_up import table_ids

DEVICE_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
DEMO = "demo-"


class EnrolmentRefused(Exception):
    """What was asked for about a device cannot be done; `field` is what was given wrongly."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field = field


@transaction.atomic
def enrol(code: str, tables: Collection[str], *, key: str, by: str, at: datetime) -> Device:
    """A new device that posts for these tables with this key. Raises EnrolmentRefused."""
    if not DEVICE_CODE.fullmatch(code) or code.startswith(DEMO):
        raise EnrolmentRefused(
            "code", f"{code!r} is no code for a device: at most 80 letters, digits and . _ -, not beginning with {DEMO}"
        )
    ids = _ids(tables)
    device, is_new = Device.objects.get_or_create(
        code=code, defaults={"key_digest": key_digest(key), "enrolled_at": at}
    )
    if not is_new:
        raise EnrolmentRefused("code", f"there is a device {code} already; it posts for {', '.join(_codes(device))}")
    device.tables.set(ids)
    _recorded(by, "enrol device", code, at, before={}, after={"tables": sorted(tables)})
    return device


@transaction.atomic
def renew(code: str, tables: Collection[str], *, key: str, by: str, at: datetime) -> Device:
    """Another key for a device, and other tables where any are named; the key before ends."""
    device = _locked(code)
    before, ids = _codes(device), _ids(tables) if tables else None
    device.key_digest = key_digest(key)
    device.save(update_fields=["key_digest"])
    if ids is not None:
        device.tables.set(ids)
    _recorded(by, "renew device key", code, at, before={"tables": before}, after={"tables": _codes(device)})
    return device


@transaction.atomic
def withdraw(code: str, *, by: str, at: datetime) -> None:
    """End the key of a device; what it posted stays."""
    device = _locked(code)
    if device.key_digest is None:
        raise EnrolmentRefused("code", f"device {code} has no key")
    device.key_digest = None
    device.save(update_fields=["key_digest"])
    contact.forget([device.pk])
    _recorded(by, "withdraw device key", code, at, before={"key": "good"}, after={"key": "withdrawn"})


def _locked(code: str) -> Device:
    device = Device.objects.select_for_update(no_key=True).filter(code=code).first()
    if device is None:
        raise EnrolmentRefused("code", f"there is no device {code}")
    return device


def _codes(device: Device) -> list[str]:
    return sorted(device.tables.values_list("code", flat=True))


def _ids(tables: Collection[str]) -> list[int]:
    known = table_ids()
    if not tables:
        raise EnrolmentRefused("tables", "a device posts for one table at least")
    for code in tables:
        if code not in known:
            raise EnrolmentRefused("tables", f"there is no table {code}")
    return [known[code] for code in tables]


def _recorded(
    by: str, action: str, code: str, at: datetime, *, before: dict[str, object], after: dict[str, object]
) -> None:
    audit.record(at=at, actor=by, action=action, subject=f"device {code}", detail={"before": before, "after": after})
    transaction.on_commit(directory.forget)
