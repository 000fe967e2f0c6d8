"""Attempts to get past what guards slips: their numbers, their amounts, what became of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import Any

from accounting.slips import models as slips
from tables.models import Payout
from tests.services.attempts.rows import against, done_beside
from tests.services.house import LINKED, House, rows, royal, run

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)
FACTS = b"{}"


def new_slip(house: House, **changes: Any) -> slips.Slip:
    """The next slip for the envy of a royal, played now if it was not before."""
    if not Payout.objects.filter(kind="envy").exists():
        house.play(royal("R-1"))
    payout = Payout.objects.filter(kind="envy").first()
    assert payout is not None, "a royal earns envy"
    last = slips.Slip.objects.first()
    values: dict[str, Any] = {
        "number": 1 if last is None else last.number + 1, "stream_id": payout.stream_id, "sequence": payout.sequence,
        "line": payout.line, "subject": f"{LINKED}/R-1/1/3", "kind": "envy", "table": LINKED, "link": "ms-mg01", "seat": 1,
        "hand": "royal_flush", "cents": payout.cents, "method": "cage", "form": "cash", "prepared_by": "ada",
        "issued_at": AT, "gaming_date": date(2026, 11, 27), "complete": True, "replaces": last, "facts": FACTS,
        "digest": sha256(FACTS).digest(),
    }  # fmt: skip
    return slips.Slip.objects.create(**values | changes)


def new_void(house: House, **changes: Any) -> slips.SlipVoid:
    values: dict[str, Any] = {"at": AT, "by": "ada", "approved_by": "ben, cy", "reason": "torn"}
    if "slip" not in changes:
        values["slip"] = new_slip(house)
    return slips.SlipVoid.objects.create(**values | changes)


def new_print(house: House, **changes: Any) -> slips.SlipPrint:
    values: dict[str, Any] = {"copy": 0, "at": AT, "by": "ada", "content": b"x", "digest": sha256(b"x").digest()}
    if "slip" not in changes:
        values["slip"] = new_slip(house)
    return slips.SlipPrint.objects.create(**values | changes)


def new_particulars(**changes: Any) -> slips.Particulars:
    values: dict[str, Any] = {
        "subject": "x", "edition": 1, "payee": 1, "share_cents": 1, "has_number": True, "sealed": b"x", "key": "k",
        "at": AT, "by": "ada",
    }  # fmt: skip
    return slips.Particulars.objects.create(**values | changes)


def new_form(house: House, **changes: Any) -> slips.TaxForm:
    values: dict[str, Any] = {
        "edition": 1, "particulars": 0, "payee": 1, "paid_on": date(2026, 11, 27), "terms_from": date(2026, 1, 1),
        "paid_cents": 5, "wager_cents": 1, "winnings_cents": 4, "withholding": "none", "withheld_cents": 0, "at": AT,
        "by": "ada",
    }  # fmt: skip
    if "slip" not in changes:
        values["slip"] = new_slip(house)
    return slips.TaxForm.objects.create(**values | changes)


def slipped(house: House) -> None:
    """A row in every table of slips, all of them right; the envy of R-1 at MS-101 is paid already."""
    slip = new_slip(house)
    new_form(house, slip=slip)
    new_print(house, slip=slip)
    new_particulars()
    new_payer()
    (event,) = [sequence for (sequence,) in _events("payout.pay")]
    slips.SlipPayment.objects.create(slip=slip, event=event, at=AT, by="ada")
    new_void(house, slip=slip)


def _events(kind: str) -> list[tuple[int]]:
    return rows("SELECT sequence FROM accounting_event WHERE kind = %s", kind)


@against("slips_have_one_counter")
def _two_counters(house: House) -> object:
    return slips.SlipCounter.objects.create(only=False, last=0)


@against("the_counter_moves_with_its_slips")
def _counter_moved(house: House) -> object:
    return slips.SlipCounter.objects.update(last=5)


@against("the_counter_moves_with_its_slips")
def _counter_moved_by_two_with_something_else(house: House) -> object:
    done_beside("slips_particulars", "UPDATE slips_slipcounter SET last = last + 2")
    return new_particulars()


@against("the_counter_of_slips_stays")
def _counter_truncated(house: House) -> object:
    return run("TRUNCATE slips_slipcounter")


@against("the_counter_of_slips_stays")
def _counter_gone(house: House) -> object:
    return run("DELETE FROM slips_slipcounter")


@against("slips_are_numbered_without_a_gap")
def _gap(house: House) -> object:
    return new_slip(house, number=2)


@against("slips_are_numbered_from_one")
def _slip_nought(house: House) -> object:
    run("ALTER TABLE slips_slip DISABLE TRIGGER USER")
    return new_slip(house, number=0)


@against("a_payout_has_one_standing_slip")
def _two_slips_that_stand(house: House) -> object:
    new_slip(house)
    return new_slip(house)


@against("a_slip_replaces_the_last_of_its_payout")
def _replaces_nothing(house: House) -> object:
    new_void(house)
    return new_slip(house, replaces=None)


@against("a_slip_follows_what_it_replaces")
def _replaces_itself(house: House) -> object:
    run("ALTER TABLE slips_slip DISABLE TRIGGER USER")
    return new_slip(house, number=1, replaces_id=1)


@against("a_slip_says_what_its_payout_comes_to")
def _a_cent_more(house: House) -> object:
    return new_slip(house, cents=100_001)


@against("a_slip_says_what_its_payout_comes_to")
def _for_a_round_that_is_not_there(house: House) -> object:
    return new_slip(house, sequence=4711)


@against("a_slip_says_what_its_payout_comes_to")
def _for_a_line_that_is_not_there(house: House) -> object:
    return new_slip(house, line=99)


@against("a_slip_says_what_its_payout_comes_to")
def _for_a_hit_that_was_envy(house: House) -> object:
    return new_slip(house, kind="hit")


@against("a_slip_says_what_its_payout_comes_to")
def _for_the_same_place_of_another_stream(house: House) -> object:
    return new_slip(house, stream_id=house.stream("twin"))


@against("a_slip_is_for_money")
def _slip_of_nothing(house: House) -> object:
    run("ALTER TABLE slips_slip DISABLE TRIGGER USER")
    return new_slip(house, cents=0)


@against("a_slip_is_for_a_hit_or_envy")
def _slip_for_a_meal(house: House) -> object:
    run("ALTER TABLE slips_slip DISABLE TRIGGER USER")
    return new_slip(house, kind="meal")


@against("a_slip_is_paid_from_cage_or_table")
def _from_the_bank(house: House) -> object:
    return new_slip(house, method="bank", form="chips")


@against("a_slip_is_paid_in_a_known_form")
def _in_gold(house: House) -> object:
    return new_slip(house, form="gold")


@against("a_table_pays_in_chips")
def _cash_from_a_table(house: House) -> object:
    return new_slip(house, method="table")


@against("a_slip_is_digested_as_it_is")
def _other_facts(house: House) -> object:
    return new_slip(house, facts=b"[]")


@against("a_void_slip_says_why")
def _void_for_nothing(house: House) -> object:
    return new_void(house, reason="")


@against("somebody_agrees_to_a_void_slip")
def _void_alone(house: House) -> object:
    return new_void(house, approved_by="")


@against("nobody_agrees_to_their_own_void")
def _own_void(house: House) -> object:
    return new_void(house, approved_by="ben, ada")


@against("a_void_slip_is_not_paid")
def _paid_void(house: House) -> object:
    slip = new_void(house).slip
    _, event = house.act("payout.pay", slip.subject, method="cage")
    return slips.SlipPayment.objects.create(slip=slip, event=event, at=AT, by="ada")


@against("a_slip_is_paid_by_an_event")
def _paid_by_nothing(house: House) -> object:
    return slips.SlipPayment.objects.create(slip=new_slip(house), event=1, at=AT, by="ada")


@against("a_slip_is_paid_by_an_event")
def _paid_by_its_round(house: House) -> object:
    slip = new_slip(house)
    _, event = house.act("payout.pay", slip.subject, method="cage")
    return slips.SlipPayment.objects.create(slip=slip, event=event - 1, at=AT, by="ada")


@against("a_slip_is_paid_by_an_event")
def _paid_by_what_was_unclaimed(house: House) -> object:
    slip = new_slip(house)
    _, event = house.act("payout.unclaimed", slip.subject, at=house.now + timedelta(days=1))
    return slips.SlipPayment.objects.create(slip=slip, event=event, at=AT, by="ada")


@against("a_slip_is_paid_by_an_event")
def _paid_by_what_paid_another(house: House) -> object:
    slip = new_slip(house)
    house.play(royal("R-2"))
    subject = f"{LINKED}/R-2/1/3"
    new_slip(house, sequence=slip.sequence + 1, subject=subject, replaces=None)
    _, event = house.act("payout.pay", subject, method="cage")
    return slips.SlipPayment.objects.create(slip=slip, event=event, at=AT, by="ada")


@against("prints_are_numbered_without_a_gap")
def _duplicate_before_the_original(house: House) -> object:
    return new_print(house, copy=1)


@against("the_original_is_number_zero")
def _print_below_nothing(house: House) -> object:
    run("ALTER TABLE slips_slipprint DISABLE TRIGGER prints_are_numbered_without_a_gap")
    return new_print(house, copy=-1)


@against("a_slip_is_printed_once_under_a_number")
def _two_originals(house: House) -> object:
    run("ALTER TABLE slips_slipprint DISABLE TRIGGER prints_are_numbered_without_a_gap")
    return new_print(house, slip=new_print(house).slip)


@against("a_print_is_digested_as_it_is")
def _other_print(house: House) -> object:
    return new_print(house, content=b"y")


@against("a_payee_stands_once_in_an_edition")
def _payee_twice(house: House) -> object:
    new_particulars()
    return new_particulars()


@against("payees_and_editions_count_from_one")
def _payee_nought(house: House) -> object:
    return new_particulars(payee=0)


@against("a_share_of_a_win_is_money")
def _share_of_nothing(house: House) -> object:
    return new_particulars(share_cents=0)


@against("a_payee_has_one_form_of_an_edition")
def _form_twice(house: House) -> object:
    return new_form(house, slip=new_form(house).slip)


@against("forms_count_from_one")
def _form_nought(house: House) -> object:
    return new_form(house, edition=0)


@against("a_form_withholds_by_a_known_rule")
def _form_of_another_rule(house: House) -> object:
    return new_form(house, withholding="other", withheld_cents=1)


@against("a_form_withholds_where_its_rule_says_so")
def _form_that_withholds_by_none(house: House) -> object:
    return new_form(house, withheld_cents=1)


@against("less_is_withheld_than_paid")
def _all_withheld(house: House) -> object:
    return new_form(house, withholding="regular", withheld_cents=5)


@against("who_won_is_kept_for_its_term")
def _who_won_emptied_early(house: House) -> object:
    return new_particulars().__class__.objects.update(sealed=b"")


@against("who_won_is_kept_for_its_term")
def _who_won_changed(house: House) -> object:
    return new_particulars().__class__.objects.update(by="somebody else")


def new_payer(**changes: Any) -> slips.Payer:
    values: dict[str, Any] = {
        "counts_from": date(2026, 1, 1), "name": "Boston Harbor LLC", "address": "1 Pier, Boston MA 02110",
        "telephone": "617 555 0100", "number": "12-3456789", "at": AT, "by": "ada",
    }  # fmt: skip
    return slips.Payer.objects.create(**values | changes)


@against("a_payer_has_an_employers_number")
def _payer_under_a_persons_number(house: House) -> object:
    return new_payer(number="123-45-678")


@against("a_payer_is_named_with_an_address")
def _payer_without_an_address(house: House) -> object:
    return new_payer(address="")
