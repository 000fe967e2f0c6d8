"""The inbox: every accepted message for ever, its reference for ever, and its place in the queue until settled."""

from django.db import models
from django.db.models import F, Q

from accounting.fields import unguarded


class Message(models.Model):
    """A message as it arrived: raw bytes and SHA-256 of its canonical JSON. Never changed, never deleted."""

    class Kind(models.TextChoices):
        LOCK = "lock"
        RESULT = "result"

    id = models.BigAutoField(primary_key=True)
    stream = unguarded("accounting.Stream")
    table = unguarded("tables.Table")
    reference = models.CharField(max_length=64)
    kind = models.CharField(max_length=6, choices=Kind, default=Kind.RESULT)
    device = unguarded("devices.Device", null=True)
    device_sequence = models.BigIntegerField(null=True)
    received_at = models.DateTimeField()
    raw = models.BinaryField()
    digest = models.BinaryField(max_length=32)

    class Meta:
        constraints = [
            models.CheckConstraint(name="a_message_is_a_lock_or_a_result", condition=Q(kind__in=["lock", "result"])),
        ]

    def __str__(self) -> str:
        return self.reference


class Reference(models.Model):
    """The controller's own reference, used up for ever once a message under it was accepted (ARCHITECTURE §4.1).

    It says once more when the message came and from which device, so that neither can be changed unseen.
    """

    pk = models.CompositePrimaryKey("table", "reference", "kind")
    table = unguarded("tables.Table")
    reference = models.CharField(max_length=64)
    kind = models.CharField(max_length=6, default="result")
    digest = models.BinaryField(max_length=32)
    message = unguarded("devices.Message")
    received_at = models.DateTimeField()
    device = unguarded("devices.Device", null=True)


class Queued(models.Model):
    """A message that waits. Its place is the receipt and the index inside the receipt, never insert order."""

    pk = models.CompositePrimaryKey("stream", "receipt", "position")
    stream = unguarded("accounting.Stream")
    receipt = models.BigIntegerField()
    position = models.SmallIntegerField()
    message = unguarded("devices.Message")
    received_at = models.DateTimeField()


class Attempt(models.Model):
    """The front of a stream's queue that was last tried, and how often: a message that kills its worker is found so."""

    stream = models.OneToOneField("accounting.Stream", on_delete=models.CASCADE, primary_key=True, related_name="+")
    receipt = models.BigIntegerField()
    position = models.SmallIntegerField()
    attempts = models.IntegerField()


class Passed(models.Model):
    """The receipt below which nothing waits on a stream and nothing will come, and the one put forward to be the next.

    `noted_by` is the number of the transaction after which nobody is handed a lower one than that; 0 until it is noted.
    """

    stream = models.OneToOneField("accounting.Stream", on_delete=models.CASCADE, primary_key=True, related_name="+")
    receipt = models.BigIntegerField()
    put_forward = models.BigIntegerField()
    noted_by = models.BigIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="a_stream_has_passed_no_more_than_was_put_forward", condition=Q(put_forward__gte=F("receipt"))
            ),
        ]


class Stoppage(models.Model):
    """A stream that stands still for a fault of ours: since when, and why. Its next batch that commits takes this away."""

    stream = models.OneToOneField("accounting.Stream", on_delete=models.CASCADE, primary_key=True, related_name="+")
    since = models.DateTimeField()
    reason = models.TextField()


class Deal(models.Model):
    """What was dealt at a table, by the digest of its moment and cards: found again under a second reference."""

    pk = models.CompositePrimaryKey("table", "digest", "message")
    table = unguarded("tables.Table")
    digest = models.BinaryField(max_length=16)
    message = unguarded("devices.Message")


class Looked(models.Model):
    """How far a stream's deals were looked at."""

    stream = models.OneToOneField("accounting.Stream", on_delete=models.CASCADE, primary_key=True, related_name="+")
    sequence = models.BigIntegerField()
