"""What people decide about links and their levels (CONTRACT §7), declared to the office."""

from accounting.office.acts import Act, Asked, Change, Foreseen, Performed, Tier
from accounting.rules.roles import ACCOUNTING, ADMINISTRATOR, CONTROLLER, MANAGER
from accounting.shell.templatetags.pages import money
from jackpot.queries import level_version, link_version
from jackpot.rules import decision as rules
from jackpot.rules import levels, link_shapes
from jackpot.services import acts

PARTS = {"display": "Display", "reserve": "Reserve", "overflow": "Overflow"}


def _act(asked: Asked) -> rules.Act:
    """What is asked for, as the rules take it: done at the moment of the question."""
    return rules.Act(asked.act, asked.subject, asked.at.isoformat(), asked.payload)


def _perform(asked: Asked) -> Performed:
    stream, sequence = acts.perform(
        _act(asked),
        at=asked.at,
        reason=asked.reason,
        by=asked.proposed_by,
        approved_by=list(asked.approved_by),
        proposal=asked.proposal_id,
        evidence=asked.evidence,
    )
    return Performed(stream, sequence)


def _foresee_level(asked: Asked) -> Foreseen:
    """The parts of the level before and after."""
    decision = acts.decide(_act(asked))
    link, _, level = asked.subject.rpartition("/")
    row = next(row for row in decision.result["meters"] if (row["link"], row["level"]) == (link, level))
    return Foreseen((
        Change("Display", money(row["before_cents"]), money(row["after_cents"])),
        Change("Reserve", money(row["reserve_before_cents"]), money(row["reserve_cents"])),
        Change("Overflow", money(row["overflow_before_cents"]), money(row["overflow_cents"])),
    ))  # fmt: skip


def _foresee_state(asked: Asked) -> Foreseen:
    """The state of the link before and after."""
    decision = acts.decide(_act(asked))
    (change,) = decision.changes
    before = acts.state_of(asked.subject, asked.at)
    return Foreseen(
        (Change("State", before, change["state"]),),
        "Rounds that count while it is not open are held when they bring a progressive wager; all others are settled.",
    )


ACTS: tuple[Act, ...] = (
    Act(
        shape=levels.ADJUST,
        title="Adjust a level",
        proposes=frozenset({ACCOUNTING}),
        approves=(Tier(0, CONTROLLER, 1), Tier(1_000_000, MANAGER, 1)),
        evidence=True,
        amount=lambda payload: abs(payload["cents"]),
        version=level_version,
        foresee=_foresee_level,
        perform=_perform,
    ),
    Act(
        shape=link_shapes.SUSPEND,
        title="Suspend a link",
        proposes=frozenset({ADMINISTRATOR, MANAGER}),
        version=link_version,
        foresee=_foresee_state,
        perform=_perform,
        possible=lambda link: acts.shown_state(link) == "open",
    ),
    Act(
        shape=link_shapes.RESUME,
        title="Resume a link",
        proposes=frozenset({ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1),),
        version=link_version,
        foresee=_foresee_state,
        perform=_perform,
        possible=lambda link: acts.shown_state(link) == "suspended",
    ),
)
