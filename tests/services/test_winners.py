"""Who won, and the tax forms of it: sealed, opened on record, worked out for slips (R108–R113)."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import Any

import pypdfium2
import pytest

from accounting.models import AuditRecord
from accounting.office.services import proposals
from accounting.queries import trial_balance
from accounting.reporting.shape import Asked
from accounting.rules.acts import ActRefused
from accounting.services import audit
from accounting.slips import queries, trail
from accounting.slips.documents import money
from accounting.slips.documents.tax_forms import F5754, W2G
from accounting.slips.models import Particulars, Slip, TaxForm
from accounting.slips.reports import TAX
from accounting.slips.rules import payer as payer_rules
from accounting.slips.rules.winners import FIELDS, masked, written
from accounting.slips.services import letting_go, winners
from devices.audit.findings import Difference
from devices.audit.slips import verify_slips
from jackpot.config.data_folder import DataFolder
from tables.services import slips
from tests.services.desk import ANYBODY
from tests.services.house import LINKED, TWIN, House, message, refused_by, rows, royal, run, seat, two_hits, verify
from tests.services.played import tamper
from tests.services.test_slips import AT, CAGE, ENVY, HIT, approved, ask, shown, voided

KEY, OTHER_KEY = "A" * 43, "B" * 43


@pytest.fixture(autouse=True)
def _key(settings: Any) -> None:
    settings.PATRON_KEY = KEY


@pytest.fixture
def won(house: House) -> House:
    """Seat 3 has won a royal of ms-mg01, seat 1 its envy; the hit is approved."""
    house.play(royal("R-1"))
    approved(house)
    return house


def payee(share_cents: int, **changes: Any) -> dict[str, Any]:
    return {
        "name": "Pat Winner", "address": "1 Main Street, Boston MA 02110", "taxpayer_number": "123-45-6789",
        "first_id": "MA driver S1234567", "second_id": "passport 555", "share_cents": share_cents,
    } | changes  # fmt: skip


def take_down(subject: str, *payees: dict[str, Any], by: str = CAGE.name) -> list[Particulars]:
    return winners.take_down(subject, list(payees), by=by, at=AT, random=os.urandom)


def award(hit: str = HIT) -> int:
    return int(rows("SELECT paid_cents FROM jackpot_hit WHERE number = %s", int(hit[-6:]))[0][0])


def test_who_won_is_sealed_and_every_look_is_on_record_first(won: House) -> None:
    take_down(HIT, payee(award()))
    (kept,) = rows("SELECT sealed FROM slips_particulars")[0]
    assert not any(word in bytes(kept) for word in (b"Pat", b"123456789", b"passport"))
    everything = "".join(str(row) for row in AuditRecord.objects.values_list("subject", "detail"))
    assert "Pat" not in everything and "6789" not in everything, "the trail says that, never who"
    (found,) = winners.look(HIT, by="controller.one", at=AT, reason="year end")
    assert (found["name"], found["taxpayer_number"], found["share_cents"]) == ("Pat Winner", "123456789", award())
    last = AuditRecord.objects.order_by("-id").values_list("action", "subject", "actor", "detail").first()
    assert last == ("look at particulars", HIT, "controller.one", {"edition": 1, "payees": 1, "reason": "year end"})
    verify_slips()


@pytest.mark.parametrize(("reason", "subject", "code"), [("", HIT, "missing_field"), ("why", ENVY, "unknown_subject")])
def test_a_look_without_a_reason_or_a_winner_shows_nothing(won: House, reason: str, subject: str, code: str) -> None:
    take_down(HIT, payee(award()))
    with pytest.raises(ActRefused) as refused:
        winners.look(subject, by="controller.one", at=AT, reason=reason)
    assert refused.value.code == code
    assert not AuditRecord.objects.filter(action="look at particulars").exists()


def test_what_is_sealed_opens_with_its_own_key_at_its_own_place_only(won: House, settings: Any) -> None:
    take_down(HIT, payee(award()))
    settings.PATRON_KEY = OTHER_KEY
    with pytest.raises(ActRefused, match="sealed with key"):
        winners.look(HIT, by="x", at=AT, reason="why")
    settings.PATRON_KEY = KEY
    tamper(f"UPDATE slips_particulars SET subject = '{ENVY}'")
    with pytest.raises(ActRefused, match="does not open"):
        winners.look(ENVY, by="x", at=AT, reason="why")


@pytest.mark.parametrize(("key", "said"), [("", "not set"), ("short", "not 32 bytes"), ("ü" * 43, "not 32 bytes")])
def test_without_a_key_nobody_is_taken_down(won: House, settings: Any, key: str, said: str) -> None:
    settings.PATRON_KEY = key
    with pytest.raises(ActRefused, match=f"JACKPOT_PATRON_KEY is {said}"):
        take_down(HIT, payee(award()))
    assert not Particulars.objects.exists()


def test_the_key_is_made_once_beside_the_data_for_its_owner_alone(tmp_path: Any) -> None:
    key = DataFolder(tmp_path / "data").patron_key()
    file = tmp_path / "data" / "patron_key"
    assert file.stat().st_mode & 0o777 == 0o600 and len(key) == 43
    file.chmod(0o644)
    assert DataFolder(tmp_path / "data").patron_key() == key
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        *(({name: " "}, "missing_field", f"/payees/0/{name}") for name in FIELDS if name != "taxpayer_number"),
        *(({name: "x" * (longest + 1)}, "invalid_value", f"/payees/0/{name}") for name, (_, longest) in FIELDS.items()),
        ({"taxpayer_number": "12345678"}, "invalid_value", "/payees/0/taxpayer_number"),
        ({"taxpayer_number": "١٢٣٤٥٦٧٨٩"}, "invalid_value", "/payees/0/taxpayer_number"),
        ({"name": "a\nb"}, "invalid_value", "/payees/0/name"),
        ({"name": 5}, "invalid_value", "/payees/0/name"),
        ({"second_id": "MA driver S1234567"}, "invalid_value", "/payees/0/second_id"),
        ({"share_cents": 0}, "invalid_value", "/payees/0/share_cents"),
        ({"share_cents": 1.5}, "invalid_value", "/payees/0/share_cents"),
        ({"share_cents": 99_999}, "shares_differ", "/payees"),
        ({"share_cents": 100_001}, "shares_differ", "/payees"),
        ({"age": 50}, "unknown_field", "/payees/0/age"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_down_is_refused_by_field_and_leaves_nothing(
    won: House, changes: dict[str, Any], code: str, pointer: str
) -> None:
    with pytest.raises(ActRefused) as refused:
        take_down(ENVY, payee(100_000) | changes)
    assert (refused.value.code, refused.value.pointer) == (code, pointer)
    assert not Particulars.objects.exists()


@pytest.mark.parametrize("payees", [None, [], {}, ["x"], [payee(1)] * 21])
def test_a_list_of_payees_is_expected(won: House, payees: Any) -> None:
    with pytest.raises(ActRefused):
        winners.take_down(ENVY, payees, by="x", at=AT, random=os.urandom)


def test_a_jackpot_of_more_than_5000_has_tax_withheld_and_a_form_with_its_slip(won: House) -> None:
    take_down(HIT, payee(award()))
    ask("slip.issue", HIT, CAGE, method="cage", form="cheque")
    ask("hit.pay", HIT, CAGE, method="cage")
    slip = shown(1)
    proceeds = award() - 100
    withheld = (proceeds * 24 + 50) // 100
    (form,) = slip["forms"]
    assert (form["winnings_cents"], form["wager_cents"], form["withholding"], form["withheld_cents"]) == (
        proceeds, 100, "regular", withheld
    )  # fmt: skip
    assert (slip["withheld_cents"], slip["net_cents"], slip["forms_open"]) == (withheld, award() - withheld, False)
    assert str(form["terms_from"]) == "2026-01-01" and str(form["paid_on"]) == "2026-11-27", "the day at the property"
    cage = rows(
        "SELECT sum(amount_cents) FROM accounting_transfer t JOIN accounting_account a ON a.id = t.credit_id"
        " WHERE a.code = 'cage' AND t.reason = 'payment'"
    )
    assert cage == [(award(),)], "the ledger books the whole (CONTRACT §7)"
    verify_slips()


@pytest.mark.parametrize(("method", "account"), [("cage", "cage"), ("table", f"table:{LINKED}:inventory")])
def test_what_is_withheld_is_owed_to_the_revenue_service_from_the_payment_on(
    busy_house: House, method: str, account: str
) -> None:
    busy_house.play(royal("R-1"))
    approved(busy_house)
    take_down(HIT, payee(award()))
    before = {one.code: one.after_cents for one in trial_balance(date.max)}
    payer = ANYBODY["cage" if method == "cage" else "supervisor"]
    body = {"act": "hit.pay", "subject": HIT, "payload": {"method": method}, "reason": "won"}
    foreseen = proposals.judge(body, by=payer, at=AT).foreseen
    withheld = ((award() - 100) * 24 + 50) // 100
    dollars = [f"${cents // 100:,}.{cents % 100:02d}" for cents in (withheld, award() - withheld)]
    assert [(row.what, row.after) for row in foreseen.rows][-3:] == [
        ("Form W-2G", "1, regular withholding"), ("Withheld", dollars[0]), ("Handed over", dollars[1]),
    ]  # fmt: skip
    paid = ask("hit.pay", HIT, payer, method=method)
    after = {one.code: one.after_cents for one in trial_balance(date.max)}
    moved = {code: cents - before.get(code, 0) for code, cents in after.items() if cents != before.get(code, 0)}
    assert moved == {"awards_payable": award(), account: withheld - award(), "withholding_payable": -withheld}
    outcome = paid.outcome
    assert outcome.detail == f"slip 000001, {dollars[1]} handed over, {dollars[0]} of tax withheld"
    (event,) = rows("SELECT sequence, subject FROM accounting_event WHERE kind = 'hit.withhold'")
    assert outcome.sequence is not None and event == (outcome.sequence + 1, HIT)
    voided(1)
    assert rows("SELECT count(*) FROM accounting_event WHERE kind = 'hit.withhold'") == [(1,)], "it is withheld once"
    said = TAX.remarks(Asked(AT.date(), AT.date(), AT, {}))
    assert said[-1].endswith("agrees with all slips that were paid."), said
    verify()


LONG_AGO = AT - timedelta(days=5 * 366)


def test_who_won_is_let_go_of_after_its_term_on_record_and_the_slip_verifies_as_before(won: House) -> None:
    winners.take_down(HIT, [payee(award())], by=CAGE.name, at=LONG_AGO, random=os.urandom)
    take_down(ENVY, payee(100_000))
    ask("slip.issue", HIT, CAGE, method="cage", form="cheque")
    before = shown(1)
    assert letting_go.let_go(AT) == 1
    assert letting_go.let_go(AT) == 0, "once"
    verify_slips()
    assert (shown(1)["forms"], shown(1)["digest"]) == (before["forms"], before["digest"])
    assert rows("SELECT subject, octet_length(sealed) > 0, share_cents FROM slips_particulars ORDER BY subject") == [
        (ENVY, True, 100_000), (HIT, False, award()),
    ]  # fmt: skip
    record = AuditRecord.objects.get(action="let go of who won")
    assert (record.actor, record.subject, len(record.detail["digests"])) == ("the term", HIT, 1)
    with pytest.raises(ActRefused) as refused:
        winners.look(HIT, by="ann", at=AT, reason="filing")
    assert refused.value.code == "let_go"
    assert [one["name"] for one in winners.look(ENVY, by="ann", at=AT, reason="filing")] == ["Pat Winner"]


def test_who_won_is_let_go_of_payout_by_payout(won: House) -> None:
    for subject, cents in ((HIT, award()), (ENVY, 100_000)):
        winners.take_down(subject, [payee(cents)], by=CAGE.name, at=LONG_AGO, random=os.urandom)
    assert letting_go.let_go(AT) == 2
    records = AuditRecord.objects.filter(action="let go of who won").order_by("id")
    assert [(one.subject, len(one.detail["digests"])) for one in records] == [(ENVY, 1), (HIT, 1)]


def test_who_won_stays_until_four_years_after_its_payment(won: House) -> None:
    winners.take_down(HIT, [payee(award())], by=CAGE.name, at=LONG_AGO, random=os.urandom)
    ask("hit.pay", HIT, CAGE, method="cage")
    assert letting_go.let_go(AT) == 0
    for change in ("sealed = ''", "by = 'x', sealed = ''", "sealed = 'x'"):
        with refused_by("who_won_is_kept_for_its_term"):
            run(f"UPDATE slips_particulars SET {change}")
    with refused_by("append_only"):
        run("DELETE FROM slips_particulars")
    with refused_by("append_only"):
        run("TRUNCATE slips_particulars CASCADE")


@pytest.mark.parametrize(
    "change", ["share_cents = share_cents + 1", "by = 'x'", "sealed = 'x'", "sealed = '', by = 'x'"]
)
def test_with_who_won_nothing_else_of_it_may_go(won: House, change: str) -> None:
    winners.take_down(HIT, [payee(award())], by=CAGE.name, at=LONG_AGO, random=os.urandom)
    with refused_by("who_won_is_kept_for_its_term"):
        run(f"UPDATE slips_particulars SET {change}")


def test_verify_finds_who_won_that_was_emptied_before_its_term(won: House) -> None:
    take_down(HIT, payee(award()))
    (row,) = Particulars.objects.all()
    was = trail.digest_of(row)
    tamper("UPDATE slips_particulars SET sealed = ''")
    with pytest.raises(Difference, match="as the audit trail has it"):
        verify_slips()
    row.sealed = b""
    audit.record(at=AT, actor="x", action=trail.LET_GO, subject=HIT, detail={"digests": {trail.digest_of(row): was}})
    with pytest.raises(Difference, match="its term over when it was let go of"):
        verify_slips()


def test_a_slip_waits_for_who_won_where_tax_is_withheld(won: House) -> None:
    with pytest.raises(ActRefused) as refused:
        ask("slip.issue", HIT, CAGE, method="cage", form="cheque")
    assert refused.value.code == "particulars_missing"


def test_a_share_of_less_than_the_floor_has_no_form(won: House) -> None:
    ask("payout.pay", ENVY, CAGE, method="cage")
    assert shown(1)["forms"] == [] and not TaxForm.objects.exists()


def test_a_win_that_is_shared_has_a_form_for_each_and_they_total_it(won: House) -> None:
    cents = award()
    first = cents // 3
    take_down(HIT, payee(first), payee(cents - first, name="Sam Other", taxpayer_number=""))
    ask("slip.issue", HIT, CAGE, method="cage", form="cheque")
    forms = shown(1)["forms"]
    assert [form["paid_cents"] for form in forms] == [first, cents - first]
    assert sum(form["withheld_cents"] for form in forms) == ((cents - 100) * 24 + 50) // 100
    assert {form["withholding"] for form in forms} == {"regular"}
    assert len(winners.look(HIT, by="x", at=AT, reason="why")) == 2


def words_of(content: bytes) -> str:
    """The text of a PDF."""
    document = pypdfium2.PdfDocument(content)
    return " ".join(" ".join(page.get_textpage().get_text_range().split()) for page in document)


def test_tax_forms_are_printed_alike_as_long_as_they_are_the_same_and_each_print_is_a_look(won: House) -> None:
    cents = award()
    first = cents // 3
    take_down(HIT, payee(first), payee(cents - first, name="Sam Other", taxpayer_number="12-3456789"))
    ask("hit.pay", HIT, CAGE, method="cage")
    forms = shown(1)["forms"]
    printed = [
        winners.print_form(HIT, kind, number, by="ann", at=AT, reason="filing")
        for kind, number in ((W2G, 1), (W2G, 2), (F5754, 1))
    ]
    assert [name for name, _ in printed] == ["w-2g-000001-1.pdf", "w-2g-000001-2.pdf", "5754-000001.pdf"]
    for form, (_, content), said in zip(
        forms, printed, (("Pat Winner", "123-45-6789"), ("Sam Other", "12-3456789")), strict=False
    ):
        text = words_of(content)
        for word in (*said, "11/27/2026", money(form["winnings_cents"]), money(form["withheld_cents"]), "slip 000001"):
            assert word in text, word
    both = words_of(printed[2][1])
    for word in ("Pat Winner", "Sam Other", money(first), money(cents - first), money(cents), "123-45-6789"):
        assert word in both, word
    again = winners.print_form(HIT, W2G, 1, by="con", at=AT + timedelta(days=400), reason="again")
    assert again == printed[0], "to the byte, whoever prints it and when"
    looks = AuditRecord.objects.filter(action="look at particulars").order_by("id")
    assert [(look.actor, look.detail["document"]) for look in looks] == [
        ("ann", "w-2g-000001-1"), ("ann", "w-2g-000001-2"), ("ann", "5754-000001"), ("con", "w-2g-000001-1"),
    ]  # fmt: skip
    assert looks[0].detail["sha256"] == sha256(again[1]).hexdigest()


PAYER: dict[str, Any] = {
    "name": "Harbor Gaming LLC", "address": "1 Long Wharf, Boston MA 02110", "telephone": "617 555 0100",
    "number": "04-1234567", "counts_from": "2026-01-01",
}  # fmt: skip


def test_the_payer_is_stated_by_two_of_the_books_and_stands_on_every_form(won: House) -> None:
    cents = award()
    take_down(HIT, payee(cents - 5), payee(5, name="Sam Other", taxpayer_number="12-3456789"))
    ask("hit.pay", HIT, CAGE, method="cage")

    def words(kind: str) -> str:
        return words_of(winners.print_form(HIT, kind, 1, by="ann", at=AT, reason="filing")[1])

    assert "filled in by the house" in words(W2G)
    asked = ask("payer.state", "BOS", ANYBODY["accounting"], **PAYER)
    assert "04-1234567" not in words(W2G), "it waits for the controller"
    proposals.approve(asked.pk, by=ANYBODY["controller"], at=AT)
    for kind in (W2G, F5754):
        said = words(kind)
        for word in (*PAYER.values(),):
            assert word in said or word == PAYER["counts_from"], (kind, word)
    moved = PAYER | {"address": "9 New Street, Boston MA 02110", "counts_from": "2026-11-28", "state_number": "MA 77"}
    proposals.approve(ask("payer.state", "BOS", ANYBODY["accounting"], **moved).pk, by=ANYBODY["controller"], at=AT)
    assert "1 Long Wharf" in words(W2G), "what was paid before keeps the payer of its day"
    stated = queries.last_payer()
    assert stated is not None and stated.address == moved["address"]
    verify_slips()


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        ({"number": "041234567"}, "/payload/number"), ({"number": "123-45-678"}, "/payload/number"),
        ({"counts_from": "1/1/2026"}, "/payload/counts_from"), ({"address": " x"}, "/payload/address"),
        ({"name": "a\tb"}, "/payload/name"), ({"telephone": ""}, "/payload/telephone"),
    ],
)  # fmt: skip
def test_a_payer_that_no_form_could_name_is_refused_by_its_field(said: dict[str, str], pointer: str) -> None:
    with pytest.raises(ActRefused) as refused:
        payer_rules.read(PAYER | said)
    assert refused.value.pointer == pointer
    assert payer_rules.read(PAYER)["counts_from"].isoformat() == "2026-01-01"


@pytest.mark.parametrize(("kind", "number", "reason", "code"), [
    (W2G, 2, "filing", "unknown_subject"), (F5754, 1, "filing", "unknown_subject"), (W2G, 1, " ", "missing_field"),
])  # fmt: skip
def test_a_tax_form_that_is_not_there_is_not_printed(
    won: House, kind: str, number: int, reason: str, code: str
) -> None:
    take_down(HIT, payee(award()))
    ask("hit.pay", HIT, CAGE, method="cage")
    with pytest.raises(ActRefused) as refused:
        winners.print_form(HIT, kind, number, by="ann", at=AT, reason=reason)
    assert refused.value.code == code
    assert not AuditRecord.objects.filter(action="look at particulars").exists()


def test_envy_and_jackpot_of_one_wager_are_one_transaction(house: House) -> None:
    """Seat 4 of the twin gets 1,500 and 5,000 for one wager of 5: 6,495.00 of proceeds, withheld from as one."""
    house.play(two_hits("R-1", table=TWIN))
    for subject, cents in ((f"{TWIN}/R-1/4/6", 150_000), (f"{TWIN}/R-1/4/2", 500_000)):
        take_down(subject, payee(cents))
        asked = ask("slip.issue", subject, CAGE, method="cage", form="cash")
        proposals.approve(asked.pk, by=ANYBODY["supervisor"], at=AT)
    forms = [shown(number)["forms"][0] for number in (1, 2)]
    assert [form["withholding"] for form in forms] == ["regular", "regular"]
    assert sum(form["withheld_cents"] for form in forms) == 649_500 * 24 // 100
    assert sum(form["winnings_cents"] for form in forms) == 649_500


def test_all_that_one_wager_won_is_its_transaction_as_things_stand(house: House) -> None:
    """At each seat its own hit, envy of the others', and a straight that the table paid at once."""
    dealt = seat(1, "2s 7d", progressive=500), seat(2, "As Ks", progressive=500), seat(4, "9h 8h", progressive=500)
    house.play(message("R-1", *dealt, seat(6, "9s 8s", progressive=500), table=TWIN, community="Qs Js Ts"))
    tenth, whole = "twin-000001", "twin-000002"
    cents = dict(rows("SELECT 'twin-00000' || number, paid_cents FROM jackpot_hit"))

    def won(subject: str) -> dict[str, int]:
        found = slips.transaction(subject)
        assert found["wager_cents"] == 500
        return {line["subject"]: line["cents"] for line in found["lines"]}

    def envy(number: int) -> dict[str, int]:
        return {
            f"{TWIN}/R-1/{number}/{place}": cents for place, cents in ((6, 150_000), (2, 500_000)) if place != number
        }

    assert won(tenth) == {tenth: cents[tenth]} | envy(6)
    assert won(whole) == won(f"{TWIN}/R-1/2/6") == {whole: cents[whole]} | envy(2)
    assert won(f"{TWIN}/R-1/4/6") == won(f"{TWIN}/R-1/4/2") == envy(4) | {"progressive": 12_345}
    assert won(f"{TWIN}/R-1/1/6") == envy(1)
    house.act("hit.reject", whole)
    assert won(tenth) == {tenth: cents[tenth]}
    assert won(f"{TWIN}/R-1/2/6") == envy(2)
    assert won(f"{TWIN}/R-1/4/6") == {f"{TWIN}/R-1/4/6": 150_000, "progressive": 12_345}


