"""The house as it pays and files: what tax forms say of the payer (Forms W-2G and 5754), from a day of payment on."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from accounting.rules.acts import TEXT, ActRefused, Field, Shape
from accounting.slips.rules.winners import EMPLOYER

STATE_PAYER: Final = Shape(
    "payer.state",
    "property",
    (
        Field("name", TEXT, "Name", least=1, most=120, help="as the revenue service knows it"),
        Field("address", TEXT, "Address", least=1, most=300, help="street, city, state, postal code"),
        Field("telephone", TEXT, "Telephone", least=1, most=40),
        Field("number", TEXT, "Federal identification number", least=1, most=10, help="an employer's: 12-3456789"),
        Field(
            "state_number", TEXT, "State identification number", required=False, most=30,
            help="box 13 of the W-2G, where the state gives one",
        ),
        Field("counts_from", TEXT, "First day of payment", least=1, most=10, help="like 2026-01-01; earlier forms keep theirs"),
    ),
)  # fmt: skip


def read(payload: object) -> dict[str, Any]:
    """What people say of the payer, every value judged, the day as one. ActRefused with the pointer of the first fault."""
    said = dict(STATE_PAYER.read(payload))
    for field in STATE_PAYER.fields:
        if field.name in said and (said[field.name] != said[field.name].strip() or not said[field.name].isprintable()):
            raise ActRefused(
                "invalid_value",
                f"/payload/{field.name}",
                f"{field.title}: one line without spaces around it is expected",
            )
    if EMPLOYER.fullmatch(said["number"]) is None:
        raise ActRefused(
            "invalid_value",
            "/payload/number",
            "Federal identification number: nine digits like 12-3456789 are expected",
        )
    try:
        said["counts_from"] = date.fromisoformat(said["counts_from"])
    except ValueError:
        raise ActRefused(
            "invalid_value", "/payload/counts_from", "First day of payment: a day like 2026-01-01 is expected"
        ) from None
    return said
