"""What people decide about links that only the tables can know enough for (CONTRACT §7), declared to the office."""

from typing import Any

from accounting.office.acts import Act, Asked, Change, Foreseen, Tier
from accounting.rules.roles import ADMINISTRATOR, CONTROLLER, MANAGER
from accounting.shell.templatetags.pages import account_name, money, words
from jackpot.acts.asked import act_asked, performing
from jackpot.queries import link_version
from jackpot.rules import link_shapes
from jackpot.rules.parts import PARTS, held
from jackpot.services.acts import as_it_stands, shown_state
from tables.services import closing


def _parts_left(link: str) -> dict[str, Any]:
    """The form begins with every part that is not at zero; where it goes is for people to say."""
    meters = as_it_stands(link).meters
    left = [(level, part) for level, meter in meters.items() for part in PARTS if held(meter, part)]
    return {"disposition": [{"level": level, "part": part, "to": ""} for level, part in left]}


def _foresee_closing(asked: Asked) -> Foreseen:
    """The state of the link, and where each part of its meters goes."""
    decision = closing.foresee(act_asked(asked), at=asked.at)
    rows = [Change("State", "suspended", "closed")]
    for row in decision.result["meters"]:
        level = row["level"] if row["link"] == asked.subject else f"{row['link']}/{row['level']}"
        for part, before, after in (
            ("display", row["before_cents"], row["after_cents"]),
            ("reserve", row["reserve_before_cents"], row["reserve_cents"]),
            ("overflow", row["overflow_before_cents"], row["overflow_cents"]),
        ):
            if before != after:
                rows.append(Change(f"{level}: {part}", money(before), money(after)))
    rows += [
        Change(words(reason), "", f"{money(cents)} to {account_name(credit)}")
        for _, credit, cents, reason in decision.movements
    ]
    return Foreseen(
        tuple(rows), "A closed link never moves again. Rounds with a progressive wager are held from then on."
    )


LINK_ACTS: tuple[Act, ...] = (
    Act(
        shape=link_shapes.CLOSE,
        title="Close a link",
        proposes=frozenset({ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1), Tier(0, CONTROLLER, 1)),
        version=link_version,
        foresee=_foresee_closing,
        perform=performing(closing.perform),
        begins=_parts_left,
        possible=lambda link: shown_state(link) == "suspended",
    ),
)
