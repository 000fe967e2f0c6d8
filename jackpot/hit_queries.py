"""Reading hits: what was detected, how far each has come, and why one was first (CONTRACT §5, SPEC §6.6, §6.7)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from accounting.queries import the_property
from accounting.rules.gaming_day import began
from accounting.rules.parameters import Parameters
from accounting.statements import execute
from jackpot.models import Hit, HitStep
from jackpot.queries import award_row
from jackpot.rules.hits import APPROVED, OVER, UNCLAIMED, hit_name, hit_number

STATES = tuple(HitStep.State.values)
MOST = 1_000

LAST_STEP = HitStep.objects.filter(hit=OuterRef("pk")).order_by("-id").values("state")[:1]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of hits, newest first; `next` is the cursor of the one after."""

    items: list[dict[str, Any]]
    next: str | None


def _hits() -> QuerySet[Hit]:
    hits = Hit.objects.select_related("link", "level").prefetch_related("steps")
    return hits.annotate(state=Subquery(LAST_STEP))


def hit_shown(hit: Hit) -> dict[str, Any]:
    """A hit in the form of CONTRACT §5."""
    steps = sorted(hit.steps.all(), key=lambda step: step.pk)
    return {
        "hit": hit.reference,
        "link": hit.link.code,
        "level": hit.level.code,
        "order": hit.number,
        "table": hit.table,
        "round": hit.round,
        "seat": hit.seat,
        "hand": hit.hand,
        "share_ppm": hit.share_ppm,
        "meter_before_cents": hit.meter_before_cents,
        "paid_cents": hit.paid_cents,
        "meter_after_cents": hit.meter_after_cents,
        "state": steps[-1].state,
        "steps": [{"state": step.state, "at": step.at, "by": step.by, "note": step.note} for step in steps],
        "detected_at": hit.detected_at,
    }


def hit_named(name: str) -> dict[str, Any] | None:
    """A hit by its name, zeros left out or not; None where there is none."""
    hit = _named(name)
    return None if hit is None else hit_shown(hit)


def _named(name: str) -> Hit | None:
    named = hit_number(name)
    return None if named is None else _hits().filter(link__code=named[0], number=named[1]).first()


def page(filters: Mapping[str, str], *, limit: int = 100) -> Page:
    """A page of hits, newest first. BadParameter names the filter at fault."""
    given = Parameters({name: text for name, text in filters.items() if text})
    hits = _hits()
    for name, read in FILTERS.items():
        if name in given:
            hits = hits.filter(read(given, name))
    found = list(hits.order_by("-id")[: limit + 1])
    return Page([hit_shown(hit) for hit in found[:limit]], str(found[limit - 1].pk) if len(found) > limit else None)


AT_ONCE = 500


BOOKED_BETWEEN = """
    EXISTS (SELECT FROM accounting_event event JOIN jackpot_link won ON won.stream_id = event.stream_id
        WHERE won.id = jackpot_hit.link_id AND event.sequence = jackpot_hit.sequence AND event.gaming_date BETWEEN %s AND %s)
"""


def booked_between(
    first: date, last: date, *, link: str | None = None, state: str | None = None
) -> Iterator[tuple[dict[str, Any], tuple[int, int, int]]]:
    """The hits whose rounds were booked from one gaming day to another in the order of their detection, a run at a time.

    Each with what reset its level: from the reserve, by the house, from overflow, in whole cents.
    """
    found = _hits().extra(where=[BOOKED_BETWEEN], params=[first, last]).order_by("id")
    if link is not None:
        found = found.filter(link__code=link)
    if state is not None:
        found = found.filter(state=state)
    after = 0
    while run := list(found.filter(id__gt=after)[:AT_ONCE]):
        for hit in run:
            yield hit_shown(hit), (hit.seed_reserve_cents, hit.seed_house_cents, hit.seed_overflow_cents)
        after = run[-1].pk


def pending(*, limit: int = 200) -> tuple[list[dict[str, Any]], int]:
    """Hits that have not ended, the oldest first, and how many there are altogether."""
    waiting = _hits().filter(~Exists(HitStep.objects.filter(hit=OuterRef("pk"), state__in=OVER)))
    return [hit_shown(hit) for hit in waiting.order_by("id")[:limit]], waiting.count()


AWARDS = """
    SELECT link.code, hit.number, hit.paid_cents, last.state, coalesce(event.original_date, event.gaming_date)
    FROM jackpot_hit hit
    JOIN jackpot_link link ON link.id = hit.link_id
    JOIN accounting_event event ON event.stream_id = link.stream_id AND event.sequence = hit.sequence
    CROSS JOIN LATERAL (
        SELECT state FROM jackpot_hitstep step WHERE step.hit_id = hit.id ORDER BY step.id DESC LIMIT 1
    ) AS last
    WHERE last.state = ANY(%s) AND hit.paid_cents > 0
    ORDER BY hit.id
"""
HANDED_OVER = (APPROVED, UNCLAIMED)


