"""Reading acts, proposals and evidence, as the API and the pages show them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounting.models import AuditRecord
from accounting.office import registry
from accounting.office.acts import Act
from accounting.office.models import (
    Approval,
    Evidence,
    Job,
    Outcome,
    Proposal,
    ResultFile,
    ResultPart,
    Tier,
    TierEdition,
)
from accounting.office.rules.approval import EXPIRED, STATES, WAITING, Need, agrees_as, missing
from accounting.office.rules.person import Person
from accounting.office.work import SILENT

MOST = 1_000
FILTERS = ("state", "act", "subject", "by", "waiting_for")


class BadFilter(ValueError):
    """A filter that cannot be read; `name` is the parameter at fault."""

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(f"{name}: {detail}")
        self.name = name
        self.detail = detail


def state_of(proposal: Proposal, at: datetime) -> str:
    """Where a proposal stands: as it ended, else waiting until its term is over."""
    ended = outcome_of(proposal)
    if ended is not None:
        return ended.state
    return EXPIRED if at >= proposal.expires_at else WAITING


def outcome_of(proposal: Proposal) -> Outcome | None:
    """How a proposal ended, None while nothing has ended it."""
    found: Outcome | None = getattr(proposal, "outcome", None)
    return found


def evidence_of(proposal: Proposal) -> Evidence | None:
    """What was handed in with a proposal, its file left in the database."""
    found: Evidence | None = getattr(proposal, "evidence", None)
    return found


def still_needed(proposal: Proposal) -> tuple[Need, ...]:
    """Who must still agree."""
    needs = tuple(Need(need["role"], need["count"]) for need in proposal.needs)
    return missing(needs, [approval.role for approval in proposal.approvals.all()])


@dataclass(frozen=True, slots=True)
class May:
    """What somebody may do with a proposal now."""

    approve: bool
    refuse: bool
    withdraw: bool


def may(proposal: Proposal, person: Person, at: datetime) -> May:
    """What this person may do with a proposal as it stands."""
    if state_of(proposal, at) != WAITING:
        return May(False, False, False)
    if proposal.by == person.name:
        return May(False, False, True)
    has_agreed = any(approval.by == person.name for approval in proposal.approvals.all())
    agrees = not has_agreed and agrees_as(person.roles, still_needed(proposal)) is not None
    refuses = not person.roles.isdisjoint(need["role"] for need in proposal.needs)
    return May(agrees, refuses, False)


def proposal(proposal_id: int) -> Proposal | None:
    """A proposal with all that was said to it."""
    return _with_all(Proposal.objects.filter(id=proposal_id)).first()


AT_ONCE = 500


def proposed_between(first: datetime, end: datetime, *, act: str | None = None) -> Iterator[Proposal]:
    """What was asked for from a moment to before another, in its order, a run at a time; one act alone where it is given."""
    found = Proposal.objects.filter(
        proposed_at__gte=first, proposed_at__lt=end, **({} if act is None else {"act": act})
    )
    after = 0
    while run := list(_with_all(found.filter(id__gt=after).order_by("id"))[:AT_ONCE]):
        yield from run
        after = run[-1].pk


def _with_all(found: QuerySet[Proposal]) -> QuerySet[Proposal]:
    # A file may be megabytes: it is read only by whoever downloads it.
    return found.select_related("outcome", "evidence").defer("evidence__content").prefetch_related("approvals")


def file_of(proposal_id: int) -> Evidence | None:
    """The evidence of a proposal with its file, None where no file was handed in."""
    return Evidence.objects.filter(proposal_id=proposal_id, content__isnull=False).first()


@dataclass(frozen=True, slots=True)
class Page:
    """Proposals, newest first; `next` is the cursor of the next page."""

    items: list[Proposal]
    next: str | None


def proposals(filters: Mapping[str, str], *, person: Person, at: datetime, limit: int = 100, cursor: str = "") -> Page:
    """Proposals that match, newest first by key. Raises BadFilter."""
    found = _with_all(Proposal.objects.order_by("-id"))
    for name, value in filters.items():
        found = found.filter(_matching(name, value, person, at))
    if cursor:
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
            raise BadFilter("cursor", "the `next` of the page before is expected")
        found = found.filter(id__lt=int(cursor))
    items = list(found[: limit + 1])
    return Page(items[:limit], str(items[limit - 1].pk) if len(items) > limit else None)


def _matching(name: str, value: str, person: Person, at: datetime) -> Q | Exists:
    match name:
        case "state":
            if value not in STATES:
                raise BadFilter(name, f"one of {', '.join(STATES)} is expected")
            late = Q(outcome=None, expires_at__lte=at)
            if value == WAITING:
                return Q(outcome=None, expires_at__gt=at)
            return Q(outcome__state=value) | late if value == EXPIRED else Q(outcome__state=value)
        case "act":
            return Q(act=value)
        case "subject":
            return Q(subject=value)
        case "by":
            return Q(by=value)
        case "waiting_for":
            if value != "me":
                raise BadFilter(name, "`me` is expected")
            return _waiting_for(person, at)
    raise BadFilter(name, "there is no such filter")


def _waiting_for(person: Person, at: datetime) -> Q:
    """Waiting, by somebody else, not agreed to by this person, and lacking one of their roles."""
    waiting = Q(outcome=None, expires_at__gt=at) & ~Q(by=person.name)
    mine = Approval.objects.filter(proposal=OuterRef("pk"), by=person.name)
    candidates = _with_all(Proposal.objects.filter(waiting).exclude(Exists(mine)).order_by())
    # Few wait at a time: whether a role is still missing is counted here and not in SQL.
    return Q(id__in=[one.pk for one in candidates if agrees_as(person.roles, still_needed(one)) is not None])


def shown(proposal: Proposal, at: datetime) -> dict[str, Any]:
    """A proposal in the form of CONTRACT §7, and what else is known of it."""
    ended, handed_in = outcome_of(proposal), evidence_of(proposal)
    return {
        "id": proposal.pk,
        "act": proposal.act,
        "subject": proposal.subject,
        "payload": json.loads(bytes(proposal.payload)),
        "reason": proposal.reason,
        "by": proposal.by,
        "at": proposal.proposed_at.isoformat(),
        "state": state_of(proposal, at),
        "needs": proposal.needs,
        "approvals": [
            {"by": approval.by, "as": approval.role, "at": approval.at.isoformat(), "note": approval.note}
            for approval in proposal.approvals.all()
        ],
        "event": {"stream": ended.stream, "sequence": ended.sequence} if ended and ended.stream else None,
        "code": (ended.code or None) if ended else None,
        "detail": (ended.detail or ended.note or None) if ended else None,
        "pointer": (ended.pointer or None) if ended else None,
        "version": proposal.version,
        "expires_at": proposal.expires_at.isoformat(),
        "evidence": _evidence_shown(handed_in) if handed_in else None,
        "ended": {"by": ended.by or None, "at": ended.at.isoformat(), "note": ended.note} if ended else None,
    }


def _evidence_shown(handed_in: Evidence) -> dict[str, Any]:
    file = None
    if handed_in.content_digest is not None:
        digest = bytes(handed_in.content_digest).hex()
        file = {"name": handed_in.name, "size": handed_in.size, "sha256": digest}
    return {
        "reference": handed_in.reference,
        "note": handed_in.note,
        "file": file,
        "digest": bytes(handed_in.digest).hex(),
    }


def changes_made(proposal: Proposal) -> list[dict[str, str]]:
    """What an act changed when it was done: before and after, from the audit trail."""
    done = AuditRecord.objects.filter(subject=proposal.subject, action="perform", detail__proposal=proposal.pk).first()
    return list(done.detail.get("changes", [])) if done else []


def waiting_about(kind: str, subject: str, at: datetime) -> list[Proposal]:
    """What waits to be decided about a subject, oldest first."""
    found = Proposal.objects.filter(kind=kind, subject=subject, outcome=None, expires_at__gt=at)
    return list(found.order_by("id"))


def tiers_in_force() -> dict[str, list[dict[str, Any]]]:
    """Who must agree from which amount, by act: what the house has published last, else what the act declares."""
    found = {
        act.name: [
            {"from_cents": tier.from_cents, "role": tier.role, "count": tier.count}
            for tier in sorted(act.approves, key=lambda tier: tier.from_cents)
        ]
        for act in registry.acts().values()
    }
    latest = TierEdition.objects.order_by("act", "-number").distinct("act")
    published = dict(latest.values_list("id", "act"))
    found |= {name: [] for name in published.values() if name in found}
    for tier in Tier.objects.filter(edition__in=published).order_by("from_cents", "id"):
        if published[tier.edition_id] in found:
            found[published[tier.edition_id]].append(
                {"from_cents": tier.from_cents, "role": tier.role, "count": tier.count}
            )
    return found


def tiers_of(act: str) -> list[Tier]:
    """The tiers of one act as the house has published them last, else as it declares them."""
    rows = tiers_in_force()[act]
    return [Tier(from_cents=row["from_cents"], role=row["role"], count=row["count"]) for row in rows]


def agreed_as(proposal_id: int, name: str) -> str | None:
    """As which role somebody agreed to a proposal; None where they did not."""
    return Approval.objects.filter(proposal=proposal_id, by=name).values_list("role", flat=True).first()


def act_shown(act: Act, tiers: list[dict[str, Any]], person: Person) -> dict[str, Any]:
    """An act in the form of CONTRACT §7, for this person."""
    return {
        "name": act.name,
        "title": act.title,
        "subject": act.shape.subject,
        "schema": act.shape.schema(),
        "proposes": sorted(act.proposes),
        "approves": tiers,
        "reasons": list(act.reasons),
        "evidence": act.evidence,
        "may_propose": not act.proposes.isdisjoint(person.roles),
        "may_approve": any(tier["count"] and tier["role"] in person.roles for tier in tiers),
    }


def acts_shown(person: Person) -> list[dict[str, Any]]:
    """Every act of the house, for this person."""
    tiers = tiers_in_force()
    return [act_shown(act, tiers[act.name], person) for act in registry.acts().values()]


def offered(kind: str, subject: str, roles: Iterable[str]) -> list[Act]:
    """The acts that somebody with these roles may propose about a subject of this kind, as it stands."""
    held = frozenset(roles)
    return [
        act
        for act in registry.acts().values()
        if act.shape.subject == kind
        and not act.proposes.isdisjoint(held)
        and (act.possible is None or act.possible(subject))
    ]


def standing(job: Job, at: datetime) -> str:
    """Where a job stands: as written, but lost once its worker has been silent for too long."""
    if job.state == Job.State.RUNNING and job.beat_at is not None and job.beat_at < at - SILENT:
        return str(Job.State.LOST)
    return str(job.state)


def job(job_id: int) -> Job | None:
    """A job by its number."""
    return Job.objects.filter(id=job_id).first()


def jobs(kind: str = "", limit: int = 20) -> list[Job]:
    """The last jobs, of one kind where it is named, newest first, without their results."""
    found = Job.objects.filter(kind=kind) if kind else Job.objects.all()
    return list(found.defer("result").order_by("-id")[:limit])


def choices(act: Act, *, most: int = 50) -> list[str]:
    """Subjects that an act can be asked for as they stand, as far as the house lists such subjects."""
    listed = registry.subjects().get(act.shape.subject)
    possible = (each for each in (listed() if listed else ()) if act.possible is None or act.possible(each))
    return list(islice(possible, most))


def result_files(job: Job) -> list[ResultFile]:
    """The files that came of a job, once it is done and for as long as they are kept."""
    return list(job.files.all()) if job.state == Job.State.DONE else []


def result_file(job: Job, number: int) -> ResultFile | None:
    """One of them by its number."""
    return next((file for file in result_files(job) if file.number == number), None)


def content_of(file: ResultFile) -> Iterator[bytes]:
    """The content of a file, each part read when it is asked for. Raises LookupError where it is removed meanwhile."""
    parts = ResultPart.objects.filter(job=file.job_id, file=file.number)
    for number in range(file.parts):
        content = parts.filter(number=number).values_list("content", flat=True).first()
        if content is None:
            raise LookupError(f"part {number} of file {file.number} of job {file.job_id} is not kept any more")
        yield bytes(content)
