"""A gaming day on its pages and over the API: read, reconciled, verified, proposed, signed by a second person, exported."""

from __future__ import annotations

import json
import re
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounting.day_queries import house_days
from accounting.office.services import proposals
from accounting.rules.heads import from_file
from accounting.rules.roles import ACCOUNTING, AUDITOR, CAGE, CONTROLLER, MANAGER
from devices.audit.closings import compare_heads
from devices.audit.findings import Difference
from devices.audit.readings import compare_readings
from devices.closing import verifying
from tests.pages.conftest import SignedIn, text_of
from tests.services.desk import ANYBODY
from tests.services.house import RECEIVED, House, message, rows, run, two_hits, value
from tests.services.played import tamper

DAY = "2026-11-27"
PAGE = f"/accounting/days/{DAY}/"
SHEET = f"{PAGE}readings/"
MORNING = RECEIVED + timedelta(hours=12)


@pytest.fixture(autouse=True)
def _the_morning_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the next gaming day: pages and API read this clock."""
    monkeypatch.setattr("django.utils.timezone.now", lambda: MORNING)


def meter(level: str) -> int:
    """What a level's meter shows, in whole cents."""
    found: int = value(
        "SELECT value_cents FROM jackpot_meter WHERE level_id = (SELECT id FROM jackpot_level WHERE code = %s)", level
    )
    return found


def dollars(cents: int) -> str:
    """As people type it."""
    return f"{cents // 100:,}.{cents % 100:02d}"


def post(client: Client, path: str, **data: Any) -> Any:
    return client.post(path, data)


def test_a_day_is_closed_by_two_people_on_its_pages(house: House, signed_in: SignedIn) -> None:
    house.play(message("R-1"), two_hits("R-2"), message("H-1", community="3s 9h Kd"))
    ann, bob = signed_in(ACCOUNTING), signed_in(CONTROLLER)
    shown = text_of(ann.get(PAGE))
    assert "not ready" in shown
    assert "verified through nothing, the day's last event is 2" in shown
    assert "MS-101/H-1" in shown
    assert "ms-mg01-000001 detected" in shown
    refused = post(ann, f"{PAGE}close", reason="done")
    assert refused.status_code == 422
    assert "Chain verified: not as far as the day goes." in text_of(refused)
    assert value("SELECT count(*) FROM office_proposal") == 0

    assert post(ann, f"{PAGE}verify").status_code == 302
    assert value("SELECT kind FROM office_job") == "verify-day"
    verify_here()
    assert "ready to be closed" in text_of(ann.get(PAGE))
    proposed = post(ann, f"{PAGE}close", reason="End of the gaming day")
    assert proposed.status_code == 302
    assert "waits for a second signature" in text_of(ann.get(PAGE))
    decision = proposed["Location"]
    assert "Gaming day 2026-11-27" in text_of(bob.get(decision))
    assert post(ann, f"{decision}approve").status_code in (403, 409), "nobody signs twice"
    assert post(bob, f"{decision}approve").status_code == 302
    assert rows("SELECT state FROM office_outcome") == [("done",)]
    assert rows("SELECT day, number FROM accounting_closedday") == [(date(2026, 11, 27), 1)]
    shown = text_of(bob.get(PAGE))
    assert "Signed heads" in shown
    assert "ms-mg01" in shown
    assert "27 Nov 2026" in text_of(ann.get("/accounting/days/"))
    file = bob.get("/accounting/days/heads.json")
    assert file["Content-Disposition"] == 'attachment; filename="heads.json"'
    assert compare_heads(from_file(file.content)) == 3
    assert "Read all by machine" not in text_of(ann.get(SHEET)), "it is closed"
    assert text_of(ann.get(SHEET)).count("machine") >= 3


def verify_here() -> None:
    """What the job does; a test that is rolled back cannot begin a snapshot of its own."""
    from unittest.mock import patch

    from accounting.rules.heads import Head
    from accounting.services import closed_days

    with patch.object(verifying, "take_snapshot"):
        for stream_id, code, following, head in rows("SELECT id, code, next_sequence, head FROM accounting_stream"):
            closed_days.note_verified(stream_id, 0, Head(code, following - 1, bytes(head)), at=MORNING)


