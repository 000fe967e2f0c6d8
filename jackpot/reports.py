"""The report of hits: every award of a level, from detection to payment, with what became of the meter."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from accounting.reporting.shape import (
    METERS,
    MOMENT,
    MONEY,
    PERCENT,
    WHOLE,
    Asked,
    Column,
    Foot,
    Page,
    Parameter,
    Report,
    Row,
)
from accounting.rules.roles import ACCOUNTING, AUDITOR, CONTROLLER, MANAGER
from accounting.shell.templatetags.pages import words
from jackpot import hit_queries, queries
from jackpot.rules.hits import APPROVED, PAID, REJECTED, REMITTED, VERIFIED
from jackpot.rules.meter import MILLION

GONE: Final = (PAID, REMITTED, REJECTED)


def _hits(asked: Asked) -> Iterator[Row]:
    found = hit_queries.booked_between(asked.first, asked.last, link=asked.get("link"), state=asked.get("state"))
    for hit, seeded in found:
        award, state = hit["paid_cents"], hit["state"]
        steps = {step["state"]: step for step in hit["steps"]}
        over = steps.get(state) if state in GONE else None
        by = {name: steps[name]["by"] if name in steps else None for name in (VERIFIED, APPROVED)}
        yield (
            hit["hit"], hit["level"], hit["order"], hit["detected_at"], hit["table"], hit["round"], hit["seat"],
            words(hit["hand"]), Fraction(hit["share_ppm"], MILLION), hit["meter_before_cents"],
            award, *seeded, hit["meter_after_cents"], state,
            *(award if state == each else 0 for each in GONE), 0 if state in GONE else award,
            by[VERIFIED], by[APPROVED], over["by"] if over else None, over["at"] if over else None,
        )  # fmt: skip


def _links() -> list[str]:
    return [code for code, _, _ in queries.link_keys()]


SEEDS: Final = ("seed_reserve", "seed_house", "seed_overflow")
JACKPOTS: Final = Report(
    code="jackpots",
    title="Jackpot history",
    purpose="Every hit by its number: hand and seat, the meter before and after, and who verified, approved and paid it",
    group=METERS,
    roles=frozenset({ACCOUNTING, CONTROLLER, AUDITOR, MANAGER}),
    parameters=(
        Parameter(name="link", title="Link", options=_links),
        Parameter(name="state", title="State", options=lambda: hit_queries.STATES),
    ),
    columns=(
        Column(name="hit", title="Hit", page=Page("hit-page", "hits")),
        Column(name="level", title="Level"),
        Column(name="order", title="Order", kind=WHOLE, only_in_files=True),
        Column(name="detected_at", title="Detected", kind=MOMENT),
        Column(name="table", title="Table"),
        Column(name="round", title="Round", only_in_files=True),
        Column(name="seat", title="Seat"),
        Column(name="hand", title="Hand", words=words),
        Column(name="share", title="Share", kind=PERCENT),
        Column(name="meter_before", title="Meter before", kind=MONEY),
        Column(name="award", title="Award", kind=MONEY, sums=True),
        Column(name="seed_reserve", title="Reset by reserve", kind=MONEY, sums=True, only_in_files=True),
        Column(name="seed_house", title="by the house", kind=MONEY, sums=True, only_in_files=True),
        Column(name="seed_overflow", title="by overflow", kind=MONEY, sums=True, only_in_files=True),
        Column(name="meter_after", title="Meter after", kind=MONEY),
        Column(name="state", title="State"),
        Column(name="paid", title="Paid", kind=MONEY, sums=True),
        Column(name="remitted", title="To the state", kind=MONEY, sums=True, only_in_files=True),
        Column(name="rejected", title="Rejected", kind=MONEY, sums=True),
        Column(name="owed", title="Not ended", kind=MONEY, sums=True),
        Column(name="verified_by", title="Verified by", only_in_files=True),
        Column(name="approved_by", title="Approved by", only_in_files=True),
        Column(name="ended_by", title="Ended by", only_in_files=True),
        Column(name="ended_at", title="Ended", kind=MOMENT, only_in_files=True),
    ),
    rows=_hits,
    feet=(
        Foot(
            said="the meter before, less the award, with what reset it, is the meter after",
            left=("meter_before", *SEEDS),
            right=("award", "meter_after"),
        ),
        Foot(
            said="awards are paid, remitted, rejected or not ended",
            left=("paid", "remitted", "rejected", "owed"),
            right=("award",),
        ),
    ),
)

REPORTS: Final = (JACKPOTS,)
