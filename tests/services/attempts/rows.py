"""Rows an attempt starts from: those of the house, and new ones that are right until something in them is changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from hashlib import sha256
from typing import Any

from accounting import models as accounting
from devices import models as devices
from jackpot import models as jackpot
from tables import models as tables
from tests.services.house import (
    DEALT,
    LINKED,
    OPENED,
    RECEIVED,
    House,
    run,
)

DAY = date(2026, 11, 27)
DIGEST = bytes(32)
ATTEMPTS: dict[str, list[Callable[[House], object]]] = {}

Attempt = Callable[[House], object]


def against(rule: str) -> Callable[[Attempt], Attempt]:
    """Name the rule that an attempt must fail at."""

    def entered(attempt: Attempt) -> Attempt:
        ATTEMPTS.setdefault(rule, []).append(attempt)
        return attempt

    return entered


def done_beside(table: str, statement: str) -> None:
    """Have a trigger of somebody's own run a statement with every row that is added to a table."""
    run(
        "CREATE FUNCTION beside() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" {statement}; RETURN NEW; END $$; CREATE TRIGGER beside BEFORE INSERT ON {table}"
        " FOR EACH ROW EXECUTE FUNCTION beside()"
    )


def the_stream() -> accounting.Stream:
    return accounting.Stream.objects.get(code="ms-mg01")


def the_link(code: str = "ms-mg01") -> jackpot.Link:
    return jackpot.Link.objects.get(code=code)


def the_level(code: str = "major") -> jackpot.Level:
    return jackpot.Level.objects.get(code=code)


def the_table(code: str) -> tables.Table:
    return tables.Table.objects.get(code=code)


def the_terms(code: str) -> tables.TableTerms:
    return tables.TableTerms.objects.get(table__code=code)


def new_event(**changes: Any) -> accounting.Event:
    stream = the_stream()
    values: dict[str, Any] = {
        "stream": stream, "sequence": stream.next_sequence, "kind": "round", "subject": "x", "gaming_date": DAY,
        "recorded_at": RECEIVED, "rules": 2, "message_digest": DIGEST, "result_digest": DIGEST, "previous": DIGEST,
        "hash": DIGEST,
    }  # fmt: skip
    return accounting.Event.objects.create(**values | changes)


def new_transfer(**changes: Any) -> accounting.Transfer:
    accounts = {account.code: account for account in accounting.Account.objects.all()}
    values: dict[str, Any] = {
        "stream": the_stream(), "sequence": 0, "line": 99, "debit": accounts["cage"], "credit": accounts["wagers"],
        "amount_cents": 1, "reason": "wager",
    }  # fmt: skip
    return accounting.Transfer.objects.create(**values | changes)


def new_hit(**changes: Any) -> jackpot.Hit:
    values: dict[str, Any] = {
        "link": the_link(), "number": 99, "level": the_level(), "sequence": 1, "order": 9, "table": LINKED, "round": "x",
        "seat": 1, "hand": "royal_flush", "share_ppm": 1_000_000, "meter_before_cents": 1, "paid_cents": 1,
        "meter_after_cents": 1, "dealt_at": DEALT, "detected_at": DEALT,
    }  # fmt: skip
    return jackpot.Hit.objects.create(**values | changes)


def new_link(**changes: Any) -> jackpot.Link:
    stream = accounting.Stream.objects.create(code="another", head=DIGEST)
    values: dict[str, Any] = {
        "code": "another", "name": "Another", "paytable": the_link("ms-mg01").paytable, "decks": 1, "stream": stream,
        "opened_at": OPENED,
    }  # fmt: skip
    return jackpot.Link.objects.create(**values | changes)


def new_level_terms(**changes: Any) -> jackpot.LevelTerms:
    jackpot.LevelTerms.objects.filter(level=the_level()).update(in_force=(OPENED, DEALT))
    values: dict[str, Any] = {"level": the_level(), "in_force": (DEALT, None), "reset_cents": 1000, "rate_ppm": 1}
    values |= {"hit_numerator": 1, "hit_denominator": 100_000_000}
    return jackpot.LevelTerms.objects.create(**values | changes)


def new_table(**changes: Any) -> tables.Table:
    link = the_link()
    values: dict[str, Any] = {
        "code": "NEW-1", "game": "mississippi-stud", "decks": 1, "link": link, "link_paytable": link.paytable,
        "stream": link.stream, "opened_at": OPENED,
    }  # fmt: skip
    return tables.Table.objects.create(**values | changes)


def new_table_terms(**changes: Any) -> tables.TableTerms:
    table = the_table(LINKED)
    tables.TableTerms.objects.filter(table=table).update(in_force=(OPENED, DEALT))
    values: dict[str, Any] = {
        "table": table, "game": table.game, "in_force": (DEALT, None), "seats": 6, "minimum_cents": 1,
        "maximum_cents": 2,
    }  # fmt: skip
    return tables.TableTerms.objects.create(**values | changes)


def new_paytable(**changes: Any) -> tables.TablePaytable:
    terms = new_table_terms()
    values: dict[str, Any] = {
        "terms": terms, "game": terms.game, "seats": terms.seats, "wager": "base",
        "edition": tables.WagerEdition.objects.get(code="ms-base"),
    }  # fmt: skip
    return tables.TablePaytable.objects.create(**values | changes)


