"""Closing a link (CONTRACT §7, DECISIONS A65): what else must be known of it, read from its record as of a sequence.

It is recorded by the tables because a lock waits for a round: that is known here, not on the jackpot's side.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from accounting.services import ledger
from jackpot.rules.decision import Act, Decision
from jackpot.rules.state import LinkState
from jackpot.services import acts as jackpot_acts
from jackpot.services import between
from tables.rules.deciding import decide
from tables.rules.house import House
from tables.services.as_recorded import know


def foresee(act: Act, *, at: datetime) -> Decision:
    """What a closing would come to as the link stands, without recording it. Raises ActRefused."""
    return between.decide(act, _decide)


def perform(act: Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Decide and record a closing inside the caller's transaction: the stream and the sequence of its event.

    What goes to a level of another link moves that link as well: it has the same event. `more` is kept with its cause: who
    asked, who approved, why. Raises ActRefused where it cannot be done.
    """
    return between.perform(act, at=at, decider=_decide, **more)


def _decide(act: Act, links: Mapping[str, LinkState]) -> Decision:
    """Decide a closing on the links as they stand, with what is on record of hits and locks of the one that closes."""
    house = House(dict(links), {}, remembers=False)
    stream = ledger.stream(jackpot_acts.stream_of(act.subject))
    know(act, house, stream.pk, before=stream.next_sequence)
    return decide(act, house)
