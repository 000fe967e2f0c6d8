"""Packs on their pages: chosen, made by a worker, taken away, and verified by somebody who has nothing but Python."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounting.models import AuditRecord
from accounting.office.models import Job
from accounting.office.services import jobs
from accounting.rules.roles import ACCOUNTING, AUDITOR, CONTROLLER, ROLES
from accounting.services.audit import check_audit_trail
from accounting.services.signing import public_key
from accounting.shell.templatetags.pages import day
from devices.packing.stretch import pack, wanted
from tables.rules.packs import opened, read
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import RECEIVED, House, message, rows, royal, run, two_hits

PAGE = "/audit/packs/"
DAY = "/accounting/days/2026-11-27/"
MORNING = RECEIVED + timedelta(hours=12)


@pytest.fixture(autouse=True)
def _the_morning_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the next gaming day: pages read this clock."""
    monkeypatch.setattr("django.utils.timezone.now", lambda: MORNING)


def made(client: Client, answer: Any) -> Any:
    """The page of the pack that an answer leads to, once a worker has made it."""
    assert answer.status_code == 302, text_of(answer)
    number = int(answer["Location"].rstrip("/").rpartition("/")[2])
    jobs.run(number, clock=timezone.now, beat_seconds=3_600)  # another connection sees nothing of this test
    return client.get(answer["Location"])


def taken(client: Client, page: Any) -> tuple[str, bytes]:
    """The one file of a job's page, as a browser gets it; its name."""
    (address,) = re.findall(r'href="(/audit/jobs/\d+/files/\d+)"', page.content.decode())
    answer: Any = client.get(address)
    content = b"".join(answer.streaming_content)
    assert int(answer["Content-Length"]) == len(content)
    assert answer["Content-Type"] == "application/zip"
    assert sha256(content).hexdigest() in text_of(page), "beside the file, and what the file has"
    return re.findall(r'filename="(.*)"', answer["Content-Disposition"])[0], content


