"""Acts and proposals over HTTP (CONTRACT §7): who may do what, to the last role; what is answered, to the last code."""

from __future__ import annotations

import base64
import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from accounting.models import AuditRecord
from accounting.office import registry
from accounting.office.models import Proposal, TierEdition
from accounting.office.services import proposals
from accounting.rules.roles import ROLES
from devices import demo
from tests.services.desk import ACTS, GRANT, RENAME, asking, the_name
from tests.services.house import House

BACKEND = "django.contrib.auth.backends.ModelBackend"
EVERY = {**registry.acts(), **ACTS}
CALLS = ("propose", "approve", "refuse", "withdraw", "list", "read", "acts")


@pytest.fixture(autouse=True)
def _acts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "acts", lambda: EVERY)


class Desk:
    """Somebody at the API."""

    def __init__(self, name: str, *roles: str) -> None:
        self.name = name
        self.client = Client(REMOTE_ADDR="10.0.0.7")
        user = User.objects.create(username=name)
        user.groups.set([Group.objects.get_or_create(name=role)[0] for role in roles])
        self.client.force_login(user, backend=BACKEND)

    def post(self, path: str, body: Any = None) -> Any:
        content = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
        return self.client.post(f"/api/v1/{path}", content, content_type="application/json")

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"/api/v1/{path}", query)

    def propose(self, act: str = "house.rename", **changes: Any) -> dict[str, Any]:
        answer = self.post("proposals", asking(act, **changes))
        assert answer.status_code == 201, answer.content
        found: dict[str, Any] = answer.json()
        assert answer["Location"] == f"/api/v1/proposals/{found['id']}"
        return found


def problem(answer: Any) -> tuple[int, str, str | None]:
    """Status, code and pointer of a refusal."""
    assert answer["Content-Type"] == "application/problem+json", answer.content
    body = answer.json()
    assert body["status"] == answer.status_code
    return answer.status_code, body["code"], body.get("pointer")


def proposed(act: str, by: str) -> Proposal:
    """A proposal of any act at all, as it would stand while two of each role that may approve it are missing."""
    now = timezone.now()
    edition = TierEdition.objects.create(act=act, number=4711, published_at=now, published_by="a test")
    roles = sorted({tier.role for tier in EVERY[act].approves if tier.count})
    return Proposal.objects.create(
        act=act, kind=EVERY[act].shape.subject, subject="BOS", payload=b"{}", reason="correction", by=by, proposed_at=now,
        expires_at=now + timedelta(days=7), version="1", edition=edition,
        needs=[{"role": role, "count": 2} for role in roles],
    )  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("act", sorted(EVERY))
@pytest.mark.parametrize("role", sorted(ROLES))
def test_every_role_every_act_every_call(role: str, act: str, call: str, house: House) -> None:
    me = Desk("me", role)
    declared = EVERY[act]
    approves = {tier.role for tier in declared.approves if tier.count}
    other = proposed(act, by="somebody else")
    match call:
        case "propose":
            body = asking(act, subject="BOS" if act in ACTS else "no such thing")
            answer = me.post("proposals", body)
            if role not in declared.proposes:
                assert problem(answer) == (403, "not_your_role", None)
            else:
                assert answer.status_code == 201 if act in ACTS else answer.status_code == 422, answer.content
        case "approve" | "refuse":
            path = "approvals" if call == "approve" else "refusal"
            answer = me.post(f"proposals/{other.pk}/{path}", {"note": "looked at"})
            if role not in approves:
                assert problem(answer) == (403, "not_your_role", None)
            else:
                assert (answer.status_code, answer.json()["state"]) == (
                    200, "waiting" if call == "approve" else "refused",
                )  # fmt: skip
        case "withdraw":
            assert problem(me.post(f"proposals/{other.pk}/withdrawal")) == (403, "not_your_role", None)
        case "list":
            answer = me.get("proposals", act=act)
            assert [item["id"] for item in answer.json()["items"]] == [other.pk]
            waits = me.get("proposals", act=act, waiting_for="me").json()["items"]
            assert [item["id"] for item in waits] == ([other.pk] if role in approves else [])
        case "read":
            answer = me.get(f"proposals/{other.pk}")
            assert (answer.status_code, answer.json()["act"]) == (200, act)
        case "acts":
            (shown,) = [item for item in me.get("acts").json()["items"] if item["name"] == act]
            assert shown["may_propose"] == (role in declared.proposes)
            assert shown["schema"] == declared.shape.schema()
            assert shown["title"] == declared.title
            assert (shown["reasons"], shown["evidence"]) == (list(declared.reasons), declared.evidence)


