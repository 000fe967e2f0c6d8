"""What stands behind each link: the balance recorded last, beside what is owed now (REQUIREMENTS R84)."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import zip_longest
from typing import NamedTuple

import msgspec
from django.db.models import F, Sum

from accounting.day_queries import gaming_day
from accounting.event_queries import documented, last_documented
from accounting.queries import the_property, unpaid_on
from accounting.rules.events import FUNDS
from accounting.rules.funds import FundsTerms, funds_terms_in
from accounting.rules.moments import instant
from jackpot.models import Link, Meter
from jackpot.rules.state import CLOSED, FILED, OPEN


class Funds(NamedTuple):
    """A link that owes, in whole cents: its levels' parts, what was won and not handed over, and the balance recorded last.

    `as_of` is the moment of the balance as it was typed, `recorded_at` when; None where none is on record. `overdue_from` is
    when the next must be recorded, None where none is asked for; `overdue` whether that is past.
    """

    link: str
    state: str
    meters_cents: int
    unpaid_cents: int
    balance_cents: int | None
    as_of: str | None
    recorded_at: datetime | None
    required: bool
    overdue_from: datetime | None
    overdue: bool

    @property
    def owed_cents(self) -> int:
        """What must be covered."""
        return self.meters_cents + self.unpaid_cents

    @property
    def is_open(self) -> bool:
        """Whether the link takes wagers by the last change of its state, which may count from later."""
        return self.state == OPEN

    @property
    def falls_short(self) -> bool:
        """Whether a balance is on record, must cover what is owed, and does not."""
        return self.required and self.balance_cents is not None and self.balance_cents < self.owed_cents

    @property
    def beyond_cents(self) -> int | None:
        """What the balance is more than what is owed; below zero it falls short. None without a balance."""
        return None if self.balance_cents is None else self.balance_cents - self.owed_cents

    @property
    def as_of_moment(self) -> datetime | None:
        """The moment of the balance."""
        return None if self.as_of is None else instant(self.as_of)


class Late(NamedTuple):
    """A balance that was not recorded when it was due: of which link, when it was due, and when it was recorded, if it was."""

    link: str
    due: datetime
    recorded_at: datetime | None


def late(at: datetime) -> list[Late]:
    """Every time that a balance of a link was not recorded in its days, by link and in order, as of a moment."""
    terms = terms_now(at)
    if not terms.required:
        return []
    found, term = [], timedelta(days=terms.every_days)
    for link in Link.objects.exclude(state__in=(FILED, CLOSED)).order_by("code"):
        moments = [event.recorded_at for event in documented(link.stream_id, [FUNDS])]
        for before, following in zip_longest([link.opened_at, *moments], moments):
            if (following or at) >= before + term:
                found.append(Late(link.code, before + term, following))
    return found


def terms_now(at: datetime) -> FundsTerms:
    """What is required of the property at a moment."""
    return funds_terms_in(the_property().jurisdiction, gaming_day(at)[0])


def funds(at: datetime) -> list[Funds]:
    """Every link that was opened and is not closed, by code; of a few statements, however many links there are."""
    terms = terms_now(at)
    links = list(Link.objects.exclude(state__in=(FILED, CLOSED)).order_by("code"))
    streams = [link.stream_id for link in links]
    parts = F("value_cents") + F("reserve_cents") + F("overflow_cents")
    held = Meter.objects.values("level__link_id").annotate(cents=Sum(parts)).values_list("level__link_id", "cents")
    meters, unpaid, last = dict(held), unpaid_on(streams), last_documented(FUNDS, streams)
    found = []
    for link in links:
        recorded_at, cause = last.get(link.stream_id, (None, b"{}"))
        said = msgspec.json.decode(cause).get("payload", {})
        since = (recorded_at or link.opened_at) + timedelta(days=terms.every_days)
        found.append(Funds(
            link.code, link.state, int(meters.get(link.pk) or 0), unpaid.get(link.stream_id, 0),
            said.get("balance_cents"), said.get("as_of"), recorded_at, terms.required, since if terms.required else None,
            terms.required and at >= since,
        ))  # fmt: skip
    return found
