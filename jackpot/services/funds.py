"""Balances that stand behind links, on record; a link that falls short of what it owes is closed for new wagers (R84).

Nothing of this is on the way of a round: what is owed is looked at when a balance is recorded, and every few seconds beside it.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog
from django.db import transaction

from accounting.queries import unpaid_on
from accounting.rules.acts import ActRefused
from accounting.rules.events import FUNDS
from accounting.services import ledger
from jackpot.fund_queries import Funds, funds, terms_now
from jackpot.rules.decision import Act, Decision
from jackpot.rules.state import OPEN
from jackpot.services import acts
from jackpot.services.under_lock import done_at

log = structlog.get_logger()
SERVICE = "the service"


def foresee(act: Act, *, at: datetime) -> Decision:
    """What recording a balance would come to as the link stands, without recording it. Raises ActRefused."""
    return acts.decide(_brought(act, acts.stream_of(act.subject), at=at))


def record(act: Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Record a balance inside the caller's transaction: the stream and the sequence of its event.

    What is unpaid is read while the stream is held. `more` is kept with its cause. Raises ActRefused where it cannot be done.
    """
    stream = ledger.lock_stream(acts.stream_of(act.subject))
    act, at = done_at(act, [stream], at)
    return acts.perform(_brought(act, stream.pk, at=at), at=at, **more)


def _brought(act: Act, stream_id: int, *, at: datetime) -> Act:
    """The act with what it is decided by: what is won and not handed over, and whether what is owed must be covered."""
    unpaid = unpaid_on([stream_id]).get(stream_id, 0)
    return replace(act, payload={**act.payload, "unpaid_cents": unpaid, "required": terms_now(at).required})


def watch(*, at: datetime) -> list[str]:
    """Close every open link that owes more by now than the balance recorded last; their codes.

    The event is the record of that very balance once more: by what is owed now it falls short.
    """
    if not terms_now(at).required:
        return []
    return [each.link for each in funds(at) if _must_close(each, at) and _close(each.link, at)]


def _must_close(each: Funds, at: datetime) -> bool:
    """Whether a link falls short and takes wagers, now or from when it was decided that it opens again."""
    return each.falls_short and (each.is_open or acts.state_of(each.link, at) == OPEN)


def _close(link: str, at: datetime) -> bool:
    """Record a link's balance once more; False where somebody else did something about it just now."""
    try:
        with transaction.atomic():
            stream = ledger.lock_stream(acts.stream_of(link))
            each = next(one for one in funds(at) if one.link == link)
            if not _must_close(each, at) or each.balance_cents is None or each.as_of is None:
                return False
            act = Act(FUNDS, link, at.isoformat(), {"balance_cents": each.balance_cents, "as_of": each.as_of})
            _, sequence = record(act, at=at, by=SERVICE, reason="what is owed exceeds the balance recorded last")
    except ActRefused:
        return False
    log.warning("funds_short", link=link, stream=stream.code, sequence=sequence)
    return True
