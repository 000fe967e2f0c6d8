"""Hits over HTTP: listed, shown with their steps, and taken on by the people whose turn it is (CONTRACT §5, §7)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from accounting.office import registry
from accounting.office.models import Approval
from tests.services.house import LINKED, NEIGHBOUR, TWIN, House, message, rows, royal, run, two_hits, value
from tests.services.winners import taken_down

BACKEND = "django.contrib.auth.backends.ModelBackend"
FIRST, SECOND, TWIN_FIRST = "ms-mg01-000001", "ms-mg01-000002", "twin-000001"
CHECKS = ["cards", "seat", "wager_sensor", "surveillance"]


class Desk:
    """Somebody at the API."""

    def __init__(self, name: str, *roles: str) -> None:
        self.client = Client(REMOTE_ADDR="10.0.0.7")
        user = User.objects.create(username=name)
        user.groups.set([Group.objects.get_or_create(name=role)[0] for role in roles])
        self.client.force_login(user, backend=BACKEND)

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(f"/api/v1/{path}", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def post(self, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        answer = self.client.post(f"/api/v1/{path}", json.dumps(body).encode(), content_type="application/json")
        return answer.status_code, answer.json()

    def propose(self, act: str, subject: str, **payload: Any) -> tuple[int, dict[str, Any]]:
        body = {"act": act, "subject": subject, "payload": payload, "reason": "seen on the floor"}
        return self.post("proposals", body)

    def done(self, act: str, subject: str, **payload: Any) -> dict[str, Any]:
        status, answer = self.propose(act, subject, **payload)
        assert (status, answer.get("state")) == (201, "done"), answer
        return answer

    def refused(self, act: str, subject: str, **payload: Any) -> tuple[int, str]:
        status, answer = self.propose(act, subject, **payload)
        return status, answer["code"]

    def asked(self, act: str, subject: str, **payload: Any) -> int:
        """Propose what somebody else must agree to; its number."""
        status, answer = self.propose(act, subject, **payload)
        assert (status, answer.get("state")) == (201, "waiting"), answer
        return int(answer["id"])

    def agree(self, proposal: int) -> dict[str, Any]:
        status, answer = self.post(f"proposals/{proposal}/approvals", {})
        assert status == 200, answer
        return answer


@pytest.fixture
def people(house: House) -> dict[str, Desk]:
    """Somebody of each role, and a second manager."""
    roles = ("supervisor", "manager", "cage", "controller", "accounting", "auditor", "administrator")
    return {role: Desk(f"{role}.one", role) for role in roles} | {"another": Desk("manager.two", "manager")}


def states(desk: Desk, subject: str) -> list[str]:
    """The steps that a hit has taken."""
    return [step["state"] for step in desk.get(f"hits/{subject}")["steps"]]


def test_a_hit_is_paid_by_three_people(house: House, people: dict[str, Desk]) -> None:
    house.play(royal("R-1"))
    supervisor, manager, cage = people["supervisor"], people["manager"], people["cage"]
    shown = supervisor.get(f"hits/{FIRST}")
    assert {name: shown[name] for name in ("hit", "link", "level", "order", "table", "round", "seat", "state")} == {
        "hit": FIRST, "link": "ms-mg01", "level": "major", "order": 1, "table": LINKED, "round": "R-1", "seat": 3,
        "state": "detected",
    }  # fmt: skip
    assert cage.refused("hit.verify", FIRST) == (403, "not_your_role")
    supervisor.done("hit.verify", FIRST, checks=CHECKS)
    assert supervisor.refused("hit.approve", FIRST) == (403, "not_your_role")
    assert manager.refused("hit.verify", FIRST) == (422, "wrong_state")
    manager.done("hit.approve", FIRST, note="tape 12")
    assert manager.refused("hit.pay", FIRST, method="cage") == (403, "not_your_role"), (
        "only the cage pays from the cage"
    )
    assert cage.refused("hit.pay", FIRST, method="table") == (403, "not_your_role"), "only the pit pays from the table"
    done = cage.done("hit.pay", FIRST, method="cage")
    assert done["event"]["stream"] == "ms-mg01"
    steps = manager.get(f"hits/{FIRST}")["steps"]
    assert [(step["state"], step["by"], step["note"]) for step in steps] == [
        ("detected", "settlement", ""),
        ("verified", "supervisor.one", "checked: cards, seat, wager sensor, surveillance; seen on the floor"),
        ("approved", "manager.one", "tape 12; seen on the floor"),
        ("paid", "cage.one", "from the cage; seen on the floor"),
    ]
    assert cage.refused("hit.pay", FIRST, method="cage") == (422, "already_paid")
    assert manager.refused("hit.reject", FIRST) == (422, "already_paid")


def test_a_large_award_is_approved_by_two_managers(house: House, people: dict[str, Desk]) -> None:
    house.act("level.adjust", "ms-mg01/major", part="display", cents=9_000_000, reason="correction")
    house.play(royal("R-1"))
    assert people["manager"].get(f"hits/{FIRST}")["paid_cents"] == 10_000_034
    people["supervisor"].done("hit.verify", FIRST, checks=CHECKS)
    proposal = people["manager"].asked("hit.approve", FIRST)
    assert states(people["auditor"], FIRST) == ["detected", "verified"]
    assert people["another"].agree(proposal)["state"] == "done"
    assert people["auditor"].get(f"hits/{FIRST}")["steps"][-1]["note"] == "seen on the floor; agreed: manager.two"
    taken_down(FIRST)
    people["supervisor"].done("hit.pay", FIRST, method="table")
    assert states(people["auditor"], FIRST) == ["detected", "verified", "approved", "paid"]


def test_a_rejection_is_agreed_to_by_the_books_and_shows_in_the_payouts(house: House, people: dict[str, Desk]) -> None:
    house.play(two_hits("R-1"), message("R-2"))
    manager, cage = people["manager"], people["cage"]
    cage.done("payout.pay", f"{LINKED}/R-1/4/2", method="cage")
    proposal = manager.asked("hit.reject", SECOND)
    assert people["accounting"].post(f"proposals/{proposal}/approvals", {})[1]["code"] == "not_your_role"
    assert people["controller"].agree(proposal)["state"] == "done"
    assert manager.refused("hit.verify", SECOND) == (422, "already_rejected")
    assert cage.refused("payout.pay", f"{LINKED}/R-1/6/2", method="cage") == (422, "wrong_state")
    assert cage.refused("payout.pay", f"{LINKED}/R-1/4/2", method="cage") == (422, "already_paid")
    assert cage.refused("payout.pay", f"{LINKED}/R-1/9/2", method="cage") == (422, "unknown_subject")
    found = cage.get("payouts", table=LINKED)["items"]
    shown = {(one["seat"], one["kind"], one["hand"]): one["state"] for one in found if one["kind"] in ("level", "envy")}
    assert shown == {
        (6, "level", "straight_flush"): "detected",
        (2, "level", "royal_flush"): "rejected",
        (2, "envy", "straight_flush"): "owed",
        (4, "envy", "straight_flush"): "owed",
        (4, "envy", "royal_flush"): "paid",
        (6, "envy", "royal_flush"): "cancelled",
    }
    for state in ("owed", "cancelled", "rejected", "paid", "detected", "void"):
        listed = cage.get("payouts", state=state)["items"]
        assert listed == [one for one in cage.get("payouts")["items"] if one["state"] == state], state


def test_a_settled_round_is_voided_by_two_people(house: House, people: dict[str, Desk]) -> None:
    house.play(message("R-0"), royal("R-1"), royal("R-2", table=NEIGHBOUR))
    supervisor, manager = people["supervisor"], people["manager"]
    proposal = supervisor.asked("round.void", f"{LINKED}/R-1")
    assert supervisor.get(f"rounds/{LINKED}/R-1")["state"] == "settled"
    assert manager.agree(proposal)["state"] == "done"
    shown = supervisor.get(f"rounds/{LINKED}/R-1")
    assert (shown["state"], shown["settlement"]["outcome"]) == ("void", "settled"), "as it was settled it stays"
    listed = {one["round"]: one["state"] for one in supervisor.get("rounds", stream="ms-mg01")["items"]}
    assert listed == {"R-0": "settled", "R-1": "void", "R-2": "settled"}
    assert {one["kind"]: one["state"] for one in supervisor.get("payouts", table=LINKED)["items"]} == {
        "base": "void", "level": "rejected", "envy": "cancelled",
    }  # fmt: skip
    assert states(manager, FIRST) == ["detected", "rejected"]
    assert supervisor.refused("round.void", f"{LINKED}/R-1") == (422, "wrong_state")
    people["supervisor"].done("hit.verify", SECOND)
    manager.done("hit.approve", SECOND)
    waits = supervisor.asked("round.void", f"{NEIGHBOUR}/R-2")
    taken_down(SECOND)
    people["cage"].done("hit.pay", SECOND, method="cage")
    assert manager.agree(waits)["code"] == "award_paid", "it was paid while the void waited"
    assert supervisor.refused("round.void", f"{NEIGHBOUR}/R-2") == (422, "award_paid")
    assert Approval.objects.count() == 2
    assert value("SELECT count(*) FROM tables_voidedround") == 1


def test_what_somebody_looked_at_must_still_stand(house: House, people: dict[str, Desk]) -> None:
    house.play(royal("R-1"))
    to_void = registry.acts()["round.void"].version
    as_settled = to_void(f"{LINKED}/R-1")
    people["supervisor"].done("hit.verify", FIRST)
    as_verified = to_void(f"{LINKED}/R-1")
    house.act("payout.pay", f"{LINKED}/R-1/1/3", method="table")
    for act, subject, seen in (
        ("hit.verify", FIRST, "detected"),
        ("round.void", f"{LINKED}/R-1", as_settled),
        ("round.void", f"{LINKED}/R-1", as_verified),  # its envy was paid since
    ):
        body: dict[str, Any] = {"act": act, "subject": subject, "payload": {}, "reason": "again", "seen": seen}
        status, answer = people["supervisor" if act == "round.void" else "manager"].post("proposals", body)
        assert (status, answer["code"]) == (409, "changed_since"), (act, seen)


def test_hits_are_listed_and_found(house: House, people: dict[str, Desk]) -> None:
    for sent in (royal("R-1"), two_hits("R-2", table=TWIN), royal("R-3", table=NEIGHBOUR)):
        house.play(sent)
    desk = people["auditor"]
    house.act("hit.verify", FIRST)

    def names(**query: Any) -> list[str]:
        return [one["hit"] for one in desk.get("hits", **query)["items"]]

    everything = [SECOND, "twin-000002", TWIN_FIRST, FIRST]
    assert names() == everything
    assert names(link="twin") == ["twin-000002", TWIN_FIRST]
    assert names(state="verified") == [FIRST]
    assert names(state="detected", table=NEIGHBOUR) == [SECOND]
    assert names(table=LINKED) == [FIRST]
    detected = desk.get(f"hits/{FIRST}")["detected_at"]
    assert names(**{"from": detected, "to": detected}) == everything
    day = "2026-11-27"
    assert (names(**{"from": day, "to": day}), names(to="2026-11-26")) == (everything, [])
    pages: list[str] = []
    cursor = ""
    while True:
        found = desk.get("hits", limit=1, cursor=cursor)
        pages += [one["hit"] for one in found["items"]]
        if found["next"] is None:
            break
        cursor = found["next"]
    assert pages == everything
    for query, pointer in (({"state": "lost"}, "/state"), ({"cursor": "x"}, "/cursor"), ({"colour": "1"}, "/colour")):
        answer = desk.client.get("/api/v1/hits", query)
        assert (answer.status_code, answer.json()["pointer"]) == (400, pointer)
    assert desk.client.get("/api/v1/hits/ms-mg01-000009").status_code == 404
    assert desk.client.get("/api/v1/hits/nothing").status_code == 404
    assert Client().get("/api/v1/hits").status_code == 401


def test_nothing_is_decided_by_what_rows_show(house: House, people: dict[str, Desk]) -> None:
    """A step that a row claims and no event made lets nobody be paid."""
    house.play(royal("R-1"))
    (hit_id,) = rows("SELECT id FROM jackpot_hit")[0]
    run("INSERT INTO jackpot_hitstep (state, at, by, note, hit_id) VALUES ('approved', now(), 'me', '', %s)", hit_id)
    assert people["cage"].refused("hit.pay", FIRST, method="cage") == (422, "wrong_state")


def test_the_latest_twenty_five_of_thirty_hits_are_listed(house: House) -> None:
    """Newest first, with amount, moment, table and seat (REQUIREMENTS R3)."""
    settled = house.play(*(royal(f"R-{number}", table=(LINKED, NEIGHBOUR)[number % 2]) for number in range(30)))
    paid = [settlement["awards"][0] for settlement in settled]
    page = Desk("aud", "auditor").get("hits", limit=25, link="ms-mg01")
    assert [hit["order"] for hit in page["items"]] == list(range(30, 5, -1)) and page["next"]
    for hit, award, number in zip(page["items"], reversed(paid), range(29, 4, -1), strict=False):
        shown = (hit["paid_cents"], hit["table"], hit["seat"], hit["hand"], hit["round"])
        assert shown == (award["paid_cents"], (LINKED, NEIGHBOUR)[number % 2], 3, "royal_flush", f"R-{number}")
        assert hit["detected_at"]
