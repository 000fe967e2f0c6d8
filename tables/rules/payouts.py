"""Envy payouts: what a neighbour's hit earned a seat, handed over from the cage or the table (DECISIONS A64)."""

from __future__ import annotations

from typing import Final

from accounting.rules.accounts import Movement
from accounting.rules.acts import ActRefused, Shape
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.hits import METHOD, OWED, PAID, envy_step, paid_from
from tables.rules.house import House

PAY: Final = Shape("payout.pay", "payout", (METHOD,))


def pay(act: Act, house: House) -> Decision:
    """Hand over what is owed, whatever became of the hit, unless it was cancelled with it."""
    payload = PAY.read(act.payload)
    envy = house.envy.get(act.subject)
    if envy is None:
        raise ActRefused("unknown_subject", detail=f"there is no envy payout {act.subject}")
    if envy.state == PAID:
        raise ActRefused("already_paid", detail=f"{act.subject} is paid")
    if envy.state != OWED:
        raise ActRefused("wrong_state", detail=f"{act.subject} is {envy.state}")
    moved = [Movement("awards_payable", paid_from(payload["method"], envy.table), envy.cents, "payment")]
    rows = house.links[envy.link].rows({}, nanoseconds(act.at))
    return done(act, moved, rows, steps=[envy_step(envy.name, PAID)])
