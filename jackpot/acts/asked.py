"""From what is asked of the office to an act as the rules take it, and back from what was recorded."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from accounting.office.acts import Asked, Performed
from jackpot.rules import decision as rules


class Performing(Protocol):
    """A service that decides and records an act: the stream and the sequence of its event."""

    def __call__(self, act: rules.Act, *, at: datetime, **more: Any) -> tuple[str, int]: ...


def act_asked(asked: Asked) -> rules.Act:
    """What is asked for, as the rules take it: done at the moment of the question."""
    return rules.Act(asked.act, asked.subject, asked.at.isoformat(), asked.payload)


def performing(perform: Performing) -> Callable[[Asked], Performed]:
    """What the office calls to have an act done: who asked, who approved and why are kept with its cause."""

    def performed(asked: Asked) -> Performed:
        stream, sequence = perform(
            act_asked(asked),
            at=asked.at,
            reason=asked.reason,
            by=asked.proposed_by,
            approved_by=list(asked.approved_by),
            proposal=asked.proposal_id,
            evidence=asked.evidence,
        )
        return Performed(stream, sequence)

    return performed
