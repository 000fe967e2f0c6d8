"""Acts and proposals over HTTP (CONTRACT §7)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException, NotFound, ParseError, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting.office import queries, registry
from accounting.office.callers import person_of
from accounting.office.models import Proposal
from accounting.office.refusals import Conflict, NoSuchProposal, NotYours
from accounting.office.rules import asking
from accounting.office.rules.approval import STATES
from accounting.office.rules.person import Person
from accounting.office.services import proposals
from accounting.rules.acts import ActRefused

USUAL = 100


class Refused(APIException):
    """A refusal of the office as a problem: its status, code, words and pointer."""

    def __init__(self, status: int, code: str, detail: str, pointer: str | None = None) -> None:
        super().__init__(detail, code)
        self.status_code = status
        self.pointer = pointer


@contextmanager
def refusals() -> Iterator[None]:
    """Answer what the office refuses as CONTRACT §7 prints it."""
    try:
        yield
    except ActRefused as refusal:
        raise Refused(422, refusal.code, str(refusal), refusal.pointer) from refusal
    except NotYours as refusal:
        raise Refused(403, refusal.code, str(refusal)) from refusal
    except Conflict as refusal:
        raise Refused(409, refusal.code, str(refusal)) from refusal
    except NoSuchProposal as refusal:
        raise NotFound(str(refusal)) from refusal


class StrictJson(BaseParser):
    """JSON as it was meant: no repeated key, no NaN; numbers of any length are read, for a rule to refuse by name."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """The value of the body; an empty body is an empty object."""
        text = stream.read()
        if not text.strip():
            return {}
        try:
            return json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_nan, parse_int=_whole)
        except (ValueError, RecursionError):
            raise ParseError("the body is not JSON, repeats a key, or holds NaN") from None


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _no_nan(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _whole(text: str) -> int:
    return int(text[:40])  # far beyond every bound is as good as further


def parameters(request: Request, *names: str) -> dict[str, str]:
    """The query parameters that were given, of those there are; an empty one is as if not given (CONTRACT §5)."""
    found = {}
    for name, values in request.query_params.lists():
        if name not in names:
            raise ValidationError({name: "there is no such parameter"})
        if len(values) > 1:
            raise ValidationError({name: "given twice"})
        if values[0]:
            found[name] = str(values[0])
    return found


def limit_of(given: dict[str, str]) -> int:
    """How many a page shows."""
    text = given.pop("limit", str(USUAL))
    if not (text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= queries.MOST):
        raise ValidationError({"limit": f"a whole number from 1 to {queries.MOST:,} is expected"})
    return int(text)


def somebody(request: Request) -> Person:
    """The person who asks; a device decides nothing."""
    person = person_of(request)
    if not person.name:
        raise NotYours("acts are decided by people, not by devices")
    return person


class TierShown(serializers.Serializer[Any]):
    """From an amount on, so many people of a role must agree."""

    from_cents = serializers.IntegerField()
    role = serializers.CharField()
    count = serializers.IntegerField()


class ActShown(serializers.Serializer[Any]):
    """What people may decide."""

    name = serializers.CharField()
    title = serializers.CharField()
    subject = serializers.CharField(help_text="what it is about: link, level, table, round …")
    schema = serializers.DictField(help_text="JSON Schema of the payload")
    proposes = serializers.ListField(child=serializers.CharField(), help_text="roles")
    approves = TierShown(many=True)
    reasons = serializers.ListField(child=serializers.CharField(), help_text="the only ones, where there are any")
    evidence = serializers.BooleanField(help_text="whether it is asked for")
    may_propose = serializers.BooleanField()
    may_approve = serializers.BooleanField()
    version = serializers.CharField(
        allow_null=True, required=False, help_text="of the subject asked about; null where there is none"
    )


class ActPage(serializers.Serializer[Any]):
    """The acts of this house; they fit on one page."""

    items = ActShown(many=True)
    next = serializers.CharField(allow_null=True)


class NeedShown(serializers.Serializer[Any]):
    """So many people of a role must agree."""

    role = serializers.CharField()
    count = serializers.IntegerField()


class ApprovalShown(serializers.Serializer[Any]):
    """Somebody agreed."""

    by = serializers.CharField()
    at = serializers.DateTimeField()
    note = serializers.CharField(allow_blank=True)


class EventNamed(serializers.Serializer[Any]):
    """The event that an act became."""

    stream = serializers.CharField()
    sequence = serializers.IntegerField()


class ProposalShown(serializers.Serializer[Any]):
    """Somebody asks for an act, and what came of it."""

    id = serializers.IntegerField()
    act = serializers.CharField()
    subject = serializers.CharField()
    payload = serializers.DictField()
    reason = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()
    state = serializers.ChoiceField(STATES)
    needs = NeedShown(many=True)
    approvals = ApprovalShown(many=True)
    event = EventNamed(allow_null=True)
    code = serializers.CharField(allow_null=True, help_text="of the rule that refused it")
    detail = serializers.CharField(allow_null=True)
    pointer = serializers.CharField(allow_null=True)
    version = serializers.CharField(help_text="the subject as it stood")
    expires_at = serializers.DateTimeField()
    evidence = serializers.DictField(allow_null=True)
    ended = serializers.DictField(allow_null=True, help_text="by whom, when, with which note")


class ProposalPage(serializers.Serializer[Any]):
    """Proposals, newest first."""

    items = ProposalShown(many=True)
    next = serializers.CharField(allow_null=True)


class FileIn(serializers.Serializer[Any]):
    """A file to hand in."""

    name = serializers.CharField(max_length=asking.LONGEST_NAME)
    content = serializers.CharField(help_text=f"base64 of at most {asking.LARGEST_FILE:,} bytes")


class EvidenceIn(serializers.Serializer[Any]):
    """What is handed in with a proposal."""

    reference = serializers.CharField(required=False, max_length=asking.LONGEST_NAME)
    note = serializers.CharField(required=False, max_length=asking.LONGEST_WORDS)
    file = FileIn(required=False)


class ProposalIn(serializers.Serializer[Any]):
    """What is asked for."""

    act = serializers.CharField()
    subject = serializers.CharField(max_length=asking.LONGEST_SUBJECT)
    payload = serializers.DictField()
    reason = serializers.CharField(max_length=asking.LONGEST_WORDS)
    evidence = EvidenceIn(required=False)
    seen = serializers.CharField(required=False, help_text="the version of the subject that was looked at")


class ApprovalIn(serializers.Serializer[Any]):
    """What is said with an approval."""

    note = serializers.CharField(required=False, max_length=asking.LONGEST_WORDS)
    seen = serializers.CharField(required=False)


class NoteIn(serializers.Serializer[Any]):
    """What is said with a withdrawal."""

    note = serializers.CharField(required=False, max_length=asking.LONGEST_WORDS)


class RefusalIn(serializers.Serializer[Any]):
    """Why it is refused."""

    note = serializers.CharField(max_length=asking.LONGEST_WORDS)


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
