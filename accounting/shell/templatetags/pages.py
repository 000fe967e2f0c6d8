"""How money, meters, shares and times are written on every page."""

import json
import re
from datetime import date, datetime
from typing import Any

from django import template
from django.template.defaultfilters import truncatechars
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from accounting.rules.accounts import named
from accounting.rules.moments import is_moment
from accounting.rules.roles import ROLES
from accounting.rules.signs import pieces

register = template.Library()

MINUS = "\N{MINUS SIGN}"
NOTHING = "\N{EN DASH}"
MINUTE, HOUR, DAY = 60, 3_600, 86_400


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


@register.filter
def title(game: str) -> str:
    """What people call a game: `mississippi-stud` is `Mississippi Stud`."""
    return " ".join(word.capitalize() for word in game.split("-"))


@register.filter
def role(code: str) -> str:
    """What the house calls a role: `controller` is `accounting manager`."""
    return ROLES.get(code, words(code))


def instant(at: datetime | str) -> datetime | None:
    """An instant on the property's clock; the API's own rows carry it as RFC 3339 text.

    What no calendar of the house shows, such as the first hours of year 1, stays as it was written; None for no instant.
    """
    try:
        read = datetime.fromisoformat(at) if isinstance(at, str) else at
    except ValueError:
        return None
    try:
        return timezone.localtime(read)
    except (ValueError, OverflowError):
        return read


def _written(at: datetime | str | None, pattern: str) -> str:
    if at is None:
        return NOTHING
    local = instant(at)
    return str(at) if local is None else format(local, pattern)


def _told_apart(at: datetime | str | None, pattern: str) -> str:
    """Written without the zone's name, except in the hour that autumn repeats: there it tells EDT from EST."""
    local = None if at is None else instant(at)
    twice = local is not None and local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return _written(at, f"{pattern} %Z" if twice else pattern)


@register.filter
def age(seconds: int) -> str:
    """How long ago: seconds up to two minutes, minutes up to two hours, hours up to two days, then days and hours.

    `live.js` goes on counting in the same words.
    """
    if seconds < 2 * MINUTE:
        return f"{seconds} s"
    if seconds < 2 * HOUR:
        return f"{seconds // MINUTE} min"
    if seconds < 2 * DAY:
        return f"{seconds // HOUR} h {seconds % HOUR // MINUTE} min"
    return f"{seconds // DAY:,} d {seconds % DAY // HOUR} h"


@register.filter
def clock(at: datetime | str | None) -> str:
    """The time of day on the property's clock, to the second."""
    return _told_apart(at, "%H:%M:%S")


@register.filter
def lately(at: datetime | str | None, to: str = "second") -> str:
    """The time of day for what happened today on the property's clock; before today with its date: `27 Nov 21:14:05`."""
    time_of_day = "%H:%M" if to == "minute" else "%H:%M:%S"
    local = None if at is None else instant(at)
    if local is None or local.date() == timezone.localtime().date():
        return clock(at)
    return _told_apart(
        at, f"%-d %b {time_of_day}" if local.year == timezone.localtime().year else f"%Y-%m-%d {time_of_day}"
    )


@register.filter
def moment(at: datetime | str | None) -> str:
    """Date and time on the property's clock, to the second, with the zone's name."""
    return _written(at, "%Y-%m-%d %H:%M:%S %Z")


@register.filter
def second(at: datetime | str | None) -> str:
    """Date and time on the property's clock, to the second, for a list: the zone's name only where it is needed."""
    return _told_apart(at, "%Y-%m-%d %H:%M:%S")


@register.filter
def minute(at: datetime | str | None) -> str:
    """Date and time on the property's clock, to the minute."""
    return _told_apart(at, "%Y-%m-%d %H:%M")


@register.filter
def calendar(at: datetime | str | None) -> str:
    """The calendar day on the property's clock: `27 Nov`, of another year than this one with it: `27 Nov 2025`."""
    local = None if at is None else instant(at)
    this_year = local is not None and local.year == timezone.localtime().year
    return _written(at, "%-d %b" if this_year else "%-d %b %Y")


