"""Recording what people decide about a link and its levels (CONTRACT §7): one event on the link's stream."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from accounting.rules.acts import ActRefused
from accounting.rules.moments import instant_nanoseconds
from accounting.services import ledger
from jackpot.models import Link
from jackpot.rules import levels, links
from jackpot.rules.decision import Act, Decision, cause_of
from jackpot.rules.state import LinkState
from jackpot.services import between, meters, standing

encode = msgspec.json.Encoder(order="sorted").encode

Decider = Callable[[Act, Mapping[str, LinkState]], Decision]
DECIDERS: Mapping[str, Decider] = {
    "level.adjust": levels.adjust,
    "link.suspend": links.suspend,
    "link.resume": links.resume,
}


def stream_of(subject: str) -> int:
    """The stream of the link that `LINK` or `LINK/LEVEL` names; ActRefused where there is none."""
    stream_id = Link.objects.filter(code=subject.partition("/")[0]).values_list("stream_id", flat=True).first()
    if stream_id is None:
        raise ActRefused("unknown_subject", detail=f"there is no link or level {subject}")
    return stream_id


def decide(act: Act) -> Decision:
    """What an act would come to as the link stands, without recording it. Raises ActRefused."""
    if act.act in between.DECIDERS:
        return between.decide(act)
    stream_id = stream_of(act.subject)
    link = meters.read(stream_id)
    assert link is not None, "the stream is a link's"
    state = standing.of_link(stream_id, link)
    return DECIDERS[act.act](act, {state.code: state})


def state_of(link: str, at: datetime) -> str:
    """The state of a link at a moment."""
    stream_id = stream_of(link)
    found = meters.read(stream_id)
    assert found is not None, "the stream is a link's"
    return standing.of_link(stream_id, found).state(instant_nanoseconds(at))


def shown_state(link: str) -> str | None:
    """The state of a link as it is shown; None where there is no such link."""
    return Link.objects.filter(code=link).values_list("state", flat=True).first()


def perform(act: Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Decide and record an act inside the caller's transaction: the stream and the sequence of its event.

    `more` is kept with its cause: who asked, who approved, why. Raises ActRefused where it cannot be done.
    """
    if act.act in between.DECIDERS:
        return between.perform(act, at=at, **more)
    stream = ledger.lock_stream(stream_of(act.subject))
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
            _project(change)
    return stream.code, sequence


def _project(change: Mapping[str, Any]) -> None:
    """Show in the link's row what its events say of it now."""
    if change["what"] == "link.state":
        Link.objects.filter(code=change["link"]).update(state=change["state"])
