"""What is rare is found in a long history without reading what is not."""

from __future__ import annotations

import base64
import json

import pytest

from accounting.rules.parameters import BadParameter
from tables.queries import payouts
from tests.services.house import LINKED, TWIN, House, rows, royal, run, two_hits, value

COMMON = 20_000

# Payouts that everybody has, all newer than those that are looked for: whoever reads newest first reads them all.
FILL = """
    INSERT INTO tables_payout
        (stream_id, sequence, line, table_id, seat, kind, wager, hand, level_id, cents, dealt_at, counts_at, gaming_date)
    SELECT stream_id, sequence, 1000 + number, table_id, seat, 'base', 'ante', 'pair', NULL, %s,
        dealt_at, now() + interval '9 days' + make_interval(secs => number), current_date + 9
    FROM (SELECT * FROM tables_payout WHERE kind = 'base' ORDER BY sequence LIMIT 1) payout,
        generate_series(1, %s) number
"""
READ = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'tables_payout'"
RARE = [
    {"hand": "royal_flush"},
    {"hand": "royal_flush", "table": TWIN},
    {"kind": "level"},
    {"kind": "envy"},
    {"link": "twin"},
    {"level": "grand"},
    {"link": "twin", "level": "grand", "kind": "level"},
    {"state": "detected"},
    {"state": "detected", "link": "twin"},
    {"min_cents": "100000"},
    {"min_cents": "100000", "table": LINKED},
    {"from": "2026-11-27", "to": "2026-11-27"},
    {"to": "2026-11-27", "table": TWIN},
    {"sort": "oldest", "kind": "level"},
]


@pytest.fixture
def long_history(house: House) -> House:
    """Two rounds worth looking for, below many that are not."""
    house.play(royal("R-1", table=LINKED), two_hits("R-2", table=TWIN))
    more_payouts(COMMON, cents=2_000)
    return house


def more_payouts(count: int, *, cents: int) -> None:
    """So many payouts of this much, each on a line of its own."""
    run("SET LOCAL session_replication_role = replica")
    run(FILL, cents, count)
    run("SET LOCAL session_replication_role = origin")
    run("ANALYZE tables_payout")


@pytest.mark.parametrize("filters", RARE, ids=[" ".join(each.values()) for each in RARE])
def test_what_is_rare_is_found_without_reading_the_rest(filters: dict[str, str], long_history: House) -> None:
    before = value(READ)
    found = payouts.page(filters).items
    assert found
    assert {item["round"] for item in found} <= {"R-1", "R-2"}
    assert value(READ) - before < 100


@pytest.mark.parametrize("more", [{}, {"table": LINKED}], ids=["anywhere", "at a table"])
def test_a_larger_amount_is_found_among_many_large_ones(more: dict[str, str], house: House) -> None:
    house.play(royal("R-1", table=LINKED))
    more_payouts(COMMON, cents=150_000)
    before = value(READ)
    found = payouts.page({"min_cents": "300000", **more}).items
    assert found
    assert {item["round"] for item in found} == {"R-1"}
    assert value(READ) - before < 100


def test_that_a_hand_was_never_paid_is_told_without_reading_the_rest(long_history: House) -> None:
    before = value(READ)
    assert payouts.page({"hand": "five_of_a_kind"}).items == []
    assert value(READ) - before < 100


def test_a_page_reads_little_more_than_it_shows(long_history: House) -> None:
    before = value(READ)
    page = payouts.page({}, limit=100)
    assert len(page.items) == 100
    assert value(READ) - before < 200
    assert page.next is not None
    assert len(payouts.page({"cursor": page.next}, limit=100).items) == 100
    assert value(READ) - before < 400


def test_a_sum_that_takes_too_long_is_given_up(long_history: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(payouts.FILTERS, "slip", lambda given, name: ("pg_sleep(0.05) IS NOT NULL", ()))
    assert payouts.total({"slip": "x"}, seconds=0.2) is None
    whole = payouts.total({}, seconds=20)
    assert whole is not None
    assert (whole.payouts, whole.cents) == rows("SELECT count(*), sum(cents)::bigint FROM tables_payout")[0]


def test_what_is_paid_with_the_round_is_found_by_its_state(long_history: House) -> None:
    everything = payouts.page({}, limit=payouts.MOST).items
    assert (
        payouts.page({"state": "paid"}, limit=50).items == [item for item in everything if item["state"] == "paid"][:50]
    )


@pytest.mark.parametrize(
    "filters", [{}, {"kind": "level"}, {"kind": "envy"}, {"table": LINKED}, {"state": "rejected"}, {"seat": "6"}]
)
def test_a_sum_says_how_much_of_it_nobody_gets_any_more(filters: dict[str, str], house: House) -> None:
    house.play(two_hits("R-1"), two_hits("R-2", table=TWIN), royal("R-3"), royal("R-4", table=TWIN))
    house.act("hit.reject", "ms-mg01-000001")
    house.act("hit.reject", "ms-mg01-000003")  # at the place of R-4 on the other stream, which stands
    house.act("round.void", f"{TWIN}/R-2")
    found = payouts.page(filters, limit=payouts.MOST).items
    fallen = [item for item in found if item["state"] in ("rejected", "cancelled", "void")]
    assert {item["state"] for item in payouts.page({}).items} >= {"rejected", "cancelled", "void", "detected", "paid"}
    assert payouts.total(filters, seconds=20) == payouts.Total(
        len(found), sum(item["cents"] for item in found), len(fallen), sum(item["cents"] for item in fallen)
    )


FORGED = {
    "no zone": ["2026-11-27T21:14:05", 1, 1, 1],
    "below zero": ["2026-11-27T21:14:05+00:00", 1, -1, 1],
    "beyond what is stored": ["2026-11-27T21:14:05+00:00", 2**63, 1, 1],
    "no moment": ["yesterday", 1, 1, 1],
    "beyond the calendar": ["9999-12-31T23:59:59-23:00", 1, 1, 1],
}


@pytest.mark.parametrize("key", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("sort", ["newest", "oldest", "largest"])
def test_a_cursor_that_nobody_was_given_is_refused(key: list[object], sort: str, house: House) -> None:
    forged = [5, *key] if sort == "largest" else key
    text = base64.urlsafe_b64encode(json.dumps(forged).encode()).decode().rstrip("=")
    with pytest.raises(BadParameter) as refusal:
        payouts.page({"cursor": text, "sort": sort})
    assert refusal.value.name == "cursor"


def test_a_sum_may_come_to_more_than_a_bigint_and_so_may_what_has_fallen(house: House) -> None:
    """Ten million payouts as large as the door lets in would: a few that are larger stand for them."""
    house.play(two_hits("R-1"))
    house.act("round.void", f"{LINKED}/R-1")
    run("SET LOCAL session_replication_role = replica")
    run("UPDATE tables_payout SET cents = %s WHERE kind = 'base'", 2**62)
    run("SET LOCAL session_replication_role = origin")
    found = payouts.page({}, limit=payouts.MOST).items
    come_to = sum(item["cents"] for item in found)
    assert come_to > 2**64
    assert payouts.total({}, seconds=20) == payouts.Total(len(found), come_to, len(found), come_to)
