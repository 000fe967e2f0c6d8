"""Proposing, and what others say to it: the last who agrees performs the act, in the same transaction (CONTRACT §7).

Audit records come last in every transaction here: writing them keeps all others who write one waiting.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from accounting.office import registry
from accounting.office.acts import Act, Asked, Change, Foreseen, Performed
from accounting.office.models import Approval, Evidence, Outcome, Proposal
from accounting.office.refusals import Conflict, NoSuchProposal, NotYours
from accounting.office.rules import asking
from accounting.office.rules.approval import DONE, EXPIRED, REFUSED, WITHDRAWN, Need, agrees_as, missing, needs_for
from accounting.office.rules.person import Person
from accounting.office.services.tiers import edition_in_force
from accounting.rules.acts import ActRefused
from accounting.rules.chain import canonical
from accounting.services import audit

TERM = timedelta(days=7)
"""How long a proposal waits before it expires."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What somebody asks for, after everything that can be judged was judged."""

    act: Act
    asked: Asked
    evidence: asking.Evidence | None
    version: str
    foreseen: Foreseen


def judge(body: object, *, by: Person, at: datetime) -> Judged:
    """See what the object of CONTRACT §7 asks for, and what it would change; nothing is written.

    Raises ActRefused for a fault of the object or because a rule is against it, NotYours, and Conflict `changed_since`.
    """
    body = asking.keys_of(body, asking.KEYS)
    act = act_named(body)
    if act.proposes.isdisjoint(by.roles):
        raise NotYours(f"{act.title} is proposed by {', '.join(sorted(act.proposes))}")
    subject = asking.subject_of(body)
    payload = act.shape.read(body.get("payload", {}))
    if (asked_by := act.asked_by(payload)).isdisjoint(by.roles):
        raise NotYours(f"{act.title}, asked for like this, is proposed by {', '.join(sorted(asked_by))}")
    asking.kept(payload)
    reason = asking.reason_of(body, act.reasons)
    evidence = asking.evidence_of(body, required=act.evidence)
    seen = asking.words(body, "seen")
    version = act.version(subject)
    if version is None:
        raise ActRefused("unknown_subject", None, f"there is no {act.shape.subject} {subject}")
    _unchanged(seen, version)
    asked = Asked(
        act=act.name, subject=subject, payload=payload, reason=reason, at=at, proposal_id=None,
        proposed_by=by.name, evidence=evidence.digest.hex() if evidence else None,
    )  # fmt: skip
    return Judged(act, asked, evidence, version, act.foresee(asked))


@transaction.atomic
def propose(body: object, *, by: Person, at: datetime) -> Proposal:
    """Ask for an act; done at once where nobody else must agree. Raises as `judge` does, and then nothing is kept."""
    judged = judge(body, by=by, at=at)
    act, asked, evidence = judged.act, judged.asked, judged.evidence
    edition = edition_in_force(act, at=at)
    amount_cents = act.cents(asked.subject, asked.payload)
    needs = needs_for(edition.tiers.all(), amount_cents or 0)
    proposal = Proposal.objects.create(
        act=act.name, kind=act.shape.subject, subject=asked.subject, payload=canonical(asked.payload),
        reason=asked.reason, by=by.name, origin=by.origin, proposed_at=at, expires_at=at + TERM,
        version=judged.version, edition=edition, amount_cents=amount_cents,
        needs=[{"role": need.role, "count": need.count} for need in needs],
        evidence_digest=evidence.digest if evidence else None,
    )  # fmt: skip
    if evidence:
        _hand_in(proposal, evidence)
    said: dict[str, Any] = {"payload": asked.payload, "reason": asked.reason, "needs": proposal.needs}
    said |= {"version": judged.version} | ({"evidence": asked.evidence} if evidence else {})
    if needs:
        _audit(proposal, "propose", by, at, said)
    else:
        changes, performed = _done(act, proposal, at)
        _end(proposal, DONE, at, by, performed=performed)
        _audit(proposal, "propose", by, at, said)
        _audit(proposal, "perform", by, at, _what_came(changes, performed, proposal, ()))
    return proposal


