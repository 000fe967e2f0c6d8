"""Comparing what rows show of hits, envy payouts and voided rounds with the acts that made it so (ARCHITECTURE §3a)."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from devices.audit.findings import Difference, same
from jackpot.hits_on_record import hit_without_link, step_shown, step_without_hit, stray_step
from jackpot.rules.hits import UNCLAIMED
from tables.queries.ends import envy_end_shown, envy_unclaimed_shown, stray_end, void_shown
from tables.rules.precedents import Precedent, step_of


def compare_steps(
    where: str,
    steps: Iterable[Mapping[str, Any]],
    precedent: Precedent,
    cause: Mapping[str, Any],
    *,
    stream_id: int,
    sequence: int,
    at: datetime,
) -> None:
    """Compare the rows of an act's steps with them: the state, when, by whom, the note. Raises Difference."""
    by, note = step_of(cause)
    for step in steps:
        name, state = step["name"], step["state"]
        match step["what"]:
            case "hit":
                same(where, f"step of hit {name}: {state}", (at, by, note), step_shown(name, state))
            case "envy" if state == UNCLAIMED:
                waits = envy_unclaimed_shown(stream_id, precedent.sequence, precedent.lines[name])
                same(where, f"unclaimed envy payout {name}", (sequence, at, by, note), waits)
            case "envy":
                line = precedent.lines[name]
                found = envy_end_shown(stream_id, precedent.sequence, line)
                same(where, f"end of envy payout {name}", (state, sequence, at, by, note), found)
            case "round":
                shown = void_shown(stream_id, precedent.sequence)
                same(where, f"void of round {name}", (sequence, at, by, note), shown)


def no_stray_steps() -> None:
    """Raise Difference for a step, an end or a void that no act made, or a hit or a step of nothing.

    Those that an act made were compared with it.
    """
    if hit := hit_without_link():
        raise Difference(f"hit of link {hit[0]}, sequence {hit[1]}", "its link", "a row", "none")
    if missing := step_without_hit():
        raise Difference(f"step of hit {missing}", "its hit", "a row", "none")
    if step := stray_step():
        raise Difference(f"hit {step[0]}", "steps", "those that events made", f"{step[1]}, which none made")
    if end := stray_end():
        what, stream, sequence = end
        shown = "ends of envy payouts" if what == "envy" else "voids of rounds"
        raise Difference(f"stream {stream}, sequence {sequence}", shown, "one for each that the act made", "others")
