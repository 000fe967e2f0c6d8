"""Searching and reading a long history: keyset pages, explanations, the export."""

from typing import Any

from tests.benchmarks import floor
from tests.benchmarks.fill import fill
from tests.benchmarks.growth import FILL_NOTE
from tests.benchmarks.report import Figures
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import write


def run(
    place: Hall, *, payouts: int = 1_000_000, base: int = 10_000, pages: int = 100, export: int = 100_000
) -> list[Figures]:
    """Fill until there are about so many payouts, then read."""
    text = floor.floor_text(tables=20)
    place.quiet()
    place.prepare("history", text)
    file = write(place, floor.rounds(text, base, prefix="base"))
    place.inside("history", ("accept", {"file": str(file)}), ("drain", {}))
    with place.connect("history") as connection:
        settled, paid = _counts(connection)
        fill(connection, rounds=int(payouts / paid * settled))
        settled, paid = _counts(connection)
        day = connection.execute(
            "SELECT (min(dealt_at) + (max(dealt_at) - min(dealt_at)) / 2)::date FROM tables_payout"
        )
        middle = str(day.fetchone()[0])  # type: ignore[index]
    queries = {
        "newest first": {},
        "a table and a day": {"table": "MS-007", "from": middle, "to": middle},
        "a hand (full house)": {"hand": "full_house"},
        "a rare hand (royal flush)": {"hand": "royal_flush"},
        "a kind (cover all)": {"kind": "cover_all"},
        "an amount ($1,000 and more)": {"min_cents": "100000"},
        "a table and an amount": {"table": "MS-007", "min_cents": "100000"},
        "a link's level": {"link": "L-000", "kind": "level"},
    }
    steps = (
        ("pages", {"queries": queries, "times": pages}),
        ("explain", {"times": pages}),
        ("export", {"most": export}),
    )
    found, explained, exported = place.inside("history", *steps)
    figures = Figures(
        f"history: {paid:,} payouts of {settled:,} rounds, pages of 100",
        ("", "rows found", "p50 ms", "p95 ms", "p99 ms", "most ms"),
    )
    for name, row in found.items():
        figures.add(name, row["rows"], row["p50"], row["p95"], row["p99"], row["most"])
    figures.add(
        "explanation of one payout", explained["payouts"], explained["p50"], explained["p95"], explained["p99"], None
    )
    figures.note(
        f"Export: {exported['rows'] / exported['wall']:,.0f} rows/s, {exported['grown_mib']:.0f} MiB more than at rest."
    )
    figures.note(FILL_NOTE)
    return [figures]


def _counts(connection: Any) -> tuple[int, int]:
    counted = "SELECT (SELECT count(*) FROM tables_round), (SELECT count(*) FROM tables_payout)"
    row = connection.execute(counted).fetchone()
    return int(row[0]), int(row[1])
