"""Pages and API of slips: the register, one slip, its prints, who won; by role."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.test import Client

from accounting.models import AuditRecord
from accounting.rules.roles import (
    ACCOUNTING,
    ADMINISTRATOR,
    AUDITOR,
    CAGE,
    CONTROLLER,
    MANAGER,
    ROLES,
    SECURITY,
    SUPERVISOR,
)
from accounting.slips.models import Particulars, SlipPrint
from accounting.slips.rules.winners import FIELDS
from tests.pages.conftest import SignedIn, text_of
from tests.pages.test_decided import agree, ask, offered
from tests.services.house import LINKED, House, royal

HIT, ENVY = "ms-mg01-000001", f"{LINKED}/R-1/1/3"
ALL = ["cards", "seat", "wager_sensor", "surveillance"]


@pytest.fixture(autouse=True)
def _key(settings: Any) -> None:
    settings.PATRON_KEY = "A" * 43


@pytest.fixture
def paid(house: House, signed_in: SignedIn) -> Client:
    """The cage, which has paid the envy of a royal: slip 1 void, slip 2 in its place; and the royal itself, slip 3."""
    house.play(royal("R-1"))
    cage, manager = signed_in(CAGE), signed_in(MANAGER)
    ask(cage, "slip.issue", ENVY, payload={"method": "cage", "form": "cheque"})
    agree(manager, ask(cage, "slip.void", "000001", reason="cash, not a cheque"))
    ask(cage, "payout.pay", ENVY, payload={"method": "cage"})
    ask(signed_in(SUPERVISOR), "hit.verify", HIT, payload={"checks": ALL})
    ask(manager, "hit.approve", HIT)
    ask(cage, "hit.pay", HIT, payload={"method": "cage"})
    return cage


def test_the_register_shows_every_number_with_totals_that_foot(paid: Client) -> None:
    beside = [paid.get(f"/slips/00000{number}/").context for number in (1, 2, 3)]
    assert [(one["earlier"], one["later"]) for one in beside] == [
        (None, "000002"), ("000001", "000003"), ("000002", None)
    ]  # fmt: skip
    body = text_of(paid.get("/slips/"))
    for words in ("000001 then 000002 void", "000002 for 000001 paid", "000003 paid"):
        assert words in body, words
    assert "Numbers are missing" not in body
    assert "Void, 1, in no sum $1,000.00" in body
    (slip, envy) = paid.get("/api/v1/slips?state=paid").json()["items"]
    cents = slip["cents"] + envy["cents"]
    assert f"All that stand, 2 ${cents // 100:,}.{cents % 100:02d}" in body
    assert "Forms whose winner is not known" in body


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("state=void", ["000001"]), ("state=paid", ["000003", "000002"]), ("kind=hit", ["000003"]), ("slip=2", ["000002"]),
        ("slip=x", []), ("min=5,000", ["000003"]), ("max=1000.00", ["000002", "000001"]), ("table=MS-102", []),
        ("noted=replaced", ["000002"]), ("noted=form_open", ["000003"]), ("by=cage&method=cage", ["000003", "000002", "000001"]),
        ("from=2190-01-01", []), ("to=2190-01-01", ["000003", "000002", "000001"]),
        ("link=ms-mg01", ["000003", "000002", "000001"]),
    ],
)  # fmt: skip
def test_page_json_and_csv_of_one_query_list_the_same(paid: Client, query: str, numbers: list[str]) -> None:
    asked = query.replace("min=5,000", "min_cents=500000").replace("max=1000.00", "max_cents=100000")
    found = paid.get(f"/api/v1/slips?{asked}").json()
    assert [item["slip"] for item in found["items"]] == numbers
    download = paid.get(f"/api/v1/slips?{asked}&format=csv")
    lines = list(csv.DictReader(io.StringIO(b"".join(download).decode())))
    assert [line["slip"] for line in lines] == numbers
    body = paid.get(f"/slips/?{query}").content.decode()
    for number in ("000001", "000002", "000003"):
        assert (f"data-row>{number}</a>" in body) == (number in numbers), number


@pytest.mark.parametrize(
    ("query", "named"),
    [("state=lost", "State"), ("min=x", "At least, $"), ("from=yesterday", "From gaming day"), ("cursor=-1", "cursor")],
)
def test_a_filter_that_cannot_be_read_is_named(paid: Client, query: str, named: str) -> None:
    response = paid.get(f"/slips/?{query}")
    assert response.status_code == 400 and named in text_of(response)
    assert paid.get("/api/v1/slips?state=lost").json()["pointer"] == "/state"
    assert paid.get("/slips/?color=red").status_code == 400


def test_pages_of_the_register_follow_each_other(paid: Client) -> None:
    first = paid.get("/api/v1/slips?limit=2").json()
    assert [item["slip"] for item in first["items"]] == ["000003", "000002"]
    second = paid.get(f"/api/v1/slips?limit=2&cursor={first['next']}").json()
    assert ([item["slip"] for item in second["items"]], second["next"]) == (["000001"], None)


def test_one_slip_says_what_was_won_who_signed_and_what_may_be_done(paid: Client, signed_in: SignedIn) -> None:
    body = text_of(paid.get("/slips/000003/"))
    for words in (
        "Slip 000003", "hit ms-mg01-000001", "Ten thousand", "royal flush", "Hit verified supervisor", "Hit approved manager",
        "Not printed yet", "regular", "not known",
    ):  # fmt: skip
        assert words in body, words
    beside = {
        number: re.findall(r'rel="(prev|next)" href="/slips/(\d+)/"', paid.get(f"/slips/{number:06}/").content.decode())
        for number in (1, 2, 3)
    }
    assert beside == {
        1: [("next", "000002")], 2: [("prev", "000001"), ("next", "000003")], 3: [("prev", "000002")],
    }  # fmt: skip
    assert paid.get("/slips/3/").headers["Location"] == "/slips/000003/"
    assert paid.get("/slips/000009/").status_code == paid.get("/slips/x/").status_code == 404
    assert "cash, not a cheque" in text_of(paid.get("/slips/000001/"))
    assert offered(paid, "/slips/000003/") == {("slip.void", "000003")}
    assert offered(paid, "/slips/000001/") == offered(signed_in(ACCOUNTING), "/slips/000003/") == set()
    assert "Slip 000003" in text_of(paid.get(f"/hits/{HIT}/"))


def test_a_payouts_page_has_every_slip_of_it(paid: Client) -> None:
    """Of the envy the void one and the one in its place."""
    (item,) = paid.get("/api/v1/payouts?slip=2").json()["items"]
    body = text_of(paid.get(f"/payouts/{item['id']}/"))
    for words in (
        "000001 void cage",
        "cash, not a cheque; replaced by 000002",
        "000002 paid cage",
        "by cage 0 $1,000.00",
    ):
        assert words in body, words
    assert "000003" not in body


def test_a_payouts_explanation_has_its_signatures_and_its_slip(paid: Client) -> None:
    (item,) = paid.get("/api/v1/payouts?slip=3").json()["items"]
    found = paid.get(f"/api/v1/payouts/{item['id']}/explanation").json()
    assert [one["what"] for one in found["signatures"]] == [
        "Hit verified",
        "Hit approved",
        "Slip 000003 prepared",
        "Paid",
    ]
    body = text_of(paid.get(f"/payouts/{item['id']}/"))
    assert "Hit approved manager" in body and "000003 paid" in body


def test_prints_are_an_original_and_duplicates_and_are_kept(paid: Client, signed_in: SignedIn) -> None:
    assert paid.get("/slips/000003/print").status_code == 405
    first = paid.post("/slips/000003/print")
    assert first.headers["Location"] == "/slips/000003/prints/0.pdf"
    original = paid.get("/slips/000003/prints/0.pdf")
    assert original.content.startswith(b"%PDF") and original.headers["Content-Type"] == "application/pdf"
    assert original.headers["Content-Disposition"] == 'inline; filename="slip-000003-original.pdf"'
    made = signed_in(ACCOUNTING).post("/api/v1/slips/3/prints")
    assert (made.status_code, made.json()["copy"], made.json()["by"]) == (201, 1, ACCOUNTING)
    assert signed_in(AUDITOR).get("/slips/000003/prints/0.pdf").content == original.content
    for path in ("/slips/000003/print", "/api/v1/slips/3/prints"):
        assert signed_in(AUDITOR).post(path).status_code == 403
    assert paid.get("/slips/000003/prints/2.pdf").status_code == 404
    assert paid.post("/slips/000009/print").status_code == paid.post("/api/v1/slips/9/prints").status_code == 404
    assert SlipPrint.objects.count() == 2
    assert "original cage" in text_of(paid.get("/slips/000003/")) and "duplicate 1" in text_of(
        paid.get("/slips/000003/")
    )


@pytest.mark.parametrize("role", [*ROLES, None])
def test_slips_are_for_those_who_pay_count_or_look(paid: Client, signed_in: SignedIn, role: str | None) -> None:
    expected = 403 if role in (ADMINISTRATOR, SECURITY, None) else 200
    client = signed_in(role)
    for path in ("/slips/", "/slips/000003/", "/api/v1/slips", "/api/v1/slips/3"):
        assert client.get(path).status_code == expected, path


FORM = {
    "name": ["Pat Winner", ""], "address": ["1 Main Street", ""], "taxpayer_number": ["123-45-6789", ""],
    "first_id": ["MA S1", ""], "second_id": ["passport", ""],
}  # fmt: skip


def test_who_won_is_taken_down_shown_to_nobody_but_who_files_and_each_look_is_on_record(
    paid: Client, signed_in: SignedIn
) -> None:
    address = f"/slips/winners/{HIT}/"
    page = paid.get(address)
    assert page.headers["Cache-Control"] == "no-store"
    for name, (_, longest) in FIELDS.items():
        lengths = re.findall(rf'<input [^>]*name="{name}" [^>]*maxlength="(\d+)"', page.content.decode())
        assert lengths == [str(longest)] * 4, f"{name}: four are asked at first, and no more is typed than is kept"
    cents = int(page.context["cents"])
    answer = paid.post(address, FORM | {"share": [f"{cents // 100:,}.{cents % 100:02d}", ""]})
    assert answer.status_code == 302 and answer.headers["Location"] == "/slips/000003/"
    assert Particulars.objects.count() == 1
    assert f"Kept, sealed: who won {HIT}." in text_of(paid.get("/slips/000003/"))
    for client in (paid, signed_in(CONTROLLER), signed_in(AUDITOR)):
        for path in ("/slips/000003/", "/slips/"):
            assert "Pat Winner" not in client.get(path).content.decode()
    assert "Pat Winner" not in paid.get(address).content.decode(), "what was taken down is never shown again there"
    assert paid.post(f"{address}look", {"reason": "curious"}).status_code == 403
    assert signed_in(AUDITOR).post(f"{address}look", {"reason": "curious"}).status_code == 403
    assert not AuditRecord.objects.filter(action="look at particulars").exists()
    shown = signed_in(ACCOUNTING).post(f"{address}look", {"reason": "filing"})
    body = text_of(shown)
    assert "Pat Winner" in body and "123-45-6789" in body and "4 Federal income tax withheld" in body
    assert shown.headers["Cache-Control"] == "no-store" and shown.context["is_shared"] is False
    assert AuditRecord.objects.get(action="look at particulars").actor == ACCOUNTING
    for client in (paid, signed_in(AUDITOR)):
        assert client.post(f"{address}form", {"form": "w-2g", "payee": "1", "reason": "filing"}).status_code == 403
    form = signed_in(ACCOUNTING).post(f"{address}form", {"form": "w-2g", "payee": "1", "reason": "filing"})
    assert (form.status_code, form.headers["Cache-Control"]) == (200, "no-store") and form.content.startswith(b"%PDF")
    assert form.headers["Content-Disposition"] == 'inline; filename="w-2g-000003-1.pdf"'
    assert signed_in(ACCOUNTING).post(f"{address}form", {"form": "w-2"}).status_code == 400
    assert signed_in(ACCOUNTING).post(f"{address}form", {"form": "5754", "reason": "x"}).status_code == 302
    looks = AuditRecord.objects.filter(action="look at particulars")
    assert looks.count() == 2
    assert signed_in(CONTROLLER).post(f"{address}look", {"reason": " "}).status_code == 302
    assert looks.count() == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"share": ["5", ""]}, "the shares come to 500 cents"),
        ({"share": ["x", ""]}, "/payees/0/share_cents"),
        ({"second_id": ["", ""]}, "Second identification is missing"),
        ({"taxpayer_number": ["12", ""]}, "nine digits are expected"),
        ({"share": ["5"], "name": ["Pat Winner", "", " "]}, "the shares come to 500 cents"),
    ],
)
def test_what_cannot_be_taken_down_is_said_and_what_was_typed_stays(paid: Client, changes: Any, said: str) -> None:
    response = paid.post(f"/slips/winners/{HIT}/", FORM | {"share": ["10", ""]} | changes)
    assert response.status_code == 422 and said in text_of(response)
    assert "Pat Winner" in response.content.decode() and not Particulars.objects.exists()


@pytest.mark.parametrize("role", [AUDITOR, ADMINISTRATOR, SECURITY])
def test_who_won_is_taken_down_by_those_who_pay_or_count(paid: Client, signed_in: SignedIn, role: str) -> None:
    assert signed_in(role).get(f"/slips/winners/{HIT}/").status_code == 403
    assert paid.get("/slips/winners/ms-mg01-000009/").status_code == 404


def test_who_won_over_http_by_role_and_by_field(paid: Client, signed_in: SignedIn) -> None:
    def post(client: Client, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        answer = client.post(f"/api/v1/winners{path}", json.dumps(body), content_type="application/json")
        return answer.status_code, answer.json()

    cents = paid.get("/api/v1/slips/3").json()["cents"]
    payee = {"name": "Pat Winner", "address": "1 Main Street", "first_id": "MA S1", "second_id": "passport"}
    body = {"subject": HIT, "payees": [payee | {"share_cents": cents}]}
    assert post(signed_in(AUDITOR), "", body)[0] == 403
    status, said = post(paid, "", body | {"payees": [payee]})
    assert (status, said["code"], said["pointer"]) == (422, "missing_field", "/payees/0/share_cents")
    assert post(paid, "", {"subject": HIT})[1]["pointer"] == "/payees"
    assert post(paid, "", body | {"x": 1})[1]["code"] == "unknown_field"
    assert post(paid, "", body | {"subject": 5})[1]["pointer"] == "/subject"
    assert post(paid, "", body | {"subject": "ms-mg01-000009"})[1]["code"] == "unknown_subject"
    assert not Particulars.objects.exists()
    assert post(paid, "", body) == (201, {"subject": HIT, "edition": 1, "payees": 1})
    look = {"subject": HIT, "reason": "filing"}
    assert post(paid, "/looks", look)[0] == post(signed_in(AUDITOR), "/looks", look)[0] == 403
    assert post(signed_in(ACCOUNTING), "/looks", look | {"reason": ""})[1]["code"] == "missing_field"
    assert not AuditRecord.objects.filter(action="look at particulars").exists()
    status, said = post(signed_in(ACCOUNTING), "/looks", look)
    assert (status, said["payees"][0]["name"], said["payees"][0]["share_cents"]) == (200, "Pat Winner", cents)
    assert AuditRecord.objects.get(action="look at particulars").actor == ACCOUNTING
