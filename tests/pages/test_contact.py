"""A table without contact on the pages: the floor, its own page, and the beat that links' pages and signs hear."""

from __future__ import annotations

from datetime import timedelta

from django.core.cache import cache
from django.utils import timezone

from accounting.rules.roles import SUPERVISOR
from devices.intake import contact
from devices.models import Device
from jackpot.pulse import PULSE, Pulse
from tables.models import Table
from tests.pages.conftest import SignedIn, text_of
from tests.pages.test_pulse import felt
from tests.services.house import LINKED, House


def test_whoever_looks_sees_that_a_progressive_is_closed_and_open_again(house: House, signed_in: SignedIn) -> None:
    device = Device.objects.create(code="G-1", enrolled_at=timezone.now())
    device.tables.set(Table.objects.filter(code=LINKED))
    client, now = signed_in(SUPERVISOR), timezone.now()
    contact.hear(device.pk, at=now - timedelta(seconds=30))
    pages = ("/", "/floor/now")
    assert all("progressive closed" not in text_of(client.get(page)) for page in pages)
    assert contact.watch(at=now) == [LINKED]
    cache.clear()
    for page in pages:
        shown = text_of(client.get(page))
        assert "MS-101 has lost contact" in shown
        assert shown.count("progressive closed") == 1
    shown = text_of(client.get(f"/floor/tables/{LINKED}/"))
    assert "progressive closed: no contact" in shown
    assert "table contact: lost, its progressive is closed" in shown
    assert "the service" in shown
    assert "contact lost" in text_of(client.get("/devices/"))
    assert PULSE.silent is not None
    assert PULSE.silent() == {"ms-mg01": [LINKED]}
    contact.hear(device.pk, at=now + timedelta(seconds=1))
    assert contact.watch(at=now + timedelta(seconds=2)) == [LINKED]
    cache.clear()
    assert all("progressive closed" not in text_of(client.get(page)) for page in pages)
    assert PULSE.silent() == {}


def test_a_line_that_is_down_is_one_alert_however_many_tables_it_has(house: House, signed_in: SignedIn) -> None:
    now, client = timezone.now(), signed_in(SUPERVISOR)
    for seconds, code in enumerate(("MS-101", "MS-102", "TW-201")):
        device = Device.objects.create(code=f"G-{code}", enrolled_at=now)
        device.tables.set(Table.objects.filter(code=code))
        contact.hear(device.pk, at=now - timedelta(seconds=30 + seconds))
    assert len(contact.watch(at=now)) == 3
    shown = client.get("/").content.decode()
    assert shown.count("lost contact") == 1
    assert "3 tables have lost contact" in shown
    assert "MS-101, MS-102, TW-201: progressives closed until their gateways give signs of life" in text_of(
        client.get("/")
    )
    assert shown.count("progressive closed") == 3, "each table says so where it stands"


def test_a_beat_names_the_tables_without_contact_where_there_are_any() -> None:
    beating = Pulse()
    beating.silent = lambda: {"twin": ["TW-201"]}
    assert felt(beating)["silent"] == {"twin": ["TW-201"]}
    beating.silent = dict
    assert "silent" not in felt(Pulse())


def test_a_sign_and_a_links_page_have_a_place_for_it(house: House, signed_in: SignedIn) -> None:
    for page in ("/sign/twin", "/jackpots/twin/"):
        assert 'data-silent="twin" hidden' in signed_in(SUPERVISOR).get(page).content.decode()
