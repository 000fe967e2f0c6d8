"""Readings of level meters: by machine, by hand, explained and signed off; never changed (REQUIREMENTS R85-R87, R94, R99)."""

from collections.abc import Sequence
from datetime import date, datetime
from hashlib import sha256
from typing import NamedTuple

from django.db import transaction

from accounting.models import Reading, ReadingNote, ReadingPhoto
from accounting.rules.acts import ActRefused
from accounting.services import audit

LONGEST = 500
"""Characters of a note or an explanation."""


LONGEST_NAME = 200
LARGEST_PHOTO = 5 * 1024 * 1024
"""Bytes; a constraint of the database has the same."""


class Photo(NamedTuple):
    """A file that was handed in with readings: a photograph of the signs, say."""

    name: str
    content: bytes


class Shown(NamedTuple):
    """What a level's meter shows in whole cents, after which event of its stream. `level` is LINK/LEVEL."""

    level: str
    stream_id: int
    sequence: int
    display_cents: int
    reserve_cents: int
    overflow_cents: int


class Typed(NamedTuple):
    """What a person read of a level's display, beside what its movements come to by then, in whole cents."""

    level: str
    stream_id: int
    sequence: int
    display_cents: int
    expected_cents: int
    note: str


def read_by_machine(
    day: date, shown: Sequence[Shown], expected: dict[str, int], *, at: datetime, by: str
) -> list[Reading]:
    """Put on record what every meter shows, beside what its movements come to (`expected`, by level, in whole cents)."""
    return Reading.objects.bulk_create(
        Reading(
            day=day, level=each.level, stream_id=each.stream_id, sequence=each.sequence, method=Reading.Method.MACHINE,
            read_at=at, recorded_at=at, by=by, display_cents=each.display_cents, reserve_cents=each.reserve_cents,
            overflow_cents=each.overflow_cents, expected_cents=expected.get(each.level, 0),
        )
        for each in shown
    )  # fmt: skip


@transaction.atomic
def read_by_hand(
    day: date,
    typed: Sequence[Typed],
    *,
    read_at: datetime,
    at: datetime,
    by: str,
    origin: str = "",
    photo: Photo | None = None,
) -> list[Reading]:
    """Put on record what a person read; of several readings of a level and day the last counts, all are kept.

    ActRefused for a photo without a name or content, or of more than `LARGEST_PHOTO` bytes.
    """
    kept = None if photo is None else _handed_in(photo, at=at, by=by)
    made = Reading.objects.bulk_create(
        Reading(
            day=day, level=each.level, stream_id=each.stream_id, sequence=each.sequence, method=Reading.Method.HAND,
            read_at=read_at, recorded_at=at, by=by, display_cents=each.display_cents,
            expected_cents=each.expected_cents, note=each.note, photo=kept,
        )
        for each in typed
    )  # fmt: skip
    shown = [] if kept is None else [kept.digest.hex()]
    audit.record(
        at=at, actor=by, action="read meters", subject=day.isoformat(), origin=origin,
        detail={str(reading.pk): [reading.level, reading.display_cents, *shown] for reading in made},
    )  # fmt: skip
    return made


def _handed_in(photo: Photo, *, at: datetime, by: str) -> ReadingPhoto:
    name = photo.name.strip()
    if not 1 <= len(photo.content) <= LARGEST_PHOTO:
        raise ActRefused("invalid_value", "/photo", f"photo: a file of 1 to {LARGEST_PHOTO:,} bytes is expected")
    if not 1 <= len(name) <= LONGEST_NAME:
        raise ActRefused("invalid_value", "/photo", f"photo: a name of {LONGEST_NAME} characters at most is expected")
    digest = sha256(photo.content).digest()
    return ReadingPhoto.objects.create(name=name, content=photo.content, digest=digest, at=at, by=by)


@transaction.atomic
def explain(reading_id: int, text: str, *, at: datetime, by: str, origin: str = "") -> ReadingNote:
    """Say why a reading differs from what its movements come to. ActRefused without words, or where it is signed off."""
    reading = _locked(reading_id)
    if not text.strip():
        raise ActRefused("missing_field", "/text", "an explanation says why")
    if len(text.strip()) > LONGEST:
        raise ActRefused("invalid_value", "/text", f"an explanation of {LONGEST} characters at most is expected")
    _still_open(reading)
    note = ReadingNote.objects.create(reading=reading, what=ReadingNote.What.EXPLAINED, at=at, by=by, text=text.strip())
    audit.record(
        at=at, actor=by, action="explain a reading", subject=reading.level, origin=origin,
        detail={"reading": reading.pk, "day": reading.day.isoformat(), "text": text.strip()},
    )  # fmt: skip
    return note


@transaction.atomic
def sign_off(reading_id: int, *, at: datetime, by: str, origin: str = "") -> ReadingNote:
    """Agree to somebody else's reading, or explanation of it; one that differs needs an explanation first.

    ActRefused `own_reading`, `not_explained`, `wrong_state`.
    """
    reading = _locked(reading_id)
    _still_open(reading)
    explained = list(reading.notes.filter(what=ReadingNote.What.EXPLAINED))
    if by == reading.by or any(note.by == by for note in explained):
        raise ActRefused("own_reading", detail="nobody signs off what they read or explained themselves")
    if reading.display_cents != reading.expected_cents and not explained:
        raise ActRefused("not_explained", detail=f"the reading of {reading.level} differs: it must be explained first")
    note = ReadingNote.objects.create(reading=reading, what=ReadingNote.What.SIGNED, at=at, by=by)
    audit.record(
        at=at, actor=by, action="sign off a reading", subject=reading.level, origin=origin,
        detail={"reading": reading.pk, "day": reading.day.isoformat()},
    )  # fmt: skip
    return note


def _locked(reading_id: int) -> Reading:
    found = Reading.objects.filter(pk=reading_id).first() if reading_id < 2**63 else None
    if found is None:
        raise ActRefused("unknown_subject", detail=f"there is no reading {reading_id}")
    return found


def _still_open(reading: Reading) -> None:
    if reading.notes.filter(what=ReadingNote.What.SIGNED).exists():
        raise ActRefused("wrong_state", detail=f"the reading of {reading.level} is signed off")
    if Reading.objects.filter(level=reading.level, day=reading.day, pk__gt=reading.pk).exists():
        raise ActRefused("wrong_state", detail=f"a later reading of {reading.level} counts")
