"""The weekly review on record: the sheet of a week, made once its days are closed, and signatures under it (REQUIREMENTS R93)."""

from dataclasses import asdict
from datetime import date, datetime
from hashlib import sha256

from django.db import transaction

from accounting.queries import the_property
from accounting.rules.acts import ActRefused
from accounting.rules.chain import canonical
from accounting.rules.version import VERSION
from accounting.rules.weeks import last_day, week_name
from accounting.services import audit
from tables.models import WeekReview, WeekSheet
from tables.odds.thresholds import thresholds_in
from tables.queries import weeks
from tables.queries.weeks import MADE, SIGNED, Line


def make(first: date, *, at: datetime, by: str) -> WeekSheet:
    """Put the sheet of the week that begins on a Monday on record, as its closed days are; one that is there stays as it is.

    ActRefused `wrong_state` while a day of it is open: more may be booked on it.
    """
    name, last, home = week_name(first), last_day(first), the_property()
    if home.closed_through is None or home.closed_through < last:
        raise ActRefused("wrong_state", detail=f"week {name} has a gaming day that is not closed")
    thresholds = thresholds_in(home.jurisdiction, last)
    content = canonical({
        "edition": 1, "property": home.code, "week": name, "first": first.isoformat(), "last": last.isoformat(),
        "made_at": at.isoformat(), "by": by, "version": VERSION, "thresholds": asdict(thresholds),
        "columns": list(Line._fields), "lines": [weeks.kept_values(line) for line in weeks.lines(first)],
    })  # fmt: skip
    digest = sha256(content).digest()
    with transaction.atomic():
        sheet, is_new = WeekSheet.objects.get_or_create(
            first=first, defaults={"content": content, "digest": digest, "made_at": at, "by": by}
        )
        if is_new:
            audit.record(at=at, actor=by, action=MADE, subject=name, detail={"sha256": digest.hex()})
    return sheet


@transaction.atomic
def sign_off(first: date, note: str, *, at: datetime, by: str) -> WeekReview:
    """Sign the sheet of the week that begins on a Monday, saying what was found.

    ActRefused `unknown_subject` where it was not made, `already_signed` by this person.
    """
    sheet = signable(first, by=by)
    review = WeekReview.objects.create(sheet=sheet, at=at, by=by, note=note)
    detail = {"sha256": bytes(sheet.digest).hex(), "note": note}
    audit.record(at=at, actor=by, action=SIGNED, subject=week_name(first), detail=detail)
    return review


def signable(first: date, *, by: str) -> WeekSheet:
    """The sheet that somebody may sign; ActRefused as `sign_off`."""
    sheet = weeks.sheet_of(first)
    if sheet is None:
        raise ActRefused("unknown_subject", detail=f"the sheet of week {week_name(first)} is not made yet")
    if any(review.by == by for review in weeks.reviews_of(first)):
        raise ActRefused("already_signed", detail=f"{by} signed off week {week_name(first)} already")
    return sheet
