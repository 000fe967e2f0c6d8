"""Settling a batch of rounds of one stream: decode, decide, record. One call inside one transaction (ARCHITECTURE §3)."""

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from psycopg.sql import Composable

from accounting.rules.gaming_day import gaming_date
from accounting.services import gaming_days
from accounting.services.copying import Copying
from accounting.services.ledger import Entry, Journal
from jackpot.rules.meter import Meter
from jackpot.services import meters
from tables.models import Hold
from tables.rules import books, games
from tables.rules.message import RoundMessage, instant
from tables.rules.settle import settle
from tables.services import terms
from tables.services.terms import StreamTerms, TableInForce, TermsInForce

AHEAD_AT_MOST = timedelta(minutes=5)
PORTION = 250
"""Rounds that are handed over to the database at a time, at most, while the next ones are settled."""
LAST_PORTION = 64
"""So few may be left for the end, when there is nothing to settle meanwhile. Each portion costs both sides a little."""
LOOK_IN = 4
"""Rounds between two looks at whether the database is ready for more: it must not be kept waiting for long."""

encode = msgspec.json.Encoder(order="sorted").encode
decode = msgspec.json.Decoder(RoundMessage).decode


class Incoming(NamedTuple):
    """A stored message that waits to be settled."""

    message_id: int
    table_id: int
    reference: str
    received_at: datetime
    raw: bytes
    digest: bytes


class Dated(NamedTuple):
    """When a round counts: by its deal, or by receipt where the deal cannot be right (ARCHITECTURE §4.10)."""

    dealt_at: datetime
    counts_at: datetime
    misdated: bool


