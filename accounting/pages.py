"""What every page shares: who may see it, the property's clock, and what stands in the header."""

from collections.abc import Callable
from datetime import date, datetime
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec
from zoneinfo import ZoneInfo

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from accounting import queries
from accounting.models import Property
from accounting.rules.gaming_day import began, gaming_date
from accounting.rules.parameters import BadParameter
from accounting.rules.people import ROLES, SECTIONS, may_use

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


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


def page(section: str) -> Callable[[View[P]], View[P]]:
    """A page of a section: for people whose role uses it, on the property's clock.

    Whoever is not signed in is sent to the sign-in page; a part of a page that reads itself anew makes the page do so.
    """

    def of_section(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                if request.headers.get("HX-Request"):
                    return HttpResponse(headers={"HX-Refresh": "true"})
                return redirect_to_login(request.get_full_path())
            if not may_use(section, roles_of(request)):
                raise PermissionDenied(f"The pages under {section} are not for your role.")
            request.section = section  # type: ignore[attr-defined]
            try:
                zone = ZoneInfo(queries.the_property().time_zone)
            except queries.NoProperty:
                return render(request, "no_floor.html", status=503)
            with timezone.override(zone):
                try:
                    return view(request, *args, **kwargs)
                except BadParameter as refusal:
                    raise BadRequest(str(refusal)) from refusal

        return guarded

    return of_section


class NavigationEntry(NamedTuple):
    """A section as the navigation shows it."""

    name: str
    key: str
    icon: str
    address: str
    purpose: str
    open: bool
    current: bool


class Header:
    """What the header and the navigation show; read from the database only by pages that draw them."""

    def __init__(self, request: HttpRequest) -> None:
        self.now: datetime = timezone.now()
        self.now_millis = int(self.now.timestamp() * 1000)
        held = roles_of(request)
        self.roles = [ROLES.get(role, role) for role in sorted(held)]
        current = getattr(request, "section", None)
        self.sections = [
            NavigationEntry(
                name=section.name,
                key=section.key,
                icon=section.icon,
                address=reverse(section.address),
                purpose=section.purpose,
                open=may_use(section.code, held),
                current=section.code == current,
            )
            for section in SECTIONS
        ]
        self.property: Property | None
        try:
            self.property = queries.the_property()
        except queries.NoProperty:
            self.property = None

    @property
    def zone(self) -> str:
        """The property's time zone by its IANA name."""
        return self.property.time_zone if self.property else "UTC"

    @property
    def zone_name(self) -> str:
        """What the zone is called now: EST in winter, EDT in summer."""
        return self.now.astimezone(ZoneInfo(self.zone)).tzname() or ""

    @property
    def gaming_day(self) -> date | None:
        """The gaming day that it is now."""
        if self.property is None:
            return None
        return gaming_date(self.now, zone=ZoneInfo(self.zone), starts=self.property.gaming_day_starts)


def day_began(at: datetime) -> datetime:
    """When the gaming day of an instant began. Raises NoProperty before a floor was loaded."""
    home = queries.the_property()
    zone, starts = ZoneInfo(home.time_zone), home.gaming_day_starts
    return began(gaming_date(at, zone=zone, starts=starts), zone=zone, starts=starts)


def header(request: HttpRequest) -> dict[str, Any]:
    """Context of every template: `house`, worked out when first used."""
    return {"house": SimpleLazyObject(lambda: Header(request))}
