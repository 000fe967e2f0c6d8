"""Decisions: what waits for me, a proposal with what it would change, and the form of an act."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from accounting.models import Property
from accounting.office import queries, registry
from accounting.office.acts import Act, Foreseen
from accounting.office.callers import person_of
from accounting.office.forms import ActForm, laid_out
from accounting.office.models import Proposal
from accounting.office.refusals import Conflict, NoSuchProposal, NotYours
from accounting.office.rules.approval import STATES, WAITING
from accounting.office.services import proposals
from accounting.queries import the_property
from accounting.rules import acts, parameters
from accounting.rules.acts import ActRefused, Field
from accounting.rules.retention import kinds
from accounting.shell.navigation import SECTIONS, may_use
from accounting.shell.pages import page
from accounting.shell.templatetags.pages import moment, money, role, share, whole, words

SHOWN = 50
FILTERS = ("state", "act", "subject", "by")


@page("decisions")
def decisions(request: HttpRequest) -> HttpResponse:
    """What waits for me, what I proposed, and all there is, by key."""
    at, me = timezone.now(), person_of(request)
    sent = parameters.read(request.GET.lists(), (*FILTERS, "cursor"))
    typed = {name: (sent.text(name) or "").strip() for name in FILTERS}
    cursor = sent.text("cursor") or ""
    given = {name: value for name, value in typed.items() if value}
    context: dict[str, Any] = {
        "typed": typed,
        "states": STATES,
        "acts": list(registry.acts().values()),
        "mine_to_propose": [act for act in registry.acts().values() if not act.proposes.isdisjoint(me.roles)],
        "first": urlencode(given),
        "cursor": cursor,
    }
    try:
        found = queries.proposals(given, person=me, at=at, limit=SHOWN, cursor=cursor)
    except queries.BadFilter as refusal:
        return render(request, "office/decisions.html", context | {"refusal": refusal}, status=400)
    if not given and not cursor:
        waiting = queries.proposals({"waiting_for": "me"}, person=me, at=at, limit=SHOWN)
        mine = queries.proposals({"by": me.name, "state": WAITING}, person=me, at=at, limit=SHOWN)
        context |= {"waiting": [row(one, at) for one in waiting.items], "mine": [row(one, at) for one in mine.items]}
    context |= {
        "items": [row(one, at) for one in found.items],
        "next": urlencode(given | {"cursor": found.next}) if found.next else None,
    }
    return render(request, "office/decisions.html", context)


@dataclass(frozen=True, slots=True)
class Row:
    """A proposal on one line of a list."""

    proposal: Proposal
    title: str
    state: str
    still: str
    gist: str


def row(proposal: Proposal, at: Any) -> Row:
    """A proposal as a list shows it."""
    state = queries.state_of(proposal, at)
    still = queries.still_needed(proposal) if state == WAITING else ()
    said = [f"{fact.title.lower()} {fact.text}" for fact in facts(proposal) if not fact.long and len(fact.text) <= 80]
    return Row(proposal, registry.title(proposal.act), state, in_words(still), ", ".join(said))


def in_words(needs: Any) -> str:
    """Who must agree, in the words of the house: `shift manager, 2 × accounting manager`."""
    return ", ".join(role(need.role) if need.count == 1 else f"{need.count} × {role(need.role)}" for need in needs)


@dataclass(frozen=True, slots=True)
class Fact:
    """One key of a payload in words; a long one is shown as it was written."""

    title: str
    text: str
    long: bool = False


def facts(proposal: Proposal) -> list[Fact]:
    """A payload in words, in the order of its shape; what the shape no longer knows comes last."""
    payload: dict[str, Any] = json.loads(bytes(proposal.payload))
    act = registry.acts().get(proposal.act)
    fields = act.shape.fields if act else ()
    known = [_fact(field, payload[field.name]) for field in fields if field.name in payload]
    rest = payload.keys() - {field.name for field in fields}
    return known + [_nested(key, payload[key]) for key in sorted(rest)]


def _fact(field: Field, value: Any) -> Fact:
    if value is None:
        return Fact(field.title, "none")
    match field.kind:
        case acts.WHOLE:
            return Fact(field.title, money(value) if field.money else f"{value:,}")
        case acts.FLAG:
            return Fact(field.title, "yes" if value else "no")
        case acts.CHOICE:
            return Fact(field.title, value.replace("_", " "))
        case acts.CHOICES:
            return Fact(field.title, ", ".join(value).replace("_", " "))
        case acts.MOMENT:
            return Fact(field.title, moment(value))
        case acts.TEXT:
            return Fact(field.title, value, len(value) > 80)
    return _nested(field.title, value)


def _nested(title: str, value: Any) -> Fact:
    if value in ([], {}):
        return Fact(title, "none")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return Fact(title, ", ".join(value).replace("_", " "))
    if isinstance(value, dict) and all(type(item) is int for item in value.values()):
        return Fact(title, ", ".join(_figure(key, item) for key, item in value.items()))
    return Fact(title, laid_out(value), True)


def _figure(key: str, value: int) -> str:
    """A key of an object and its figure: `bay-dollar 1,234`, `reset $500.00`."""
    if key.endswith("_cents"):
        return f"{words(key.removesuffix('_cents'))} {money(value)}"
    if key.endswith("_ppm"):
        return f"{words(key.removesuffix('_ppm'))} {share(value)}"
    return f"{words(key)} {whole(value)}"


PAGES: dict[str, tuple[str, str]] = {
    "day": ("accounting", "gaming-day"),
    "hit": ("hits", "hit-page"),
    "level": ("jackpots", "jackpot"),
    "link": ("jackpots", "jackpot"),
    "payout": ("hits", "round-page"),
    "round": ("floor", "round-page"),
    "slip": ("slips", "slip"),
    "table": ("floor", "table-page"),
    "week": ("reports", "report"),
}
"""Where the page of a subject is, by its kind: the section that must be open to whoever follows, and the address's name."""


