"""Printing slips: the first print is the original, every other a duplicate that says so; each is kept to the byte."""

from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import transaction

from accounting.queries import the_property
from accounting.rules.acts import ActRefused
from accounting.slips import trail
from accounting.slips.documents import slip_document
from accounting.slips.models import Slip, SlipCounter, SlipPrint
from accounting.slips.queries import slip_shown
from accounting.slips.rules.register import slip_name


@transaction.atomic
def print_slip(number: int, *, by: str, at: datetime, origin: str = "") -> SlipPrint:
    """Print a slip once more and keep the print. ActRefused `unknown_subject` where there is none."""
    SlipCounter.objects.select_for_update().get()
    slip = Slip.objects.filter(number=number).first()
    if slip is None:
        raise ActRefused("unknown_subject", detail=f"there is no slip {slip_name(number)}")
    copy = SlipPrint.objects.filter(slip=slip).count()
    content = slip_document(document_of(slip), copy=copy, by=by, at=at)
    made = SlipPrint.objects.create(
        slip=slip, copy=copy, at=at, by=by, content=content, digest=sha256(content).digest()
    )  # fmt: skip
    which = "original" if copy == 0 else f"duplicate {copy}"
    trail.note("print slip", slip_name(number), [made], at=at, by=by, origin=origin, copy=which)
    return made


def document_of(slip: Slip) -> dict[str, Any]:
    """A slip with all that its document says, as it stands now."""
    home = the_property()
    return slip_shown(slip) | {
        "property": home.name,
        "property_code": home.code,
        "jurisdiction": home.jurisdiction,
        "time_zone": home.time_zone,
    }
