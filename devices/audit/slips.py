"""Verifying slips: numbers without a gap, each slip what the record says of its payout, each row as the audit trail has it."""

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from accounting.event_queries import booked_as, event_shown
from accounting.rules.chain import canonical
from accounting.rules.retention import kinds
from accounting.slips import queries, trail
from accounting.slips.rules.register import slip_name
from accounting.slips.services.slips import Payable, facts_of
from devices.audit.findings import same
from jackpot.rules.hits import paid_from
from tables.rules.withholding import OF_WITHHOLDING
from tables.services import slips

TAKEN_DOWN = "take down particulars"


def verify_slips() -> int:
    """Compare every slip with its payout, and every row about slips with the audit trail; how many slips there are.

    Raises the first Difference. What was paid before there were slips has none.
    """
    missing, _ = queries.missing_numbers()
    same("slips", "numbers that no slip has", [], missing)
    count = 0
    for slip in queries.in_order():
        where = f"slip {slip_name(slip.number)} ({slip.subject})"
        facts = facts_of(slip)
        same(where, "digest of its facts", sha256(bytes(slip.facts)).digest(), bytes(slip.digest))
        expected = slips.read(slip.stream_id, slip.sequence, slip.subject)
        same(where, "what was won", canonical(expected.facts), canonical(facts["payout"]))
        same(where, "columns", _columns(expected.facts, facts["issued"], expected), queries.columns(slip))
        count += 1
    for slip, payment in queries.payments():
        where = f"slip {slip_name(slip.number)} ({slip.subject})"
        event = event_shown(slip.stream_id, payment.event)
        kind = "hit.pay" if slip.kind == "hit" else "payout.pay"
        same(where, "event that paid it", (kind, slip.subject), (event["kind"], event["subject"]))
    _withheld()
    for action in trail.ACTIONS:
        _as_on_trail(action)
    return count


def _withheld() -> None:
    """What was withheld on every slip that was paid and stands was booked by the event after its payment, and nothing else."""
    due = {
        (slip.stream_id, payment.event + 1): (
            slip_name(slip.number), OF_WITHHOLDING[slip.kind], slip.subject, paid_from(slip.method, slip.table),
            "withholding_payable", cents,
        )
        for slip, payment in queries.payments()
        if not queries.is_void(slip) and (cents := queries.withheld_on(slip))
    }  # fmt: skip
    for stream_id, sequence, *booked in booked_as(sorted(OF_WITHHOLDING.values())):
        number, *expected = due.pop((stream_id, sequence), ("", None))
        where = f"slip {number} ({booked[1]})" if number else f"tax of {booked[1]}"
        same(where, "tax that was booked", expected, booked)
    for number, *expected in due.values():
        same(f"slip {number} ({expected[1]})", "tax that was booked", expected, None)


def _columns(payout: Mapping[str, Any], issued: Mapping[str, Any], expected: Payable) -> tuple[object, ...]:
    return (
        issued["number"], expected.line, expected.kind, payout["table"], payout["link"], payout["seat"], payout["hand"],
        expected.cents, issued["method"], issued["form"], issued["by"], issued["at"], issued["gaming_date"],
        issued["override"], expected.complete, issued["replaces"],
    )  # fmt: skip


def _as_on_trail(action: str) -> None:
    """Every row of an action is on the audit trail as it is, and every one that is on the trail is there."""
    known: Counter[str] = Counter()
    subjects: dict[str, str] = {}
    for subject, digest in trail.digests(action):
        known[digest] += 1
        subjects[digest] = subject
    emptied = {now: (was, at) for now, was, at in trail.let_go()} if action == TAKEN_DOWN else {}
    for row in trail.rows(action):
        digest = trail.digest_of(row)
        if digest in emptied:
            taken_down: Any = row
            digest, at = emptied[digest]
            over = kinds()["winners"].has_passed(taken_down.at.date(), at.date())
            same(f"{action} {row}", "its term over when it was let go of", True, over)
        same(f"{action} {row}", "as the audit trail has it", True, known[digest] > 0)
        known[digest] -= 1
    gone = next((digest for digest, left in known.items() if left > 0), None)
    same("slips", f"row on the audit trail that is gone: {action}", None, gone and subjects[gone])
