"""Recording what people decide about hits, envy payouts and settled rounds: one event on the stream they stand on."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from accounting.queries import the_property
from accounting.rules.acts import ActRefused
from accounting.rules.unclaimed import terms_in
from accounting.services import ledger
from jackpot.rules.decision import Act, Decision
from jackpot.services.under_lock import done_at
from tables.rules.deciding import decide
from tables.rules.precedents import OF_ENVY, OF_HITS, Precedent
from tables.rules.unclaimed import OF_UNCLAIMED
from tables.rules.withholding import OF_WITHHOLDING
from tables.services import precedents, recording

ANY_SEQUENCE = 2**62
"""Beyond every event: what is asked for is how something stands now."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What an act would come to, and what it names as that stands now."""

    decision: Decision
    precedent: Precedent


def stream_of(act: Act) -> int:
    """The stream that an act is recorded on: where its round was settled. ActRefused where there is none."""
    place = precedents.place_of(act.act, act.subject)
    if place is None:
        what = "hit" if act.act in OF_HITS else "envy payout" if act.act in OF_ENVY else "round"
        raise ActRefused("unknown_subject", detail=f"there is no {what} {act.subject}")
    return place[0]


def stream_id_of(hit: str) -> int:
    """The stream that a hit was detected on. ActRefused where there is no such hit."""
    return stream_of(Act("hit.verify", hit, ""))


def standing(act: str, subject: str) -> Precedent | None:
    """The settled round that a hit, an envy payout or a round's name is of, as it stands now; None where there is none."""
    place = precedents.place_of(act, subject)
    return None if place is None else precedents.at(*place, before=ANY_SEQUENCE)


def foresee(act: Act, *, at: datetime) -> Foreseen:
    """What an act would come to as its stream stands, without recording it. Raises ActRefused."""
    stream = ledger.stream(stream_of(act))
    book = recording.on_stream(stream, at=at)
    book.house.know(_brought(act))
    with precedents.given(act, book.house, stream.pk, before=ANY_SEQUENCE) as precedent:
        decision = decide(act, book.house)
    if precedent is None:
        raise ActRefused("unknown_subject", detail=f"there is no {act.subject}")
    return Foreseen(decision, precedent)


def withhold(kind: str, subject: str, cents: int, method: str, *, at: datetime, **more: Any) -> None:
    """Record that tax of a hit or an envy payout was kept back when it was paid, in the caller's transaction.

    `kind` is that of its slip, `method` where it was paid from. Raises ActRefused.
    """
    perform(Act(OF_WITHHOLDING[kind], subject, at.isoformat(), {"method": method, "cents": cents}), at=at, **more)


def perform(act: Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Decide and record an act inside the caller's transaction: the stream and the sequence of its event.

    `more` is kept with its cause: who asked, who approved, why. Raises ActRefused where it cannot be done.
    """
    stream = ledger.lock_stream(stream_of(act))
    act, at = done_at(act, [stream], at)
    sequence, _ = recording.record(stream, act, at=at, **_brought(act), **more)
    return stream.code, sequence


def _brought(act: Act) -> dict[str, Any]:
    """What the cause of an act brings along: of what nobody came for the terms by which it is decided."""
    if act.act not in OF_UNCLAIMED:
        return {}
    return {"unclaimed": asdict(terms_in(the_property().jurisdiction))}
