"""Links, their levels, the terms of a level and its meter."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import F, Q


class Link(models.Model):
    """Tables that feed and share the same meters. One paytable edition, one wager, one number of decks."""

    class State(models.TextChoices):
        FILED = "filed"
        OPEN = "open"
        SUSPENDED = "suspended"
        CLOSED = "closed"

    code = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    paytable = models.ForeignKey("jackpot.ProgressiveEdition", on_delete=models.PROTECT, related_name="links")
    decks = models.SmallIntegerField()
    envy_scope = models.CharField(max_length=10, default="table")
    tie_policy = models.CharField(max_length=12, default="sequential")
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    stream = models.OneToOneField("accounting.Stream", on_delete=models.PROTECT, related_name="+")
    next_hit = models.BigIntegerField(default=1)
    opened_at = models.DateTimeField()

    class Meta:
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(name="a_link_has_one_to_eight_decks", condition=Q(decks__gte=1, decks__lte=8)),
            models.CheckConstraint(
                name="a_link_is_filed_open_suspended_or_closed",
                condition=Q(state__in=["filed", "open", "suspended", "closed"]),
            ),
            models.CheckConstraint(name="envy_is_paid_at_the_same_table", condition=Q(envy_scope="table")),
            models.CheckConstraint(name="simultaneous_hits_are_sequential", condition=Q(tie_policy="sequential")),
            models.CheckConstraint(name="hits_are_numbered_from_one", condition=Q(next_hit__gte=1)),
            # Targets of the composite foreign keys that keep every table of a link alike (SPEC §6.9).
            models.UniqueConstraint(name="a_link_has_one_paytable_and_decks", fields=["id", "paytable", "decks"]),
            models.UniqueConstraint(name="a_link_has_one_paytable", fields=["id", "paytable"]),
            models.UniqueConstraint(name="a_link_has_one_stream", fields=["id", "stream"]),
        ]

    def __str__(self) -> str:
        return self.code


class Level(models.Model):
    """One prize of a link."""

    link = models.ForeignKey(Link, on_delete=models.PROTECT, related_name="levels")
    paytable = models.ForeignKey("jackpot.ProgressiveEdition", on_delete=models.PROTECT, related_name="+")
    code = models.CharField(max_length=64)

    class Meta:
        ordering = ["link", "id"]
        constraints = [models.UniqueConstraint(name="a_link_has_a_level_once", fields=["link", "code"])]

    def __str__(self) -> str:
        return f"{self.link}/{self.code}"


class LevelTerms(models.Model):
    """The terms of a level while in force. Rates are parts per million of the wager, amounts whole cents (SPEC §6.8)."""

    level = models.ForeignKey(Level, on_delete=models.PROTECT, related_name="terms")
    in_force = DateTimeRangeField()
    reset_cents = models.BigIntegerField()
    rate_ppm = models.IntegerField()
    reserve_ppm = models.IntegerField(default=0)
    limit_cents = models.BigIntegerField(null=True, blank=True)
    unreasonable_cents = models.BigIntegerField(null=True, blank=True)
    overflow_policy = models.CharField(max_length=20, default="next_reset")
    seed_funding = models.CharField(max_length=20, default="reserve_then_house")
    floor_policy = models.CharField(max_length=20, default="allow")
    # How likely one wager hits the level, whatever the share: filed before a link goes live (REQUIREMENTS R7).
    hit_numerator = models.BigIntegerField()
    hit_denominator = models.BigIntegerField()

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="one_edition_of_a_level_is_in_force_at_a_time",
                expressions=[("level", RangeOperators.EQUAL), ("in_force", RangeOperators.OVERLAPS)],
            ),
            models.CheckConstraint(
                name="a_level_is_hit_once_in_a_hundred_million_at_least",
                condition=Q(hit_denominator__gt=0, hit_numerator__lte=F("hit_denominator"))
                & Q(hit_denominator__lte=F("hit_numerator") * 100_000_000),
            ),
            models.CheckConstraint(name="a_reset_is_not_negative", condition=Q(reset_cents__gte=0)),
            models.CheckConstraint(
                name="rates_are_shares_of_the_wager",
                condition=Q(rate_ppm__gte=0, reserve_ppm__gte=0) & Q(rate_ppm__lte=1_000_000 - F("reserve_ppm")),
            ),
            models.CheckConstraint(
                name="a_limit_is_not_below_the_reset",
                condition=Q(limit_cents__isnull=True) | Q(limit_cents__gte=F("reset_cents")),
            ),
            models.CheckConstraint(
                name="an_unreasonable_contribution_is_not_negative",
                condition=Q(unreasonable_cents__isnull=True) | Q(unreasonable_cents__gte=0),
            ),
            models.CheckConstraint(
                name="overflow_joins_the_reset_or_is_revenue",
                condition=Q(overflow_policy__in=["next_reset", "revenue"]),
            ),
            models.CheckConstraint(
                name="a_seed_comes_from_the_house_or_the_reserve_first",
                condition=Q(seed_funding__in=["house", "reserve_then_house"]),
            ),
            models.CheckConstraint(
                name="below_the_reset_is_allowed_or_topped_up", condition=Q(floor_policy__in=["allow", "top_up"])
            ),
        ]


class Meter(models.Model):
    """A level's current value: a cache of its last event, written once per batch under the stream's lock."""

    level = models.OneToOneField(Level, on_delete=models.PROTECT, primary_key=True, related_name="meter")
    sequence = models.BigIntegerField(default=0)
    value_cents = models.BigIntegerField()
    residual_millionths = models.IntegerField(default=0)
    reserve_cents = models.BigIntegerField(default=0)
    reserve_residual_millionths = models.IntegerField(default=0)
    overflow_cents = models.BigIntegerField(default=0)
    overflow_residual_millionths = models.IntegerField(default=0)
    wagers = models.BigIntegerField(default=0)
    hits = models.BigIntegerField(default=0)
    wins_cents = models.DecimalField(max_digits=40, decimal_places=0, default=0)  # a lifetime of bigints
    # What wagers ever brought, in millionths of a cent: they never fall (REQUIREMENTS R4).
    contributed_millionths = models.DecimalField(max_digits=40, decimal_places=0, default=0)
    reserved_millionths = models.DecimalField(max_digits=40, decimal_places=0, default=0)
    overflowed_millionths = models.DecimalField(max_digits=40, decimal_places=0, default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="a_meter_is_not_negative",
                condition=Q(value_cents__gte=0, reserve_cents__gte=0, overflow_cents__gte=0),
            ),
            models.CheckConstraint(
                name="a_residual_is_a_fraction_of_a_cent",
                condition=Q(residual_millionths__range=(0, 999_999))
                & Q(reserve_residual_millionths__range=(0, 999_999))
                & Q(overflow_residual_millionths__range=(0, 999_999)),
            ),
            models.CheckConstraint(
                name="lifetime_meters_are_not_negative",
                condition=Q(
                    wagers__gte=0,
                    hits__gte=0,
                    wins_cents__gte=0,
                    contributed_millionths__gte=0,
                    reserved_millionths__gte=0,
                    overflowed_millionths__gte=0,
                ),
            ),
        ]
