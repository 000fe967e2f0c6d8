"""Who did what, append-only and chained."""

from django.db import models
from django.db.models import Q

SHA256 = 32


class AuditRecord(models.Model):
    """One act that auditors may ask about: what was done, to what, by whom, from where, with what before and after."""

    recorded_at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=160)
    origin = models.CharField(max_length=64, blank=True)
    detail = models.JSONField(default=dict)
    previous = models.BinaryField(max_length=SHA256)
    hash = models.BinaryField(max_length=SHA256)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(name="audit_by_subject", fields=["subject", "-id"])]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"


class AuditHead(models.Model):
    """Where the audit trail ends: how many records there are and the hash of the last. One row, moved on by a trigger."""

    only = models.BooleanField(default=True, primary_key=True, editable=False)
    records = models.BigIntegerField()
    hash = models.BinaryField(max_length=SHA256)

    class Meta:
        constraints = [models.CheckConstraint(name="the_audit_trail_has_one_head", condition=Q(only=True))]

    def __str__(self) -> str:
        return f"{self.records} records"
