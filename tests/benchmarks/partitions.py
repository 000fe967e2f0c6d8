"""Whether the history should be kept by month: the payouts in one table and in monthly partitions, side by side.

Partitions make it easy to part with old months. They cost when rows are written, when a row is looked up by its place
on the stream, which names no month, and a unique key must contain the month.
"""

import time
from collections.abc import Callable
from typing import Any

import psycopg

from tests.benchmarks import floor
from tests.benchmarks.clients import percentile
from tests.benchmarks.fill import fill
from tests.benchmarks.report import Figures, median
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import write

COLUMNS = "stream_id, sequence, line, table_id, seat, kind, wager, hand, level_id, cents, dealt_at"
MAKE = """
    CREATE TABLE {name} (LIKE tables_payout INCLUDING DEFAULTS INCLUDING CONSTRAINTS) {by};
    ALTER TABLE {name} ADD PRIMARY KEY (stream_id, sequence, line{month});
    CREATE INDEX ON {name} (dealt_at DESC, stream_id DESC, sequence DESC, line DESC);
    CREATE INDEX ON {name} (table_id, dealt_at DESC, stream_id DESC, sequence DESC, line DESC);
"""
# Spread over the months, the newest payout today.
SPREAD = """
    INSERT INTO {name} (stream_id, sequence, line, table_id, seat, kind, wager, hand, level_id, cents, dealt_at)
    SELECT stream_id, sequence, line, table_id, seat, kind, wager, hand, level_id, cents,
        now() - make_interval(days => %s) * ((%s - sequence)::float8 / %s) FROM tables_payout
"""
SIDES = {"one table": "in_one", "by month": "by_month"}


def run(place: Hall, *, rounds: int = 200_000, base: int = 10_000, months: int = 24, looks: int = 300) -> list[Figures]:
    """Fill both alike, then write and read both in turn."""
    text = floor.floor_text(tables=20)
    place.quiet()
    place.prepare("parted", text)
    file = write(place, floor.rounds(text, base, prefix="base"))
    place.inside("parted", ("accept", {"file": str(file)}), ("drain", {}))
    with place.connect("parted") as connection:
        last = fill(connection, rounds=rounds)
        _make(connection, months)
        for name in SIDES.values():
            connection.execute(SPREAD.format(name=name).encode(), [30 * (months - 1), last, last])
            connection.execute(f"CALL make_orphans_refused('{name}_rounds', '{name}', 'stream_id,sequence',"
                               " 'tables_round', 'stream_id,sequence')".encode())  # fmt: skip
            connection.execute(f"CALL make_append_only('{name}')".encode())
        connection.execute("VACUUM ANALYZE")
        ways: dict[str, Callable[[str], list[float]]] = {
            "COPY with the orphan check, ms per 1,000 rounds": lambda name: _copies(connection, name, base),
            "page of 100, newest first, ms": lambda name: _looks(connection, NEWEST, name, looks, months),
            "page of 100 of a table and a month, ms": lambda name: _looks(connection, MONTH, name, looks, months),
            "payouts of a round by its sequence, ms": lambda name: _looks(connection, ROUND, name, looks, last),
        }
        figures = Figures(
            f"partitions: {last:,} rounds over {months} months",
            ("", *SIDES, "p99 " + "one table", "p99 by month", "ratio"),
        )
        for said, measure in ways.items():
            found: dict[str, list[float]] = {name: [] for name in SIDES.values()}
            for _ in range(3):
                for name in SIDES.values():
                    found[name] += measure(name)
            one, by = (median(found[name]) * 1000 for name in SIDES.values())
            tails = [percentile(found[name], 99) * 1000 for name in SIDES.values()]
            figures.add(said, one, by, *tails, f"{by / one:.1f} ×")
    figures.note("By month a payout's key must contain its time, so the database no longer sees to it that a line is there once;"
                 " and a lookup by stream and sequence visits every month.")  # fmt: skip
    return [figures]


NEWEST = "SELECT * FROM {name} WHERE dealt_at < now() - make_interval(days => %s) ORDER BY dealt_at DESC, stream_id DESC," \
    " sequence DESC, line DESC LIMIT 100"  # fmt: skip
MONTH = "SELECT * FROM {name} WHERE table_id = (SELECT min(id) FROM tables_table) AND dealt_at BETWEEN" \
    " now() - make_interval(days => 30 + %s) AND now() - make_interval(days => %s) ORDER BY dealt_at DESC LIMIT 100"  # fmt: skip
ROUND = "SELECT * FROM {name} WHERE stream_id = (SELECT min(stream_id) FROM tables_round) AND sequence = %s"


def _make(connection: psycopg.Connection[Any], months: int) -> None:
    connection.execute(MAKE.format(name="in_one", by="", month="").encode())
    connection.execute(MAKE.format(name="by_month", by="PARTITION BY RANGE (dealt_at)", month=", dealt_at").encode())
    connection.execute(f"""
        DO $$ DECLARE first date := date_trunc('month', now() - make_interval(months => {months}));
        BEGIN FOR number IN 0..{months + 1} LOOP
            EXECUTE format('CREATE TABLE by_month_%s PARTITION OF by_month FOR VALUES FROM (%L) TO (%L)', number,
                first + make_interval(months => number), first + make_interval(months => number + 1));
        END LOOP; END $$
    """.encode())  # fmt: skip


def _copies(connection: psycopg.Connection[Any], name: str, base: int) -> list[float]:
    """Seconds per thousand rounds, rolled back."""
    took = []
    for first in range(1, base + 1, 1_000):
        query = f"COPY (SELECT {COLUMNS} FROM tables_payout WHERE sequence BETWEEN {first} AND {first + 999}) TO STDOUT"
        with connection.cursor().copy(query.encode()) as out:
            # The same payouts again, on lines that are still free.
            rows = [bytes(line).split(b"\t") for part in out for line in bytes(part).splitlines()]
        text = b"".join(b"\t".join([*row[:2], b"%d" % (int(row[2]) + 1_000), *row[3:]]) + b"\n" for row in rows)
        with connection.transaction(force_rollback=True):
            began = time.perf_counter()
            with connection.cursor().copy(f"COPY {name} ({COLUMNS}) FROM STDIN".encode()) as into:
                into.write(text)
            took.append(time.perf_counter() - began)
    return took


def _looks(connection: psycopg.Connection[Any], query: str, name: str, times: int, most: int) -> list[float]:
    took = []
    statement = query.format(name=name).encode()
    for number in range(times):
        at = 1 + number * (most - 1) // times
        values = [at] * query.count("%s") if query is ROUND else [at * 28] * query.count("%s")
        began = time.perf_counter()
        connection.execute(statement, values, prepare=True).fetchall()
        took.append(time.perf_counter() - began)
    return took
