"""Leading a difference between a level's ledger and its meter back to the event where it began (REQUIREMENTS R102).

Every result has the meters after its event, every event its movements. Walked side by side from an event where the two
agreed, the first where they do not is the one to look at; where they agree to the end, the meter itself was changed.
"""

from collections import defaultdict
from dataclasses import dataclass

import msgspec

from accounting import reconciliation
from accounting.event_queries import recorded_of, transfers_between
from accounting.queries import stream_row
from accounting.reconciliation import PARTS
from accounting.rules.accounts import of_level
from accounting.services.ledger import account_ids
from jackpot.queries import meters_shown
from tables.queries.record import results_at

AT_ONCE = 500
SHOWN = {"display": "after_cents", "reserve": "reserve_cents", "overflow": "overflow_cents"}


@dataclass(frozen=True, slots=True)
class Drift:
    """Where ledger and meter of a part of a level part company, in whole cents of the part after the event.

    `sequence` is None where they agree after every event and the meter's own row shows something else. `by_cents` is what
    the meter shows more than the ledger.
    """

    level: str
    part: str
    stream: str
    sequence: int | None
    kind: str
    subject: str
    ledger_cents: int
    meter_cents: int

    @property
    def by_cents(self) -> int:
        """What the meter shows more (or less) than the ledger."""
        return self.meter_cents - self.ledger_cents

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        if self.sequence is None:
            return (
                f"{self.part} of {self.level} agrees with the ledger after every event of {self.stream};"
                " the meter itself was changed afterwards"
            )
        return (
            f"{self.part} of {self.level} and the ledger part company at event {self.sequence} of {self.stream}"
            f" ({self.kind} {self.subject})"
        )


def find(level: str, stream_id: int, *, after: int = -1) -> Drift | None:
    """The first event after one of them at which a part of a level differs from its movements; None where none does.

    `after` is an event at which the two agree, the one that an earlier day was closed with, say; -1 is before the opening.
    """
    _, stream, following, *_ = stream_row(stream_id)
    link, _, code = level.partition("/")
    ids = account_ids()
    accounts = {ids[of_level(link, code, kind)]: part for part, kind in PARTS.items()}
    ledger = dict.fromkeys(PARTS, 0)
    if after >= 0:
        for part in PARTS:
            ledger[part] = reconciliation.net(reconciliation.movements(level, stream_id, -1, after), part)
    shown = dict(ledger)
    for first in range(after + 1, following, AT_ONCE):
        last = min(first + AT_ONCE, following) - 1
        moved: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        for sequence, _, debit, credit, cents, _ in transfers_between(stream_id, first, last):
            for account, amount in ((debit, -cents), (credit, cents)):
                if account in accounts:
                    moved[sequence][accounts[account]] += amount
        for sequence, part, cents in reconciliation.booked_elsewhere(level, stream_id, first - 1, last):
            moved[sequence][part] += cents
        for sequence, _, result in results_at(stream_id, range(first, last + 1)):
            for part, cents in moved[sequence].items():
                ledger[part] += cents
            for row in _meters(result, link, code):
                shown = {part: row[key] for part, key in SHOWN.items()}
            for part in PARTS:
                if ledger[part] != shown[part] and (sequence or _meters(result, link, code)):
                    kind, subject = recorded_of(stream_id, sequence)
                    return Drift(level, part, stream, sequence, kind, subject, ledger[part], shown[part])
    meter = meters_shown(stream_id).get(code)
    if meter is not None:
        now = dict(zip(PARTS, (meter[1], meter[3], meter[5]), strict=True))
        for part in PARTS:
            if ledger[part] != now[part]:
                return Drift(level, part, stream, None, "", "", ledger[part], now[part])
    return None


def _meters(result: bytes | None, link: str, level: str) -> list[dict[str, int]]:
    rows = msgspec.json.decode(result or b"{}").get("meters", [])
    return [row for row in rows if isinstance(row, dict) and (row["link"], row["level"]) == (link, level)]
