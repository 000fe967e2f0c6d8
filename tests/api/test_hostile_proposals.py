"""Whatever a proposal asks for, it is answered with a code and the place at fault: any value at any place of any act."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounting.models import AuditRecord
from accounting.office import registry
from accounting.office.models import Proposal
from accounting.people.services import tokens
from accounting.people.services.acting import Actor
from accounting.rules.roles import ACCOUNTING, ADMINISTRATOR, CAGE, CONTROLLER, MANAGER, SUPERVISOR
from tests.pages.conftest import person
from tests.rules.test_any_act import LINK, places, with_odd
from tests.services.house import House, locked, message, royal
from tests.services.test_subjects_of_acts import PAYLOADS

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, "", " ", "x", "²", "٣", "9" * 5_000, "\0", "\ud800", "e\u0301", "a\r\nb", "1_000",
    "12,50", [], {}, [[]], [{}], {"": 1}, {"a": None}, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-05:00", "2026-02-30",
    "a/b/c/d", "x" * 5_000, 2**63, -(2**63), 10**12 + 1,
)  # fmt: skip
WHOLLY = "JACKPOT_FUZZ_WHOLLY" in os.environ
"""Every odd value at every place; else one at every second place, by chance that is always the same."""
ODD_ONES = len(ODD) if WHOLLY else 1
SUBJECTS = {
    "link": "ms-mg01", "level": "ms-mg01/major", "table": "MS-101", "hit": "ms-mg01-000001", "payout": "MS-101/R-1/1/3",
    "round": "MS-101/held", "lock": "MS-101/waits", "day": "2026-11-27", "slip": "000001",
}  # fmt: skip
WHO = (SUPERVISOR, MANAGER, CAGE, ADMINISTRATOR, ACCOUNTING, CONTROLLER)


@pytest.fixture
def evening(house: House) -> dict[str, dict[str, str]]:
    """A house with something of everything, and the token of somebody of each role."""
    house.play(royal("R-1"), message("held", dealing={"method": "shuffler", "players": 5}), locked("waits"))
    for role in WHO:
        person(role, role)
        tokens.issue(role, secret=f"of {role}", by=Actor(role), at=timezone.now())
    return {role: {"Authorization": f"Bearer of {role}"} for role in WHO}


def asked(name: str) -> dict[str, Any]:
    """A proposal of an act as it should be."""
    act = registry.acts()[name]
    payload = {
        "link.file": {"link": LINK, "initial": {"major": 25_000}, "filing": "F"},
        "round.correct": {"message": message("held"), "override": ["players_mismatch"]},
    }
    return {
        "act": name, "subject": SUBJECTS.get(act.shape.subject, "x"), "payload": payload.get(name, PAYLOADS.get(name, {})),
        "reason": act.reasons[0] if act.reasons else "asked", "evidence": {"reference": "E-1", "note": "seen"}, "seen": "",
    }  # fmt: skip


def bodies(name: str, chance: random.Random) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """A proposal with something odd at each of its places, or nothing there."""
    good = asked(name)
    for path in places(good):
        if not path or not (WHOLLY or chance.random() < 0.5):
            continue
        for odd in chance.sample(ODD, ODD_ONES):
            yield path, with_odd(good, path, odd)
        without: Any = copy.deepcopy(good)
        inner = without
        for step in path[:-1]:
            inner = inner[step]
        del inner[path[-1]]
        yield path, without


def test_any_value_at_any_place_of_a_proposal_is_answered(evening: dict[str, dict[str, str]]) -> None:
    chance, client, wrong = random.Random(8), Client(raise_request_exception=False), []
    before = Proposal.objects.count(), AuditRecord.objects.count()
    for name, act in registry.acts().items():
        role = next(role for role in WHO if role in act.proposes)
        for path, body in bodies(name, chance):
            point = transaction.savepoint()
            sent = json.dumps(body).encode()
            answer = client.post("/api/v1/proposals", sent, content_type="application/json", headers=evening[role])
            said = answer.json() if answer.headers["Content-Type"].startswith("application/") else {}
            left = Proposal.objects.count(), AuditRecord.objects.count()
            if answer.status_code >= 500 or (answer.status_code != 201 and (not said.get("code") or left != before)):
                wrong.append(f"{name} {path} {sent[:200]!r}: {answer.status_code} {said}")
            transaction.savepoint_rollback(point)
    assert not wrong, "\n".join(wrong)
