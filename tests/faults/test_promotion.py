"""A standby takes over in mid-traffic: some of what was answered is gone, and gateways that resend what they hold bring it
back, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from jackpot.config.embedded_postgres import BROKER, DATABASE, OWNER, EmbeddedPostgres
from tests.faults.account import account
from tests.faults.hall import Hall
from tests.faults.replayed import compare
from tests.faults.replica import Copy, kill
from tests.faults.traffic import Traffic

pytestmark = [pytest.mark.alone, pytest.mark.timeout(400)]


@dataclass
class Place:
    """A house with its standby, both named to every process."""

    hall: Hall
    primary: EmbeddedPostgres
    copy: Copy


def either(scheme: str, servers: list[EmbeddedPostgres], database: str) -> str:
    """Both servers in one address."""
    hosts = ",".join(quote(str(server.socket), safe="") for server in servers)
    return f"{scheme}://{OWNER}@/{database}?host={hosts}&target_session_attrs=read-write"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    tmp_path.chmod(0o711)
    with ExitStack() as stack:
        primary = EmbeddedPostgres(tmp_path / "primary")
        primary.start()
        stack.callback(primary.stop)
        copy = Copy(tmp_path / "standby", primary)
        stack.callback(copy.stop)
        copy.follow()
        both = [primary, copy]
        environment = {
            "DATABASE_URL": either("postgresql", both, DATABASE),
            "CELERY_BROKER_URL": either("pgmq", both, BROKER),
            "JACKPOT_DEMO": "1",
        }
        hall = Hall(tmp_path, tables=4, settlers=2, environment=environment)
        hall.server = primary
        yield Place(stack.enter_context(hall.up()), primary, copy)


def test_what_a_promotion_loses_gateways_bring_back_and_nothing_doubles(place: Place) -> None:
    hall, copy = place.hall, place.copy
    with Traffic(hall.service(), hall.floor_file, rate=30) as traffic:
        traffic.goes_on(3)
        copy.let_go()  # the line between the two fails first, so that something is lost for certain
        traffic.goes_on(2)
        kill(place.primary)
        answered = traffic.answered
        copy.promote()
        hall.server = copy
        print(f"answered again {traffic.answered_again():.1f} s after the promotion")
        traffic.goes_on(3)
    hall.settled()
    with copy.connect(DATABASE) as database:
        there_now = {reference for (reference,) in database.execute("SELECT reference FROM devices_message")}
    lost = answered.keys() - there_now
    assert lost, "the standby lacked nothing: it was no test"
    said = traffic.send_again()
    print(f"{len(traffic.dealt)} dealt, {len(lost)} of {len(answered)} answered ones lost; sent again: {dict(said)}")
    assert set(said) == {"accepted", "duplicate"} and said["accepted"] >= len(lost)
    hall.settled()
    account(hall, {reference: dealt.message for reference, dealt in traffic.dealt.items()})
    compare(hall, traffic.dealt)
