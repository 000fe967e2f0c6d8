"""Attempts to get past what guards locks."""

from __future__ import annotations

from tables import models as tables
from tests.services.attempts.rows import against, new_event, new_lock, new_lock_set_aside, the_stream
from tests.services.house import House, locked, message, run


@against("a_message_locks_once")
def _message_that_locks_twice(house: House) -> object:
    lock = new_lock()
    return new_lock(message_id=lock.message_id, reference="another", sequence=0, stream=lock.stream)


@against("a_round_is_locked_once")
def _round_that_is_locked_twice(house: House) -> object:
    lock = new_lock()
    return new_lock(sequence=0, stream=lock.stream)


@against("an_event_ends_one_lock")
def _event_that_ends_two(house: House) -> object:
    lock = new_lock(state="decided", ended=4711)
    return new_lock(reference="another", sequence=0, stream=lock.stream, state="decided", ended=4711)


@against("a_lock_is_locked_decided_or_void")
def _lock_in_another_state(house: House) -> object:
    return new_lock(state="lost", ended=4711)


@against("a_lock_that_ended_names_its_end")
def _lock_that_ended_nowhere(house: House) -> object:
    return new_lock(state="decided")


@against("a_lock_that_ended_names_its_end")
def _lock_that_waits_and_ended(house: House) -> object:
    return new_lock(ended=4711)


@against("a_lock_ends_after_it_began")
def _lock_that_ended_before(house: House) -> object:
    event = new_event(kind="lock")
    return new_lock(stream=event.stream, sequence=event.sequence, state="void", ended=event.sequence)


@against("a_lock_only_ends")
def _lock_that_changes(house: House) -> object:
    house.play(locked("R-1"))
    return run("UPDATE tables_lock SET put_in = '{}'")


@against("a_lock_only_ends")
def _lock_that_waits_again(house: House) -> object:
    house.play(locked("R-1"), message("R-1"))
    return run("UPDATE tables_lock SET state = 'locked', ended = NULL")


@against("a_lock_only_ends")
def _lock_that_ends_twice(house: House) -> object:
    house.play(locked("R-1"), message("R-1"))
    return run("UPDATE tables_lock SET state = 'void'")


@against("a_lock_only_ends")
def _lock_that_is_gone(house: House) -> object:
    house.play(locked("R-1"))
    return run("DELETE FROM tables_lock")


@against("a_lock_is_an_event")
def _lock_without_event(house: House) -> object:
    return new_lock(stream=the_stream(), sequence=4711)


@against("a_lock_is_of_a_table")
def _lock_without_table(house: House) -> object:
    return new_lock(table=tables.Table(id=4711))


@against("a_lock_is_a_message")
def _lock_without_message(house: House) -> object:
    return new_lock(message_id=999_999)


@against("a_lock_set_aside_is_a_message")
def _lock_set_aside_without_message(house: House) -> object:
    return new_lock_set_aside(message_id=999_999)


@against("a_lock_is_set_aside_held_or_as_a_duplicate")
def _lock_set_aside_for_fun(house: House) -> object:
    return new_lock_set_aside(outcome="locked")


@against("a_lock_set_aside_names_its_rules_edition")
def _lock_set_aside_under_no_rules(house: House) -> object:
    return new_lock_set_aside(rules=0)
