"""Showing what acts make of hits, envy payouts and settled rounds, beside rows that never change (ARCHITECTURE §3a)."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from jackpot.rules.hits import UNCLAIMED
from jackpot.services.hits import show_step
from tables.models import EnvyEnd, EnvyUnclaimed, VoidedRound
from tables.rules.precedents import Precedent, step_of


def show(
    steps: Iterable[Mapping[str, Any]],
    precedent: Precedent,
    cause: Mapping[str, Any],
    *,
    stream_id: int,
    sequence: int,
    at: datetime,
) -> None:
    """Write the rows that follow from the steps of an act recorded at a sequence. The caller holds the stream's lock."""
    by, note = step_of(cause)
    for step in steps:
        match step["what"]:
            case "hit":
                show_step(step["name"], step["state"], at=at, by=by, note=note)
            case "envy" if step["state"] == UNCLAIMED:
                EnvyUnclaimed.objects.create(
                    stream_id=stream_id, sequence=precedent.sequence, line=precedent.lines[step["name"]],
                    event=sequence, at=at, by=by, note=note,
                )  # fmt: skip
            case "envy":
                EnvyEnd.objects.create(
                    stream_id=stream_id, sequence=precedent.sequence, line=precedent.lines[step["name"]],
                    state=step["state"], event=sequence, at=at, by=by, note=note,
                )  # fmt: skip
            case "round":
                VoidedRound.objects.create(
                    stream_id=stream_id, sequence=precedent.sequence, event=sequence, at=at, by=by, note=note
                )
            case "tax":
                pass  # its slip shows it
            case what:
                raise ValueError(f"nothing is shown of {what}")
