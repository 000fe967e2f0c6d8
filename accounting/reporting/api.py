"""Reports over HTTP, for people and their tokens: which there are, and each as JSON, CSV, XLSX or PDF."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpResponseBase
from django.urls import path
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting.elsewhere import reads_elsewhere
from accounting.reporting import handing_out, making, registry
from accounting.reporting.forms import FORMS, JSON, csv, pdf, xlsx
from accounting.reporting.shape import Report
from accounting.rules import parameters
from accounting.shell.navigation import may_use
from accounting.shell.pages import roles_of


class ReadsReports(BasePermission):
    """Whoever uses the pages of reports; devices are nobody here."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Refuses with `not_your_role`."""
        if isinstance(request.user, AbstractBaseUser) and may_use("reports", roles_of(request)):
            return True
        raise PermissionDenied("reports are for accounting, its manager, shift managers and auditors", "not_your_role")


class ReportsView(APIView):
    """A part of the reports."""

    permission_classes = [IsAuthenticated, ReadsReports]


class ParameterShown(serializers.Serializer[Any]):
    """What a report may be asked with, and the values that it may have where they are known."""

    name = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField(), allow_null=True)


class ColumnShown(serializers.Serializer[Any]):
    """A column: its name in every row, its title, what it holds."""

    name = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.CharField()


class ReportListed(serializers.Serializer[Any]):
    """A report that the caller may ask for."""

    code = serializers.CharField()
    title = serializers.CharField()
    purpose = serializers.CharField()
    group = serializers.CharField()
    parameters = ParameterShown(many=True)
    columns = ColumnShown(many=True)


class ReportList(serializers.Serializer[Any]):
    """The reports of the caller's roles."""

    items = ReportListed(many=True)


class FootShown(serializers.Serializer[Any]):
    """Something that must come out even: whether it does, by how many cents the totals differ, and how many rows do."""

    says = serializers.CharField()
    is_even = serializers.BooleanField()
    difference = serializers.IntegerField()
    rows = serializers.IntegerField()


class ReportShown(serializers.Serializer[Any]):
    """A report: amounts are whole cents, shares are percent."""

    code = serializers.CharField()
    property = serializers.CharField()
    title = serializers.CharField()
    version = serializers.CharField(help_text="of the software, with its build where one is on record")
    period = serializers.CharField()
    generated = serializers.CharField(help_text="when and by whom")
    filters = serializers.CharField()
    remarks = serializers.ListField(child=serializers.CharField())
    columns = ColumnShown(many=True)
    rows = serializers.ListField(child=serializers.DictField())
    count = serializers.IntegerField()
    totals = serializers.DictField()
    feet = FootShown(many=True)


class Reports(ReportsView):
    """The reports of the caller's roles."""

    @extend_schema(responses=ReportList, operation_id="reports_list")
    def get(self, request: Request) -> Response:
        """What each is for, what it may be asked with, and its columns."""
        parameters.read(request.query_params.lists(), ())
        return Response({"items": [_listed(report) for report in registry.seen_by(roles_of(request))]})


def _listed(report: Report) -> dict[str, Any]:
    options = {each.name: each.options for each in report.parameters}
    return {
        "code": report.code,
        "title": report.title,
        "purpose": report.purpose,
        "group": report.group,
        "parameters": [
            {"name": name, "options": list(found()) if (found := options.get(name)) else None}
            for name in (*making.names(report), "form")
        ],
        "columns": [{"name": column.name, "title": column.title, "kind": column.kind} for column in report.columns],
    }


class OneReport(ReportsView):
    """One report."""

    @extend_schema(
        parameters=[
            OpenApiParameter("form", str, enum=FORMS, description="JSON unless given"),
            OpenApiParameter("from", date, description="of reports over several days: the first gaming day"),
            OpenApiParameter("to", date, description="the last one, today unless given"),
            OpenApiParameter("day", date, description="of reports over one gaming day: that day, today unless given"),
            OpenApiParameter(
                "week", str, description="of reports over one week: `2026-W48`, the last that is over unless given"
            ),
        ],
        responses={
            200: ReportShown,
            (200, csv.TYPE): str,
            (200, xlsx.TYPE): OpenApiTypes.BINARY,
            (200, pdf.TYPE): OpenApiTypes.BINARY,
            404: OpenApiResponse(description="no such report"),
        },
        operation_id="reports_one",
    )
    @reads_elsewhere
    def get(self, request: Request, report: str) -> HttpResponseBase:
        """With the parameters that the list of reports names; CSV and JSON are written while they are sent."""
        found = registry.reports().get(report)
        if found is None:
            raise NotFound(f"there is no report {report}")
        if found.roles.isdisjoint(roles_of(request)):
            raise PermissionDenied(f"{found.title} is for {', '.join(sorted(found.roles))}", "not_your_role")
        query = list(request.query_params.lists())
        asked = making.asked(found, query, at=timezone.now(), also=("form",))
        form = parameters.read(query, (*making.names(found), "form")).choice("form", FORMS) or JSON
        made = making.made(found, asked, by=request.user.get_username())
        return handing_out.response(request._request, made, form)


urlpatterns = [
    path("reports", Reports.as_view(), name="api-reports"),
    path("reports/<str:report>", OneReport.as_view(), name="api-report"),
]
