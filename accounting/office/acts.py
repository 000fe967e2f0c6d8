"""How an app declares what people may decide: its `acts` holds `ACTS: tuple[Act, ...]`, found by name.

The office asks an act three questions and knows nothing else of it: which version of its subject there is now, what would
change, and, once whoever must agree has agreed, to do it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounting.rules.acts import Shape


@dataclass(frozen=True, slots=True)
class Tier:
    """So many people of a role are needed from an amount on. Of several tiers of one role the highest reached counts."""

    from_cents: int
    role: str
    count: int


@dataclass(frozen=True, slots=True)
class Asked:
    """An act as it is asked for: of what, with which payload, why, by whom, and who agreed.

    `at` is the moment of the question: of looking, or of doing. `proposal_id` is None while nobody has proposed it yet.
    `evidence` is the SHA-256 over what was handed in with it, in hexadecimal.
    """

    act: str
    subject: str
    payload: Mapping[str, Any]
    reason: str
    at: datetime
    proposal_id: int | None
    proposed_by: str
    approved_by: tuple[str, ...] = ()
    evidence: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that an act changes, in words for the page and the audit trail: `display`, `$8,765.43`, `$8,760.43`."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What an act would change as things stand, and what else whoever decides should know."""

    rows: tuple[Change, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class Performed:
    """What came of an act: its event, where it is one (`stream` is the stream's code), and words for whoever asked."""

    stream: str | None = None
    sequence: int | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Act:
    """What people may decide.

    `proposes` and `approves` are what the house begins with; how many must agree from which amount is data afterwards.
    `reasons`, where there are any, are the only ones that may be given. `amount` is what the tiers are measured by, in
    cents of either sign, nothing where an act is about no amount; `worth` is the same of an act whose subject has it.
    `asks` narrows `proposes` to the roles that may ask for this very payload: who pays from the cage is not who pays at a
    table.
    `version` is the subject as it stands, as a short text that changes with it; None where there is no such subject.
    `foresee` says what would change and raises ActRefused where a rule is against it; it changes nothing.
    `possible` says whether it can be done to a subject as it stands at all; where it cannot it is not offered beside it.
    `begins` is the payload that its form begins with for a subject, where that helps: the message as posted, say.
    `stands` is what is in force for a subject under the keys of the payload: a form shows it beside what may change it.
    `perform` does it, inside the office's transaction, and raises ActRefused (whatever it wrote is then undone). It locks
    what it needs by itself: between `foresee` and `perform` the subject may have moved on. It may write audit records of
    its own, but after it holds every lock it needs.
    """

    shape: Shape
    title: str
    proposes: frozenset[str]
    approves: tuple[Tier, ...] = ()
    reasons: tuple[str, ...] = ()
    evidence: bool = False
    amount: Callable[[dict[str, Any]], int] | None = None
    worth: Callable[[str], int] | None = None
    asks: Callable[[Mapping[str, Any]], frozenset[str]] | None = None
    version: Callable[[str], str | None]
    foresee: Callable[[Asked], Foreseen]
    perform: Callable[[Asked], Performed]
    begins: Callable[[str], dict[str, Any]] | None = None
    stands: Callable[[str], dict[str, Any]] | None = None
    possible: Callable[[str], bool] | None = None

    @property
    def name(self) -> str:
        """The act's name: `level.adjust`."""
        return self.shape.name

    def cents(self, subject: str, payload: Mapping[str, Any]) -> int | None:
        """What the tiers of this act are measured by, in cents of either sign; None where it is about no amount."""
        if self.worth is not None:
            return self.worth(subject)
        return None if self.amount is None else self.amount(dict(payload))

    def asked_by(self, payload: Mapping[str, Any]) -> frozenset[str]:
        """The roles that may ask for this act with this payload."""
        return self.proposes if self.asks is None else self.proposes & self.asks(payload)
