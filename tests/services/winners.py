"""Who won, taken down for a test that pays: tax is withheld from a payout only once its winner is known."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.test import override_settings

from accounting.slips.payables import PAYABLES
from accounting.slips.services import winners

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)


def taken_down(subject: str, number: str = "123-45-6789", *, by: str = "cage.one", **more: Any) -> None:
    """Keep one payee of a hit or an envy payout, for its whole amount."""
    payee: dict[str, Any] = {
        "name": "Pat Winner",
        "address": "1 Main Street, Boston MA",
        "first_id": "MA S1",
        "second_id": "passport P2",
    }
    payee |= {"taxpayer_number": number, "share_cents": PAYABLES.cents(subject), **more}
    with override_settings(PATRON_KEY="A" * 43):
        winners.take_down(subject, [payee], by=by, at=AT, random=bytes)
