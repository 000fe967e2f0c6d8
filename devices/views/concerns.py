"""What devices did that they should not have, as alerts on the floor: an hour long, the newest of each kind.

A lock whose result is overdue is shown for as long as it is.
"""

from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse

from accounting.shell.templatetags.pages import words
from devices import queries
from devices.intake import lost_locks
from devices.intake.deals import SAME_DEAL_TWICE
from devices.intake.significant import NOT_YOUR_TABLE, REFERENCE_REUSED
from tables.addresses import round_address

CONCERNS = (SAME_DEAL_TWICE, REFERENCE_REUSED, NOT_YOUR_TABLE)
NEWS = timedelta(hours=1)
COUNTED = 100  # so many of a kind are counted, more are "over"


def concerns(now: datetime, *, sees_devices: bool) -> list[dict[str, Any]]:
    """One alert a kind; it leads to the round that came twice, or whoever `sees_devices` to their events."""
    events_address = reverse("devices") + "#events" if sees_devices else ""
    alerts = _lost_locks(now)
    for code in CONCERNS:
        events = queries.recent_events(code, since=now - NEWS, limit=COUNTED)
        if not events:
            continue
        newest = events[0]
        times = sum(int(event.detail.get("times", 1)) for event in events)
        same = newest.detail.get("same_as")
        alerts.append({
            "key": f"{code}-{newest.pk}",
            "kind": "warn",
            "title": words(code) + (f", {times} times" if times > 1 else ""),
            "detail": f"{newest.table}: {newest.detail['round']} is {same} again," if same
            else f"{newest.device} at {newest.table},",
            "age": max(0, int((now - newest.recorded_at).total_seconds())),
            "after": " ago",
            "address": round_address(newest.table, newest.detail["round"]) if same else events_address,
        })  # fmt: skip
    return alerts


def _lost_locks(now: datetime) -> list[dict[str, Any]]:
    """Locks whose results are overdue, as one alert that leads to the oldest."""
    found = lost_locks.lost(now)
    if not found:
        return []
    oldest, many = found[0], len(found)
    return [{
        "key": f"{lost_locks.LOCK_WITHOUT_RESULT}-{many}-{oldest.message_id}",
        "kind": "warn",
        "title": words(lost_locks.LOCK_WITHOUT_RESULT) + (f", {many} rounds" if many > 1 else ""),
        "detail": f"{oldest.table}: {oldest.round} was locked",
        "age": int((now - oldest.recorded_at).total_seconds()),
        "after": " ago",
        "address": round_address(oldest.table, oldest.round),
    }]  # fmt: skip
