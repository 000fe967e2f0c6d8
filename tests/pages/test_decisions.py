"""Pages of decisions and long work: what is typed becomes what the API takes, faults stand beside their field, roles decide."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template import Context, Template
from django.test import Client, RequestFactory

from accounting.models import AuditRecord, Property
from accounting.office import registry
from accounting.office.forms import laid_out
from accounting.office.inputs import Input
from accounting.office.models import Job, Proposal
from accounting.office.rules.dollars import cents_of, typed
from accounting.office.services import jobs, proposals
from accounting.office.work import JobKind
from accounting.rules.acts import Field
from accounting.rules.moments import moment_of
from accounting.rules.roles import ROLES
from tests.pages.conftest import SignedIn, person, text_of
from tests.services.desk import ACTS, ANOTHER, ANYBODY, RENAME, asking, the_name
from tests.services.house import House

AT = datetime.now(UTC)


@pytest.fixture(autouse=True)
def _acts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "acts", lambda: ACTS)


def propose(act: str = "house.rename", by: str = "administrator", **changes: Any) -> Proposal:
    return proposals.propose(asking(act, **changes), by=ANYBODY[by], at=datetime.now(UTC))


def buttons(answer: Any) -> set[str]:
    """What a proposal's page lets one do."""
    return set(re.findall(r'formaction="/decisions/\d+/(\w+)"', answer.content.decode()))


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("1,250.00", 125_000), ("1250", 125_000), ("1250.00", 125_000), ("$50", 5_000), ("-5.00", -500), ("−5", -500),
        ("0.07", 7), (" 12 ", 1_200), ("1,234,567.89", 123_456_789),
    ],
)  # fmt: skip
def test_dollars_as_they_are_typed(text: str, cents: int) -> None:
    assert cents_of(text) == cents
    assert cents_of(typed(cents)) == cents


@pytest.mark.parametrize(
    "text",
    ["12,50", "1,25", "1.2", "1,2345", ",5", "1.000,00", "1 250", "", "5-", "0x5", "٣", "1,250,0", "1e3", "1.005"],
)
def test_dollars_that_are_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"1,250\.00"):
        cents_of(text)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", 8), ("a\n" * 7, 8), ("a\n" * 8, 9), ("a\n" * 6 + "a" * 71, 8), ("a\n" * 6 + "a" * 72, 9), ("a\n" * 39, 40),
        ("a\n" * 40, 40),
    ],
)  # fmt: skip
def test_a_text_area_has_room_for_what_is_in_it_and_a_line_more(text: str, rows: int) -> None:
    assert Input(Field("facts", "Facts", "nested"), ("facts",), typed=text).rows == rows


def test_a_nested_value_stands_line_by_line() -> None:
    rows = [{"level": "major", "cents": 5}, {"level": "minor", "cents": 6}]
    assert laid_out({"rows": rows, "é": None, "names": ["a", "b"]}) == (
        '{\n "rows": [\n  {"level": "major", "cents": 5},\n  {"level": "minor", "cents": 6}\n ],\n "é": null,\n'
        ' "names": ["a", "b"]\n}'
    )
    assert laid_out(["é", {"a": 1}]) == '[\n "é",\n {\n  "a": 1\n }\n]'


def test_moments_as_they_are_typed() -> None:
    boston = ZoneInfo("America/New_York")
    assert moment_of("2026-11-27 22:00", boston) == "2026-11-27T22:00:00-05:00"
    assert moment_of("2026-07-04T22:00:30", boston) == "2026-07-04T22:00:30-04:00"
    assert moment_of("2026-11-27T22:00:00Z", boston) == "2026-11-27T22:00:00Z"
    for text in ("2026-11-01 01:30", "2026-03-08 02:30", "tonight"):  # twice, never, no moment
        with pytest.raises(ValueError, match="like"):
            moment_of(text, boston)


@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_role_sees_every_decision_and_the_buttons_that_are_its_own(
    role: str, house: House, signed_in: SignedIn
) -> None:
    asked = propose()
    client = signed_in(role)
    page = client.get("/decisions/")
    assert page.status_code == 200
    waits = page.content.decode().partition('id="all"')[0]
    assert ("Rename the house" in text_of(page)) and (f"/decisions/{asked.pk}/" in waits) == (role == "manager")
    assert buttons(client.get(f"/decisions/{asked.pk}/")) == ({"approve", "refuse"} if role == "manager" else set())
    for act in ACTS.values():
        wanted = 200 if role in act.proposes else 403
        assert client.get(f"/decisions/new/{act.name}/").status_code == wanted
        assert (f"/decisions/new/{act.name}/" in page.content.decode()) == (wanted == 200)


