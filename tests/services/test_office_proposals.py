"""Proposals: who may, what is fixed when one is made, what the last approval does, and how else one ends."""

from __future__ import annotations

import base64
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.db import connections

from accounting.models import AuditRecord, Property
from accounting.office import queries, registry
from accounting.office.acts import Tier
from accounting.office.models import Approval, Evidence, Outcome, Proposal, TierEdition
from accounting.office.refusals import Conflict, NoSuchProposal, NotYours
from accounting.office.rules.asking import kept
from accounting.office.rules.person import Person
from accounting.office.services import proposals, tiers
from accounting.rules.acts import ActRefused
from accounting.services import audit
from accounting.services.audit import check_audit_trail
from tests.services.attempts.office import new_outcome, new_proposal
from tests.services.desk import ACTS, ANOTHER, ANYBODY, GRANT, RENAME, asking, the_name
from tests.services.house import House

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)
LATER = AT + timedelta(hours=1)
SOMEBODY = ANYBODY["administrator"]
MANAGER = ANYBODY["manager"]


@pytest.fixture(autouse=True)
def _acts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "acts", lambda: ACTS)


def propose(act: str = "house.rename", by: Person = SOMEBODY, **changes: Any) -> Proposal:
    return proposals.propose(asking(act, **changes), by=by, at=AT)


def state(proposal: Proposal, at: datetime = LATER) -> str:
    return queries.state_of(Proposal.objects.get(id=proposal.pk), at)


def actions() -> list[tuple[str, str]]:
    """What the audit trail says was done, without the opening of the floor."""
    return list(AuditRecord.objects.order_by("id").exclude(action__startswith="open").values_list("action", "actor"))


def test_the_second_person_does_it(house: House) -> None:
    asked = propose()
    assert (state(asked), the_name()) == ("waiting", "Boston Harbor")
    proposals.approve(asked.pk, by=MANAGER, at=LATER, note="seen the letter")
    assert (state(asked), the_name()) == ("done", "Boston Light")
    found = queries.proposal(asked.pk)
    assert found is not None
    shown = queries.shown(found, LATER)
    assert shown["event"] == {"stream": "ms-mg01", "sequence": 0}
    assert shown["needs"] == [{"role": "manager", "count": 1}]
    assert [(one["by"], one["note"]) for one in shown["approvals"]] == [("manager.one", "seen the letter")]
    assert shown["detail"] == "renamed, 1 agreed"
    assert actions() == [
        ("propose", "administrator.one"), ("approve", "manager.one"), ("perform", "manager.one"),
    ]  # fmt: skip
    last = AuditRecord.objects.order_by("id").last()
    assert last is not None
    assert last.origin == "10.0.0.7"
    assert last.detail["changes"] == [{"what": "name", "before": "Boston Harbor", "after": "Boston Light"}]
    assert last.detail["approved_by"] == ["manager.one"]
    assert check_audit_trail() == []


def test_what_needs_nobody_else_is_done_at_once(house: House) -> None:
    asked = propose("house.note", ANYBODY["supervisor"])
    assert (state(asked, AT), the_name()) == ("done", "Quay")
    assert actions() == [("propose", "supervisor.one"), ("perform", "supervisor.one")]


def test_what_a_rule_refuses_at_once_is_not_kept(house: House) -> None:
    with pytest.raises(ActRefused) as refusal:
        propose("house.note", ANYBODY["supervisor"], payload={"name": "Unlucky"})
    assert (refusal.value.code, refusal.value.pointer) == ("unlucky", "/payload/name")
    assert (Proposal.objects.count(), the_name(), actions()) == (0, "Boston Harbor", [])


