"""Who must agree from which amount: what an act declares to begin with, then what the house has published."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from accounting.office import acts
from accounting.office.models import Tier, TierEdition
from accounting.services import audit

DECLARED = "declared by the act"


@transaction.atomic
def edition_in_force(act: acts.Act, *, at: datetime) -> TierEdition:
    """The latest edition of an act's tiers; the first is what it declares, published when it is first asked for."""
    found = TierEdition.objects.filter(act=act.name).order_by("-number").first()
    if found is not None:
        return found
    first = TierEdition(act=act.name, number=1, published_at=at, published_by=DECLARED)
    TierEdition.objects.bulk_create([first], ignore_conflicts=True)
    # Two may come first at once: whoever wrote the edition's row writes its tiers, the other has waited for that.
    edition = TierEdition.objects.get(act=act.name, number=1)
    Tier.objects.bulk_create(_rows(edition, act.approves), ignore_conflicts=True)
    return edition


@transaction.atomic
def publish(act: acts.Act, tiers: Sequence[acts.Tier], *, at: datetime, by: str, origin: str = "") -> TierEdition:
    """Let other tiers count from now on; what was proposed before keeps what it needs."""
    last = edition_in_force(act, at=at)
    edition = TierEdition.objects.create(act=act.name, number=last.number + 1, published_at=at, published_by=by)
    Tier.objects.bulk_create(_rows(edition, tiers))
    detail = {"edition": edition.number, "before": _said(last), "after": _said(edition)}
    audit.record(at=at, actor=by, action="publish approval tiers", subject=act.name, detail=detail, origin=origin)
    return edition


def _rows(edition: TierEdition, tiers: Sequence[acts.Tier]) -> list[Tier]:
    return [Tier(edition=edition, from_cents=tier.from_cents, role=tier.role, count=tier.count) for tier in tiers]


def _said(edition: TierEdition) -> list[str]:
    return [str(tier) for tier in edition.tiers.all()]
