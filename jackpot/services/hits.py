"""Showing the steps that hits take: rows that show events, written by whoever records those (SPEC §6.7)."""

from datetime import datetime

from jackpot.models import Hit, HitStep
from jackpot.rules.hits import hit_number


def show_step(name: str, state: str, *, at: datetime, by: str, note: str) -> None:
    """Show that a hit has taken a step. The caller holds its stream's lock and has recorded the event."""
    named = hit_number(name)
    assert named is not None, f"{name} is the name of a hit"
    hit = Hit.objects.get(link__code=named[0], number=named[1])
    HitStep.objects.create(hit=hit, state=state, at=at, by=by, note=note)
