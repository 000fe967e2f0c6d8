"""What workers do for the office: one long job, and the sweep that ends what nobody ended."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from accounting.office.services import jobs, proposals

PATIENCE = timedelta(seconds=30)
"""How long a job may wait before it is asked for again: the broker may lose a call, and a second one costs nothing."""


@shared_task
def run_job(job_id: int) -> bool:
    """Do one job; False when another worker has it."""
    return jobs.run(job_id, clock=timezone.now)


@shared_task
def sweep() -> None:
    """End proposals whose term is over and jobs whose worker died, ask again for jobs that wait, remove old results."""
    at = timezone.now()
    proposals.expire(at)
    jobs.find_lost(at)
    jobs.remove_results(at)
    for job_id in jobs.waiting_since(at - PATIENCE):
        jobs.call(job_id)
