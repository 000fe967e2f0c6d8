"""What gateways keep of what they have sent, answered or not: a house that has lost its last moments is sent them again."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devices.simulator.gateway import Sending
from devices.simulator.locks import LOCKED
from devices.simulator.table import Dealt

if TYPE_CHECKING:
    from devices.simulator.poster import Poster

SENT_AGAIN = "sent again"


class KeptRefused(Exception):
    """The file cannot be written, or holds something else than messages."""


@dataclass(slots=True)
class Sent:
    """A message as its gateway holds it; moments are seconds since the epoch."""

    message: dict[str, Any]
    left_at: float
    """When it was sent first."""
    answered_at: float | None = None
    settled: bool = False
    """Whether the answer was its settlement, and not only that it is stored."""


class Kept:
    """Everything that was sent, once each, in the order in which it left; in a file too, where one is given."""

    def __init__(self, file: Path | None = None) -> None:
        self.sent: dict[tuple[str, str, str], Sent] = {}
        try:
            self._file = file.open("ab", buffering=0) if file is not None else None
        except OSError as error:
            raise KeptRefused(f"--keep: {file}: {error.strerror}") from None

    def leave(self, messages: Iterable[tuple[dict[str, Any], bytes]]) -> None:
        """These are sent, maybe again; each with its bytes."""
        fresh = [(name, message, raw) for message, raw in messages if (name := _name(message)) not in self.sent]
        if self._file is not None:
            self._file.write(b"".join(raw + b"\n" for _, _, raw in fresh))
        now = time.time()
        self.sent |= {name: Sent(message, now) for name, message, _ in fresh}

    def answered(self, message: dict[str, Any], *, settled: bool) -> None:
        """The house has said that it has it."""
        sent = self.sent[_name(message)]
        sent.settled = sent.settled or settled
        sent.answered_at = sent.answered_at or time.time()

    def messages(self) -> list[dict[str, Any]]:
        """All of them, in the order in which they left."""
        return [sent.message for sent in self.sent.values()]


def _name(message: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(message["table"]), str(message.get("kind", "result")), str(message["round"])


def read(file: Path) -> list[dict[str, Any]]:
    """The messages that a run has kept; KeptRefused where there are none."""
    try:
        found = [json.loads(line) for line in file.read_bytes().splitlines()]
        for message in found:
            _name(message)
    except OSError as error:
        raise KeptRefused(f"--resend: {file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise KeptRefused(f"--resend: {file} is not a file of messages, one a line, as --keep writes it") from None
    return found


async def resend(messages: Iterable[dict[str, Any]], posters: Mapping[str, Poster]) -> None:
    """Send all of these once more, each by its table's line, in their order; done when everything is answered."""
    async with asyncio.TaskGroup() as group:
        for poster in posters.values():
            group.create_task(poster.run())
        for number, message in enumerate(messages, 1):
            meant = LOCKED if message.get("kind") == "lock" else SENT_AGAIN
            dealt = Dealt(message["table"], number, number, 0, message, meant)
            await posters[dealt.table].put(Sending(dealt))
        for poster in posters.values():
            await poster.close()
