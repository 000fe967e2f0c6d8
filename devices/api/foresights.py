"""Proposed terms foreseen over HTTP, and a link's record replayed under them: what `manage.py foresee` says."""

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting.office import queries as office
from accounting.office.api.requests import StrictJson, refusals, somebody
from accounting.office.refusals import NotYours
from accounting.office.rules.person import Person
from accounting.office.services import jobs
from accounting.rules.acts import ActRefused, escaped
from accounting.rules.moments import instant, is_moment
from accounting.rules.roles import FORESIGHT
from devices.foresight import proposed
from devices.foresight.proposed import ProposedRefused
from devices.foresight.work import FORESEE, asked_of
from jackpot.rules.probability import NoProbability
from tables.odds.foreseeing import MOST_WAGERS, SEED, Figure, Foreseen, LevelForeseen, foresee

KEYS = ("link", "terms", "wagers", "seed", "replay")
PERIOD = ("from", "to")


class PeriodIn(serializers.Serializer[Any]):
    """What of the record is replayed: events recorded from one moment on and before another."""

    to = serializers.DateTimeField(required=False)

    def get_fields(self) -> dict[str, Any]:
        """`from` is a word of the language, so it is added by name."""
        return {"from": serializers.DateTimeField(required=False)} | super().get_fields()


class ForesightIn(serializers.Serializer[Any]):
    """What is to be foreseen."""

    link = serializers.CharField(help_text="the code of a link on record, or of one that is not there yet")
    terms = serializers.DictField(
        help_text="`levels` that change, as `link.terms` names them; or a whole link as CONTRACT §1 has it, with `initial`"
    )
    wagers = serializers.IntegerField(
        min_value=1,
        max_value=MOST_WAGERS,
        required=False,
        help_text="progressive wagers a month; as on record if absent",
    )
    seed = serializers.IntegerField(min_value=0, required=False, help_text="of what is simulated")
    replay = PeriodIn(required=False, help_text="start a replay of the link's record as well; `{}` is all of it")


class FigureShown(serializers.Serializer[Any]):
    """A mean with its band of 5 and 95 %: cents, to the nearest; exact, or simulated with the standard error of the mean."""

    mean_cents = serializers.IntegerField()
    low_cents = serializers.IntegerField(allow_null=True)
    high_cents = serializers.IntegerField(allow_null=True)
    error_cents = serializers.IntegerField(allow_null=True, help_text="null where the mean is exact")


class CountShown(serializers.Serializer[Any]):
    """A mean to the hundredth, with its band of 5 and 95 %."""

    mean = serializers.CharField()
    low = serializers.IntegerField(allow_null=True)
    high = serializers.IntegerField(allow_null=True)


class ReturnShown(serializers.Serializer[Any]):
    """What comes back of a wager while the meter shows so much, in millionths of the wager."""

    what = serializers.CharField()
    meter_cents = serializers.IntegerField()
    returned_ppm = serializers.IntegerField()


class LevelForeseenShown(serializers.Serializer[Any]):
    """One level over a month, from the meters as they stand; null is what cannot be told."""

    code = serializers.CharField()
    one_in = serializers.CharField(allow_null=True, help_text="wagers to a hit in the mean, to the hundredth")
    hits = CountShown()
    next_meter = FigureShown(allow_null=True)
    meter = FigureShown(allow_null=True, help_text="at a hit in the long run")
    contributed_cents = serializers.IntegerField()
    reserved_cents = serializers.IntegerField()
    paid = FigureShown()
    house = FigureShown(help_text="resets and top-ups from the house in the next month")
    reserve_after = FigureShown()
    overflow_after = FigureShown()
    returns = ReturnShown(many=True)


class SideShown(serializers.Serializer[Any]):
    """A link under one set of terms."""

    levels = LevelForeseenShown(many=True)
    cost = FigureShown(help_text="all that the house puts into the levels in the next month")
    fixed_pays_cents = serializers.IntegerField()
    envy_per_other_cents = serializers.IntegerField()


