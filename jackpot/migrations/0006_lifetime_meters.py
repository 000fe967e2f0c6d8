"""What wagers ever brought to a level: its display, its reserve, and what the limit kept off (REQUIREMENTS R2, R4).

Of what is on record it is worked out from the results of the events, in their order: each has the meters behind it.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import migrations, models
from django.db.models import Q

MILLION = 1_000_000
CHUNK = 2_000

RESULTS = """
    SELECT event.sequence, coalesce(round.settlement, lock.result, document.result),
        round.sequence IS NOT NULL OR lock.sequence IS NOT NULL
    FROM accounting_event event
    LEFT JOIN tables_round round ON round.stream_id = event.stream_id AND round.sequence = event.sequence
    LEFT JOIN tables_lock lock ON lock.stream_id = event.stream_id AND lock.sequence = event.sequence
    LEFT JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.sequence > %s ORDER BY event.sequence LIMIT %s
"""
WRITE = """
    UPDATE jackpot_meter meter
    SET contributed_millionths = %s, reserved_millionths = %s, overflowed_millionths = %s
    FROM jackpot_level level WHERE level.id = meter.level_id AND level.link_id = %s AND level.code = %s
"""
NEVER_FALL = """
CREATE FUNCTION refuse_fallen_lifetime_meter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.wagers < OLD.wagers OR NEW.hits < OLD.hits OR NEW.wins_cents < OLD.wins_cents
        OR NEW.contributed_millionths < OLD.contributed_millionths
        OR NEW.reserved_millionths < OLD.reserved_millionths
        OR NEW.overflowed_millionths < OLD.overflowed_millionths THEN
        RAISE EXCEPTION '% of level %: a lifetime meter never falls', TG_TABLE_NAME, OLD.level_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'lifetime_meters_never_fall', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER lifetime_meters_never_fall BEFORE UPDATE ON jackpot_meter
    FOR EACH ROW EXECUTE FUNCTION refuse_fallen_lifetime_meter();
"""
MAY_FALL = """
DROP TRIGGER lifetime_meters_never_fall ON jackpot_meter;
DROP FUNCTION refuse_fallen_lifetime_meter;
"""


def work_out(apps: Any, schema_editor: Any) -> None:
    """Fill the lifetime meters of every link from its events."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT id, code, stream_id FROM jackpot_link ORDER BY id")
        for link_id, code, stream_id in cursor.fetchall():
            for level, brought in _brought(cursor, code, stream_id).items():
                cursor.execute(WRITE, [*brought, link_id, level])


def _brought(cursor: Any, code: str, stream_id: int) -> dict[str, list[int]]:
    held: dict[str, tuple[int, int]] = {}
    found: dict[str, list[int]] = {}
    after = -1
    while True:
        cursor.execute(RESULTS, [stream_id, after, CHUNK])
        rows = cursor.fetchall()
        for after, result, is_message in rows:
            if result is not None:
                _event(json.loads(bytes(result)), code, is_message, held, found)
        if len(rows) < CHUNK:
            return found


def _event(
    result: dict[str, Any], code: str, is_message: bool, held: dict[str, tuple[int, int]], found: dict[str, list[int]]
) -> None:
    for row in result.get("meters", ()):
        if row["link"] != code:
            continue
        level = row["level"]
        reserve = row["reserve_cents"] * MILLION + row["reserve_residual_millionths"]
        overflow = row["overflow_cents"] * MILLION + row["overflow_residual_millionths"]
        reserve_before, overflow_before = held.get(level, (0, 0))
        held[level] = reserve, overflow
        contributed = row["contributed_millionths"]
        if not is_message or contributed < 0:  # an act moves the parts, and a lock taken back brings nothing
            continue
        for award in result.get("awards", ()):
            if award["level"] == level:
                reserve_before -= award["seed"]["reserve_cents"] * MILLION
                overflow_before -= (award["seed"]["overflow_cents"] + award.get("revenue_cents", 0)) * MILLION
        brought = found.setdefault(level, [0, 0, 0])
        for part, millionths in enumerate((contributed, reserve - reserve_before, overflow - overflow_before)):
            brought[part] += max(millionths, 0)


class Migration(migrations.Migration):
    dependencies = [
        ("jackpot", "0005_terms_ahead"),
        ("accounting", "0008_acts_of_the_past"),
        ("tables", "0012_locks"),
    ]

    operations = [
        *(
            migrations.AddField("meter", name, models.DecimalField(decimal_places=0, default=0, max_digits=40))
            for name in ("contributed_millionths", "reserved_millionths", "overflowed_millionths")
        ),
        migrations.RunPython(work_out, migrations.RunPython.noop),
        migrations.RemoveConstraint("meter", "lifetime_meters_are_not_negative"),
        migrations.AddConstraint(
            "meter",
            models.CheckConstraint(
                condition=Q(
                    wagers__gte=0,
                    hits__gte=0,
                    wins_cents__gte=0,
                    contributed_millionths__gte=0,
                    reserved_millionths__gte=0,
                    overflowed_millionths__gte=0,
                ),
                name="lifetime_meters_are_not_negative",
            ),
        ),
        migrations.RunSQL(NEVER_FALL, MAY_FALL),
    ]
