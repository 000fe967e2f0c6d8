"""Who did what, append-only."""

from django.db import models


class AuditRecord(models.Model):
    """One act that auditors may ask about: what was done, to what, by whom, with what before and after."""

    recorded_at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=160)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(name="audit_by_subject", fields=["subject", "-id"])]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