def verified(folder: Path, content: bytes) -> subprocess.CompletedProcess[str]:
    """What the page tells an auditor to do."""
    (folder / "pack.zip").write_bytes(content)
    got = ["-m", "zipfile", "-e", "pack.zip", "out"]
    verifier = ["-I", "-S", "out/verifier.pyz", "pack.zip", "--key", public_key().hex()]
    for command in (got, verifier):
        done = subprocess.run(
            [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False,
            env={"PYTHONTZPATH": ""},
        )  # fmt: skip
    return done


def test_a_stretch_is_chosen_packed_taken_away_and_verified(house: House, signed_in: SignedIn, tmp_path: Path) -> None:
    house.play(two_hits("R-1"), message("R-2"), message("R-3"), royal("T-1", table="TW-201"))
    auditor = signed_in(AUDITOR)
    shown = text_of(auditor.get(PAGE))
    assert public_key().hex() in shown
    assert "Pack for taking away" in text_of(auditor.get("/audit/"))
    page = made(auditor, auditor.post(PAGE, {"stream": "ms-mg01", "from": "1", "to": "2"}))
    assert "Events 1 to 2 of stream ms-mg01" in text_of(page)
    name, content = taken(auditor, page)
    assert name == "ms-mg01-1-2.zip"
    assert content == pack(wanted("ms-mg01", 1, 2)), "what the command makes"
    done = verified(tmp_path, content)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("no difference\n")
    (job,) = Job.objects.all()
    assert (job.done, job.total) == (2, 2)
    assert {auditor.get(f"/audit/jobs/{job.pk}/files/{number}").status_code for number in (0, 2)} == {404}
    record = AuditRecord.objects.latest("id")
    assert (record.action, record.subject, record.detail["sha256"]) == (
        "take away", f"job {job.pk}", sha256(content).hexdigest(),
    )  # fmt: skip
    run("UPDATE office_job SET finished_at = finished_at - interval '40 days'")
    assert f"Kept until {day((MORNING + timedelta(days=50)).date())}." in text_of(auditor.get(f"/audit/jobs/{job.pk}/"))
    shown = text_of(auditor.get("/audit/"))
    assert f"take away job {job.pk} " in shown and name in shown
    assert check_audit_trail() == []


def test_a_closed_day_is_packed_from_the_head_before_to_its_own(
    house: House, signed_in: SignedIn, tmp_path: Path
) -> None:
    house.play(two_hits("R-1"), message("R-2"))
    first = house.close_day("2026-11-26", at=RECEIVED + timedelta(hours=1))
    house.play(message("R-3"), royal("T-1", table="TW-201"))
    second = house.close_day("2026-11-27", at=RECEIVED + timedelta(hours=2))
    house.play(message("R-4"))
    controller = signed_in(CONTROLLER)
    assert "The day's pack" in text_of(controller.get(DAY))
    page = made(controller, controller.post(f"{DAY}pack"))
    name, content = taken(controller, page)
    assert name == "BOS-2026-11-27.zip"
    stretches = [read(part).about for _, part in opened(content)]
    assert {about.stream: (about.first, about.last) for about in stretches} == {
        stream: (first[stream], second[stream]) for stream in first
    }
    done = verified(tmp_path, content)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("heads of 2 closed gaming days") == len(first)
    assert "not signed" not in done.stdout

    # One byte of one pack in it, and the verifier says where.
    place = content.index(b"PK\x03\x04", content.index(b"ms-mg01-")) + 200
    other = bytearray(content)
    other[place] ^= 1
    assert verified(tmp_path, bytes(other)).returncode in (1, 2)

    # One stream of that day alone, from the other page.
    page = made(controller, controller.post(PAGE, {"stream": "twin", "day": "2026-11-27"}))
    name, content = taken(controller, page)
    assert name == f"twin-{first['twin']}-{second['twin']}.zip"
    assert "gaming day 2026-11-27" in text_of(page).lower()


def test_what_cannot_be_packed_is_said_beside_its_field(house: House, signed_in: SignedIn) -> None:
    house.play(message("R-1"))
    auditor = signed_in(AUDITOR)
    for typed, said in (
        ({"stream": "", "from": "0"}, "Stream: one stream is expected"),
        ({"stream": "nowhere"}, "Stream: there is no stream nowhere"),
        ({"stream": "ms-mg01", "from": "2"}, "From event: event 2 comes after event 1"),
        ({"stream": "ms-mg01", "to": "2"}, "To event: the last event of stream ms-mg01 is 1"),
        ({"stream": "ms-mg01", "from": "one"}, "From event: a whole number"),
        ({"day": "2026-11-27"}, "Gaming day: gaming day 2026-11-27 is not closed"),
        ({"day": "tomorrow"}, "Gaming day: a day like 2026-11-27"),
        ({"day": "2026-11-27", "from": "1"}, "From event: a gaming day has its own first and last event"),
    ):
        answer = auditor.post(PAGE, typed)
        assert answer.status_code == 422, typed
        name, _, detail = said.partition(": ")
        assert f"<b>{name}</b>: {detail}" in answer.content.decode()
    assert auditor.post(f"{DAY}pack").status_code == 302
    assert rows("SELECT id FROM office_job") == []


def test_packs_are_made_and_taken_away_by_auditor_and_controller_alone(house: House, signed_in: SignedIn) -> None:
    house.play(message("R-1"))
    auditor = signed_in(AUDITOR)
    page = made(auditor, auditor.post(PAGE, {"stream": "ms-mg01"}))
    (address,) = re.findall(r'href="(/audit/jobs/\d+/files/\d+)"', page.content.decode())
    for role in ROLES:
        client = signed_in(role)
        may = role in (AUDITOR, CONTROLLER)
        assert client.get(PAGE).status_code == (200 if may else 403), role
        assert client.get(address).status_code == (200 if may else 403), role
        if not may:
            assert client.post(PAGE, {"stream": "ms-mg01"}).status_code == 403, role
            assert client.post(f"{DAY}pack").status_code == (302 if role == ACCOUNTING else 403), role
    assert auditor.get(address[:-1] + "2").status_code == 404
    assert len(rows("SELECT id FROM office_job")) == 1
    # Another is being made: one like it is led to it, a different one and somebody else's wait beside it.
    waiting = auditor.post(PAGE, {"stream": "twin"})
    assert auditor.post(PAGE, {"stream": "twin"})["Location"] == waiting["Location"]
    beside = (auditor.post(PAGE, {"stream": "ms-mg01"}), signed_in(CONTROLLER).post(PAGE, {"stream": "twin"}))
    assert len({each["Location"] for each in (waiting, *beside)}) == 3
    assert auditor.post(f"{beside[1]['Location']}cancel").status_code == 302
    assert Job.objects.latest("id").state == "cancelled"