FOUNDING = frozenset({"link.file", "table.install"})
"""Acts whose subject is there only once they are done."""


def about(proposal: Proposal, state: str, roles: frozenset[str]) -> str:
    """The address of the page of what a proposal is about; "" where there is none yet, or none for these roles.

    A level is on its link's page, envy on the page of its round: its subject is the round's with two seats behind.
    A week has a report.
    """
    kind, subject = proposal.kind, proposal.subject
    if kind == "payout" and "/" not in subject:
        kind = "hit"
    section, name = PAGES.get(kind, ("", ""))
    is_open = any(one.code == section and not one.roles.isdisjoint(roles) for one in SECTIONS)
    if not is_open or (proposal.act in FOUNDING and state != "done"):
        return ""
    if kind == "level":
        subject = subject.rpartition("/")[0]
    elif kind == "payout":
        subject = subject.rsplit("/", 2)[0]
    elif kind == "week":
        return f"{reverse(name, args=['weekly'])}?{urlencode({'week': subject})}"
    return reverse(name, args=[subject])


NAMED_SLIP = re.compile(r"\bslip (\d{6,})\b")


def _with_slips(detail: str, roles: frozenset[str]) -> SafeString:
    """What came of an act in words, each slip that it names a link for those who may open slips."""
    section, name = PAGES["slip"]
    if not may_use(section, roles):
        return format_html("{}", detail)
    words, numbers = NAMED_SLIP.split(detail)[::2], NAMED_SLIP.findall(detail)
    said = format_html("{}", words[0])
    for number, more in zip(numbers, words[1:], strict=True):
        said += format_html('<a href="{}" data-row>slip {}</a>{}', reverse(name, args=[number]), number, more)
    return said


@page("decisions")
def decision(request: HttpRequest, proposal_id: int) -> HttpResponse:
    """A proposal: what it would change now, who agreed, and what I may do with it."""
    return _decision(request, proposal_id)


def _decision(
    request: HttpRequest, proposal_id: int, *, refusal: str = "", note: str = "", status: int = 200
) -> HttpResponse:
    at, me = timezone.now(), person_of(request)
    proposal = queries.proposal(proposal_id)
    if proposal is None:
        raise Http404(f"there is no proposal {proposal_id}")
    state, evidence, ended = queries.state_of(proposal, at), queries.evidence_of(proposal), queries.outcome_of(proposal)
    context: dict[str, Any] = {
        "proposal": proposal,
        "title": registry.title(proposal.act),
        "state": state,
        "facts": facts(proposal),
        "about": about(proposal, state, frozenset(me.roles)),
        "needs": [
            (need, [given for given in proposal.approvals.all() if given.role == need["role"]])
            for need in proposal.needs
        ],
        "still": in_words(queries.still_needed(proposal)) if state == WAITING else "",
        "ended": ended,
        "came_of_it": _with_slips(ended.detail, frozenset(me.roles)) if ended else "",
        "evidence": evidence,
        "kept_until": kinds()["evidence"].kept_until(timezone.localdate(proposal.proposed_at), timezone.localdate(at)),
        "digest": bytes(evidence.content_digest).hex() if evidence and evidence.content_digest else "",
        "may": queries.may(proposal, me, at),
        "refusal": refusal,
        "note": note,
    }
    act = registry.acts().get(proposal.act)
    if state == WAITING and act is not None:
        context |= _as_things_stand(act, proposal, at)
    elif state == "done":
        context["changes"] = queries.changes_made(proposal)
    return render(request, "office/decision.html", context, status=status)


