"""Closing a gaming day on every stream at once (SPEC §10, ARCHITECTURE §4.10).

Each stream has one event that closes the day; it is the last that may be booked on it, and its hash is signed. Settling
must hardly notice: whatever can be known before is read before, every stream is then held for as long as it takes to
write one event on each, and whoever closes gives way and tries again rather than keep some waiting for others.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db import OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected, LockNotAvailable, QueryCanceled

from accounting import reconciliation
from accounting.queries import the_property
from accounting.rules.acts import ActRefused, escaped
from accounting.rules.gaming_day import GamingDays
from accounting.rules.heads import Head
from accounting.rules.moments import instant_nanoseconds
from accounting.services import closed_days, ledger, readings
from accounting.services.closed_days import StreamHead, StreamRow, streams_now
from accounting.services.copying import Copying
from accounting.services.ledger import Journal
from jackpot.rules.decision import Act, Decision, cause_of
from jackpot.rules.meter import Meter
from jackpot.rules.state import LinkState
from jackpot.services import listening, meters, standing
from tables.rules.days import CLOSE_DAY, day_named
from tables.rules.deciding import decide
from tables.rules.house import House
from tables.services.recording import encode

PATIENCE_MS: Final = 40
"""How long some streams are held at most while others are waited for."""
ATTEMPTS: Final = 20
PAUSE_SECONDS: Final = 0.25
GIVEN_WAY = (QueryCanceled, LockNotAvailable, DeadlockDetected)


@dataclass(slots=True)
class _Known:
    """What was read before anything was held: links by their streams, with the version of their terms."""

    home: str
    days: GamingDays
    links: dict[int, tuple[int, LinkState]] = field(default_factory=dict)

    def of(self, stream: StreamRow, found: Mapping[str, Meter]) -> LinkState:
        kept = self.links.get(stream.id)
        if kept is None or kept[0] != stream.terms_version:
            read = meters.read(stream.id)
            assert read is not None, "the stream is a link's"
            kept = self.links[stream.id] = (stream.terms_version, standing.of_link(stream.id, read))
        kept[1].meters = dict(found)
        return kept[1]


def foresee(act: Act, *, at: datetime) -> Decision:
    """What closing a day would come to as the house stands, without recording it. Raises ActRefused."""
    decision, _, _ = _looked(act)
    return decision


def _looked(act: Act) -> tuple[Decision, _Known, dict[int, int]]:
    """The decision over all streams together, what was read for it, and up to which event of each nothing was booked since."""
    known, found, streams = _known(), meters.of_every_link(), streams_now()
    _named(act, streams)
    links = {stream.code: known.of(stream, found[stream.id]) for stream in streams if stream.id in found}
    decision = decide(act, _house(links, known.days, the_property().closed_through))
    return decision, known, _nothing_since(act, streams)


def perform(act: Act, *, at: datetime, **more: Any) -> dict[str, int]:
    """Close a day inside the caller's transaction: the event of every stream, by its code.

    `more` is kept with the cause: who asked, who approved, why. Raises ActRefused where it cannot be done, `busy` where
    settling left no moment in which every stream was free.
    """
    _, known, looked = _looked(act)
    then = reconciliation.balances_then()
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return _close(act, at, known, looked, then, more)
        except OperationalError as error:
            if not isinstance(error.__cause__, GIVEN_WAY):
                raise
        time.sleep(PAUSE_SECONDS * (1 + attempt % 3))  # out of step with whoever keeps a stream busy
    raise ActRefused("busy", detail="rounds are settled on every stream without a pause: close the day a little later")


def _close(
    act: Act, at: datetime, known: _Known, looked: dict[int, int], then: reconciliation.Then, more: dict[str, Any]
) -> dict[str, int]:
    """What is done while every stream is held, so nothing that could be done before, and nothing that grows with the house."""
    day = day_named(act.subject)
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('statement_timeout')")
        ((usual,),) = cursor.fetchall()
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{PATIENCE_MS}ms"])
        streams = closed_days.hold_streams()
        through = closed_days.close(day, at=at)
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [usual])
    if len(streams_now()) != len(streams):  # one was opened while this waited for the day
        raise ActRefused("changed_since", detail="a stream was opened meanwhile: look again")
    _nothing_since(act, streams, looked)
    found = meters.of_every_link()
    cause = encode(cause_of(act, streams={stream.code: stream.next_sequence for stream in streams}, **more))
    booked, original = ledger.booked_on(known.days.of(instant_nanoseconds(at)))
    of_no_link = encode(decide(act, _house({}, known.days, through)).result)
    heads: list[StreamHead] = []
    with Copying() as copying:
        journals: list[Journal] = []
        for stream in streams:
            journal = Journal(
                stream_id=stream.id, stream=stream.code, next_sequence=stream.next_sequence, head=bytes(stream.head),
                accounts={}, recorded_at=at,
            )  # fmt: skip
            result = of_no_link
            if stream.id in found:
                links = {stream.code: known.of(stream, found[stream.id])}
                result = encode(decide(act, _house(links, known.days, through)).result)
            sequence = journal.post(ledger.documented(act.act, act.subject, booked, original, cause, result, ()))
            journals.append(journal)
            heads.append(StreamHead(stream.id, Head(stream.code, sequence, journal.head)))
        ledger.send_together(journals, copying)
    closed_days.move_on(heads)
    meters.move_on({each.stream_id: each.head.sequence for each in heads})
    closed_days.keep(day, heads, home=known.home, at=at, proposal=more.get("proposal"))
    readings.read_by_machine(
        day,
        [
            readings.Shown(f"{stream.code}/{level}", stream.id, stream.next_sequence, *_whole_cents(meter))
            for stream in streams
            for level, meter in found.get(stream.id, {}).items()
        ],
        {level: parts["display"] for level, parts in reconciliation.balances_since(then).items()},
        at=at,
        by=str(more.get("by", "")),
    )
    for each in heads:
        listening.tell_after(each.stream_id, each.head.sequence)
    return {each.head.stream: each.head.sequence for each in heads}


def _whole_cents(meter: Meter) -> tuple[int, int, int]:
    return meter.value_cents, meter.reserve_cents, meter.overflow_cents


def _known() -> _Known:
    home = the_property()
    return _Known(home.code, GamingDays(ZoneInfo(home.time_zone), home.gaming_day_starts))


def _house(links: dict[str, LinkState], days: GamingDays, through: date | None) -> House:
    return House(links, {}, remembers=False, days=days, closed_through=through)


def _named(act: Act, streams: list[StreamRow]) -> None:
    """See that the streams and events which were looked at are there. ActRefused `invalid_value` names one that is not."""
    by_code = {stream.code: stream for stream in streams}
    day_named(act.subject)
    for code, sequence in CLOSE_DAY.read(act.payload)["sequences"].items():
        pointer = f"/payload/sequences/{escaped(code)}"
        if code not in by_code:
            raise ActRefused("invalid_value", pointer, f"there is no stream {code}")
        if sequence >= by_code[code].next_sequence:
            raise ActRefused("invalid_value", pointer, f"stream {code} has not come to {sequence}")


def _nothing_since(act: Act, streams: list[StreamRow], looked: Mapping[int, int] | None = None) -> dict[int, int]:
    """See that nothing was booked on the day after what was looked at: up to which event of each stream that is so.

    `looked` is how far that is known already. ActRefused `changed_since` where there is more.
    """
    day, named = day_named(act.subject), CLOSE_DAY.read(act.payload)["sequences"]
    since = {stream.id: max(named.get(stream.code, -1), (looked or {}).get(stream.id, -1)) for stream in streams}
    more = closed_days.booked_since(since, day)
    if more:
        code, sequence = more
        raise ActRefused(
            "changed_since",
            detail=f"event {sequence} of {code} was booked on gaming day {day} after what was looked at: look again",
        )
    return {stream.id: stream.next_sequence - 1 for stream in streams}
