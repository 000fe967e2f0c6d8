"""The casino that this service serves, and its gaming days."""

from django.db import models
from django.db.models import Q


class Property(models.Model):
    """One casino. One service serves one property, so there is one row at most."""

    only = models.BooleanField(default=True, unique=True, editable=False)
    code = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    time_zone = models.CharField(max_length=64)
    gaming_day_starts = models.TimeField()
    jurisdiction = models.CharField(max_length=64)
    opened_at = models.DateTimeField()
    # The latest closed gaming day, and all before it are closed too. The database keeps it whenever a day is closed.
    closed_through = models.DateField(null=True, editable=False)

    class Meta:
        verbose_name_plural = "properties"
        constraints = [models.CheckConstraint(name="a_service_serves_one_property", condition=Q(only=True))]

    def __str__(self) -> str:
        return self.name


class GamingDay(models.Model):
    """A gaming day that was closed, named by its start date; it closed all before it (`Property.closed_through`).

    Houses of the first versions have rows of open days too, which settling inserted.
    """

    date = models.DateField(primary_key=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-date"]

    def __str__(self) -> str:
        return self.date.isoformat()
