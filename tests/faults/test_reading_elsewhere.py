"""What people look up is read from a real standby, with its lag on the page; the house itself is read when it cannot be."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.conftest import ROOT, WORKER
from tests.faults.hall import eventually
from tests.faults.house_of_its_own import OwnHouse
from tests.faults.replica import Copy

pytestmark = [pytest.mark.alone, pytest.mark.timeout(400)]

PASSWORD = "a-long-enough-word-to-enter"
PERSON = """
import django; django.setup()
from django.contrib.auth.models import Group, User
for name in ("auditor", "controller", "cage"):
    Group.objects.get_or_create(name=name)
user = User.objects.create_user("ada", password="%s")
user.groups.set(Group.objects.filter(name__in=["auditor"]))
"""
BEHIND = 15
COPY_SAYS = re.compile(r"Read from a copy of the database, \d+ s behind")


@dataclass
class Place:
    """A house with its copy, and a settled round."""

    house: OwnHouse
    copy: Copy

    def environment(self, role: str) -> dict[str, str]:
        return self.house.environment(role, **self.more)

    @property
    def more(self) -> dict[str, str]:
        return {
            "READ_DATABASE_URL": self.copy.url_of("jackpot_service"),
            "JACKPOT_READ_BEHIND_SECONDS": str(BEHIND),
            "DJANGO_SETTINGS_MODULE": "jackpot.config.settings",
        }

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=self.environment("command") | more,
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    def enter(self, client: httpx.Client) -> None:
        """Ada signs in; nothing that she did stands in the browser any more."""
        page = client.get("/sign-in")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert token is not None, page.text[:2000]
        answer = client.post(
            "/sign-in",
            data={"csrfmiddlewaretoken": token[1], "username": "ada", "password": PASSWORD},
            headers={"Referer": str(client.base_url)},
        )
        assert answer.status_code == 302, answer.text[:2000]


@pytest.fixture(scope="module")
def place(own_house: OwnHouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("copy")
    folder.chmod(0o711)
    copy = Copy(folder / "postgres", own_house.server)
    found = Place(own_house, copy)
    made = subprocess.run(
        [sys.executable, "-c", PERSON % PASSWORD], cwd=ROOT, capture_output=True, text=True,
        env=own_house.environment(DJANGO_SETTINGS_MODULE="jackpot.config.settings"),
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    copy.follow()
    try:
        with found_settling(own_house):
            yield found
    finally:
        copy.stop()


class found_settling:
    """A real settling worker at work on the house."""

    def __init__(self, house: OwnHouse) -> None:
        self.house = house

    def __enter__(self) -> None:
        self.process = subprocess.Popen([sys.executable, *WORKER], cwd=ROOT, env=self.house.environment("settle"))

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def settled(place: Place, client: httpx.Client, rounds: int) -> None:
    """So many more rounds are posted and settled."""
    answer = place.house.post(client, place.house.deal(rounds))
    assert answer.status_code == 202, answer.text

    def nothing_waits() -> bool:
        return bool(client.get("/api/v1/health").json()["queued"] == 0)

    eventually(nothing_waits, "not settled", 60)


def items(client: httpx.Client, key: str) -> int:
    return len(client.get("/api/v1/payouts?limit=1000", headers={"Authorization": f"Api-Key {key}"}).json()["items"])


def test_pages_and_exports_read_the_copy_and_say_how_far_behind_it_is(place: Place) -> None:
    key = place.house.key
    device = {"Authorization": f"Api-Key {key}"}
    with place.house.web(**place.more) as client:
        settled(place, client, 40)
        place.copy.caught_up()
        place.enter(client)
        at_once = client.get("/payouts/")
        assert "Read from the house itself: you have just signed in or done something." in at_once.text
        del client.cookies["acted"]
        page = client.get("/payouts/")
        assert COPY_SAYS.search(page.text), page.text[:3000]
        assert page.headers["X-Read-From"].startswith("read from a copy")
        before = items(client, key)
        assert before > 0
        with place.copy.held_up():
            settled(place, client, 40)
            # What the copy has not replayed is not shown: it is really read there, streams and files as well.
            assert items(client, key) == before
            export = client.get("/api/v1/payouts", headers={**device, "Accept": "text/csv"})
            assert export.headers["X-Read-From"].startswith("read from a copy")
            assert len(export.text.strip().splitlines()) == before + 1
            for form in ("csv", "json", "xlsx"):
                report = client.get(f"/api/v1/reports/exceptions?form={form}")
                assert report.status_code in (200, 404), report.text
            too_late = "Read from the house itself: the copy is too far behind"
            eventually(lambda: too_late in client.get("/payouts/").text, "it is read however far behind", BEHIND + 15)
            assert items(client, key) > before
        eventually(lambda: COPY_SAYS.search(client.get("/payouts/").text) is not None, "the copy is not read again", 30)
        assert items(client, key) > before
        # What decides is never read there, nor what says nothing about it.
        for address in ("/", "/api/v1/links", "/hits/"):
            assert "X-Read-From" not in client.get(address).headers, address


def test_a_copy_that_is_gone_or_frozen_costs_a_page_two_seconds_once(place: Place) -> None:
    with place.house.web(**place.more) as client:
        place.enter(client)
        del client.cookies["acted"]
        assert COPY_SAYS.search(client.get("/payouts/").text)
        place.copy.stop()
        try:
            began = time.monotonic()
            page = client.get("/payouts/")
            assert (page.status_code, time.monotonic() - began < 4) == (200, True)
            assert "Read from the house itself: the copy does not answer." in page.text
        finally:
            place.copy.start()
        eventually(lambda: COPY_SAYS.search(client.get("/payouts/").text) is not None, "the copy is not read again", 30)


def test_verify_reads_the_copy_and_falls_back(place: Place) -> None:
    with place.house.web() as client:
        settled(place, client, 20)
    place.copy.caught_up()
    done = place.run("manage.py", "verify")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("read from a copy of the database, ")
    # The house is damaged where the copy does not see it yet: it is the copy that is read.
    damage = "UPDATE accounting_transfer SET amount_cents = amount_cents {} 1 WHERE ctid = (SELECT ctid FROM {})"
    first = "(SELECT ctid FROM accounting_transfer ORDER BY stream_id, sequence, line LIMIT 1) one"
    with place.copy.held_up(), place.house.server.connect("jackpot") as house:
        house.execute("ALTER TABLE accounting_transfer DISABLE TRIGGER USER")
        house.execute(damage.format("+", first).encode())
        try:
            assert place.run("manage.py", "verify", JACKPOT_READ_BEHIND_SECONDS="600").returncode == 0
        finally:
            house.execute(damage.format("-", first).encode())
            house.execute("ALTER TABLE accounting_transfer ENABLE TRIGGER USER")
    place.copy.stop()
    try:
        done = place.run("manage.py", "verify")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("read from the house itself: the copy does not answer")
    finally:
        place.copy.start()


WRITES = """
import django; django.setup()
from django.db import connection, transaction
from accounting import elsewhere
from accounting.models import Property
tried = []
def look(place):
    tried.append(place.alias)
    for attempt in (
        lambda: Property.objects.update(name="mine"),
        lambda: connection.cursor().execute("UPDATE accounting_property SET name = 'mine'"),
        lambda: connection.cursor().execute("CREATE TEMP TABLE mine (id int)"),
        lambda: connection.cursor().execute("SELECT nextval('devices_receipt')"),
    ):
        try:
            with transaction.atomic():
                attempt()
        except Exception as error:
            assert error.__cause__.sqlstate in ("25006", "42501"), error
        else:
            raise SystemExit(f"written on {place.alias}")
    with elsewhere.here():
        assert Property.objects.update(name="Soak Hall") == 1
        assert connection.alias == "default"
    assert connection.alias == place.alias
