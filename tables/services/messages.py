"""The messages that rounds came in. Devices keep them and say here how one is read and found (`devices/apps.py`)."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple


class Received(NamedTuple):
    """A message as it was taken in: when, byte for byte, the digest of its content, and from which device."""

    received_at: datetime
    raw: bytes
    digest: bytes
    device_id: int | None


class Messages:
    """Where kept messages are read. `read` takes a message's id, `find` gives it for a table's code and a reference.

    Whoever keeps messages sets both.
    """

    def __init__(self) -> None:
        self.read: Callable[[int], Received] | None = None
        self.find: Callable[[str, str], int | None] | None = None

    def of(self, message_id: int) -> Received:
        """A message that is kept, as every one is that was ever accepted."""
        assert self.read is not None, "nobody keeps messages"
        return self.read(message_id)

    def result_of(self, table: str, reference: str) -> int | None:
        """The message that a round's result came in, by table and reference; None where none was accepted."""
        assert self.find is not None, "nobody keeps messages"
        return self.find(table, reference)


MESSAGES = Messages()
