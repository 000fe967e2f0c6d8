"""Whoever carries a level to another link may die at any moment: both streams have the transfer, or neither (CONTRACT §7)."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count

import pytest

from tests.conftest import ROOT, service_environment
from tests.races.together import workers
from tests.services import auditor
from tests.services.house import LINKED, NEIGHBOUR, TWIN, House, message, rows, royal, value, verify

pytestmark = [pytest.mark.alone, pytest.mark.timeout(240)]

ONE, OTHER = "ms-mg01/major", "twin/grand"


class Process:
    """A process of this repository's tests that is talked to line by line."""

    def __init__(self, *module: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", *module], cwd=ROOT, env=service_environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self.hear() == "ready"

    def hear(self) -> str:
        """The next line that it says."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, line: str) -> str:
        """Say a line, hear one."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.hear()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.process.communicate(timeout=60)


@contextmanager
def settling_on_both(house: House) -> Iterator[None]:
    """Workers at both links, which may give and take; all rounds count from before they were suspended."""
    house.act("link.suspend", "ms-mg01")
    house.act("link.suspend", "twin")
    with workers(2, limit=3):
        yield


def more_rounds(house: House, number: int) -> None:
    """A round of each table, now and then a jackpot."""
    deal = royal if number % 7 == 0 else message
    house.post(*(deal(f"R-{number}", table=table) for table in (LINKED, NEIGHBOUR, TWIN)))


def on_both_or_neither() -> int:
    """The transfers on record, the same on both streams."""
    found = rows(
        """SELECT array_agg(stream.code ORDER BY stream.code) FROM accounting_event event
        JOIN accounting_document USING (stream_id, sequence) JOIN accounting_stream stream ON stream.id = event.stream_id
        WHERE kind = 'level.transfer' GROUP BY cause, result"""
    )
    assert all(streams == ["ms-mg01", "twin"] for (streams,) in found), found
    return len(found)


def all_agrees(house: House) -> None:
    """Nothing waits; the books agree to the millionth of a cent, and every event can be decided again."""
    house.settle()
    assert house.waiting() == 0
    assert value("SELECT count(*) FROM tables_round") == len(house.posted)
    auditor.everything_agrees()
    verify()


def test_a_carrier_that_dies_before_any_statement_leaves_both_streams_or_none(busy_house: House) -> None:
    done: list[int] = []
    with settling_on_both(busy_house), Process("tests.faults.carrier") as carrier:
        for wait in count(1):
            more_rounds(busy_house, wait)
            said = carrier.ask(f"{wait} {ONE} {OTHER}" if wait % 2 else f"{wait} {OTHER} {ONE}")
            done.append(on_both_or_neither() - sum(done))
            if said == "done":
                break
            assert said == "died"
        assert wait > 15, "it stands between many statements"
        # After the commit only those who listen to the two links are told.
        assert done == [0] * (wait - sum(done)) + [1] * sum(done) and sum(done) <= 4, done
    all_agrees(busy_house)


def test_carriers_that_are_killed_at_random_while_both_links_play(busy_house: House) -> None:
    rng = random.Random(9)
    with settling_on_both(busy_house), ExitStack() as stack:
        there, back = (stack.enter_context(Process("tests.faults.carrier")) for _ in range(2))
        for number in range(25):
            more_rounds(busy_house, number)
            for carrier, ends in ((there, f"{ONE} {OTHER}"), (back, f"{OTHER} {ONE}")):
                assert carrier.process.stdin is not None
                carrier.process.stdin.write(f"-{rng.randint(1, 80)} {ends}\n")
                carrier.process.stdin.flush()
            assert (there.hear(), back.hear()) == ("died", "died"), "neither failed: no deadlock, no refusal"
            on_both_or_neither()
        assert on_both_or_neither() >= 50
    all_agrees(busy_house)
