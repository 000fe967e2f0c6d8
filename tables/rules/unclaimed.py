"""Awards and envy that nobody came for: booked as unclaimed after their term, and the state's after the years they are kept.

They may be paid from what is unclaimed until they are the state's (REQUIREMENTS R83, CONTRACT §7 for steps of hits and payouts).
The cause of such an act brings along the terms that it was decided by.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from accounting.rules.accounts import Movement
from accounting.rules.acts import ActRefused, Shape
from accounting.rules.moments import nanoseconds
from jackpot.rules import hits
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.hits import APPROVED, OWED, REMITTED, UNCLAIMED, EnvyState, HitState, envy_step
from tables.rules import payouts
from tables.rules.house import House

HIT_UNCLAIMED: Final = Shape("hit.unclaimed", "hit")
HIT_REMIT: Final = Shape("hit.remit", "hit")
PAYOUT_UNCLAIMED: Final = Shape("payout.unclaimed", "payout")
PAYOUT_REMIT: Final = Shape("payout.remit", "payout")
OF_UNCLAIMED: Final = frozenset(
    shape.name for shape in (HIT_UNCLAIMED, HIT_REMIT, PAYOUT_UNCLAIMED, PAYOUT_REMIT)
)  # fmt: skip

TO_UNCLAIMED: Final = ("awards_payable", "unclaimed")
TO_THE_STATE: Final = ("unclaimed", "state_payable")


def hit_unclaimed(act: Act, house: House) -> Decision:
    """An approved award that nobody came for is unclaimed."""
    HIT_UNCLAIMED.read(act.payload)
    return _hit(act, house, APPROVED, UNCLAIMED)


def hit_remit(act: Act, house: House) -> Decision:
    """An unclaimed award has been kept for its years and is owed to the state."""
    HIT_REMIT.read(act.payload)
    return _hit(act, house, UNCLAIMED, REMITTED)


def payout_unclaimed(act: Act, house: House) -> Decision:
    """Envy that nobody came for is unclaimed."""
    PAYOUT_UNCLAIMED.read(act.payload)
    return _envy(act, house, OWED, UNCLAIMED)


def payout_remit(act: Act, house: House) -> Decision:
    """Unclaimed envy has been kept for its years and is owed to the state."""
    PAYOUT_REMIT.read(act.payload)
    return _envy(act, house, UNCLAIMED, REMITTED)


def _hit(act: Act, house: House, before: str, after: str) -> Decision:
    hit = hits.hit_of(act.subject, house.hits)
    hits.not_over(hit)
    if hit.state == before:
        _refuse_early(act, house, hit, after)
    debit, credit = TO_UNCLAIMED if after == UNCLAIMED else TO_THE_STATE
    moved = [Movement(debit, credit, hit.paid_cents, "unclaimed")]
    return hits.step(act, house.hits, house.links, (before,), after, moved)


def _envy(act: Act, house: House, before: str, after: str) -> Decision:
    envy = payouts.envy_of(act.subject, house, (before,))
    _refuse_early(act, house, envy, after)
    debit, credit = TO_UNCLAIMED if after == UNCLAIMED else TO_THE_STATE
    rows = house.links[envy.link].rows({}, nanoseconds(act.at))
    return done(act, [Movement(debit, credit, envy.cents, "unclaimed")], rows, steps=[envy_step(envy.name, after)])


def _refuse_early(act: Act, house: House, what: HitState | EnvyState, after: str) -> None:
    """ActRefused `not_due` before the gaming day from which it may be."""
    assert house.days is not None and what.won_on is not None, "the house knows its gaming days"
    on = house.days.of(nanoseconds(act.at))
    due = due_on(house, what.won_on, after)
    if on < due:
        raise ActRefused("not_due", detail=f"{what.name} was won on {what.won_on}: {after} from {due} on, not on {on}")


def due_on(house: House, won_on: date, after: str) -> date:
    """The first gaming day on which what was won on a gaming day may become unclaimed, or the state's."""
    terms = house.unclaimed
    return terms.unclaimed_from(won_on) if after == UNCLAIMED else terms.state_from(won_on)
