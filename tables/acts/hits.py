"""What people decide about hits and the envy that they earned (CONTRACT §7, SPEC §6.7), declared to the office.

A hit is looked into by the pit, approved by a manager, a large one by two, and handed over by the cage or at the table. Only the
cage pays from the cage and only the pit from a table's chips. A rejection moves the meter: the books agree to it. What nobody
came for is a matter of the books alone.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from django.utils import timezone

from accounting.day_queries import gaming_day
from accounting.office.acts import Act, Asked, Change, Foreseen, Performed, Tier
from accounting.queries import the_property
from accounting.rules.acts import Shape
from accounting.rules.roles import ACCOUNTING, CAGE, CONTROLLER, MANAGER
from accounting.rules.unclaimed import terms_in
from accounting.shell.templatetags.pages import account_name, money, words
from jackpot.acts.asked import act_asked, performing
from jackpot.hits_on_record import hit_state
from jackpot.rules import hits
from jackpot.rules.hits import APPROVED, CHECKS, DETECTED, OWED, UNCLAIMED, VERIFIED
from tables.acts.slips import PIT, handed_over, kept_back, may_be_paid, payer, taken_back
from tables.rules import payouts, unclaimed
from tables.services import past

BOOKKEEPERS = frozenset({ACCOUNTING, CONTROLLER})


def _in(states: Collection[str]) -> Callable[[str], bool]:
    return lambda hit: hit_state(hit) in states


def _version(act: str) -> Callable[[str], str | None]:
    """How the hit, payout or round stands by its events: what changes with every step."""

    def version(subject: str) -> str | None:
        found = past.standing(act, subject)
        return None if found is None else found.standing(subject)

    return version


def foresee(asked: Asked) -> Foreseen:
    """What becomes of the hit, of what hangs on it, of the meters, and what is booked."""
    found = past.foresee(act_asked(asked), at=asked.at)
    return Foreseen(tuple(rows(found)), _not_checked(asked))


def _foresee_payment(asked: Asked) -> Foreseen:
    """As `foresee`, with what is withheld and what is handed over; what must be signed for is paid on a slip that was."""
    found = foresee(asked)
    may_be_paid(asked)
    return Foreseen((*found.rows, *kept_back(asked)), found.words)


def _pay(asked: Asked) -> Performed:
    """The payment as one event, its slip, and the tax of it as an event of its own, in one commit."""
    may_be_paid(asked)
    performed = performing(past.perform)(asked)
    return replace(performed, detail=handed_over(asked, performed))


def reject(asked: Asked) -> Performed:
    """What is taken back as one event, and its slips void, in one commit."""
    performed = performing(past.perform)(asked)
    taken_back(asked)
    return performed


def _not_checked(asked: Asked) -> str:
    if asked.act != "hit.verify":
        return ""
    left = [words(check) for check in CHECKS if check not in asked.payload.get("checks", ())]
    return f"Not checked: {', '.join(left)}." if left else "Cards, seat, wager sensor and surveillance were looked at."


def rows(found: past.Foreseen) -> list[Change]:
    """An act of the past in rows: its steps, the meters that move, the entries that it books."""
    precedent, cents = found.precedent, found.precedent.cents()
    said = [
        Change("Round", "settled", step["state"])
        if step["what"] == "round"
        else Change(
            f"{'Hit' if step['what'] == 'hit' else 'Envy payout'} {step['name']}, {money(cents[step['name']])}",
            precedent.standing(step["name"]) or "",
            step["state"],
        )
        for step in found.decision.steps
    ]
    for row in found.decision.result["meters"]:
        level = f"{row['link']}/{row['level']}"
        said += [
            Change(f"{part} {level}", money(was), money(now))
            for part, was, now in (
                ("Meter", row["before_cents"], row["after_cents"]),
                ("Reserve", row["reserve_before_cents"], row["reserve_cents"]),
                ("Overflow", row["overflow_before_cents"], row["overflow_cents"]),
            )
            if was != now
        ]
    said += [
        Change(
            f"Booked: {moved.reason}, {account_name(moved.debit)} → {account_name(moved.credit)}",
            "",
            money(moved.amount_cents),
        )
        for moved in found.decision.movements
    ]
    return said


def _envy_in(states: Collection[str]) -> Callable[[str], bool]:
    def is_in(subject: str) -> bool:
        found = past.standing("payout.pay", subject)
        return found is not None and found.standing(subject) in states

    return is_in


def _due(act: str, state: str) -> Callable[[str], bool]:
    """Whether a hit or payout is in a state and its term is over today: before, the act is not offered."""

    def is_due(subject: str) -> bool:
        found = past.standing(act, subject)
        if found is None or found.standing(subject) != state:
            return False
        won_on, terms = found.hits[0].won_on, terms_in(the_property().jurisdiction)
        assert won_on is not None, "its event says when it was won"
        due = terms.state_from(won_on) if state == UNCLAIMED else terms.unclaimed_from(won_on)
        return gaming_day(timezone.now())[0] >= due

    return is_due


def _worth(act: str) -> Callable[[str], int]:
    """What a hit awards or an envy payout comes to by its round's own settlement: who must agree is decided by it."""

    def worth(subject: str) -> int:
        found = past.standing(act, subject)
        return 0 if found is None else found.cents().get(subject, 0)

    return worth


