"""Hits beside the events that made them: what acts look up before they decide, what `verify` compares with its decision."""

from datetime import datetime

import msgspec
from django.db import connection
from django.db.models import Exists, OuterRef

from accounting.event_queries import documented
from accounting.statements import execute
from jackpot.models import Hit, HitStep, Link
from jackpot.rules.hits import OVER, HitState, hit_name, hit_number
from jackpot.rules.meter import Seed


def hit_detected(name: str) -> tuple[int, int] | None:
    """The stream and the sequence that a hit of this very name was detected at; None where there is none."""
    named = hit_number(name)
    if named is None or hit_name(*named) != name:
        return None
    found = Hit.objects.filter(link__code=named[0], number=named[1])
    return found.values_list("link__stream_id", "sequence").first()


def hit_state(name: str) -> str | None:
    """The last step of a hit as its rows show it; None where there is no hit of this name."""
    named = hit_number(name)
    steps = HitStep.objects.filter(hit__link__code=named[0], hit__number=named[1]) if named else None
    return steps.order_by("-id").values_list("state", flat=True).first() if steps is not None else None


def hit_by_reference(reference: str) -> Hit | None:
    """A hit by the link's code and its number, such as `ms-mg01-000007`."""
    named = hit_number(reference)
    if named is None:
        return None
    link, number = named
    return Hit.objects.filter(link__code=link, number=number).first()


def hits_between(stream_id: int, first: int, last: int) -> list[Hit]:
    """The hits of a link's stream from one sequence to another, in their order."""
    hits = Hit.objects.select_related("link", "level").filter(link__stream_id=stream_id, sequence__range=(first, last))
    return list(hits.order_by("sequence", "order"))


OPEN_HITS = """
    SELECT link.code, hit.number, level.code, hit.table, hit.paid_cents FROM jackpot_hit hit
    JOIN jackpot_link link ON link.id = hit.link_id JOIN jackpot_level level ON level.id = hit.level_id
    WHERE link.stream_id = %s AND hit.sequence < %s ORDER BY hit.number
"""


ENDING_HITS = ("hit.pay", "hit.reject", "hit.remit", "round.void")


def open_hits(stream_id: int, before: int) -> list[HitState]:
    """The hits of a stream's link that had not ended before a sequence, as its events say."""
    ended = set()
    for event in documented(stream_id, ENDING_HITS):
        if event.sequence < before:
            for step in msgspec.json.decode(event.result).get("steps", ()):
                if step["what"] == "hit" and step["state"] in OVER:
                    ended.add(step["name"])
    found = (
        HitState(hit_name(link, number), link, level, table, paid_cents, Seed(0, 0, 0))
        for link, number, level, table, paid_cents in execute(OPEN_HITS, [stream_id, before])
    )
    return [hit for hit in found if hit.name not in ended]


def latest_hits_between(stream_id: int, first: int, last: int, limit: int) -> tuple[list[Hit], int]:
    """The latest hits of a link's stream from one sequence to another, in their order; and how many there are in all."""
    hits = Hit.objects.filter(link__stream_id=stream_id, sequence__range=(first, last))
    found = hits.select_related("link", "level").order_by("-sequence", "-order")[:limit]
    return list(found)[::-1], hits.count()


def next_hit_before(stream_id: int, sequence: int) -> int:
    """The number that the next hit of a stream's link had before an event."""
    hits = Hit.objects.filter(link__stream_id=stream_id, sequence__lt=sequence).order_by("-sequence", "-order")
    last = hits.values_list("number", flat=True).first()
    return 1 if last is None else last + 1


def hit_and_the_one_before(level_id: int, sequence: int, order: int) -> tuple[Hit, Hit | None]:
    """The hit of an award, and the level's hit before it."""
    hit = Hit.objects.select_related("link", "level").get(level_id=level_id, sequence=sequence, order=order)
    earlier = Hit.objects.select_related("link").filter(level_id=level_id, number__lt=hit.number)
    return hit, earlier.order_by("-number").first()


# A hit takes each step once, so a step whose act is there was compared with that; a void rejects the hits of its round.
STRAY_STEP = """
    SELECT link.code, hit.number, step.state FROM jackpot_hitstep step
    JOIN jackpot_hit hit ON hit.id = step.hit_id JOIN jackpot_link link ON link.id = hit.link_id
    WHERE step.state <> 'detected' AND NOT EXISTS (
        SELECT FROM accounting_event event WHERE event.stream_id = link.stream_id AND event.kind <> 'round'
            AND event.recorded_at = step.at
            AND (event.subject = link.code || '-' || lpad(hit.number::text, greatest(6, length(hit.number::text)), '0')
                    AND event.kind = CASE step.state WHEN 'verified' THEN 'hit.verify' WHEN 'approved' THEN 'hit.approve'
                        WHEN 'paid' THEN 'hit.pay' WHEN 'rejected' THEN 'hit.reject'
                        WHEN 'unclaimed' THEN 'hit.unclaimed' WHEN 'remitted' THEN 'hit.remit' END
                OR event.subject = hit."table" || '/' || hit.round AND event.kind = 'round.void'
                    AND step.state = 'rejected'))
    ORDER BY step.id LIMIT 1
"""


def step_shown(name: str, state: str) -> tuple[datetime, str, str] | None:
    """When a hit took a step, as its row shows it, by whom, and the note; None where it shows none."""
    named = hit_number(name)
    steps = HitStep.objects.filter(hit__link__code=named[0], hit__number=named[1], state=state) if named else None
    return steps.values_list("at", "by", "note").first() if steps is not None else None


def stray_step() -> tuple[str, str] | None:
    """A step of a hit that no event made, as the hit's name and the step's state; None where there is none."""
    with connection.cursor() as cursor:
        cursor.execute(STRAY_STEP)
        row = cursor.fetchone()
    return (hit_name(row[0], row[1]), row[2]) if row else None


def hit_without_link() -> tuple[int, int] | None:
    """A hit whose link is not there: the link's id and the sequence it names; None where there is none."""
    found = Hit.objects.filter(~Exists(Link.objects.filter(pk=OuterRef("link_id"))))
    return found.order_by("id").values_list("link_id", "sequence").first()


def step_without_hit() -> int | None:
    """The id of a hit that is not there and that a step names; None where there is none."""
    found = HitStep.objects.filter(~Exists(Hit.objects.filter(pk=OuterRef("hit_id"))))
    return found.order_by("id").values_list("hit_id", flat=True).first()
