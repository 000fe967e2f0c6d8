"""Locks on pages: of a round that waits for its result, of one that was decided, and as an exception on the floor."""

from __future__ import annotations

import re
from datetime import timedelta

from django.core.cache import cache
from django.utils import timezone

from accounting.rules.roles import MANAGER, SUPERVISOR
from devices.intake import lost_locks
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import DEALT, LINKED, House, locked, message, royal, seat


def test_a_locked_round_has_a_page_and_can_be_called_void_there(house: House, signed_in: SignedIn) -> None:
    house.play(locked("R-1", 1, 3))
    client = signed_in(MANAGER)
    page = client.get(f"/rounds/{LINKED}/R-1")
    shown = text_of(page)
    for words in ("Locked, and no result yet", "waits for its result", "seat 1 $1.00", "seat 3 $1.00", "Void a lock"):
        assert words in shown
    assert f'lock.void/?subject={LINKED}/R-1"' in page.content.decode().replace("%2F", "/")
    house.act("lock.void", f"{LINKED}/R-1")
    shown = text_of(client.get(f"/rounds/{LINKED}/R-1"))
    assert "Void, as people decided" in shown
    assert "Void a lock" not in shown
    assert client.get(f"/rounds/{LINKED}/R-2").status_code == 404


def test_a_round_shows_what_its_lock_brought(house: House, signed_in: SignedIn) -> None:
    early = (DEALT - timedelta(seconds=30)).isoformat()
    house.play(locked("R-1", 1, 3, locked_at=early), royal("R-1"), locked("R-2", 1, 2), message("R-2"))
    client = signed_in(SUPERVISOR)
    shown = text_of(client.get(f"/rounds/{LINKED}/R-1"))
    for words in ("Contributed by the lock", "decided, by event", "locked "):
        assert words in shown
    assert "which cannot be" not in shown
    floor = client.get("/").content.decode()
    assert "its receipt counts" not in floor
    payouts = client.get("/payouts/").content.decode()
    assert "its receipt counts" not in payouts
    assert "the round counts from its lock" in payouts
    held = text_of(client.get(f"/rounds/{LINKED}/R-2"))
    assert "no wager in the result, $1 when it was locked" in held


def test_an_overdue_result_is_shown_until_it_comes(house: House, signed_in: SignedIn) -> None:
    house.now = timezone.now() - timedelta(hours=1)
    house.play(locked("R-1"))
    assert lost_locks.look(at=timezone.now()) == 1
    client = signed_in(SUPERVISOR)
    cache.clear()
    for page in ("/", "/floor/now"):
        shown = client.get(page)
        assert "lock without result" in text_of(shown)
        assert f'href="/rounds/{LINKED}/R-1"' in shown.content.decode()
    assert "lock without result" in text_of(client.get("/devices/"))
    house.play(message("R-1", seat(1, "3s 3s", progressive=100)))
    cache.clear()
    assert "lock without result" not in text_of(client.get("/"))


def test_how_a_payout_with_a_lock_was_reached(house: House, signed_in: SignedIn) -> None:
    house.play(locked("R-0"), locked("R-1", 1, 3), royal("R-1"), locked("R-2", 1, 3), royal("R-2"))
    house.act("lock.void", f"{LINKED}/R-0")
    client = signed_in(SUPERVISOR)
    address = re.findall(r'href="(/payouts/[^"?]+)"', client.get(f"/rounds/{LINKED}/R-2").content.decode())[0]
    shown = text_of(client.get(address))
    assert "locked " in shown
    assert "which cannot be" not in shown
