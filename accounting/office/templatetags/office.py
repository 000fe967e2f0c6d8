"""What other pages show of the office: the acts that may be proposed about something, what waits about it, long work."""

from datetime import datetime
from typing import Any

from django import template
from django.urls import reverse
from django.utils import timezone

from accounting.office import queries, registry
from accounting.office.callers import person_of
from accounting.office.models import Job
from accounting.office.work import JobKind

register = template.Library()

SHOWN = ("proposal", "act", "version", "evidence", "sha256")


@register.filter
def said(detail: dict[str, Any]) -> dict[str, Any]:
    """What a record says beyond what its row shows already: no number of a proposal, no digests, nothing empty."""
    return {key: value for key, value in detail.items() if value not in ("", None) and key not in SHOWN}


@register.filter
def called(kind: str) -> str:
    """What people call a kind of event: the title of the act that made it, else its own words."""
    return registry.title(kind)


@register.inclusion_tag("office/offers.html", takes_context=True)
def offers(context: dict[str, Any], kind: str, subject: str) -> dict[str, Any]:
    """Buttons for the acts that this person may propose about a link, level, table, round …, and what waits about it."""
    person = person_of(context["request"])
    return {
        "subject": subject,
        "acts": queries.offered(kind, subject, person.roles),
        "waiting": [(each, registry.title(each.act)) for each in queries.waiting_about(kind, subject, timezone.now())],
    }


@register.inclusion_tag("office/jobs.html", takes_context=True)
def long_work(context: dict[str, Any], only: str = "") -> dict[str, Any]:
    """The last jobs, of one kind only where it is named, and buttons for those that this person may start."""
    person, at = person_of(context["request"]), timezone.now()
    kinds = {name: kind for name, kind in registry.jobs().items() if only in ("", name)}
    mine = [kind for kind in kinds.values() if not kind.roles.isdisjoint(person.roles)]
    return {
        "request": context["request"],
        "startable": [kind for kind in mine if not kind.address and not kind.started_on],
        "elsewhere": [kind for kind in mine if kind.started_on and kind.name != only],
        "jobs": [_job(job, kinds.get(job.kind), at) for job in queries.jobs(only)],
    }


def _job(job: Job, kind: JobKind | None, at: datetime) -> tuple[Job, str, str, str]:
    """A job with its title, where it stands, and the page that shows it."""
    address = reverse((kind and kind.address) or "job", args=[job.pk])
    return job, kind.title if kind else job.kind, queries.standing(job, at), address
