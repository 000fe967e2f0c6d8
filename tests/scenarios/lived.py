"""A history's lines played on the running house, line beside line with `settle`: the same bytes, and books that close.

Each history is one transaction that is rolled back, so that the next one finds the floor as it was installed. What commits is
the business of `tests.races` and `tests.faults`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from accounting.rules.acts import ActRefused
from devices import posting
from devices.audit import verification
from devices.intake import directory, inbox, self_check, settling
from devices.intake.directory import Caller
from jackpot.rules.decision import read_act
from jackpot.rules.meter import opening
from jackpot.rules.parts import PARTS, held
from tables import settle
from tables.rules.deciding import SHAPES
from tables.rules.floor import Floor
from tables.rules.house import house_of
from tables.services.recording import encode
from tests.rules.checked import Checked, Line
from tests.services import auditor
from tests.services.house import OPENED, House, forget, rows, value

# What an act that is refused must leave as it was: rows by their number, and those that may change by what they hold.
GROWING = """
    SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
        AND split_part(table_name, '_', 1) IN ('accounting', 'jackpot', 'tables', 'devices', 'office')
        AND table_name NOT IN ('devices_attempt') ORDER BY 1
"""
CHANGING = ("accounting_stream", "jackpot_meter", "jackpot_link", "tables_table", "tables_lock", "devices_queued")
RESULTS = """
    SELECT tabl.code, message.reference, message.kind, coalesce(round.settlement, hold.settlement, lock.result, aside.result)
    FROM devices_message message JOIN tables_table tabl ON tabl.id = message.table_id
    LEFT JOIN tables_round round ON round.message_id = message.id
    LEFT JOIN tables_hold hold ON hold.message_id = message.id
    LEFT JOIN tables_lock lock ON lock.message_id = message.id
    LEFT JOIN tables_locksetaside aside ON aside.message_id = message.id
    WHERE message.id = ANY (%s)
"""
OF_AN_ACT = """
    SELECT coalesce(document.result, round.settlement) FROM accounting_event event
    JOIN accounting_stream stream ON stream.id = event.stream_id
    LEFT JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    LEFT JOIN tables_round round ON round.stream_id = event.stream_id AND round.sequence = event.sequence
    WHERE stream.code = %s AND event.sequence = %s
"""
BALANCES = """
    SELECT code, sum(cents)::bigint FROM (
        SELECT credit_id AS account_id, amount_cents AS cents FROM accounting_transfer
        UNION ALL SELECT debit_id, -amount_cents FROM accounting_transfer
    ) sides JOIN accounting_account account ON account.id = account_id GROUP BY code
"""
METERS = """
    SELECT link.code, level.code, value_cents, residual_millionths, reserve_cents, reserve_residual_millionths,
        overflow_cents, overflow_residual_millionths
    FROM jackpot_meter meter JOIN jackpot_level level ON level.id = meter.level_id
    JOIN jackpot_link link ON link.id = level.link_id
"""
Meters = dict[tuple[str, str], tuple[int, ...]]


class Differs(AssertionError):
    """The house did not come to what the lines come to."""


@contextmanager
def undone(*, anew: bool = True) -> Iterator[None]:
    """Whatever is done inside is rolled back and remembered by nobody; `anew`, each stream first checks itself again."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            # As a snapshot of `verify` wants it, which is taken inside.
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        if anew:
            everything_forgotten()
        try:
            yield
        finally:
            transaction.set_rollback(True)
    forget()


def everything_forgotten() -> None:
    """As a process that has just started."""
    forget()
    self_check.forget()


def settle_file(floor: Floor) -> settle._File:
    """A file of `settle` before its first line."""
    meters = {link.code: {level.code: opening(level) for level in link.levels} for link in floor.links.values()}
    return settle._File(house_of(floor, meters))