@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        ({"act": "house.burn"}, "invalid_value", "/act"),
        ({"act": 7}, "invalid_value", "/act"),
        ({"extra": 1}, "unknown_field", "/extra"),
        ({"subject": ""}, "invalid_value", "/subject"),
        ({"subject": "no\0where"}, "invalid_value", "/subject"),
        ({"subject": "LAS"}, "unknown_subject", None),
        ({"payload": []}, "invalid_value", "/payload"),
        ({"payload": {}}, "missing_field", "/payload/name"),
        ({"payload": {"name": "x", "colour": 1}}, "unknown_field", "/payload/colour"),
        ({"payload": {"name": "x\ud800"}}, "invalid_value", "/payload/name"),
        ({"payload": {"name": "Boston Harbor"}}, "invalid_value", "/payload/name"),
        ({"reason": " "}, "invalid_value", "/reason"),
        ({"reason": None}, "missing_field", "/reason"),
        ({"seen": 3}, "invalid_value", "/seen"),
        ({"evidence": {}}, "invalid_value", "/evidence"),
        ({"evidence": {"file": {"name": "a"}}}, "missing_field", "/evidence/file/content"),
        ({"evidence": {"file": {"name": "a", "content": "no base64"}}}, "invalid_value", "/evidence/file/content"),
        ({"evidence": {"colour": "red"}}, "unknown_field", "/evidence/colour"),
    ],
)
def test_a_fault_is_named(changes: dict[str, Any], code: str, pointer: str | None, house: House) -> None:
    with pytest.raises(ActRefused) as refusal:
        propose(**changes)
    assert (refusal.value.code, refusal.value.pointer) == (code, pointer)
    assert Proposal.objects.count() == 0


def test_an_act_with_reasons_and_evidence_asks_for_them(house: House) -> None:
    supervisor = ANYBODY["supervisor"]
    with pytest.raises(ActRefused, match="correction, boost"):
        propose("house.grant", supervisor, reason="because")
    body = asking("house.grant")
    del body["evidence"]
    with pytest.raises(ActRefused) as refusal:
        proposals.propose(body, by=supervisor, at=AT)
    assert (refusal.value.code, refusal.value.pointer) == ("missing_field", "/evidence")


def test_the_role_decides_who_proposes_and_who_agrees(house: House) -> None:
    for role, person in ANYBODY.items():
        if role != "administrator":
            with pytest.raises(NotYours):
                propose(by=person)
    asked = propose()
    for role, person in ANYBODY.items():
        if role != "manager":
            for call in (proposals.approve, lambda number, by, at: proposals.refuse(number, by=by, at=at, note="no")):
                with pytest.raises(NotYours):
                    call(asked.pk, by=person, at=LATER)
    assert state(asked) == "waiting"


def test_nobody_agrees_to_their_own_or_twice(house: House) -> None:
    own = propose("house.grant", MANAGER)
    with pytest.raises(Conflict) as refusal:
        proposals.approve(own.pk, by=MANAGER, at=LATER)
    assert refusal.value.code == "own_proposal"
    with pytest.raises(Conflict) as refusal:
        proposals.refuse(own.pk, by=MANAGER, at=LATER, note="no")
    assert refusal.value.code == "own_proposal"
    large = propose("house.grant", ANYBODY["supervisor"], payload={"cents": -10_000_000})
    proposals.approve(large.pk, by=MANAGER, at=LATER)
    with pytest.raises(Conflict) as refusal:
        proposals.approve(large.pk, by=MANAGER, at=LATER)
    assert (refusal.value.code, str(refusal.value)) == ("already_approved", "you have agreed to this already")
    with pytest.raises(Conflict, match="you have agreed to this already"):  # nor in the other role that must agree
        proposals.approve(large.pk, by=replace(MANAGER, roles=MANAGER.roles | {"controller"}), at=LATER)
    with pytest.raises(Conflict) as refusal:  # one manager is enough, the controller is what is missing
        proposals.approve(large.pk, by=ANOTHER["manager"], at=LATER)
    assert refusal.value.code == "already_approved"
    proposals.approve(large.pk, by=ANYBODY["controller"], at=LATER)
    assert state(large) == "done"


