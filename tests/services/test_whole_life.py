"""A link's whole life by roles over HTTP; and the running house against `settle` on the same lines, byte for byte."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connections, transaction
from django.test import Client

from devices.intake import settling
from tables import settle
from tests.services.house import ALONE, FLOOR, LINKED, House, message, rows, seat, value, verify

LINK: dict[str, Any] = {
    "code": "nn",
    "paytable": "ms-mg-01",
    "decks": 1,
    "levels": [{"code": "major", "reset_cents": 10_000, "rate_ppm": 170_003, "reserve_ppm": 30_007}],
}


class Somebody:
    """A person at the API, with one role."""

    def __init__(self, role: str) -> None:
        user = User.objects.create(username=f"{role}.one")
        user.groups.set([Group.objects.get_or_create(name=role)[0]])
        self.client = Client()
        self.client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")

    def post(self, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        """POST below /api/v1: the status and the object."""
        answer = self.client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")
        return answer.status_code, answer.json()

    def asks(self, act: str, subject: str, payload: Any = None, **more: Any) -> tuple[int, dict[str, Any]]:
        """Propose an act."""
        return self.post(
            "proposals", {"act": act, "subject": subject, "payload": payload or {}, "reason": "order"} | more
        )

    def agrees(self, to: dict[str, Any]) -> dict[str, Any]:
        """Approve a proposal."""
        status, found = self.post(f"proposals/{to['id']}/approvals", {})
        assert status == 200, found
        return found


def now_dealt(reference: str, *, table: str = ALONE, progressive: bool = True) -> dict[str, Any]:
    """A losing round dealt just now."""
    wager: dict[str, Any] = {"progressive": 100} if progressive else {}
    return message(reference, seat(1, "3s 7d", **wager), table=table, dealt_at=datetime.now(UTC).isoformat())


def test_a_links_life_is_decided_by_its_people(busy_house: House) -> None:
    house = busy_house
    ada, ben, con, abe = (Somebody(role) for role in ("administrator", "manager", "controller", "accounting"))

    def done(act: str, subject: str, payload: Any = None, *, by: tuple[Somebody, ...] = (ben,), **more: Any) -> None:
        status, asked = ada.asks(act, subject, payload, **more)
        assert (status, asked.get("state")) == (201, "waiting"), asked
        for place, one in enumerate(by):
            assert asked["state"] == "waiting"
            asked = one.agrees(asked)
            assert asked["state"] == ("done" if place == len(by) - 1 else "waiting"), asked
        assert asked["event"] is not None

    def play(reference: str, **more: Any) -> tuple[str, list[str]]:
        house.now = datetime.now(UTC)
        house.play(sent := now_dealt(reference, **more))
        return house.outcome(sent)

    assert ben.asks("link.file", "nn", {"link": LINK, "filing": "F-1"})[0] == 403
    status, why = ada.asks("link.file", "nn", {"link": LINK | {"code": "n n"}, "filing": "F-1"})
    assert (status, why["code"], why["pointer"]) == (422, "invalid_value", "/payload/link/code")
    done("link.file", "nn", {"link": LINK, "initial": {"major": 25_000}, "filing": "F-1"})
    done("table.join", ALONE, {"link": "nn"})
    assert play("R-1") == ("held", ["link_not_open"])
    status, why = ada.asks("link.open", "nn")
    assert (status, why["code"], why["pointer"]) == (422, "missing_field", "/evidence"), (
        "signs say what funds the reserve"
    )
    done("link.open", "nn", evidence={"reference": "Sign 17, photograph of the 3rd"})
    assert play("R-2") == ("settled", [])
    assert ada.asks("link.terms", "nn", {"levels": [{"code": "major", "rate_ppm": 1}]})[1]["code"] == "link_open"
    assert ada.asks("link.suspend", "nn")[1]["state"] == "done"
    assert play("R-3") == ("held", ["link_not_open"])
    assert play("R-4", progressive=False) == ("settled", [])
    change = {"levels": [{"code": "major", "rate_ppm": 500_000}]}
    status, asked = ada.asks("link.terms", "nn", change)
    assert {need["role"] for need in asked["needs"]} == {"manager", "accounting"}
    before = value("SELECT count(*) FROM accounting_event WHERE kind = 'link.terms'")
    ben.agrees(asked)
    assert value("SELECT count(*) FROM accounting_event WHERE kind = 'link.terms'") == before, (
        "accounting knows of it first"
    )
    assert abe.agrees(asked)["state"] == "done"
    status, why = ada.asks("link.terms", "nn", {"levels": [{"code": "major", "reserve_ppm": 40_000}]})
    assert (status, why["pointer"]) == (422, "/evidence")
    done("link.resume", "nn")
    display = value("SELECT value_cents FROM jackpot_meter WHERE value_cents BETWEEN 25000 AND 26000")
    assert play("R-5") == ("settled", [])
    assert value("SELECT value_cents FROM jackpot_meter WHERE value_cents BETWEEN 25000 AND 26000") == display + 50
    done("table.leave", ALONE)
    assert play("R-6") == ("held", ["wager_not_offered"])
    assert ada.asks("link.suspend", "nn")[1]["state"] == "done"
    assert ada.asks("link.close", "nn", {"disposition": []})[1]["code"] == "money_left"
    parts = [
        {"level": "major", "part": part, "to": to}
        for part, to in (("display", "regulator_order"), ("reserve", "revenue_booked"))
    ]
    done("link.close", "nn", {"disposition": parts}, by=(ben, con))
    assert [ada.asks(act, "nn")[1]["code"] for act in ("link.open", "link.suspend", "link.resume")] == [
        "wrong_state"
    ] * 3
    assert ada.asks("table.join", ALONE, {"link": "nn"})[1]["code"] == "wrong_state"
    shown = ada.client.get("/api/v1/links/nn").json()
    assert (shown["state"], shown["levels"][0]["value_cents"], shown["levels"][0]["reserve_cents"]) == ("closed", 0, 0)
    assert shown["levels"][0]["wagers"] == 2
    verify()


def test_settle_writes_what_the_house_recorded(
    busy_house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = busy_house
    start = datetime(2026, 11, 27, 20, 0, tzinfo=UTC)
    lines: list[dict[str, Any]] = []

    def act(name: str, subject: str, minute: int, **payload: Any) -> None:
        at = start + timedelta(minutes=minute)
        lines.append({"act": name, "subject": subject, "at": at.isoformat(), "payload": payload})

    def deal(number: int, minute: int, *, table: str = ALONE, wager: int | None = 100) -> None:
        wagers: dict[str, Any] = {} if wager is None else {"progressive": wager}
        at = (start + timedelta(minutes=minute)).isoformat()
        lines.append(message(f"R-{number}", seat(1, "3s 7d", **wagers), table=table, dealt_at=at))

    act("link.file", "nn", 0, link=LINK, initial={"major": 25_000}, filing="F-1")
    act("table.join", ALONE, 1, link="nn")
    deal(1, 2)
    act("link.open", "nn", 3)
    deal(2, 4)
    deal(3, 0, wager=None)  # dealt before it joined
    act("link.suspend", "nn", 5)
    act("link.terms", "nn", 6, levels=[{"code": "major", "rate_ppm": 500_000, "limit_cents": 26_000}])
    act("link.terms", "nn", 6, levels=[{"code": "major", "limit_cents": None}],
        counts_from=(start + timedelta(minutes=20)).isoformat())  # fmt: skip
    act("link.resume", "nn", 7)
    deal(4, 8)
    deal(5, 4)  # late: under the old terms
    act("table.leave", LINKED, 9)
    deal(6, 10, table=LINKED, wager=None)
    deal(7, 8, table=LINKED)
    act("table.join", LINKED, 11, link="nn")
    deal(8, 21, table=LINKED)
    act("table.leave", ALONE, 22)
    deal(9, 21)
    deal(10, 23, wager=None)
    act("link.suspend", "nn", 24)
    act("link.close", "nn", 25, disposition=[
        {"level": "major", "part": "display", "to": "regulator_order"},
        {"level": "major", "part": "reserve", "to": "revenue_booked"},
    ])  # fmt: skip
    act("table.leave", LINKED, 26)
    deal(11, 20, table=LINKED)
    floor, file = tmp_path / "floor.toml", tmp_path / "lines.ndjson"
    floor.write_text(FLOOR, "utf-8")
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert settle.main([str(floor), str(file)]) == 0
    wanted = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    recorded = []
    for line in lines:
        house.now = max(house.now, start) + timedelta(seconds=1)
        if "act" in line:
            at = datetime.fromisoformat(line["at"])
            stream, sequence = house.act(line["act"], line["subject"], at=at, **line["payload"])
            house.now = max(house.now, at)
            ((result,),) = rows(
                "SELECT result FROM accounting_document WHERE stream_id = %s AND sequence = %s", house.stream(stream), sequence
            )  # fmt: skip
            recorded.append(json.loads(bytes(result)))
        else:
            recorded += house.play(line, at=datetime.fromisoformat(line["dealt_at"]) + timedelta(hours=1))
    for line, one, other in zip(lines, wanted, recorded, strict=True):
        assert one == other, line
    assert {one["outcome"] for one in wanted} == {"done", "settled", "held"}
    verify()


def test_terms_change_while_batches_are_settled(busy_house: House) -> None:
    """Each round is decided wholly before or wholly after, and what is on record is verified."""
    house = busy_house
    moment = datetime.now(UTC)
    house.now = moment + timedelta(seconds=1)
    house.act("link.suspend", "ms-mg01", at=moment)
    house.post(*(
        message(f"R-{number}", seat(1, "3s 7d", progressive=100), dealt_at=(moment - timedelta(minutes=5)).isoformat())
        for number in range(400)
    ))  # fmt: skip
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while settling.streams_waiting():
                for stream in settling.streams_waiting():
                    settling.settle_next(stream, clock=lambda: house.now, limit=20)
        except BaseException as error:
            failures.append(error)
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for number in range(10):
        with transaction.atomic():
            house.act("link.terms", "ms-mg01", at=house.now + timedelta(milliseconds=number),
                      levels=[{"code": "major", "rate_ppm": 100_000 + number}])  # fmt: skip
    for worker in workers:
        worker.join(120)
    assert failures == []
    assert rows("SELECT reference, reasons, error FROM tables_hold") == []
    assert value("SELECT count(*) FROM tables_round") == 400
    verify()
