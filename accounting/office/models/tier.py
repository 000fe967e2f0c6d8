"""Who must agree to an act, and from which amount: editions, of which the latest counts."""

from django.db import models
from django.db.models import Q

from accounting.rules.roles import ROLES


class TierEdition(models.Model):
    """One published set of an act's tiers. An edition without tiers lets the act be done by whoever proposes it."""

    act = models.CharField(max_length=40)
    number = models.IntegerField()
    published_at = models.DateTimeField()
    published_by = models.CharField(max_length=150)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="editions_of_an_acts_tiers_are_numbered_once", fields=["act", "number"]),
            models.CheckConstraint(name="editions_of_tiers_count_from_one", condition=Q(number__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.act} {self.number}"


class Tier(models.Model):
    """From this amount on, so many people of this role must agree; a count of 0 lifts what a lower tier asks for."""

    edition = models.ForeignKey(TierEdition, on_delete=models.PROTECT, related_name="tiers")
    from_cents = models.BigIntegerField()
    role = models.CharField(max_length=20)
    count = models.SmallIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                name="a_role_has_one_tier_from_an_amount", fields=["edition", "role", "from_cents"]
            ),
            models.CheckConstraint(name="a_tier_begins_at_an_amount", condition=Q(from_cents__gte=0)),
            models.CheckConstraint(name="a_tier_asks_for_a_few_people", condition=Q(count__gte=0, count__lte=9)),
            models.CheckConstraint(name="a_tier_asks_for_a_known_role", condition=Q(role__in=sorted(ROLES))),
        ]

    def __str__(self) -> str:
        return f"{self.count} {self.role} from {self.from_cents}"
