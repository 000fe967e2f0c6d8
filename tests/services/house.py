"""A house to test in: one floor, rounds written down by hand, posted by the door and settled for real."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from accounting.services import ledger
from devices import acts as device_acts
from devices import posting
from devices.audit.findings import readable
from devices.audit.verification import Counts, streams, verify_stream, verify_the_rest
from devices.intake import directory, inbox, settling
from devices.intake.directory import Caller
from devices.intake.inbox import Verdict
from jackpot.rules.decision import Act
from jackpot.services import acts as jackpot_acts
from tables.services import acts as table_acts
from tables.services import closing, days, floors, terms

OPENED = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
DEALT = datetime(2026, 11, 28, 2, 14, 5, 120_000, tzinfo=UTC)  # 21:14 of the 27th in the house
DEALT_AT = "2026-11-27T21:14:05.120-05:00"
RECEIVED = DEALT + timedelta(seconds=2)

# Two links, one of them with two levels on a paytable of its own, and tables of every standing.
FLOOR = """
[property]
code = "BOS"
name = "Boston Harbor"
time_zone = "America/New_York"
gaming_day_starts = "06:00"
jurisdiction = "MA"

[[paytables]]
code = "two-prizes"
games = ["mississippi-stud"]
wager_cents = 500
rows = [
  { hand = "royal_flush", pays = "share", level = "grand", share_ppm = 1000000, envy_cents = 500000 },
  { hand = "straight_flush", pays = "share", level = "grand", share_ppm = 100000, envy_cents = 150000 },
  { hand = "four_of_a_kind", pays = "share", level = "minor", share_ppm = 1000000, envy_cents = 1000 },
  { hand = "full_house", pays = "for", odds = 50 },
  { hand = "flush", pays = "to", odds = 40 },
  { hand = "straight", pays = "sum", cents = 12345 },
]

[[links]]
code = "ms-mg01"
name = "Multi-Game 1"
paytable = "ms-mg-01"
decks = 1
[[links.levels]]
code = "major"
reset_cents = 1000000
rate_ppm = 170003
reserve_ppm = 30007
limit_cents = 50000000

[[links]]
code = "twin"
name = "Twin Prizes"
paytable = "two-prizes"
decks = 1
[[links.levels]]
code = "grand"
reset_cents = 2000000
rate_ppm = 123457
reserve_ppm = 10001
limit_cents = 2000400
floor_policy = "top_up"
[[links.levels]]
code = "minor"
reset_cents = 5000
rate_ppm = 54321
limit_cents = 5100
overflow_policy = "revenue"
seed_funding = "house"

[[tables]]
code = "MS-101"
game = "mississippi-stud"
seats = 6
decks = 1
minimum_cents = 1000
maximum_cents = 50000
link = "ms-mg01"
paytables = { base = "ms-base", three_card_bonus = "3cs-01", cover_all = "ms-cover-all" }

[[tables]]
code = "MS-102"
game = "mississippi-stud"
seats = 7
decks = 1
minimum_cents = 1000
maximum_cents = 50000
link = "ms-mg01"
paytables = { base = "ms-base", three_card_bonus = "3cs-04" }
terms = { progressive_survives_fold = false }

[[tables]]
code = "TW-201"
game = "mississippi-stud"
seats = 6
decks = 1
minimum_cents = 500
maximum_cents = 100000
link = "twin"
paytables = { base = "ms-base", cover_all = "ms-cover-all" }

