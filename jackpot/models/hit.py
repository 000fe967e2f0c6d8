"""Hits: awards of a share of a level, and the steps they walk until paid."""

from django.db import models
from django.db.models import Q

from jackpot.rules.hits import hit_name


class Hit(models.Model):
    """One award of a share of a level, locked at detection. Its state is its last step, never a column."""

    link = models.ForeignKey("jackpot.Link", on_delete=models.PROTECT, related_name="hits")
    number = models.BigIntegerField()
    level = models.ForeignKey("jackpot.Level", on_delete=models.PROTECT, related_name="hits")
    sequence = models.BigIntegerField()
    order = models.SmallIntegerField()
    table = models.CharField(max_length=64)
    round = models.CharField(max_length=64)
    seat = models.SmallIntegerField()
    hand = models.CharField(max_length=40)
    share_ppm = models.IntegerField()
    meter_before_cents = models.BigIntegerField()
    paid_cents = models.BigIntegerField()
    meter_after_cents = models.BigIntegerField()
    seed_reserve_cents = models.BigIntegerField(default=0)
    seed_house_cents = models.BigIntegerField(default=0)
    seed_overflow_cents = models.BigIntegerField(default=0)
    dealt_at = models.DateTimeField()
    detected_at = models.DateTimeField()

    class Meta:
        ordering = ["-detected_at", "-number"]
        constraints = [
            models.UniqueConstraint(name="a_hit_number_is_used_once", fields=["link", "number"]),
            models.UniqueConstraint(name="an_award_is_one_hit", fields=["link", "sequence", "order"]),
            models.CheckConstraint(name="a_share_is_part_of_the_level", condition=Q(share_ppm__range=(1, 1_000_000))),
            models.CheckConstraint(name="an_award_is_not_negative", condition=Q(paid_cents__gte=0)),
        ]

    @property
    def reference(self) -> str:
        """The link's code and the hit number, derived from the stream alone (CONTRACT §3)."""
        return hit_name(self.link.code, self.number)

    def __str__(self) -> str:
        return self.reference


class HitStep(models.Model):
    """One step of a hit: detected, verified, approved, paid or rejected (SPEC §6.7); unclaimed, remitted (R83)."""

    class State(models.TextChoices):
        DETECTED = "detected"
        VERIFIED = "verified"
        APPROVED = "approved"
        PAID = "paid"
        REJECTED = "rejected"
        UNCLAIMED = "unclaimed"
        REMITTED = "remitted"

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="steps")
    state = models.CharField(max_length=9, choices=State)
    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    note = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="a_hit_takes_each_step_once", fields=["hit", "state"]),
            models.CheckConstraint(
                name="a_step_is_one_of_the_list",
                condition=Q(
                    state__in=["detected", "verified", "approved", "paid", "rejected", "unclaimed", "remitted"]
                ),
            ),
        ]