elsewhere.done_elsewhere(look)
elsewhere.done_elsewhere(look, here="it is asked for")
assert connection.alias == "default" and elsewhere.current() == elsewhere.Place()
print(*tried)
"""


JOBS = """
import django; django.setup()
from django.utils import timezone
from accounting import elsewhere
from accounting.office import queries, registry
from accounting.office.models import Job
from accounting.office.rules.person import Person
from accounting.office.services import jobs
ada = Person("ada", frozenset({"auditor"}), "test")
asked = {
    "verify": None,
    "pack": {"day": None, "stretches": [{"stream": "soak", "first": 1, "last": 10}]},
    "report": {"report": "exceptions", "form": "csv", "by": "ada", "at": timezone.now().isoformat(), "given": {}},
}
seen = []
choose = elsewhere.choose
elsewhere.choose = lambda **more: (place := choose(**more), seen.append(place.alias))[0]
for name, what in asked.items():
    job = jobs.start(registry.jobs()[name], by=ada, at=timezone.now(), asked=what)
    assert jobs.run(job.pk, clock=timezone.now)
    job = Job.objects.get(pk=job.pk)
    assert job.state == "done", job.detail
    file = queries.result_file(job, 1)
    size = 0 if file is None else sum(len(part) for part in queries.content_of(file))
    print(name, seen.pop(0), size)
assert not seen
"""


def test_packs_reports_and_verifying_of_the_office_read_the_copy(place: Place) -> None:
    with place.house.web() as client:
        settled(place, client, 20)
    done = place.run("-c", JOBS)  # whoever asked for it sees what was recorded until then
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[:2] for line in lines] == [[name, "elsewhere"] for name in ("verify", "pack", "report")]
    assert int(lines[1][2]) > 1_000 and int(lines[2][2]) > 50


def test_nothing_can_be_written_where_things_are_looked_up(place: Place) -> None:
    done = place.run("-c", WRITES)
    assert (done.returncode, done.stdout.split()) == (0, ["elsewhere", "read_only"]), done.stderr