@pytest.mark.parametrize(
    ("cents", "needs"),
    [
        (9_999_999, [("manager", 1)]),
        (10_000_000, [("manager", 1), ("controller", 1)]),
        (-100_000_000, [("manager", 1), ("controller", 2)]),
    ],
)
def test_amounts_decide_who_must_agree(cents: int, needs: list[tuple[str, int]], house: House) -> None:
    asked = propose("house.grant", ANYBODY["supervisor"], payload={"cents": cents})
    assert [(need["role"], need["count"]) for need in asked.needs] == needs
    assert asked.amount_cents == cents


def test_tiers_are_editions_and_what_was_proposed_keeps_its_needs(house: House) -> None:
    before = propose()
    tiers.publish(RENAME, [Tier(0, "manager", 1), Tier(0, "controller", 1)], at=LATER, by="somebody")
    after = propose()
    assert [len(asked.needs) for asked in (before, after)] == [1, 2]
    assert list(TierEdition.objects.values_list("number", flat=True)) == [1, 2]
    proposals.approve(before.pk, by=MANAGER, at=LATER)
    assert (state(before), state(after)) == ("done", "waiting")
    tiers.publish(RENAME, [], at=LATER, by="somebody")
    assert state(propose(payload={"name": "Free"})) == "done"
    assert queries.tiers_in_force()["house.rename"] == []


def test_the_tiers_shown_are_those_published_last_the_smallest_amount_first(house: House) -> None:
    def shown() -> list[Tier]:
        return [Tier(**tier) for tier in queries.tiers_in_force()["house.grant"]]

    assert shown() == list(GRANT.approves)
    for amount in (7_000, 5_000):  # the latest edition counts, whichever was made first
        tiers.publish(
            GRANT,
            [Tier(amount, "controller", 2), Tier(0, "manager", 1), Tier(0, "controller", 1)],
            at=LATER,
            by="somebody",
        )
        tiers.publish(RENAME, [Tier(0, "controller", 1)], at=LATER, by="somebody")
    assert shown() == [Tier(0, "manager", 1), Tier(0, "controller", 1), Tier(5_000, "controller", 2)]
    assert [Tier(**tier) for tier in queries.tiers_in_force()["house.rename"]] == [Tier(0, "controller", 1)]


def test_a_subject_that_changed_since_it_was_looked_at(house: House) -> None:
    seen = RENAME.version("BOS")
    Property.objects.update(name="Another")
    with pytest.raises(Conflict) as refusal:
        propose(seen=seen)
    assert refusal.value.code == "changed_since"
    now = RENAME.version("BOS")
    asked = propose(seen=now)
    assert asked.version == now
    Property.objects.update(name="Yet another")
    with pytest.raises(Conflict) as refusal:
        proposals.approve(asked.pk, by=MANAGER, at=LATER, seen=str(now))
    assert refusal.value.code == "changed_since"
    proposals.approve(asked.pk, by=MANAGER, at=LATER, seen=str(RENAME.version("BOS")))
    assert state(asked) == "done"


def test_a_rule_against_it_at_the_last_approval_ends_it_refused_and_undoes_all(house: House) -> None:
    asked = propose(payload={"name": "Unlucky"})
    proposals.approve(asked.pk, by=MANAGER, at=LATER)
    assert the_name() == "Boston Harbor"
    outcome = Outcome.objects.get(proposal=asked)
    assert (outcome.state, outcome.code, outcome.pointer, outcome.detail) == (
        "refused", "unlucky", "/payload/name", "no house is called that",
    )  # fmt: skip
    assert [action for action, _ in actions()] == ["propose", "approve", "refuse by rule"]
    foreseen = propose()
    Property.objects.update(name="Locked")
    proposals.approve(foreseen.pk, by=MANAGER, at=LATER)
    assert Outcome.objects.get(proposal=foreseen).code == "wrong_state"


