"""Attempts to get past what guards the tables of `accounting`."""

from __future__ import annotations

from datetime import UTC, datetime

from accounting import models as accounting
from tests.services.attempts.rows import DIGEST, against, done_beside, new_event, new_transfer, the_stream
from tests.services.house import (
    House,
    run,
)


@against("a_service_serves_one_property")
def _second_property(house: House) -> object:
    return run('UPDATE accounting_property SET "only" = false')


@against("a_house_number_is_of_plain_signs")
def _number_that_is_a_formula(house: House) -> object:
    account = accounting.Account.objects.get(code="cage")
    return accounting.HouseNumber.objects.create(account=account, number="=1+1", set_at=datetime.now(UTC), set_by="ada")


@against("a_stream_counts_from_one")
def _stream_at_nought(house: House) -> object:
    return accounting.Stream.objects.create(code="s", head=DIGEST, next_sequence=0)


@against("an_event_is_numbered_from_the_opening")
def _event_before_the_opening(house: House) -> object:
    # PostgreSQL names the first check in the order of names; a negative opening breaks this one alone.
    run("ALTER TABLE accounting_event DROP CONSTRAINT only_an_opening_is_number_zero")
    return new_event(sequence=-1)


@against("only_an_opening_is_number_zero")
def _second_opening(house: House) -> object:
    return new_event(kind="opened")


@against("only_an_opening_is_number_zero")
def _round_number_nought(house: House) -> object:
    stream = accounting.Stream.objects.create(code="s", head=DIGEST)
    return new_event(stream=stream, sequence=0)


@against("an_event_is_on_a_stream")
def _event_on_no_stream(house: House) -> object:
    return new_event(stream_id=999_999)


@against("an_event_is_of_a_known_kind")
def _event_of_another_kind(house: House) -> object:
    return new_event(kind="party")


@against("an_event_names_its_rules_edition")
def _event_under_no_rules(house: House) -> object:
    return new_event(rules=0)


@against("an_event_that_is_no_messages_has_a_document")
def _act_without_documents(house: House) -> object:
    return new_event(kind="level.adjust")


@against("a_document_belongs_to_an_event")
def _documents_of_nothing(house: House) -> object:
    return accounting.Document.objects.create(stream=the_stream(), sequence=4711, cause=b"{}", result=b"{}")


@against("an_account_is_of_the_chart")
def _account_beside_the_chart(house: House) -> object:
    return accounting.Account.objects.create(code="bribes", kind="bribes")


@against("a_transfer_has_a_reason_of_the_list")
def _moved_for_no_reason(house: House) -> object:
    return new_transfer(reason="because")


@against("an_owner_has_one_account_of_a_kind")
def _second_cage(house: House) -> object:
    return accounting.Account.objects.create(code="cage 2", kind="cage")


@against("transfer_amount_is_positive")
def _nothing_moved(house: House) -> object:
    return new_transfer(amount_cents=0)


@against("transfer_amount_is_positive")
def _moved_backwards(house: House) -> object:
    return new_transfer(amount_cents=-5)


@against("transfer_moves_between_two_accounts")
def _to_itself(house: House) -> object:
    cage = accounting.Account.objects.get(code="cage")
    return new_transfer(debit=cage, credit=cage)


@against("a_transfer_belongs_to_an_event")
def _transfer_of_no_event(house: House) -> object:
    return new_transfer(sequence=4711)


@against("a_transfer_debits_an_account")
def _debit_of_nobody(house: House) -> object:
    return new_transfer(debit_id=999_999)


@against("a_transfer_credits_an_account")
def _credit_to_nobody(house: House) -> object:
    return new_transfer(credit_id=999_999)


@against("totals_only_grow_from_zero")
def _negative_total(house: House) -> object:
    return run("UPDATE accounting_total SET debit_cents = -1")


@against("an_audit_record_follows_the_last")
def _record_out_of_the_chain(house: House) -> object:
    now = datetime(2026, 11, 28, tzinfo=UTC)
    return accounting.AuditRecord.objects.create(
        recorded_at=now, actor="a", action="b", subject="c", previous=b"\1" * 32, hash=b"\2" * 32
    )


@against("the_audit_trail_has_one_head")
def _second_head(house: House) -> object:
    return accounting.AuditHead.objects.create(only=False, records=0, hash=DIGEST)


@against("the_audit_head_moves_with_its_records")
def _head_moved_by_hand(house: House) -> object:
    return accounting.AuditHead.objects.update(records=accounting.AuditHead.objects.get().records + 1)


@against("the_audit_head_moves_with_its_records")
def _head_moved_by_two_with_something_else(house: House) -> object:
    done_beside("accounting_gamingday", "UPDATE accounting_audithead SET records = records + 2")
    return run("INSERT INTO accounting_gamingday (date) VALUES (now())")


@against("the_audit_head_stays")
def _head_removed(house: House) -> object:
    return accounting.AuditHead.objects.all().delete()


@against("the_audit_head_stays")
def _head_truncated(house: House) -> object:
    return run("TRUNCATE accounting_audithead")
