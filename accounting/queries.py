"""Reading the property, its gaming days and the ledger."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from accounting.models import Account, AuditRecord, Event, GamingDay, Property, Stream, Transfer
from accounting.rules.gaming_day import began, gaming_date


class NoProperty(LookupError):
    """No floor was loaded yet: `manage.py load_floor FLOOR.toml` creates the property."""


def the_property() -> Property:
    """The one property this service serves. Raises NoProperty before a floor was loaded."""
    found = Property.objects.first()
    if found is None:
        raise NoProperty("no property yet: run `python3 manage.py load_floor FLOOR.toml`")
    return found


def gaming_day(at: datetime) -> tuple[date, datetime]:
    """The gaming day of an instant and when it began. Raises NoProperty before a floor was loaded."""
    home = the_property()
    zone, starts = ZoneInfo(home.time_zone), home.gaming_day_starts
    day = gaming_date(at, zone=zone, starts=starts)
    return day, began(day, zone=zone, starts=starts)


@dataclass(frozen=True, slots=True)
class Balance:
    """An account on one gaming day, in whole cents. Balances are debits less credits: negative is a credit balance."""

    code: str
    kind: str
    owner: str
    before_cents: int
    debit_cents: int
    credit_cents: int

    @property
    def after_cents(self) -> int:
        """The balance at the end of the day."""
        return self.before_cents + self.debit_cents - self.credit_cents


def trial_balance(day: date) -> list[Balance]:
    """Every account that ever moved up to the end of a gaming day, in the order of the chart of accounts."""
    today, earlier = Q(totals__gaming_date=day), Q(totals__gaming_date__lt=day)
    accounts = (
        Account.objects.filter(totals__gaming_date__lte=day)
        .annotate(
            before=Coalesce(
                Sum("totals__debit_cents", filter=earlier) - Sum("totals__credit_cents", filter=earlier), 0
            ),
            debits=Coalesce(Sum("totals__debit_cents", filter=today), 0),
            credits=Coalesce(Sum("totals__credit_cents", filter=today), 0),
        )
        .order_by("id")
        .values_list("code", "kind", "owner", "before", "debits", "credits")
    )
    return [
        Balance(code, kind, owner, int(before), int(debits), int(credits))
        for code, kind, owner, before, debits, credits in accounts
    ]


def days_around(day: date) -> tuple[date | None, date | None]:
    """The gaming days on record just before and just after this one."""
    return (
        GamingDay.objects.filter(date__lt=day).order_by("-date").values_list("date", flat=True).first(),
        GamingDay.objects.filter(date__gt=day).order_by("date").values_list("date", flat=True).first(),
    )


def closed_at(day: date) -> datetime | None:
    """When a gaming day was closed, None while it is open."""
    return GamingDay.objects.filter(date=day).values_list("closed_at", flat=True).first()


def stream_heads() -> list[tuple[str, int, str]]:
    """Every stream by code with the sequence of its last event and that event's hash in hexadecimal."""
    return [
        (code, following - 1, bytes(head).hex())
        for code, following, head in Stream.objects.order_by("code").values_list("code", "next_sequence", "head")
    ]


def audit_records(*, before: int | None = None, subject: str = "", limit: int = 50) -> list[AuditRecord]:
    """The audit trail, newest first: by key below `before`, and about one subject where one is given."""
    records = AuditRecord.objects.order_by("-id")
    if before is not None:
        records = records.filter(id__lt=before)
    if subject:
        records = records.filter(subject=subject)
    return list(records[:limit])


def transfers_of(stream_id: int, sequence: int) -> list[dict[str, Any]]:
    """The transfers of one journal entry, in their order."""
    rows = Transfer.objects.filter(stream_id=stream_id, sequence=sequence).order_by("line")
    return [
        {"line": line, "debit": debit, "credit": credit, "amount_cents": cents, "reason": reason}
        for line, debit, credit, cents, reason in rows.values_list(
            "line", "debit__code", "credit__code", "amount_cents", "reason"
        )
    ]


def event_shown(stream_id: int, sequence: int) -> dict[str, Any]:
    """One event with the digests it is chained by, in hexadecimal."""
    return event_row(Event.objects.select_related("stream").get(stream_id=stream_id, sequence=sequence))


def event_row(event: Event) -> dict[str, Any]:
    """An event as auditors read it: enough to compute its hash by hand (`accounting.rules.chain`)."""
    return {
        "stream": event.stream.code,
        "sequence": event.sequence,
        "kind": event.kind,
        "subject": event.subject,
        "gaming_date": event.gaming_date.isoformat(),
        "original_date": event.original_date.isoformat() if event.original_date else None,
        "recorded_at": event.recorded_at.isoformat(),
        "message_digest": bytes(event.message_digest).hex(),
        "result_digest": bytes(event.result_digest).hex(),
        "previous": bytes(event.previous).hex(),
        "hash": bytes(event.hash).hex(),
    }


def events_page(stream: str, *, after_sequence: int, limit: int, with_rounds: bool) -> list[dict[str, Any]]:
    """Events of a stream after a sequence, in their order, with its rounds among them or without."""
    rows = Event.objects.filter(stream__code=stream, sequence__gt=after_sequence).select_related("stream")
    if not with_rounds:
        rows = rows.exclude(kind=Event.Kind.ROUND)
    return [event_row(row) for row in rows.order_by("sequence")[:limit]]


def stream_exists(code: str) -> bool:
    """Whether a link or table has a stream of this code."""
    return Stream.objects.filter(code=code).exists()
