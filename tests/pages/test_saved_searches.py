"""Searches of payouts kept under a name, from the page: used, shared, changed and removed."""

from __future__ import annotations

from accounting.people.models import SavedFilter
from accounting.rules.roles import ACCOUNTING, CAGE, CONTROLLER
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import House, message, royal

PAGE = "/payouts/"


def test_a_search_is_kept_shared_used_and_removed(house: House, signed_in: SignedIn) -> None:
    house.play(royal("R-1"), message("R-2"))
    ann, bob, cat = signed_in(ACCOUNTING), signed_in(ACCOUNTING, CONTROLLER), signed_in(CAGE)
    shown = ann.get(f"{PAGE}?kind=level&min=100&sort=largest")
    assert "Keep this search as" in text_of(shown)
    assert "Keep this search as" not in text_of(ann.get(PAGE)), "everything is no search"
    answer = ann.post(
        f"{PAGE}searches",
        {"query": "kind=level&min=100&sort=largest&cursor=x", "name": "Awards", "share": ACCOUNTING},
        follow=True,
    )
    assert answer.redirect_chain == [(f"{PAGE}?min=100&kind=level&sort=largest", 302)] or answer.redirect_chain == [
        (f"{PAGE}?kind=level&min=100&sort=largest", 302)
    ]
    assert "The search is kept as Awards." in text_of(answer)
    assert "Kind level; At least, $ 100; largest first" in text_of(answer)
    (one,) = SavedFilter.objects.all()
    for client, sees in ((ann, True), (bob, True), (cat, False)):
        assert ("Awards" in text_of(client.get(PAGE))) is sees
        assert client.get(f"{PAGE}?{one.query}").status_code == 200
    assert "ms-mg01-1-" in text_of(bob.get(f"{PAGE}?{one.query}"))

    assert "Not changed: you keep no such search" in text_of(
        bob.post(f"{PAGE}searches/{one.pk}", {"remove": "1"}, follow=True)
    )
    ann.post(f"{PAGE}searches/{one.pk}", {"name": "Awards of a level", "share": ""})
    assert "Awards" not in text_of(bob.get(PAGE))
    assert "Awards of a level" in text_of(ann.get(PAGE))
    refused = ann.post(f"{PAGE}searches", {"query": "seat=1", "name": " ", "share": ""}, follow=True)
    assert "Not kept: a name of 1 to 60 characters" in text_of(refused)
    assert ann.post(f"{PAGE}searches", {"query": "min=lots", "name": "x", "share": ""}).status_code == 400
    assert ann.post(f"{PAGE}searches", {"query": "colour=red", "name": "x", "share": ""}).status_code == 400
    assert "is removed" in text_of(ann.post(f"{PAGE}searches/{one.pk}", {"remove": "1"}, follow=True))
    assert not SavedFilter.objects.exists()
