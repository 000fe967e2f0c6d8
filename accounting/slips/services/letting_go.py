"""Who won is let go of after its term: what was sealed is emptied, on record; shares, forms and slips stay (R100).

All of it is sealed with the house's one key, so that it is the sealed bytes that go, never the key.
"""

from datetime import UTC, date, datetime
from itertools import groupby

from django.db import transaction
from django.db.models import Q

from accounting.rules.retention import kinds
from accounting.services import audit
from accounting.slips import trail
from accounting.slips.models import Particulars, Slip, SlipCounter, SlipPayment

KIND = "winners"
WHO = "the term"


@transaction.atomic
def let_go(at: datetime) -> int:
    """Empty the particulars of every payout whose term is over, from its taking down and from its payment; how many rows.

    Each payout is one audit record, with the digest of every row as it was and as it is now.
    """
    before = kinds()[KIND].passed_before(at.astimezone(UTC).date())
    if before == date.min:
        return 0
    SlipCounter.objects.select_for_update().get()
    edge = datetime(before.year, before.month, before.day, tzinfo=UTC)
    late = SlipPayment.objects.filter(at__gte=edge).values("slip_id")
    kept = Slip.objects.filter(number__in=late).values("subject")
    gone = Particulars.objects.filter(Q(at__lt=edge) & ~Q(sealed=b"")).exclude(subject__in=kept)
    count = 0
    for subject, rows in groupby(gone.order_by("subject", "edition", "payee"), key=lambda row: row.subject):
        digests = {}
        for row in rows:
            was = trail.digest_of(row)
            row.sealed = b""
            row.save(update_fields=["sealed"])
            digests[trail.digest_of(row)] = was
        audit.record(at=at, actor=WHO, action=trail.LET_GO, subject=subject, detail={"digests": digests})
        count += len(digests)
    return count