def _of_nobody(shape: Shape, title: str, state: str) -> Act:
    """What the books do with what nobody came for, once its term is over; the controller agrees to what leaves the house."""
    to_the_state = state == UNCLAIMED
    return Act(
        shape=shape,
        title=title,
        proposes=frozenset({ACCOUNTING}) if to_the_state else BOOKKEEPERS,
        approves=(Tier(0, CONTROLLER, 1),) if to_the_state else (),
        worth=_worth(shape.name),
        version=_version(shape.name),
        foresee=foresee,
        perform=performing(past.perform),
        possible=_due(shape.name, state),
    )


HIT_ACTS: tuple[Act, ...] = (
    Act(
        shape=hits.VERIFY,
        title="Verify a hit",
        proposes=PIT,
        version=_version("hit.verify"),
        foresee=foresee,
        perform=performing(past.perform),
        possible=_in({DETECTED}),
    ),
    Act(
        shape=hits.APPROVE,
        title="Approve a hit",
        proposes=frozenset({MANAGER}),
        approves=(Tier(10_000_000, MANAGER, 1),),
        worth=_worth("hit.approve"),
        version=_version("hit.approve"),
        foresee=foresee,
        perform=performing(past.perform),
        possible=_in({VERIFIED}),
    ),
    Act(
        shape=hits.PAY,
        title="Pay a hit",
        proposes=PIT | {CAGE},
        asks=payer,
        worth=_worth("hit.pay"),
        version=_version("hit.pay"),
        foresee=_foresee_payment,
        perform=_pay,
        possible=_in({APPROVED, UNCLAIMED}),
    ),
    Act(
        shape=hits.REJECT,
        title="Reject a hit",
        proposes=frozenset({MANAGER}),
        approves=(Tier(0, CONTROLLER, 1),),
        worth=_worth("hit.reject"),
        version=_version("hit.reject"),
        foresee=foresee,
        perform=reject,
        possible=_in({DETECTED, VERIFIED, APPROVED, UNCLAIMED}),
    ),
    Act(
        shape=payouts.PAY,
        title="Pay envy",
        proposes=PIT | {CAGE},
        asks=payer,
        worth=_worth("payout.pay"),
        version=_version("payout.pay"),
        foresee=_foresee_payment,
        perform=_pay,
        possible=_envy_in({OWED, UNCLAIMED}),
    ),
    _of_nobody(unclaimed.HIT_UNCLAIMED, "Book a hit as unclaimed", APPROVED),
    _of_nobody(unclaimed.HIT_REMIT, "Remit a hit to the state", UNCLAIMED),
    _of_nobody(unclaimed.PAYOUT_UNCLAIMED, "Book envy as unclaimed", OWED),
    _of_nobody(unclaimed.PAYOUT_REMIT, "Remit envy to the state", UNCLAIMED),
)