def test_readings_are_typed_down_the_column_explained_and_signed_off(house: House, signed_in: SignedIn) -> None:
    house.play(message("R-1"))
    ann, bob = signed_in(ACCOUNTING), signed_in(CONTROLLER)
    sheet = ann.get(SHEET).content.decode()
    assert sheet.count("data-down") == 3
    answer = post(
        ann, f"{SHEET}read", **{
            "level:ms-mg01/major": dollars(meter("major") + 1), "level:twin/grand": dollars(meter("grand")),
            "level:twin/minor": "", "read_at": "2026-11-28T09:00", "note": "sign over pit 1",
        },
    )  # fmt: skip
    assert answer.status_code == 302
    assert rows("SELECT level, display_cents - expected_cents, method, note FROM accounting_reading ORDER BY level") == [
        ("ms-mg01/major", 1, "hand", "sign over pit 1"), ("twin/grand", 0, "hand", "sign over pit 1"),
    ]  # fmt: skip
    number = value("SELECT id FROM accounting_reading WHERE level = 'ms-mg01/major'")
    assert "$0.01" in text_of(ann.get(SHEET))
    for reader, offers in ((ann, ["Explain"]), (bob, ["Explain", "Sign off", "Sign off"]), (signed_in(AUDITOR), [])):
        body = reader.get(SHEET).content.decode()
        assert sorted(re.findall(r">(Explain|Sign off)</button>", body)) == offers
    assert "Readings" in text_of(bob.get(PAGE))
    assert post(bob, f"{SHEET}{number}", sign="1").status_code == 422, "it differs, and nobody says why"
    assert post(ann, f"{SHEET}{number}", text="").status_code == 422
    assert post(ann, f"{SHEET}{number}", text="the sign was read a round early").status_code == 302
    assert post(ann, f"{SHEET}{number}", sign="1").status_code == 422, "it is her own"
    assert post(bob, f"{SHEET}{number}", sign="1").status_code == 302
    shown = text_of(ann.get(SHEET))
    assert "the sign was read a round early" in shown
    assert rows("SELECT what, by FROM accounting_readingnote ORDER BY id") == [
        ("explained", ACCOUNTING), ("signed", CONTROLLER),
    ]  # fmt: skip


def test_a_photo_is_kept_with_what_was_typed_and_the_sheet_names_the_slips_of_its_awards(
    house: House, signed_in: SignedIn
) -> None:
    house.play(message("R-1"), two_hits("R-2"))
    ann, bob = signed_in(ACCOUNTING), signed_in(CONTROLLER)
    for hit in ("ms-mg01-000001", "ms-mg01-000002"):
        for act in ("hit.verify", "hit.approve"):
            house.act(act, hit)
    body = {"act": "hit.pay", "subject": "ms-mg01-000001", "payload": {"method": "cage"}, "reason": "won"}
    proposals.propose(body, by=ANYBODY[CAGE], at=MORNING)
    play = text_of(ann.get(SHEET)).partition("Play since the prior reading")[2]
    assert "ms-mg01/major 4 $4.00 ms-mg01-000001 , ms-mg01-000002 000001" in play
    assert "twin/grand 0 $0.00 none" in play
    typed = {"level:ms-mg01/major": dollars(meter("major")), "read_at": "2026-11-28T09:00"}
    picture = bytes(range(256)) * 20
    answer = post(ann, f"{SHEET}read", **typed, photo=SimpleUploadedFile("sign over pit 1.jpg", picture))
    assert answer.status_code == 302
    (address,) = re.findall(r'href="(/accounting/days/photos/\d+)"', bob.get(SHEET).content.decode())
    kept = bob.get(address)
    assert (kept.content, kept["Content-Type"]) == (picture, "application/octet-stream")
    assert kept["Content-Disposition"] == 'attachment; filename="sign over pit 1.jpg"'
    assert signed_in(MANAGER).get(address).status_code == 403
    compare_readings()
    empty = post(ann, f"{SHEET}read", **typed, photo=SimpleUploadedFile("empty.jpg", b""))
    assert empty.status_code == 422 and "a file of 1 to 5,242,880 bytes" in text_of(empty)
    tamper("UPDATE accounting_readingphoto SET content = 'x', digest = sha256('x')")
    with pytest.raises(Difference, match="what was typed"):
        compare_readings()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            {"level:ms-mg01/major": "12,50", "read_at": "2026-11-28T09:00"},
            "an amount like 1,250.00 or 1250 is expected",
        ),
        ({"level:ms-mg01/major": "12.50", "read_at": "yesterday"}, "a moment is expected"),
        ({"level:ms-mg01/major": "12.50", "read_at": "2026-11-28T23:00"}, "not to come"),
        ({"level:ms-mg01/none": "12.50", "read_at": "2026-11-28T09:00"}, "There is no level ms-mg01/none"),
        ({"read_at": "2026-11-28T09:00"}, "No level was read"),
    ],
)
def test_what_was_typed_wrongly_is_said_and_kept_in_its_field(
    house: House, signed_in: SignedIn, typed: dict[str, str], said: str
) -> None:
    answer = post(signed_in(ACCOUNTING), f"{SHEET}read", **typed)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    if "level:ms-mg01/major" in typed:
        assert f'value="{typed["level:ms-mg01/major"]}"' in answer.content.decode()
    assert value("SELECT count(*) FROM accounting_reading") == 0


