"""Attempts to get past what guards the tables of `devices`."""

from __future__ import annotations

from tests.services.attempts.rows import against, new_message
from tests.services.house import House, run


@against("a_message_is_a_lock_or_a_result")
def _message_of_another_kind(house: House) -> object:
    return new_message(kind="letter")


@against("a_message_is_on_a_stream")
def _message_on_no_stream(house: House) -> object:
    return new_message(stream_id=999_999)


@against("a_message_is_from_a_table")
def _message_from_no_table(house: House) -> object:
    return new_message(table_id=999_999)


@against("a_stream_has_passed_no_more_than_was_put_forward")
def _passed_more_than_was_put_forward(house: House) -> object:
    return run(
        "INSERT INTO devices_passed (stream_id, receipt, put_forward, noted_by) VALUES (%s, 2, 1, 0)",
        house.stream("ms-mg01"),
    )