def test_a_device_reads_and_decides_nothing(house: House) -> None:
    client = Client()
    key = {"Authorization": f"Api-Key {demo.ensure()['devices']['MS-101']['api_key']}"}
    asked = proposed("house.rename", by="somebody")
    for path in ("acts", "proposals", f"proposals/{asked.pk}"):
        assert client.get(f"/api/v1/{path}", headers=key).status_code == 200
    for path in ("", "/approvals", "/withdrawal", "/refusal"):
        path = f"proposals/{asked.pk}{path}" if path else "proposals"
        answer = client.post(f"/api/v1/{path}", b"{}", content_type="application/json", headers=key)
        assert problem(answer) == (403, "not_your_role", None)
    assert problem(client.get(f"/api/v1/proposals/{asked.pk}/evidence", headers=key))[:2] == (403, "not_your_role")
    for item in client.get("/api/v1/acts", headers=key).json()["items"]:
        assert (item["may_propose"], item["may_approve"]) == (False, False)


def test_nobody_is_401(house: House) -> None:
    assert problem(Client().get("/api/v1/acts"))[:2] == (401, "not_authenticated")
    assert problem(Client().post("/api/v1/proposals"))[:2] == (401, "not_authenticated")


def test_a_proposal_as_the_contract_prints_it(house: House) -> None:
    asked = Desk("ada", "administrator").propose()
    assert set(asked) >= {
        "id", "act", "subject", "payload", "reason", "by", "at", "state", "needs", "approvals", "event", "code", "detail",
    }  # fmt: skip
    assert {key: asked[key] for key in ("act", "subject", "payload", "reason", "by", "state", "needs", "approvals")} == {
        "act": "house.rename", "subject": "BOS", "payload": {"name": "Boston Light"}, "reason": "correction", "by": "ada",
        "state": "waiting", "needs": [{"role": "manager", "count": 1}], "approvals": [],
    }  # fmt: skip
    assert (asked["event"], asked["code"], asked["detail"]) == (None, None, None)
    assert datetime.fromisoformat(asked["at"]).tzinfo is not None
    answer = Desk("ben", "manager").post(f"proposals/{asked['id']}/approvals", {"note": "seen"})
    done = answer.json()
    assert (answer.status_code, done["state"], done["event"]) == (200, "done", {"stream": "ms-mg01", "sequence": 0})
    assert [(one["by"], one["note"]) for one in done["approvals"]] == [("ben", "seen")]
    assert the_name() == "Boston Light"
    last = AuditRecord.objects.order_by("id").last()
    assert last is not None
    assert (last.actor, last.action, last.subject, last.origin) == ("ben", "perform", "BOS", "10.0.0.7")


def test_done_at_once_and_refused_by_a_rule(house: House) -> None:
    supervisor, manager = Desk("sue", "supervisor"), Desk("ben", "manager")
    assert supervisor.propose("house.note")["state"] == "done"
    answer = supervisor.post("proposals", asking("house.note", payload={"name": "Unlucky"}))
    assert problem(answer) == (422, "unlucky", "/payload/name")
    asked = Desk("ada", "administrator").propose(payload={"name": "Unlucky"})
    refused = manager.post(f"proposals/{asked['id']}/approvals")
    assert refused.status_code == 200
    assert {key: refused.json()[key] for key in ("state", "code", "pointer", "detail", "event")} == {
        "state": "refused", "code": "unlucky", "pointer": "/payload/name", "detail": "no house is called that",
        "event": None,
    }  # fmt: skip


def test_conflicts(house: House) -> None:
    manager, other = Desk("ben", "manager"), Desk("cleo", "manager")
    own = manager.propose("house.grant")
    assert problem(manager.post(f"proposals/{own['id']}/approvals")) == (409, "own_proposal", None)
    large = Desk("sue", "supervisor").propose("house.grant", payload={"cents": 10_000_000})
    assert manager.post(f"proposals/{large['id']}/approvals").json()["state"] == "waiting"
    assert problem(manager.post(f"proposals/{large['id']}/approvals")) == (409, "already_approved", None)
    assert manager.post(f"proposals/{own['id']}/withdrawal").json()["state"] == "withdrawn"
    assert problem(other.post(f"proposals/{own['id']}/approvals")) == (409, "not_waiting", None)
    assert problem(manager.post(f"proposals/{own['id']}/withdrawal")) == (409, "not_waiting", None)
    body = asking("house.grant", seen="what it was")
    assert problem(manager.post("proposals", body)) == (409, "changed_since", None)
    answer = Desk("con", "controller").post(f"proposals/{large['id']}/approvals", {"seen": "what it was"})
    assert problem(answer) == (409, "changed_since", None)


