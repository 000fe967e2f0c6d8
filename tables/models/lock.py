"""Locks: progressive wagers that were taken before the cards, and those that were set aside. Rows carry no foreign keys."""

from django.db import models
from django.db.models import F, Q

from accounting.fields import unguarded
from accounting.rules.edition import FIRST


class Lock(models.Model):
    """A lock that contributed. `result` is the canonical JSON whose SHA-256 its event carries.

    `put_in` is what its round's result starts from, as canonical JSON: the link, the moment it counts from in nanoseconds
    since 1970 UTC, the wagers in cents by seat, and what they brought to each part of a level in millionths of a cent.
    `ended` is the sequence of the event that decided or voided it. `locked_at` is the moment as reported, `counts_at` the
    one that counts; the days are a round's.
    """

    class State(models.TextChoices):
        LOCKED = "locked"
        DECIDED = "decided"
        VOID = "void"

    pk = models.CompositePrimaryKey("stream", "sequence")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    message_id = models.BigIntegerField()
    table = unguarded("tables.Table")
    reference = models.CharField(max_length=64)
    locked_at = models.DateTimeField()
    counts_at = models.DateTimeField()
    gaming_date = models.DateField()
    original_date = models.DateField(null=True)
    result = models.BinaryField()
    put_in = models.BinaryField()
    state = models.CharField(max_length=7, choices=State, default=State.LOCKED)
    ended = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="a_message_locks_once", fields=["message_id"]),
            models.UniqueConstraint(name="a_round_is_locked_once", fields=["table", "reference"]),
            models.UniqueConstraint(
                name="an_event_ends_one_lock", fields=["stream", "ended"], condition=Q(ended__isnull=False)
            ),
            models.CheckConstraint(
                name="a_lock_is_locked_decided_or_void", condition=Q(state__in=["locked", "decided", "void"])
            ),
            models.CheckConstraint(
                name="a_lock_that_ended_names_its_end",
                condition=Q(state="locked", ended__isnull=True) | (~Q(state="locked") & Q(ended__isnull=False)),
            ),
            models.CheckConstraint(name="a_lock_ends_after_it_began", condition=Q(ended__gt=F("sequence"))),
        ]
        # Few at any time: whoever looks for those that wait must not read all that ever were.
        indexes = [
            models.Index(name="locks_that_wait", fields=["stream"], condition=Q(state="locked")),
            models.Index(name="locks_of_a_tables_day", fields=["table", "gaming_date"]),
            models.Index(name="void_locks_of_a_table", fields=["table"], condition=Q(state="void")),
        ]

    def __str__(self) -> str:
        return self.reference


class LockSetAside(models.Model):
    """A lock that is as if it had never come: held, or a duplicate because its round's result was there before it.

    It was decided on what stream `stream_id` knew before `before_sequence`; rows of the first versions do not say.
    """

    class Outcome(models.TextChoices):
        HELD = "held"
        DUPLICATE = "duplicate"

    message_id = models.BigIntegerField(primary_key=True)
    table = models.ForeignKey("tables.Table", on_delete=models.PROTECT, related_name="+")
    reference = models.CharField(max_length=64)
    outcome = models.CharField(max_length=9, choices=Outcome)
    result = models.BinaryField()
    error = models.TextField(blank=True)
    locked_at = models.DateTimeField()
    decided_at = models.DateTimeField()
    rules = models.SmallIntegerField()
    stream_id = models.BigIntegerField(null=True)
    before_sequence = models.BigIntegerField(null=True)
    seal = models.BinaryField(max_length=32)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="a_lock_set_aside_names_its_stream_with_a_sequence",
                condition=Q(stream_id__isnull=True, before_sequence__isnull=True)
                | Q(stream_id__isnull=False, before_sequence__isnull=False, before_sequence__gt=0),
            ),
            models.CheckConstraint(
                name="a_lock_is_set_aside_held_or_as_a_duplicate", condition=Q(outcome__in=["held", "duplicate"])
            ),
            models.CheckConstraint(name="a_lock_set_aside_names_its_rules_edition", condition=Q(rules__gte=FIRST)),
        ]

    def __str__(self) -> str:
        return self.reference
