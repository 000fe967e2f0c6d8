"""Recording what people decide about a link and its levels (CONTRACT §7): one event on the link's stream."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from accounting.rules.acts import ActRefused
from accounting.rules.events import FUNDS
from accounting.rules.moments import instant_nanoseconds, nanoseconds
from accounting.services import ledger
from jackpot.models import Link
from jackpot.rules import funds, levels, links
from jackpot.rules.decision import Act, Decision, cause_of
from jackpot.rules.installing import FILE
from jackpot.rules.link import LinkTerms
from jackpot.rules.state import LinkState
from jackpot.services import between, filing, listening, meters, standing
from jackpot.services.shown import show
from jackpot.services.under_lock import done_at

encode = msgspec.json.Encoder(order="sorted").encode

Decider = Callable[[Act, Mapping[str, LinkState]], Decision]
DECIDERS: Mapping[str, Decider] = {
    "level.adjust": levels.adjust,
    "link.open": links.open_link,
    "link.suspend": links.suspend,
    "link.resume": links.resume,
    "link.terms": links.change_terms,
    FUNDS: funds.record,
}


def stream_of(subject: str) -> int:
    """The stream of the link that `LINK` or `LINK/LEVEL` names; ActRefused where there is none."""
    stream_id = Link.objects.filter(code=subject.partition("/")[0]).values_list("stream_id", flat=True).first()
    if stream_id is None:
        raise ActRefused("unknown_subject", detail=f"there is no link or level {subject}")
    return stream_id


def decide(act: Act) -> Decision:
    """What an act would come to as the link stands, without recording it. Raises ActRefused."""
    if act.act == FILE:
        return filing.decide(act)
    if act.act in between.DECIDERS:
        return between.decide(act)
    state = as_it_stands(act.subject)
    return DECIDERS[act.act](act, {state.code: state})


def as_it_stands(link: str) -> LinkState:
    """A link as its events make it, on its meters as they stand; ActRefused where there is none."""
    stream_id = stream_of(link)
    found = meters.read(stream_id)
    assert found is not None, "the stream is a link's"
    return standing.of_link(stream_id, found)


def state_of(link: str, at: datetime) -> str:
    """The state of a link at a moment."""
    return as_it_stands(link).state(instant_nanoseconds(at))


def terms_before_and_after(act: Act) -> tuple[LinkTerms, LinkTerms]:
    """The terms of a link as they count at the moment that `link.terms` counts from, and as it would leave them."""
    link = as_it_stands(act.subject)
    (change,) = links.change_terms(act, {link.code: link}).changes
    moment = nanoseconds(change["counts_from"])
    before = link.terms.at(moment)
    link.change(change)
    return before, link.terms.at(moment)


def shown_state(link: str) -> str | None:
    """The state of a link as it is shown; None where there is no such link."""
    return Link.objects.filter(code=link).values_list("state", flat=True).first()


def perform(act: Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Decide and record an act inside the caller's transaction: the stream and the sequence of its event.

    `more` is kept with its cause: who asked, who approved, why. Raises ActRefused where it cannot be done.
    """
    if act.act == FILE:
        return filing.perform(act, at=at, **more)
    if act.act in between.DECIDERS:
        return between.perform(act, at=at, **more)
    stream = ledger.lock_stream(stream_of(act.subject))
    act, at = done_at(act, [stream], at)
    link = meters.read(stream.pk)
    assert link is not None, "the stream is a link's"
    state = standing.of_link(stream.pk, link)
    decision = DECIDERS[act.act](act, {state.code: state})
    cause, result = encode(cause_of(act, **more)), encode(decision.result)
    booking = ledger.booked_on(ledger.day_of(at))
    entry = ledger.documented(act.act, act.subject, *booking, cause, result, decision.movements)
    sequence = ledger.record(stream, entry, at=at)
    link.values.update(decision.meters.get(state.code, {}))
    link.write(sequence=sequence)
    if decision.changes:
        ledger.terms_changed(stream.pk)
        for change in decision.changes:
            show(state, change)
    listening.tell_after(stream.pk, sequence)
    return stream.code, sequence
