"""The weekly review: the sheet of a week as it was made, once, and who signed it off (REQUIREMENTS R93)."""

from django.db import models
from django.db.models import Q

MONDAY = 1


class WeekSheet(models.Model):
    """The week that begins on a Monday: what its review looks at, byte for byte, with the SHA-256 over it. Never changed."""

    first = models.DateField(primary_key=True)
    content = models.BinaryField()
    digest = models.BinaryField(max_length=32)
    made_at = models.DateTimeField()
    by = models.CharField(max_length=150)

    class Meta:
        ordering = ["-first"]
        constraints = [
            models.CheckConstraint(name="a_week_begins_on_a_monday", condition=Q(first__iso_week_day=MONDAY)),
        ]

    def __str__(self) -> str:
        return self.first.isoformat()


class WeekReview(models.Model):
    """Somebody's signature under the sheet of a week, with what they say to it. Never changed."""

    id = models.BigAutoField(primary_key=True)
    sheet = models.ForeignKey(WeekSheet, on_delete=models.PROTECT, related_name="reviews", db_column="first")
    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    note = models.CharField(max_length=2000)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(name="one_signs_a_week_once", fields=["sheet", "by"]),
            models.CheckConstraint(name="who_signs_a_week_says_something", condition=~Q(note="")),
        ]