class ForesightShown(serializers.Serializer[Any]):
    """The proposed terms and today's side by side; `today` is null for a link that is not there yet."""

    link = serializers.CharField()
    wagers = serializers.IntegerField()
    seed = serializers.IntegerField()
    runs = serializers.IntegerField(help_text="simulated months")
    proposed = SideShown()
    today = SideShown(allow_null=True)
    replay = serializers.IntegerField(allow_null=True, help_text="the number of the replay that was started")


class ReplayShown(serializers.Serializer[Any]):
    """A replay: how far it is, and both sides once it is done, amounts in millionths of a cent."""

    id = serializers.IntegerField()
    link = serializers.CharField()
    state = serializers.ChoiceField(choices=["queued", "running", "done", "failed", "cancelled", "lost"])
    by = serializers.CharField()
    asked_at = serializers.DateTimeField()
    done = serializers.IntegerField(help_text="events so far")
    total = serializers.IntegerField(allow_null=True)
    detail = serializers.CharField(allow_blank=True)
    result = serializers.DictField(allow_null=True)


ANSWERS = {
    400: OpenApiResponse(description="not JSON"),
    401: OpenApiResponse(description="nobody known"),
    403: OpenApiResponse(description="`not_your_role`"),
}


class Foresights(APIView):
    """What proposed terms would come to."""

    parser_classes = [StrictJson]

    @extend_schema(
        request=ForesightIn,
        responses=ANSWERS
        | {
            200: ForesightShown,
            202: ForesightShown,
            409: OpenApiResponse(description="`already_running`: one replay at a time"),
            422: OpenApiResponse(
                description="`code` and `pointer` name the fault, pointers of terms begin with `/terms`"
            ),
        },
        operation_id="foresights_create",
    )
    def post(self, request: Request) -> Response:
        """Foresee terms. With `replay` it is 202: the record is replayed under them, and `Location` says where to look."""
        with refusals():
            by = _foreseer(request)
            found, today, asked = _judged(request.data)
            shown = _shown(found, today)
            if asked is None:
                return Response(shown | {"replay": None})
            job = jobs.start(FORESEE, by=by, at=timezone.now(), asked=asked)
        transaction.on_commit(lambda: jobs.call(job.pk))
        return Response(shown | {"replay": job.pk}, status=202, headers={"Location": f"/api/v1/foresights/{job.pk}"})


class OneForesight(APIView):
    """A replay."""

    @extend_schema(
        responses=ANSWERS | {200: ReplayShown, 404: OpenApiResponse(description="no such replay")},
        operation_id="foresights_retrieve",
    )
    def get(self, request: Request, foresight_id: int) -> Response:
        """How far a replay is, and both sides once it is done."""
        with refusals():
            _foreseer(request)
        job = office.job(foresight_id) if foresight_id < 2**63 else None
        if job is None or job.kind != FORESEE.name:
            raise NotFound(f"no replay {foresight_id}")
        return Response({
            "id": job.pk, "link": job.asked["link"], "state": office.standing(job, timezone.now()), "by": job.by,
            "asked_at": job.asked_at.isoformat(), "done": job.done, "total": job.total, "detail": job.detail,
            "result": job.result,
        })  # fmt: skip


def _foreseer(request: Request) -> Person:
    by = somebody(request)
    if FORESIGHT.isdisjoint(by.roles):
        raise NotYours(f"terms are foreseen by {', '.join(sorted(FORESIGHT))}")
    return by


def _judged(body: object) -> tuple[Foreseen, Foreseen | None, dict[str, Any] | None]:
    """Proposed and today's terms foreseen, and what a replay is asked to do. ActRefused for the first fault."""
    if type(body) is not dict:
        raise ActRefused("invalid_value", "", "an object is expected")
    for key in body:
        if key not in KEYS:
            raise ActRefused("unknown_field", f"/{escaped(key)}", f"there is no {key}")
    code, terms = _key(body, "link", str), _key(body, "terms", dict)
    wagers = _whole(body, "wagers", 1, MOST_WAGERS)
    seed = _whole(body, "seed", 0, 2**31)
    link = proposed.standing(code, timezone.now())
    try:
        wanted, start = proposed.of_file(terms, code, link)
    except ProposedRefused as refusal:
        raise ActRefused("invalid_value", f"/terms{refusal.pointer}", refusal.detail) from None
    if wagers is None and link is not None:
        wagers = link.wagers_a_month
    if wagers is None:
        raise ActRefused("missing_field", "/wagers", "how many a month; the record does not say it yet")
    asked = None
    if "replay" in body:
        since, until = _period(body["replay"])
        asked = asked_of(link, wanted, since, until) if link is not None else None
        if asked is None:
            raise ActRefused("invalid_value", "/replay", "there are no rounds on record in this period")
    seed = SEED if seed is None else seed
    try:
        found = foresee(wanted, start, wagers, seed)
        today = foresee(link.terms, link.meters, wagers, seed) if link is not None else None
    except NoProbability as unknown:
        raise ActRefused("invalid_value", "/terms/paytable", str(unknown)) from None
    return found, today, asked


