"""What a cause comes to: the one form of every decision that is recorded, verified and written by `settle`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from accounting.rules.accounts import Movement
from accounting.rules.acts import ActRefused, Shape, escaped
from accounting.rules.moments import is_moment
from jackpot.rules.meter import Meter
from jackpot.rules.progressive import MeterRow


@dataclass(frozen=True, slots=True)
class Act:
    """What people ask for, as performed: the act's name, its subject, when (RFC 3339), and its payload (CONTRACT §4)."""

    act: str
    subject: str
    at: str
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Decision:
    """A decision: its outcome, its result as it is kept and shown, the money it moves, and the meters after it.

    `meters` are those of the levels it concerns, by link and level; `changes` are the editions of terms, states and
    membership that it introduces, in the form of the result's own `changes`; `steps` say what became of hits, envy payouts,
    locks and rounds that it is about, likewise: `{"what": "hit" | "envy" | "tax" | "lock" | "round", "name", "state"}`.
    """

    outcome: str
    result: dict[str, Any]
    movements: list[Movement] = field(default_factory=list)
    meters: dict[str, dict[str, Meter]] = field(default_factory=dict)
    changes: Sequence[dict[str, Any]] = ()
    steps: Sequence[dict[str, Any]] = ()


def done(
    act: Act,
    movements: list[Movement],
    rows: list[MeterRow],
    meters: dict[str, dict[str, Meter]] | None = None,
    changes: list[dict[str, Any]] | None = None,
    steps: list[dict[str, Any]] | None = None,
) -> Decision:
    """The decision of an act that is done, with its result as CONTRACT §4 writes it. Only whole cents move, never 0."""
    moved = [movement for movement in movements if movement.amount_cents]
    result: dict[str, Any] = {
        "act": act.act,
        "subject": act.subject,
        "outcome": "done",
        "code": None,
        "transfers": [
            {"debit": debit, "credit": credit, "cents": cents, "reason": reason}
            for debit, credit, cents, reason in moved
        ],
        "meters": rows,
    }
    if changes:
        result["changes"] = changes
    if steps:
        result["steps"] = steps
    return Decision("done", result, moved, meters or {}, changes or [], steps or [])


def cause_of(act: Act, **more: Any) -> dict[str, Any]:
    """The cause of an act's event as it is kept: the act, and what else belongs to it (who, what it names, evidence)."""
    return {"act": act.act, "subject": act.subject, "at": act.at, "payload": dict(act.payload), **more}


def act_of(cause: Mapping[str, Any]) -> Act:
    """The act that a kept cause asks for."""
    return Act(cause["act"], cause["subject"], cause["at"], cause["payload"])


LINE: Final = ("act", "subject", "at", "payload")


def read_act(value: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Act:
    """The act that a line of a file asks for; ActRefused for its first fault of shape (DECISIONS A71).

    Its payload is judged by its decider, which knows what its values name.
    """
    for key in value:
        if key not in LINE:
            raise ActRefused("unknown_field", f"/{escaped(key)}", f"an act has no {key}")
    name = value["act"]
    if type(name) is not str or name not in shapes:
        raise ActRefused("invalid_value", "/act", "the name of an act is expected")
    if "subject" not in value:
        raise ActRefused("missing_field", "/subject", "what the act is about is missing")
    if type(value["subject"]) is not str:
        raise ActRefused("invalid_value", "/subject", "what the act is about is a text")
    if "at" not in value:
        raise ActRefused("missing_field", "/at", "when it is done is missing")
    if not is_moment(value["at"]):
        raise ActRefused("invalid_value", "/at", "a moment with its offset is expected")
    payload = value.get("payload", {})
    shapes[name].read(payload)
    return Act(name, value["subject"], value["at"], payload)


def refused_act(value: Mapping[str, Any], refusal: ActRefused) -> dict[str, Any]:
    """The answer to an act that cannot be done; it names the value at fault where one is."""
    name, subject = value.get("act"), value.get("subject")
    answer: dict[str, Any] = {
        "act": name if type(name) is str else None,
        "subject": subject if type(subject) is str else None,
        "outcome": "refused",
        "code": refusal.code,
        "transfers": [],
        "meters": [],
    }
    if refusal.pointer is not None:
        answer["pointer"] = refusal.pointer
    return answer
