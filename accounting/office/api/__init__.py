"""Acts and proposals over HTTP (CONTRACT §7)."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting.office import queries, registry
from accounting.office.api.requests import StrictJson, limit_of, parameters, refusals, somebody
from accounting.office.api.shapes import ActPage, ApprovalIn, NoteIn, ProposalIn, ProposalPage, ProposalShown, RefusalIn
from accounting.office.callers import person_of
from accounting.office.models import Proposal
from accounting.office.rules import asking
from accounting.office.rules.approval import STATES
from accounting.office.services import proposals

ANSWERS = {
    400: OpenApiResponse(description="not JSON, or a query parameter that cannot be read"),
    401: OpenApiResponse(description="nobody known"),
    403: OpenApiResponse(description="`not_your_role`"),
}
OF_ONE = ANSWERS | {
    404: OpenApiResponse(description="no such proposal"),
    409: OpenApiResponse(description="`own_proposal`, `already_approved`, `not_waiting`, `changed_since`"),
    422: OpenApiResponse(description="`code` and `pointer` name the fault"),
}


class Acts(APIView):
    """What may be decided."""

    @extend_schema(
        parameters=[
            OpenApiParameter("kind", str, description="only acts about a link, level, table, round …"),
            OpenApiParameter("subject", str, description="one of that kind, to be told its `version`"),
        ],
        responses=ANSWERS | {200: ActPage},
        operation_id="acts_list",
    )
    def get(self, request: Request) -> Response:
        """The acts of this house, and whether the caller may propose or approve them."""
        given = parameters(request, "kind", "subject")
        items = queries.acts_shown(person_of(request))
        if "kind" in given:
            items = [item for item in items if item["subject"] == given["kind"]]
        if "subject" in given:
            known = registry.acts()
            items = [item | {"version": known[item["name"]].version(given["subject"])} for item in items]
        return Response({"items": items, "next": None})


class Proposals(APIView):
    """What people ask for."""

    parser_classes = [StrictJson]

    @extend_schema(
        request=ProposalIn,
        responses=ANSWERS
        | {
            201: ProposalShown,
            409: OpenApiResponse(description="`changed_since`"),
            422: OpenApiResponse(description="`code` and `pointer` name the fault: of the object, or by a rule"),
        },
        operation_id="proposals_create",
    )
    def post(self, request: Request) -> Response:
        """Propose an act; one that needs nobody else is done at once."""
        at = timezone.now()
        with refusals():
            proposal = proposals.propose(body_of(request), by=somebody(request), at=at)
        answer = answered(proposal, at, status=201)
        answer["Location"] = f"/api/v1/proposals/{proposal.pk}"
        return answer

    @extend_schema(
        parameters=[
            OpenApiParameter("state", str, enum=STATES),
            OpenApiParameter("act", str),
            OpenApiParameter("subject", str),
            OpenApiParameter("by", str),
            OpenApiParameter("waiting_for", str, enum=["me"]),
            OpenApiParameter("cursor", str),
            OpenApiParameter("limit", int),
        ],
        responses=ANSWERS | {200: ProposalPage},
        operation_id="proposals_list",
    )
    def get(self, request: Request) -> Response:
        """A page of proposals, newest first."""
        at = timezone.now()
        given = parameters(request, *queries.FILTERS, "cursor", "limit")
        limit, cursor = limit_of(given), given.pop("cursor", "")
        try:
            found = queries.proposals(given, person=person_of(request), at=at, limit=limit, cursor=cursor)
        except queries.BadFilter as refusal:
            raise ValidationError({refusal.name: refusal.detail}) from refusal
        return Response({"items": [queries.shown(one, at) for one in found.items], "next": found.next})


class OneProposal(APIView):
    """One proposal."""

    @extend_schema(responses=OF_ONE | {200: ProposalShown}, operation_id="proposals_retrieve")
    def get(self, request: Request, proposal_id: int) -> Response:
        """A proposal with what was said to it."""
        parameters(request)
        found = queries.proposal(proposal_id)
        if found is None:
            raise NotFound(f"there is no proposal {proposal_id}")
        return Response(queries.shown(found, timezone.now()))


class Approvals(APIView):
    """Agreeing."""

    parser_classes = [StrictJson]

    @extend_schema(request=ApprovalIn, responses=OF_ONE | {200: ProposalShown}, operation_id="proposals_approve")
    def post(self, request: Request, proposal_id: int) -> Response:
        """Agree to somebody else's proposal; the last approval performs the act: `done`, or `refused` by a rule."""
        at = timezone.now()
        with refusals():
            by, body = somebody(request), asking.keys_of(body_of(request), ("note", "seen"))
            note, seen = asking.words(body, "note"), asking.words(body, "seen")
            return answered(proposals.approve(proposal_id, by=by, at=at, note=note, seen=seen), at)


