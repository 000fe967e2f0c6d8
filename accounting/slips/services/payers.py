"""Who pays, as tax forms say it: on record for ever, each edition from a day of payment on."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from django.db import transaction

from accounting.queries import the_property
from accounting.slips import trail
from accounting.slips.models import Payer
from accounting.slips.rules import payer as rules


@transaction.atomic
def state(payload: Mapping[str, Any], *, at: datetime, by: str) -> Payer:
    """Put the payer on record, as forms of payments from a day on name it. ActRefused for the first fault."""
    made = Payer.objects.create(**rules.read(payload), at=at, by=by)
    trail.note("state the payer", the_property().code, [made], at=at, by=by)
    return made


def payer_on(day: date) -> Payer | None:
    """The payer as forms of a day's payments name it; None where nobody has stated it."""
    return Payer.objects.filter(counts_from__lte=day).order_by("-counts_from", "-id").first()


def said_on(day: date) -> dict[str, str] | None:
    """What forms of a day's payments say of the payer; None where nobody has stated it."""
    found = payer_on(day)
    if found is None:
        return None
    return {name: getattr(found, name) for name in ("name", "address", "telephone", "number", "state_number")}