def test_without_a_number_what_is_reported_is_withheld_from_until_it_is_given(won: House) -> None:
    take_down(HIT, payee(award(), taxpayer_number=""))
    assert Particulars.objects.get().has_number is False
    ask("slip.issue", HIT, CAGE, method="cage", form="cheque")
    assert shown(1)["forms"][0]["withholding"] == "regular", "more than 5,000: the regular rule comes first"


def test_slips_whose_winners_are_not_known_are_listed_the_oldest_first(house: House) -> None:
    house.play(royal("R-1"), royal("R-2"))
    for hit in ("ms-mg01-000002", HIT):
        approved(house, hit)
        ask("hit.pay", hit, CAGE, method="cage")
    assert [str(slip) for slip in queries.subjects_open()] == ["000001", "000002"]


def test_forms_are_worked_out_anew_when_who_won_is_known_and_stay_as_withheld_once_paid(won: House) -> None:
    ask("hit.pay", HIT, CAGE, method="cage")
    before = shown(1)
    assert before["forms_open"] is True and before["forms"][0]["known"] is False
    assert [str(slip) for slip in queries.subjects_open()] == ["000001"]
    assert [item["slip"] for item in queries.page({"noted": "form_open"}).items] == ["000001"]
    cents = award()
    take_down(HIT, payee(1), payee(cents - 1, name="Sam Other", second_id="W-9 signed"))
    after = shown(1)
    assert [form["known"] for form in after["forms"]] == [True, True] and after["forms_open"] is False
    assert after["withheld_cents"] == before["withheld_cents"], "it was handed over so"
    take_down(HIT, payee(cents))
    assert [one["edition"] for one in shown(1)["forms"]] == [before["forms"][0]["edition"] + 2]
    assert shown(1)["withheld_cents"] == before["withheld_cents"]
    assert after["forms"][0]["edition"] == before["forms"][0]["edition"] + 1
    assert queries.subjects_open() == [] and queries.page({"noted": "form_open"}).items == []
    verify_slips()