def approve(proposal_id: int, *, by: Person, at: datetime, note: str = "", seen: str = "") -> Proposal:
    """Agree to somebody else's proposal; the last who must agree performs it.

    Raises NoSuchProposal, NotYours, and Conflict `own_proposal`, `already_approved`, `not_waiting` or `changed_since`.
    A rule that is against it now ends the proposal `refused`. Whatever else fails leaves it waiting.
    """
    _expire_in_time(proposal_id, at)
    with transaction.atomic():
        proposal = _locked(proposal_id)
        act = _judges(proposal, by)
        given = list(proposal.approvals.all())
        if any(approval.by == by.name for approval in given):
            raise Conflict("already_approved", "you have agreed to this already")
        _waits(proposal, at)
        needs = needs_of(proposal)
        role = agrees_as(by.roles, missing(needs, [approval.role for approval in given]))
        if role is None:
            raise Conflict("already_approved", "somebody of your role has agreed; it waits for another role")
        if seen:
            _unchanged(seen, act.version(proposal.subject))
        given.append(
            Approval.objects.create(proposal=proposal, by=by.name, role=role, at=at, note=note, origin=by.origin)
        )
        still = missing(needs, [approval.role for approval in given])
        said = {"as": role, "note": note, "proposed_by": proposal.by}
        if still:
            _audit(proposal, "approve", by, at, said)
            return proposal
        agreed = tuple(approval.by for approval in given)
        try:
            with transaction.atomic():
                changes, performed = _done(act, proposal, at, agreed)
                _end(proposal, DONE, at, by, performed=performed)
        except ActRefused as refusal:
            _end(proposal, REFUSED, at, by, refusal=refusal)
            _audit(proposal, "approve", by, at, said)
            _audit(proposal, "refuse by rule", by, at, {"code": refusal.code, "detail": str(refusal)})
        else:
            _audit(proposal, "approve", by, at, said)
            _audit(proposal, "perform", by, at, _what_came(changes, performed, proposal, agreed))
    return proposal


def refuse(proposal_id: int, *, by: Person, at: datetime, note: str) -> Proposal:
    """End a proposal that one might have agreed to, saying why. Raises as `approve` does, and ActRefused without a note."""
    _expire_in_time(proposal_id, at)
    with transaction.atomic():
        proposal = _locked(proposal_id)
        _judges(proposal, by)
        _waits(proposal, at)
        if not note.strip():
            raise ActRefused("missing_field", "/note", "a refusal says why")
        _end(proposal, REFUSED, at, by, note=note)
        _audit(proposal, "refuse", by, at, {"note": note, "proposed_by": proposal.by})
    return proposal


def withdraw(proposal_id: int, *, by: Person, at: datetime, note: str = "") -> Proposal:
    """Take one's own proposal back. Raises NoSuchProposal, NotYours for whoever did not propose it, Conflict `not_waiting`."""
    _expire_in_time(proposal_id, at)
    with transaction.atomic():
        proposal = _locked(proposal_id)
        if proposal.by != by.name:
            raise NotYours(f"only {proposal.by} can withdraw this")
        _waits(proposal, at)
        _end(proposal, WITHDRAWN, at, by, note=note)
        _audit(proposal, "withdraw", by, at, {"note": note})
    return proposal


def expire(at: datetime) -> int:
    """End every proposal whose term is over; how many there were."""
    late = Proposal.objects.filter(expires_at__lte=at, outcome=None).order_by("id").values_list("id", flat=True)
    return sum(_expire_in_time(proposal_id, at) for proposal_id in late)


def _expire_in_time(proposal_id: int, at: datetime) -> bool:
    """End a proposal whose term is over, in a transaction of its own: whoever came too late is told so afterwards."""
    if not Proposal.objects.filter(id=proposal_id, expires_at__lte=at, outcome=None).exists():
        return False
    with transaction.atomic():
        proposal = _locked(proposal_id)
        if Outcome.objects.filter(proposal=proposal).exists():
            return False
        Outcome.objects.create(proposal=proposal, state=EXPIRED, at=at)
        _audit(proposal, "expire", Person("the term", frozenset()), at, {"proposed_by": proposal.by})
    return True


def act_named(body: dict[str, Any]) -> Act:
    """The act that an object names. Raises ActRefused."""
    if "act" not in body:
        raise ActRefused("missing_field", "/act", "act is missing")
    name = body["act"]
    act = registry.acts().get(name) if type(name) is str else None
    if act is None:
        raise ActRefused("invalid_value", "/act", "no act of this name")
    return act


