"""Closed gaming days with the signed heads of every stream, how far streams were verified, and readings of meters."""

from django.db import models
from django.db.models import F, Q

from accounting.fields import unguarded

SHA256 = 32
PUBLIC_KEY = 32
SIGNATURE = 64


class ClosedDay(models.Model):
    """A gaming day that was closed, with the bytes that were signed. Closing it closed every earlier day too."""

    day = models.DateField(primary_key=True)
    number = models.IntegerField(unique=True)
    closed_at = models.DateTimeField()
    proposal = models.BigIntegerField(null=True)
    statement = models.BinaryField()
    public_key = models.BinaryField(max_length=PUBLIC_KEY)
    signature = models.BinaryField(max_length=SIGNATURE)

    class Meta:
        ordering = ["-day"]
        constraints = [
            models.CheckConstraint(name="closings_are_numbered_from_one", condition=Q(number__gte=1)),
        ]

    def __str__(self) -> str:
        return self.day.isoformat()


class ClosedHead(models.Model):
    """A stream's event that closed a day, with its hash and the signature of both."""

    pk = models.CompositePrimaryKey("day", "stream")
    day = models.ForeignKey(ClosedDay, on_delete=models.PROTECT, related_name="heads", db_column="day")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    hash = models.BinaryField(max_length=SHA256)
    signature = models.BinaryField(max_length=SIGNATURE)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="an_event_closes_one_day", fields=["stream", "sequence"]),
        ]


class Verified(models.Model):
    """A stream without a difference from its opening, or from a signed head, to an event and its hash."""

    id = models.BigAutoField(primary_key=True)
    stream = unguarded("accounting.Stream")
    first = models.BigIntegerField()
    through = models.BigIntegerField()
    hash = models.BinaryField(max_length=SHA256)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(name="verified_by_stream", fields=["stream", "-through"])]
        constraints = [
            models.CheckConstraint(
                name="what_was_verified_has_an_end", condition=Q(first__gte=0) & Q(through__gte=F("first"))
            ),
        ]


class ReadingPhoto(models.Model):
    """What a person who read meters handed in with the readings: a photograph of the signs, say. Never changed."""

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=200)
    content = models.BinaryField()
    digest = models.BinaryField(max_length=SHA256)
    at = models.DateTimeField()
    by = models.CharField(max_length=150)

    class Meta:
        constraints = [
            models.CheckConstraint(name="a_photo_has_a_name", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name


class Reading(models.Model):
    """What a level's meter was read to show, after which event of its stream; a later one of the same day counts instead.

    A machine reads all three parts, a person the display. `level` is LINK/LEVEL.
    """

    class Method(models.TextChoices):
        """Who read it."""

        MACHINE = "machine"
        HAND = "hand"

    id = models.BigAutoField(primary_key=True)
    day = models.DateField()
    level = models.CharField(max_length=140)
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    method = models.CharField(max_length=8, choices=Method.choices)
    read_at = models.DateTimeField()
    recorded_at = models.DateTimeField()
    by = models.CharField(max_length=150)
    display_cents = models.BigIntegerField()
    reserve_cents = models.BigIntegerField(null=True)
    overflow_cents = models.BigIntegerField(null=True)
    expected_cents = models.BigIntegerField()
    note = models.CharField(max_length=500, blank=True)
    photo = models.ForeignKey(ReadingPhoto, on_delete=models.PROTECT, null=True, related_name="readings")

    class Meta:
        indexes = [models.Index(name="readings_of_a_level", fields=["level", "-day", "-id"])]
        constraints = [
            models.CheckConstraint(name="a_reading_is_by_hand_or_machine", condition=Q(method__in=("machine", "hand"))),
            models.CheckConstraint(name="a_reading_is_not_below_zero", condition=Q(display_cents__gte=0)),
            models.CheckConstraint(
                name="a_machine_reads_every_part",
                condition=Q(method="hand", reserve_cents=None, overflow_cents=None)
                | Q(method="machine", reserve_cents__isnull=False, overflow_cents__isnull=False),
            ),
            models.CheckConstraint(name="only_a_person_takes_photos", condition=Q(photo=None) | Q(method="hand")),
            models.CheckConstraint(
                name="a_reading_is_recorded_after_it_was_taken", condition=Q(recorded_at__gte=F("read_at"))
            ),
        ]


class ReadingNote(models.Model):
    """What people say to a reading: why it differs, and somebody else's signature that this will do."""

    class What(models.TextChoices):
        """Why, or agreed."""

        EXPLAINED = "explained"
        SIGNED = "signed"

    id = models.BigAutoField(primary_key=True)
    reading = models.ForeignKey(Reading, on_delete=models.PROTECT, related_name="notes")
    what = models.CharField(max_length=9, choices=What.choices)
    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    text = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="an_explanation_has_words", condition=Q(what="signed") | Q(what="explained") & ~Q(text="")
            ),
            models.UniqueConstraint(
                name="a_reading_is_signed_off_once", fields=["reading"], condition=Q(what="signed")
            ),
        ]
