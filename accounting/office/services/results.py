"""Files that come of long work, kept in the database part by part: any web process gives them out, and none holds one.

Parts are committed as they come, so that a long file holds nothing up; the file's own row is written last. What never came to
that, is removed when its job ends.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from typing import Final

from django.db import transaction

from accounting.office.models import ResultFile, ResultPart
from accounting.office.rules.person import Person
from accounting.services import audit

PART: Final = 512 * 1024
"""Bytes of a part: what whoever writes or reads a file holds of it."""
LARGEST: Final = 2 * 1024**3
"""Bytes of a file, at most."""
LONGEST_NAME: Final = 120


class TooLarge(ValueError):
    """A file is longer than any may be."""


def keep(job_id: int, name: str, media_type: str, chunks: Iterable[bytes]) -> ResultFile:
    """Keep a file as a result of a job, however its content is cut; its name takes what a file's name may have.

    Raises TooLarge. Whatever `chunks` raises goes through, and what came before it is no file.
    """
    number = ResultFile.objects.filter(job=job_id).count() + 1
    hashed, size, parts = sha256(), 0, 0
    for content in evenly(chunks):
        size += len(content)
        if size > LARGEST:
            raise TooLarge(f"a file of more than {LARGEST // 1024**3} GiB: ask for less at a time")
        hashed.update(content)
        ResultPart.objects.create(job_id=job_id, file=number, number=parts, content=content)
        parts += 1
    return ResultFile.objects.create(
        job_id=job_id, number=number, name=file_name(name), media_type=media_type, size=size, parts=parts,
        digest=hashed.digest(),
    )  # fmt: skip


def evenly(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in parts of one length, the last one shorter."""
    waiting = bytearray()
    for chunk in chunks:
        view = memoryview(chunk)
        while len(waiting) + len(view) >= PART:
            room = PART - len(waiting)
            waiting += view[:room]
            view = view[room:]
            yield bytes(waiting)
            waiting.clear()
        waiting += view
    if waiting:
        yield bytes(waiting)


def file_name(said: str) -> str:
    """A name that every system takes for a file's: letters, digits, dots, dashes and underscores, its ending kept."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", said).lstrip(".-") or "file"
    stem, dot, ending = plain.rpartition(".")
    return plain if len(plain) <= LONGEST_NAME else f"{stem[: LONGEST_NAME - len(ending) - 1]}{dot}{ending}"


def remove_of(job_id: int) -> None:
    """Remove what a job that came to nothing had written."""
    _remove([job_id])


def remove_before(at: datetime) -> None:
    """Remove the files of jobs that ended before a moment, and parts that a worker left who died between two of them."""
    over = {"job__finished_at__lt": at}
    kept = ResultFile.objects.filter(**over).values_list("job", flat=True)
    _remove(list(kept.union(ResultPart.objects.filter(**over, number=0).values_list("job", flat=True))))


@transaction.atomic
def _remove(job_ids: list[int]) -> None:
    ResultFile.objects.filter(job__in=job_ids).delete()
    # Without reading them first, as deleting by Django's collector would.
    parts = ResultPart.objects.filter(job__in=job_ids)
    parts._raw_delete(parts.db)


def taken_away(file: ResultFile, kind: str, *, by: Person, at: datetime) -> None:
    """Put on the audit trail who took a file away."""
    audit.record(
        at=at, actor=by.name, action="take away", subject=f"job {file.job_id}", origin=by.origin,
        detail={"what": kind, "file": file.name, "bytes": file.size, "sha256": file.sha256},
    )  # fmt: skip
