"""What a later version of the program recorded on a stream is gone on with by a later version only (docs/updates.md).

Hosts are updated one after the other, so a worker and a web process of the version before may run beside those of the next.
Here the same house is first the later version's, then that of one that knows a kind less or an edition less.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from accounting.rules import edition
from accounting.rules.edition import LaterVersion
from accounting.rules.events import KINDS
from accounting.services import ledger
from devices.intake import settling
from tests.services import auditor
from tests.services.house import ALONE, LINKED, RECEIVED, House, message, rows, value, verify

LINK = "ms-mg01"
LATER = {
    "a kind": f"LaterVersion: stream {LINK} has an event of the unknown kind level.adjust: a later version of this program"
    " recorded it, and this one waits for its update",
    "an edition": f"LaterVersion: stream {LINK} has events of rules edition {edition.CURRENT + 1}, of which {edition.CURRENT} are"
    " known: a later version of this program recorded it, and this one waits for its update",
}  # fmt: skip


class Versions:
    """Which version of the program is at work: two processes, of which each has seen what it has seen."""

    def __init__(self, differ: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.differ = differ
        self.patch = monkeypatch
        self.seen: dict[str, dict[int, int]] = {"before": {}, "later": {}}

    def is_later(self) -> None:
        """The one that knows all."""
        if self.differ == "an edition":
            self.patch.setattr(edition, "CURRENT", EDITION + 1)
        self.patch.setattr(ledger, "KINDS", KINDS)
        self.patch.setattr(ledger, "_seen", self.seen["later"])

    def is_before(self) -> None:
        """The one that was there before; its process has run all the time."""
        self.patch.setattr(edition, "CURRENT", EDITION)
        self.patch.setattr(ledger, "_seen", self.seen["before"])
        if self.differ == "a kind":
            self.patch.setattr(ledger, "KINDS", tuple(kind for kind in KINDS if kind != "level.adjust"))


EDITION = edition.CURRENT


@pytest.fixture(params=LATER)
def versions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Versions:
    """What the two versions differ in."""
    return Versions(request.param, monkeypatch)


def played_by_both(house: House, versions: Versions) -> None:
    """The version before settles, the later one records what the other does not know, and goes on with a round."""
    versions.is_before()
    house.play(message("R-1"))
    versions.is_later()
    later = house.now + timedelta(seconds=1)
    for cents in (5, -5):
        house.act("level.adjust", f"{LINK}/major", at=later, part="reserve", cents=cents, reason="correction")
    house.play(message("R-2"))
    versions.is_before()


def recorded() -> list[tuple[Any, ...]]:
    """All that stands on streams."""
    return rows("SELECT stream_id, sequence, kind, rules, hash FROM accounting_event ORDER BY stream_id, sequence")


def test_a_worker_of_the_version_before_leaves_such_a_stream_and_says_why(
    busy_house: House, versions: Versions
) -> None:
    played_by_both(busy_house, versions)
    before = recorded()
    busy_house.post(message("R-3"), message("R-4", table=ALONE))
    for _ in range(8):
        with pytest.raises(LaterVersion):
            settling.settle_next(busy_house.stream(LINK), clock=lambda: RECEIVED)
    assert recorded() == before
    assert value("SELECT count(*) FROM tables_hold") == 0
    assert value("SELECT coalesce(max(attempts), 0) FROM devices_attempt") == 0
    assert rows("SELECT code, reason FROM devices_stoppage JOIN accounting_stream ON id = stream_id") == [
        (LINK, LATER[versions.differ])
    ]
    settling.settle_next(busy_house.stream(ALONE), clock=lambda: RECEIVED)
    assert len(recorded()) == len(before) + 1, "other streams are settled as ever"
    versions.is_later()
    busy_house.settle()
    assert busy_house.order()[:2] == ["R-1", "R-2"]
    assert busy_house.waiting() == 0
    assert rows("SELECT * FROM devices_stoppage") == []
    verify()
    auditor.everything_agrees()


def test_one_that_has_just_started_looks_at_all_that_stands_there(busy_house: House, versions: Versions) -> None:
    played_by_both(busy_house, versions)
    ledger.forget()
    busy_house.post(message("R-3"))
    with pytest.raises(LaterVersion):
        settling.settle_next(busy_house.stream(LINK), clock=lambda: RECEIVED)


def test_people_are_told_and_nothing_is_recorded(busy_house: House, versions: Versions) -> None:
    """Over the API and on the page that asks for the act: 503, in words; the host that is updated already takes it."""
    played_by_both(busy_house, versions)
    before = recorded()
    user = User.objects.create(username="sue")
    user.groups.add(Group.objects.get_or_create(name="supervisor")[0])
    client = Client(raise_request_exception=False)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    wanted = {"act": "table.close", "subject": LINKED, "payload": {}, "reason": "correction"}
    answer = client.post("/api/v1/proposals", json.dumps(wanted), content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (503, "later_version")
    assert f"LaterVersion: {answer.json()['detail']}" == LATER[versions.differ]
    page = client.post("/decisions/new/table.close/", {"subject": LINKED, "reason": "fire drill"})
    assert page.status_code == 503
    assert "This server is being updated" in page.content.decode()
    assert f"Nothing was changed: {answer.json()['detail']}." in page.content.decode()
    assert recorded() == before
    assert value("SELECT count(*) FROM office_proposal") == 0
    versions.is_later()
    answer = client.post("/api/v1/proposals", json.dumps(wanted), content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert len(recorded()) == len(before) + 1
