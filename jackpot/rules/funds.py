"""The balance that stands behind a link, and what becomes of the link where it is less than is owed (REQUIREMENTS R84).

Owed are all parts of its levels and what was won and not handed over yet. A link whose balance falls short is suspended at once,
and not resumed before a balance is recorded that suffices. What is unpaid and whether it must be covered the act brings along:
whoever verifies compares the one with the transfers of the stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from accounting.rules.acts import FLAG, MOMENT, WHOLE, ActRefused, Field, Shape
from accounting.rules.events import FUNDS
from accounting.rules.moments import at_nanoseconds, nanoseconds
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.levels import MOST_CENTS
from jackpot.rules.links import link_of
from jackpot.rules.meter import MILLION
from jackpot.rules.parts import PARTS, held
from jackpot.rules.state import CLOSED, FILED, OPEN, SUSPENDED, LinkState

BALANCE: Final = Field("balance_cents", WHOLE, "Balance", least=0, most=MOST_CENTS, money=True)
AS_OF: Final = Field("as_of", MOMENT, "As of", help="when the account stood so, by the bank's statement")
ASKED: Final = Shape(FUNDS, "link", (BALANCE, AS_OF))
"""What people say."""
RECORDED: Final = Shape(
    FUNDS,
    "link",
    (
        BALANCE,
        AS_OF,
        Field("unpaid_cents", WHOLE, "Won and not handed over", least=0, most=10**18, money=True),
        Field("required", FLAG, "Must be covered"),
    ),
)
"""What the service has recorded of it."""


def owed_cents(link: LinkState, unpaid_cents: int) -> int:
    """What a link owes in whole cents: display, reserve and overflow of every level, and what was won and not handed over."""
    return unpaid_cents + sum(held(meter, part) // MILLION for meter in link.meters.values() for part in PARTS)


def record(act: Act, links: Mapping[str, LinkState]) -> Decision:
    """The balance is on record; where it must cover what is owed and does not, the link is suspended from now on.

    An opening that was decided for later is undone with it: nothing opens a link that falls short by itself.
    """
    payload = RECORDED.read(act.payload)
    link, at = link_of(act.subject, links), nanoseconds(act.at)
    if nanoseconds(payload["as_of"]) > at:
        raise ActRefused("invalid_value", "/payload/as_of", "As of: a moment that has come is expected")
    if link.state(at) in (FILED, CLOSED):
        raise ActRefused("wrong_state", detail=f"link {link.code} is {link.state(at)}: it owes nothing")
    owed = owed_cents(link, payload["unpaid_cents"])
    short = payload["required"] and payload["balance_cents"] < owed
    change = {
        "what": FUNDS, "link": link.code, "balance_cents": payload["balance_cents"], "owed_cents": owed, "short": short,
        "counts_from": act.at,
    }  # fmt: skip
    changes = [change]
    if short:
        opens = [act.at] if link.state(at) == OPEN else []
        opens += [_written(since) for since, state in link.states if since > at and state == OPEN]
        changes += [
            {"what": "link.state", "link": link.code, "state": SUSPENDED, "counts_from": moment} for moment in opens
        ]
    return done(act, [], link.rows({}, at), changes=changes)


def _written(moment: int) -> str:
    """A moment in nanoseconds as it is written, to the very nanosecond: what counts from it must not count from before."""
    return f"{at_nanoseconds(moment):%Y-%m-%dT%H:%M:%S}.{moment % 1_000_000_000:09d}+00:00"
