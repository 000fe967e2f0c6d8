"""What is changed past the guards in a house that closed its day and read its meters, and how `verify` names it."""

# Of a house whose ms-mg01 was closed by event 3, and whose level major was read by hand before (reading 1).
TAMPERING_OF_DAYS = {
    "a closed day taken out": (
        "WITH heads AS (DELETE FROM accounting_closedhead) DELETE FROM accounting_closedday",
        "stream ms-mg01, sequence 3 (2026-11-27): signed head of the event: expected one, found none",
    ),
    "the signature of a closed day": (
        "UPDATE accounting_closedday SET signature = overlay(signature placing '\\x00'::bytea from 3 for 1)",
        "closed gaming day 2026-11-27: signature: expected one by key",
    ),
    "the key that a closed day was signed with": (
        "UPDATE accounting_closedday SET public_key = sha256(public_key)",
        "closed gaming day 2026-11-27: signature: expected one by key",
    ),
    "the statement of a closed day": (
        "UPDATE accounting_closedday SET statement = replace(convert_from(statement, 'UTF8'), '\"sequence\":3',"
        " '\"sequence\":2')::bytea",
        "closed gaming day 2026-11-27: signature: expected one by key",
    ),
    "a statement that is none": (
        "UPDATE accounting_closedday SET statement = 'x'",
        "closed gaming day 2026-11-27: statement: expected one that can be read",
    ),
    "when a day was closed": (
        "UPDATE accounting_closedday SET closed_at = closed_at + interval '1 second'",
        "closed gaming day 2026-11-27: number, day and moment:",
    ),
    "a head of a closed day": (
        "UPDATE accounting_closedhead SET hash = sha256(hash) WHERE stream_id = $stream",
        "closed gaming day 2026-11-27: head of stream ms-mg01:",
    ),
    "a head of a closed day taken out": (
        "DELETE FROM accounting_closedhead WHERE stream_id = $stream",
        "closed gaming day 2026-11-27: signature of stream ms-mg01: expected one by key",
    ),
    "the signature of a head": (
        "UPDATE accounting_closedhead SET signature = overlay(signature placing '\\x00'::bytea from 3 for 1)"
        " WHERE stream_id = $stream",
        "closed gaming day 2026-11-27: signature of stream ms-mg01: expected one by key",
    ),
    "a day that is opened again": (
        "UPDATE accounting_gamingday SET closed_at = NULL WHERE date = '2026-11-27'",
        "property: closed through:",
    ),
    "through which day all is closed": (
        "UPDATE accounting_property SET closed_through = '2026-11-28'",
        "property: closed through: expected 2026-11-27, found 2026-11-28",
    ),
    "a later day that is closed without anybody's signature": (
        "WITH home AS (UPDATE accounting_property SET closed_through = '2026-11-28')"
        " INSERT INTO accounting_gamingday (date, closed_at) VALUES ('2026-11-28', now())"
        " ON CONFLICT (date) DO UPDATE SET closed_at = excluded.closed_at",
        "gaming day 2026-11-28: events that closed it: expected one on every stream, found none",
    ),
    "what a machine read": (
        "UPDATE accounting_reading SET display_cents = display_cents + 1 WHERE method = 'machine' AND level = 'ms-mg01/major'",
        "of ms-mg01/major on 2026-11-27: what the meter showed (display, reserve, overflow):",
    ),
    "what a person read": (
        "UPDATE accounting_reading SET display_cents = expected_cents WHERE method = 'hand'",
        "of ms-mg01/major on 2026-11-27: what was typed:",
    ),
    "what movements came to when a meter was read": (
        "UPDATE accounting_reading SET expected_cents = display_cents WHERE method = 'hand'",
        "of ms-mg01/major on 2026-11-27: what its movements come to:",
    ),
    "an explanation": (
        "UPDATE accounting_readingnote SET text = 'nothing to see' WHERE what = 'explained'",
        "of ms-mg01/major on 2026-11-27: what was said to it:",
    ),
    "a signature that nobody gave": (
        "UPDATE accounting_readingnote SET by = 'nobody' WHERE what = 'signed'",
        "of ms-mg01/major on 2026-11-27: what was said to it:",
    ),
    "a reading taken out with all that was said to it": (
        "WITH notes AS (DELETE FROM accounting_readingnote) DELETE FROM accounting_reading WHERE method = 'hand'",
        "reading $reading: a reading that the audit trail has: expected a row, found none",
    ),
    "an event of a closing moved to the day that it closed": (
        "UPDATE accounting_event SET gaming_date = '2026-11-27' WHERE kind = 'day.close' AND stream_id = $stream",
        "stream ms-mg01, sequence 3 (2026-11-27):",
    ),
}  # fmt: skip