def test_a_broken_assumption_leaves_it_waiting(house: House) -> None:
    asked = propose(payload={"name": "Boom"})
    with pytest.raises(RuntimeError):
        proposals.approve(asked.pk, by=MANAGER, at=LATER)
    assert (state(asked), the_name(), Approval.objects.count()) == ("waiting", "Boston Harbor", 0)
    assert [action for action, _ in actions()] == ["propose"]


def test_the_proposer_withdraws_and_nobody_else(house: House) -> None:
    asked = propose()
    with pytest.raises(NotYours):
        proposals.withdraw(asked.pk, by=MANAGER, at=LATER)
    proposals.withdraw(asked.pk, by=SOMEBODY, at=LATER, note="mistyped")
    assert state(asked) == "withdrawn"
    for call in (proposals.approve, lambda number, by, at: proposals.refuse(number, by=by, at=at, note="no")):
        with pytest.raises(Conflict) as refusal:
            call(asked.pk, by=MANAGER, at=LATER)
        assert refusal.value.code == "not_waiting"


def test_a_refusal_says_why(house: House) -> None:
    asked = propose()
    with pytest.raises(ActRefused) as refusal:
        proposals.refuse(asked.pk, by=MANAGER, at=LATER, note=" ")
    assert refusal.value.pointer == "/note"
    proposals.refuse(asked.pk, by=MANAGER, at=LATER, note="not this year")
    found = queries.proposal(asked.pk)
    assert found is not None
    shown = queries.shown(found, LATER)
    assert (shown["state"], shown["code"], shown["detail"]) == ("refused", None, "not this year")
    assert actions()[-1] == ("refuse", "manager.one")


def test_a_proposal_expires_after_its_term(house: House) -> None:
    asked, other = propose(), propose()
    over = AT + proposals.TERM
    assert (state(asked, over - timedelta(seconds=1)), state(asked, over)) == ("waiting", "expired")
    with pytest.raises(Conflict) as refusal:  # who comes too late finds it so, and so it is written
        proposals.approve(asked.pk, by=MANAGER, at=over)
    assert refusal.value.code == "not_waiting"
    assert Outcome.objects.get(proposal=asked).state == "expired"
    assert proposals.expire(over - timedelta(seconds=1)) == 0
    assert proposals.expire(over) == 1
    assert Outcome.objects.get(proposal=other).state == "expired"
    assert actions()[-2:] == [("expire", "the term"), ("expire", "the term")]
    assert the_name() == "Boston Harbor"


def test_what_is_handed_in_is_kept_and_told_by_its_digest(house: House) -> None:
    content = b"%PDF a letter \0 with any bytes"
    evidence = {
        "reference": "L-7",
        "note": "signed",
        "file": {"name": "a.pdf", "content": base64.b64encode(content).decode()},
    }
    asked = propose("house.grant", ANYBODY["supervisor"], evidence=evidence)
    found = queries.file_of(asked.pk)
    assert found is not None and found.content is not None
    assert bytes(found.content) == content
    handed_in = queries.proposal(asked.pk)
    assert handed_in is not None
    shown = queries.shown(handed_in, LATER)["evidence"]
    assert shown["file"] == {"name": "a.pdf", "size": len(content), "sha256": sha256(content).hexdigest()}
    told = proposals.asked_of(asked, at=LATER).evidence
    assert told == shown["digest"] == bytes(Evidence.objects.get().digest).hex()


def test_what_waits_for_me_is_what_i_could_agree_to(house: House) -> None:
    def waiting(person: Person, at: datetime = LATER) -> list[int]:
        page = queries.proposals({"waiting_for": "me"}, person=person, at=at)
        return [proposal.pk for proposal in page.items]

    small = propose("house.grant", MANAGER)
    large = propose("house.grant", ANYBODY["supervisor"], payload={"cents": 100_000_000})
    assert waiting(MANAGER) == [large.pk]
    assert waiting(ANOTHER["manager"]) == [large.pk, small.pk]
    assert waiting(ANYBODY["controller"]) == [large.pk]
    assert waiting(ANYBODY["auditor"]) == []
    proposals.approve(large.pk, by=MANAGER, at=LATER)
    assert waiting(ANOTHER["manager"]) == [small.pk]
    proposals.approve(large.pk, by=ANYBODY["controller"], at=LATER)
    assert waiting(ANYBODY["controller"]) == []
    assert waiting(ANOTHER["controller"]) == [large.pk]
    assert waiting(ANOTHER["controller"], AT + proposals.TERM) == []


