"""An auditor who trusts nothing of the service: SQL, SHA-256 and a sharp pencil.

Everything is added up anew from the rows on record, without any code of the product.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from tests.services.house import rows, value

MILLION = 1_000_000


def everything_agrees() -> None:
    """Sequences, chains, totals, meters, contributions, hits and payouts of every stream."""
    for stream_id, code, next_sequence, head in rows("SELECT id, code, next_sequence, head FROM accounting_stream"):
        chain_holds(stream_id, code, next_sequence, bytes(head))
    totals_are_the_transfers()
    meters_are_the_liability()
    contributions_are_exact()
    rows_follow_from_settlements()
    every_message_is_somewhere_once()


def chain_holds(stream_id: int, code: str, next_sequence: int, head: bytes) -> None:
    """No gap from the opening to the head; every hash over the previous one, the digests and the heading."""
    previous = bytes(32)
    expected = 0
    for row in rows(
        """SELECT event.sequence, event.kind, event.subject, event.gaming_date, recorded_at, rules, received_at, device_id,
            message_digest, result_digest, previous, hash
        FROM accounting_event event
        LEFT JOIN tables_round round ON event.kind = 'round' AND round.stream_id = event.stream_id
            AND round.sequence = event.sequence
        LEFT JOIN tables_lock lock ON event.kind = 'lock' AND lock.stream_id = event.stream_id
            AND lock.sequence = event.sequence
        LEFT JOIN devices_message message ON message.id = coalesce(round.message_id, lock.message_id)
        WHERE event.stream_id = %s ORDER BY event.sequence""",
        stream_id,
    ):
        sequence, kind, subject, day, recorded_at, rules, received_at, device_id = row[:8]
        message_digest, result_digest, before, hashed = (bytes(part) for part in row[8:])
        assert sequence == expected, f"{code}: {sequence} follows {expected - 1}"
        assert before == previous, f"{code} {sequence}: not chained to the event before"
        heading = f"{code}\n{sequence}\n{kind}\n{subject}\n{day.isoformat()}\n{micros(recorded_at)}"
        if rules > 1:
            received = "-" if received_at is None else micros(received_at)
            heading += f"\n{rules}\n{received}\n{'-' if device_id is None else device_id}"
        assert hashed == sha256(previous + message_digest + result_digest + heading.encode()).digest(), (code, sequence)
        previous, expected = hashed, expected + 1
    assert (next_sequence, head) == (expected, previous), f"{code}: the head is not the last event"


def micros(at: datetime) -> int:
    """Microseconds since 1970 UTC."""
    return round((at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * MILLION)


def totals_are_the_transfers() -> None:
    """Debits and credits by account, stream and day are the sums of the transfers; every entry balances by its form."""
    summed = rows("""
        SELECT account_id, stream_id, gaming_date, sum(debit)::bigint, sum(credit)::bigint FROM (
            SELECT debit_id AS account_id, stream_id, sequence, amount_cents AS debit, 0 AS credit
            FROM accounting_transfer
            UNION ALL SELECT credit_id, stream_id, sequence, 0, amount_cents FROM accounting_transfer
        ) sides JOIN accounting_event USING (stream_id, sequence)
        GROUP BY account_id, stream_id, gaming_date ORDER BY 1, 2, 3
    """)
    kept = rows(
        "SELECT account_id, stream_id, gaming_date, debit_cents, credit_cents FROM accounting_total ORDER BY 1, 2, 3"
    )
    assert kept == summed
    assert sum(row[3] for row in kept) == sum(row[4] for row in kept)


def meters_are_the_liability() -> None:
    """What the ledger owes on a level is what its meter shows; reserve and overflow likewise."""
    for link, level, *shown in rows("""
        SELECT link.code, level.code, meter.value_cents, meter.reserve_cents, meter.overflow_cents
        FROM jackpot_meter meter JOIN jackpot_level level ON level.id = meter.level_id
        JOIN jackpot_link link ON link.id = level.link_id
    """):
        owed = [
            value(
                """SELECT coalesce(sum(CASE WHEN account.id = credit_id THEN amount_cents ELSE -amount_cents END), 0)::bigint
                FROM accounting_account account JOIN accounting_transfer ON account.id IN (debit_id, credit_id)
                WHERE account.code = %s""",
                f"level:{link}/{level}:{kind}",
            )
            for kind in ("liability", "reserve", "overflow")
        ]
        assert owed == shown, f"{link}/{level}"


def adjusted(account: str) -> int:
    """What people put on an account by hand, less what they took off, in whole cents."""
    cents: int = value(
        """SELECT coalesce(sum(CASE WHEN account.id = credit_id THEN amount_cents ELSE -amount_cents END), 0)::bigint
        FROM accounting_account account JOIN accounting_transfer ON account.id IN (debit_id, credit_id)
        JOIN accounting_event event USING (stream_id, sequence)
        WHERE account.code = %s AND event.kind = 'level.adjust'""",
        account,
    )
    return cents


def carried(stream_id: int, link: str, level: str) -> tuple[int, int, int]:
    """What transfers between links brought to a level's display, reserve and overflow, in millionths of a cent."""
    brought = [0, 0, 0]
    for cause, result in rows(
        """SELECT cause, result FROM accounting_document JOIN accounting_event USING (stream_id, sequence)
        WHERE stream_id = %s AND kind = 'level.transfer'""",
        stream_id,
    ):
        sides = {side["link"]: side["meters"] for side in json.loads(bytes(cause))["between"]}
        (row,) = (row for row in json.loads(bytes(result))["meters"] if (row["link"], row["level"]) == (link, level))
        before = sides[link][level]
        for place, (part, fraction, after) in enumerate((
            ("value_cents", "residual_millionths", "after_cents"),
            ("reserve_cents", "reserve_residual_millionths", "reserve_cents"),
            ("overflow_cents", "overflow_residual_millionths", "overflow_cents"),
        )):  # fmt: skip
            brought[place] += (row[after] - before[part]) * MILLION + row[fraction] - before[fraction]
    return brought[0], brought[1], brought[2]


