"""Rounds as settled, rounds that wait for a supervisor, and payouts. Rows of settling carry no foreign keys."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounting.fields import unguarded
from accounting.rules.edition import FIRST
from tables.rules.held import HELD_REASONS


class Round(models.Model):
    """A settled or void round. `settlement` is the canonical JSON whose SHA-256 its event carries.

    `dealt_at` is the deal as reported; `counts_at` is the moment that counts, which is its lock's where it has one
    (DECISIONS A51), or the receipt where the deal cannot be right (ARCHITECTURE §4.10). `gaming_date` is the day that the
    ledger booked it on, `original_date` its own day where that one was closed.
    """

    class Outcome(models.TextChoices):
        SETTLED = "settled"
        VOID = "void"

    pk = models.CompositePrimaryKey("stream", "sequence")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    message_id = models.BigIntegerField()
    table = unguarded("tables.Table")
    terms = unguarded("tables.TableTerms")
    reference = models.CharField(max_length=64)
    outcome = models.CharField(max_length=7, choices=Outcome)
    dealt_at = models.DateTimeField()
    counts_at = models.DateTimeField()
    gaming_date = models.DateField()
    original_date = models.DateField(null=True)
    settlement = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(name="a_message_is_settled_once", fields=["message_id"]),
            models.CheckConstraint(name="a_round_is_settled_or_void", condition=Q(outcome__in=["settled", "void"])),
        ]
        indexes = [
            models.Index(name="rounds_of_a_table", fields=["table", "-counts_at", "-sequence"]),
            # Few: whoever reads a day must also look for what was booked on it though it is of an earlier one.
            models.Index(name="rounds_booked_late", fields=["gaming_date"], condition=Q(original_date__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.reference


class Hold(models.Model):
    """A round that waits for a supervisor: no stream sequence and no money until it is released.

    It was decided on what stream `stream_id` knew before `before_sequence`; rows of the first versions do not say.
    """

    message_id = models.BigIntegerField(primary_key=True)
    table = models.ForeignKey("tables.Table", on_delete=models.PROTECT, related_name="holds")
    reference = models.CharField(max_length=64)
    reasons = ArrayField(models.CharField(max_length=30))
    settlement = models.BinaryField()
    error = models.TextField(blank=True)
    dealt_at = models.DateTimeField()
    held_at = models.DateTimeField()
    rules = models.SmallIntegerField()
    stream_id = models.BigIntegerField(null=True)
    before_sequence = models.BigIntegerField(null=True)
    seal = models.BinaryField(max_length=32)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="a_hold_names_its_stream_with_a_sequence",
                condition=Q(stream_id__isnull=True, before_sequence__isnull=True)
                | Q(stream_id__isnull=False, before_sequence__isnull=False, before_sequence__gt=0),
            ),
            models.CheckConstraint(name="a_hold_has_a_reason", condition=Q(reasons__len__gt=0)),
            models.CheckConstraint(name="a_hold_names_its_rules_edition", condition=Q(rules__gte=FIRST)),
            models.CheckConstraint(
                name="a_hold_is_for_reasons_of_the_list", condition=Q(reasons__contained_by=list(HELD_REASONS))
            ),
        ]
        indexes = [models.Index(name="holds_by_time", fields=["-held_at"])]


# Poker hands from a straight up: four payouts in a hundred.
RARE_HANDS = ["straight", "flush", "full_house", "four_of_a_kind", "straight_flush", "mini_royal", "royal_flush",
              "royal_straight_flush", "five_of_a_kind"]  # fmt: skip


class Payout(models.Model):
    """Winnings of one line, or one envy entry: whole cents without the stake, never zero (CONTRACT §5).

    `dealt_at`, `counts_at` and `gaming_date` are its round's.
    """

    class Kind(models.TextChoices):
        BASE = "base"
        BONUS = "bonus"
        COVER_ALL = "cover_all"
        PROGRESSIVE = "progressive"
        LEVEL = "level"
        ENVY = "envy"

    pk = models.CompositePrimaryKey("stream", "sequence", "line")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    line = models.SmallIntegerField()
    table = unguarded("tables.Table")
    seat = models.SmallIntegerField()
    kind = models.CharField(max_length=11, choices=Kind)
    wager = models.CharField(max_length=40)
    hand = models.CharField(max_length=40)
    level = unguarded("jackpot.Level", null=True)
    cents = models.BigIntegerField()
    dealt_at = models.DateTimeField()
    counts_at = models.DateTimeField()
    gaming_date = models.DateField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="a_payout_is_positive", condition=Q(cents__gt=0)),
            models.CheckConstraint(
                name="a_payout_is_of_a_known_kind",
                condition=Q(kind__in=["base", "bonus", "cover_all", "progressive", "level", "envy"]),
            ),
        ]
        indexes = [
            models.Index(name="payouts_newest_first", fields=["-counts_at", "-stream", "-sequence", "-line"]),
            models.Index(name="payouts_of_a_table", fields=["table", "-counts_at", "-stream", "-sequence", "-line"]),
            # What people look for is rare; a search for it must not read all that is not.
            models.Index(
                name="payouts_of_a_rare_hand",
                fields=["hand", "-counts_at", "-stream", "-sequence", "-line"],
                condition=Q(hand__in=RARE_HANDS),
            ),
            models.Index(
                name="payouts_owed",
                fields=["-counts_at", "-stream", "-sequence", "-line"],
                condition=Q(kind__in=["level", "envy"]) | Q(level__isnull=False),
            ),
            # The amount at the end: whoever looks for more is told by the index alone which of these are.
            models.Index(
                name="payouts_of_1000_dollars",
                fields=["table", "-counts_at", "-stream", "-sequence", "-line", "cents"],
                condition=Q(cents__gte=100_000),
            ),
            models.Index(
                name="payouts_of_1000_newest_first",
                fields=["-counts_at", "-stream", "-sequence", "-line", "cents"],
                condition=Q(cents__gte=100_000),
            ),
        ]
