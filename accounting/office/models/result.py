"""Files that come of long work: what each is called, and its content in parts, so that nobody ever holds all of it."""

from django.db import models
from django.db.models import Q


class ResultPart(models.Model):
    """A part of a file's content, written as the work goes on: the file itself stands there when all of its parts do."""

    job = models.ForeignKey("office.Job", on_delete=models.PROTECT, related_name="+")
    file = models.SmallIntegerField()
    number = models.IntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(name="a_part_of_a_file_comes_once", fields=["job", "file", "number"]),
        ]

    def __str__(self) -> str:
        return f"part {self.number} of file {self.file} of job {self.job_id}"


class ResultFile(models.Model):
    """A whole file: how it is called, how long it is, and the SHA-256 over it. Files of a job count from 1."""

    job = models.ForeignKey("office.Job", on_delete=models.PROTECT, related_name="files")
    number = models.SmallIntegerField()
    name = models.CharField(max_length=120)
    media_type = models.CharField(max_length=80)
    size = models.BigIntegerField()
    parts = models.IntegerField()
    digest = models.BinaryField(max_length=32)

    class Meta:
        ordering = ["job", "number"]
        constraints = [
            models.UniqueConstraint(name="files_of_a_job_are_numbered_once", fields=["job", "number"]),
            models.UniqueConstraint(name="files_of_a_job_have_their_own_names", fields=["job", "name"]),
            models.CheckConstraint(name="a_file_of_a_job_has_a_name", condition=~Q(name="") & ~Q(media_type="")),
            models.CheckConstraint(name="files_of_a_job_count_from_one", condition=Q(number__gte=1)),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def sha256(self) -> str:
        """The digest as people compare it."""
        return bytes(self.digest).hex()
