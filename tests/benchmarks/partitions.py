"""Whether the history should be kept by month: messages, rounds, payouts and transfers in one table each, in partitions
by month and in partitions by place (ranges of a message's id, of a stream's sequence), side by side on one server.

Partitions make it easy to part with old months. They cost when rows are written and when a row is looked up by a key that
does not name the partition; and every unique key must contain what the partitions are made by.
"""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg

from tests.benchmarks import floor
from tests.benchmarks.clients import percentile
from tests.benchmarks.fill import fill
from tests.benchmarks.report import Figures, median
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import write

Connection = psycopg.Connection[Any]
SIDES = {"one": "one table", "month": "by month", "place": "by place"}
COPIES = 10  # the newest rounds are copied in so many times at each turn
IN_TURN = ("one", "month", "place", "place", "month", "one", "month", "one", "place")


@dataclass(frozen=True, slots=True)
class Kept:
    """One of the four tables: its keys, the column that tells the month, its place, and what its rows refer to.

    `parents` are rule, columns, parent and the parent's columns of the orphan check; {message} and {round} are the side's.
    """

    table: str
    key: str
    month: str
    place: str
    parents: tuple[tuple[str, str, str, str], ...]
    unique: str = ""


KEPT = {
    "message": Kept(
        "devices_message", "id", "received_at", "id",
        (("stream", "stream_id", "accounting_stream", "id"), ("table", "table_id", "tables_table", "id")),
    ),
    "round": Kept(
        "tables_round", "stream_id, sequence", "counts_at", "stream_id, sequence",
        (("event", "stream_id,sequence", "accounting_event", "stream_id,sequence"),
         ("terms", "terms_id", "tables_tableterms", "id"), ("message", "message_id", "{message}", "id")),
        unique="message_id",
    ),
    "payout": Kept(
        "tables_payout", "stream_id, sequence, line", "counts_at", "stream_id, sequence",
        (("round", "stream_id,sequence", "{round}", "stream_id,sequence"), ("level", "level_id", "jackpot_level", "id")),
    ),
    "transfer": Kept(
        "accounting_transfer", "stream_id, sequence, line", "gaming_date", "stream_id, sequence",
        (("event", "stream_id,sequence", "accounting_event", "stream_id,sequence"),
         ("debit", "debit_id", "accounting_account", "id"), ("credit", "credit_id", "accounting_account", "id")),
    ),
}  # fmt: skip

# The product's rows, spread evenly over the months up to now. Transfers know no time of their own: by month they need one.
SPREAD = """
    CREATE FUNCTION spread(sequence bigint) RETURNS timestamptz IMMUTABLE LANGUAGE sql RETURN
        '{now}'::timestamptz - interval '{days} days' * (({last} - sequence)::float8 / {last});
    CREATE VIEW spread_message AS SELECT message.id, message.stream_id, message.table_id, message.reference, message.kind,
        message.device_id, message.device_sequence, spread(round.sequence) AS received_at, message.raw, message.digest,
        round.sequence FROM devices_message message JOIN tables_round round ON round.message_id = message.id;
    CREATE VIEW spread_round AS SELECT stream_id, sequence, message_id, table_id, terms_id, reference, outcome,
        spread(sequence) AS dealt_at, spread(sequence) AS counts_at, gaming_date, original_date, settlement
        FROM tables_round;
    CREATE VIEW spread_payout AS SELECT stream_id, sequence, line, table_id, seat, kind, wager, hand, level_id, cents,
        spread(sequence) AS dealt_at, spread(sequence) AS counts_at, gaming_date FROM tables_payout;
    CREATE VIEW spread_transfer AS SELECT stream_id, sequence, line, debit_id, credit_id, amount_cents, reason,
        (spread(sequence) AT TIME ZONE 'UTC')::date AS gaming_date FROM accounting_transfer;
"""


