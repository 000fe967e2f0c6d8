"""The queue of hits, one hit's page, and what voids show: whose turn it is, what may be done, why one was first."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from accounting.rules.roles import ACCOUNTING, AUDITOR, CAGE, CONTROLLER, MANAGER, SUPERVISOR
from tests.pages.conftest import SignedIn, text_of
from tests.pages.test_decided import agree, ask, offered
from tests.services.house import LINKED, NEIGHBOUR, RECEIVED, House, message, royal, seat, two_hits
from tests.services.winners import taken_down

FIRST, SECOND = "ms-mg01-000001", "ms-mg01-000002"


ROUNDS = (f"{LINKED}/R-1", f"{NEIGHBOUR}/R-2", f"{LINKED}/R-3")


def test_the_queue_says_whose_turn_it_is(house: House, signed_in: SignedIn) -> None:
    house.play(royal("R-1"), royal("R-2", table=NEIGHBOUR), royal("R-3"))
    house.act("hit.verify", SECOND)
    house.act("hit.verify", "ms-mg01-000003")
    house.act("hit.approve", "ms-mg01-000003")
    body = text_of(signed_in(AUDITOR).get("/hits/"))
    assert f"{FIRST} no. 1 of its link MS-101 seat 3 ms-mg01/major 100% for royal flush" in body
    assert "3 on their way" in body
    assert "Verify a hit pit supervisor or shift manager" in body
    assert "Approve a hit shift manager" in body
    assert "Pay a hit cage, or at the table pit supervisor or shift manager" in body
    assert "1 more shift manager" not in body, "these are not large enough for two"
    for role, acts in (
        (SUPERVISOR, {("hit.verify", FIRST), ("hit.pay", "ms-mg01-000003")}),
        (MANAGER, {("hit.verify", FIRST), ("hit.approve", SECOND), ("hit.pay", "ms-mg01-000003")}),
        (CAGE, {("hit.pay", "ms-mg01-000003")}),
        (CONTROLLER, set()),
    ):
        client = signed_in(role)
        owed = set() if role == CONTROLLER else {("payout.pay", f"{name}/1/3") for name in ROUNDS}
        assert offered(client, "/hits/") == acts | owed, role
        mine = text_of(client.get("/hits/?turn=mine"))
        assert (FIRST in mine) == (("hit.verify", FIRST) in acts), role
        assert ("None waits for you." in mine) == (not acts)


@pytest.mark.parametrize(
    ("role", "acts"),
    [
        (
            SUPERVISOR,
            {
                ("hit.verify", FIRST), ("payout.pay", f"{LINKED}/R-1/1/3"), ("slip.issue", f"{LINKED}/R-1/1/3"),
                ("round.void", f"{LINKED}/R-1"),
            },
        ),
        (
            MANAGER,
            {
                ("hit.verify", FIRST), ("hit.reject", FIRST), ("payout.pay", f"{LINKED}/R-1/1/3"),
                ("slip.issue", f"{LINKED}/R-1/1/3"), ("round.void", f"{LINKED}/R-1"),
            },
        ),
        (CAGE, {("payout.pay", f"{LINKED}/R-1/1/3"), ("slip.issue", f"{LINKED}/R-1/1/3")}),
        (ACCOUNTING, set()),
    ],
)  # fmt: skip
def test_a_hit_offers_what_the_role_may_do_with_it(
    house: House, signed_in: SignedIn, role: str, acts: set[tuple[str, str]]
) -> None:
    house.play(royal("R-1"))
    with time_machine.travel(RECEIVED, tick=False):
        assert offered(signed_in(role), f"/hits/{FIRST}/") == acts


def test_accounting_is_offered_what_nobody_came_for_from_the_day_after(house: House, signed_in: SignedIn) -> None:
    house.play(royal("R-1"))
    with time_machine.travel(RECEIVED + timedelta(days=1), tick=False):
        assert offered(signed_in(ACCOUNTING), f"/hits/{FIRST}/") == {("payout.unclaimed", f"{LINKED}/R-1/1/3")}


def test_a_hits_page_tells_its_steps_its_order_and_what_was_booked(house: House, signed_in: SignedIn) -> None:
    house.play(message("R-0"), two_hits("R-1"), royal("R-2", table=NEIGHBOUR))
    supervisor, manager, cage = signed_in(SUPERVISOR), signed_in(MANAGER), signed_in(CAGE)
    ask(supervisor, "hit.verify", SECOND, payload={"checks": ["cards", "seat"]}, reason="fan of cards seen")
    ask(manager, "hit.approve", SECOND, payload={"note": "tape 12"}, reason="agreed")
    page = text_of(cage.get(f"/hits/{SECOND}/"))
    assert "checked: cards, seat; fan of cards seen" in page
    assert "Next Pay a hit Who may take it cage, or at the table pit supervisor or shift manager" in page
    assert "Who won" in page and "Who won" not in text_of(signed_in(AUDITOR).get(f"/hits/{SECOND}/"))
    assert "Why it is no. 2" in page
    assert f"{FIRST} 2 1 MS-101 seat 6" in page
    assert f"{SECOND} 2 2 MS-101 seat 2" in page
    assert "ms-mg01-000003 3 1 MS-102 seat 3" in page
    taken_down(SECOND)
    ask(cage, "hit.pay", SECOND, payload={"method": "cage"}, reason="cash")
    page = text_of(cage.get(f"/hits/{SECOND}/"))
    assert "Awards payable to players → Cage" in page
    assert "Verify a hit ms-mg01-000002" in page, "by its title, not by its code"
    (paid,) = re.findall(r"/decisions/\d+/", cage.get("/decisions/?act=hit.pay").content.decode())
    assert f'<a href="/hits/{SECOND}/">{SECOND}</a>' in cage.get(paid).content.decode()
    assert "Next Pay a hit" not in page
    assert cage.get(f"/hits/{SECOND.replace('-000002', '-2')}/").headers["Location"] == f"/hits/{SECOND}/"
    assert cage.get("/hits/ms-mg01-000009/").status_code == 404
    over = text_of(cage.get("/hits/"))
    assert "paid" in over[over.index("Paid, rejected or the state's") :]


def test_before_a_hit_is_rejected_it_says_what_would_change(house: House, signed_in: SignedIn) -> None:
    house.play(two_hits("R-1"), message("R-2"))
    form = {"seen": "detected", "subject": SECOND, "reason": "misread", "look": "1"}
    response = signed_in(MANAGER).post(f"/decisions/new/hit.reject/?subject={SECOND}", form)
    assert response.status_code == 200, text_of(response)
    shown = text_of(response)
    assert f"Hit {SECOND}" in shown
    assert "detected rejected" in shown
    assert f"Envy payout {LINKED}/R-1/4/2" in shown
    assert "owed cancelled" in shown
    assert "Meter ms-mg01/major" in shown
    assert "Booked: rejection, Awards payable to players → Jackpot liability, ms-mg01 major" in shown


def test_a_voided_round_is_void_wherever_it_is_shown(house: House, signed_in: SignedIn) -> None:
    house.play(message("R-0"), royal("R-1"))
    before = day_of(signed_in(CONTROLLER))
    supervisor, manager = signed_in(SUPERVISOR), signed_in(MANAGER)
    agree(manager, ask(supervisor, "round.void", f"{LINKED}/R-1", reason="dealt from a dead deck"))
    page = text_of(supervisor.get(f"/rounds/{LINKED}/R-1"))
    assert "Void, as people decided afterwards." in page
    assert "dealt from a dead deck" in page
    assert "agreed: manager" in page
    assert offered(supervisor, f"/rounds/{LINKED}/R-1") == set(), "it cannot be voided twice"
    assert ("round.void", f"{LINKED}/R-0") in offered(supervisor, f"/rounds/{LINKED}/R-0")
    rejected = text_of(supervisor.get(f"/hits/{FIRST}/"))
    assert "its round is void" in rejected
    assert "rejected" in rejected
    listed = text_of(supervisor.get(f"/payouts/?table={LINKED}"))
    assert listed.count("void") >= 2
    assert "cancelled" in listed
    table = text_of(supervisor.get(f"/floor/tables/{LINKED}/"))
    assert "void" in table
    assert before != day_of(signed_in(CONTROLLER))


def day_of(client: Any) -> str:
    """The line of the table on the page of its gaming days."""
    from django.core.cache import cache

    cache.clear()
    return text_of(client.get("/accounting/tables/"))


def test_whoever_comes_to_a_form_without_its_subject_chooses_from_what_it_can_be_done_to(
    house: House, signed_in: SignedIn
) -> None:
    house.play(royal("R-1"), royal("R-2", table=NEIGHBOUR), message("R-3", seat(1, "3s 3s")))
    house.act("hit.verify", SECOND)
    house.act("table.close", NEIGHBOUR)

    def offers(role: str, act: str, subject: str = "") -> list[str]:
        body = signed_in(role).get(f"/decisions/new/{act}/{subject}").content.decode()
        return re.findall(
            r'<option value="([^"]+)">', body.partition('<datalist id="subjects">')[2].partition("</datalist>")[0]
        )

    assert offers(MANAGER, "hit.approve") == [SECOND]
    assert offers(SUPERVISOR, "hit.verify") == [FIRST]
    assert offers(SUPERVISOR, "table.open") == [NEIGHBOUR]
    assert NEIGHBOUR not in offers(SUPERVISOR, "table.close") != []
    assert offers(SUPERVISOR, "round.correct") == [f"{LINKED}/R-3"]
    assert set(offers(CAGE, "payout.pay")) == {f"{LINKED}/R-1/1/3", f"{NEIGHBOUR}/R-2/1/3"}
    assert "ms-mg01/major" in offers(ACCOUNTING, "level.adjust")
    assert offers(SUPERVISOR, "hit.verify", f"?subject={FIRST}") == [], "who comes for one has chosen"


def test_the_hits_of_a_link_go_on_page_by_page(
    house: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jackpot.views.HITS_SHOWN", 2)
    client = signed_in()

    def shown() -> list[list[str]]:
        pages, address = [], "/jackpots/ms-mg01/"
        while address:
            response = client.get(address)
            pages.append([hit["hit"] for hit in response.context["hits"]])
            onward = re.search(r'rel="next" href="([^"]+)"', response.content.decode())
            address = onward[1] if onward else ""
        return pages

    names = [f"ms-mg01-{number:06d}" for number in range(5, 0, -1)]
    house.play(*(royal(f"R-{number}") for number in range(1, 5)))
    assert shown() == [names[1:3], names[3:5]]
    house.play(royal("R-5"))
    assert shown() == [names[:2], names[2:4], names[4:]]