def test_a_proposal_shows_what_would_change_and_is_approved(house: House, signed_in: SignedIn) -> None:
    asked = propose(evidence={"reference": "Letter 7"})
    client = signed_in("manager")
    shown = text_of(client.get(f"/decisions/{asked.pk}/"))
    assert "What Before After name Boston Harbor Boston Light" in shown
    assert "Signs show it at once." in shown and "New name Boston Light" in shown and "Letter 7" in shown
    assert "still needed: shift manager" in shown
    seen = RENAME.version("BOS")
    done = client.post(f"/decisions/{asked.pk}/approve", {"note": "seen", "seen": seen}, follow=True)
    assert done.redirect_chain == [(f"/decisions/{asked.pk}/", 302)]
    assert the_name() == "Boston Light"
    words = text_of(done)
    assert "You agreed." in words and "What changed" in words
    assert "name Boston Harbor Boston Light" in words and "Event 0 of stream ms-mg01: renamed, 1 agreed." in words
    assert buttons(done) == set()


def test_a_subject_that_moved_is_said_and_what_was_not_seen_is_not_approved(house: House, signed_in: SignedIn) -> None:
    asked = propose()
    client = signed_in("manager")
    seen = RENAME.version("BOS")
    Property.objects.update(name="Another")
    answer = client.post(f"/decisions/{asked.pk}/approve", {"seen": seen})
    assert answer.status_code == 409
    words = text_of(answer)
    assert "This has changed since you looked at it" in words
    assert "BOS has changed since this was proposed" in words and "name Another Boston Light" in words
    assert the_name() == "Another"


def test_a_rule_that_is_against_it_is_said_before_and_after(house: House, signed_in: SignedIn) -> None:
    asked = propose()
    Property.objects.update(name="Locked")
    client = signed_in("manager")
    assert "As things stand a rule is against it: the name is locked" in text_of(client.get(f"/decisions/{asked.pk}/"))
    words = text_of(client.post(f"/decisions/{asked.pk}/approve", follow=True))
    assert "Refused by a rule. the name is locked" in words


def test_refusing_needs_a_note_and_the_proposer_withdraws(house: House, signed_in: SignedIn) -> None:
    asked, other = propose(), propose()
    manager = signed_in("manager")
    assert "A refusal says why" in text_of(manager.post(f"/decisions/{asked.pk}/refuse"))
    refused = text_of(manager.post(f"/decisions/{asked.pk}/refuse", {"note": "not this year"}, follow=True))
    assert "You refused." in refused and "not this year" in refused
    assert manager.post(f"/decisions/{other.pk}/withdraw").status_code == 403
    mine = Client()
    mine.force_login(person("administrator.one", "administrator"), backend="django.contrib.auth.backends.ModelBackend")
    assert buttons(mine.get(f"/decisions/{other.pk}/")) == {"withdraw"}
    assert "You withdrew it." in text_of(mine.post(f"/decisions/{other.pk}/withdraw", follow=True))
    for path in ("", "approve", "evidence"):
        answer = (
            manager.post(f"/decisions/4711/{path}") if path == "approve" else manager.get(f"/decisions/4711/{path}")
        )
        assert answer.status_code == 404


