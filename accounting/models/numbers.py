"""The house's own account numbers: what each account of ours is called in its general ledger."""

from django.db import models
from django.db.models import Q


class HouseNumber(models.Model):
    """The number that an account is exported under from a moment on; the latest counts, an empty one takes it away."""

    account = models.ForeignKey("accounting.Account", on_delete=models.PROTECT, related_name="house_numbers")
    number = models.CharField(max_length=40, blank=True)
    set_at = models.DateTimeField()
    set_by = models.CharField(max_length=150)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="a_house_number_is_of_plain_signs", condition=Q(number__regex=r"^([A-Za-z0-9][A-Za-z0-9. /-]*)?$")
            ),
        ]

    def __str__(self) -> str:
        return self.number
