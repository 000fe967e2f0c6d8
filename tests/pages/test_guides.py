"""The guides: read by everybody, one's own first; what they claim is what is declared and in force."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from accounting.guides import wording
from accounting.guides.text import Mark, guide_of, taken_apart
from accounting.office import registry
from accounting.office.acts import Tier
from accounting.office.services import tiers
from accounting.rules.roles import AUDITOR, CAGE, MANAGER, ROLES, SUPERVISOR
from tests.guides.taking import HEAVIEST, TAKEN, digest, guides
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import House


def test_everybody_reads_every_guide_and_their_own_first(house: House, signed_in: SignedIn) -> None:
    for role, name in ROLES.items():
        client = signed_in(role)
        own = text_of(client.get("/guide/"))
        assert f"Guide: {name} your role" in own
        for other in ROLES:
            answer = client.get(reverse("guide-of", args=[other]))
            assert answer.status_code == 200
            assert (f"Guide: {ROLES[other]} your role" in text_of(answer)) is (other == role)
    others = signed_in(CAGE).get("/guide/accounting/").content.decode()
    shown = others[others.index("<main") :]
    assert 'href="/accounting/' not in shown and 'href="/decisions/new/' not in shown, "named without a link"
    assert 'href="/decisions/"' in shown
    both = text_of(signed_in(SUPERVISOR, MANAGER).get("/guide/"))
    assert "Pit supervisor (yours) Shift manager (yours) Accounting" in both
    assert text_of(signed_in(None).get("/guide/")).count("(yours)") == 0
    assert signed_in(CAGE).get("/guide/owner/").status_code == 404
    assert Client().get("/guide/").status_code == 302


def test_what_a_guide_leads_to_is_open_to_its_role(house: House, signed_in: SignedIn) -> None:
    acts = registry.acts()
    for guide in guides():
        client = signed_in(guide.role)
        for step in guide.all_steps():
            marks = list(step.marks())
            for page in {step.page, *(mark.of for mark in marks if mark.kind == "page")}:
                assert client.get(reverse(page)).status_code == 200, f"{guide.role}: {step.title}: {page}"
            for mark in marks:
                if mark.kind == "ask":
                    assert guide.role in acts[mark.of].proposes, f"{guide.role} does not ask for {mark.of}"
                elif mark.kind == "agree":
                    agreeing = {tier.role for tier in acts[mark.of].approves if tier.count}
                    assert guide.role in agreeing, f"{guide.role} does not agree to {mark.of}"
                elif mark.kind in ("act", "who"):
                    assert mark.of in acts
                elif mark.kind == "role":
                    assert mark.of in ROLES


def test_every_act_of_a_role_is_in_its_guide_with_who_must_agree_now(house: House, signed_in: SignedIn) -> None:
    for role in ROLES:
        body = text_of(signed_in(role).get("/guide/"))
        for act in registry.acts().values():
            asks, agrees = role in act.proposes, any(tier.role == role and tier.count for tier in act.approves)
            if asks or agrees:
                said = f"{act.title} {'asks' if asks else '–'} {'agrees' if agrees else '–'}"
                assert said in body, f"{role}: {said}"
    assert "this role changes neither the game nor the books" in text_of(signed_in(AUDITOR).get("/guide/"))
    before = text_of(signed_in(MANAGER).get("/guide/"))
    assert "Needed beside you: 1 × shift manager from $100,000.00" in before
    act = registry.acts()["hit.approve"]
    tiers.publish(act, [Tier(7_000_000, MANAGER, 2)], at=datetime.now(UTC), by="a")
    assert "Needed beside you: 2 × shift manager from $70,000.00" in text_of(signed_in(MANAGER).get("/guide/"))


def test_every_picture_is_there_small_and_as_it_was_taken() -> None:
    shown = {step.picture.name for guide in guides() for step in guide.steps if step.picture}
    kept = wording.pictures()
    assert shown == kept.keys() == {file.stem for file in TAKEN.iterdir()}
    assert {name.partition("-")[0] for name in shown} == set(ROLES)
    for name, picture in kept.items():
        file = (TAKEN / f"{name}.webp").read_bytes()
        assert len(file) < HEAVIEST, f"{name} weighs {len(file):,} bytes"
        assert size_of(file) == (picture["width"], picture["height"]), name
        assert digest(picture["structure"]) == picture["digest"], name


def size_of(file: bytes) -> tuple[int, int]:
    """Width and height of a WebP picture with a colour profile, as a browser takes it."""
    assert (file[:4], file[8:16]) == (b"RIFF", b"WEBPVP8X"), "an extended WebP"
    return int.from_bytes(file[24:27], "little") + 1, int.from_bytes(file[27:30], "little") + 1


def test_a_text_is_taken_apart_and_no_unknown_mark_gets_through() -> None:
    assert taken_apart("See *My turn*, then {ask hit.pay}; {page hits|there} or {key g h}.") == (
        "See ", Mark("name", "My turn"), ", then ", Mark("ask", "hit.pay"), "; ", Mark("page", "hits", "there"), " or ",
        Mark("key", "g h"), ".",
    )  # fmt: skip
    with pytest.raises(ValueError, match="no mark of a guide"):
        taken_apart("{shout loud}")
    with pytest.raises(FileNotFoundError):
        guide_of("owner")
