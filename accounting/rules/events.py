"""The closed lists of the ledger: what kinds of events there are, and for what reasons money moves (SPEC §9, CONTRACT §7)."""

from typing import Final

OPENED: Final = "opened"
ROUND: Final = "round"
LOCK: Final = "lock"
INSTALLED: Final = "table.install"
CONTACT: Final = "table.contact"
FUNDS: Final = "link.funds"
MOVES: Final = ("table.join", "table.leave")
"""A table's moves between its own stream and its link's: one event on each of the two, in one commit."""

KINDS: Final = (
    OPENED,
    ROUND,
    LOCK,
    INSTALLED,
    "link.open",
    "link.suspend",
    "link.resume",
    "link.close",
    "link.terms",
    FUNDS,
    "table.join",
    "table.leave",
    "table.open",
    "table.close",
    "table.terms",
    CONTACT,
    "level.adjust",
    "level.transfer",
    "hit.verify",
    "hit.approve",
    "hit.pay",
    "hit.reject",
    "hit.unclaimed",
    "hit.remit",
    "hit.withhold",
    "payout.pay",
    "payout.unclaimed",
    "payout.remit",
    "payout.withhold",
    "round.release",
    "round.correct",
    "round.void",
    "lock.void",
    "day.close",
)
"""A message's kind, or the act's name. A link that is filed is opened by that act: its stream begins with it."""

UNASKED: Final = {
    OPENED: "Opened",
    ROUND: "Round",
    LOCK: "Lock",
    INSTALLED: "Table installed",
    CONTACT: "Contact with a table",
    "hit.withhold": "Tax of a hit withheld",
    "payout.withhold": "Tax of envy withheld",
}
"""What people call the kinds that nobody asks for: messages, what is installed, and what follows from an act."""

TERMS: Final = (
    OPENED,
    INSTALLED,
    "link.open",
    "link.suspend",
    "link.resume",
    "link.close",
    "link.terms",
    FUNDS,
    "table.join",
    "table.leave",
    "table.open",
    "table.close",
    "table.terms",
    CONTACT,
)
"""The kinds that introduce editions of terms, states or membership: what a stream knows is folded from them."""

REASONS: Final = (
    "wager",
    "fixed_pay",
    "envy",
    "contribution",
    "award",
    "seed",
    "top_up",
    "overflow",
    "rejection",
    "void",
    "payment",
    "unclaimed",
    "withholding",
    "transfer",
    "correction",
    "boost",
    "malfunction",
    "over_limit",
    "reserve_release",
    "regulator_order",
    "revenue_booked",
)
