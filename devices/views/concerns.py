"""What devices did that they should not have, as alerts on the floor: an hour long, the newest of each kind."""

from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse

from accounting.templatetags.pages import words
from devices import queries
from devices.services.deals import SAME_DEAL_TWICE
from devices.services.significant import NOT_YOUR_TABLE, REFERENCE_REUSED
from tables.addresses import round_address

CONCERNS = (SAME_DEAL_TWICE, REFERENCE_REUSED, NOT_YOUR_TABLE)
NEWS = timedelta(hours=1)
COUNTED = 100  # so many of a kind are counted, more are "over"


def concerns(now: datetime) -> list[dict[str, Any]]:
    """One alert a kind; it leads to the round that came twice, or to the devices."""
    alerts = []
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
            "address": round_address(newest.table, newest.detail["round"]) if same else reverse("devices") + "#events",
        })  # fmt: skip
    return alerts
