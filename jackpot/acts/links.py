"""What people decide about links (CONTRACT §7), declared to the office."""

from accounting.office.acts import Act, Asked, Change, Foreseen, Tier
from accounting.rules.roles import ADMINISTRATOR, MANAGER
from jackpot.acts.asked import act_asked, performing
from jackpot.queries import link_version
from jackpot.rules import link_shapes
from jackpot.services import acts


def _foresee_state(asked: Asked) -> Foreseen:
    """The state of the link before and after."""
    decision = acts.decide(act_asked(asked))
    (change,) = decision.changes
    before = acts.state_of(asked.subject, asked.at)
    return Foreseen(
        (Change("State", before, change["state"]),),
        "Rounds that count while it is not open are held when they bring a progressive wager; all others are settled.",
    )


LINK_ACTS: tuple[Act, ...] = (
    Act(
        shape=link_shapes.SUSPEND,
        title="Suspend a link",
        proposes=frozenset({ADMINISTRATOR, MANAGER}),
        version=link_version,
        foresee=_foresee_state,
        perform=performing(acts.perform),
        possible=lambda link: acts.shown_state(link) == "open",
    ),
    Act(
        shape=link_shapes.RESUME,
        title="Resume a link",
        proposes=frozenset({ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1),),
        version=link_version,
        foresee=_foresee_state,
        perform=performing(acts.perform),
        possible=lambda link: acts.shown_state(link) == "suspended",
    ),
)
