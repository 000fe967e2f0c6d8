"""Ranges of a stream replayed side by side come to what one replay comes to, and a process that dies is never a result."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from io import StringIO
from typing import Any

import msgspec
import psutil
import pytest
from django.core.management import call_command

from accounting.rules.chain import event_hash
from devices.audit import verification
from devices.audit.findings import ProcessDied
from devices.audit.replay import Replayed, replay_range
from devices.audit.side_by_side import Processes, cores, processes_for
from devices.audit.verification import Difference, cut, joined, take_snapshot
from jackpot.rules.meter import Meter
from tables.services.recording import encode
from tests.conftest import ROOT, service_environment
from tests.services.house import House, rows, verify
from tests.services.played import tamper

pytestmark = pytest.mark.usefixtures("played")


def all_streams() -> list[int]:
    """Every stream, in the order in which they are verified."""
    return [stream_id for stream_id, _, _ in verification.streams()]


@pytest.mark.parametrize(("processes", "size"), [(1, 1), (1, 4), (1, 100), (2, 1), (2, 3), (5, 2)])
def test_however_it_is_divided_the_result_is_the_same(processes: int, size: int) -> None:
    done = {"events": 0, "inbox": 0}

    def advance(what: str, number: int) -> None:
        done[what] += number

    assert verification.verify(all_streams(), processes=processes, size=size, advance=advance) == verify()
    assert done == {"events": 11, "inbox": 1}


def rewrite(first: int) -> None:
    """Chain the link's events anew from one on, so that every hash is right again."""
    events = rows(
        """SELECT event.stream_id, event.sequence, event.kind, event.subject, event.gaming_date, recorded_at,
            message_digest, result_digest, rules, received_at, device_id
        FROM accounting_event event JOIN tables_round round USING (stream_id, sequence)
        JOIN devices_message message ON message.id = round.message_id
        WHERE event.stream_id = %s AND event.sequence >= %s ORDER BY event.sequence""",
        House.stream("ms-mg01"),
        first,
    )
    ((head,),) = rows(
        "SELECT hash FROM accounting_event WHERE stream_id = %s AND sequence = %s", events[0][0], first - 1
    )
    previous = bytes(head)
    for stream_id, sequence, kind, subject, day, recorded_at, message_digest, result_digest, *more in events:
        following = event_hash(
            previous,
            stream="ms-mg01",
            sequence=sequence,
            kind=kind,
            subject=subject,
            gaming_date=day,
            recorded_at=recorded_at,
            message_digest=bytes(message_digest),
            result_digest=bytes(result_digest),
            rules=more[0],
            received_at=more[1],
            device_id=more[2],
        )
        tamper(
            f"UPDATE accounting_event SET previous = '\\x{previous.hex()}', hash = '\\x{following.hex()}'"
            f" WHERE stream_id = {stream_id} AND sequence = {sequence}"
        )
        previous = following
    tamper(f"UPDATE accounting_stream SET head = '\\x{previous.hex()}' WHERE code = 'ms-mg01'")


def change_settlement(sequence: int, change: dict[str, int]) -> None:
    """Change the meter in a settlement of the link, with every digest and hash that follows from it."""
    stream_id = House.stream("ms-mg01")
    ((recorded,),) = rows(
        "SELECT settlement FROM tables_round WHERE stream_id = %s AND sequence = %s", stream_id, sequence
    )
    settlement = msgspec.json.decode(bytes(recorded))
    for key, by in change.items():
        settlement["meters"][0][key] += by
    changed = encode(settlement)
    place = f"stream_id = {stream_id} AND sequence = {sequence}"
    tamper(f"UPDATE tables_round SET settlement = '\\x{changed.hex()}' WHERE {place}")
    tamper(f"UPDATE accounting_event SET result_digest = '\\x{sha256(changed).hexdigest()}' WHERE {place}")
    rewrite(sequence)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("key", ["after_cents", "residual_millionths", "reserve_cents", "reserve_residual_millionths"])
def test_a_meter_changed_in_a_settlement_is_found_there_wherever_ranges_meet(key: str, size: int) -> None:
    """Who rewrites the whole chain after it hides nothing: of size 3, the next range even begins from the changed meter."""
    change_settlement(2, {key: 1})
    with pytest.raises(Difference, match=r"^stream ms-mg01, sequence 2 \(MS-101/R-2\): settlement: "):
        verification.verify(all_streams(), size=size)


