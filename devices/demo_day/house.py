"""The house of the day as its devices and people act on it: messages at the door, proposals, approvals by others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from accounting.office.queries import state_of
from accounting.office.rules.person import Person
from accounting.office.services import proposals
from accounting.office.services.proposals import needs_of
from devices import posting
from devices.demo_day.rounds import Message
from devices.intake import directory, inbox, settling

ORIGIN = "demo_day"
STEP = timedelta(minutes=1)


class NotPlayed(RuntimeError):
    """The day did not go as it is written: something was refused, or is missing at its end."""


def somebody(role: str) -> Person:
    """The demo person of a role."""
    return Person(role, frozenset({role}), ORIGIN)


@dataclass
class DemoHouse:
    """The house at a moment of the day, which goes on with every step; `keys` are the tables' devices'."""

    keys: Mapping[str, str]
    now: datetime
    acts: Counter[str] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)
    prints: int = 0

    def later(self) -> datetime:
        """A step further into the day."""
        self.now += STEP
        return self.now

    def post(self, *messages: Message) -> None:
        """Have each message posted by its table's own device, as over HTTP, and settled."""
        for message in messages:
            directory.forget()  # a table that has just joined another link posts to that
            known = directory.current()
            caller = directory.caller(f"Api-Key {self.keys[message['table']]}", known)
            if caller is None:
                raise NotPlayed(f"the device of table {message['table']} is not known")
            read = posting.read(json.dumps(message).encode(), caller, known, self.later())
            if not isinstance(read, posting.Post):
                raise NotPlayed(f"round {message['round']}: {read.detail}")
            for item in read.items:
                if item.refusal is not None:
                    raise NotPlayed(f"round {message['round']}: {item.refusal}")
            self.messages.update(verdict.status for verdict in inbox.accept(read.arrivals))
            settling.drain(clock=lambda: self.now)

    def ask(self, role: str, act: str, subject: str, *, why: str = "demo day", **payload: Any) -> None:
        """Have the person of a role ask for an act, and whoever must agree agree to it, until it is done."""
        body = {
            "act": act, "subject": subject, "payload": payload, "reason": why,
            "evidence": {"reference": "demo day", "note": "played by manage.py demo_day"},
        }  # fmt: skip
        asked = proposals.propose(body, by=somebody(role), at=self.later())
        for need in needs_of(asked):
            if need.role == role or need.count != 1:
                raise NotPlayed(
                    f"{act} {subject}: {need.count} × {need.role} must agree, which the demo has no people for"
                )
            asked = proposals.approve(asked.pk, by=somebody(need.role), at=self.later(), note="looked at")
        if (state := state_of(asked, self.now)) != "done":
            raise NotPlayed(f"{act} {subject} is {state}")
        self.acts[act] += 1
