"""Listening for devices: one that has been heard of and falls silent closes its tables' progressives (REQUIREMENTS R22).

Being heard of again opens them. Both are events of the tables' streams and significant events that people see. A table with
several such devices is silent when all of them are; one without is not listened for. One whose devices' keys have ended opens.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction

from accounting.rules.acts import ActRefused
from accounting.rules.events import CONTACT
from accounting.statements import execute
from devices.models import Contact, SignificantEvent
from devices.queries import last_heard
from jackpot.rules.decision import Act
from tables.services import acts, terms

log = structlog.get_logger()

LOST, REGAINED = "contact_lost", "contact_regained"
HEARD = """
    WITH forgetful AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS done)
    INSERT INTO devices_contact AS contact (device_id, heard_at) SELECT %s, %s FROM forgetful
    ON CONFLICT (device_id) DO UPDATE SET heard_at = greatest(contact.heard_at, excluded.heard_at)
"""


def hear(device_id: int, *, at: datetime) -> None:
    """Note that a device gives a sign of life. It may be lost with the database: the next one comes soon."""
    execute(HEARD, [device_id, at])


def forget(device_ids: Iterable[int]) -> None:
    """Listen for these devices no more until their next sign of life: their keys ended, or others were made."""
    Contact.objects.filter(device_id__in=list(device_ids)).delete()


def heard_at(device_id: int) -> datetime | None:
    """When a device was heard of last; None where it never was."""
    return Contact.objects.filter(device_id=device_id).values_list("heard_at", flat=True).first()


@dataclass(frozen=True, slots=True)
class Silent:
    """A table whose progressive is closed because nothing is heard of it, as its events say; `last` is when it was heard."""

    table: str
    link: str | None
    last: datetime | None


def silent() -> list[Silent]:
    """The tables without contact, by code."""
    found = [(code, table) for code, table in terms.now_in_force().items() if not table.heard]
    last = last_heard() if found else {}
    return [Silent(code, table.link, last.get(table.table_id)) for code, table in found]


def silent_by_link() -> dict[str, list[str]]:
    """The codes of tables without contact by the link that they are on."""
    links: dict[str, list[str]] = {}
    for each in silent():
        if each.link is not None:
            links.setdefault(each.link, []).append(each.table)
    return links


def watch(*, at: datetime) -> list[str]:
    """Close and open the progressives of tables that fell silent or are heard of again; their codes."""
    term = timedelta(seconds=settings.JACKPOT_SILENT_SECONDS)
    last = last_heard()
    turned = []
    for code, table in terms.now_in_force().items():
        heard_at = last.get(table.table_id)
        if table.link is None:
            continue
        heard = heard_at is None or at - heard_at < term
        if heard != table.heard and _turn(code, heard=heard, last=heard_at or at, at=at):
            turned.append(code)
    return turned


def _turn(code: str, *, heard: bool, last: datetime, at: datetime) -> bool:
    """Record that a table is heard of again, or no more; False where somebody else just did."""
    act = Act(CONTACT, code, at.isoformat(), {"heard": heard, "last": last.isoformat()})
    try:
        with transaction.atomic():
            stream, sequence = acts.perform(act, at=at, by="the service")
            SignificantEvent.objects.create(
                recorded_at=at, code=REGAINED if heard else LOST, table=code,
                detail={"last_heard": last.isoformat(), "stream": stream, "sequence": sequence},
            )  # fmt: skip
    except ActRefused:
        return False
    log.warning("table_contact", table=code, heard=heard, last=last.isoformat())
    return True