def run(place: Hall, *, rounds: int = 200_000, base: int = 10_000, months: int = 24, looks: int = 100) -> list[Figures]:
    """Fill all sides alike, then write and read them in turn, and part with the oldest month at the end."""
    text = floor.floor_text(tables=20)
    place.quiet()
    place.prepare("parted", text)
    file = write(place, floor.rounds(text, base, prefix="base"))
    place.inside("parted", ("accept", {"file": str(file)}), ("drain", {}))
    with place.connect("parted") as connection:
        connection.prepare_threshold = None  # planned anew unless said, as the service's searches are
        last = fill(connection, rounds=rounds)
        hall = Sides(connection, last, months)
        hall.make()
        written = _written(hall)
        read = _read(hall, looks)
        gone = _parted_with(hall)
    place.drop("parted")
    return [written, read, gone]


class Sides:
    """The same history three times in one database. The newest rounds are held back to be copied in."""

    def __init__(self, connection: Connection, last: int, months: int) -> None:
        self.connection = connection
        self.last = last
        self.months = months
        self.chunk = max(1, min(1_000, last // 30))
        self.filled = last - self.chunk
        self.stream = int(self.value("SELECT max(stream_id) FROM tables_round"))

    def make(self) -> None:
        """Tables, indexes, rows, orphan checks."""
        days = 30 * (self.months - 1)
        self.run(
            SPREAD.format(
                now=self.value("SELECT date_trunc('month', now()) + interval '20 days'"), days=days, last=self.last
            )
        )
        for side in SIDES:
            for name, kept in KEPT.items():
                self._make(side, name, kept)
                columns = self.columns(side, name)
                chosen = f"SELECT {columns} FROM spread_{name} WHERE sequence <= {self.filled}"
                self.run(f"INSERT INTO {side}_{name} ({columns}) {chosen}")
            for name, kept in KEPT.items():
                for rule, ours, parent, theirs in kept.parents:
                    self._guard(side, name, rule, ours, parent.format(**self.names(side)), theirs)
                self.run(f"CALL make_append_only('{side}_{name}')")
        self.run("VACUUM ANALYZE")

    def _make(self, side: str, name: str, kept: Kept) -> None:
        table = f"{side}_{name}"
        month = f", {kept.month}" if side == "month" else ""
        by = {"one": "", "month": f"PARTITION BY RANGE ({kept.month})", "place": f"PARTITION BY RANGE ({kept.place})"}
        dated = ", gaming_date date NOT NULL" if month and name == "transfer" else ""
        like = f"LIKE {kept.table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION"
        self.run(f"CREATE TABLE {table} ({like}{dated}) {by[side]}")
        self.run(f"ALTER TABLE {table} ADD PRIMARY KEY ({kept.key}{month})")
        if kept.unique:
            parted = f", {kept.place}" if side == "place" else month
            self.run(f"ALTER TABLE {table} ADD UNIQUE ({kept.unique}{parted})")
        indexes = "SELECT indexdef FROM pg_indexes WHERE tablename = %s AND indexdef LIKE 'CREATE INDEX%%'"
        for (definition,) in self.connection.execute(indexes, [kept.table]).fetchall():
            _, _, how = definition.partition(" USING ")
            self.run(f"CREATE INDEX ON {table} USING {how}")
        for number, (low, high) in enumerate(self._bounds(side, name)):
            self.run(f"CREATE TABLE {table}_{number} PARTITION OF {table} FOR VALUES FROM ({low}) TO ({high})")

    def _bounds(self, side: str, name: str) -> Iterator[tuple[str, str]]:
        """From and to of each partition: every month and one ahead; nothing for one table."""
        if side == "month":
            found = self.connection.execute(
                "SELECT quote_literal(date_trunc('month', now()) + make_interval(months => number)) "
                "FROM generate_series(%s, 2) number ORDER BY number", [-self.months]
            ).fetchall()  # fmt: skip
            edges = [edge for (edge,) in found]
        elif side == "place":
            # The newest partition is begun already, as the newest month is.
            step = self.filled // self.months
            places = [*(number * step for number in range(self.months)), 2 * self.last, 3 * self.last]
            if name == "message":
                messages = int(self.value("SELECT max(message_id) FROM tables_round")) / self.last
                edges = [str(int(place * messages)) for place in places]
            else:
                edges = [f"{self.stream}, {place}" for place in places]
        else:
            edges = []
        yield from itertools.pairwise(edges)

    def _guard(self, side: str, name: str, rule: str, ours: str, parent: str, theirs: str) -> None:
        if side == "month" and (name, rule) == ("payout", "round"):
            # A payout knows its round's time: so the check finds the month.
            ours, theirs = f"{ours},counts_at", f"{theirs},counts_at"
        rule = f"{side}_{name}_{rule}"
        self.run(f"CALL make_orphans_refused('{rule}', '{side}_{name}', '{ours}', '{parent}', '{theirs}')")

    def columns(self, side: str, name: str) -> str:
        """The columns of a side's table, in their order."""
        found = "SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = %s::regclass" \
            " AND attnum > 0 AND NOT attisdropped"  # fmt: skip
        return str(self.value(found, f"{side}_{name}"))

    def names(self, side: str) -> dict[str, str]:
        """The side's own name of each of the four tables."""
        return {name: f"{side}_{name}" for name in KEPT}

    def run(self, statement: str) -> None:
        """Run a statement."""
        self.connection.execute(statement.encode())

    def value(self, statement: str, *values: Any) -> Any:
        """The one value that a statement finds."""
        row = self.connection.execute(statement.encode(), values or None).fetchone()
        assert row is not None
        return row[0]


Samples = dict[str, list[float]]


def _compared(title: str, unit: str) -> Figures:
    return Figures(title, (unit, *SIDES.values(), "p99", "p99 month", "p99 place", "month : one", "place : one"))


def _add(figures: Figures, said: str, found: Samples) -> None:
    middles = [median(found[side]) * 1000 for side in SIDES]
    tails = [percentile(found[side], 99) * 1000 for side in SIDES]
    figures.add(said, *middles, *tails, *(f"{middle / middles[0]:.2f}" for middle in middles[1:]))


def _written(hall: Sides) -> Figures:
    """COPY of the newest rounds into all four tables in one transaction, rolled back and copied again."""
    found: dict[str, Samples] = {name: {side: [] for side in SIDES} for name in KEPT}
    for side in IN_TURN:
        rows = {name: _dumped(hall, side, name) for name in KEPT}
        for _ in range(COPIES):
            with hall.connection.transaction(force_rollback=True):
                for name, (columns, dumped) in rows.items():
                    into = f"COPY {side}_{name} ({columns}) FROM STDIN (FORMAT binary)"
                    began = time.perf_counter()
                    with hall.connection.cursor().copy(into.encode()) as copy:
                        copy.write(dumped)
                    found[name][side].append((time.perf_counter() - began) * 1_000 / hall.chunk)
    figures = _compared(
        f"partitions: {hall.last:,} rounds over {hall.months} months, written",
        "COPY with orphan checks, ms per 1,000 rounds",
    )
    for name, samples in found.items():
        _add(figures, f"{name}s", samples)
    _add(figures, "all four", {side: [sum(each) for each in zip(*(found[name][side] for name in KEPT), strict=True)]
                               for side in SIDES})  # fmt: skip
    return figures


def _dumped(hall: Sides, side: str, name: str) -> tuple[str, bytes]:
    """The rows that were held back, as COPY takes them."""
    columns = hall.columns(side, name)
    chosen = f"SELECT {columns} FROM spread_{name} WHERE sequence > {hall.filled}"
    with hall.connection.cursor().copy(f"COPY ({chosen}) TO STDOUT (FORMAT binary)".encode()) as out:
        return columns, b"".join(bytes(part) for part in out)


NEWEST = "ORDER BY counts_at DESC, stream_id DESC, sequence DESC, line DESC LIMIT 100"
BY_REFERENCE = """FROM devices_reference reference JOIN {message} message ON message.id = reference.message_id
    WHERE reference.table_id = %(table)s AND reference.reference = %(reference)s AND reference.kind = 'result'"""
ROUND_BY_REFERENCE = BY_REFERENCE.replace("WHERE", "JOIN {round} round ON round.message_id = message.id WHERE")
ROUNDS = "SELECT stream_id, sequence, outcome, counts_at, settlement FROM {round}"
OF_A_ROUND = "WHERE stream_id = %(stream)s AND sequence = %(sequence)s"
MONTH = "counts_at >= %(from)s AND counts_at < %(from)s + interval '1 month'"
# What the service asks, or would ask, of each table. {day} is for transfers by month: they must be told the day.
LOOKS = {
    "messages: the newest 100": "SELECT * FROM {message} ORDER BY id DESC LIMIT 100",
    "message by its id": "SELECT * FROM {message} WHERE id = %(message)s",
    "message by table and reference": f"SELECT message.* {BY_REFERENCE}",
    "rounds: the newest 100 of a stream": ROUNDS + " WHERE stream_id = %(stream)s ORDER BY sequence DESC LIMIT 100",
    "rounds: 100 of a table and a month": f"{ROUNDS} WHERE table_id = %(table)s AND {MONTH} ORDER BY counts_at DESC LIMIT 100",
    "100 rounds from a sequence, with messages": """
        SELECT round.sequence, round.settlement, message.raw FROM {round} round
        JOIN {message} message ON message.id = round.message_id
        WHERE round.stream_id = %(stream)s AND round.sequence >= %(sequence)s ORDER BY round.sequence LIMIT 100""",
    "round by stream and sequence": f"{ROUNDS} {OF_A_ROUND}",
    "the same, planned once": f"{ROUNDS} {OF_A_ROUND} -- prepared",
    "round by table and reference": f"SELECT round.sequence, round.settlement, message.raw {ROUND_BY_REFERENCE}",
    "payouts: the newest 100": "SELECT * FROM {payout} " + NEWEST,
    "payouts: 100 of a table and a month": f"SELECT * FROM {{payout}} WHERE table_id = %(table)s AND {MONTH} {NEWEST}",
    "payouts of a round": f"SELECT * FROM {{payout}} {OF_A_ROUND}",
    "transfers: the newest 100 of a stream": """
        SELECT * FROM {transfer} WHERE stream_id = %(stream)s ORDER BY sequence DESC, line DESC LIMIT 100""",
    "transfers of a round": f"SELECT * FROM {{transfer}} {OF_A_ROUND}",
    "transfers of an account and a day": """
        SELECT * FROM {transfer} WHERE stream_id = %(stream)s AND sequence BETWEEN %(first)s AND %(upto)s
            AND %(account)s IN (debit_id, credit_id) {day} ORDER BY sequence, line""",
}  # fmt: skip
KEYS = """
    WITH day AS (
        SELECT (spread(sequence) AT TIME ZONE 'UTC')::date AS day, min(sequence) AS first, max(sequence) AS upto
        FROM tables_round GROUP BY 1
    )
    SELECT stream_id AS stream, sequence, message_id AS message, table_id AS table, reference, day.day, day.first, day.upto,
        spread(sequence) - interval '1 month' AS from, (SELECT credit_id FROM accounting_transfer transfer
            WHERE transfer.stream_id = round.stream_id AND transfer.sequence = round.sequence AND line = 1) AS account
    FROM tables_round round JOIN day ON day.day = (spread(sequence) AT TIME ZONE 'UTC')::date
    WHERE sequence = ANY(%s) ORDER BY sequence
"""


def _read(hall: Sides, looks: int) -> Figures:
    """Every kind of look at rounds spread over all months, the sides in turn."""
    figures = _compared(f"partitions: {hall.filled:,} rounds over {hall.months} months, read", "ms")
    wanted = [1 + number * (hall.filled - 1) // looks for number in range(looks)]
    with hall.connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        keys = cursor.execute(KEYS.encode(), [wanted]).fetchall()
    for said, query in LOOKS.items():
        found: Samples = {side: [] for side in SIDES}
        for side in IN_TURN:
            day = "AND gaming_date = %(day)s" if side == "month" else ""
            found[side] += _looks(hall.connection, query.format(**hall.names(side), day=day), keys)
        _add(figures, said, found)
    figures.note("Planned for each look, as the service's searches are, unless said. By month no key of today stays unique, by"
                 " place all but one: that a message is settled once.")  # fmt: skip
    return figures


def _looks(connection: Connection, query: str, keys: list[dict[str, Any]]) -> list[float]:
    connection.prepare_threshold = 5 if query.endswith("prepared") else None
    took = []
    for key in keys:
        began = time.perf_counter()
        connection.execute(query.encode(), key, prepare=query.endswith("prepared")).fetchall()
        took.append(time.perf_counter() - began)
    return took


def _parted_with(hall: Sides) -> Figures:
    """What it takes to be rid of the oldest month: rows deleted and vacuumed, or a partition detached and dropped."""
    figures = Figures(
        f"partitions: parting with one old month of {hall.months}",
        ("", "ms", "then vacuum ms", "WAL MiB", "table MiB", "after", "index MiB", "after "),
    )
    hall.run("VACUUM")  # of what was copied in and rolled back
    for name, kept in KEPT.items():
        for side in SIDES:
            table = f"{side}_{name}"
            before = _size(hall.connection, table)
            log = hall.value("SELECT pg_current_wal_insert_lsn()")
            took, vacuumed = (_deleted if side == "one" else _detached)(hall, table, kept)
            written = float(hall.value("SELECT pg_current_wal_insert_lsn() - %s::pg_lsn", log)) / 2**20
            after = _size(hall.connection, table)
            sizes = (size / 2**20 for pair in zip(before, after, strict=True) for size in pair)
            figures.add(f"{name}s, {SIDES[side]}", took * 1000, vacuumed and vacuumed * 1000, written, *sizes)
    figures.note("Deleting needs the append-only triggers off. One table keeps the room"
                 " for its next rows and gives none back; a partition's files are gone.")  # fmt: skip
    return figures


def _deleted(hall: Sides, table: str, kept: Kept) -> tuple[float, float | None]:
    upto = hall.last // hall.months
    oldest = f"sequence <= {upto}"
    if "sequence" not in kept.key:
        oldest = f"{kept.key} <= (SELECT max(message_id) FROM tables_round WHERE sequence <= {upto})"
    began = time.perf_counter()
    with hall.connection.transaction():
        hall.run("SET LOCAL session_replication_role = replica")
        hall.run(f"DELETE FROM {table} WHERE {oldest}")
    deleted = time.perf_counter()
    hall.run(f"VACUUM {table}")
    return deleted - began, time.perf_counter() - deleted


def _detached(hall: Sides, table: str, kept: Kept) -> tuple[float, float | None]:
    # Months are those of the calendar: the first that has rows may be less than a month, the next is whole.
    oldest = 1 + next(n for n in range(hall.months) if hall.value(f"SELECT EXISTS (SELECT FROM {table}_{n})"))
    began = time.perf_counter()
    hall.run(f"ALTER TABLE {table} DETACH PARTITION {table}_{oldest}")
    hall.run(f"DROP TABLE {table}_{oldest}")
    return time.perf_counter() - began, None


def _size(connection: Connection, table: str) -> tuple[int, int]:
    """Bytes of rows with TOAST and bytes of indexes, all partitions together."""
    row = connection.execute(
        "SELECT sum(pg_table_size(relid))::bigint, sum(pg_indexes_size(relid))::bigint"
        " FROM (SELECT relid FROM pg_partition_tree(%(table)s) UNION SELECT %(table)s::regclass) kept",
        {"table": table},
    ).fetchone()
    assert row is not None
    return row[0], row[1]
