"""A table whose devices fall silent takes no progressive wagers until they are heard again (REQUIREMENTS R22, R25).

Nobody asks for this: the service notices. It is an event of the table's stream all the same, so that every round is decided on
what is on record. What was locked or dealt before the silence was noticed settles however late it comes, and the base game
stays open.
"""

from __future__ import annotations

from typing import Final

from accounting.rules.acts import FLAG, MOMENT, ActRefused, Field, Shape
from accounting.rules.events import CONTACT
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act, Decision, done
from tables.rules.acts import rows_of
from tables.rules.house import House

TURN: Final = Shape(
    CONTACT,
    "table",
    (
        Field("heard", FLAG, "Heard", help="whether its devices are heard of again, or no more"),
        Field("last", MOMENT, "Last heard", help="when one of them was heard last"),
    ),
)


def turn(act: Act, house: House) -> Decision:
    """Progressive wagers of rounds that count from now on are held `link_not_open`, or settled again."""
    heard: bool = TURN.read(act.payload)["heard"]
    table = house.table(act.subject)
    if table.progressive.at(nanoseconds(act.at)) is heard:
        raise ActRefused("wrong_state", detail=f"table {table.code} is {'heard' if heard else 'silent'} already")
    change = {"what": CONTACT, "table": table.code, "heard": heard, "counts_from": act.at}
    return done(act, [], rows_of(table, house, act.at), changes=[change])
