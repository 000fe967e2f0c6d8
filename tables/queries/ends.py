"""What rows show of envy payouts that ended and rounds that were voided, for whoever compares them with their acts."""

from datetime import datetime
from typing import Any

import msgspec

from accounting.statements import execute
from tables.models import EnvyEnd, EnvyUnclaimed, VoidedRound
from tables.rules.precedents import envy_lines

# Every step of an act has its row, as a replay of it compares: where an act has no more rows than steps, none is astray.
STRAY_END = """
    SELECT astray.what, stream.code, astray.event FROM (
        SELECT 'envy' AS what, stream_id, event, count(*) AS rows FROM (
            SELECT stream_id, event FROM tables_envyend UNION ALL SELECT stream_id, event FROM tables_envyunclaimed
        ) AS envy GROUP BY stream_id, event
        UNION ALL SELECT 'round', stream_id, event, count(*) FROM tables_voidedround GROUP BY stream_id, event
    ) AS astray
    LEFT JOIN accounting_stream stream ON stream.id = astray.stream_id
    LEFT JOIN accounting_document document ON document.stream_id = astray.stream_id AND document.sequence = astray.event
    WHERE astray.rows <> (
        SELECT count(*) FROM jsonb_array_elements(
            coalesce(convert_from(document.result, 'UTF8')::jsonb -> 'steps', '[]'::jsonb)) AS step
        WHERE step ->> 'what' = astray.what)
    ORDER BY 1, 2, 3 LIMIT 1
"""


def stray_end() -> tuple[str, str | None, int] | None:
    """Ends of envy payouts or voids of rounds that their act did not make: `envy` or `round`, its stream and sequence."""
    found = execute(STRAY_END)
    return found[0] if found else None


# By the index of what is owed: envy is as rare as hits.
OWED = """
    SELECT stream.code, payout.sequence, payout.line, tabl.code, round.reference, payout.seat, payout.hand, payout.cents,
        event.recorded_at, CASE WHEN EXISTS (
            SELECT FROM tables_envyunclaimed waits WHERE waits.stream_id = payout.stream_id
                AND waits.sequence = payout.sequence AND waits.line = payout.line) THEN 'unclaimed' ELSE 'owed' END,
        round.settlement
    FROM tables_payout payout
    JOIN accounting_stream stream ON stream.id = payout.stream_id
    JOIN tables_table tabl ON tabl.id = payout.table_id
    JOIN tables_round round ON round.stream_id = payout.stream_id AND round.sequence = payout.sequence
    JOIN accounting_event event ON event.stream_id = payout.stream_id AND event.sequence = payout.sequence
    WHERE payout.kind = 'envy' AND NOT EXISTS (
        SELECT FROM tables_envyend ended WHERE ended.stream_id = payout.stream_id
            AND ended.sequence = payout.sequence AND ended.line = payout.line)
    ORDER BY payout.counts_at, payout.stream_id, payout.sequence, payout.line LIMIT %s
"""


def envy_owed(*, limit: int = 200) -> list[dict[str, Any]]:
    """Envy payouts that are owed, the oldest first: name, where each stands, its seat, hand, cents, since when it is owed,
    and whether it is `owed` or already `unclaimed`."""
    keys = ("stream", "sequence", "line", "table", "round", "seat", "hand", "cents", "recorded_at", "state")
    found = []
    for *row, settlement in execute(OWED, [limit]):
        names = {line: name for name, line in envy_lines(msgspec.json.decode(settlement)).items()}
        found.append(dict(zip(keys, row, strict=True)) | {"name": names[row[2]]})
    return found


def envy_end_shown(stream_id: int, sequence: int, line: int) -> tuple[str, int, datetime, str, str] | None:
    """How an envy payout ended: its state, the act's sequence, when, by whom, the note; None while it is owed."""
    found = EnvyEnd.objects.filter(stream_id=stream_id, sequence=sequence, line=line)
    return found.values_list("state", "event", "at", "by", "note").first()


def envy_unclaimed_shown(stream_id: int, sequence: int, line: int) -> tuple[int, datetime, str, str] | None:
    """How an envy payout became unclaimed: the act's sequence, when, by whom, the note; None where it did not."""
    found = EnvyUnclaimed.objects.filter(stream_id=stream_id, sequence=sequence, line=line)
    return found.values_list("event", "at", "by", "note").first()


def void_shown(stream_id: int, sequence: int) -> tuple[int, datetime, str, str] | None:
    """How a settled round was voided: the act's sequence, when, by whom, the note; None where it was not."""
    found = VoidedRound.objects.filter(stream_id=stream_id, sequence=sequence)
    return found.values_list("event", "at", "by", "note").first()


def voided(stream_id: int, sequence: int) -> dict[str, Any] | None:
    """The void of a settled round for people: the act's sequence, when, by whom, the note; None where it stands."""
    found = void_shown(stream_id, sequence)
    return None if found is None else dict(zip(("event", "at", "by", "note"), found, strict=True))
