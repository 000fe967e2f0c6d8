"""What a floor does to a service, on real processes; after each, everything accepted is settled, void or held, once."""

import asyncio
import json
import select
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from urllib.parse import quote

import httpx
import psutil
import pytest

from devices.simulator.run import Plan, Run, load_floor
from devices.simulator.table import Dealt
from devices.simulator.tally import Tally
from jackpot.config.processes import runs
from tests.faults.account import Lost, account
from tests.faults.hall import BACK_WITHIN_SECONDS, MISHAPS, Hall, Message, by_table, eventually
from tests.faults.soak import STORM, legs, speed_for
from tests.faults.storm import Storm

pytestmark = [pytest.mark.alone, pytest.mark.timeout(170)]

NOTHING_WRITTEN_SECONDS = 5.0  # well within the ten for which a server that may forget writes nothing by itself


def test_messages_repeated_five_times_and_shuffled_are_settled_once(hall: Hall) -> None:
    luck = Random("shuffled")
    posts: list[list[Message]] = []
    sent = 0
    for messages in by_table(hall.deal(120)).values():
        copies = messages * 5
        luck.shuffle(copies)
        sent += len(copies)
        while copies:
            size = luck.randrange(1, 25)
            posts.append(copies[:size])
            copies = copies[size:]
    luck.shuffle(posts)
    with ThreadPoolExecutor(4) as gateways:
        said = Counter(status for statuses in gateways.map(hall.post, posts) for status in statuses)
    assert said == {"accepted": 120, "duplicate": sent - 120} and sent == 600
    hall.settled()
    account(hall)


