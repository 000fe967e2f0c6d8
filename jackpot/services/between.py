"""Recording an act that moves several links: one event on the stream of each, in one transaction (CONTRACT §7).

The streams are locked in the order of their ids, whoever gives to whom: two such acts never wait for each other. The money
is booked on the stream of the act's subject, each movement once; the other events carry the same cause and result.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from accounting.rules.acts import ActRefused
from accounting.rules.moments import nanoseconds
from accounting.services import ledger
from jackpot.models import Link
from jackpot.rules import between, levels
from jackpot.rules.decision import Act, Decision, cause_of
from jackpot.rules.state import LinkState
from jackpot.services import listening, meters, standing
from jackpot.services.meters import LinkMeters
from jackpot.services.shown import show
from jackpot.services.under_lock import done_at

if TYPE_CHECKING:
    from accounting.models import Stream

encode = msgspec.json.Encoder(order="sorted").encode

Decider = Callable[[Act, Mapping[str, LinkState]], Decision]
DECIDERS: Final[Mapping[str, Decider]] = {"level.transfer": levels.transfer}


class Standing(NamedTuple):
    """A link with its stream, as it stands."""

    stream: "Stream"
    meters: LinkMeters
    state: LinkState


def decide(act: Act, decider: Decider | None = None) -> Decision:
    """What an act between links would come to as they stand, without recording it. Raises ActRefused."""
    return _decided(act, [_standing(ledger.stream(stream_id)) for stream_id in _streams(act)], decider)


def perform(act: Act, *, at: datetime, decider: Decider | None = None, **more: Any) -> tuple[str, int]:
    """Decide and record an act inside the caller's transaction: the stream of its subject, and the sequence there.

    `more` is kept with its cause; `decider` is that of an act of which more must be known than its links, asked when they
    are locked. Raises ActRefused where it cannot be done.
    """
    locked = [ledger.lock_stream(stream_id) for stream_id in _streams(act)]
    act, at = done_at(act, locked, at)
    found = [_standing(stream) for stream in locked]
    decision = _decided(act, found, decider)
    if len(found) > 1:
        more[between.KEY] = _sides(act, found)
    cause, result = encode(cause_of(act, **more)), encode(decision.result)
    booking = ledger.booked_on(ledger.day_of(at))
    sequences: dict[str, int] = {}
    for stream, link, state in found:
        share = between.share_of(decision, state.code, act)
        entry = ledger.documented(act.act, act.subject, *booking, cause, result, share.movements)
        sequences[state.code] = sequence = ledger.record(stream, entry, at=at)
        link.values.update(share.meters.get(state.code, {}))
        link.write(sequence=sequence)
        if share.changes:
            ledger.terms_changed(stream.pk)
            for change in share.changes:
                show(state, change)
        listening.tell_after(stream.pk, sequence)
    subject = between.books_of(act)
    return subject, sequences[subject]


def _sides(act: Act, found: list[Standing]) -> list[dict[str, Any]]:
    """How each link stands, in the order in which they are locked."""
    editions, moment = standing.paytable_definitions(), nanoseconds(act.at)
    return [
        between.side(each.state, each.stream.next_sequence, act, editions[each.state.terms.at(moment).paytable.code])
        for each in found
    ]


def _streams(act: Act) -> list[int]:
    """The streams of the links that an act concerns and that are there, in the order in which they are locked."""
    codes = between.concerned(act)
    found = dict(Link.objects.filter(code__in=codes).order_by("stream_id").values_list("stream_id", "code"))
    if between.books_of(act) not in found.values():
        raise ActRefused("unknown_subject", detail=f"there is no link or level {act.subject}")
    return list(found)


def _standing(stream: "Stream") -> Standing:
    link = meters.read(stream.pk)
    assert link is not None, "the stream is a link's"
    return Standing(stream, link, standing.of_link(stream.pk, link))


def _decided(act: Act, found: list[Standing], decider: Decider | None) -> Decision:
    return (decider or DECIDERS[act.act])(act, {each.state.code: each.state for each in found})
