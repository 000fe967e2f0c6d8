"""Who may see a page, and on which clock: the decorator that every page bears."""

from collections.abc import Callable, Collection
from functools import wraps
from typing import Concatenate, ParamSpec
from zoneinfo import ZoneInfo

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import resolve
from django.utils import timezone

from accounting import queries
from accounting.rules.parameters import BadParameter
from accounting.rules.roles import ROLES
from accounting.shell.navigation import may_use

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def roles_of(request: HttpRequest) -> frozenset[str]:
    """The roles of whoever is signed in: those of their groups that are roles of the house.

    Django's superuser has none by being one: nobody acts with every role.
    """
    found: frozenset[str] | None = getattr(request, "staff_roles", None)
    if found is None:
        user = request.user
        named = user.groups.values_list("name", flat=True) if user.is_authenticated else ()
        found = frozenset(ROLES) & frozenset(named)
        request.staff_roles = found  # type: ignore[attr-defined]
    return found


def may_open(address: str, roles: Collection[str]) -> bool:
    """Whether these roles see the page at an address, as its section has it."""
    section: str | None = resolve(address).func.of_section  # type: ignore[attr-defined]
    return section is None or may_use(section, roles)


def _no_nul(request: HttpRequest) -> None:
    """Refuse a form with a NUL in it, which no text of the database can have: BadParameter names the field."""
    if request.method == "POST":
        for name, values in request.POST.lists():
            if any("\0" in text for text in (name, *values)):
                raise BadParameter(name.replace("\0", "\\0"), "no NUL among its characters, please")


def page(section: str | None) -> Callable[[View[P]], View[P]]:
    """A page of a section, for people whose role uses it, on the property's clock; of None, for everybody signed in.

    Whoever is not signed in is sent to the sign-in page; a part of a page that reads itself anew makes the page do so.
    """

    def of_section(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                if request.headers.get("HX-Request"):
                    return HttpResponse(headers={"HX-Refresh": "true"})
                return redirect_to_login(request.get_full_path())
            if section is not None and not may_use(section, roles_of(request)):
                raise PermissionDenied(f"The pages under {section} are not for your role.")
            request.section = section  # type: ignore[attr-defined]
            try:
                zone = ZoneInfo(queries.the_property().time_zone)
            except queries.NoProperty:
                return render(request, "no_floor.html", status=503)
            with timezone.override(zone):
                try:
                    _no_nul(request)
                    return view(request, *args, **kwargs)
                except BadParameter as refusal:
                    raise BadRequest(str(refusal)) from refusal

        guarded.of_section = section  # type: ignore[attr-defined]
        return guarded

    return of_section
