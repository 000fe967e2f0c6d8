"""Envy payouts: what a neighbour's hit earned a seat, handed over from the cage or the table (DECISIONS A64)."""

from __future__ import annotations

from typing import Final

from accounting.rules.accounts import Movement
from accounting.rules.acts import ActRefused, Shape
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.hits import METHOD, OWED, PAID, UNCLAIMED, EnvyState, envy_step, owed_by, paid_from
from tables.rules.house import House

PAY: Final = Shape("payout.pay", "payout", (METHOD,))


def pay(act: Act, house: House) -> Decision:
    """Hand over what is owed, whatever became of the hit, unless it was cancelled with it."""
    payload = PAY.read(act.payload)
    envy = envy_of(act.subject, house, (OWED, UNCLAIMED))
    moved = [Movement(owed_by(envy.state), paid_from(payload["method"], envy.table), envy.cents, "payment")]
    rows = house.links[envy.link].rows({}, nanoseconds(act.at))
    return done(act, moved, rows, steps=[envy_step(envy.name, PAID)])


def envy_of(subject: str, house: House, states: tuple[str, ...]) -> EnvyState:
    """The envy payout that an act is about, in one of the states that it can be done to; else ActRefused."""
    envy = house.envy.get(subject)
    if envy is None:
        raise ActRefused("unknown_subject", detail=f"there is no envy payout {subject}")
    if envy.state == PAID:
        raise ActRefused("already_paid", detail=f"{subject} is paid")
    if envy.state not in states:
        raise ActRefused("wrong_state", detail=f"{subject} is {envy.state}")
    return envy