[[tables]]
code = "VIP-7"
game = "mississippi-stud"
seats = 6
decks = 1
minimum_cents = 500
maximum_cents = 1000000
paytables = { base = "ms-base", three_card_bonus = "3cs-02" }
"""
LINKED, NEIGHBOUR, TWIN, ALONE = "MS-101", "MS-102", "TW-201", "VIP-7"
ODD = "VIP 7/a é"  # a code as floors before 0.2.0 could have it
# The progressive wager of each table's link, as further wagers of a seat.
PROGRESSIVE: dict[str, dict[str, Any]] = {
    LINKED: {"progressive": 100}, NEIGHBOUR: {"progressive": 100}, TWIN: {"progressive": 500}, ALONE: {}, ODD: {},
}  # fmt: skip
STREETS = ("third_street", "fourth_street", "fifth_street")

Message = dict[str, Any]


def seat(number: int, cards: str, *streets: int, ante: int = 1000, folded: str | None = None, **wagers: int) -> Message:
    """A seat of a message: `streets` are multiples of the ante, one each unless it folded."""
    if not streets and folded is None:
        streets = (1, 1, 1)
    placed = {"ante": ante} | {name: ante * times for name, times in zip(STREETS, streets, strict=False)}
    entry: Message = {"seat": number, "cards": cards.split(), "wagers": placed | wagers}
    return entry if folded is None else entry | {"folded": folded}


def message(
    round: str, *seats: Message, table: str = LINKED, community: str = "2c 9h Kd", dealt_at: str = DEALT_AT, **more: Any
) -> Message:
    """A round message of CONTRACT §2; one losing seat unless others are given."""
    return {
        "round": round,
        "table": table,
        "dealt_at": dealt_at,
        "dealing": {"method": "shuffler", "mode": "cover_all"},
        "community": community.split(),
        "seats": list(seats) or [seat(1, "3s 7d", **PROGRESSIVE[table])],
    } | more


def locked(round: str, *seats: int, table: str = LINKED, locked_at: str = DEALT_AT, **wager: int) -> Message:
    """The lock of a round: the progressive wager of its table's link, unless another is given, at these seats or the first."""
    return {
        "kind": "lock",
        "round": round,
        "table": table,
        "locked_at": locked_at,
        "seats": [{"seat": number, "wagers": wager or PROGRESSIVE[table]} for number in seats or (1,)],
    }


def royal(round: str, *, table: str = LINKED, **more: Any) -> Message:
    """Seat 3 holds a royal flush and seat 1 earns its envy; seat 5 bets no progressive."""
    wager = PROGRESSIVE[table]
    return message(
        round,
        seat(1, "2s 7d", **wager),
        seat(3, "Ah Kh", 3, 3, 3, **wager),
        seat(5, "3c 4c", folded="third_street"),
        table=table,
        community="Qh Jh Th",
        **more,
    )


def two_hits(round: str, *, table: str = LINKED, **more: Any) -> Message:
    """Seat 6 holds a straight flush and seat 2 the royal: paid in that order, each with envy for the other's hand."""
    wager = PROGRESSIVE[table]
    return message(
        round,
        seat(2, "As Ks", **wager),
        seat(4, "2d 3d", 1, folded="fourth_street", **wager),
        seat(6, "9s 8s", **wager),
        table=table,
        community="Qs Js Ts",
        **more,
    )


def open_odd_table(at: datetime = OPENED) -> None:
    """Another lone table, whose code no floor file may have any more: past the door, as it is on record in older houses."""
    lone = FLOOR[FLOOR.index('[[tables]]\ncode = "VIP-7"') :].replace(ALONE, ODD)
    with patch("tables.rules.floor.refuse_odd_codes"):
        floors.install(FLOOR[: FLOOR.index("[[paytables]]")] + lone, at=at)
    forget()


@contextmanager
def earlier_door() -> Iterator[None]:
    """The door as it was before amounts had a bound: such messages may wait in the queue of an older house."""
    with patch("tables.rules.door.MOST_CENTS", 2**64):
        yield


@contextmanager
def refused_by(rule: str) -> Iterator[None]:
    """What is done inside must be refused by the database, by the constraint or trigger of this name.

    Deferred constraints are asked at the end of the block, as a commit would.
    """
    with pytest.raises(DatabaseError) as refusal, transaction.atomic():
        yield
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    cause = refusal.value.__cause__
    assert isinstance(cause, psycopg.Error), f"not refused by the database: {refusal.value!r}"
    assert cause.diag.constraint_name == rule, f"refused by {cause.diag.constraint_name}: {cause}"


def rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """What a query finds."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def value(sql: str, *values: Any) -> Any:
    """The one value that a query finds."""
    ((found,),) = rows(sql, *values)
    return found


def run(sql: str, *values: Any) -> int:
    """Run a statement; the number of rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.rowcount)


def whoever_was_at_work_is_over() -> None:
    """Wait for other tests' transactions on this server, as what a queue has passed does: they may have been handed anything."""
    give_up = time.monotonic() + 120
    while rows("SELECT FROM devices_passed WHERE noted_by >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint"):
        assert time.monotonic() < give_up, "somebody's transaction does not end"
        time.sleep(0.01)


def verify() -> Counts:
    """What `manage.py verify` does; Difference where anything is not as it was recorded."""
    counts = Counts()
    for stream_id, _, _ in streams():
        counts.add(verify_stream(stream_id))
    with readable("the rest"):
        counts.add(verify_the_rest())
    return counts


def forget() -> None:
    """What another process would see: nothing kept from before."""
    directory.forget()
    ledger.forget()
    terms.forget()


