"""What settling writes by COPY is what the models would have written, column by column (ARCHITECTURE §8).

A round is settled; then its rows are made by hand, from the message and the rules of the books, through the models with
their defaults; every column of every row must be the same.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

import pytest
from django.db import models

from accounting.models import Account, Event, Stream, Total, Transfer
from devices.models import Message, Queued, Reference
from jackpot.models import Hit, HitStep, Level, Link, Meter
from tables.models import Hold, Payout, Round, TableTerms
from tests.services.house import DEALT, LINKED, RECEIVED, House, message, rows, royal, run, seat

SENT = royal("R-1")
DAY = date(2026, 11, 27)


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class Ledger:
    """Where things are, for making rows by hand."""

    def __init__(self, house: House) -> None:
        self.stream = Stream.objects.get(code="ms-mg01")
        self.table_id = house.table(LINKED)
        self.terms = TableTerms.objects.get(table_id=self.table_id)
        self.level = Level.objects.get(code="major")
        self.account = {account.code: account for account in Account.objects.all()}
        self.message = Message.objects.get()
        self.settlement = canonical(house.settlement(SENT))


def messages(at: Ledger) -> list[models.Model]:
    raw = json.dumps([SENT], ensure_ascii=False).encode()[1:-1]
    return [
        Message(
            id=at.message.pk, stream=at.stream, table_id=at.table_id, reference="R-1", device_id=1, received_at=RECEIVED,
            raw=raw, digest=sha256(canonical(SENT)).digest(),
        )
    ]  # fmt: skip


def references(at: Ledger) -> list[models.Model]:
    digest = sha256(canonical(SENT)).digest()
    return [
        Reference(
            table_id=at.table_id, reference="R-1", digest=digest, message=at.message, received_at=RECEIVED, device_id=1
        )
    ]


def events(at: Ledger) -> list[models.Model]:
    opening = Event.objects.get(stream=at.stream, sequence=0)
    message_digest, result_digest = sha256(canonical(SENT)).digest(), sha256(at.settlement).digest()
    micro = round((RECEIVED - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)
    heading = f"ms-mg01\n1\nround\nMS-101/R-1\n2026-11-27\n{micro}\n2\n{micro}\n1".encode()
    return [
        Event(
            stream=at.stream, sequence=1, kind="round", subject="MS-101/R-1", gaming_date=DAY,
            recorded_at=RECEIVED, rules=2, message_digest=message_digest, result_digest=result_digest,
            previous=bytes(opening.hash),
            hash=sha256(bytes(opening.hash) + message_digest + result_digest + heading).digest(),
        )
    ]  # fmt: skip


MOVEMENTS = [
    ("table:MS-101:inventory", "wagers", 15_200, "wager"),
    ("fixed_pays", "table:MS-101:inventory", 5_010_000, "fixed_pay"),
    ("envy", "awards_payable", 100_000, "envy"),
    ("contribution_expense", "level:ms-mg01/major:liability", 34, "contribution"),
    ("contribution_expense", "level:ms-mg01/major:reserve", 6, "contribution"),
    ("level:ms-mg01/major:liability", "awards_payable", 1_000_034, "award"),
    ("level:ms-mg01/major:reserve", "level:ms-mg01/major:liability", 6, "seed"),
    ("seed_expense", "level:ms-mg01/major:liability", 999_994, "seed"),
]


def transfers(at: Ledger) -> list[models.Model]:
    return [
        Transfer(
            stream=at.stream, sequence=1, line=line, debit=at.account[debit], credit=at.account[credit],
            amount_cents=cents, reason=reason,
        )
        for line, (debit, credit, cents, reason) in enumerate(MOVEMENTS, 1)
    ]  # fmt: skip


def totals(at: Ledger) -> list[models.Model]:
    sums: dict[str, list[int]] = {}
    for debit, credit, cents, _ in MOVEMENTS:
        sums.setdefault(debit, [0, 0])[0] += cents
        sums.setdefault(credit, [0, 0])[1] += cents
    return [
        Total(account=at.account[code], stream=at.stream, gaming_date=DAY, debit_cents=debits, credit_cents=credits)
        for code, (debits, credits) in sums.items()
    ]


def rounds(at: Ledger) -> list[models.Model]:
    return [
        Round(
            stream=at.stream, sequence=1, message_id=at.message.pk, table_id=at.table_id, terms=at.terms,
            reference="R-1", outcome=Round.Outcome.SETTLED, dealt_at=DEALT, counts_at=DEALT,
            gaming_date=DAY, settlement=at.settlement,
        )
    ]  # fmt: skip


def payouts(at: Ledger) -> list[models.Model]:
    won = [
        (3, Payout.Kind.BASE, "ante", None, 500_000),
        (3, Payout.Kind.BASE, "third_street", None, 1_500_000),
        (3, Payout.Kind.BASE, "fourth_street", None, 1_500_000),
        (3, Payout.Kind.BASE, "fifth_street", None, 1_500_000),
        (3, Payout.Kind.LEVEL, "progressive", at.level, 1_000_034),
        (1, Payout.Kind.ENVY, "progressive", None, 100_000),
    ]
    return [
        Payout(
            stream=at.stream, sequence=1, line=line, table_id=at.table_id, seat=number, kind=kind, wager=wager,
            hand="royal_flush", level=level, cents=cents, dealt_at=DEALT, counts_at=DEALT, gaming_date=DAY,
        )
        for line, (number, kind, wager, level, cents) in enumerate(won, 1)
    ]  # fmt: skip


def hits(at: Ledger) -> list[models.Model]:
    return [
        Hit(
            id=Hit.objects.values_list("id", flat=True).get(), link=Link.objects.get(code="ms-mg01"), number=1,
            level=at.level, sequence=1, order=1, table=LINKED, round="R-1", seat=3, hand="royal_flush",
            share_ppm=1_000_000, meter_before_cents=1_000_034, paid_cents=1_000_034, meter_after_cents=1_000_000,
            seed_reserve_cents=6, seed_house_cents=999_994, dealt_at=DEALT, detected_at=RECEIVED,
        )
    ]  # fmt: skip


def steps(at: Ledger) -> list[models.Model]:
    step, hit = HitStep.objects.values_list("id", "hit_id").get()
    return [HitStep(id=step, hit_id=hit, state=HitStep.State.DETECTED, at=RECEIVED, by="settlement")]


def meters(at: Ledger) -> list[models.Model]:
    # 2 × 17.0003 cents, of which the fraction stays; 2 × 3.0007 cents of reserve, of which 6 went into the reset.
    return [
        Meter(
            level=at.level, sequence=1, value_cents=1_000_000, residual_millionths=600, reserve_residual_millionths=1_400,
            wagers=2, hits=1, wins_cents=1_000_034, contributed_millionths=34_000_600, reserved_millionths=6_001_400,
        )
    ]  # fmt: skip


MADE = {
    "devices_message": (messages, "true"),
    "devices_reference": (references, "true"),
    "accounting_event": (events, "sequence > 0"),
    "accounting_transfer": (transfers, "sequence > 0"),
    "accounting_total": (totals, f"gaming_date = '{DAY}'"),
    "tables_round": (rounds, "true"),
    "tables_payout": (payouts, "true"),
    "jackpot_hit": (hits, "true"),
    "jackpot_hitstep": (steps, "true"),
    "jackpot_meter": (meters, "hits > 0"),
}


def stored(table: str, which: str) -> list[tuple[Any, ...]]:
    """Rows as the database has them, every column in its own words."""
    return sorted(rows(f"SELECT to_jsonb(row)::text FROM {table} row WHERE {which}"))


@pytest.mark.parametrize("table", MADE)
def test_a_settled_round_is_what_the_models_would_have_written(table: str, house: House) -> None:
    house.play(SENT)
    make, which = MADE[table]
    written = stored(table, which)
    by_hand = make(Ledger(house))
    run("SET LOCAL session_replication_role = replica")  # past the guards, for this one comparison
    run("SET CONSTRAINTS ALL IMMEDIATE")
    assert run(f"DELETE FROM {table} WHERE {which}") == len(by_hand)
    type(by_hand[0])._default_manager.bulk_create(by_hand)
    assert stored(table, which) == written


def test_a_waiting_message_is_what_the_models_would_have_written(house: House) -> None:
    house.post(message("R-0"), SENT)
    written = stored("devices_queued", "true")
    waiting = [
        Queued(stream_id=house.stream("ms-mg01"), receipt=receipt, position=position, message_id=message_id,
               received_at=RECEIVED)
        for position, (message_id, receipt) in enumerate(rows(
            "SELECT message.id, receipt FROM devices_message message JOIN devices_queued ON message_id = message.id"
            " ORDER BY reference"
        ))
    ]  # fmt: skip
    run("DELETE FROM devices_queued")
    Queued.objects.bulk_create(waiting)
    assert stored("devices_queued", "true") == written


def test_a_held_round_is_what_the_models_would_have_written(house: House) -> None:
    sent = message("R-1", seat(1, "3s 3s"))
    house.play(sent)
    written = stored("tables_hold", "true")
    settlement = {
        "round": "R-1", "table": LINKED, "outcome": "held", "reasons": ["duplicate_card"], "players": 1,
        "seats": [], "awards": [], "meters": [],
    }  # fmt: skip
    micro = [round((at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000) for at in (DEALT, RECEIVED)]
    place = (house.stream("ms-mg01"), 1)
    heading = f"2\n{Message.objects.get().pk}\n{micro[0]}\n{micro[1]}\n{place[0]}\n{place[1]}\n"
    hold = Hold(
        message_id=Message.objects.get().pk, table_id=house.table(LINKED), reference="R-1", reasons=["duplicate_card"],
        settlement=canonical(settlement), dealt_at=DEALT, held_at=RECEIVED,
        rules=2, stream_id=place[0], before_sequence=place[1],
        seal=sha256(sha256(canonical(settlement)).digest() + heading.encode()).digest(),
    )  # fmt: skip
    run("SET LOCAL session_replication_role = replica")
    run("DELETE FROM tables_hold")
    hold.save(force_insert=True)
    assert stored("tables_hold", "true") == written
