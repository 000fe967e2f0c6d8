"""Replaying an event that moves several links, on the stream of one of them (`jackpot.rules.between`).

The cause says how each link stood. What it says of this stream's own link is compared with what the events before made of
it; what it says of the others is compared on theirs. Each of the others must have its event, with the very same documents:
one side alone is found from that side.
"""

import json
from typing import Any

from accounting.event_queries import documents_at
from accounting.rules.moments import nanoseconds
from devices.audit.findings import Difference, same
from jackpot.rules import between
from jackpot.rules import paytable as paytables
from jackpot.rules.decision import Act
from jackpot.rules.state import LinkState
from tables.rules.house import House


def links_of(
    where: str, act: Act, cause: dict[str, Any], house: House, code: str, sequence: int
) -> dict[str, LinkState]:
    """The links to decide on, in the order in which they were: this stream's own as it stands, the others as the cause says.

    Difference where the cause says anything else of this stream's own link, or none of it.
    """
    own = house.links[code]
    found: dict[str, LinkState] = {}
    for side in cause[between.KEY]:
        if side["link"] == code:
            _same_side(where, between.side(own, sequence, act, side["paytable"]), side)
            terms = own.terms.at(nanoseconds(act.at))
            same(where, "paytable of its link that the cause has", terms.paytable, paytables.read(side["paytable"]))
            found[code] = own
        else:
            found[side["link"]] = between.link_of(side)
    same(where, "links that the cause names", sorted(between.concerned(act)), sorted(found))
    return found


def _same_side(where: str, expected: dict[str, Any], found: dict[str, Any]) -> None:
    for key, value in json.loads(json.dumps(expected)).items():
        same(where, f"{key} of its link that the cause names", value, found.get(key))


def other_sides(where: str, cause: dict[str, Any], code: str, documents: tuple[Any, ...]) -> None:
    """Raise Difference unless the stream of each other link has the same event at the sequence that the cause says.

    `documents` are kind, subject, day, moment, rules edition, cause and result of the event in hand.
    """
    for side in cause[between.KEY]:
        if side["link"] == code:
            continue
        there = f"its event on stream {side['link']}, sequence {side['sequence']}"
        found = documents_at(side["link"], side["sequence"])
        if found is None:
            raise Difference(where, there, "one", "none")
        same(where, there, documents, found)
