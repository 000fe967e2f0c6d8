"""Keys and people for demo mode: derived from the installation's secret, so a second start gives the same ones."""

import hmac
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounting.people.services import demo
from accounting.rules.roles import ROLES
from devices.intake import contact
from devices.intake.directory import key_digest
from devices.models import Device
from tables.queries.set_up import table_ids


@transaction.atomic
def ensure() -> dict[str, Any]:
    """One device and key a table, one person a role; the `devices` and `people` of demo.json (CONTRACT §5)."""
    devices = {}
    for code, table_id in table_ids().items():
        key = _derived(f"device key of {code}")
        device, _ = Device.objects.update_or_create(
            code=f"demo-{code}",
            defaults={"demo_key_digest": key_digest(key)},
            create_defaults={"demo_key_digest": key_digest(key), "enrolled_at": timezone.now()},
        )
        device.tables.set([table_id])
        devices[code] = {"api_key": key}
    retire()
    return {"devices": devices, "people": [_person(role, title) for role, title in ROLES.items()]}


def retire() -> None:
    """Listen for no device of the demo until it gives a sign of life again: whoever used its key before this start is gone."""
    contact.forget(Device.objects.filter(demo_key_digest__isnull=False).values_list("pk", flat=True))


def _person(role: str, title: str) -> dict[str, Any]:
    password = f"{role}-{_derived(f'password of {role}')[:8]}"
    token = _derived(f"token of {role}")
    demo.ensure(role, last_name=title, role=role, password=password, token=token, at=timezone.now())
    return {"username": role, "password": password, "token": token, "roles": [role]}


def _derived(purpose: str) -> str:
    return hmac.new(settings.SECRET_KEY.encode(), purpose.encode(), sha256).hexdigest()[:32]
