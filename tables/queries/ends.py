"""What rows show of envy payouts that ended and rounds that were voided, for whoever compares them with their acts."""

from datetime import datetime

from accounting.statements import execute
from tables.models import EnvyEnd, VoidedRound

# Every step of an act has its row, as a replay of it compares: where an act has no more rows than steps, none is astray.
STRAY_END = """
    SELECT astray.what, stream.code, astray.event FROM (
        SELECT 'envy' AS what, stream_id, event, count(*) AS rows FROM tables_envyend GROUP BY stream_id, event
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


def envy_end_shown(stream_id: int, sequence: int, line: int) -> tuple[str, int, datetime, str, str] | None:
    """How an envy payout ended: its state, the act's sequence, when, by whom, the note; None while it is owed."""
    found = EnvyEnd.objects.filter(stream_id=stream_id, sequence=sequence, line=line)
    return found.values_list("state", "event", "at", "by", "note").first()


def void_shown(stream_id: int, sequence: int) -> tuple[int, datetime, str, str] | None:
    """How a settled round was voided: the act's sequence, when, by whom, the note; None where it was not."""
    found = VoidedRound.objects.filter(stream_id=stream_id, sequence=sequence)
    return found.values_list("event", "at", "by", "note").first()
