"""The seal of a hold: it has no place in a chain until it is decided, so its own facts are bound together."""

from datetime import datetime
from hashlib import sha256

from accounting.rules.chain import microseconds

Known = tuple[int | None, int | None]
"""The stream that something was held on, and the first sequence that it did not know of; none in rows of the first versions."""

UNKNOWN: Known = (None, None)


def seal(
    message_id: int, settlement: bytes, error: str, dealt_at: datetime, held_at: datetime, rules: int, known: Known
) -> bytes:
    """SHA-256 over rules edition, number of the message, both times of the hold, what it knew, its error, and why it is held."""
    place = "" if known == UNKNOWN else f"{known[0]}\n{known[1]}\n"
    heading = f"{rules}\n{message_id}\n{microseconds(dealt_at)}\n{microseconds(held_at)}\n{place}{error}"
    return sha256(sha256(settlement).digest() + heading.encode()).digest()
