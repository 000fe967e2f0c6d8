"""What workers do about what has passed its term."""

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from accounting.keeping.services import onlookers
from accounting.keeping.services.cleaning import clean as clean_as_of


@shared_task
def clean() -> dict[str, int]:
    """Remove what has passed its term; how many of each kind."""
    return clean_as_of(timezone.now())


@shared_task
def end_onlookers() -> int:
    """End sessions of auditors that hold a snapshot for too long; how many there were."""
    return len(onlookers.end(after_seconds=settings.SNAPSHOT_SECONDS))
