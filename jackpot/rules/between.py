"""An act that moves several links at once: one event on the stream of each, and what every one of them keeps (CONTRACT §7).

All these events have the same cause and the same result. The cause says beside the act how each link stood, its *side*:
whoever replays one stream has that stream's own link to compare with its side, and takes the others as the cause has them.
The others' own streams are where those sides are compared, so nobody needs another stream's meters to verify one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from accounting.rules.accounts import LEVEL_ACCOUNTS, Movement, of_level
from accounting.rules.dated import Dated
from accounting.rules.moments import nanoseconds
from jackpot.rules import levels
from jackpot.rules import link as definitions
from jackpot.rules import paytable as paytables
from jackpot.rules.decision import Act, Decision
from jackpot.rules.link_shapes import CLOSE
from jackpot.rules.meter import Meter
from jackpot.rules.state import CLOSED, LinkState

KEY: Final = "between"
"""Where a cause has the sides of the links that its act moves."""


def concerned(act: Act) -> frozenset[str]:
    """The codes of the links that an act may move, whether they are there or not. ActRefused for a fault of shape."""
    match act.act:
        case "level.transfer":
            ends = [levels.TRANSFER.read(act.payload)["to"]]
        case "link.close":
            ends = [item["to"] for item in CLOSE.read(act.payload)["disposition"]]
        case _:
            ends = []
    return frozenset({books_of(act), *(end.rpartition("/")[0] for end in ends if "/" in end)})


def books_of(act: Act) -> str:
    """The code of the link on whose stream the money of an act is booked: that of its subject. A movement is one row."""
    return act.subject.partition("/")[0]


def side(link: LinkState, sequence: int, act: Act, paytable: Mapping[str, Any]) -> dict[str, Any]:
    """How a link stands before an act whose event is this one of its stream: state and terms as they count, every meter.

    `paytable` is the definition of the edition that its terms name.
    """
    at = nanoseconds(act.at)
    return {
        "link": link.code,
        "sequence": sequence,
        "state": link.state(at),
        "definition": definitions.definition_of(link.terms.at(at)),
        "paytable": paytable,
        "meters": {code: meter._asdict() for code, meter in link.meters.items()},
    }


def link_of(side: Mapping[str, Any]) -> LinkState:
    """The link that a side describes, to decide that act on. KeyError, TypeError, DefinitionRefused: it describes none."""
    edition = paytables.read(side["paytable"])
    terms = definitions.read(side["definition"], {edition.code: edition}, however_rare=True)
    meters = {code: Meter(**parts) for code, parts in side["meters"].items()}
    return LinkState(side["link"], Dated(terms), Dated(side["state"]), meters, closed=side["state"] == CLOSED)


def share_of(decision: Decision, code: str, act: Act) -> Decision:
    """What the event on the stream of one of these links does there: its own meters and changes, the result of all.

    The money is booked once, on the stream of the act's subject.
    """
    return Decision(
        decision.outcome,
        decision.result,
        decision.movements if code == books_of(act) else [],
        {link: meters for link, meters in decision.meters.items() if link == code},
        [change for change in decision.changes if change["link"] == code],
    )


def booked_elsewhere(movements: Iterable[Movement], link: LinkState) -> dict[str, int]:
    """What movements that another stream books bring to the accounts of a link's levels, in whole cents."""
    accounts = {of_level(link.code, level, kind) for level in link.meters for kind in LEVEL_ACCOUNTS}
    brought: dict[str, int] = {}
    for debit, credit, cents, _ in movements:
        for account, amount in ((debit, -cents), (credit, cents)):
            if account in accounts:
                brought[account] = brought.get(account, 0) + amount
    return brought
