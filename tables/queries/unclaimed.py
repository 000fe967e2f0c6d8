"""What players have won and nobody has handed over yet: awards that are approved, envy, and what of both is unclaimed (R83)."""

from dataclasses import dataclass
from datetime import date

import msgspec

from accounting.queries import the_property
from accounting.rules.unclaimed import terms_in
from accounting.statements import execute
from jackpot.hit_queries import awards_to_hand_over
from jackpot.rules.hits import DETECTED, UNCLAIMED, VERIFIED
from tables.rules.precedents import envy_lines

# By the index of what is owed: envy is as rare as hits.
ENVY = """
    SELECT payout.line, payout.cents, waits.event IS NOT NULL, coalesce(event.original_date, event.gaming_date),
        (SELECT round.settlement FROM tables_round round
            WHERE round.stream_id = payout.stream_id AND round.sequence = payout.sequence)
    FROM tables_payout payout
    JOIN accounting_event event ON event.stream_id = payout.stream_id AND event.sequence = payout.sequence
    LEFT JOIN tables_envyunclaimed waits ON waits.stream_id = payout.stream_id
        AND waits.sequence = payout.sequence AND waits.line = payout.line
    WHERE payout.kind = 'envy' AND NOT EXISTS (
        SELECT FROM tables_envyend ended WHERE ended.stream_id = payout.stream_id
            AND ended.sequence = payout.sequence AND ended.line = payout.line)
    ORDER BY payout.counts_at, payout.stream_id, payout.sequence, payout.line
"""


NOT_AGREED = (DETECTED, VERIFIED)
"""The states of a hit that is not approved."""


@dataclass(frozen=True, slots=True)
class Owed:
    """An award or envy that is owed, in whole cents: won on a gaming day, and from when it is unclaimed and the state's."""

    what: str
    name: str
    cents: int
    state: str
    won_on: date
    unclaimed_from: date
    state_from: date

    @property
    def may_be_handed_over(self) -> bool:
        """Whether people have agreed to it: a hit that is not approved yet has to wait."""
        return self.state not in NOT_AGREED

    @property
    def is_unclaimed(self) -> bool:
        """Whether it is booked as unclaimed."""
        return self.state == UNCLAIMED

    def due(self, on: date) -> str | None:
        """The act that is due on a gaming day; None where none is yet."""
        if self.is_unclaimed:
            return f"{self.what}.remit" if on >= self.state_from else None
        return f"{self.what}.unclaimed" if on >= self.unclaimed_from else None


def owed() -> list[Owed]:
    """Everything that may be handed over, what was won first coming first."""
    found = [("hit", *award) for award in awards_to_hand_over()]
    for line, cents, waits, won_on, settlement in execute(ENVY):
        names = {place: name for name, place in envy_lines(msgspec.json.decode(settlement)).items()}
        found.append(("payout", names[line], cents, UNCLAIMED if waits else "owed", won_on))
    return sorted(map(_with_terms, found), key=lambda each: each.won_on)


def waiting() -> list[Owed]:
    """Awards that nobody has agreed to yet: they are owed, and may not be handed over."""
    return [_with_terms(("hit", *award)) for award in awards_to_hand_over(NOT_AGREED)]


def _with_terms(found: tuple[str, str, int, str, date]) -> Owed:
    terms, won_on = terms_in(the_property().jurisdiction), found[-1]
    return Owed(*found, terms.unclaimed_from(won_on), terms.state_from(won_on))