@dataclass(slots=True)
class Batch:
    """What became of a batch."""

    settled: int = 0
    held: int = 0
    hits: int = 0
    last_sequence: int = 0
    misdated: list[Incoming] = field(default_factory=list)
    crashed: list[tuple[Incoming, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StreamHead:
    """The locked row of a stream."""

    id: int
    next_sequence: int
    head: bytes
    terms_version: int


def dated(message: RoundMessage, received_at: datetime, table: TableInForce) -> Dated:
    """Date a round by its deal, or by receipt when it was dealt in the future or before the table existed."""
    dealt_at = instant(message.dealt_at)
    misdated = dealt_at > received_at + AHEAD_AT_MOST or dealt_at < table.opened_at
    # Our own clock may be wrong too: nothing counts before the table was there.
    return Dated(dealt_at, max(received_at, table.opened_at) if misdated else dealt_at, misdated)


def pipeline_reasons(message: RoundMessage, table: TableInForce, in_force: StreamTerms) -> tuple[str, ...]:
    """The held reasons that only a running house knows: a closed table, a closed link (CONTRACT §3)."""
    reasons = []
    if in_force.link and not in_force.link_is_open and any("progressive" in seat.wagers for seat in message.seats):
        reasons.append("link_not_open")
    if not table.is_open:
        reasons.append("table_closed")
    return tuple(reasons)


def settle_batch(
    stream: StreamHead,
    incoming: Sequence[Incoming],
    *,
    at: datetime,
    hold_for: str = "",
    besides: Composable | None = None,
) -> Batch:
    """Settle messages in this order on a locked stream and write everything they move, `at` being the edge's clock.

    `besides` is a statement of the caller's that belongs to the batch; it runs while the first rounds are settled.

    A message that makes the settling code raise is held `processing_error` with the error, alone. With `hold_for` the
    messages are held so without being tried again: it says what became of them before.
    """
    in_force = terms.of_stream(stream.id, stream.terms_version)
    writer = _Writer(
        in_force=in_force,
        journal=Journal(
            stream_id=stream.id,
            stream=in_force.stream,
            next_sequence=stream.next_sequence,
            head=bytes(stream.head),
            accounts=in_force.accounts,
            recorded_at=at,
        ),
        link=meters.read(stream.id),
    )
    unread: list[tuple[Incoming, str]] = []
    booked_on: dict[date, date] = {}
    with Copying() as copying:
        if besides is not None:
            copying.execute(besides)
        for portion in _portions(incoming):
            ready: list[_Ready] = []
            for count, message in enumerate(portion):
                try:
                    ready.append(_prepare(message, in_force))
                except Exception:  # one crashing message must cost itself only (ARCHITECTURE §4.11)
                    unread.append((message, traceback.format_exc()))
                if not count % LOOK_IN:
                    copying.step()
            if new := {item.day for item in ready} - booked_on.keys():
                copying.finish()  # the connection is free for a question
                booked_on |= gaming_days.hold_open(new)
            for count, item in enumerate(ready):
                writer.settle(item, booked_on[item.day], hold_for=hold_for)
                if not count % LOOK_IN:
                    copying.step()
            writer.send(copying)
    for message, error in unread:
        writer.hold_unread(message, error)
    writer.close()
    return writer.batch


def _portions(incoming: Sequence[Incoming]) -> Iterator[Sequence[Incoming]]:
    """In order; each is at most half of what is left, so that little is left to wait for when all is settled."""
    first = 0
    while left := len(incoming) - first:
        size = min(left, PORTION, max(LAST_PORTION, left // 2))
        yield incoming[first : first + size]
        first += size


class _Ready(NamedTuple):
    """A decoded message with the terms it is settled under."""

    incoming: Incoming
    message: RoundMessage
    table: TableInForce
    terms: TermsInForce
    dated: Dated
    day: date


def _prepare(incoming: Incoming, in_force: StreamTerms) -> _Ready:
    table = in_force.tables[incoming.table_id]
    message = decode(incoming.raw)
    when = dated(message, incoming.received_at, table)
    day = gaming_date(when.counts_at, zone=in_force.zone, starts=in_force.day_starts)
    return _Ready(incoming, message, table, table.at(when.counts_at), when, day)


def _crashed(round: str, table: str, players: int) -> dict[str, Any]:
    """The settlement of a round that the settling code failed on."""
    return {
        "round": round,
        "table": table,
        "outcome": "held",
        "reasons": ["processing_error"],
        "players": players,
        "seats": [],
        "awards": [],
        "meters": [],
    }


@dataclass(slots=True)
class _Writer:
    """Carries meters, journal and rows of a batch from round to round."""

    in_force: StreamTerms
    journal: Journal
    link: meters.LinkMeters | None
    batch: Batch = field(default_factory=Batch)
    rounds: list[tuple[Any, ...]] = field(default_factory=list)
    payouts: list[tuple[Any, ...]] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)

    def settle(self, item: _Ready, day: date, *, hold_for: str) -> None:
        """Settle one round on the meters as the previous one left them."""
        if item.dated.misdated:
            self.batch.misdated.append(item.incoming)
        if hold_for:
            self._hold_crashed(item, hold_for)
            return
        values: dict[str, Meter] = self.link.values if self.link else {}
        try:
            settled = settle(
                item.message,
                item.terms.terms,
                values,
                extra_reasons=pipeline_reasons(item.message, item.table, self.in_force),
            )
            if settled.outcome == "held":
                self._hold(item.incoming, item.dated.dealt_at, settled.settlement, "")
                return
            owed, money, progressives = books.posting(
                settled.settlement,
                base_wagers=base_wagers(item.terms.terms.game),
                contributions=settled.movements,
                link=self.in_force.link,
            )
        except Exception:  # as above: this message alone
            self._hold_crashed(item, traceback.format_exc())
            return
        if self.link and settled.settlement["awards"]:
            self.link.number_awards(settled.settlement["awards"])
        encoded = encode(settled.settlement)
        original_date = None if day == item.day else item.day
        sequence = self.journal.post(
            Entry(
                kind="round",
                subject=f"{item.table.code}/{item.incoming.reference}",
                gaming_date=day,
                original_date=original_date,
                message_digest=item.incoming.digest,
                result_digest=sha256(encoded).digest(),
                movements=money,
            )
        )
        stream_id, table_id = self.journal.stream_id, item.table.id
        dealt_at, counts_at = item.dated.dealt_at, item.dated.counts_at
        if self.link:
            self.link.apply(
                settlement=settled.settlement,
                meters=settled.meters,
                wagers=progressives,
                sequence=sequence,
                dealt_at=dealt_at,
                detected_at=self.journal.recorded_at,
            )
        self.rounds.append((
            stream_id, sequence, item.incoming.message_id, table_id, item.terms.id, item.incoming.reference,
            settled.outcome, dealt_at, counts_at, day, original_date, encoded,
        ))  # fmt: skip
        for line, payout in enumerate(owed, 1):
            self.payouts.append((
                stream_id, sequence, line, table_id, payout.seat, payout.kind, payout.wager, payout.hand,
                self.in_force.levels[payout.level] if payout.level else None, payout.cents, dealt_at, counts_at, day,
            ))  # fmt: skip
        self.batch.settled += 1

    def hold_unread(self, incoming: Incoming, error: str) -> None:
        """Hold a message that could not even be made ready: it is dated by its receipt."""
        table = self.in_force.tables.get(incoming.table_id)
        self.batch.crashed.append((incoming, error))
        settlement = _crashed(incoming.reference, table.code if table else "", 0)
        self._hold(incoming, incoming.received_at, settlement, error)

    def _hold_crashed(self, item: _Ready, error: str) -> None:
        self.batch.crashed.append((item.incoming, error))
        settlement = _crashed(item.message.round, item.table.code, len(item.message.seats))
        self._hold(item.incoming, item.dated.dealt_at, settlement, error)

    def _hold(self, incoming: Incoming, dealt_at: datetime, settlement: dict[str, Any], error: str) -> None:
        self.batch.held += 1
        self.holds.append(
            Hold(
                message_id=incoming.message_id,
                table_id=incoming.table_id,
                reference=incoming.reference,
                reasons=settlement["reasons"],
                settlement=encode(settlement),
                error=error,
                dealt_at=dealt_at,
                held_at=self.journal.recorded_at,
            )
        )

    def send(self, copying: Copying) -> None:
        """Hand over the rows made since the last time."""
        self.journal.send(copying)
        if self.rounds:
            copying.send("tables_round", ROUND_COLUMNS, self.rounds)
        if self.payouts:
            copying.send("tables_payout", PAYOUT_COLUMNS, self.payouts)
        self.rounds.clear()
        self.payouts.clear()

    def close(self) -> None:
        """Write what a batch changes once: holds, totals, the stream's head, its meters."""
        if self.holds:
            Hold.objects.bulk_create(self.holds)
        self.batch.last_sequence = self.journal.next_sequence - 1
        if self.batch.settled:
            self.journal.close()
        if self.link and self.batch.settled:
            self.batch.hits = len(self.link.detected)
            self.link.write(sequence=self.batch.last_sequence)


ROUND_COLUMNS = {
    "stream_id": "int8", "sequence": "int8", "message_id": "int8", "table_id": "int8", "terms_id": "int8",
    "reference": "varchar", "outcome": "varchar", "dealt_at": "timestamptz", "counts_at": "timestamptz",
    "gaming_date": "date", "original_date": "date", "settlement": "bytea",
}  # fmt: skip
PAYOUT_COLUMNS = {
    "stream_id": "int8", "sequence": "int8", "line": "int2", "table_id": "int8", "seat": "int2", "kind": "varchar",
    "wager": "varchar", "hand": "varchar", "level_id": "int8", "cents": "int8", "dealt_at": "timestamptz",
    "counts_at": "timestamptz", "gaming_date": "date",
}  # fmt: skip


@cache
def base_wagers(game: str) -> frozenset[str]:
    """The base wagers of a game, which are the ones under its payout limit."""
    return frozenset(games.GAMES[game].base_wagers)