def test_a_client_cut_off_anywhere_may_ask_and_send_again(hall: Hall) -> None:
    """The line breaks at a random byte of the request, or between the last byte and the answer, or with the answer unread."""
    luck = Random("cut off")
    service = hall.service()
    address = httpx.URL(service.base_url)
    found: Counter[str] = Counter()
    for each in hall.deal(40):
        message = each.message
        body = json.dumps(message).encode()
        head = (
            f"POST /api/v1/rounds HTTP/1.1\r\nHost: {address.host}\r\nAuthorization: Api-Key {service.keys[each.table]}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        request = head.encode() + body
        whole = luck.random() < 0.6
        with socket.create_connection((address.host, address.port or 80)) as line:
            line.sendall(request if whole else request[: luck.randrange(len(request))])
            if luck.random() < 0.5:  # a reset, not a polite end
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            patience = luck.choice(("none", "a moment", "until answered" if whole else "a moment"))
            if patience == "a moment":
                time.sleep(luck.uniform(0, 0.02))
            elif patience == "until answered":
                assert select.select([line], [], [], BACK_WITHIN_SECONDS)[0], "no answer"
        with hall.client(each.table) as client:
            path = f"/api/v1/rounds/{quote(each.table)}/{quote(message['round'])}"
            known = client.get(path)
            assert known.status_code in (200, 404)
            (status,) = hall.post([message])
            found["there" if known.status_code == 200 else f"not there, then {status}"] += 1
            assert known.status_code == 404 or status == "duplicate"
            assert known.status_code == 200 or patience != "until answered", "answered and not stored"
            assert whole or (known.status_code, status) == (404, "accepted"), "half a request was stored"
            assert client.get(path).status_code == 200
            assert hall.post([message]) == ["duplicate"]
    assert found["there"] > 0 and found["not there, then accepted"] > 0, found
    hall.settled()
    account(hall)


def test_an_emptied_broker_loses_nothing(hall: Hall) -> None:
    """Wakes are thrown away faster than workers can read them; the sweep finds what waits."""
    emptying = threading.Event()

    def empty() -> None:
        while not emptying.is_set():
            hall.empty_broker()

    thread = threading.Thread(target=empty)
    thread.start()
    try:
        for messages in by_table(hall.deal(200)).values():
            for first in range(0, len(messages), 10):
                hall.post(messages[first : first + 10])
    finally:
        emptying.set()
        thread.join()
    hall.settled()
    account(hall)


def test_an_unreachable_broker_stops_no_post_and_all_is_settled_when_it_is_back(hall: Hall) -> None:
    with hall.broker_unreachable():
        with pytest.raises(Exception, match="not currently accepting connections"):
            hall.empty_broker()
        for messages in by_table(hall.deal(80)).values():
            assert set(hall.post(messages)) == {"accepted"}
    hall.settled()
    account(hall)


@pytest.mark.parametrize(
    ("breaks", "mends"),
    [
        (
            "ALTER TABLE tables_payout RENAME COLUMN hand TO gone",
            "ALTER TABLE tables_payout RENAME COLUMN gone TO hand",
        ),
        ("ALTER TABLE accounting_total RENAME TO gone", "ALTER TABLE gone RENAME TO accounting_total"),
    ],
    ids=["a column", "a table"],
)
def test_what_goes_missing_while_workers_run_stops_settling_until_it_is_back(
    breaks: str, mends: str, hall: Hall
) -> None:
    """As a newer version's migration would do it: rounds are accepted and wait, health says why, none is held."""
    holds = hall.number("SELECT count(*) FROM tables_hold WHERE 'processing_error' = ANY (reasons)")
    hall.execute(breaks)
    try:
        for messages in by_table(hall.deal(20)).values():
            assert set(hall.post(messages)) == {"accepted"}
        eventually(lambda: "stands still" in hall.health()["status"], "health says nothing")
        time.sleep(5)  # it is tried again and again
        seen = hall.health()
        assert "does not exist" in seen["stopped"][0]["reason"]
        assert {each["reason"].split('"')[1] for each in seen["stopped"]} <= {"hand", "accounting_total"}
        assert seen["queued"] > 0
    finally:
        hall.execute(mends)
    hall.settled()
    hall.ready()
    assert hall.number("SELECT count(*) FROM tables_hold WHERE 'processing_error' = ANY (reasons)") == holds
    account(hall)


def test_gateways_whose_clocks_are_ahead_or_behind_are_settled_and_put_on_record(hall: Hall) -> None:
    misdated = "SELECT count(*) FROM devices_significantevent WHERE code = 'dated_by_receipt'"
    now = datetime.now(UTC)
    before = hall.number(misdated)
    for start, dated_by_receipt in (
        (now + timedelta(hours=30), True),  # another gaming day
        (now + timedelta(minutes=9), True),
        (now + timedelta(minutes=2), False),  # within tolerance
        (now - timedelta(days=400), True),  # before the tables were opened
    ):
        for messages in by_table(hall.deal(8, start=start)).values():
            assert set(hall.post(messages)) == {"accepted"}
        hall.settled()
        assert hall.number(misdated) - before == (8 if dated_by_receipt else 0), start
        before = hall.number(misdated)
    # Every round counts on the day on which it came in: it cannot be earlier or later than that of receipt.
    assert hall.number("SELECT count(DISTINCT gaming_date) FROM accounting_event WHERE kind = 'round'") <= 2
    account(hall)


def test_once_the_database_is_back_no_thread_of_the_web_clings_to_the_old_connection(hall: Hall) -> None:
    """Which thread looks up the tables is left to luck: all of them must have let go."""

    def post_for(seconds: float) -> Counter[str]:
        """Four gateways at once, so that lookups are spread over threads."""

        def gateway(messages: list[Message]) -> list[str]:
            said: list[str] = []
            ends = time.monotonic() + seconds
            while time.monotonic() < ends:
                said += hall.post(messages, until_answered=False)
                time.sleep(0.05)
            return said

        with ThreadPoolExecutor(4) as gateways:
            heaps = by_table(hall.deal(8)).values()
            return Counter(status for said in gateways.map(gateway, heaps) for status in said)

    assert post_for(3)["unknown"] == 0
    assert hall.strike_database(signal.SIGQUIT)
    hall.ready()
    hall.post(next(iter(by_table(hall.deal(4)).values())))  # the inbox, too, has met the new server
    assert post_for(4)["unknown"] == 0
    hall.settled()
    account(hall)


def test_everybody_killed_at_random_under_load(hall: Hall) -> None:
    """Ten blows of what `manage.py soak` deals for as long as one likes."""
    storm = Storm(hall, seed=3, pause_seconds=0.6, most=10)
    sent: dict[str, Message] = {}
    tally = Tally()

    def note(dealt: Dealt) -> None:
        sent[dealt.message["round"]] = dealt.message

    def play(rounds: int, seed: int) -> None:
        plan = Plan(
            floor=load_floor(hall.floor_file), start=datetime.now(UTC), prefix=f"storm{seed}", seed=seed,
            speed=speed_for(45, 4), rounds=rounds, rates=MISHAPS, weather=STORM,
        )  # fmt: skip
        asyncio.run(Run(plan, hall.service(), tally=tally, wait_seconds=0, on_dealt=note, settles=False).run())

    storm.start()
    try:
        play(500, seed=3)
        for leg in legs(storm):
            play(100, seed=3 + leg)
    finally:
        storm.stop()
    assert set(tally.receipts) <= {"accepted", "duplicate"} and len(sent) >= 500
    assert storm.struck.total() == 10, storm.struck
    hall.answered |= sent
    hall.settled()
    account(hall)


@pytest.fixture
def forgetful(hall: Hall) -> Iterator[Callable[[bool], None]]:
    """Sets whether a commit waits for the disk; when it does not, nothing is written for ten seconds."""

    def durable(wanted: bool) -> None:
        setting = "on" if wanted else "off"
        with hall.server.connect() as server:
            server.execute(f"ALTER SYSTEM SET synchronous_commit = {setting}".encode())
            server.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
            server.execute("SELECT pg_reload_conf()")

        def known() -> bool:
            """A new process has them from the server's main one, which has then told the others: they read before they act."""
            with hall.server.connect() as newcomer:
                delay = newcomer.execute("SHOW wal_writer_delay").fetchone()
                commit = newcomer.execute("SHOW synchronous_commit").fetchone()
            return (delay, commit) == (("10s",), (setting,))

        eventually(known, "the server does not read its settings")
        time.sleep(0.5)  # the one that writes wakes up by this, and writes what there is: not what comes now

    yield durable
    with hall.server.connect() as server:
        server.execute("ALTER SYSTEM RESET synchronous_commit")
        server.execute("ALTER SYSTEM RESET wal_writer_delay")
        server.execute("SELECT pg_reload_conf()")


@pytest.mark.parametrize("durable", [True, False], ids=["durable", "not durable"])
def test_what_was_answered_outlives_the_database_unless_durability_is_off(
    hall: Hall, forgetful: Callable[[bool], None], durable: bool
) -> None:
    """The negative control: without waiting for the disk the same blow loses what was accepted, and the check says so."""
    messages = next(iter(by_table(hall.deal(60)).values()))
    forgetful(durable)
    began = time.monotonic()
    sent = 0
    while sent < len(messages) and time.monotonic() - began < NOTHING_WRITTEN_SECONDS:
        assert hall.post([messages[sent]]) == ["accepted"]
        sent += 1
    messages = messages[:sent]
    server = hall.server.process()
    assert server is not None
    family = [server, *server.children(recursive=True)]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    eventually(lambda: not any(map(runs, family)), "the database does not die")
    hall.ready()
    hall.settled()
    if not durable:
        with pytest.raises(Lost, match="accepted messages are gone"):
            account(hall)
        forgetful(True)
        # The gateways ask, find nothing, and send again: then all is well.
        hall.post(messages)
        hall.settled()
    account(hall)
