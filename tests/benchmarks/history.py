"""Searching and reading a long history: keyset pages, explanations, the export."""

import re
from dataclasses import replace
from typing import Any

import msgspec

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
    file = write(place, with_royals(floor.rounds(text, base, prefix="base")))
    place.inside("history", ("accept", {"file": str(file)}), ("drain", {}))
    with place.connect("history") as connection:
        settled, paid = _counts(connection)
        fill(connection, rounds=int(payouts / paid * settled))
        settled, paid = _counts(connection)
        day = connection.execute(
            "SELECT (min(counts_at) + (max(counts_at) - min(counts_at)) / 2)::date FROM tables_payout"
        )
        middle = str(day.fetchone()[0])  # type: ignore[index]
        paid_most = connection.execute(
            "SELECT tabl.code FROM tables_payout payout JOIN tables_table tabl ON tabl.id = payout.table_id"
            " WHERE payout.cents >= 100000 GROUP BY tabl.code ORDER BY count(*) DESC, tabl.code LIMIT 1"
        ).fetchone()
        assert paid_most is not None, "royals are paid more than that"
    queries = {
        "newest first": {},
        "a table and a day": {"table": "MS-007", "from": middle, "to": middle},
        "a hand (full house)": {"hand": "full_house"},
        "a rare hand (royal flush)": {"hand": "royal_flush"},
        "a hand at a table (full house)": {"hand": "full_house", "table": "MS-007"},
        "a kind (cover all)": {"kind": "cover_all"},
        "a kind at a table (cover all)": {"kind": "cover_all", "table": "MS-007"},
        "an amount ($1,000 and more)": {"min_cents": "100000"},
        "a large amount ($10,000 and more)": {"min_cents": "1000000"},
        "a table and an amount": {"table": paid_most[0], "min_cents": "100000"},
        "a link's level": {"link": "L-000", "level": "major"},
        "a state (approved)": {"state": "approved"},
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


ROYAL = ("Ah", "Kh", "Qh", "Jh", "Th")
CARD = re.compile(rb'"([2-9TJQKA][cdhs])"')


def with_royals(messages: list[floor.Posted], count: int = 5) -> list[floor.Posted]:
    """The same rounds, a few of them with a royal flush that hits the link's level: chance deals none in ten thousand."""
    found = list(messages)
    every = max(1, len(found) // count)
    for number in range(0, every * count, every):
        at = next(at for at in range(number, len(found)) if _may_hit(found[at]))
        found[at] = replace(found[at], body=_royal(found[at].body))
    return found


def _may_hit(message: floor.Posted) -> bool:
    first = msgspec.json.decode(message.body)["seats"][0]
    return "progressive" in first["wagers"] and not first.get("folded")


def _royal(body: bytes) -> bytes:
    """Cards change places, so that the first seat has a royal flush and no card is dealt twice."""
    message = msgspec.json.decode(body)
    for place, wanted in enumerate(ROYAL):
        own = CARD.findall(body[body.index(b'"community"') :])  # three community cards, then the first seat's two
        assert len(own) >= len(ROYAL), message["round"]
        swap = {own[place]: wanted.encode(), wanted.encode(): own[place]}
        body = _swapped(body, swap)
    return body


def _swapped(body: bytes, swap: dict[bytes, bytes]) -> bytes:
    return CARD.sub(lambda card: b'"' + swap.get(card[1], card[1]) + b'"', body)


def _counts(connection: Any) -> tuple[int, int]:
    counted = "SELECT (SELECT count(*) FROM tables_round), (SELECT count(*) FROM tables_payout)"
    row = connection.execute(counted).fetchone()
    return int(row[0]), int(row[1])
