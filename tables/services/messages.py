"""The messages that rounds came in. Devices keep them and say here how one is read (`devices/apps.py`)."""

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
    """Where kept messages are read. `read` takes a message's id; whoever keeps them sets it."""

    def __init__(self) -> None:
        self.read: Callable[[int], Received] | None = None

    def of(self, message_id: int) -> Received:
        """A message that is kept, as every one is that was ever accepted."""
        assert self.read is not None, "nobody keeps messages"
        return self.read(message_id)


MESSAGES = Messages()