def test_pages_of_proposals_by_key_and_filter(house: House) -> None:
    made = [propose().pk for _ in range(5)]
    proposals.withdraw(made[2], by=SOMEBODY, at=LATER)
    first = queries.proposals({}, person=MANAGER, at=LATER, limit=2)
    assert [one.pk for one in first.items] == [made[4], made[3]]
    rest = queries.proposals({}, person=MANAGER, at=LATER, limit=9, cursor=str(first.next))
    assert ([one.pk for one in rest.items], rest.next) == ([made[2], made[1], made[0]], None)
    assert queries.proposals({}, person=MANAGER, at=LATER, limit=3, cursor=str(first.next)) == rest, "none is left"
    over = AT + proposals.TERM

    def found(at: datetime = LATER, **filters: str) -> int:
        return len(queries.proposals(filters, person=MANAGER, at=at).items)

    assert (found(state="waiting"), found(state="withdrawn"), found(state="expired")) == (4, 1, 0)
    assert (found(over, state="waiting"), found(over, state="expired")) == (0, 4)
    assert (found(act="house.rename"), found(act="house.grant"), found(by="nobody"), found(subject="BOS")) == (
        5,
        0,
        0,
        5,
    )
    for name, value in (("state", "open"), ("waiting_for", "you"), ("colour", "red")):
        with pytest.raises(queries.BadFilter, match=name):
            queries.proposals({name: value}, person=MANAGER, at=LATER)


def test_what_may_be_done_is_offered_by_kind_and_role() -> None:
    assert [act.name for act in queries.offered("property", "BOS", {"supervisor"})] == ["house.grant", "house.note"]
    assert queries.offered("property", "BOS", {"auditor"}) == []
    assert queries.offered("table", "BOS", {"supervisor"}) == []


def test_there_is_no_such_proposal(house: House) -> None:
    for call in (proposals.approve, proposals.withdraw):
        with pytest.raises(NoSuchProposal):
            call(4711, by=MANAGER, at=AT)