class Withdrawal(APIView):
    """Taking one's own proposal back."""

    parser_classes = [StrictJson]

    @extend_schema(request=NoteIn, responses=OF_ONE | {200: ProposalShown}, operation_id="proposals_withdraw")
    def post(self, request: Request, proposal_id: int) -> Response:
        """Withdraw a proposal that one has made and that still waits."""
        at = timezone.now()
        with refusals():
            by, note = somebody(request), asking.words(asking.keys_of(body_of(request), ("note",)), "note")
            return answered(proposals.withdraw(proposal_id, by=by, at=at, note=note), at)


class Refusal(APIView):
    """Refusing."""

    parser_classes = [StrictJson]

    @extend_schema(request=RefusalIn, responses=OF_ONE | {200: ProposalShown}, operation_id="proposals_refuse")
    def post(self, request: Request, proposal_id: int) -> Response:
        """Refuse a proposal that one might have approved, saying why."""
        at = timezone.now()
        with refusals():
            by, note = somebody(request), asking.words(asking.keys_of(body_of(request), ("note",)), "note")
            return answered(proposals.refuse(proposal_id, by=by, at=at, note=note), at)


class HandedIn(APIView):
    """The file that was handed in with a proposal."""

    @extend_schema(
        responses=OF_ONE | {(200, "application/octet-stream"): OpenApiTypes.BINARY}, operation_id="proposals_evidence"
    )
    def get(self, request: Request, proposal_id: int) -> HttpResponse:
        """The file as it was handed in, for people only."""
        parameters(request)
        with refusals():
            somebody(request)
        return download(proposal_id)


def download(proposal_id: int) -> HttpResponse:
    """A file to be kept and not opened by the browser. Raises NotFound."""
    found = queries.file_of(proposal_id)
    if found is None or found.content is None:
        raise NotFound("no file was handed in with this proposal")
    answer = HttpResponse(bytes(found.content), content_type="application/octet-stream")
    answer.headers["Content-Disposition"] = attachment(found.name)
    return answer


def attachment(name: str) -> str:
    """The header that names a file, whatever its letters (RFC 6266)."""
    return content_disposition_header(as_attachment=True, filename=name) or "attachment"


def body_of(request: Request) -> Any:
    """The body as a JSON value."""
    return request.data


def answered(proposal: Proposal, at: datetime, *, status: int = 200) -> Response:
    """A proposal as it stands now."""
    found = queries.proposal(proposal.pk)
    assert found is not None, "a proposal stays"
    return Response(queries.shown(found, at), status=status)


urlpatterns = [
    path("acts", Acts.as_view(), name="acts"),
    path("proposals", Proposals.as_view(), name="proposals"),
    path("proposals/<int:proposal_id>", OneProposal.as_view(), name="proposal"),
    path("proposals/<int:proposal_id>/approvals", Approvals.as_view(), name="proposal-approvals"),
    path("proposals/<int:proposal_id>/withdrawal", Withdrawal.as_view(), name="proposal-withdrawal"),
    path("proposals/<int:proposal_id>/refusal", Refusal.as_view(), name="proposal-refusal"),
    path("proposals/<int:proposal_id>/evidence", HandedIn.as_view(), name="proposal-evidence"),
]
