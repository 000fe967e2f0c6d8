"""Slips in the running house: numbered, signed, paid, void, printed; what the database refuses and verify finds (R74–R79)."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from itertools import chain
from typing import Any

import pypdfium2
import pytest
from django.db import connections, transaction

from accounting.models import AuditRecord
from accounting.office import registry
from accounting.office.acts import Tier
from accounting.office.models import Proposal
from accounting.office.queries import state_of
from accounting.office.rules.person import Person
from accounting.office.services import proposals, tiers
from accounting.rules.acts import ActRefused
from accounting.rules.chain import canonical
from accounting.slips import queries
from accounting.slips.documents import compiled, slip_data, slip_document
from accounting.slips.models import Slip, SlipPayment
from accounting.slips.rules.register import slip_name
from accounting.slips.services import printing
from accounting.slips.services import slips as kept
from accounting.slips.services.slips import Issuing
from devices import exceptions
from devices.audit.findings import Difference
from devices.audit.slips import verify_slips as verify
from tables.queries import payouts
from tables.services.slips import payable
from tables.services.slips import transaction as transaction_of
from tests.services.desk import ANOTHER, ANYBODY
from tests.services.house import LINKED, TWIN, House, message, refused_by, rows, royal, run, two_hits
from tests.services.house import verify as verify_all
from tests.services.played import tamper
from tests.services.tampering_of_slips import TAMPERING_OF_SLIPS
from tests.services.winners import taken_down

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)
HIT = "ms-mg01-000001"
ENVY = f"{LINKED}/R-1/1/3"
ALL = ["cards", "seat", "wager_sensor", "surveillance"]
CAGE, PIT, MANAGER = ANYBODY["cage"], ANYBODY["supervisor"], ANYBODY["manager"]


def ask(act: str, subject: str, by: Person, *, at: datetime = AT, **payload: Any) -> Proposal:
    body = {"act": act, "subject": subject, "payload": payload, "reason": "as it should be"}
    return proposals.propose(body, by=by, at=at)


def refused(act: str, subject: str, by: Person, **payload: Any) -> str:
    with pytest.raises(ActRefused) as refusal:
        ask(act, subject, by, **payload)
    return refusal.value.code


def approved(house: House, hit: str = HIT, checks: list[str] = ALL) -> None:
    """Take a hit to where it is to be paid."""
    ask("hit.verify", hit, PIT, checks=checks) if checks else ask("hit.verify", hit, PIT)
    asked = ask("hit.approve", hit, MANAGER)
    if state_of(asked, AT) == "waiting":
        proposals.approve(asked.pk, by=ANOTHER["manager"], at=AT)


def shown(number: int) -> dict[str, Any]:
    slip = queries.slip_named(str(number))
    assert slip is not None, f"there is a slip {number}"
    return queries.slip_shown(slip)


def voided(number: int, reason: str = "as it should be") -> Proposal:
    asked = proposals.propose(
        {"act": "slip.void", "subject": slip_name(number), "payload": {}, "reason": reason}, by=CAGE, at=AT
    )
    return proposals.approve(asked.pk, by=MANAGER, at=AT)


@pytest.fixture(autouse=True)
def _key(settings: Any) -> None:
    settings.PATRON_KEY = "A" * 43


@pytest.fixture
def won(house: House) -> House:
    """Seat 3 has won a royal of ms-mg01, seat 1 its envy; the hit is approved."""
    house.play(royal("R-1"))
    approved(house)
    return house


def test_paying_a_hit_makes_its_slip_in_the_same_commit(won: House) -> None:
    won.play(message("R-1", table=TWIN), message("R-2"))  # of another stream at the same place, and of this one
    taken_down(HIT)
    ask("hit.pay", HIT, CAGE, method="cage")
    slip = shown(1)
    (cents,) = rows("SELECT paid_cents FROM jackpot_hit")[0]
    assert (slip["slip"], slip["state"], slip["cents"], slip["method"], slip["form"]) == (
        "000001", "paid", cents, "cage", "cash"
    )  # fmt: skip
    payout = slip["facts"]["payout"]
    assert (payout["table"], payout["seat"], payout["round"], payout["hand"]) == (LINKED, 3, "R-1", "royal_flush")
    assert (payout["cards"], payout["community"]) == (["Ah", "Kh"], ["Qh", "Jh", "Th"])
    assert (payout["game"], payout["paytable"], payout["wager_cents"]) == ("mississippi-stud", "ms-mg-01", 100)
    assert (payout["hit"]["name"], payout["hit"]["meter_before_cents"], payout["hit"]["share_ppm"]) == (
        HIT,
        cents,
        10**6,
    )
    assert [(check["check"], check["done"]) for check in payout["checks"]] == [(check, True) for check in ALL]
    assert [(step["what"], step["by"]) for step in payout["steps"]] == [
        ("Hit verified", PIT.name), ("Hit approved", MANAGER.name)
    ]  # fmt: skip
    assert (slip["paid_by"], slip["prepared_by"], slip["complete"]) == (CAGE.name, CAGE.name, True)
    assert payouts.by_id(payout["id"])["slip"] == "000001"  # type: ignore[index]
    assert [item["id"] for item in payouts.page({"slip": "1"}).items] == [payout["id"]]
    assert payouts.page({"slip": "x"}).items == payouts.page({"slip": "2"}).items == []
    verify()


def test_a_slip_may_be_issued_first_and_is_the_one_that_is_paid(won: House) -> None:
    ask("slip.issue", ENVY, PIT, method="table", form="chips")
    assert (shown(1)["state"], shown(1)["cents"]) == ("issued", 100_000)
    assert refused("slip.issue", ENVY, PIT, method="table", form="chips") == "slip_stands"
    assert refused("payout.pay", ENVY, CAGE, method="cage") == "slip_says_otherwise"
    how = Issuing("table", "chips", PIT.name, [], transaction_of(ENVY))
    with pytest.raises(
        ActRefused, match=f"{ENVY} has slip 000001"
    ) as again:  # of whoever judged before the first was there
        kept.issue(payable(ENVY), how, at=AT)
    assert again.value.code == "slip_stands"
    assert shown(1)["state"] == "issued", "what was refused left nothing"
    ask("payout.pay", ENVY, PIT, method="table")
    assert (shown(1)["state"], Slip.objects.count()) == ("paid", 1)
    assert shown(1)["facts"]["payout"]["hit"]["name"] == HIT
    verify()


@pytest.mark.parametrize(
    ("subject", "by", "payload", "code"),
    [
        ("ms-mg01-000009", CAGE, {"method": "cage", "form": "cash"}, "unknown_subject"),
        (f"{LINKED}/R-1/5/3", CAGE, {"method": "cage", "form": "cash"}, "unknown_subject"),
        (ENVY, PIT, {"method": "table", "form": "cash"}, "invalid_value"),
        (ENVY, CAGE, {"method": "cage", "form": "gold"}, "invalid_value"),
        (ENVY, CAGE, {"method": "cage"}, "missing_field"),
        (ENVY, CAGE, {"form": "cash", "method": "cage", "cents": 5}, "unknown_field"),
    ],
)
def test_what_cannot_be_issued_is_refused_and_takes_no_number(
    won: House, subject: str, by: Person, payload: dict[str, Any], code: str
) -> None:
    assert refused("slip.issue", subject, by, **payload) == code
    assert (Slip.objects.count(), rows("SELECT last FROM slips_slipcounter")) == (0, [(0,)])


def test_a_hit_that_is_not_approved_has_no_slip(house: House) -> None:
    house.play(royal("R-1"))
    assert refused("slip.issue", HIT, CAGE, method="cage", form="cash") == "wrong_state"
    ask("hit.verify", HIT, PIT, checks=ALL)
    assert refused("slip.issue", HIT, CAGE, method="cage", form="cash") == "wrong_state"


def test_a_checklist_that_is_not_whole_needs_a_manager_who_says_why(house: House) -> None:
    house.play(two_hits("R-1"))
    hit = "ms-mg01-000001"  # a straight flush: a tenth of the meter
    approved(house, hit, ["cards", "seat"])
    with pytest.raises(ActRefused, match="not checked: wager sensor, surveillance; a manager overrides it") as refusal:
        ask("slip.issue", hit, CAGE, method="cage", form="cash")
    assert (refusal.value.code, refusal.value.pointer) == ("checks_missing", "/payload/override")
    with pytest.raises(Exception, match="proposed by manager"):
        ask("slip.issue", hit, CAGE, method="cage", form="cash", override="tape lost")
    ask("slip.issue", hit, MANAGER, method="table", form="chips", override="tape lost")
    slip = shown(1)
    assert (slip["override"], slip["complete"], slip["prepared_by"]) == ("tape lost", False, MANAGER.name)
    assert [item["slip"] for item in queries.page({"noted": "override"}).items] == ["000001"]
    assert [item["slip"] for item in queries.page({"noted": "checks"}).items] == ["000001"]

    def exceptional() -> list[tuple[str, str, str]]:
        kinds = (exceptions.OVERRIDE, exceptions.UNCHECKED, exceptions.VOID_SLIP)
        found = [exceptions.between(date(2026, 11, 1), date(2026, 12, 31), only=kind) for kind in kinds]
        return [(each.kind, each.about, each.detail) for each in chain(*found)]

    assert exceptional() == [("slip with override", "000001", "tape lost")], "and not among the others as well"
    tamper("UPDATE slips_slip SET override = ''")
    assert exceptional() == [("slip not all checked", "000001", hit)]


@pytest.mark.parametrize(("seat", "cents", "needs"), [(4, 150_000, ["supervisor"]), (4, 500_000, ["supervisor"])])
def test_envy_from_a_tier_on_is_signed_before_it_is_paid(house: House, seat: int, cents: int, needs: list[str]) -> None:
    house.play(two_hits("R-1", table=TWIN))
    subject = f"{TWIN}/R-1/{seat}/{6 if cents == 150_000 else 2}"
    assert refused("payout.pay", subject, CAGE, method="cage") == "slip_needed"
    issue = {"method": "cage", "form": "cash"}
    assert refused("slip.issue", subject, CAGE, **issue) == "particulars_missing", "6,500 of one wager: tax is withheld"
    taken_down(subject)
    asked = ask("slip.issue", subject, CAGE, method="cage", form="cash")
    assert [need["role"] for need in asked.needs] == needs
    assert Slip.objects.count() == 0, "no number before all have signed"
    proposals.approve(asked.pk, by=PIT, at=AT)
    assert shown(1)["facts"]["issued"]["approved_by"] == [PIT.name]
    signed = [("Slip 000001 prepared", CAGE.name), ("Slip signed", PIT.name)]
    assert [(one["what"], one["by"]) for one in queries.signatures("000001")] == signed
    ask("payout.pay", subject, CAGE, method="cage")
    assert (shown(1)["state"], shown(1)["cents"]) == ("paid", cents)
    assert [(one["what"], one["by"]) for one in queries.signatures("1")] == [*signed, ("Paid", CAGE.name)]
    assert queries.signatures(None) == queries.signatures("000002") == []
    verify()


@pytest.mark.parametrize(("from_cents", "code"), [(100_000, "slip_needed"), (100_001, None)])
def test_tiers_are_data_to_the_cent(won: House, from_cents: int, code: str | None) -> None:
    tiers.publish(registry.acts()["slip.issue"], [Tier(from_cents, "manager", 1)], at=AT, by="controller.one")
    if code:
        assert refused("payout.pay", ENVY, CAGE, method="cage") == code
    else:
        ask("payout.pay", ENVY, CAGE, method="cage")
        assert shown(1)["state"] == "paid"


def test_a_hit_whose_steps_are_not_enough_signatures_waits_for_its_slip(won: House) -> None:
    tiers.publish(registry.acts()["slip.issue"], [Tier(0, "manager", 2)], at=AT, by="controller.one")
    taken_down(HIT)
    assert refused("hit.pay", HIT, CAGE, method="cage") == "slip_needed"


def test_a_void_slip_keeps_its_number_and_the_next_says_what_it_replaces(won: House) -> None:
    ask("slip.issue", ENVY, CAGE, method="cage", form="cheque")
    voided(1, "the patron wants cash")
    void = shown(1)
    assert (void["state"], void["void_reason"], void["void_by"], void["void_agreed_by"]) == (
        "void", "the patron wants cash", CAGE.name, MANAGER.name
    )  # fmt: skip
    assert refused("slip.void", "000001", CAGE) == "wrong_state"
    assert refused("slip.void", "1", CAGE) == "unknown_subject"
    assert refused("slip.void", "000007", CAGE) == "unknown_subject"
    for number, code in ((1, "wrong_state"), (7, "unknown_subject")):  # whoever judged before it was so is refused too
        with pytest.raises(ActRefused) as refusal:
            kept.void(number, reason="torn", by=CAGE.name, approved_by=[MANAGER.name], at=AT)
        assert refusal.value.code == code
    with pytest.raises(ActRefused, match="there is no slip 000007"):
        printing.print_slip(7, by=CAGE.name, at=AT)
    ask("slip.issue", ENVY, CAGE, method="cage", form="cash")
    assert (shown(2)["replaces"], shown(1)["replaced_by"], shown(2)["state"]) == ("000001", "000002", "issued")
    assert queries.missing_numbers() == ([], 2)
    found = queries.totals({})
    assert (found.count, found.cents, found.void_count, found.void_cents) == (1, 100_000, 1, 100_000)
    verify()


def test_a_paid_slip_that_is_void_is_replaced_at_once_and_stays_paid(won: House) -> None:
    ask("payout.pay", ENVY, CAGE, method="cage")
    voided(1)
    assert (shown(1)["state"], shown(2)["state"], shown(2)["replaces"]) == ("void", "paid", "000001")
    assert SlipPayment.objects.get(slip=2).event == SlipPayment.objects.get(slip=1).event
    voided(2)
    assert [shown(number)["state"] for number in (1, 2, 3)] == ["void", "void", "paid"]
    verify()


def test_a_rejected_hit_takes_its_slips_along(won: House) -> None:
    ask("slip.issue", ENVY, CAGE, method="cage", form="cash")
    asked = ask("hit.reject", HIT, MANAGER)
    proposals.approve(asked.pk, by=ANYBODY["controller"], at=AT)
    assert (shown(1)["state"], shown(1)["void_agreed_by"]) == ("void", ANYBODY["controller"].name)
    verify()


def test_a_voided_round_takes_its_slips_along_and_leaves_those_that_were_paid(house: House) -> None:
    house.play(two_hits("R-1"))
    ask("payout.pay", f"{LINKED}/R-1/4/2", CAGE, method="cage")
    ask("slip.issue", f"{LINKED}/R-1/4/6", CAGE, method="cage", form="cash")
    asked = ask("round.void", f"{LINKED}/R-1", PIT)
    proposals.approve(asked.pk, by=MANAGER, at=AT)
    assert (shown(1)["state"], shown(2)["state"]) == ("paid", "void")
    verify()


def test_prints_are_kept_to_the_byte_and_every_later_one_says_that_it_is_a_duplicate(won: House) -> None:
    ask("payout.pay", ENVY, CAGE, method="cage")
    original = printing.print_slip(1, by="cage.one", at=AT)
    duplicate = printing.print_slip(1, by="accounting.one", at=AT + timedelta(hours=2))
    assert (original.copy, duplicate.copy) == (0, 1)
    for made, said, not_said in (
        (original, "ORIGINAL", "DUPLICATE"),
        (duplicate, "Duplicate no. 1, printed by accounting.one, 2026-11-28 00:00:00 EST", "ORIGINAL"),
    ):
        document = pypdfium2.PdfDocument(bytes(made.content))
        text = document[0].get_textpage().get_text_range()
        together = "".join(text.split())  # letters that stand apart
        assert (len(document), "".join(said.split()) in together, not_said in together) == (1, True, False), text
        for word in (
            "000001",
            "Boston Harbor",
            "One thousand and 00/100 dollars",
            "$1,000.00",
            "MS-101",
            "Royal flush",
        ):
            assert word in text, word
        again = slip_document(printing.document_of(Slip.objects.get()), copy=made.copy, by=made.by, at=made.at)
        assert again == bytes(made.content), "the same document, byte for byte"
        kept = queries.print_of("000001", made.copy)
        assert kept is not None and bytes(kept.content) == bytes(made.content)
    assert queries.print_of("1", 2) is None and queries.print_of("x", 0) is None
    with pytest.raises(ActRefused, match="there is no slip 000009"):
        printing.print_slip(9, by="cage.one", at=AT)
    verify()


def test_everything_that_is_printed_on_the_slips_of_a_hit_and_of_its_envy(won: House) -> None:
    taken_down(HIT)
    ask("hit.pay", HIT, CAGE, method="cage")
    ask("slip.issue", ENVY, PIT, method="table", form="chips")
    now = "2026-11-27 22:00:00 EST"
    heart = {"suit": "♥", "red": True}
    both = {
        "property": "Boston Harbor", "code": "BOS", "copy": 0, "printed": f"cage.one, {now}", "void": None, "replaces": "",
        "issued": now, "gaming_date": "2026-11-27", "table": "MS-101", "game": "Mississippi stud", "round": "R-1",
        "counts": "2026-11-27 21:14:05 EST", "day": "2026-11-27", "link": "ms-mg01", "paytable": "ms-mg-01",
        "hand": "Royal flush", "community": [{"rank": rank, **heart} for rank in ("Q", "J", "10")], "wager": "$1.00",
        "level": "major", "hit": HIT, "hit_seat": 3, "share": "100%", "meter_before": "$10,000.34", "forms_open": False,
        "meter_after": "$10,000.00", "override": "", "agreed": [],
    }  # fmt: skip
    of_the_hit = {
        "number": "000001", "state": "paid", "kind": "Progressive jackpot", "seat": 3, "is_envy": False,
        "cards": [{"rank": rank, **heart} for rank in ("A", "K")], "gross": "$10,000.34",
        "gross_words": "Ten thousand and 34/100 dollars", "withheld": "$2,399.84", "withholding": "Regular", "taxed": True,
        "forms": 1, "net": "$7,600.50", "net_words": "Seven thousand six hundred and 50/100 dollars", "method": "Cage",
        "form": "Cash", "checks": [{"name": name, "done": True} for name in ("Cards", "Seat", "Wager sensor", "Surveillance")],
        "signatures": [
            {"what": "Hit verified", "by": PIT.name, "at": now}, {"what": "Hit approved", "by": MANAGER.name, "at": now},
        ],
        "prepared": CAGE.name, "paid_by": CAGE.name, "paid_at": now, "event": "ms-mg01 no. 1, line 5", "payout": "ms-mg01-1-5",
    }  # fmt: skip
    of_the_envy = {
        "number": "000002", "state": "issued", "kind": "Envy bonus", "seat": 1, "is_envy": True,
        "cards": [{"rank": "2", "suit": "♠", "red": False}, {"rank": "7", "suit": "♦", "red": True}], "gross": "$1,000.00",
        "gross_words": "One thousand and 00/100 dollars", "withheld": "$0.00", "withholding": "", "taxed": False, "forms": 0,
        "net": "$1,000.00", "net_words": "One thousand and 00/100 dollars", "method": "Table MS-101", "form": "Chips",
        "checks": [], "signatures": [], "prepared": PIT.name, "paid_by": "", "paid_at": "", "event": "ms-mg01 no. 1, line 6",
        "payout": "ms-mg01-1-6",
    }  # fmt: skip
    for slip, its_own in zip(Slip.objects.order_by("number"), (of_the_hit, of_the_envy), strict=True):
        document = printing.document_of(slip)
        hashes = {"hash": document["facts"]["payout"]["event"]["hash"], "digest": document["digest"]}
        assert slip_data(document, copy=0, by="cage.one", at=AT) == both | its_own | hashes


def test_a_void_slip_prints_void_with_its_reason(won: House) -> None:
    ask("slip.issue", ENVY, CAGE, method="cage", form="cheque")
    voided(1, "torn")
    made = printing.print_slip(1, by="cage.one", at=AT)
    text = pypdfium2.PdfDocument(bytes(made.content))[0].get_textpage().get_text_range()
    assert "VOID" in "".join(text.split()) and "torn" in text and MANAGER.name in text


def test_a_slip_with_the_longest_words_fits_one_page(won: House) -> None:
    ask("payout.pay", ENVY, CAGE, method="cage")
    data = slip_data(printing.document_of(Slip.objects.get()), copy=1, by="x" * 60, at=AT)
    data |= {
        "gross_words": "Nine hundred seventy-seven thousand " * 4,
        "override": "long words " * 60,
        "round": "R" * 64,
    }
    data["void"] = {"reason": "because " * 40, "by": "a", "agreed": "b", "at": "now", "replaced": "2"}
    document = pypdfium2.PdfDocument(compiled("slip.typ", data))
    assert len(document) == 1
    page = document[0].get_textpage()
    rights = [page.get_charbox(at)[2] for at in range(page.count_chars()) if page.get_text_range(at, 1) == "R"]
    assert len(rights) > 60 and max(rights) < 571, "a round's reference stays inside the frame"


def test_every_step_is_on_the_trail_with_its_digest(won: House) -> None:
    ask("slip.issue", ENVY, CAGE, method="cage", form="cheque")
    printing.print_slip(1, by="cage.one", at=AT)
    voided(1)
    ask("payout.pay", ENVY, CAGE, method="cage")
    said = AuditRecord.objects.filter(action__endswith="slip").order_by("id").values_list("action", "subject", "actor")
    assert list(said) == [
        ("issue slip", "000001", CAGE.name), ("print slip", "000001", CAGE.name), ("void slip", "000001", CAGE.name),
        ("issue slip", "000002", CAGE.name), ("pay slip", "000002", CAGE.name),
    ]  # fmt: skip


def copied(**changes: Any) -> None:
    """Insert a slip like number 1, with some columns otherwise."""
    like = Slip.objects.get(number=1)
    for name, value in changes.items():
        setattr(like, name, value)
    if "facts" not in changes:
        like.facts = canonical({"n": like.number})
    like.digest = changes.get("digest", sha256(like.facts).digest())
    like.save(force_insert=True)


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("slips_are_numbered_without_a_gap", {"number": 3, "replaces_id": 1}),
        ("slips_are_numbered_without_a_gap", {"number": 1, "replaces_id": 1}),
        ("a_slip_replaces_the_last_of_its_payout", {"number": 2}),
        ("a_slip_says_what_its_payout_comes_to", {"number": 2, "replaces_id": 1, "cents": 100_001}),
        ("a_slip_says_what_its_payout_comes_to", {"number": 2, "replaces_id": 1, "kind": "hit"}),
        ("a_slip_says_what_its_payout_comes_to", {"number": 2, "line": 99}),
        ("a_slip_is_digested_as_it_is", {"number": 2, "replaces_id": 1, "digest": b"\0" * 32}),
        ("a_table_pays_in_chips", {"number": 2, "replaces_id": 1, "method": "table", "form": "cheque"}),
        ("a_slip_is_paid_in_a_known_form", {"number": 2, "replaces_id": 1, "form": "gold"}),
        ("a_slip_is_paid_from_cage_or_table", {"number": 2, "replaces_id": 1, "method": "bank"}),
    ],
)
def test_the_database_refuses_numbers_and_amounts_that_cannot_be(
    won: House, rule: str, changes: dict[str, Any]
) -> None:
    ask("slip.issue", ENVY, CAGE, method="cage", form="cash")
    voided(1)
    with refused_by(rule):
        copied(**changes)


def test_the_database_refuses_a_second_slip_that_stands(won: House) -> None:
    ask("slip.issue", ENVY, CAGE, method="cage", form="cash")
    with refused_by("a_payout_has_one_standing_slip"):
        copied(number=2, replaces_id=1)


@pytest.mark.parametrize(
    ("rule", "statement"),
    [
        ("the_counter_moves_with_its_slips", "UPDATE slips_slipcounter SET last = last + 1"),
        ("the_counter_moves_with_its_slips", "UPDATE slips_slipcounter SET last = 0"),
        ("the_counter_of_slips_stays", "DELETE FROM slips_slipcounter"),
        ("the_counter_of_slips_stays", "TRUNCATE slips_slipcounter"),
        ("a_slip_is_paid_by_an_event", "INSERT INTO slips_slippayment VALUES (2, 1, now(), 'x')"),
        (
            "prints_are_numbered_without_a_gap",
            "INSERT INTO slips_slipprint (slip_id, copy, at, by, content, digest) VALUES (1, 1, now(), 'x', '', sha256(''))",
        ),
        (
            "a_print_is_digested_as_it_is",
            "INSERT INTO slips_slipprint (slip_id, copy, at, by, content, digest) VALUES (1, 0, now(), 'x', '', '')",
        ),
        (
            "nobody_agrees_to_their_own_void",
            "INSERT INTO slips_slipvoid (slip_id, at, by, approved_by, reason) VALUES (2, now(), 'x', 'y, x', 'r')",
        ),
        (
            "a_void_slip_says_why",
            "INSERT INTO slips_slipvoid (slip_id, at, by, approved_by, reason) VALUES (2, now(), 'x', 'y', '')",
        ),
    ],
)
def test_the_database_refuses_what_nobody_may_do_to_slips(won: House, rule: str, statement: str) -> None:
    ask("slip.issue", ENVY, CAGE, method="cage", form="cash")
    voided(1)
    ask("slip.issue", ENVY, CAGE, method="cage", form="cash")
    with refused_by(rule):
        run(statement)


def test_slips_of_many_at_once_have_no_gap_and_no_number_twice(busy_house: House) -> None:
    """Eight desks pay at the same time; half of them fail after their slip was made."""
    for number in range(8):
        busy_house.play(royal(f"R-{number}"))
    made: list[str] = []

    def pay(number: int) -> None:
        try:
            with transaction.atomic():
                ask("payout.pay", f"{LINKED}/R-{number}/1/3", CAGE, method="cage")
                if number % 2:
                    raise KeyError("the power failed")
        except KeyError:
            made.append("failed")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=pay, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert sorted(Slip.objects.values_list("number", flat=True)) == [1, 2, 3, 4]
    assert queries.missing_numbers() == ([], 4)
    assert verify_all().slips == 4


@pytest.mark.parametrize("what", TAMPERING_OF_SLIPS)
def test_verify_names_what_was_changed_of_slips(won: House, what: str) -> None:
    ask("slip.issue", ENVY, CAGE, method="cage", form="cheque")
    printing.print_slip(1, by="cage.one", at=AT)
    voided(1)
    ask("payout.pay", ENVY, CAGE, method="cage")
    taken_down(HIT)
    ask("hit.pay", HIT, CAGE, method="cage")
    verify()
    statement, named = TAMPERING_OF_SLIPS[what]
    tamper(statement)
    with pytest.raises(Difference) as found:
        verify()
    assert str(found.value).startswith(named), found.value
