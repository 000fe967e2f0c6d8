"""What came of a simulated run: counts by receipt and by outcome, and the hits that were seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Hit:
    """An award as the settlement told it."""

    table: str
    round: str
    seat: int
    hand: str
    level: str
    paid_cents: int


@dataclass(slots=True)
class Tally:
    """Counts of one run. `receipts` are answers to postings, `outcomes` settlements the gateways waited for.

    `locks` are the answers to locks, which come before their rounds and are not among those.
    """

    dealt: int = 0
    meant: Counter[str] = field(default_factory=Counter)
    receipts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    held_for: Counter[str] = field(default_factory=Counter)
    hits: list[Hit] = field(default_factory=list)
    locks: Counter[str] = field(default_factory=Counter)
    posts: int = 0
    retries: int = 0
    dropped: int = 0
    queued: int | None = None
    """Messages the service says are not settled yet; None while it has not said."""
    link_hits: int | None = None
    """Hits on all links since the run began, as the service counts them."""

    def receipt(self, receipt: dict[str, Any]) -> None:
        """Count one receipt of CONTRACT §5."""
        status = str(receipt.get("status", "unknown"))
        self.receipts[status] += 1
        if status in ("refused", "reused"):
            self.refusals[str(receipt.get("code", "unknown"))] += 1

    def lock(self, receipt: dict[str, Any]) -> None:
        """Count one receipt of a lock."""
        status = str(receipt.get("status", "unknown"))
        self.locks[status] += 1
        if status in ("refused", "reused"):
            self.refusals[str(receipt.get("code", "unknown"))] += 1

    def settlement(self, settlement: dict[str, Any]) -> list[Hit]:
        """Count a settlement that was waited for; its hits."""
        outcome = str(settlement.get("outcome", "unknown"))
        self.outcomes[outcome] += 1
        if outcome == "held":
            self.held_for.update(str(reason) for reason in settlement.get("reasons", ()))
        hits = [
            Hit(
                table=str(settlement["table"]),
                round=str(settlement["round"]),
                seat=award["seat"],
                hand=award["hand"],
                level=award["level"],
                paid_cents=award["paid_cents"],
            )
            for award in settlement.get("awards", ())
        ]
        self.hits.extend(hits)
        return hits
