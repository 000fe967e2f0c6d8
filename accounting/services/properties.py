"""The one property this service serves: opened once, and not changed by installing another floor."""

from datetime import datetime, time
from typing import Any

from accounting.models import Property
from accounting.services import audit, ledger


class AnotherProperty(Exception):
    """The service serves a property already, and it differs in `key`."""

    def __init__(self, key: str, detail: str) -> None:
        super().__init__(f"{key}: {detail}")
        self.key = key
        self.detail = detail


def open_once(wanted: dict[str, Any], *, at: datetime, actor: str) -> bool:
    """Open the property with its accounts, or see that it is the one already there; True when it was opened.

    `wanted` has the keys of a floor's `[property]`. AnotherProperty names the first that differs.
    """
    values = wanted | {"gaming_day_starts": time.fromisoformat(wanted["gaming_day_starts"])}
    found = Property.objects.first()
    if found is None:
        Property.objects.create(**values, opened_at=at)
        ledger.open_property_accounts()
        audit.record(at=at, actor=actor, action="open property", subject=wanted["code"], detail=wanted)
        return True
    for key, value in values.items():
        there = getattr(found, key)
        if there != value:
            raise AnotherProperty(key, f"this service serves {found.code} with {key} = {there}")
    return False