def awards_to_hand_over(states: Sequence[str] = HANDED_OVER) -> list[tuple[str, int, str, date]]:
    """Awards that are approved or unclaimed, of one cent at least: name, whole cents, state, the gaming day of the game.

    Or those in other states.
    """
    return [(hit_name(link, number), *more) for link, number, *more in execute(AWARDS, [list(states)])]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hit stands in the order of its link: its sequence on the stream, and which award of its round it was."""

    hit: str
    sequence: int
    order: int
    table: str
    round: str
    seat: int
    dealt_at: datetime
    detected_at: datetime


@dataclass(frozen=True, slots=True)
class Order:
    """A hit's place with those of its link just before and after it."""

    before: Place | None
    this: Place
    after: Place | None

    @property
    def places(self) -> list[Place]:
        """The places that there are, in their order."""
        return [place for place in (self.before, self.this, self.after) if place is not None]


def order_of(name: str) -> Order | None:
    """Why a hit has its number: what was settled on its stream before and after it; None where there is no such hit."""
    hit = _named(name)
    if hit is None:
        return None
    beside = {
        each.number: _place(each)
        for each in _hits().filter(link=hit.link, number__range=(hit.number - 1, hit.number + 1))
    }
    return Order(beside.get(hit.number - 1), beside[hit.number], beside.get(hit.number + 1))


def _place(hit: Hit) -> Place:
    return Place(
        hit.reference, hit.sequence, hit.order, hit.table, hit.round, hit.seat, hit.dealt_at, hit.detected_at
    )  # fmt: skip


def _began(day: date) -> datetime:
    home = the_property()
    return began(day, zone=ZoneInfo(home.time_zone), starts=home.gaming_day_starts)


def _from(given: Parameters, name: str) -> Q:
    """From a gaming day or a moment of detection on."""
    first = given.day_or_moment(name)
    assert first is not None, "asked for only where it was given"
    return Q(detected_at__gte=first if isinstance(first, datetime) else _began(first))


def _to(given: Parameters, name: str) -> Q:
    """To a gaming day, the whole of it, or to a moment of detection, this one included."""
    last = given.day_or_moment(name)
    assert last is not None, "asked for only where it was given"
    if isinstance(last, datetime):
        return Q(detected_at__lte=last)
    return Q(detected_at__lt=_began(last + timedelta(days=1)))


FILTERS: dict[str, Callable[[Parameters, str], Q]] = {
    "link": lambda given, name: Q(link__code=given.text(name)),
    "state": lambda given, name: Q(state=given.choice(name, STATES)),
    "table": lambda given, name: Q(table=given.text(name)),
    "from": _from,
    "to": _to,
    "cursor": lambda given, name: Q(id__lt=given.whole(name, least=1)),
}


def last_hits(*, link: str | None = None, before: int | None = None, limit: int = 12) -> list[dict[str, Any]]:
    """The latest awards, newest first, with the state each has reached; `before` is the key of the last one seen."""
    hits = Hit.objects.select_related("link", "level").prefetch_related("steps").order_by("-id")
    if link is not None:
        hits = hits.filter(link__code=link)
    if before is not None:
        hits = hits.filter(id__lt=before)
    return [
        award_row(hit)
        | {"id": hit.pk, "detected_at": hit.detected_at, "state": max(hit.steps.all(), key=lambda step: step.pk).state}
        for hit in hits[:limit]
    ]


WINS = """
    SELECT link.code, link.code || '-' || lpad(hit.number::text, greatest(6, length(hit.number::text)), '0'),
        level.code, hit."table", hit.hand, hit.paid_cents
    FROM jackpot_link link CROSS JOIN LATERAL (
        SELECT newest.* FROM jackpot_hit newest WHERE newest.link_id = link.id ORDER BY newest.number DESC LIMIT %(most)s
    ) hit
    JOIN jackpot_level level ON level.id = hit.level_id
    WHERE NOT EXISTS (SELECT FROM jackpot_hitstep step WHERE step.hit_id = hit.id AND step.state <> 'detected')
        AND (%(link)s::text IS NULL OR link.code = %(link)s)
    ORDER BY link.code, hit.number DESC
"""


MOST_WINS = 50
"""So many of a link's latest hits are looked at: what is older and still not acknowledged stands in the queue of hits."""


def wins_unacknowledged(link: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """The latest hits that nobody has verified or rejected yet, by link, newest first, as a sign displays them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for code, hit, level, table, hand, paid_cents in execute(WINS, {"most": MOST_WINS, "link": link}):
        win = {"hit": hit, "level": level, "table": table, "hand": hand, "paid_cents": paid_cents}
        found.setdefault(code, []).append(win)
    return found


DETECTED = """
    SELECT coalesce(sum(hit.paid_cents), 0) FROM jackpot_hit hit WHERE NOT EXISTS (
        SELECT FROM jackpot_hitstep step WHERE step.hit_id = hit.id AND step.state IN ('approved', 'rejected'))
"""


def detected_cents() -> int:
    """What hits come to that are neither approved nor rejected yet, in whole cents: owed, but not to be paid yet."""
    ((found,),) = execute(DETECTED)
    return int(found)