def test_a_number_that_is_given_after_the_payment_takes_nothing_back_of_what_was_withheld(house: House) -> None:
    """$2,500 to somebody not known yet: backup withholding, which a number would have spared before."""
    house.act("level.adjust", "ms-mg01/major", part="display", cents=1_500_000, reason="correction")
    house.play(message("R-1", seat(6, "9s 8s", progressive=100), community="Qs Js Ts"))
    approved(house)
    ask("hit.pay", HIT, CAGE, method="cage")
    (paid,) = shown(1)["forms"]
    assert (paid["withholding"], paid["withheld_cents"] > 0, paid["known"]) == ("backup", True, False)
    winners.take_down(HIT, [payee(award())], by=CAGE.name, at=AT + timedelta(minutes=5), random=os.urandom)
    (known,) = shown(1)["forms"]
    assert (known["withholding"], known["withheld_cents"], known["known"]) == ("backup", paid["withheld_cents"], True)
    verify_slips()


def test_a_replacement_of_a_paid_slip_keeps_what_was_withheld(won: House) -> None:
    take_down(HIT, payee(award()))
    ask("hit.pay", HIT, CAGE, method="cage")
    voided(1)
    assert shown(2)["withheld_cents"] == shown(1)["withheld_cents"] > 0
    assert queries.totals({}).withheld_cents == queries.withheld_when_paid() == shown(2)["withheld_cents"]
    verify_slips()


