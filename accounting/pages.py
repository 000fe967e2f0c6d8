"""What every page shares: who may see it, the property's clock, and what stands in the header."""

from collections.abc import Callable, Iterable
from datetime import date, datetime
from functools import wraps
from typing import Any, Concatenate, NamedTuple
from zoneinfo import ZoneInfo

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from accounting import queries
from accounting.models import Property
from accounting.rules.gaming_day import gaming_date
from accounting.rules.people import ROLES, SECTIONS, may_use


def roles_of(request: HttpRequest) -> frozenset[str]:
    """The roles of whoever is signed in: the names of their groups; a superuser has every role."""
    found: frozenset[str] | None = getattr(request, "staff_roles", None)
    if found is None:
        user = request.user
        if not user.is_authenticated:
            found = frozenset()
        elif user.is_superuser:
            found = frozenset(ROLES)
        else:
            found = frozenset(user.groups.values_list("name", flat=True))
        request.staff_roles = found  # type: ignore[attr-defined]
    return found


def page[**P](section: str) -> Callable[..., Callable[Concatenate[HttpRequest, P], HttpResponseBase]]: ...
