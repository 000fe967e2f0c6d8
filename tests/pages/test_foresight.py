"""Before signing it, see it: the page of proposed terms, and a replay from its start to its result."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounting.office.models import Job
from accounting.office.services import jobs
from accounting.rules.roles import ACCOUNTING, ADMINISTRATOR, AUDITOR, CONTROLLER, ROLES
from devices.views import foresight
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import OPENED, House, message, royal

FORM = "/jackpots/ms-mg01/foresee/"
AT = datetime(2026, 11, 28, 4, 0, tzinfo=UTC)
TODAY = {
    "0-reset_cents": "10,000.00", "0-rate_ppm": "17.0003", "0-reserve_ppm": "3.0007", "0-limit_cents": "500,000.00",
    "0-unreasonable_cents": "", "0-overflow_policy": "next_reset", "0-seed_funding": "reserve_then_house",
    "0-floor_policy": "allow", "wagers": "200000",
}  # fmt: skip


@pytest.fixture
def administrator(house: House, signed_in: SignedIn) -> Client:
    """A links administrator, on a link with a few rounds."""
    house.play(message("R-1"), royal("R-2"), message("R-3"))
    return signed_in(ADMINISTRATOR)


def test_who_may_foresee(administrator: Client, signed_in: SignedIn) -> None:
    for role in ROLES:
        client = signed_in(role)
        may = role in (ADMINISTRATOR, ACCOUNTING, CONTROLLER, AUDITOR)
        assert client.get(FORM).status_code == (200 if may else 403), role
        if may:
            assert "Foresee terms" in text_of(client.get("/jackpots/ms-mg01/")), role
        elif role != "security":
            assert "Foresee terms" not in text_of(client.get("/jackpots/ms-mg01/")), role


def test_the_form_begins_with_todays_terms(administrator: Client) -> None:
    page = administrator.get(FORM).content.decode()
    for name, value in TODAY.items():
        if name != "wagers" and value and "policy" not in name and "funding" not in name:
            assert f'name="{name}" value="{value}"' in page, name
    with time_machine.travel(AT, tick=False):  # 26 days and 16 hours after the opening, with four wagers on record
        assert "The record makes 4 wagers a month" in text_of(administrator.get(FORM))
    with time_machine.travel(OPENED, tick=False):
        said = text_of(administrator.get(FORM))
        assert "The record is too short" in said and "Hits a month" not in said


def test_todays_figures_stand_beside_the_proposed(administrator: Client) -> None:
    said = text_of(administrator.post(FORM, TODAY | {"0-rate_ppm": "25"}))
    assert "Proposed" in said
    # 200,000 wagers of a dollar: exactly 17.0003 % and 25 % of them.
    assert "Contributed a month $34,000.60 $50,000.00 exact" in said
    assert "Hits a month 3.08 1 to 6 3.08 1 to 6 exact" in said
    assert "200,000 wagers a month of $1.00" in said


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"0-rate_ppm": "a lot"}, "Rate_ppm of level major: a percentage like 17 or 17.0003 is expected"),
        ({"0-rate_ppm": "99"}, "of level major: rate_ppm and reserve_ppm together take more than the whole wager"),
        ({"0-limit_cents": "100.00"}, "Limit_cents of level major: below reset_cents"),
        ({"0-limit_cents": "10,000.00"}, "the level shows more than its new limit"),
        ({"wagers": "0"}, "Wagers: a whole number from 1"),
        ({"from": "2026-11-28", "to": "2026-11-27"}, "To: a day not before 2026-11-28"),
    ],
)  # fmt: skip
def test_terms_that_cannot_stand_are_refused_at_their_field(
    administrator: Client, typed: dict[str, str], said: str
) -> None:
    answer = administrator.post(FORM, TODAY | typed)
    assert answer.status_code == 422
    assert said in text_of(answer)
    if "0-rate_ppm" in typed or "0-limit_cents" in typed:
        assert 'aria-invalid="true"' in answer.content.decode()


NEW = """
code = "high-tide"
paytable = "ms-mg-02"
[initial]
major = 7500000
[[levels]]
code = "major"
reset_cents = 5000000
rate_ppm = 200000
"""


def test_a_link_that_is_not_there_yet(administrator: Client) -> None:
    assert "a link that is not there yet" in text_of(administrator.get("/foreseen/new/"))
    said = text_of(administrator.post("/foreseen/new/", {"terms": NEW, "wagers": "100000"}))
    assert "100,000 wagers a month of $5.00" in said and "Today" not in said
    assert "Contributed a month $100,000.00 exact" in said and "at $75,000.00" in said
    for terms, wagers, refusal in (
        (NEW, "", "Wagers: how many a month"),
        (NEW.replace("200000", "-1"), "5", "Levels[0].rate_ppm: 0 at least"),
        ("", "5", "Paytable: missing"),
        ("[", "5", "Neither TOML nor JSON"),
    ):
        answer = administrator.post("/foreseen/new/", {"terms": terms, "wagers": wagers})
        assert answer.status_code == 422 and refusal in text_of(answer), refusal


def test_a_replay_from_its_start_to_its_result(administrator: Client, signed_in: SignedIn) -> None:
    answer = administrator.post(FORM, TODAY | {"0-rate_ppm": "20", "replay": "1"})
    job = Job.objects.get()
    assert answer.headers["Location"] == f"/foreseen/{job.pk}/"
    assert (job.kind, job.asked["link"], job.asked["first"], job.asked["last"]) == ("foresee", "ms-mg01", 1, 3)
    assert "Waits for a worker" in text_of(administrator.get(f"/foreseen/{job.pk}/"))
    again = administrator.post(FORM, TODAY | {"replay": "1"})
    assert again.headers["Location"] == f"/foreseen/{job.pk}/", "one at a time"
    assert jobs.run(job.pk, clock=lambda: AT)
    answer = administrator.get(f"/foreseen/{job.pk}/")
    said = text_of(answer)
    # Before the royal three wagers: 51.0009 cents as it was, 60 as it would have been.
    assert "Paid from the meter $10,000.51 $10,000.60 $0.09" in said
    assert "Hits 1 1 0" in said
    assert 'role="img" aria-label="Level major: the meter ended at' in answer.content.decode()
    assert "royal flush: paid $10,000.51, would have paid $10,000.60" in answer.content.decode()
    for paid, words in (
        ((5, None), "paid $0.05, would have paid nothing"),
        ((None, 0), "paid nothing, would have paid $0.00"),
    ):
        hit = dict(zip(("was_cents", "would_cents"), paid, strict=True), hand="full_house")
        assert foresight._hit_in_words(hit) == f"full house: {words}"
    part = administrator.get(f"/foreseen/{job.pk}/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part and "hx-trigger" not in part, "over, it is not asked for again"
    assert "/cancel" not in part
    auditor = signed_in(AUDITOR)
    assert auditor.get(f"/audit/jobs/{job.pk}/").headers["Location"] == f"/foreseen/{job.pk}/"
    assert "Replay under proposed terms" in text_of(auditor.get("/audit/"))
    assert "/audit/jobs/new/foresee" not in auditor.get("/audit/").content.decode()
    assert auditor.post("/audit/jobs/new/foresee").status_code == 404, "it must be told what to replay"
    assert signed_in("cage").get(f"/foreseen/{job.pk}/").status_code == 403


@pytest.mark.parametrize(
    ("role", "address", "given"),
    [
        (ADMINISTRATOR, FORM, TODAY | {"replay": "1"}),
        (AUDITOR, "/audit/packs/", {"stream": "ms-mg01"}),
        (ACCOUNTING, "/accounting/days/2026-11-27/verify", {}),
    ],
)
def test_a_worker_is_called_for_work_once_it_is_stored(
    role: str, address: str, given: dict[str, str], administrator: Client, signed_in: SignedIn,
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any,
) -> None:  # fmt: skip
    called: list[int] = []
    monkeypatch.setattr(jobs, "call", called.append)
    with django_capture_on_commit_callbacks() as once_stored:
        assert signed_in(role).post(address, given).status_code == 302
    assert called == [], "not before"
    for act in once_stored:
        act()
    assert called == [Job.objects.get().pk]


def test_other_work_is_no_replay_and_no_report(house: House, signed_in: SignedIn) -> None:
    auditor = signed_in(AUDITOR)
    auditor.post("/audit/jobs/new/verify")
    job = Job.objects.get()
    assert job.kind == "verify"
    for page in (f"/foreseen/{job.pk}/", f"/reports/made/{job.pk}/"):
        assert auditor.get(page).status_code == 404, page
    assert auditor.post(f"/foreseen/{job.pk}/cancel").status_code == 404
    assert Job.objects.get().state == "queued", "nobody cancelled it"


def test_a_replay_is_cancelled_from_its_page_while_it_waits_or_runs_and_once_only(administrator: Client) -> None:
    administrator.post(FORM, TODAY | {"replay": "1"})
    job = Job.objects.get()
    page, button = f"/foreseen/{job.pk}/", f'action="/foreseen/{job.pk}/cancel"'
    assert button in administrator.get(page).content.decode()
    job.state, job.started_at, job.beat_at = "running", timezone.now(), timezone.now()
    job.save()
    assert button in administrator.get(page).content.decode()
    administrator.post(f"/foreseen/{job.pk}/cancel")
    asked = administrator.get(page)
    assert "asked to stop by" in text_of(asked) and button not in asked.content.decode()
    Job.objects.update(state="queued", started_at=None, beat_at=None, cancel_asked_at=None, cancel_asked_by="")
    administrator.post(f"/foreseen/{job.pk}/cancel")
    assert Job.objects.get().state == "cancelled"
    over = administrator.get(page)
    assert "cancelled" in text_of(over) and button not in over.content.decode()


def test_a_period_without_rounds_starts_nothing(administrator: Client) -> None:
    answer: Any = administrator.post(FORM, TODAY | {"replay": "1", "from": "2027-01-01"}, follow=True)
    assert "no rounds on record in this period" in text_of(answer)
    assert not Job.objects.exists()