def needs_of(proposal: Proposal) -> tuple[Need, ...]:
    """Who must agree, as fixed when it was proposed."""
    return tuple(Need(need["role"], need["count"]) for need in proposal.needs)


def asked_of(proposal: Proposal, *, at: datetime, approved_by: tuple[str, ...] = ()) -> Asked:
    """A proposal as its act is asked about it."""
    digest = proposal.evidence_digest
    return Asked(
        act=proposal.act, subject=proposal.subject, payload=json.loads(bytes(proposal.payload)), reason=proposal.reason,
        at=at, proposal_id=proposal.pk, proposed_by=proposal.by, approved_by=approved_by,
        evidence=bytes(digest).hex() if digest is not None else None,
    )  # fmt: skip


def _locked(proposal_id: int) -> Proposal:
    known = proposal_id < 2**63  # others are no numbers of proposals, and none that the function could be asked for
    found = next(iter(Proposal.objects.raw("SELECT * FROM lock_proposal(%s)", [proposal_id])), None) if known else None
    if found is None:
        raise NoSuchProposal(f"there is no proposal {proposal_id}")
    return found


def _judges(proposal: Proposal, by: Person) -> Act:
    """The act, when this person may agree to or refuse the proposal by role, and has not proposed it."""
    act = registry.acts().get(proposal.act)
    allowed = {need["role"] for need in proposal.needs} | {tier.role for tier in (act.approves if act else ())}
    if allowed.isdisjoint(by.roles):
        raise NotYours(f"this is for {', '.join(sorted(allowed)) or 'nobody'} to decide")
    if proposal.by == by.name:
        raise Conflict("own_proposal", "nobody approves or refuses what they proposed; it can be withdrawn")
    if act is None:
        raise Conflict("not_waiting", f"this house has no act {proposal.act} any more")
    return act


def _waits(proposal: Proposal, at: datetime) -> None:
    ended = Outcome.objects.filter(proposal=proposal).first()
    if ended is not None:
        raise Conflict("not_waiting", f"this proposal is {ended.state}")
    if at >= proposal.expires_at:
        raise Conflict("not_waiting", f"this proposal is {EXPIRED}")


def _unchanged(seen: str, version: str | None) -> None:
    if seen and seen != version:
        raise Conflict("changed_since", "this has changed since you looked at it: look again")


def _done(
    act: Act, proposal: Proposal, at: datetime, approved_by: tuple[str, ...] = ()
) -> tuple[tuple[Change, ...], Performed]:
    asked = asked_of(proposal, at=at, approved_by=approved_by)
    foreseen = act.foresee(asked)
    return foreseen.rows, act.perform(asked)


def _end(
    proposal: Proposal,
    state: str,
    at: datetime,
    by: Person,
    *,
    note: str = "",
    performed: Performed | None = None,
    refusal: ActRefused | None = None,
) -> None:
    outcome = Outcome(proposal=proposal, state=state, at=at, by=by.name, note=note)
    if performed is not None:
        outcome.stream, outcome.sequence = performed.stream or "", performed.sequence
        outcome.detail = performed.detail
    if refusal is not None:
        outcome.code, outcome.pointer, outcome.detail = refusal.code, refusal.pointer or "", str(refusal)
    outcome.save(force_insert=True)


def _hand_in(proposal: Proposal, evidence: asking.Evidence) -> None:
    Evidence.objects.create(
        proposal=proposal, reference=evidence.reference, note=evidence.note, name=evidence.name,
        content=evidence.content, content_digest=evidence.content_digest,
        size=len(evidence.content) if evidence.content is not None else None, digest=evidence.digest,
    )  # fmt: skip


def _what_came(
    changes: tuple[Change, ...], performed: Performed, proposal: Proposal, approved_by: tuple[str, ...]
) -> dict[str, Any]:
    said: dict[str, Any] = {
        "proposed_by": proposal.by,
        "approved_by": list(approved_by),
        "changes": [{"what": change.what, "before": change.before, "after": change.after} for change in changes],
    }
    if performed.stream is not None:
        said["event"] = {"stream": performed.stream, "sequence": performed.sequence}
    return said


def _audit(proposal: Proposal, action: str, by: Person, at: datetime, said: dict[str, Any]) -> None:
    audit.record(
        at=at, actor=by.name, action=action, subject=proposal.subject, origin=by.origin,
        detail={"proposal": proposal.pk, "act": proposal.act} | said,
    )  # fmt: skip