@dataclass
class Lived:
    """One history on the database that this process is connected to, whose floor is installed and untouched."""

    floor: Floor
    waiting: dict[int, tuple[Line, bytes]] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)
    now: datetime = OPENED
    all_streams: bool = True

    def __post_init__(self) -> None:
        self.checked = Checked(self.floor)
        self.file = settle_file(self.floor)
        self.house = House()
        self.growing = [name for (name,) in rows(GROWING)]

    def play(self, lines: Sequence[Line]) -> None:
        """Every line, then what they came to together; an AssertionError or the product's own error where it is wrong."""
        expected = Counter(self.checked.accounts)
        opened = balances()
        for line in lines:
            self.line(line)
        self.settle()
        moved = {code: cents - expected[code] for code, cents in self.checked.accounts.items()}
        closed = balances()
        for code in moved.keys() | closed.keys():
            found = closed.get(code, 0) - opened.get(code, 0)
            if found != moved.get(code, 0):
                raise Differs(f"account {code} moved by {found} cents, by its movements {moved.get(code, 0)}")
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        auditor.totals_are_the_transfers()
        auditor.every_message_is_somewhere_once()
        # A stream on which nothing happened is as it was installed: it is verified once, in the first of some histories.
        verification.verify([stream for stream, _, length in verification.streams() if self.all_streams or length > 1])

    def line(self, line: Line) -> None:
        """One line, decided by all three: the checked house, `settle`, and the running house."""
        if "act" not in line:
            if line["table"] in self.moved:  # it may count on another stream, before or after what waits there
                self.settle()
            self.checked.decide(line)
            self.post(line)
            if line["table"] in self.moved or sum(line["round"].encode()) % 3 == 0:
                self.settle()
            return
        self.settle()
        self.checked.decide(line)
        answer = self.answer(line)
        before = self.standing() if answer["outcome"] in ("refused", "held") else None
        try:
            stream, sequence = self.act(line)
        except ActRefused as refusal:
            self.compare_refusal(line, answer, refusal)
            if before is not None and (after := self.standing()) != before:
                raise Differs(f"refused, and left {after} instead of {before}: {line}") from None
            return
        self.compare(line, encode(answer), bytes(value(OF_AN_ACT, stream, sequence)))
        if line["act"] in ("table.join", "table.leave"):
            self.moved.add(line["subject"])
        self.compare_meters(line)

    def answer(self, line: Line) -> Line:
        """What `settle` writes of a line."""
        written: Line = json.loads(settle._encoded(settle._line(json.dumps(line).encode(), self.file)))
        return written

    def act(self, line: Line) -> tuple[str, int]:
        """Have the house do it, as of the moment of the line; its shape is read first, as the office does."""
        read_act(line, SHAPES)
        at = datetime.fromisoformat(line["at"])
        self.now = max(self.now, at)
        return self.house.act(line["act"], line["subject"], at=at, **line["payload"])

    def compare_refusal(self, line: Line, answer: Line, refusal: ActRefused) -> None:
        """The same code and pointer; a correction that still holds is a settlement here and `still_held` there (A67)."""
        if line["act"] == "round.correct" and answer["outcome"] == "held":
            wanted: tuple[str, str | None] = ("still_held", None)
        elif answer["outcome"] == "refused":
            wanted = (answer["code"], answer.get("pointer"))
        else:
            wanted = (answer["outcome"], None)
        if (found := (refusal.code, refusal.pointer)) != wanted:
            raise Differs(f"refused {found}, `settle` says {wanted}: {line}")

    def post(self, line: Line) -> None:
        """A message comes to the door; what is refused there leaves nothing, the same again is known."""
        answer = self.answer(line)
        moment = datetime.fromisoformat(line.get("dealt_at") or line["locked_at"])
        self.now = max(self.now, moment)
        known = directory.current()
        read = posting.read(
            json.dumps([line]).encode(), Caller(1, "gateway", frozenset(known.addresses)), known, self.now
        )
        if not isinstance(read, posting.Post):
            raise Differs(f"refused whole, {read}: {line}")
        (item,) = read.items
        stored = value("SELECT count(*) FROM devices_message")
        if item.refusal is not None:
            found: tuple[Any, ...] = (item.refusal.code, item.refusal.pointer)
        else:
            (verdict,) = inbox.accept(read.arrivals)
            found = {"duplicate": ("duplicate", "/round"), "reused": ("reference_reused", "/round")}.get(
                verdict.status, ()
            )
            if not found:
                self.waiting[verdict.message_id] = (line, encode(answer))
        wanted = (answer["code"], answer["pointer"]) if answer["outcome"] == "refused" else ()
        if found != wanted:
            raise Differs(f"at the door {found}, `settle` says {wanted}: {line}")
        if found and value("SELECT count(*) FROM devices_message") != stored:
            raise Differs(f"refused, and stored: {line}")

    def settle(self) -> None:
        """Empty the queues and compare what each message came to."""
        if not self.waiting:
            return
        settling.drain(clock=lambda: self.now)
        found = {
            (table, reference, kind): result for table, reference, kind, result in rows(RESULTS, list(self.waiting))
        }
        for line, wanted in self.waiting.values():
            result = found[line["table"], line["round"], line.get("kind", "result")]
            if result is None:
                raise Differs(f"not settled: {line}")
            self.compare(line, wanted, bytes(result))
        self.waiting.clear()
        self.compare_meters(line)

    @staticmethod
    def compare(line: Line, wanted: bytes, found: bytes) -> None:
        """The result on record, byte for byte."""
        if found != wanted:
            raise Differs(f"recorded {found.decode()}\n`settle` writes {wanted.decode()}\nof {json.dumps(line)}")

    def compare_meters(self, line: Line) -> None:
        """Every part of every level, to the millionth: shown, by `settle`, and as worked out anew."""
        shown = meters_shown()
        for links in (self.file.house.links, self.checked.house.links):
            wanted = {
                (code, level): tuple(meter) for code, link in links.items() for level, meter in link.meters.items()
            }
            if shown != wanted:
                differing = {key: (shown.get(key), wanted.get(key)) for key in shown.keys() | wanted.keys()}
                differing = {key: pair for key, pair in differing.items() if pair[0] != pair[1]}
                raise Differs(f"meters {differing} after {json.dumps(line)}")
        for link in self.checked.house.links.values():
            assert all(held(meter, part) >= 0 for meter in link.meters.values() for part in PARTS)

    def standing(self) -> list[tuple[Any, ...]]:
        """How many rows there are of each kind, and what those hold that may change."""
        counts = ", ".join(f"(SELECT count(*) FROM {name})" for name in self.growing)
        held = ", ".join(f"(SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {name} t)" for name in CHANGING)
        return rows(f"SELECT {counts}, {held}")


def balances() -> dict[str, int]:
    """Credits less debits of every account in whole cents, by the transfers on record."""
    return dict(rows(BALANCES))


def meters_shown() -> Meters:
    """Every level's meter as the house shows it."""
    return {(link, level): tuple(values) for link, level, *values in rows(METERS)}
