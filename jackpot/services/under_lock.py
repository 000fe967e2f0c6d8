"""The moment that an act is recorded at: of the lock, not of the question that led to it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from accounting.services import ledger
from jackpot.rules.decision import Act

if TYPE_CHECKING:
    from accounting.models import Stream


def done_at(act: Act, streams: Sequence["Stream"], at: datetime) -> tuple[Act, datetime]:
    """An act asked for at a moment and the moment to record it at, once the caller holds its streams locked.

    While it waited for them other events may have been recorded: it is done after those (`ledger.moment_on`).
    """
    later = ledger.moment_on([stream.pk for stream in streams], at=at)
    return (act, at) if later == at else (replace(act, at=later.isoformat()), later)
