"""The seal of a hold: it has no place in a chain until it is decided, so its own facts are bound together."""

from datetime import datetime
from hashlib import sha256

from accounting.rules.chain import microseconds


def seal(message_id: int, settlement: bytes, error: str, dealt_at: datetime, held_at: datetime, rules: int) -> bytes:
    """SHA-256 over rules edition, number of the message, both times of the hold, its error, and the digest of why it is held."""
    heading = f"{rules}\n{message_id}\n{microseconds(dealt_at)}\n{microseconds(held_at)}\n{error}"
    return sha256(sha256(settlement).digest() + heading.encode()).digest()