@register.filter
def before_and_after(change: dict[str, str]) -> str:
    """What an act changed, in a line: `Minimum $5.00 → $6.00`; what was nothing before or is nothing now has no arrow."""
    sides = [truncatechars(change[side], 80) for side in ("before", "after") if change[side]]
    return f"{change['what']} {' → '.join(sides)}" if len(sides) == 2 else ": ".join([change["what"], *sides])


@register.filter
def said_of_change(change: dict[str, Any]) -> str:
    """What a change of terms, state or membership says, in a line: `table state: open`, `link terms: limit $50.00`."""
    what = words(change["what"].replace(".", " "))
    if "open" in change:
        return f"{what}: {'open' if change['open'] else 'closed'}"
    if "heard" in change:
        return f"{what}: {'heard of again' if change['heard'] else 'lost, its progressive is closed'}"
    if "changed" in change:
        changed = change["changed"]
        several = changed if isinstance(changed, list) else [changed]  # of a link, level by level
        return f"{what}: " + "; ".join(
            ", ".join(_told_of_change(key, value) for key, value in each.items()) for each in several
        )
    if change["what"].endswith(".installed"):
        return f"{what}: {change.get('table') or change['link']}"
    return f"{what}: {words(str(change.get('state') or change.get('link') or 'none'))}"


def _told_of_change(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(_told_of_change(inner, told) for inner, told in value.items())
    if key.endswith("_cents") and isinstance(value, int):
        return f"{words(key.removesuffix('_cents'))} {money(value)}"
    return f"{words(key)} {value}"


@register.filter
def day(gaming_date: date | str | None) -> str:
    """A gaming day, named by its start date: `Fri 27 Nov 2026`."""
    if gaming_date is None:
        return NOTHING
    try:
        named = date.fromisoformat(gaming_date) if isinstance(gaming_date, str) else gaming_date
    except ValueError:
        return str(gaming_date)
    return f"{named:%a} {named.day} {named:%b %Y}"


@register.simple_tag
def reference(table: str, round: str) -> SafeString:
    """A round in a list: the table and its last number where the reference begins with the table, else table and reference.

    Never the reference alone, which is unique at its table only. Signs that could be taken for others are marked (`exact`).
    """
    return exact(f"{table} {round.rpartition('-')[2] if round.startswith(f'{table}-') else round}")


@register.simple_tag
def subject_reference(subject: str) -> SafeString:
    """The round that an event is about, in a list; its subject is the table and the round's own reference."""
    table, _, round = subject.partition("/")
    return reference(table, round) if round.startswith(f"{table}-") else exact(subject)


@register.filter
def account(code: str) -> SafeString:
    """An account code that may break after a colon or slash and nowhere else."""
    parts = [part for part in re.split(r"(?<=[:/])", code) if part]
    return format_html_join(mark_safe("<wbr>"), '<span class="nowrap">{}</span>', ((part,) for part in parts))


@register.filter
def account_name(code: str) -> str:
    """What accountants call an account."""
    return named(code)


@register.filter
def gist(detail: dict[str, Any]) -> str:
    """A record's detail on one line: what changed from before to after, then its plain entries; others are left to `as_json`.

    What is nothing (none, zero, empty) is left out of a change; where it comes from has a column of its own where it counts.
    """
    before, after = detail.get("before"), detail.get("after")
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return ", ".join(_entry(key, value) for key, value in detail.items() if not isinstance(value, (dict, list)))
    return ", ".join(_change(before, key, value) for key, value in after.items() if value or key in before)


def _change(before: dict[str, Any], key: str, value: Any) -> str:
    if key not in before:
        return _entry(key, value)
    return f"{_entry(key, before[key])} → {_told(key, value)}" if value != "" else _entry(key, before[key])


def _entry(key: str, value: Any) -> str:
    return words(key.removesuffix("_cents")) + ("" if value is True else f" {_told(key, value)}")


def _told(key: str, value: Any) -> str:
    if key.endswith("_cents"):
        return money(value)
    if key.endswith("_until"):
        return minute(value)
    return " + ".join(map(str, value)) if isinstance(value, list) else told(value)


@register.filter
def told(value: Any) -> str:
    """A value of a record in words: a moment on the property's clock, anything else as it is."""
    return second(value) if isinstance(value, str) and is_moment(value) else str(value)


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
