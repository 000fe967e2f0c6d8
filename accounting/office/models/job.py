"""Long work: who asked for it, how far it has come, and what came of it."""

from django.db import models
from django.db.models import Q


class Job(models.Model):
    """One run of a kind of job. `asked` is what it was asked to do, where its kind can be asked for several things; jobs of a
    kind whose `lane` is the same are done one at a time; `beat_at` is the last sign of life of whoever works at it."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"
        LOST = "lost"

    kind = models.CharField(max_length=40)
    by = models.CharField(max_length=150)
    asked = models.JSONField(default=dict)
    lane = models.CharField(max_length=64, blank=True, db_default="")
    asked_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    started_at = models.DateTimeField(null=True)
    beat_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    result = models.JSONField(null=True)
    ok = models.BooleanField(null=True)
    detail = models.TextField(blank=True)
    cancel_asked_at = models.DateTimeField(null=True)
    cancel_asked_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                name="a_job_is_in_a_known_state",
                condition=Q(state__in=["queued", "running", "done", "failed", "cancelled", "lost"]),
            ),
            models.CheckConstraint(
                name="a_job_that_ended_says_when",
                condition=Q(state__in=["queued", "running"], finished_at__isnull=True)
                | ~Q(state__in=["queued", "running"]) & Q(finished_at__isnull=False),
            ),
            models.UniqueConstraint(
                name="one_job_of_a_kind_and_lane_at_a_time",
                fields=["kind", "lane"],
                condition=Q(state__in=["queued", "running"]),
            ),
            models.CheckConstraint(
                name="only_what_is_done_has_a_result", condition=Q(result__isnull=True) | Q(state="done")
            ),
            models.CheckConstraint(name="a_job_counts_from_nothing", condition=Q(done__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