def contributions_are_exact() -> None:
    """Σ contributions = Σ accepted wagers × rate, to the millionth of a cent, on display, limit and reserve together.

    Accepted are the wagers of settled rounds, and those of locks that wait for their results.
    """
    for level_id, link, level, rate, reserve_rate, reset, stream_id in rows("""
        SELECT level.id, link.code, level.code, terms.rate_ppm, terms.reserve_ppm, terms.reset_cents, link.stream_id
        FROM jackpot_level level JOIN jackpot_link link ON link.id = level.link_id
        JOIN jackpot_levelterms terms ON terms.level_id = level.id
    """):
        wagered = accepted = contributed = wins = hits = 0
        paid = from_reserve = from_house = from_overflow = to_revenue = 0
        for _, settlement in settlements(stream_id):
            if settlement["outcome"] == "settled":
                stakes = progressive_stakes(settlement)
                wagered += sum(stakes)
                accepted += len(stakes)
            (row,) = (row for row in settlement["meters"] if row["level"] == level)
            contributed += row["contributed_millionths"]
            for award in settlement["awards"]:
                if award["level"] == level:
                    hits += 1
                    wins += award["paid_cents"]
                    paid += award["paid_cents"]
                    from_reserve += award["seed"]["reserve_cents"]
                    from_house += award["seed"]["house_cents"]
                    from_overflow += award["seed"]["overflow_cents"]
                    to_revenue += award.get("revenue_cents", 0)
        for result in results_of_locks(stream_id):
            contributed += sum(row["contributed_millionths"] for row in result["meters"] if row["level"] == level)
        wagered += waiting_stakes(stream_id)
        meter = rows(
            """SELECT value_cents, residual_millionths, reserve_cents, reserve_residual_millionths, overflow_cents,
            overflow_residual_millionths, wagers, hits, wins_cents FROM jackpot_meter WHERE level_id = %s""",
            level_id,
        )[0]
        by_hand = [adjusted(f"level:{link}/{level}:{kind}") for kind in ("liability", "reserve", "overflow")]
        moved = carried(stream_id, link, level)
        awarded = reset - paid + from_reserve + from_house + from_overflow
        displayed = meter[0] * MILLION + meter[1] - MILLION * (awarded + by_hand[0]) - moved[0]
        kept_off = meter[4] * MILLION + meter[5] + MILLION * (from_overflow + to_revenue - by_hand[2]) - moved[2]
        assert displayed + kept_off == contributed == wagered * rate, f"{link}/{level}"
        reserved = meter[2] * MILLION + meter[3] + MILLION * (from_reserve - by_hand[1]) - moved[1]
        assert reserved == wagered * reserve_rate, f"{link}/{level}"
        assert meter[6:] == (accepted, hits, wins), f"{link}/{level}"


def rows_follow_from_settlements() -> None:
    """Hits and payouts are those that the settlements on record promise, cent by cent; so is the money of each entry."""
    for stream_id, code in rows("SELECT id, code FROM accounting_stream"):
        promised_payouts, promised_hits = [], []
        for sequence, settlement in settlements(stream_id):
            promised_payouts += [(sequence, *payout) for payout in winnings(settlement)]
            promised_hits += [
                (sequence, award["order"], award["hit"], award["seat"], award["paid_cents"], award["hand"])
                for award in settlement["awards"]
            ]
            the_entry_is_the_round(stream_id, sequence, settlement)
        kept = rows("SELECT sequence, seat, hand, cents FROM tables_payout WHERE stream_id = %s", stream_id)
        assert sorted(kept) == sorted(promised_payouts), code
        hits = rows(
            """SELECT sequence, hit."order", link.code || '-' || to_char(number, 'FM000000'), seat, paid_cents, hand
            FROM jackpot_hit hit JOIN jackpot_link link ON link.id = hit.link_id
            WHERE link.stream_id = %s ORDER BY number""",
            stream_id,
        )
        assert hits == promised_hits, code
        assert [hit[2] for hit in hits] == [f"{code}-{number:06d}" for number in range(1, len(hits) + 1)]