def test_of_two_last_approvals_at_once_one_performs(busy_house: House) -> None:
    """On a committed database, with two connections: the second waits, and is then told that nothing waits."""
    asked = propose()
    together = threading.Barrier(2)
    answers: list[str] = []

    def agree(person: Person) -> None:
        try:
            together.wait(20)
            proposals.approve(asked.pk, by=person, at=LATER)
            answers.append("done")
        except Conflict as conflict:
            answers.append(conflict.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=agree, args=[person]) for person in (MANAGER, ANOTHER["manager"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(answers) == ["done", "not_waiting"]
    assert Approval.objects.count() == 1
    assert [action for action, _ in actions()] == ["propose", "approve", "perform"]
    assert check_audit_trail() == []


def test_the_same_person_at_once_counts_once(busy_house: House) -> None:
    asked = propose("house.grant", ANYBODY["supervisor"], payload={"cents": 100_000_000})
    controller = ANYBODY["controller"]
    answers: list[str] = []
    together = threading.Barrier(3)

    def agree() -> None:
        try:
            together.wait(20)
            proposals.approve(asked.pk, by=replace(controller), at=LATER)
            answers.append("agreed")
        except Conflict as conflict:
            answers.append(conflict.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=agree) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(answers) == ["agreed", "already_approved", "already_approved"]


def test_an_act_that_the_house_has_no_more_is_still_on_record(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = propose()
    monkeypatch.setattr(registry, "acts", dict)
    with pytest.raises(Conflict) as refusal:
        proposals.approve(asked.pk, by=MANAGER, at=LATER)
    assert refusal.value.code == "not_waiting"
    found = queries.proposal(asked.pk)
    assert found is not None
    assert queries.shown(found, LATER)["act"] == "house.rename"
    proposals.withdraw(asked.pk, by=SOMEBODY, at=LATER)
    assert state(asked) == "withdrawn"


def test_the_acts_of_the_installed_apps_are_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """An app's `acts` are found, and two acts of one name are a mistake that stops the service."""
    monkeypatch.undo()
    names = [act.name for act in registry.acts().values()]
    assert names == list(registry.acts())
    assert all(act.shape.name == name for name, act in registry.acts().items())
    assert "verify" in registry.jobs()
    with pytest.raises(AssertionError, match="declared twice"):
        registry.by_name(iter([RENAME, RENAME]))


@pytest.mark.parametrize("wrong", [1.5, "a\0", "\ud800", "\udfff", 2**63, {"a": 0.5}, [[0.5]], {"\0": 1}], ids=repr)
@pytest.mark.parametrize("place", ["/payload/a", "/payload/a/0", "/payload/a/2/b", "/payload/a/1/0/c~1d"])
def test_what_a_record_cannot_keep_is_found_wherever_it_stands(wrong: Any, place: str) -> None:
    value = wrong
    for step in reversed(place.split("/")[2:]):
        value = [0] * int(step) + [value] if step.isdigit() else {step.replace("~1", "/"): value}
    with pytest.raises(ActRefused) as refusal:
        kept(value)
    assert refusal.value.code == "invalid_value"
    assert (refusal.value.pointer or "").startswith(place)


def test_what_waits_about_a_subject_is_neither_decided_nor_over_nor_about_another(house: House) -> None:
    waiting = [new_proposal(), new_proposal(expires_at=LATER + timedelta(microseconds=1))]
    new_proposal(subject="another")
    new_proposal(kind="another")
    new_proposal(expires_at=LATER)
    new_outcome(proposal=new_proposal(), state="refused")
    new_outcome(proposal=new_proposal(by="ada"), state="withdrawn", by="ada", note="")
    assert queries.waiting_about("property", "BOS", LATER) == waiting, "oldest first"
    assert queries.waiting_about("property", "BOS", AT + timedelta(days=7)) == []


@pytest.mark.parametrize("at_once", [1, 2, 500])
def test_what_was_asked_for_is_told_in_its_order_from_a_moment_to_before_another(
    at_once: int, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "AT_ONCE", at_once)
    moments = [AT + timedelta(minutes=minutes) for minutes in range(4)]
    other = TierEdition.objects.create(act="house.grant", number=1, published_at=AT, published_by="a")
    asked = [
        new_proposal(proposed_at=moments[minutes], **({"act": "house.grant", "edition": other} if minutes == 2 else {}))
        for minutes in (2, 1, 3, 1, 2)
    ]
    for first in moments:
        for end in moments:
            for act in (None, "house.rename", "house.grant"):
                expected = [one for one in asked if first <= one.proposed_at < end and act in (None, one.act)]
                assert list(queries.proposed_between(first, end, act=act)) == expected, (first, end, act)


def test_what_an_act_changed_is_its_own_and_not_what_another_changed_of_the_same(house: House) -> None:
    first, second, never = (new_proposal() for _ in range(3))
    for one, action in ((first, "perform"), (second, "propose"), (second, "perform")):
        detail = {"proposal": one.pk, "changes": [{"what": "name", "before": action, "after": str(one.pk)}]}
        audit.record(at=LATER, actor="ada", action=action, subject="BOS", detail=detail)
    for one in (first, second):
        assert queries.changes_made(one) == [{"what": "name", "before": "perform", "after": str(one.pk)}]
    assert queries.changes_made(never) == []