def test_a_proposal_of_an_act_that_the_house_has_no_more(
    house: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = propose()
    monkeypatch.setattr(registry, "acts", dict)
    client = signed_in("manager")
    assert "name " in text_of(client.get(f"/decisions/{asked.pk}/"))
    assert "house.rename" in text_of(client.get("/decisions/"))
    assert "has no act house.rename any more" in text_of(client.post(f"/decisions/{asked.pk}/approve"))


def form(**changes: str) -> dict[str, str]:
    return {"subject": "BOS", "p-cents": "1,250.00", "reason": "boost", "reference": "Ticket 7"} | changes


def test_a_form_becomes_a_proposal(house: House, signed_in: SignedIn) -> None:
    client = signed_in("supervisor")
    page = client.get("/decisions/new/house.grant/?subject=BOS").content.decode()
    assert f'name="seen" value="{RENAME.version("BOS")}"' in page
    file = SimpleUploadedFile("slip.pdf", b"%PDF")
    answer = client.post("/decisions/new/house.grant/", form() | {"p-part": "reserve", "file": file}, follow=True)
    asked = Proposal.objects.get()
    assert answer.redirect_chain == [(f"/decisions/{asked.pk}/", 302)]
    assert bytes(asked.payload) == b'{"cents":125000,"part":"reserve"}'
    words = text_of(answer)
    assert "Amount $1,250.00 Part reserve Why boost" in words
    assert "slip.pdf" in words
    download = client.get(f"/decisions/{asked.pk}/evidence")
    assert (download.content, download["Content-Type"]) == (b"%PDF", "application/octet-stream")
    assert 'attachment; filename="slip.pdf"' in download["Content-Disposition"]


def test_every_kind_of_field_is_read(house: House, signed_in: SignedIn) -> None:
    sent = {
        "subject": "BOS", "p-name": "Quay", "p-since": "2026-11-27 22:00", "p-loud": "no", "p-signs": ["pit", "door"],
        "p-limit-none": "on", "p-terms.survives": "yes", "p-terms.scope": "", "p-terms.limit_cents": "1,250.00",
        "p-reasons": ["wet"], "p-message": '{"a": [1]}', "reason": "a new owner",
    }  # fmt: skip
    answer = signed_in("supervisor").post("/decisions/new/house.note/", sent, follow=True)
    assert Proposal.objects.count() == 1, text_of(answer)
    assert bytes(Proposal.objects.get().payload) == (
        b'{"limit":null,"loud":false,"message":{"a":[1]},"name":"Quay","reasons":["wet"],"signs":["pit","door"],'
        b'"since":"2026-11-27T22:00:00-05:00","terms":{"limit_cents":125000,"survives":true}}'
    )
    words = text_of(answer)
    assert "Since 2026-11-27 22:00:00 EST Loud no Signs pit, door Limit none" in words
    assert "done" in words


@pytest.mark.parametrize(
    ("changes", "beside", "words"),
    [
        ({"p-cents": "12,50"}, "p-cents-error", "An amount like 1,250.00 or 1250 is expected"),
        ({"p-cents": ""}, "p-cents-error", "Amount is missing"),
        ({"p-cents": "99999999999"}, "p-cents-error", "a whole number"),
        ({"p-part": "cellar"}, "p-part-error", "one of display, reserve is expected"),
        ({"reason": ""}, "reason-error", "Reason is empty"),
        ({"reason": "  "}, "reason-error", "Reason is empty"),
        ({"reason": "because"}, "reason-error", "one of correction, boost is expected"),
        ({"subject": "LAS"}, "subject-error", "There is no property LAS"),
        ({"subject": ""}, "subject-error", "Subject"),
    ],
)
def test_a_fault_stands_beside_its_field(
    changes: dict[str, str], beside: str, words: str, house: House, signed_in: SignedIn
) -> None:
    answer = signed_in("supervisor").post("/decisions/new/house.grant/", form(**changes))
    page = answer.content.decode()
    assert answer.status_code == 422
    (said,) = re.findall(rf'<span class="error" id="{beside}">([^<]*)</span>', page)
    assert words in said
    assert f'aria-invalid="true" aria-describedby="{beside}"' in page
    assert "Ticket 7" in page, "what was typed is still there"
    assert Proposal.objects.count() == 0


def test_a_form_begins_with_what_its_act_says(house: House, signed_in: SignedIn) -> None:
    client = signed_in("supervisor")
    page = client.get("/decisions/new/house.note/?subject=BOS").content.decode()
    assert 'name="p-name" value="BOS anew"' in page and 'name="p-limit" value="1,250.00"' in page
    assert '<option value="yes" selected>' in page and "&quot;a&quot;: [" in page
    assert "BOS anew" not in client.get("/decisions/new/house.note/").content.decode()
    assert "LAS anew" not in client.get("/decisions/new/house.note/?subject=LAS").content.decode()


def test_a_fault_inside_an_object_stands_beside_the_key_at_fault(house: House, signed_in: SignedIn) -> None:
    sent = {"subject": "BOS", "p-name": "Quay", "p-terms.limit_cents": "1,000,001.00", "reason": "x"}
    page = signed_in("supervisor").post("/decisions/new/house.note/", sent).content.decode()
    assert re.findall(r'<span class="error" id="([^"]+)">([^<]*)<', page) == [
        ("p-terms.limit_cents-error", "A million at most")
    ]


def test_faults_that_are_nobodys_field(house: House, signed_in: SignedIn) -> None:
    client = signed_in("supervisor")
    without = form()
    del without["reference"]
    again = "choose it again: a browser does not keep it"
    said = text_of(client.post("/decisions/new/house.grant/", without))
    assert "This act asks for evidence" in said and again not in said
    large = SimpleUploadedFile("large.bin", bytes(5 * 1024 * 1024 + 1))
    answer = client.post("/decisions/new/house.grant/", form() | {"file": large})
    assert "A file of 1 to 5,242,880 bytes is expected" in text_of(answer) and again in text_of(answer)
    stale = client.post("/decisions/new/house.grant/", form(seen="what it was"))
    assert stale.status_code == 409
    assert "This has changed since you looked at it" in text_of(stale)
    assert f'name="seen" value="{RENAME.version("BOS")}"' in stale.content.decode()
    assert client.get("/decisions/new/house.burn/").status_code == 404


def test_looking_shows_what_would_change_and_writes_nothing(house: House, signed_in: SignedIn) -> None:
    before = AuditRecord.objects.count()
    answer = signed_in("supervisor").post("/decisions/new/house.grant/", form(look="1"))
    assert answer.status_code == 200
    assert "granted MA 125000" in text_of(answer)
    assert (Proposal.objects.count(), AuditRecord.objects.count()) == (0, before)


def test_the_list_says_what_is_asked_in_a_line_and_leaves_out_what_is_long(house: House, signed_in: SignedIn) -> None:
    fits, long = "x" * 80, "y" * 81
    made = [propose(payload={"name": name}).pk for name in (fits, long)]
    client = signed_in("auditor")
    listed = client.get("/decisions/?state=waiting").content.decode()
    assert fits in listed and long not in listed
    shown = [client.get(f"/decisions/{number}/").context["facts"] for number in made]
    assert [[(fact.text, fact.long) for fact in facts] for facts in shown] == [[(fits, False)], [(long, True)]]


def test_the_list_by_filter_and_key(house: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounting.office.views.decisions.SHOWN", 2)
    made = [propose(payload={"name": f"Name {number}"}).pk for number in range(3)]
    client = signed_in("auditor")
    page = client.get("/decisions/?state=waiting")
    assert f"/decisions/{made[0]}/" not in page.content.decode()
    (onward,) = re.findall(r'rel="next" href="([^"]+)"', page.content.decode())
    older = client.get(onward.replace("&amp;", "&")).content.decode()
    assert f"/decisions/{made[0]}/" in older and f"/decisions/{made[1]}/" not in older
    assert "Nothing was proposed." in text_of(client.get("/decisions/?act=house.grant"))
    refused = client.get("/decisions/?state=open")
    assert (refused.status_code, "one of waiting, done" in text_of(refused)) == (400, True)


@pytest.fixture
def pages(house: House) -> list[tuple[str, str]]:
    """Pages of the office in every state that they can show, each with a role that sees all of it."""
    waiting = propose("house.grant", "supervisor", payload={"cents": 10_000_000}, evidence={"note": "two\nlines"})
    proposals.approve(waiting.pk, by=ANOTHER["manager"], at=datetime.now(UTC), note="seen")
    refused, done = propose(payload={"name": "Unlucky"}), propose()
    for one in (refused, done):
        proposals.approve(one.pk, by=ANYBODY["manager"], at=datetime.now(UTC))
    job = Job.objects.create(
        kind="verify", by="ada", asked_at=AT, state="done", finished_at=AT, result={"ok": True, "counts": {"events": 1}}
    )
    return [
        *(("controller", f"/decisions/{one.pk}/") for one in (waiting, refused, done)), ("manager", "/decisions/"),
        *((min(act.proposes), f"/decisions/new/{act.name}/?subject=BOS") for act in ACTS.values()),
        ("auditor", f"/audit/jobs/{job.pk}/"), ("auditor", "/audit/"),
    ]  # fmt: skip


def test_pages_keep_to_the_content_policy_and_name_every_field(
    pages: list[tuple[str, str]], signed_in: SignedIn
) -> None:
    clients = {role: signed_in(role) for role in {role for role, _ in pages}}
    for role, page in pages:
        answer = clients[role].get(page)
        body = answer.content.decode()
        assert answer.status_code == 200, page
        assert re.findall(r"<[^>]*\s(?:style|on[a-z]+)=", body) == [], page
        ids = re.findall(r'\sid="([^"]+)"', body)
        assert len(ids) == len(set(ids)), page
        for field in re.findall(r"<(?:input|select|textarea)\b([^>]*)>", body):
            if 'type="hidden"' not in field:
                (named,) = re.findall(r'\sid="([^"]+)"', field)
                assert f'for="{named}"' in body, (page, field)
        for named in re.findall(r'aria-(?:labelledby|describedby)="([^"]+)"', body):
            assert named in ids, (page, named)
        assert len(re.findall(r"<h1\b", body)) == 1, page


def test_other_pages_offer_what_may_be_proposed(house: House) -> None:
    request = RequestFactory().get("/")
    asked = propose()
    for role, wanted in (("supervisor", ["house.grant", "house.note"]), ("auditor", [])):
        request.user = person(role, role)
        if hasattr(request, "staff_roles"):
            del request.staff_roles
        page = Template("{% load office %}{% offers 'property' 'BOS' %}").render(Context({"request": request}))
        assert re.findall(r"/decisions/new/([a-z.]+)/\?subject=BOS", page) == wanted
        assert f"/decisions/{asked.pk}/" in page
        page = Template("{% load office %}{% offers 'table' 'BOS' %}").render(Context({"request": request}))
        assert page.strip() == ""


Started = Callable[[str], Client]


def test_verifying_is_started_from_the_audit_page_and_its_result_is_kept(
    house: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    kind = JobKind(
        name="verify", title="Verify everything", roles=frozenset({"auditor", "controller"}),
        run=lambda progress: {"ok": False, "summary": "different: stream x", "difference": "stream x: head"},
    )  # fmt: skip
    monkeypatch.setattr(registry, "jobs", lambda: {"verify": kind})
    called: list[int] = []
    monkeypatch.setattr(jobs, "call", called.append)
    for role in ROLES:
        wanted = 302 if role in kind.roles else 403
        with django_capture_on_commit_callbacks(execute=True):
            assert signed_in(role).post("/audit/jobs/new/verify").status_code == wanted
    job = Job.objects.get()  # the second one was led to the first
    assert called == [job.pk]
    again = signed_in("controller").post("/audit/jobs/new/verify", follow=True)
    assert again.redirect_chain == [(f"/audit/jobs/{job.pk}/", 302)]
    assert "Verify everything is running already." in text_of(again)
    auditor = Client()
    auditor.force_login(person("aud", "auditor"), backend="django.contrib.auth.backends.ModelBackend")
    waiting = auditor.get(f"/audit/jobs/{job.pk}/")
    assert "Waits for a worker." in text_of(waiting)
    assert 'hx-trigger="every 1s"' in waiting.content.decode() and "Cancel" in text_of(waiting)
    jobs.run(job.pk, clock=lambda: datetime.now(UTC))
    part = auditor.get(f"/audit/jobs/{job.pk}/", headers={"HX-Request": "true"}).content.decode()
    assert part.startswith("<section") and "hx-trigger" not in part and "/cancel" not in part
    assert "Different: stream x" in part and "stream x: head" in part
    assert "different: stream x" in text_of(auditor.get("/audit/"))
    assert auditor.post("/audit/jobs/new/bake").status_code == 404
    assert auditor.get("/audit/jobs/4711/").status_code == 404


def test_a_job_is_cancelled_from_its_page(house: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = JobKind(name="verify", title="Verify", roles=frozenset({"auditor"}), run=lambda progress: {"ok": True})
    monkeypatch.setattr(registry, "jobs", lambda: {"verify": kind})
    job = jobs.start(kind, by=ANYBODY["auditor"], at=AT)
    assert signed_in("controller").post(f"/audit/jobs/{job.pk}/cancel").status_code == 403
    auditor = signed_in("auditor")
    for asked, offered in ((None, True), (AT, False)):
        now = datetime.now(UTC)
        Job.objects.update(state="running", started_at=now, beat_at=now, cancel_asked_at=asked)
        shown = auditor.get(f"/audit/jobs/{job.pk}/").content.decode()
        assert (f'action="/audit/jobs/{job.pk}/cancel"' in shown) is offered, asked
    Job.objects.update(state="queued", started_at=None, beat_at=None, cancel_asked_at=None)
    assert "cancelled" in text_of(auditor.post(f"/audit/jobs/{job.pk}/cancel", follow=True))
    assert "This job is cancelled." in text_of(auditor.post(f"/audit/jobs/{job.pk}/cancel", follow=True))