def the_entry_is_the_round(stream_id: int, sequence: int, settlement: dict[str, Any]) -> None:
    """The table's tray ends the entry with what seats staked less what they were paid, less awards and envy."""
    moved: defaultdict[str, int] = defaultdict(int)
    for debit, credit, cents in rows(
        """SELECT debit.code, credit.code, amount_cents FROM accounting_transfer transfer
        JOIN accounting_account debit ON debit.id = debit_id JOIN accounting_account credit ON credit.id = credit_id
        WHERE transfer.stream_id = %s AND transfer.sequence = %s""",
        stream_id,
        sequence,
    ):
        moved[debit] += cents
        moved[credit] -= cents
    staked = sum(seat["staked_cents"] for seat in settlement["seats"])
    paid = sum(seat["paid_cents"] for seat in settlement["seats"])
    envy = sum(each["paid_cents"] for seat in settlement["seats"] for each in seat["envy"])
    awards = sum(award["paid_cents"] for award in settlement["awards"])
    assert moved[f"table:{settlement['table']}:inventory"] == staked - (paid - envy - awards), (stream_id, sequence)
    assert moved["awards_payable"] == -(envy + awards), (stream_id, sequence)
    assert sum(moved.values()) == 0


def every_message_is_somewhere_once() -> None:
    """Settled, held (until people decide it) or queued: each accepted message once, and each under its own reference."""
    astray = rows("""
        SELECT message.id FROM devices_message message WHERE (SELECT count(*) FROM tables_round WHERE message_id = message.id)
        + (SELECT count(*) FROM tables_hold hold WHERE message_id = message.id AND NOT EXISTS (
            SELECT FROM tables_round decided JOIN accounting_event event USING (stream_id, sequence)
            WHERE decided.message_id = hold.message_id
                AND event.kind IN ('round.release', 'round.correct', 'round.void')))
        + (SELECT count(*) FROM tables_lock WHERE message_id = message.id)
        + (SELECT count(*) FROM tables_locksetaside WHERE message_id = message.id)
        + (SELECT count(*) FROM devices_queued WHERE message_id = message.id) <> 1
    """)
    assert astray == []
    messages = rows("SELECT table_id, reference, kind, digest, id FROM devices_message ORDER BY id")
    assert messages == rows(
        "SELECT table_id, reference, kind, digest, message_id FROM devices_reference ORDER BY message_id"
    )


def settlements(stream_id: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Sequence and settlement of every round of a stream, in order."""
    for sequence, settlement in rows(
        "SELECT sequence, settlement FROM tables_round WHERE stream_id = %s ORDER BY sequence", stream_id
    ):
        yield sequence, json.loads(bytes(settlement))


def results_of_locks(stream_id: int) -> Iterator[dict[str, Any]]:
    """What each lock of a stream came to, and the void of each that was called off."""
    for (result,) in rows(
        "SELECT result FROM tables_lock WHERE stream_id = %s UNION ALL SELECT result FROM accounting_document"
        " JOIN accounting_event USING (stream_id, sequence) WHERE stream_id = %s AND kind = 'lock.void'",
        stream_id, stream_id,
    ):  # fmt: skip
        yield json.loads(bytes(result))


def waiting_stakes(stream_id: int) -> int:
    """The wagers in cents of a stream's locks that wait for their results, as their messages say."""
    waiting = rows(
        "SELECT raw FROM devices_message message JOIN tables_lock lock ON lock.message_id = message.id"
        " WHERE lock.stream_id = %s AND lock.state = 'locked'",
        stream_id,
    )
    messages = [json.loads(bytes(raw)) for (raw,) in waiting]
    return sum(seat["wagers"]["progressive"] for message in messages for seat in message["seats"])


def progressive_stakes(settlement: dict[str, Any]) -> list[int]:
    """The stakes of the accepted progressive wagers."""
    return [
        line["stake_cents"]
        for seat in settlement["seats"]
        for line in seat["lines"]
        if line["wager"] == "progressive" and line["result"] != "void"
    ]


SIDE_WAGERS = {
    "three_card_bonus", "cover_all", "bonus", "optional_bonus", "pair_plus", "pocket", "ante_bonus", "insurance",
}  # fmt: skip


def paid_for(seat: dict[str, Any], line: dict[str, Any]) -> str:
    """The hand that a line pays: a side wager's is that of its row, where the line names one, else the seat's own."""
    if line["wager"] in SIDE_WAGERS and "row" in line:
        return str(line["row"]).split(" ")[0]
    return seat["hand"] or ""


def winnings(settlement: dict[str, Any]) -> list[tuple[int, str, int]]:
    """Seat, hand and cents of everything won: lines without their stake, and envy."""
    found = []
    for seat in settlement["seats"]:
        found += [
            (seat["seat"], paid_for(seat, line), line["win_cents"]) for line in seat["lines"] if line["win_cents"]
        ]
        found += [(seat["seat"], envy["hand"], envy["paid_cents"]) for envy in seat["envy"]]
    return found
