"""Changes of locks past the guards that `manage.py verify` must find: in a house of locks that `test_locks_verified` plays."""

# What is done; what must be named: the place, and the words for what differs there.
TAMPERING_WITH_LOCKS = {
    "what a lock put in": (
        "UPDATE tables_lock SET put_in = replace(convert_from(put_in, 'UTF8'), '100', '101')::bytea WHERE reference = 'L-1'",
        "stream ms-mg01, sequence 1 (MS-101/L-1): what the lock put in:",
    ),
    "the result of a lock": (
        "UPDATE tables_lock SET result = overlay(result placing '\\x39'::bytea from 12 for 1) WHERE reference = 'L-1'",
        "stream ms-mg01, sequence 1 (MS-101/L-1): result:",
    ),
    "a lock taken out": (
        "DELETE FROM tables_lock WHERE reference = 'L-1'",
        "stream ms-mg01, sequence 1 (MS-101/L-1): lock of the event with its message:",
    ),
    "a lock that its round decided and that waits": (
        "UPDATE tables_lock SET state = 'locked', ended = NULL WHERE reference = 'L-1'",
        "stream ms-mg01, sequence 5 (MS-101/L-1): ",
    ),
    "a lock that its round decided and that is void": (
        "UPDATE tables_lock SET state = 'void' WHERE reference = 'L-1'",
        "stream ms-mg01, sequence 5 (MS-101/L-1): state of the lock that it ended:",
    ),
    "a lock that another round decided": (
        "UPDATE tables_lock SET ended = 6 WHERE reference = 'L-1'",
        "stream ms-mg01, sequence 5 (MS-101/L-1): ",
    ),
    "a lock that waits and is decided": (
        "UPDATE tables_lock SET state = 'decided', ended = 6 WHERE reference = 'L-3'",
        "stream ms-mg01, sequence 6 (MS-101/R-1): locks that it ended:",
    ),
    "a lock that is void and waits": (
        "UPDATE tables_lock SET state = 'locked', ended = NULL WHERE reference = 'L-2'",
        "stream ms-mg01, sequence 4 (MS-101/L-2): ",
    ),
    "when a lock was pressed": (
        "UPDATE tables_lock SET locked_at = locked_at + interval '1 second' WHERE reference = 'L-1'",
        "stream ms-mg01, sequence 1 (MS-101/L-1): time of the lock:",
    ),
    "the moment a lock counts from": (
        "UPDATE tables_lock SET counts_at = counts_at + interval '1 second' WHERE reference = 'L-1'",
        "stream ms-mg01, sequence 1 (MS-101/L-1): moment it counts from:",
    ),
    "the gaming day of a lock": (
        "UPDATE tables_lock SET gaming_date = gaming_date + 1 WHERE reference = 'L-1'",
        "stream ms-mg01, sequence 1 (MS-101/L-1): days of the lock:",
    ),
    "the table of a lock": (
        "UPDATE tables_lock SET table_id = (SELECT id FROM tables_table WHERE code = 'MS-102') WHERE reference = 'L-3'",
        "stream ms-mg01, sequence 3 (MS-101/L-3): table, reference and kind of the message:",
    ),
    "the message of a lock": (
        "UPDATE devices_message SET raw = replace(convert_from(raw, 'UTF8'), '\"seat\": 1', '\"seat\": 2')::bytea"
        " WHERE reference = 'L-1' AND kind = 'lock'",
        "stream ms-mg01, sequence 1 (MS-101/L-1): digest of the message:",
    ),
    "a lock's message taken out": (
        "DELETE FROM devices_message WHERE reference = 'L-1' AND kind = 'lock'",
        "stream ms-mg01, sequence 1 (MS-101/L-1): lock of the event with its message:",
    ),
    "what kind a lock's message is": (
        "UPDATE devices_message SET kind = 'result' WHERE reference = 'L-3'",
        "stream ms-mg01, sequence 3 (MS-101/L-3): table, reference and kind of the message:",
    ),
    "when a lock was received": (
        "UPDATE devices_message SET received_at = received_at + interval '1 second' WHERE reference = 'L-1' AND kind = 'lock'",
        "stream ms-mg01, sequence 1 (MS-101/L-1): hash of the event:",
    ),
    "a lock of an event that never was": (
        "INSERT INTO tables_lock SELECT (jsonb_populate_record(l, '{\"sequence\": 4711, \"message_id\": 4711,"
        ' "reference": "L-9", "state": "locked", "ended": null}\')).* FROM tables_lock l WHERE reference = \'L-1\'',
        "stream ms-mg01: locks after the last event:",
    ),
    "a lock of the event that is next": (
        "INSERT INTO tables_lock SELECT (jsonb_populate_record(l, jsonb_build_object('sequence', next_sequence,"
        " 'message_id', 4711, 'reference', 'L-9', 'state', 'locked', 'ended', NULL))).* FROM tables_lock l"
        " JOIN accounting_stream stream ON stream.id = l.stream_id WHERE reference = 'L-1'",
        "stream ms-mg01: locks after the last event:",
    ),
    "a lock before the opening": (
        "INSERT INTO tables_lock SELECT (jsonb_populate_record(l, '{\"sequence\": -1, \"message_id\": 4711,"
        ' "reference": "L-9", "state": "locked", "ended": null}\')).* FROM tables_lock l WHERE reference = \'L-1\'',
        "stream ms-mg01: locks before the opening:",
    ),
    "a lock under a stream that does not exist": (
        "INSERT INTO tables_lock SELECT (jsonb_populate_record(l, '{\"stream_id\": 4711, \"message_id\": 4711,"
        ' "reference": "L-9", "state": "locked", "ended": null}\')).* FROM tables_lock l WHERE reference = \'L-1\'',
        "lock of stream 4711, sequence 1: its stream:",
    ),
    "why a lock was set aside": (
        "UPDATE tables_locksetaside SET result = replace(convert_from(result, 'UTF8'), 'not_allowed', 'not_offered')::bytea",
        "(L-4): seal of its times, error and result:",
    ),
    "what a lock that was set aside knew": (
        "UPDATE tables_locksetaside SET before_sequence = before_sequence + 1",
        "(L-4): seal of its times, error and result:",
    ),
    "how a lock was set aside": (
        "UPDATE tables_locksetaside SET outcome = 'duplicate'",
        "(L-4): round and outcome:",
    ),
    "a lock set aside taken out": (
        "DELETE FROM tables_locksetaside",
        "(L-4): where it is: expected settled, held, locked or queued, once,"
        " found 0 rounds, 0 holds, 0 locks, 0 in the queue",
    ),
    "a lock set aside queued twice": (
        "INSERT INTO devices_queued (stream_id, receipt, position, message_id, received_at)"
        " SELECT tabl.stream_id, 4711 + step, 0, message_id, decided_at"
        " FROM tables_locksetaside JOIN tables_table tabl ON tabl.id = table_id, generate_series(1, 2) step",
        "(L-4): where it is: expected settled, held, locked or queued, once,"
        " found 0 rounds, 0 holds, 1 locks, 2 in the queue",
    ),
    "a lock queued twice": (
        "INSERT INTO devices_queued (stream_id, receipt, position, message_id, received_at)"
        " SELECT stream_id, 4711 + step, 0, message_id, recorded_at"
        " FROM tables_lock JOIN accounting_event USING (stream_id, sequence), generate_series(1, 2) step"
        " WHERE reference = 'L-3'",
        "(L-3): where it is: expected settled, held, locked or queued, once,"
        " found 0 rounds, 0 holds, 1 locks, 2 in the queue",
    ),
    "the message of a lock set aside that is none any more": (
        "UPDATE devices_message SET raw = 'x' WHERE reference = 'L-4'",
        "(L-4): message: expected JSON, found",
    ),
    "the message of a lock set aside": (
        "UPDATE devices_message SET raw = replace(convert_from(raw, 'UTF8'), '\"seat\": 1', '\"seat\": 2')::bytea"
        " WHERE reference = 'L-4'",
        "(L-4): digest of the message:",
    ),
}  # fmt: skip
