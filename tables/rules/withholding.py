"""Tax that is kept back from an award or envy as it is handed over (REQUIREMENTS R110, R113).

Paying books the whole (CONTRACT §7); what of it stays in the cage, or in the table's tray, and is owed to the revenue service is
an event of its own right after it. How much that is follows from the forms of its slip, under terms dated by the day of payment:
the act brings the cents along, and whoever verifies compares them with the forms.
"""

from __future__ import annotations

from typing import Final

from accounting.rules.accounts import Movement
from accounting.rules.acts import WHOLE, ActRefused, Field, Shape
from accounting.rules.moments import nanoseconds
from jackpot.rules import hits
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.hits import METHOD, PAID, EnvyState, HitState, paid_from
from tables.rules.house import House

CENTS: Final = Field("cents", WHOLE, "Withheld", least=1, most=10**15, money=True)
HIT_WITHHOLD: Final = Shape("hit.withhold", "hit", (METHOD, CENTS))
PAYOUT_WITHHOLD: Final = Shape("payout.withhold", "payout", (METHOD, CENTS))
OF_WITHHOLDING: Final = {"hit": HIT_WITHHOLD.name, "envy": PAYOUT_WITHHOLD.name}
"""The act of each kind of slip."""


def of_hit(act: Act, house: House) -> Decision:
    """Tax of an award that was just paid is owed to the revenue service."""
    return _withheld(act, HIT_WITHHOLD, hits.hit_of(act.subject, house.hits), house)


def of_envy(act: Act, house: House) -> Decision:
    """Tax of envy that was just paid is owed to the revenue service."""
    envy = house.envy.get(act.subject)
    if envy is None:
        raise ActRefused("unknown_subject", detail=f"there is no envy payout {act.subject}")
    return _withheld(act, PAYOUT_WITHHOLD, envy, house)


def _withheld(act: Act, shape: Shape, won: HitState | EnvyState, house: House) -> Decision:
    """Once, of what was paid, and less than that."""
    payload = shape.read(act.payload)
    if won.state != PAID:
        raise ActRefused("wrong_state", detail=f"{won.name} is {won.state}, not paid")
    if won.is_withheld:
        raise ActRefused("already_withheld", detail=f"tax was withheld from {won.name} already")
    if payload["cents"] >= (whole := won.paid_cents if isinstance(won, HitState) else won.cents):
        raise ActRefused("invalid_value", "/payload/cents", f"less is withheld than the {whole} cents that were paid")
    kept_in = paid_from(payload["method"], won.table)
    moved = [Movement(kept_in, "withholding_payable", payload["cents"], "withholding")]
    rows = house.links[won.link].rows({}, nanoseconds(act.at))
    return done(act, moved, rows, steps=[{"what": "tax", "name": won.name, "state": "withheld"}])
