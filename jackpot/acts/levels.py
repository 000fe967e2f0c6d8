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


def _foresee_transfer(asked: Asked) -> Foreseen:
    """Both ends before and after, and what the house adds to complete a cent."""
    decision = acts.decide(act_asked(asked))
    ends = (asked.subject, asked.payload["to"])
    rows = {f"{row['link']}/{row['level']}": row for row in decision.result["meters"]}
    changes = [
        Change(f"{end} {part}", money(rows[end][before]), money(rows[end][after]))
        for end in ends
        for part, before, after in PARTS_SHOWN
        if rows[end][before] != rows[end][after]
    ]
    completed_cents = sum(
        moved["cents"] for moved in decision.result["transfers"] if moved["debit"] == "contribution_expense"
    )
    words = "Each part goes whole, its fraction of a cent too; what the display's limit there does not hold overflows."
    if completed_cents:
        words += f" Fractions complete {money(completed_cents)}, booked to contributions."
    return Foreseen(tuple(changes), words)


def _may_transfer(level: str) -> bool:
    """A link that is open keeps its jackpots until they are won (REQUIREMENTS R38)."""
    return acts.shown_state(level.partition("/")[0]) == "suspended"


PARTS_SHOWN = (
    ("display", "before_cents", "after_cents"),
    ("reserve", "reserve_before_cents", "reserve_cents"),
    ("overflow", "overflow_before_cents", "overflow_cents"),
)
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
    Act(
        shape=levels.TRANSFER,
        title="Transfer a level to another",
        proposes=frozenset({ACCOUNTING}),
        approves=(Tier(0, CONTROLLER, 1), Tier(0, MANAGER, 1)),
        # A progressive in play moves for these reasons only (REQUIREMENTS R38, 68 IAC 2-6-33).
        reasons=("malfunction", "replacement", "regulator_approved"),
        evidence=True,
        version=level_version,
        foresee=_foresee_transfer,
        perform=performing(acts.perform),
        possible=_may_transfer,
    ),
)
