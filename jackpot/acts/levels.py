"""What people decide about the levels of links (CONTRACT §7), declared to the office."""

from accounting.office.acts import Act, Asked, Change, Foreseen, Tier
from accounting.rules.roles import ACCOUNTING, CONTROLLER, MANAGER
from accounting.shell.templatetags.pages import money
from jackpot.acts.asked import act_asked, performing
from jackpot.queries import level_version
from jackpot.rules import levels
from jackpot.services import acts


def _foresee_level(asked: Asked) -> Foreseen:
    """The parts of the level before and after."""
    decision = acts.decide(act_asked(asked))
    link, _, level = asked.subject.rpartition("/")
    row = next(row for row in decision.result["meters"] if (row["link"], row["level"]) == (link, level))
    return Foreseen((
        Change("Display", money(row["before_cents"]), money(row["after_cents"])),
        Change("Reserve", money(row["reserve_before_cents"]), money(row["reserve_cents"])),
        Change("Overflow", money(row["overflow_before_cents"]), money(row["overflow_cents"])),
    ))  # fmt: skip


LEVEL_ACTS: tuple[Act, ...] = (
    Act(
        shape=levels.ADJUST,
        title="Adjust a level",
        proposes=frozenset({ACCOUNTING}),
        approves=(Tier(0, CONTROLLER, 1), Tier(1_000_000, MANAGER, 1)),
        evidence=True,
        amount=lambda payload: abs(payload["cents"]),
        version=level_version,
        foresee=_foresee_level,
        perform=performing(acts.perform),
    ),
)
