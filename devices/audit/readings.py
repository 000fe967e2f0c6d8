"""Comparing readings of meters with the events and the audit trail that they stand on (REQUIREMENTS R85, R102).

What a machine read is what the result of its event says; what a person typed, explained or signed off is in the audit trail,
which is chained. What the movements come to is added up anew.
"""

from collections import defaultdict
from hashlib import sha256
from typing import Any

import msgspec

from accounting import reconciliation
from accounting.queries import audit_of
from accounting.reconciliation import net
from devices.audit.findings import Difference, same
from tables.queries.record import results_at

TAKEN, EXPLAINED, SIGNED = "read meters", "explain a reading", "sign off a reading"


def compare_readings() -> None:
    """Compare every reading, and what was said to it, with what they stand on. Raises Difference."""
    typed: dict[int, list[Any]] = {}
    said: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for record in audit_of((TAKEN, EXPLAINED, SIGNED)):
        if record.action == TAKEN:
            typed |= {
                int(number): [*values, record.actor, record.recorded_at] for number, values in record.detail.items()
            }
        else:
            what = "signed" if record.action == SIGNED else "explained"
            text = record.detail.get("text", "")
            said[record.detail["reading"]].append((what, record.actor, record.recorded_at, text))
    reached: dict[str, tuple[int, int]] = {}
    for reading in reconciliation.all_readings():
        where = f"reading {reading.pk} of {reading.level} on {reading.day}"
        sequence, expected = reached.get(reading.level, (-1, 0))
        through = reading.sequence
        if through >= sequence:
            expected += net(reconciliation.movements(reading.level, reading.stream_id, sequence, through))
            reached[reading.level] = through, expected
        else:  # a person read at a moment before the last reading
            expected -= net(reconciliation.movements(reading.level, reading.stream_id, through, sequence))
        same(where, "what its movements come to", expected, reading.expected_cents)
        if reading.method == "machine":
            found = _shown(reading.stream_id, reading.sequence, reading.level)
            if found is not None:
                read = (reading.display_cents, reading.reserve_cents, reading.overflow_cents)
                same(where, "what the meter showed (display, reserve, overflow)", found, read)
        else:
            kept = typed.pop(reading.pk, None)
            shown = [] if reading.photo is None else [sha256(reading.photo.content).hexdigest()]
            stands = [reading.level, reading.display_cents, *shown, reading.by, reading.recorded_at]
            same(where, "what was typed", kept, stands)
        notes = [(note.what, note.by, note.at, note.text) for note in reading.notes.order_by("id")]
        same(where, "what was said to it", said.pop(reading.pk, []), notes)
    for number in sorted({*typed, *said}):
        raise Difference(f"reading {number}", "a reading that the audit trail has", "a row", "none")


def _shown(stream_id: int, sequence: int, level: str) -> tuple[int, int, int] | None:
    link, _, code = level.partition("/")
    for _, _, result in results_at(stream_id, [sequence]):
        for row in msgspec.json.decode(result or b"{}").get("meters", []):
            if (row["link"], row["level"]) == (link, code):
                return row["after_cents"], row["reserve_cents"], row["overflow_cents"]
    return None
