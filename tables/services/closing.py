"""Closing a link (CONTRACT §7, DECISIONS A65): what else must be known of it, read from its record as of a sequence.

It is recorded by the tables because a lock waits for a round: that is known here, not on the jackpot's side.
"""

from datetime import datetime
from typing import Any

from accounting.rules.acts import ActRefused
from accounting.services import ledger
from jackpot.rules.decision import Act, Decision
from jackpot.rules.link_shapes import CLOSE as SHAPE
from jackpot.rules.link_shapes import ENDS
from jackpot.services import acts as jackpot_acts
from jackpot.services.shown import show_state
from tables.rules.deciding import decide
from tables.services import recording
from tables.services.as_recorded import know


def foresee(act: Act, *, at: datetime) -> Decision:
    """What a closing would come to as the link stands, without recording it. Raises ActRefused."""
    _not_elsewhere(act)
    stream = ledger.stream(jackpot_acts.stream_of(act.subject))
    book = recording.on_stream(stream, at=at)
    know(act, book.house, stream.pk, before=stream.next_sequence)
    return decide(act, book.house)


def perform(act: Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Decide and record a closing inside the caller's transaction: the stream and the sequence of its event.

    `more` is kept with its cause: who asked, who approved, why. Raises ActRefused where it cannot be done.
    """
    _not_elsewhere(act)
    stream = ledger.lock_stream(jackpot_acts.stream_of(act.subject))
    sequence, house = recording.record(stream, act, at=at, **more)
    show_state(house.links[stream.code])
    return stream.code, sequence


def _not_elsewhere(act: Act) -> None:
    """In the running house what goes to a level of another link is transferred there first: it moves that link as well."""
    for place, item in enumerate(SHAPE.read(act.payload)["disposition"]):
        if item["to"] not in ENDS:
            raise ActRefused(
                "invalid_value", f"/payload/disposition/{place}/to",
                f"{' or '.join(ENDS)} is expected: what goes to another level is transferred there before",
            )  # fmt: skip
