"""Gateways that may post for their tables, and the events that they or their messages raise."""

from django.db import models


class Device(models.Model):
    """A shuffler, shoe or table controller. Of its keys only the SHA-256 is kept; a demo key works in demo mode only."""

    code = models.CharField(max_length=80, unique=True)
    tables = models.ManyToManyField("tables.Table", related_name="devices")
    key_digest = models.BinaryField(max_length=32, null=True, unique=True)
    demo_key_digest = models.BinaryField(max_length=32, null=True, unique=True)
    enrolled_at = models.DateTimeField()

    class Meta:
        ordering = ["code"]

    def __str__(self) -> str:
        return self.code


class Contact(models.Model):
    """When a device was last heard of. One that never gave a sign of life by itself is not listened for."""

    device = models.OneToOneField(Device, on_delete=models.CASCADE, primary_key=True, related_name="contact")
    heard_at = models.DateTimeField()


class SignificantEvent(models.Model):
    """Something a regulator wants on record that moves no money: a bad key, a clock ahead, a crashed message."""

    recorded_at = models.DateTimeField()
    code = models.CharField(max_length=40)
    table = models.CharField(max_length=64, blank=True)
    device = models.CharField(max_length=80, blank=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(name="significant_by_code", fields=["code", "-id"])]

    def __str__(self) -> str:
        return self.code


class Heartbeat(models.Model):
    """When a process that must keep running was last seen at work: the sweep proves that somebody settles."""

    name = models.CharField(max_length=20, primary_key=True)
    seen_at = models.DateTimeField()
