"""A pack as long work: what is asked for on a page, and the file that comes of it."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from accounting.office.work import JobKind, Progress
from accounting.queries import streams, the_property
from accounting.rules.parameters import BadParameter, Parameters
from accounting.rules.roles import AUDITOR, CONTROLLER
from accounting.services.closed_days import signed_days
from devices.packing.stretch import NotPacked, Wanted, packed, verifier, wanted
from tables.rules.packs import bundle, pack_name

ZIP = "application/zip"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be packed: stretches, in the order of their streams' codes; of a closed gaming day where one was named."""

    stretches: tuple[Wanted, ...]
    day: date | None = None

    def asked(self) -> dict[str, Any]:
        """As a job is asked for it."""
        return {
            "day": self.day.isoformat() if self.day else None,
            "stretches": [{"stream": each.code, "first": each.first, "last": each.last} for each in self.stretches],
        }


def chosen(given: Parameters) -> Chosen:
    """What somebody asks for by `stream` with `from` and `to`, or by `day`; BadParameter names the field at fault."""
    stream, day = given.text("stream"), given.day("day")
    first, last = given.whole("from"), given.whole("to")
    if day is not None:
        for name in ("from", "to"):
            if name in given:
                raise BadParameter(name, "a gaming day has its own first and last event: leave this empty, or the day")
        return of_day(day, stream)
    if stream is None:
        raise BadParameter("stream", "one stream is expected; every stream is packed by a closed gaming day")
    try:
        return Chosen((wanted(stream, first, last),))
    except NotPacked as refusal:
        name, _, detail = str(refusal).partition(": ")
        raise BadParameter(name, detail) from None


def of_day(day: date, stream: str | None = None) -> Chosen:
    """A closed gaming day: every stream, or one, from the head that was signed before to the one of this day.

    The head before is in it, so that what follows hangs on what was signed. BadParameter where the day is not signed.
    """
    before: dict[str, int] = {}
    for signed in signed_days(until=day):
        ends = {head.stream: head.sequence for head in signed.statement.heads}
        if signed.statement.day == day:
            ids = {code: stream_id for stream_id, code, _ in streams()}
            stretches = tuple(
                Wanted(ids[code], code, before.get(code, 0), end)
                for code, end in sorted(ends.items())
                if stream in (None, code)
            )
            if not stretches:
                raise BadParameter("stream", f"gaming day {day} was closed without a stream {stream}")
            return Chosen(stretches, day)
        before |= ends
    raise BadParameter("day", f"gaming day {day} is not closed and signed; an open one is packed by its events")


def pack_chosen(progress: Progress) -> dict[str, Any]:
    """Pack what was asked for into one file: of one stream its pack, of a gaming day all of them with one verifier."""
    asked = progress.asked
    stretches = [wanted(each["stream"], each["first"], each["last"]) for each in asked["stretches"]]
    events = sum(each.last - each.first + 1 for each in stretches)
    progress.expect(events)
    files = ((pack_name(each.code, each.first, each.last), packed(each, progress.advance)) for each in stretches)
    if len(stretches) == 1:
        (only,), ((name, chunks),) = stretches, files
        file = progress.file(name, ZIP, chunks)
        what = f"events {only.first:,} to {only.last:,} of stream {only.code}"
    else:
        file = progress.file(f"{the_property().code}-{asked['day']}.zip", ZIP, bundle(files, verifier()))
        what = f"{len(stretches):,} streams, {events:,} events"
    if asked["day"] is not None:
        what = f"gaming day {asked['day']}: {what}"
    return {"ok": True, "summary": f"{what}; {file.size:,} bytes, SHA-256 {file.sha256}", "events": events}


PACK = JobKind(
    name="pack",
    title="Pack for taking away",
    roles=frozenset({AUDITOR, CONTROLLER}),
    run=pack_chosen,
    started_on="packs",
    for_each=True,
    reads_elsewhere=True,
)