# What is done at a border of ranges of three events, between sequences 2 and 3; the words for it.
AT_A_BORDER = {
    "a byte of the last settlement before it": (
        "UPDATE tables_round SET settlement = overlay(settlement placing '\\x39'::bytea from 12 for 1)"
        " WHERE stream_id = {} AND sequence = 2",
        "stream ms-mg01, sequence 2 (MS-101/R-2): settlement:",
    ),
    "the last settlement before it, that is none any more": (
        "UPDATE tables_round SET settlement = 'x' WHERE stream_id = {} AND sequence = 2",
        "stream ms-mg01, sequence 2 (MS-101/R-2): settlement:",
    ),
    "a byte of the first settlement after it": (
        "UPDATE tables_round SET settlement = overlay(settlement placing '\\x39'::bytea from 12 for 1)"
        " WHERE stream_id = {} AND sequence = 3",
        "stream ms-mg01, sequence 3 (MS-102/R-3): settlement:",
    ),
    "the last hash before it": (
        "UPDATE accounting_event SET hash = sha256('x') WHERE stream_id = {} AND sequence = 2",
        "stream ms-mg01, sequence 2 (MS-101/R-2): hash of the event:",
    ),
    "the hash before it, in the first event after it": (
        "UPDATE accounting_event SET previous = sha256('x') WHERE stream_id = {} AND sequence = 3",
        "stream ms-mg01, sequence 3 (MS-102/R-3): hash of the previous event:",
    ),
    "the last event before it taken out": (
        "DELETE FROM accounting_event WHERE stream_id = {} AND sequence = 2",
        "stream ms-mg01: next event: expected 2, found 3",
    ),
    "the first event after it taken out": (
        "DELETE FROM accounting_event WHERE stream_id = {} AND sequence = 3",
        "stream ms-mg01: next event: expected 3, found 4",
    ),
    "the last round before it taken out": (
        "DELETE FROM tables_round WHERE stream_id = {} AND sequence = 2",
        "sequence 2 (MS-101/R-2): round of the event:",
    ),
    "the number of the last hit before it": (
        "UPDATE jackpot_hit SET number = 77 WHERE sequence = 2 AND number = 2 AND level_id ="
        " (SELECT level.id FROM jackpot_level level JOIN jackpot_link link ON link.id = link_id WHERE stream_id = {})",
        "sequence 2 (MS-101/R-2): hit ms-mg01-000002:",
    ),
    "the last hit before it taken out": (
        "DELETE FROM jackpot_hit WHERE sequence = 2 AND number = 2 AND level_id ="
        " (SELECT level.id FROM jackpot_level level JOIN jackpot_link link ON link.id = link_id WHERE stream_id = {})",
        "sequence 2 (MS-101/R-2): number of hits:",
    ),
    "a transfer after it": (
        "UPDATE accounting_transfer SET amount_cents = amount_cents + 1 WHERE stream_id = {} AND sequence = 3"
        " OR stream_id = {} AND sequence = 5 AND line = 1",
        "stream ms-mg01, sequence 5 (MS-102/R-6): ledger transfers:",
    ),
    "both sides of it": (
        "UPDATE accounting_event SET hash = sha256('x') WHERE stream_id = {} AND sequence IN (2, 3, 4, 5)",
        "stream ms-mg01, sequence 2 (MS-101/R-2): hash of the event:",
    ),
}


@pytest.mark.parametrize("what", AT_A_BORDER)
def test_what_was_changed_at_a_border_is_named_as_one_replay_names_it(what: str) -> None:
    statement, named = AT_A_BORDER[what]
    tamper(statement.replace("{}", str(House.stream("ms-mg01"))))
    for size in (6, 3):
        with pytest.raises(Difference) as difference:
            verification.verify(all_streams(), size=size)
        assert named in str(difference.value), size


@pytest.mark.parametrize(
    "what", ["both sides of it", "the last hash before it", "a byte of the last settlement before it"]
)
def test_processes_side_by_side_name_it_too(what: str) -> None:
    statement, named = AT_A_BORDER[what]
    tamper(statement.replace("{}", str(House.stream("ms-mg01"))))
    with pytest.raises(Difference) as difference:
        verification.verify(all_streams(), processes=2, size=3)
    assert named in str(difference.value)
    assert not at_work(os.getpid())


