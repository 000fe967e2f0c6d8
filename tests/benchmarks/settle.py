"""Draining a queue: how many rounds a second one worker settles, where its time goes, and how near that is to the limit.

The limit is what the same server takes when the same rows are copied into the same tables, with their triggers and
constraints, by nobody's code: the rows lie ready in COPY's binary form, a thousand rounds a transaction.
"""

from pathlib import Path
from typing import Any

from tests.benchmarks import floor
from tests.benchmarks.clients import Answers, post_all, request
from tests.benchmarks.report import Figures, median, spread
from tests.benchmarks.servers import Hall, Peer, peer

TABLES = 20
CHUNK = 1_000
WRITTEN = ("accounting_event", "accounting_transfer", "tables_round", "tables_payout")
STORED = ("devices_message", "devices_reference")


def run(place: Hall, *, rounds: int = 50_000, peer_rounds: int = 1_500, times: int = 3) -> list[Figures]:
    """Product, bare limit and peer in turn, `times` times."""
    text = floor.floor_text(tables=TABLES)
    place.quiet()
    place.prepare("queued", text)
    messages = floor.rounds(text, rounds, prefix="settle")
    file = write(place, messages)
    [accepted] = place.inside("queued", ("accept", {"file": str(file)}))
    drained: list[dict[str, Any]] = []
    bare: list[float] = []
    bare_unguarded: list[float] = []
    naive = peer(place, sorted({message.table for message in messages}))
    peers: list[Answers] = []
    peer_cpu = 0.0
    for turn in range(times):
        place.clone("queued", "drained")
        drained += place.inside("drained", ("drain", {}))
        rows = copied_rows(place, "drained")
        place.clone("queued", "bare")
        bare.append(copy_in(place, "bare", rows))
        place.clone("queued", "bare")
        bare_unguarded.append(copy_in(place, "bare", rows, guarded=False))
        before = naive.cpu_seconds()
        peers.append(peer_run(naive, messages[turn * peer_rounds : (turn + 1) * peer_rounds]))
        peer_cpu += naive.cpu_seconds() - before
    size = volume(place, "drained")
    place.clone("queued", "split")
    [split] = place.inside("split", ("drain", {"split": True}))
    return [
        _rates(rounds, drained, bare, bare_unguarded, peers, peer_cpu, accepted),
        _split(split),
        _volume(size),
    ]


def write(place: Hall, messages: list[floor.Posted], name: str = "messages.ndjson") -> Path:
    """The messages as a file that a process inside can read."""
    file = place.data.path / name
    file.write_bytes(b"\n".join(message.body for message in messages))
    return file


def peer_run(naive: Peer, messages: list[floor.Posted], clients: int = 8) -> Answers:
    """The peer settles inside the request: eight clients keep it busy."""
    return post_all(naive.port, [request("/rounds", message.body) for message in messages], clients=clients)


def copied_rows(place: Hall, database: str) -> list[list[tuple[str, bytes]]]:
    """What settling wrote, as COPY takes it, a thousand rounds at a time."""
    chunks: list[list[tuple[str, bytes]]] = []
    with place.connect(database) as source:
        last = source.execute("SELECT max(sequence) FROM accounting_event").fetchone()[0]  # type: ignore[index]
        for first in range(1, last + 1, CHUNK):
            chunk = []
            for table in WRITTEN:
                rows = f"SELECT * FROM {table} WHERE sequence BETWEEN {first} AND {first + CHUNK - 1}"
                query = f"COPY ({rows}) TO STDOUT (FORMAT binary)"
                with source.cursor().copy(query.encode()) as out:
                    chunk.append((table, b"".join(bytes(part) for part in out)))
            chunks.append(chunk)
    return chunks


def copy_in(place: Hall, database: str, chunks: list[list[tuple[str, bytes]]], *, guarded: bool = True) -> float:
    """Seconds to copy them into a database that has the same messages, one commit a thousand rounds."""
    import time

    with place.connect(database) as target:
        if not guarded:
            target.execute("SET session_replication_role = replica")
        began = time.perf_counter()
        for chunk in chunks:
            with target.transaction():
                for table, text in chunk:
                    with target.cursor().copy(f"COPY {table} FROM STDIN (FORMAT binary)".encode()) as into:
                        into.write(text)
        return time.perf_counter() - began


def volume(place: Hall, database: str) -> list[tuple[str, int, int, int]]:
    """Table, rows, bytes of rows with TOAST, bytes of indexes."""
    found = []
    with place.connect(database) as source:
        source.execute("VACUUM ANALYZE")
        for table in (*STORED, *WRITTEN):
            row = source.execute(
                f"SELECT (SELECT count(*) FROM {table}), pg_table_size(%s), pg_indexes_size(%s)".encode(),
                [table, table],
            ).fetchone()
            assert row is not None
            found.append((table, *row))
    return found


def _rates(
    rounds: int,
    drained: list[dict[str, Any]],
    bare: list[float],
    bare_unguarded: list[float],
    peers: list[Answers],
    peer_cpu: float,
    accepted: dict[str, Any],
) -> Figures:
    figures = Figures(
        f"settle: a queue of {rounds:,} rounds on one link, one worker",
        ("", "rounds/s", "runs", "CPU ms/round", "Python", "PostgreSQL", "ratio"),
    )
    rates = [each["messages"] / each["wall"] for each in drained]
    ours = median(rates)
    python, server = (median(each[who] / each["messages"] * 1000 for each in drained) for who in ("python", "postgres"))
    peer_rates = [each.rate for each in peers]
    peer_rate = median(peer_rates)
    peer_ms = peer_cpu / sum(each.messages for each in peers) * 1000
    figures.add("product", ours, spread(rates), python + server, python, server, None)
    for name, seconds in (("bare limit, same schema", bare), ("bare limit, triggers off", bare_unguarded)):
        limits = [rounds / each for each in seconds]
        figures.add(
            name, median(limits), spread(limits), None, None, None, f"product is {ours / median(limits):.0%} of it"
        )
    ratio = f"product is {ours / peer_rate:.0f} ×"
    figures.add("naive peer, 8 clients", peer_rate, spread(peer_rates), peer_ms, None, None, ratio)
    python, server = (accepted[who] / accepted["messages"] * 1000 for who in ("python", "postgres"))
    stored = accepted["messages"] / accepted["wall"]
    figures.add("product: door and inbox alone", stored, None, python + server, python, server, None)
    figures.note("The peer settles the progressive wager alone, inside its request; the product settles every wager, keeps"
                 " the books and the hash chain.")  # fmt: skip
    return figures


def _split(split: dict[str, Any]) -> Figures:
    figures = Figures("settle: where a round's time goes (timed run)", ("part", "µs/round", "share"))
    per_round = {name: seconds / split["messages"] * 1e6 for name, seconds in split["split"].items()}
    total = split["wall"] / split["messages"] * 1e6
    per_round["the rest"] = total - sum(per_round.values())
    for name, cost in sorted(per_round.items(), key=lambda item: -item[1]):
        figures.add(name, cost, f"{cost / total:.0%}")
    figures.add("all", total, "100%")
    return figures


def _volume(size: list[tuple[str, int, int, int]]) -> Figures:
    figures = Figures(
        "settle: what a round leaves on disk", ("table", "rows/round", "bytes/round", "index bytes/round")
    )
    rounds = next(rows for table, rows, *_ in size if table == "tables_round")
    for table, rows, heap, indexes in size:
        figures.add(table, rows / rounds, heap / rounds, indexes / rounds)
    figures.add("all", *(sum(column) / rounds for column in list(zip(*size, strict=True))[1:]))
    return figures
