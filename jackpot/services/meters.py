"""The meters of a link while one batch is settled: read under the stream's lock, written once (ARCHITECTURE §3)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from accounting.services.copying import RowsAstray
from accounting.statements import execute
from jackpot.models import Hit, HitStep, Link
from jackpot.rules.lifetime import Lifetime, bring
from jackpot.rules.meter import Meter
from jackpot.rules.progressive import LevelMovement


@dataclass(slots=True)
class LinkMeters:
    """A link's meters and lifetime counts, carried from round to round. All counts are whole cents or pieces."""

    link_id: int
    link: str
    next_hit: int
    levels: dict[str, int]
    values: dict[str, Meter]
    wagers: dict[str, int]
    hits: dict[str, int]
    wins_cents: dict[str, int]
    lifetime: dict[str, Lifetime]
    detected: list[Hit] = field(default_factory=list)

    def apply(
        self,
        *,
        settlement: Mapping[str, Any],
        meters: Mapping[str, Meter],
        contributions: Iterable[LevelMovement],
        wagers: int,
        sequence: int,
        dealt_at: datetime,
        detected_at: datetime,
    ) -> None:
        """Take over the meters as a settled round left them, and detect its hits. `wagers`: those it accepted."""
        self.values.update(meters)
        bring(self.lifetime, contributions)
        self.next_hit += len(settlement["awards"])
        for code in self.levels:
            self.wagers[code] += wagers
        for award in settlement["awards"]:
            code = award["level"]
            self.hits[code] += 1
            self.wins_cents[code] += award["paid_cents"]
            seed = award["seed"]
            self.detected.append(
                Hit(
                    link_id=self.link_id,
                    number=int(award["hit"].rpartition("-")[2]),
                    level_id=self.levels[code],
                    sequence=sequence,
                    order=award["order"],
                    table=settlement["table"],
                    round=settlement["round"],
                    seat=award["seat"],
                    hand=award["hand"],
                    share_ppm=award["share_ppm"],
                    meter_before_cents=award["meter_before_cents"],
                    paid_cents=award["paid_cents"],
                    meter_after_cents=award["meter_after_cents"],
                    seed_reserve_cents=seed["reserve_cents"],
                    seed_house_cents=seed["house_cents"],
                    seed_overflow_cents=seed["overflow_cents"],
                    dealt_at=dealt_at,
                    detected_at=detected_at,
                )
            )

    def write(self, *, sequence: int) -> None:
        """Write every meter as it stands after stream sequence `sequence`, and the hits detected since it was read."""
        rows = [
            (
                self.levels[code], sequence,
                meter.value_cents, meter.residual_millionths,
                meter.reserve_cents, meter.reserve_residual_millionths,
                meter.overflow_cents, meter.overflow_residual_millionths,
                self.wagers[code], self.hits[code], self.wins_cents[code],
                lifetime.contributed_millionths, lifetime.reserved_millionths, lifetime.overflowed_millionths,
            )
            for code, meter in self.values.items()
            for lifetime in (self.lifetime[code],)
        ]  # fmt: skip
        for level_id, *row in rows:
            if not execute(WRITE_METER, [*row, level_id, level_id], kept=True):
                raise RowsAstray(f"a meter of link {self.link} was not written after sequence {sequence}")
        if self.detected:
            Hit.objects.bulk_create(self.detected)
            HitStep.objects.bulk_create(
                HitStep(hit=hit, state=HitStep.State.DETECTED, at=hit.detected_at, by="settlement")
                for hit in self.detected
            )
            Link.objects.filter(pk=self.link_id).update(next_hit=self.next_hit)


# Found from the end of its index, as the ledger's rows are.
WRITE_METER = """
    UPDATE jackpot_meter SET sequence = %s, value_cents = %s, residual_millionths = %s,
        reserve_cents = %s, reserve_residual_millionths = %s,
        overflow_cents = %s, overflow_residual_millionths = %s,
        wagers = %s, hits = %s, wins_cents = %s,
        contributed_millionths = %s, reserved_millionths = %s, overflowed_millionths = %s
    WHERE ctid = (SELECT ctid FROM jackpot_meter WHERE level_id <= %s ORDER BY level_id DESC LIMIT 1) AND level_id = %s
    RETURNING level_id
"""
READ_METERS = """
    SELECT link.id, link.code, link.next_hit, level.code, level.id,
        meter.value_cents, meter.residual_millionths, meter.reserve_cents, meter.reserve_residual_millionths,
        meter.overflow_cents, meter.overflow_residual_millionths, meter.wagers, meter.hits, meter.wins_cents,
        meter.contributed_millionths, meter.reserved_millionths, meter.overflowed_millionths
    FROM jackpot_link link JOIN jackpot_level level ON level.link_id = link.id
        CROSS JOIN LATERAL (
            SELECT * FROM jackpot_meter newest WHERE newest.level_id <= level.id ORDER BY newest.level_id DESC LIMIT 1
        ) AS meter
    WHERE link.stream_id = %s AND meter.level_id = level.id ORDER BY level.id
"""


READ_ALL = """
    SELECT link.stream_id, level.code,
        meter.value_cents, meter.residual_millionths, meter.reserve_cents, meter.reserve_residual_millionths,
        meter.overflow_cents, meter.overflow_residual_millionths
    FROM jackpot_link link JOIN jackpot_level level ON level.link_id = link.id
        JOIN jackpot_meter meter ON meter.level_id = level.id
"""
MOVE_ON = """
    UPDATE jackpot_meter meter SET sequence = moved.sequence
    FROM unnest(%s::bigint[], %s::bigint[]) AS moved (stream_id, sequence)
        JOIN jackpot_link link ON link.stream_id = moved.stream_id JOIN jackpot_level level ON level.link_id = link.id
    WHERE meter.level_id = level.id
"""


def of_every_link() -> dict[int, dict[str, Meter]]:
    """The meters of every link by its stream and their levels, of one moment."""
    found: dict[int, dict[str, Meter]] = {}
    for stream_id, level, *parts in execute(READ_ALL):
        found.setdefault(stream_id, {})[level] = Meter(*parts)
    return found


def move_on(sequences: Mapping[int, int]) -> None:
    """Say of the meters of every link that they stand, as they are, after this event of its stream."""
    execute(MOVE_ON, [list(sequences), list(sequences.values())])


def read(stream_id: int) -> LinkMeters | None:
    """The meters of the link on a stream, None where the stream is a table's own. The caller holds the stream's lock."""
    rows = execute(READ_METERS, [stream_id], kept=True)
    if not rows:
        return None
    link_id, link, next_hit = rows[0][:3]
    return LinkMeters(
        link_id=link_id,
        link=link,
        next_hit=next_hit,
        levels={row[3]: row[4] for row in rows},
        values={row[3]: Meter(*row[5:11]) for row in rows},
        wagers={row[3]: row[11] for row in rows},
        hits={row[3]: row[12] for row in rows},
        wins_cents={row[3]: int(row[13]) for row in rows},
        lifetime={row[3]: Lifetime(*map(int, row[14:17])) for row in rows},
    )