def test_a_number_is_written_and_masked() -> None:
    assert (written("123456789"), masked("123456789")) == ("123-45-6789", "•••-••-6789")
    assert (written(""), masked("")) == ("none", "none")


def test_the_database_refuses_forms_that_withhold_all_there_is(won: House) -> None:
    take_down(HIT, payee(award()))
    ask("hit.pay", HIT, CAGE, method="cage")
    values = {"slip": Slip.objects.get(), "edition": 2, "particulars": 0, "payee": 1, "paid_on": AT.date()}
    values |= {"terms_from": AT.date(), "wager_cents": 1, "winnings_cents": 1, "at": AT, "by": "x"}
    with refused_by("less_is_withheld_than_paid"):
        TaxForm.objects.create(**values, paid_cents=5, withholding="regular", withheld_cents=5)
    with refused_by("a_form_withholds_by_a_known_rule"):
        TaxForm.objects.create(**values, paid_cents=5, withholding="other", withheld_cents=1)
    with refused_by("a_form_withholds_where_its_rule_says_so"):
        TaxForm.objects.create(**values, paid_cents=5, withholding="none", withheld_cents=1)


def test_the_day_of_payment_decides_the_terms(house: House) -> None:
    """Envy of 1,000 is reported when it is paid in 2025 and not from 2026 on; the slip was issued the year before."""
    house.play(royal("R-1"))
    at = datetime(2026, 1, 1, 4, 59, tzinfo=UTC)  # 2025 at the property
    ask("slip.issue", f"{LINKED}/R-1/1/3", CAGE, at=at, method="cage", form="cash")
    assert [str(form["terms_from"]) for form in shown(1)["forms"]] == ["2025-01-01"]


