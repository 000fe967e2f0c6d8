"""What stands around every page: the property and its clock, the sections, who is signed in."""

from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from accounting import queries
from accounting.rules.gaming_day import gaming_date
from accounting.rules.roles import ROLES, in_order
from accounting.shell.navigation import SECTIONS, home, may_use
from accounting.shell.pages import roles_of

if TYPE_CHECKING:
    from accounting.models import Property


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
        self.roles = [ROLES[role] for role in in_order(held)]
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
        self.finds = may_use("floor", held)  # rounds, payouts and hits are found by those who may see them
        begins = home(held)
        self.home: NavigationEntry | None = begins and self.sections[SECTIONS.index(begins)]
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


def header(request: HttpRequest) -> dict[str, Any]:
    """Context of every template: `house`, worked out when first used."""
    return {"house": SimpleLazyObject(lambda: Header(request))}
