"""A long report beside settling: nobody's, on a copy of the database, and on the house itself, in one run on one machine.

The report holds one snapshot from its beginning to its end and reads all the while, as an auditor's query does. Copy and house
share the cores here, so that the processor is taken from settling in both cases; what the house itself pays besides is that the
snapshot keeps every version of every row that changes since.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from jackpot.config.database_roles.privileges import AUDITOR
from jackpot.config.embedded_postgres import EmbeddedPostgres
from tests.benchmarks import floor
from tests.benchmarks.report import Figures
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import write
from tests.faults.replica import Copy

TABLES = 20
QUERY = """
    SELECT round.table_id, transfer.reason, count(*), sum(transfer.amount_cents) FROM tables_round round
    JOIN accounting_transfer transfer USING (stream_id, sequence) GROUP BY round.table_id, transfer.reason
"""
WHERE = ("nobody's", "on the copy", "on the house")


def run(
    place: Hall, *, base: int = 50_000, rounds: int = 12_000, seconds: float | None = None, alone: float | None = None
) -> list[Figures]:
    """Settle round after round on `base` of history: beside no report, beside one on the copy, beside one on the house.

    Each phase is over after so many rounds or so many seconds, whichever comes first; the one beside no report after `alone`.
    """
    text = floor.floor_text(tables=TABLES)
    place.quiet()
    place.prepare("history", text)
    file = write(place, floor.rounds(text, base, prefix="base"), "base.ndjson")
    place.inside("history", ("accept", {"file": str(file)}), ("drain", {}))
    posted = write(place, floor.rounds(text, rounds, prefix="beside"), "beside.ndjson")
    copy = Copy(place.data.path / "copy", place.postgres)
    copy.follow()
    with copy.connect() as session:  # else what is replayed cuts the report off after half a minute
        session.execute("ALTER SYSTEM SET max_standby_streaming_delay = '30min'")
        session.execute("SELECT pg_reload_conf()")
    figures = Figures(
        "A long report beside settling (each round accepted and settled by itself)",
        (
            "report",
            "rounds",
            "rounds/s",
            "p50 ms",
            "p99 ms",
            "longest ms",
            "last tenth p50 ms",
            "pages of meters",
            "report s",
            "copy behind s",
        ),
    )
    try:
        for number, where in enumerate(WHERE):
            database = f"beside_{number}"
            place.clone("history", database)
            servers = {"on the copy": copy, "on the house": place.postgres}
            with reported(servers.get(where), database) as lasted:
                [found] = place.inside(
                    database, ("one_by_one", {"file": str(posted), "seconds": seconds if where in servers else alone})
                )
                behind = _behind(copy)
                kept = _kept(place, database)
            figures.add(
                where,
                found["messages"],
                found["messages"] / found["wall"],
                found["p50"] * 1000,
                found["p99"] * 1000,
                found["longest"] * 1000,
                found["last_tenth"] * 1000,
                kept,
                lasted[0],
                behind,
            )
            place.drop(database)
    finally:
        copy.stop()
    bound = f"{rounds:,} rounds" if seconds is None else f"{rounds:,} rounds or {seconds:.0f} s"
    figures.note(f"{base:,} rounds of history; a phase is over after {bound}, and the report reads until then")
    return [figures]


@contextmanager
def reported(server: EmbeddedPostgres | None, database: str) -> Iterator[list[float]]:
    """A report at work as an auditor's session; how long it had lasted when it was ended."""
    lasted, over, begun = [0.0], threading.Event(), threading.Event()
    if server is None:
        yield lasted
        return

    def read() -> None:
        with _when_there(server, database) as session, session.transaction():
            began = time.monotonic()
            session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            while not over.is_set():
                session.execute(QUERY).fetchall()
                lasted[0] = time.monotonic() - began
                begun.set()

    reader = threading.Thread(target=read)
    reader.start()
    begun.wait(120)
    try:
        yield lasted
    finally:
        over.set()
        reader.join()


def _when_there(server: EmbeddedPostgres, database: str) -> "psycopg.Connection[tuple[object, ...]]":
    """A session on a database that was made a moment ago, as soon as a copy has it too."""
    give_up = time.monotonic() + 60
    while True:
        try:
            return psycopg.connect(host=str(server.socket), user=AUDITOR, dbname=database, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.1)


def _behind(copy: Copy) -> float:
    """Seconds since the last commit that the copy has replayed."""
    with copy.connect() as session:
        found = session.execute(
            "SELECT extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())"
        ).fetchone()
        assert found is not None
        return float(found[0] or 0)


def _kept(place: Hall, database: str) -> int:
    """Pages of the meters' table: what was kept for somebody's snapshot, or not yet cleared away."""
    with place.connect(database) as session:
        found = session.execute("SELECT pg_relation_size('jackpot_meter') / 8192").fetchone()
        assert found is not None
        return int(found[0])