def test_slips_and_their_payments_are_told_by_number_and_only_what_was_paid_is_withheld(won: House) -> None:
    """A slip of the day before that is paid last, one that is void, and the one in its place."""
    take_down(HIT, payee(award()))
    ask("slip.issue", HIT, CAGE, method="cage", form="cheque")
    assert shown(1)["withheld_cents"] > 0 == queries.withheld_when_paid()
    later = AT + timedelta(days=1)
    ask("slip.issue", ENVY, CAGE, method="cage", form="cash", at=later)
    voided(2)
    ask("payout.pay", ENVY, CAGE, method="cage", at=later)
    assert queries.withheld_when_paid() == 0
    ask("hit.pay", HIT, CAGE, method="cage", at=later)
    assert queries.withheld_when_paid() == shown(1)["withheld_cents"]
    assert [slip.number for slip in queries.in_order()] == [1, 2, 3]
    assert [(slip.number, payment.slip_id) for slip, payment in queries.payments()] == [(1, 1), (3, 3)]
    assert [queries.is_void(slip) for slip in queries.in_order()] == [False, True, False]
    first, last = queries.last_days()
    assert first is not None and last == first + timedelta(days=1)
    assert queries.missing_numbers() == ([], 3)


def test_forms_come_with_the_latest_slip_first_however_many_are_read_at_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.play(royal("R-1"), royal("R-2"))
    cents = dict(rows("SELECT number, paid_cents FROM jackpot_hit"))
    day, next_day = (date(2026, 11, 27) + timedelta(days=days) for days in range(2))
    for number, (hit, paid) in enumerate(((HIT, AT), ("ms-mg01-000002", AT + timedelta(days=1))), 1):
        approved(house, hit)
        take_down(hit, payee(1), payee(cents[number] - 1))
        ask("hit.pay", hit, CAGE, at=paid, method="cage")
    for at_once in (1, 1_000):
        monkeypatch.setattr(queries, "AT_ONCE", at_once)
        for first, last, latest in ((day, next_day, [2, 1]), (day, day, [1]), (next_day, next_day, [2])):
            found = [(form.slip_id, form.payee) for form in queries.forms_between(first, last)]
            assert found == [(slip, number) for slip in latest for number in (1, 2)], (at_once, first, last)


def test_forms_come_by_slip_and_payee(won: House) -> None:
    cents = award()
    first = cents // 3
    take_down(HIT, payee(first), payee(first, name="Sam Other"), payee(cents - 2 * first, name="Uma Third"))
    ask("hit.pay", HIT, CAGE, method="cage")
    day = date(2026, 11, 27)
    found = list(queries.forms_between(day, day + timedelta(days=1)))
    each = [(1, 3, first), (2, 3, first), (3, 3, cents - 2 * first)]
    assert [(form.payee, form.payees, form.paid_cents) for form in found] == each
    voided(1)
    ask("slip.issue", ENVY, CAGE, method="cage", form="cash")
    replaced = list(queries.forms_between(day, day + timedelta(days=1)))
    assert [(form.slip_id, form.payee, form.payees, form.paid_cents) for form in replaced] == [
        (2, *one) for one in each
    ]
    assert queries.standing_names() == ["000003", "000002"] and queries.standing_names(most=1) == ["000003"]
