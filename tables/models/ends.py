"""How rounds and envy payouts ended by what people decided: rows that show events, beside rows that never change."""

from django.db import models
from django.db.models import Q

from accounting.fields import unguarded


class VoidedRound(models.Model):
    """A settled round that people voided afterwards (CONTRACT §7); `event` is the sequence of that act on its stream."""

    pk = models.CompositePrimaryKey("stream", "sequence")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    event = models.BigIntegerField()
    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    note = models.TextField(blank=True)


class EnvyEnd(models.Model):
    """What became of an envy payout that was owed; `event` is the sequence of the act on its stream (DECISIONS A64)."""

    class State(models.TextChoices):
        PAID = "paid"
        CANCELLED = "cancelled"
        REMITTED = "remitted"

    pk = models.CompositePrimaryKey("stream", "sequence", "line")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    line = models.SmallIntegerField()
    state = models.CharField(max_length=9, choices=State)
    event = models.BigIntegerField()
    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    note = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="owed_envy_is_paid_cancelled_or_remitted",
                condition=Q(state__in=["paid", "cancelled", "remitted"]),
            ),
        ]


class EnvyUnclaimed(models.Model):
    """An envy payout that nobody came for in its term; `event` is the sequence of the act on its stream. It may end yet."""

    pk = models.CompositePrimaryKey("stream", "sequence", "line")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    line = models.SmallIntegerField()
    event = models.BigIntegerField()
    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    note = models.TextField(blank=True)
