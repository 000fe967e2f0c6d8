"""Attempts to get past what guards closed gaming days, their signed heads, and readings of meters."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Any

from accounting import models as accounting
from tests.services.attempts.rows import DAY, against, new_event, new_hold, new_lock_set_aside, the_stream
from tests.services.house import RECEIVED, House, rows, run

SIGNATURE, KEY = bytes(64), bytes(32)
NEXT = DAY + timedelta(days=1)


def new_closed_day(**changes: Any) -> accounting.ClosedDay:
    """The next closing on record; the day itself is closed with it."""
    last = accounting.ClosedDay.objects.order_by("-number").first()
    values: dict[str, Any] = {
        "day": DAY if last is None else last.day + timedelta(days=1), "number": 1 if last is None else last.number + 1,
        "closed_at": RECEIVED, "statement": b"{}", "public_key": KEY, "signature": SIGNATURE,
    } | changes  # fmt: skip
    run(
        "INSERT INTO accounting_gamingday (date, closed_at) VALUES (%s, %s)"
        " ON CONFLICT (date) DO UPDATE SET closed_at = excluded.closed_at", values["day"], values["closed_at"],
    )  # fmt: skip
    return accounting.ClosedDay.objects.create(**values)


def new_head(**changes: Any) -> accounting.ClosedHead:
    """The opening of a stream as the head of a day that is closed now."""
    ((opening,),) = rows("SELECT hash FROM accounting_event WHERE stream_id = %s AND sequence = 0", the_stream().pk)
    values: dict[str, Any] = {"stream": the_stream(), "sequence": 0, "hash": bytes(opening), "signature": SIGNATURE}
    if "day" not in changes:
        values["day"] = new_closed_day()
    return accounting.ClosedHead.objects.create(**values | changes)


def new_verified(**changes: Any) -> accounting.Verified:
    ((opening,),) = rows("SELECT hash FROM accounting_event WHERE stream_id = %s AND sequence = 0", the_stream().pk)
    values: dict[str, Any] = {
        "stream": the_stream(), "first": 0, "through": 0, "hash": bytes(opening), "at": RECEIVED,
    }  # fmt: skip
    return accounting.Verified.objects.create(**values | changes)


def new_reading(**changes: Any) -> accounting.Reading:
    values: dict[str, Any] = {
        "day": DAY, "level": "ms-mg01/major", "stream": the_stream(), "sequence": 0, "method": "hand", "read_at": RECEIVED,
        "recorded_at": RECEIVED, "by": "ada", "display_cents": 1, "expected_cents": 1,
    }  # fmt: skip
    return accounting.Reading.objects.create(**values | changes)


def new_photo(**changes: Any) -> accounting.ReadingPhoto:
    values: dict[str, Any] = {"name": "sign.jpg", "content": b"a sign", "at": RECEIVED, "by": "ada"}
    values |= changes
    return accounting.ReadingPhoto.objects.create(**{"digest": sha256(values["content"]).digest()} | values)


def new_note(**changes: Any) -> accounting.ReadingNote:
    values: dict[str, Any] = {"what": "signed", "at": RECEIVED, "by": "ben"}
    if "reading" not in changes:
        values["reading"] = new_reading()
    return accounting.ReadingNote.objects.create(**values | changes)


@against("closings_are_numbered_from_one")
def _closing_number_nought(house: House) -> object:
    run("ALTER TABLE accounting_closedday DISABLE TRIGGER days_are_closed_in_order")
    return new_closed_day(number=0)


@against("days_are_closed_in_order")
def _closing_left_out(house: House) -> object:
    return new_closed_day(number=2)


@against("days_are_closed_in_order")
def _earlier_day_closed_later(house: House) -> object:
    new_closed_day()
    return new_closed_day(day=DAY - timedelta(days=1))


@against("a_day_on_record_as_closed_is_closed")
def _closed_at_another_moment(house: House) -> object:
    run("INSERT INTO accounting_gamingday (date, closed_at) VALUES (%s, %s)", DAY, RECEIVED)
    return accounting.ClosedDay.objects.create(
        day=DAY,
        number=1,
        closed_at=RECEIVED + timedelta(seconds=1),
        statement=b"{}",
        public_key=KEY,
        signature=SIGNATURE,
    )


@against("a_closed_day_is_signed")
def _closed_without_a_signature(house: House) -> object:
    return new_closed_day(signature=b"")


@against("a_closed_day_is_signed")
def _closed_by_no_key(house: House) -> object:
    return new_closed_day(public_key=b"")


@against("a_closed_day_stays_closed")
def _day_opened_again(house: House) -> object:
    new_closed_day()
    return run("UPDATE accounting_gamingday SET closed_at = NULL WHERE date = %s", DAY)


@against("a_closed_day_stays_closed")
def _closed_day_taken_out(house: House) -> object:
    new_closed_day()
    return run("DELETE FROM accounting_gamingday WHERE date = %s", DAY)


@against("a_closed_day_stays_closed")
def _closed_day_made_another(house: House) -> object:
    new_closed_day()
    return run("UPDATE accounting_gamingday SET date = date - 1 WHERE date = %s", DAY)


@against("a_closed_day_stays_closed")
def _closed_at_another_moment_afterwards(house: House) -> object:
    new_closed_day()
    return run("UPDATE accounting_gamingday SET closed_at = closed_at + interval '1 second' WHERE date = %s", DAY)


@against("a_closed_day_stays_closed")
def _end_of_what_is_closed_a_day_earlier(house: House) -> object:
    new_closed_day()
    return run("UPDATE accounting_property SET closed_through = closed_through - 1")


@against("a_closed_day_stays_closed")
def _earlier_end_of_what_is_closed(house: House) -> object:
    new_closed_day()
    return run("UPDATE accounting_property SET closed_through = NULL")


@against("nothing_is_booked_on_a_closed_day")
def _booked_behind_the_closing(house: House) -> object:
    new_closed_day()
    return new_event()


@against("a_closed_head_is_signed")
def _head_without_a_signature(house: House) -> object:
    return new_head(signature=b"")


@against("an_event_closes_one_day")
def _head_of_two_days(house: House) -> object:
    new_head()
    return new_head()


@against("a_closed_head_is_an_event_with_its_hash")
def _head_that_is_no_event(house: House) -> object:
    return new_head(sequence=4711)


@against("a_closed_head_is_an_event_with_its_hash")
def _head_with_another_hash(house: House) -> object:
    return new_head(hash=bytes(32))


@against("what_was_verified_has_an_end")
def _verified_backwards(house: House) -> object:
    return new_verified(first=1)


@against("what_was_verified_is_an_event_with_its_hash")
def _verified_with_another_hash(house: House) -> object:
    return new_verified(hash=bytes(32))


@against("a_reading_is_by_hand_or_machine")
def _read_by_heart(house: House) -> object:
    run("ALTER TABLE accounting_reading DROP CONSTRAINT a_machine_reads_every_part")
    return new_reading(method="heart")


@against("a_machine_reads_every_part")
def _machine_that_reads_the_display_alone(house: House) -> object:
    return new_reading(method="machine")


@against("a_machine_reads_every_part")
def _hand_that_reads_what_nobody_sees(house: House) -> object:
    return new_reading(reserve_cents=1)


@against("a_reading_is_not_below_zero")
def _read_below_zero(house: House) -> object:
    return new_reading(display_cents=-1)


@against("only_a_person_takes_photos")
def _machine_that_takes_photos(house: House) -> object:
    return new_reading(method="machine", reserve_cents=0, overflow_cents=0, photo=new_photo())


@against("a_photo_has_a_name")
def _photo_without_a_name(house: House) -> object:
    return new_photo(name="")


@against("a_photo_is_digested_as_it_is")
def _photo_digested_otherwise(house: House) -> object:
    return new_photo(digest=bytes(32))


@against("a_photo_is_of_five_megabytes_at_most")
def _photo_of_nothing(house: House) -> object:
    return new_photo(content=b"")


@against("a_reading_is_recorded_after_it_was_taken")
def _read_in_the_future(house: House) -> object:
    return new_reading(read_at=RECEIVED + timedelta(seconds=1))


@against("a_reading_is_of_a_meter_after_an_event")
def _read_after_no_event(house: House) -> object:
    return new_reading(sequence=4711)


@against("a_reading_is_of_a_level")
def _read_of_no_level(house: House) -> object:
    return new_reading(level="ms-mg01/mega")


@against("an_explanation_has_words")
def _explained_without_words(house: House) -> object:
    return new_note(what="explained")


@against("a_reading_is_signed_off_once")
def _signed_off_twice(house: House) -> object:
    return new_note(reading=new_note().reading, by="cy")


@against("nobody_signs_off_their_own_reading")
def _signed_off_by_whoever_read(house: House) -> object:
    return new_note(by="ada")


@against("nobody_signs_off_their_own_reading")
def _signed_off_by_whoever_explained(house: House) -> object:
    reading = new_reading()
    new_note(reading=reading, what="explained", text="a dark digit")
    return new_note(reading=reading)


@against("a_hold_names_its_stream_with_a_sequence")
def _held_on_a_stream_at_no_place(house: House) -> object:
    return new_hold(stream_id=the_stream().pk)


@against("a_hold_names_its_stream_with_a_sequence")
def _held_before_the_opening(house: House) -> object:
    return new_hold(stream_id=the_stream().pk, before_sequence=0)


@against("a_lock_set_aside_names_its_stream_with_a_sequence")
def _set_aside_at_a_place_of_no_stream(house: House) -> object:
    return new_lock_set_aside(before_sequence=1)
