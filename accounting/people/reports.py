"""The access log: who came in, what was done to people, keys and tokens, and who looked at winners."""

from collections.abc import Iterator
from datetime import timedelta
from heapq import merge
from typing import Final

from accounting.day_queries import began_on
from accounting.people import queries
from accounting.reporting.shape import CONTROL, MOMENT, Asked, Column, Parameter, Report, Row
from accounting.rules.roles import AUDITOR, CONTROLLER


def _access(asked: Asked) -> Iterator[Row]:
    first, end = began_on(asked.first), began_on(asked.last + timedelta(days=1))
    person = asked.get("person")
    sources = (queries.signed_in, queries.signed_out, queries.acts_of_access)
    found = merge(*(source(first, end) for source in sources), key=lambda each: each.at)
    for one in found:
        if person is None or person in (one.who, one.about):
            yield one.at, one.what, one.who, one.about, one.origin, one.detail


def _wrong(asked: Asked) -> list[str]:
    """Wrong passwords that count against somebody now; a right one forgives them."""
    return [f"Wrong passwords that count now: {each}." for each in queries.wrong_passwords()]


ACCESS: Final = Report(
    code="access",
    title="Access log",
    purpose="Who signed in and out, what was done to people, keys and tokens, and who looked at sealed winners",
    group=CONTROL,
    roles=frozenset({AUDITOR, CONTROLLER}),
    parameters=(Parameter(name="person", title="Person"),),
    columns=(
        Column(name="at", title="When", kind=MOMENT),
        Column(name="what", title="What"),
        Column(name="who", title="Who"),
        Column(name="about", title="About"),
        Column(name="origin", title="From"),
        Column(name="detail", title="Detail"),
    ),
    rows=_access,
    remarks=_wrong,
)

REPORTS: Final = (ACCESS,)