def new_message(**changes: Any) -> devices.Message:
    values: dict[str, Any] = {
        "stream": the_stream(), "table": the_table(LINKED), "reference": "by hand", "received_at": RECEIVED, "raw": b"{}",
        "digest": DIGEST,
    }  # fmt: skip
    return devices.Message.objects.create(**values | changes)


def new_round(**changes: Any) -> tables.Round:
    event = new_event()
    values: dict[str, Any] = {
        "stream": event.stream, "sequence": event.sequence, "message_id": new_message().pk, "table": the_table(LINKED),
        "terms": the_terms(LINKED), "reference": "by hand", "outcome": "settled", "dealt_at": DEALT, "counts_at": DEALT,
        "gaming_date": DAY, "settlement": b"{}",
    }  # fmt: skip
    return tables.Round.objects.create(**values | changes)


def new_payout(**changes: Any) -> tables.Payout:
    round = new_round()
    values: dict[str, Any] = {
        "stream": round.stream, "sequence": round.sequence, "line": 1, "table": round.table, "seat": 1, "kind": "base",
        "wager": "ante", "hand": "pair", "cents": 1, "dealt_at": DEALT, "counts_at": DEALT, "gaming_date": DAY,
    }  # fmt: skip
    return tables.Payout.objects.create(**values | changes)


def new_hold(**changes: Any) -> tables.Hold:
    values: dict[str, Any] = {
        "table": the_table(LINKED), "reference": "by hand", "reasons": ["duplicate_card"], "settlement": b"{}",
        "dealt_at": DEALT, "held_at": RECEIVED, "rules": 2, "seal": DIGEST,
    }  # fmt: skip
    if "message_id" not in changes:
        values["message_id"] = new_message().pk
    return tables.Hold.objects.create(**values | changes)


def new_lock(**changes: Any) -> tables.Lock:
    values: dict[str, Any] = {
        "table": the_table(LINKED), "reference": "by hand", "locked_at": DEALT, "counts_at": DEALT, "gaming_date": DAY,
        "result": b"{}", "put_in": b"{}",
    }  # fmt: skip
    if "sequence" not in changes:
        event = new_event(kind="lock")
        values |= {"stream": event.stream, "sequence": event.sequence}
    if "message_id" not in changes:
        values["message_id"] = new_message(kind="lock", reference=changes.get("reference", "by hand")).pk
    return tables.Lock.objects.create(**values | changes)


def new_lock_set_aside(**changes: Any) -> tables.LockSetAside:
    values: dict[str, Any] = {
        "table": the_table(LINKED), "reference": "by hand", "outcome": "held", "result": b"{}", "locked_at": DEALT,
        "decided_at": RECEIVED, "rules": 2, "seal": DIGEST,
    }  # fmt: skip
    if "message_id" not in changes:
        values["message_id"] = new_message(kind="lock").pk
    return tables.LockSetAside.objects.create(**values | changes)


def new_edition(**changes: Any) -> jackpot.ProgressiveEdition:
    values: dict[str, Any] = {
        "code": "other", "wager_cents": 100, "definition": {}, "digest": DIGEST, "published_at": OPENED,
    }  # fmt: skip
    return jackpot.ProgressiveEdition.objects.create(**values | changes)


def new_voided_round(**changes: Any) -> tables.VoidedRound:
    """Of R-1, by the event that it was itself: nothing says which kind of event voids."""
    values: dict[str, Any] = {"stream": the_stream(), "sequence": 1, "event": 1, "at": RECEIVED, "by": "ada"}
    return tables.VoidedRound.objects.create(**values | changes)


def new_envy_end(**changes: Any) -> tables.EnvyEnd:
    """Of the first payout of R-1, likewise."""
    values: dict[str, Any] = {
        "stream": the_stream(), "sequence": 1, "line": 1, "state": "paid", "event": 1, "at": RECEIVED, "by": "ada",
    }  # fmt: skip
    return tables.EnvyEnd.objects.create(**values | changes)


def new_envy_unclaimed(**changes: Any) -> tables.EnvyUnclaimed:
    """Of the first payout of R-1, likewise."""
    values: dict[str, Any] = {
        "stream": the_stream(), "sequence": 1, "line": 1, "event": 1, "at": RECEIVED, "by": "ada",
    }  # fmt: skip
    return tables.EnvyUnclaimed.objects.create(**values | changes)


def new_week_sheet(**changes: Any) -> tables.WeekSheet:
    """The sheet of the week from 23 November 2026."""
    values: dict[str, Any] = {
        "first": date(2026, 11, 23), "content": b"{}", "digest": sha256(b"{}").digest(), "made_at": RECEIVED, "by": "ada",
    }  # fmt: skip
    return tables.WeekSheet.objects.create(**values | changes)


def new_week_review(**changes: Any) -> tables.WeekReview:
    """A signature under a sheet."""
    values: dict[str, Any] = {"at": RECEIVED, "by": "ada", "note": "as usual"}
    return tables.WeekReview.objects.create(**values | changes)