def test_the_version_of_a_subject_is_told(house: House) -> None:
    ada = Desk("ada", "administrator")
    items = ada.get("acts", kind="property", subject="BOS").json()["items"]
    assert {item["name"] for item in items} >= set(ACTS)
    (shown,) = [item for item in items if item["name"] == "house.rename"]
    assert shown["version"] == RENAME.version("BOS")
    assert ada.propose(seen=shown["version"])["version"] == shown["version"]
    nowhere = ada.get("acts", kind="property", subject="LAS").json()["items"]
    assert {item["version"] for item in nowhere if item["name"] in ACTS} == {None}


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (b"{", (400, "invalid_json", None)),
        (b'{"act": "house.rename", "act": "house.rename"}', (400, "invalid_json", None)),
        (b'{"act": NaN}', (400, "invalid_json", None)),
        (b"[" * 100_000, (400, "invalid_json", None)),
        (b"\xff", (400, "invalid_json", None)),
        (b"[]", (422, "invalid_value", "")),
        (b"7", (422, "invalid_value", "")),
        (b"", (422, "missing_field", "/act")),
        ({"act": "house.burn"}, (422, "invalid_value", "/act")),
        ({"act": "house.rename", "colour": 1}, (422, "unknown_field", "/colour")),
        ({"act": "house.rename"}, (422, "missing_field", "/subject")),
        (asking(subject="LAS"), (422, "unknown_subject", None)),
        (asking(payload={"name": 7}), (422, "invalid_value", "/payload/name")),
        (asking(payload={"name": "x", "a/b": 1}), (422, "unknown_field", "/payload/a~1b")),
        (b'{"act": "house.rename", "subject": "BOS", "payload": {"name": 1' + b"0" * 9_000 + b'}, "reason": "x"}',
         (422, "invalid_value", "/payload/name")),
    ],
)  # fmt: skip
def test_a_body_at_fault(body: Any, refused: tuple[int, str, str | None], house: House) -> None:
    assert problem(Desk("ada", "administrator").post("proposals", body)) == refused


def test_further_calls_with_bodies_at_fault(house: House) -> None:
    ada, ben = Desk("ada", "administrator"), Desk("ben", "manager")
    asked = ada.propose()["id"]
    assert problem(ben.post(f"proposals/{asked}/refusal")) == (422, "missing_field", "/note")
    assert problem(ben.post(f"proposals/{asked}/refusal", {"note": "no", "why": 1})) == (422, "unknown_field", "/why")
    assert problem(ben.post(f"proposals/{asked}/approvals", {"note": 7})) == (422, "invalid_value", "/note")
    assert problem(ben.post("proposals/4711/approvals")) == (404, "not_found", None)
    for number in ("4711", "9" * 30):
        assert problem(ben.get(f"proposals/{number}")) == (404, "not_found", None)
        assert problem(ben.post(f"proposals/{number}/withdrawal")) == (404, "not_found", None)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("colour=red", "colour"), ("state=open", "state"), ("state=done&state=done", "state"), ("waiting_for=you", "waiting_for"),
        ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=%C2%B2", "limit"), ("cursor=x", "cursor"),
    ],
)  # fmt: skip
def test_a_parameter_at_fault(query: str, name: str, house: House) -> None:
    answer = Desk("ada", "administrator").client.get(f"/api/v1/proposals?{query}")
    assert problem(answer) == (400, "invalid_value", f"/{name}")


def test_lists_by_key_and_filter(house: House) -> None:
    ada, ben = Desk("ada", "administrator"), Desk("ben", "manager")
    made = [ada.propose()["id"] for _ in range(3)]
    first = ben.get("proposals", limit=2, state="", act="house.rename").json()
    assert [item["id"] for item in first["items"]] == made[:0:-1]
    rest = ben.get("proposals", limit=2, cursor=first["next"]).json()
    assert ([item["id"] for item in rest["items"]], rest["next"]) == (made[:1], None)
    assert [len(ben.get("proposals", limit=limit).json()["items"]) for limit in (1, 1_000)] == [1, 3]
    assert len(ben.get("proposals", waiting_for="me").json()["items"]) == 3
    assert ada.get("proposals", waiting_for="me").json()["items"] == []
    assert len(ada.get("proposals", by="ada", subject="BOS", state="waiting").json()["items"]) == 3


def test_evidence_comes_back_as_it_was_handed_in(house: House) -> None:
    content = bytes(range(256))
    file = {"name": 'ticket "ü".pdf', "content": base64.b64encode(content).decode()}
    sue = Desk("sue", "supervisor")
    asked = sue.propose("house.grant", evidence={"file": file})
    answer = Desk("aud", "auditor").get(f"proposals/{asked['id']}/evidence")
    assert (answer.status_code, answer.content) == (200, content)
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment; filename")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert sue.propose("house.grant", evidence="Ticket 4711")["evidence"]["reference"] == "Ticket 4711"
    assert problem(sue.get(f"proposals/{sue.propose('house.grant')['id']}/evidence"))[:2] == (404, "not_found")


def test_what_expired_says_so_and_is_refused(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, ben = Desk("ada", "administrator"), Desk("ben", "manager")
    monkeypatch.setattr(proposals, "TERM", timedelta(microseconds=1))
    asked = ada.propose()["id"]
    assert ben.get(f"proposals/{asked}").json()["state"] == "expired"
    assert problem(ben.post(f"proposals/{asked}/approvals")) == (409, "not_waiting", None)
    assert ben.get("proposals", state="expired").json()["items"][0]["ended"]["by"] is None


def test_who_approves_is_told_by_amount(house: House) -> None:
    items = Desk("con", "controller").get("acts").json()["items"]
    (grant,) = [item for item in items if item["name"] == "house.grant"]
    assert grant["approves"] == [
        {"from_cents": tier.from_cents, "role": tier.role, "count": tier.count} for tier in GRANT.approves
    ]
    assert (grant["may_propose"], grant["may_approve"]) == (False, True)
