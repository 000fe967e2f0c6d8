"""The button of a payout's page that decides its event again, and the same over the API."""

from __future__ import annotations

import re

from accounting.rules.roles import AUDITOR
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import House, message, run, two_hits
from tests.services.test_on_the_spot import CHANGES, STREAM


def test_the_button_of_a_payout_s_page(house: House, signed_in: SignedIn) -> None:
    house.play(message("R-1"), two_hits("R-2"), message("R-3"))
    client = signed_in(AUDITOR)
    address = f"/payouts/{STREAM}-2-1/"
    assert "Verified on the spot" not in text_of(client.get(address))
    shown = text_of(client.post(address))
    assert "Verified on the spot no difference" in re.sub(r"\s+", " ", shown)
    assert "before, as event 1 left it" in shown
    told = client.get(f"/api/v1/payouts/{STREAM}-2-1/verification").json()
    assert (told["ok"], told["difference"], told["sequence"]) == (True, None, 2)
    assert {each["what"] for each in told["compared"]} >= {
        "Message",
        "Settlement",
        "Payouts",
        "Ledger",
        "Hash",
        "Signed",
    }
    assert client.get("/api/v1/payouts/ms-mg01-999-1/verification").status_code == 404
    assert client.post("/payouts/ms-mg01-999-1/").status_code == 404
    assert client.post("/payouts/nowhere/").status_code == 404
    run("SET LOCAL session_replication_role = replica")
    run(CHANGES["payout"][0])
    run("SET LOCAL session_replication_role = origin")
    shown = text_of(client.post(address))
    assert "What is on record is not what the rules make of it" in shown
    assert "payouts: expected" in shown.lower()