def test_what_one_range_ends_with_must_be_what_the_next_began_with() -> None:
    snapshot = take_snapshot(House.stream("ms-mg01"))
    first, second = (replay_range(part) for part in cut(snapshot, 3))
    assert joined(snapshot, [first, second]).rounds == 5
    meters = {"major": second.began.meters["major"]._replace(reserve_residual_millionths=1)}
    for changed, what in (
        ({"head": bytes(32)}, "hash that a range begins with"),
        ({"meters": meters}, "meters that a range begins with"),
        ({"meters": {**second.began.meters, "minor": Meter(1)}}, "meters that a range begins with"),
        ({"next_hit": 2}, "next hit that a range begins with"),
        ({"sequence": 3}, "event that a range begins after"),
    ):
        other = replace(second, began=replace(second.began, **changed))
        with pytest.raises(Difference, match=f"^stream ms-mg01, after sequence 2: {what}: "):
            joined(snapshot, [first, other])


def test_a_range_left_out_or_taken_twice_is_a_difference() -> None:
    snapshot = take_snapshot(House.stream("ms-mg01"))
    parts = [replay_range(part) for part in cut(snapshot, 2)]
    assert [(each.part.first, each.part.last) for each in parts] == [(0, 1), (2, 3), (4, 5)]
    wrong: list[list[Replayed]] = [
        parts[:2],
        parts[1:],
        [parts[0], parts[2]],
        [parts[0], *parts],
        [*parts, parts[2]],
        [],
    ]
    for each in wrong:
        with pytest.raises(Difference):
            joined(snapshot, each)


def test_a_process_that_dies_is_an_error() -> None:
    with pytest.raises(ProcessDied), Processes(2) as jobs:
        jobs.submit(os._exit, 0)()
    assert not at_work(os.getpid())


def test_an_error_in_a_process_is_raised_here_and_the_others_end() -> None:
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError), Processes(2) as jobs:
        jobs.submit(time.sleep, 60)
        jobs.submit(divmod, 1, 0)()
    assert time.monotonic() - began < 30
    assert not at_work(os.getpid())


def at_work(process_id: int) -> list[psutil.Process]:
    """The processes that a verification has started and that have not ended."""
    try:
        children = psutil.Process(process_id).children()
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.NoSuchProcess:
        return []


@contextmanager
def verifying() -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """`manage.py verify --processes 2` on this database, and its two processes as soon as they are there."""
    started = subprocess.Popen(
        [sys.executable, "manage.py", "verify", "--processes", "2"],
        cwd=ROOT, env=service_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while len(found := at_work(started.pid)) < 2:
            assert started.poll() is None and time.monotonic() < deadline, started.communicate()
            time.sleep(0.001)
        yield started, found
    finally:
        started.kill()
        started.wait()


def test_a_verification_whose_process_is_killed_says_that_nothing_is_verified() -> None:
    with verifying() as (started, processes):
        processes[0].kill()
        said, why = started.communicate(timeout=60)
    assert started.returncode == 2
    assert "verified" not in said
    assert why.rstrip().splitlines()[-1].startswith("NOT VERIFIED ")


def test_when_it_is_killed_itself_its_processes_end() -> None:
    with verifying() as (started, processes):
        started.kill()
        _, alive = psutil.wait_procs(processes, timeout=30)
    assert not alive


def test_the_command_divides_the_work_when_it_is_told_to() -> None:
    alone, divided = StringIO(), StringIO()
    call_command("verify", stdout=alone)
    call_command("verify", processes=1, stdout=StringIO())
    call_command("verify", processes=2, stdout=divided)
    assert alone.getvalue().splitlines()[0] == divided.getvalue().splitlines()[0]
    with pytest.raises(SystemExit) as ended:
        call_command("verify", processes=0, stderr=StringIO())
    assert ended.value.code == 2


def test_a_small_house_does_not_wait_for_processes_to_start() -> None:
    assert processes_for(9_999) == 1
    assert processes_for(10_000) == cores() >= 1


def test_a_difference_survives_the_way_between_processes() -> None:
    difference = Difference("stream x", "hash", b"\x01" * 200, {"cents": 1})
    again: Any = pickle.loads(pickle.dumps(difference))
    assert type(again) is Difference
    assert str(again) == str(difference)
    assert str(again).endswith("..., found {'cents': 1}")