def test_a_cent_of_drift_is_shown_with_where_it_began(house: House, signed_in: SignedIn) -> None:
    house.play(message("R-1"))
    tamper("UPDATE jackpot_meter SET value_cents = value_cents + 1 WHERE level_id = (SELECT id FROM jackpot_level"
           " WHERE code = 'minor')")  # fmt: skip
    typed = {"level:twin/minor": dollars(meter("minor")), "read_at": "2026-11-28T09:00"}
    assert post(signed_in(ACCOUNTING), f"{SHEET}read", **typed).status_code == 302
    assert "of drift" not in text_of(signed_in(AUDITOR).get(SHEET)), "what was read by hand is for people to explain"
    assert post(signed_in(ACCOUNTING), f"{SHEET}read", machine="1").status_code == 302
    shown = text_of(signed_in(AUDITOR).get(SHEET))
    assert "$0.01 of drift. Display of twin/minor agrees with the ledger after every event of twin;" in shown
    assert "These levels differ" in text_of(signed_in(AUDITOR).get(PAGE))


def test_only_accounting_reads_explains_and_closes(house: House, signed_in: SignedIn) -> None:
    for role in (AUDITOR, MANAGER, CAGE):
        client = signed_in(role)
        for path in (f"{SHEET}read", f"{SHEET}1", f"{PAGE}close"):
            assert post(client, path, machine="1").status_code == 403, (role, path)
    first, today = house_days(MORNING)
    client = signed_in(ACCOUNTING)
    for page in ("", "readings/"):
        assert client.get(f"/accounting/days/{first}/{page}").status_code == 200, "the house's first"
        assert client.get(f"/accounting/days/{first - timedelta(days=1)}/{page}").status_code == 404, "before the house"
        assert client.get(f"/accounting/days/{today}/{page}").status_code == 200, "it is under way"
        assert client.get(f"/accounting/days/{today + timedelta(days=1)}/{page}").status_code == 404, "it has not begun"
    assert client.get("/accounting/days/today/").status_code == 404
    house.play(message("R-1"))
    played = today - timedelta(days=1)
    for day, beside in (
        (first, {"next": played}),
        (first + timedelta(days=1), {"prev": first, "next": played}),
        (played, {"prev": first}),
        (today, {"prev": played}),
    ):
        said = client.get(f"/accounting/days/{day}/").content.decode()
        found = re.findall(r'rel="(prev|next)" href="/accounting/days/([0-9-]+)/"', said)
        assert dict(found) == {rel: str(other) for rel, other in beside.items()}, day
    run("INSERT INTO accounting_gamingday (date) SELECT generate_series(%s::date - 1, %s::date + 1, '1 day')"
        " ON CONFLICT DO NOTHING", first, today)  # fmt: skip
    offered = {
        day: [rel in client.get(f"/accounting/days/{day}/").content.decode() for rel in ('rel="prev"', 'rel="next"')]
        for day in (first, first + timedelta(days=1), today - timedelta(days=1), today)
    }
    assert list(offered.values()) == [[False, True], [True, True], [True, True], [True, False]], (
        "no further than both ends"
    )


# ── over the API ────────────────────────────────────────────────────────────────────────────────────────────────
def call(client: Client, path: str, body: Any = None) -> tuple[int, Any]:
    """One call; what was answered."""
    address = f"/api/v1/{path}"
    if body is None:
        answer = client.get(address)
    else:
        answer = client.post(address, json.dumps(body).encode(), content_type="application/json")
    return answer.status_code, json.loads(answer.content) if answer.content else None


