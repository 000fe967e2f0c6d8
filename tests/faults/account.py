"""The one check after every fault: what the service said it has is there, settled, void or held, once, and all adds up.

    python -m tests.faults.account        inside a service's surroundings: the auditor's sums and `verify`

The first half looks from outside at what gateways were told; the second recomputes everything from the records, once
by the product's own replay and once by an auditor who uses none of its code.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.faults.hall import Accountable, Message

FOUND = """
    SELECT message.reference, message.raw, queued.message_id IS NOT NULL,
        array_remove(array_agg(round.outcome), NULL), count(hold.message_id)
    FROM devices_message message
    LEFT JOIN tables_round round ON round.message_id = message.id
    LEFT JOIN tables_hold hold ON hold.message_id = message.id
    LEFT JOIN devices_queued queued ON queued.message_id = message.id
    GROUP BY message.id, queued.message_id
"""
GAPS = """
    SELECT stream.code FROM accounting_stream stream LEFT JOIN accounting_event event ON event.stream_id = stream.id
    GROUP BY stream.id HAVING count(event.sequence) <> stream.next_sequence
        OR min(event.sequence) <> 0 OR max(event.sequence) <> stream.next_sequence - 1
"""


class Lost(AssertionError):
    """The service said that it has these messages, and has them no more."""


@dataclass(frozen=True, slots=True)
class Books:
    """Accepted = settled + void + held."""

    accepted: int
    settled: int
    void: int
    held: int
    said: str

    def __str__(self) -> str:
        return f"{self.accepted:,} accepted = {self.settled:,} settled + {self.void:,} void + {self.held:,} held\n{self.said}"


def account(hall: Accountable, answered: Mapping[str, Message] | None = None) -> Books:
    """Everything adds up; Lost or AssertionError where it does not. The queue must have been emptied."""
    answered = hall.answered if answered is None else answered
    with hall.server.connect("jackpot") as database:
        rows = database.execute(FOUND).fetchall()
        gaps = database.execute(GAPS).fetchall()
    stored: dict[str, Any] = {row[0]: row for row in rows}
    assert len(stored) == len(rows), "a reference was stored twice"
    if lost := answered.keys() - stored.keys():
        raise Lost(f"{len(lost)} of {len(answered)} accepted messages are gone: {sorted(lost)[:5]}")
    assert not (unasked := stored.keys() - answered.keys()), f"never answered for: {sorted(unasked)[:5]}"
    ends: Counter[str] = Counter()
    for reference, raw, queued, outcomes, holds in rows:
        assert json.loads(bytes(raw)) == answered[reference], f"{reference} was stored otherwise than sent"
        end = [*outcomes, *["held"] * holds, *["queued"] * queued]
        assert len(end) == 1, f"{reference}: {end}"
        ends[end[0]] += 1
    assert len(rows) == ends["settled"] + ends["void"] + ends["held"], ends
    assert gaps == [], f"the sequence has a gap: {gaps}"
    audit = hall.python("-m", "tests.faults.account")
    assert audit.returncode == 0, audit.stdout.decode() + audit.stderr.decode()
    return Books(len(rows), ends["settled"], ends["void"], ends["held"], audit.stdout.decode().strip())


def main() -> None:
    """Recompute everything, on the database of these surroundings."""
    import django

    django.setup()
    from django.core.management import call_command

    from tests.services import auditor

    auditor.everything_agrees()
    call_command("verify")


if __name__ == "__main__":
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
    main()