@dataclass
class House:
    """The floor of a test, on the database the test is connected to. `now` is the clock of its edges."""

    now: datetime = RECEIVED
    posted: list[Message] = field(default_factory=list)

    def post(self, *messages: Message, at: datetime | None = None) -> list[Verdict]:
        """Post messages as one array, as all tables' own device; none may be refused at the door."""
        known = directory.current()
        caller = Caller(1, "gateway", frozenset(known.addresses))
        body = json.dumps(list(messages), ensure_ascii=False).encode()
        read = posting.read(body, caller, known, at or self.now)
        assert isinstance(read, posting.Post), read
        assert [item.refusal for item in read.items if item.refusal] == []
        self.posted += messages
        return inbox.accept(read.arrivals)

    def settle(self, at: datetime | None = None) -> int:
        """Empty every queue."""
        return settling.drain(clock=lambda: at or self.now)

    def play(self, *messages: Message, at: datetime | None = None) -> list[Message]:
        """Post and settle; the settlements in the order of the messages."""
        self.post(*messages, at=at)
        self.settle(at)
        return [self.settlement(sent) for sent in messages]

    def act(self, name: str, subject: str, *, at: datetime | None = None, **payload: Any) -> tuple[str, int]:
        """Have an act performed as the office would, with nobody to ask; its stream and sequence."""
        now = at or self.now
        app: Any = jackpot_acts if name.startswith(("level.", "link.")) else table_acts
        app = {"link.close": closing, "table.join": device_acts, "table.leave": device_acts}.get(name, app)
        with transaction.atomic():
            return app.perform(Act(name, subject, now.isoformat(), payload), at=now, by="tester")

    def close_day(
        self, day: str, *, at: datetime | None = None, looked: dict[str, int] | None = None
    ) -> dict[str, int]:
        """Close a gaming day as the office would, after a look at every stream; the event of each."""
        now = at or self.now
        if looked is None:
            looked = dict(rows("SELECT code, next_sequence - 1 FROM accounting_stream"))
        with transaction.atomic():
            return days.perform(Act("day.close", day, now.isoformat(), {"sequences": looked}), at=now, by="tester")

    def suspend(self, link: str) -> None:
        """Suspend a link from before the deals of these tests on."""
        self.act("link.suspend", link, at=DEALT - timedelta(hours=1))

    def settlement(self, sent: Message) -> Message:
        """What a posted message came to."""
        found = rows(
            """
            SELECT coalesce(round.settlement, hold.settlement, lock.result, aside.result) FROM devices_message message
            JOIN tables_table tabl ON tabl.id = message.table_id
            LEFT JOIN tables_round round ON round.message_id = message.id
            LEFT JOIN tables_hold hold ON hold.message_id = message.id
            LEFT JOIN tables_lock lock ON lock.message_id = message.id
            LEFT JOIN tables_locksetaside aside ON aside.message_id = message.id
            WHERE tabl.code = %s AND message.reference = %s AND message.kind = %s
            """,
            sent["table"],
            sent["round"],
            sent.get("kind", "result"),
        )
        assert len(found) == 1, f"{sent['round']}: {len(found)} messages"
        assert found[0][0] is not None, f"{sent['round']} is not settled"
        settlement: Message = json.loads(bytes(found[0][0]))
        return settlement

    def outcome(self, sent: Message) -> tuple[str, list[str]]:
        """Settled, void or held, and why."""
        settlement = self.settlement(sent)
        return settlement["outcome"], settlement["reasons"]

    @staticmethod
    def stream(code: str) -> int:
        """The id of a stream."""
        found: int = value("SELECT id FROM accounting_stream WHERE code = %s", code)
        return found

    @staticmethod
    def order(stream: str = "ms-mg01") -> list[str]:
        """The references of a stream's rounds in its order."""
        found = rows("SELECT reference FROM tables_round WHERE stream_id = %s ORDER BY sequence", House.stream(stream))
        return [reference for (reference,) in found]

    @staticmethod
    def waiting() -> int:
        """How many messages are in the queue."""
        found: int = value("SELECT count(*) FROM devices_queued")
        return found

    @staticmethod
    def table(code: str) -> int:
        """The id of a table."""
        found: int = value("SELECT id FROM tables_table WHERE code = %s", code)
        return found

    @staticmethod
    def significant(code: str) -> list[dict[str, Any]]:
        """The details of significant events of a kind, oldest first."""
        found = rows("SELECT detail FROM devices_significantevent WHERE code = %s ORDER BY id", code)
        return [json.loads(detail) if isinstance(detail, str) else detail for (detail,) in found]


def references(messages: Iterable[Message]) -> list[str]:
    """The references of messages, in order."""
    return [sent["round"] for sent in messages]