def test_a_day_over_the_api(house: House, signed_in: SignedIn) -> None:
    house.play(message("R-1"))
    ann, bob, auditor = signed_in(ACCOUNTING), signed_in(CONTROLLER), signed_in(AUDITOR)
    status, day = call(auditor, f"days/{DAY}")
    assert (status, day["is_closed"], day["is_ready"]) == (200, False, False)
    assert [item["code"] for item in day["checklist"] if item["state"] == "open"] == ["verified"]
    reading = {"readings": {"ms-mg01/major": meter("major") - 1}, "read_at": "2026-11-28T09:00:00-05:00"}
    assert call(auditor, f"days/{DAY}/readings", reading)[0] == 403
    status, sheet = call(ann, f"days/{DAY}/readings", reading)
    (line,) = (line for line in sheet["items"] if line["level"] == "ms-mg01/major")
    assert (status, line["reading"]["variance_cents"], line["reading"]["method"]) == (201, -1, "hand")
    assert line["movements"][0] == {"part": "display", "reason": "contribution", "cents": 17, "events": 1}
    number = line["reading"]["id"]
    assert call(bob, f"readings/{number}/signature", {})[1]["code"] == "not_explained"
    assert call(ann, f"readings/{number}/explanations", {"text": "a dark digit"})[0] == 204
    assert call(ann, f"readings/{number}/signature", {})[1]["code"] == "own_reading"
    assert call(bob, f"readings/{number}/signature", {})[0] == 204
    verify_here()
    _, day = call(auditor, f"days/{DAY}")
    assert day["is_ready"]
    body = {"act": "day.close", "subject": DAY, "payload": {"sequences": day["sequences"]}, "reason": "done"}
    status, proposal = call(ann, "proposals", body)
    assert (status, proposal["needs"]) == (201, [{"role": CONTROLLER, "count": 1}])
    status, done = call(bob, f"proposals/{proposal['id']}/approvals", {})
    assert (status, done["state"], done["event"]) == (200, "done", {"stream": "VIP-7", "sequence": 1})
    closing = f"/decisions/{proposal['id']}/"
    assert f'<a href="/accounting/days/{DAY}/">{DAY}</a>' in auditor.get(closing).content.decode()
    assert f"/accounting/days/{DAY}/" not in signed_in(MANAGER).get(closing).content.decode(), "not open to this role"
    looked_at = ", ".join(f"{stream} {last}" for stream, last in sorted(day["sequences"].items()))
    assert f"Looked at, by stream {looked_at} Why done" in text_of(auditor.get(closing))
    heads_shown = auditor.get(f"/accounting/days/{DAY}/").content.decode()
    assert len(re.findall(r'<td class="mono break">[0-9a-f]{64}</td>', heads_shown)) == 3, "codes are not printed"
    status, days = call(auditor, "days")
    assert status == 200
    assert [(each["day"], each["number"], len(each["heads"])) for each in days["items"]] == [(DAY, 1, 3)]
    status, heads = call(auditor, f"days/heads?from={DAY}")
    assert compare_heads(from_file(json.dumps(heads).encode())) == 3
    assert call(auditor, "days/heads?from=2026-11-28")[1]["days"] == []
    assert call(ann, "proposals", body)[1]["code"] == "wrong_state"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ([], ""), ({"when": 1}, "/when"), ({"readings": []}, "/readings"), ({"readings": {}}, "/read_at"),
        ({"readings": {"ms-mg01/major": 1.5}, "read_at": "2026-11-28T09:00:00-05:00"}, "/readings/ms-mg01~1major"),
        ({"readings": {"ms-mg01/major": 1}, "read_at": "2026-11-28"}, "/read_at"),
        ({"readings": {"ms-mg01/major": 1}, "read_at": "2026-11-28T09:00:00-05:00", "note": "x" * 501}, "/note"),
    ],
)  # fmt: skip
def test_readings_that_cannot_be_are_refused_by_name(
    house: House, signed_in: SignedIn, body: Any, pointer: str
) -> None:
    status, answer = call(signed_in(ACCOUNTING), f"days/{DAY}/readings", body)
    assert (status, answer.get("pointer")) == (422, pointer)
    assert value("SELECT count(*) FROM accounting_reading") == 0


def test_who_may_not_see_the_books_does_not(house: House, signed_in: SignedIn) -> None:
    for path in ("days", f"days/{DAY}", "days/heads", f"days/{DAY}/readings"):
        assert call(signed_in(MANAGER), path)[0] == 403
        assert call(signed_in(AUDITOR), f"{path}?nothing=1")[0] == 400
    for day in ("2026-11-29", "x", "2026-01-01"):
        assert call(signed_in(AUDITOR), f"days/{day}")[0] == 404
    assert datetime.fromisoformat(call(signed_in(AUDITOR), f"days/{DAY}")[1]["ends_at"]) == datetime.fromisoformat(
        "2026-11-28T06:00:00-05:00"
    )


@pytest.mark.parametrize("closed", ["2026-10-31", "2026-11-01", "2026-11-02", DAY])
def test_the_register_shows_no_closed_day_as_open_the_house_s_first_among_them(
    busy_house: House, signed_in: SignedIn, closed: str
) -> None:
    """The house opened on the morning of the first of November."""
    if closed != "2026-10-31":
        busy_house.close_day(closed, at=MORNING)
    body = signed_in(ACCOUNTING).get("/accounting/days/").content.decode()
    still = body[body.index('id="open-days"') : body.index('id="closed-days"')]
    shown = set(re.findall(r"/accounting/days/([0-9-]{10})/\"", still))
    first = max(date.fromisoformat(closed) + timedelta(days=1), date(2026, 11, 1))
    assert shown == {str(first + timedelta(days=ahead)) for ahead in range((date(2026, 11, 28) - first).days + 1)}