def _as_things_stand(act: Act, proposal: Proposal, at: Any) -> dict[str, Any]:
    """What the act would change now, or what is against it; and whether its subject has moved since it was proposed."""
    version = act.version(proposal.subject)
    found: dict[str, Any] = {"version": version or "", "moved": version != proposal.version}
    if version is None:
        return found | {"against": f"there is no {act.shape.subject} {proposal.subject} any more"}
    try:
        foreseen = act.foresee(proposals.asked_of(proposal, at=at))
    except ActRefused as refusal:
        return found | {"against": str(refusal)}
    return found | {"changes": foreseen.rows, "words": foreseen.words}


def _say(request: HttpRequest, proposal_id: int, what: Callable[..., Proposal], told: str, **more: Any) -> HttpResponse:
    """Say something to a proposal and show it again; what speaks against that is shown on its page."""
    note = request.POST.get("note", "").strip()
    try:
        what(proposal_id, by=person_of(request), at=timezone.now(), note=note[:2_000], **more)
    except NoSuchProposal as missing:
        raise Http404(str(missing)) from None
    except NotYours as refusal:
        raise PermissionDenied(str(refusal)) from None
    except Conflict as conflict:
        return _decision(request, proposal_id, refusal=f"{str(conflict).capitalize()}.", note=note, status=409)
    except ActRefused as refusal:
        return _decision(request, proposal_id, refusal=f"{str(refusal).capitalize()}.", note=note, status=422)
    messages.success(request, told)
    return redirect("decision", proposal_id)


@require_POST
@page("decisions")
def approve(request: HttpRequest, proposal_id: int) -> HttpResponse:
    """Agree to what the page showed."""
    seen = request.POST.get("seen", "")
    return _say(request, proposal_id, proposals.approve, "You agreed.", seen=seen)


@require_POST
@page("decisions")
def refuse(request: HttpRequest, proposal_id: int) -> HttpResponse:
    """Refuse, saying why."""
    return _say(request, proposal_id, proposals.refuse, "You refused.")


@require_POST
@page("decisions")
def withdraw(request: HttpRequest, proposal_id: int) -> HttpResponse:
    """Take one's own proposal back."""
    return _say(request, proposal_id, proposals.withdraw, "You withdrew it.")


@page("decisions")
def handed_in(request: HttpRequest, proposal_id: int) -> HttpResponse:
    """The file that was handed in, to be kept and not opened by the browser."""
    found = queries.file_of(proposal_id)
    if found is None or found.content is None:
        raise Http404("no file was handed in with this proposal")
    answer = HttpResponse(bytes(found.content), content_type="application/octet-stream")
    answer.headers["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=found.name) or ""
    return answer


@page("decisions")
def propose(request: HttpRequest, act: str) -> HttpResponse:
    """The form of an act. Looking shows what would change; proposing lands on the proposal's page."""
    at, me = timezone.now(), person_of(request)
    wanted = registry.acts().get(act)
    if wanted is None:
        raise Http404(f"there is no act {act}")
    if wanted.proposes.isdisjoint(me.roles):
        raise PermissionDenied(f"{wanted.title} is not for your role to propose.")
    home: Property = the_property()
    subject = request.GET.get("subject", "")
    form = ActForm(
        wanted, subject=subject, seen=(wanted.version(subject) or "") if subject else "", zone=ZoneInfo(home.time_zone)
    )
    if subject and form.seen and wanted.begins is not None:
        form.begin(wanted.begins(subject))
    foreseen: Foreseen | None = None
    status = 200
    if request.method == "POST":
        status = 422
        body = form.read(request.POST, request.FILES)  # type: ignore[arg-type]
        if "more" in request.POST:
            status = 200  # a row to spare is there now; nothing is asked yet
        elif body is not None:
            try:
                if "look" in request.POST:
                    judged = proposals.judge(body, by=me, at=at)
                    foreseen, form.seen, status = judged.foreseen, judged.version, 200
                else:
                    return redirect("decision", proposals.propose(body, by=me, at=at).pk)
            except ActRefused as refusal:
                form.refused(refusal)
            except Conflict as conflict:
                form.refusal = str(conflict)
                form.seen, status = wanted.version(form.subject) or "", 409
    if wanted.stands is not None and form.subject and wanted.version(form.subject):
        form.stand(wanted.stands(form.subject))
    context = {
        "form": form,
        "act": wanted,
        "foreseen": foreseen,
        "tiers": queries.tiers_in_force()[wanted.name],
        "choices": () if subject else queries.choices(wanted),
    }
    return render(request, "office/propose.html", context, status=status)


urlpatterns = [
    path("decisions/", decisions, name="decisions"),
    path("decisions/new/<str:act>/", propose, name="propose"),
    path("decisions/<int:proposal_id>/", decision, name="decision"),
    path("decisions/<int:proposal_id>/approve", approve, name="decision-approve"),
    path("decisions/<int:proposal_id>/refuse", refuse, name="decision-refuse"),
    path("decisions/<int:proposal_id>/withdraw", withdraw, name="decision-withdraw"),
    path("decisions/<int:proposal_id>/evidence", handed_in, name="decision-evidence"),
]
