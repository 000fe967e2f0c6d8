"""How money, meters, shares and times are written on every page."""

import json
import re
from datetime import date, datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from accounting.rules.signs import pieces

register = template.Library()

MINUS = "\N{MINUS SIGN}"
NOTHING = "\N{EN DASH}"


@register.filter
def money(cents: int | None) -> str:
    """Write whole cents as dollars: 123456 is `$1,234.56`, a negative amount has a minus sign, None is a dash."""
    if cents is None:
        return NOTHING
    dollars, rest = divmod(abs(cents), 100)
    return f"{MINUS if cents < 0 else ''}${dollars:,}.{rest:02d}"


@register.filter
def whole(number: int | None) -> str:
    """Write a count with thousands separated; None is a dash."""
    return NOTHING if number is None else f"{number:,}".replace("-", MINUS)


@register.filter
def share(ppm: int | None) -> str:
    """Write parts per million as a percentage without trailing zeros: 170000 is `17%`."""
    if ppm is None:
        return NOTHING
    percent, rest = divmod(ppm, 10_000)
    return f"{percent}.{rest:04d}".rstrip("0").rstrip(".") + "%"


@register.filter
def residual(millionths: int | None) -> str:
    """Write a fraction of a cent, all six places so that a column lines up: 420000 is `+.420000¢`."""
    return "" if millionths is None else f"+.{millionths:06d}¢"


@register.filter
def from_millionths(millionths: int | None) -> str:
    """Write millionths of a cent as dollars without losing any: 51000000 is `$0.51`, 17500000 is `$0.175`."""
    if millionths is None:
        return NOTHING
    dollars, rest = divmod(abs(millionths), 100_000_000)
    places = f"{rest:08d}".rstrip("0").ljust(2, "0")
    return f"{MINUS if millionths < 0 else ''}${dollars:,}.{places}"


@register.simple_tag
def meter(cents: int, millionths: int | None = None) -> SafeString:
    """A meter in a table: the displayed cents, and small behind it the fraction it has earned and cannot show yet."""
    if millionths is None:
        return format_html('<span class="meter">{}</span>', money(cents))
    return format_html('<span class="meter">{} <small>{}</small></span>', money(cents), residual(millionths))


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """One of the vendored icons; silent to a screen reader unless it has a label."""
    address = f"{static('vendor/icons.svg')}#{name}"
    if label:
        return format_html('<svg class="icon" role="img" aria-label="{}"><use href="{}"/></svg>', label, address)
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}"/></svg>', address)


@register.filter
def exact(text: Any) -> SafeString:
    """A controller's own words, every sign that could be taken for another marked and named."""
    return format_html_join(
        "",
        "{}",
        (
            (format_html('<mark title="{}">{}</mark>', piece.name, piece.shown) if piece.name else piece.shown,)
            for piece in pieces(str(text))
        ),
    )


@register.filter
def words(code: str | None) -> str:
    """A code as words: `straight_flush` is `straight flush`."""
    return (code or "").replace("_", " ")


def instant(at: datetime | str) -> datetime:
    """An instant on the property's clock; the API's own rows carry it as RFC 3339 text."""
    return timezone.localtime(datetime.fromisoformat(at) if isinstance(at, str) else at)


@register.filter
def clock(at: datetime | str | None) -> str:
    """The time of day on the property's clock, to the second."""
    return NOTHING if at is None else f"{instant(at):%H:%M:%S}"


@register.filter
def moment(at: datetime | str | None) -> str:
    """Date and time on the property's clock, to the second, with the zone's name."""
    return NOTHING if at is None else f"{instant(at):%Y-%m-%d %H:%M:%S %Z}"


@register.filter
def minute(at: datetime | str | None) -> str:
    """Date and time on the property's clock, to the minute."""
    return NOTHING if at is None else f"{instant(at):%Y-%m-%d %H:%M}"


@register.filter
def calendar(at: datetime | str | None) -> str:
    """The calendar day on the property's clock: `27 Nov`."""
    return NOTHING if at is None else f"{instant(at).day} {instant(at):%b}"


@register.filter
def day(gaming_date: date | str | None) -> str:
    """A gaming day, named by its start date: `Fri 27 Nov 2026`."""
    if gaming_date is None:
        return NOTHING
    named = date.fromisoformat(gaming_date) if isinstance(gaming_date, str) else gaming_date
    return f"{named:%a} {named.day} {named:%b %Y}"


@register.filter
def account(code: str) -> SafeString:
    """An account code that may break after a colon or slash and nowhere else."""
    parts = [part for part in re.split(r"(?<=[:/])", code) if part]
    return format_html_join(mark_safe("<wbr>"), '<span class="nowrap">{}</span>', ((part,) for part in parts))


@register.filter
def gist(detail: dict[str, Any]) -> str:
    """The plain entries of a record's detail on one line; nested ones are left to `as_json`."""
    plain = {key: value for key, value in detail.items() if not isinstance(value, (dict, list))}
    return ", ".join(
        f"{words(key.removesuffix('_cents'))} {money(value) if key.endswith('_cents') else value}"
        for key, value in plain.items()
    )


@register.filter
def as_json(value: Any) -> str:
    """A value as indented JSON."""
    return json.dumps(value, indent=1, ensure_ascii=False)


@register.filter
def negated(cents: int) -> int:
    """The same amount on the other side."""
    return -cents


@register.filter
def minus(cents: int, other_cents: int) -> int:
    """The difference of two amounts."""
    return cents - other_cents