def _key(body: Mapping[str, Any], name: str, kind: type) -> Any:
    if name not in body:
        raise ActRefused("missing_field", f"/{name}", f"{name} is missing")
    if type(body[name]) is not kind:
        raise ActRefused("invalid_value", f"/{name}", "a text is expected" if kind is str else "an object is expected")
    return body[name]


def _whole(body: Mapping[str, Any], name: str, least: int, most: int) -> int | None:
    value = body.get(name)
    if name in body and (type(value) is not int or not least <= value <= most):
        raise ActRefused("invalid_value", f"/{name}", f"a whole number from {least:,} to {most:,} is expected")
    return value


def _period(value: object) -> tuple[datetime | None, datetime | None]:
    if type(value) is not dict:
        raise ActRefused("invalid_value", "/replay", "an object is expected")
    for key in value:
        if key not in PERIOD:
            raise ActRefused("unknown_field", f"/replay/{escaped(key)}", f"there is no {key}")
    for key in PERIOD:
        if key in value and not is_moment(value[key]):
            raise ActRefused("invalid_value", f"/replay/{key}", "a moment with its offset is expected")
    since, until = (instant(value[key]) if key in value else None for key in PERIOD)
    return since, until


def _shown(found: Foreseen, today: Foreseen | None) -> dict[str, Any]:
    return {
        "link": found.link.code,
        "wagers": found.wagers,
        "seed": found.seed,
        "runs": found.runs,
        "proposed": _side(found),
        "today": _side(today) if today is not None else None,
    }


def _side(link: Foreseen) -> dict[str, Any]:
    return {
        "levels": [_level(level) for level in link.levels],
        "cost": _figure(link.cost),
        "fixed_pays_cents": _nearest(link.fixed_pays),
        "envy_per_other_cents": _nearest(link.envy_per_other),
    }


def _level(level: LevelForeseen) -> dict[str, Any]:
    return {
        "code": level.terms.code,
        "one_in": _hundredths(1 / level.chance) if level.chance else None,
        "hits": {"mean": _hundredths(level.hits.mean), "low": level.hits.low, "high": level.hits.high},
        "next_meter": _figure(level.next_meter),
        "meter": _figure(level.meter),
        "contributed_cents": _nearest(level.contributed),
        "reserved_cents": _nearest(level.reserved),
        "paid": _figure(level.paid),
        "house": _figure(level.house),
        "reserve_after": _figure(level.reserve_after),
        "overflow_after": _figure(level.overflow_after),
        "returns": [
            {"what": each.what, "meter_cents": each.meter_cents, "returned_ppm": _nearest(each.returned * 1_000_000)}
            for each in level.returns
        ],
    }


def _figure(figure: Figure | None) -> dict[str, int | None] | None:
    if figure is None:
        return None
    return {
        "mean_cents": _nearest(figure.mean),
        "low_cents": figure.low,
        "high_cents": figure.high,
        "error_cents": None if figure.error is None else _nearest(figure.error),
    }


def _nearest(value: Fraction | int) -> int:
    """To the nearest whole, halves away from zero: for reading."""
    return int(value + Fraction(1, 2)) if value >= 0 else -int(-value + Fraction(1, 2))


def _hundredths(value: Fraction) -> str:
    whole, rest = divmod(_nearest(value * 100), 100)
    return f"{whole}.{rest:02d}"
