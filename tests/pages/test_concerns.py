"""What devices should not have done, and references that look alike, as supervisors see them."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

from django.core.cache import cache
from django.utils import timezone

from accounting.rules.roles import ACCOUNTING, SUPERVISOR
from devices.intake import deals, significant
from devices.intake.significant import Noted
from devices.models import SignificantEvent
from devices.views.concerns import concerns
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import House, message, royal


def test_the_floor_and_the_devices_show_what_a_device_should_not_have_done(house: House, signed_in: SignedIn) -> None:
    """For an hour on the floor, for ever among the significant events."""
    client = signed_in(SUPERVISOR)
    assert "same deal twice" not in text_of(client.get("/"))
    house.play(royal("R-1"), royal("R-2"))
    now = timezone.now()
    assert deals.look(at=now) == 1
    significant.record([(Noted("not_your_table", "demo-TW-201", "MS-101", "R-9"), 1)])
    significant.record([(Noted("reference_reused", "demo-MS-101", "MS-101", "R-1"), 17)])
    cache.clear()
    for page in ("/", "/floor/now"):
        shown = text_of(client.get(page))
        assert "same deal twice" in shown
        assert "MS-101: R-2 is R-1 again," in shown
        assert "reference reused, 17 times" in shown
        assert "demo-TW-201 at MS-101," in shown
    for role, sees in ((SUPERVISOR, True), (ACCOUNTING, False)):
        for page in ("/", "/floor/now"):
            part = signed_in(role).get(page).content.decode().partition('id="concerns"')[2].partition("</section>")[0]
            assert part.count('href="/rounds/MS-101/R-2"') == 1
            assert part.count('href="/devices/') == (3 if sees else 0)
    assert {alert["age"] for alert in concerns(now - timedelta(seconds=5), sees_devices=True)} == {0}, "just now"
    listed = text_of(client.get("/devices/"))
    for words in ("same deal twice", "same as R-1", "not your table", "times 17", "last round R-1"):
        assert words in listed
    SignificantEvent.objects.bulk_create([
        SignificantEvent(recorded_at=now - timedelta(hours=2), code=code, table="MS-101", detail={"round": "R-1"})
        for code in ("same_deal_twice", "reference_reused", "not_your_table")
    ])  # fmt: skip
    assert [alert["title"] for alert in concerns(now + timedelta(hours=2), sees_devices=True)] == []


def test_references_that_look_alike_are_told_apart(house: House, signed_in: SignedIn) -> None:
    """Kept as they came; on the page each sign that could be taken for another is marked and named."""
    alike = ["caf\u00e9 1", "cafe\u0301 1", "caf\u00e9\u00a01", "caf\u00e9 1 "]
    house.play(*(message(reference) for reference in alike))
    assert house.order() == alike
    client = signed_in(SUPERVISOR)
    shown = set()
    for reference in alike:
        html = client.get(f"/rounds/MS-101/{quote(reference, safe='')}").content.decode()
        heading = html.partition("<h1>")[2].partition("</h1>")[0]
        assert "<mark title=" in heading
        shown.add(heading)
    assert len(shown) == 4
    assert '<mark title="U+00A0 no-break space">\u2423</mark>' in client.get("/").content.decode()
