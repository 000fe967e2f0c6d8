"""Filing a link: the first event of a stream of its own, and everything that a link has (CONTRACT §7, DECISIONS A70)."""

from datetime import datetime
from typing import Any

import msgspec

from accounting.queries import codes_in_use
from accounting.services import ledger
from jackpot.rules import links, paytable
from jackpot.rules.decision import Act, Decision, cause_of
from jackpot.rules.state import FILED, filed
from jackpot.services.links import published
from jackpot.services.shown import show_link
from jackpot.services.standing import paytable_definitions

encode = msgspec.json.Encoder(order="sorted").encode


def decide(act: Act) -> Decision:
    """What filing a link would come to, without recording it. Raises ActRefused.

    It may be on any paytable of the product and on any that was published here.
    """
    return links.file(act, {}, {code: paytable.read(rows) for code, rows in _editions().items()}, codes_in_use())


def _editions() -> dict[str, dict[str, Any]]:
    return paytable.definitions() | paytable_definitions()


def perform(act: Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Decide and record it inside the caller's transaction: the stream and the sequence of its event.

    `more` is kept with its cause: who asked, who approved, why. The paytable is kept there too, as it is at this moment: what
    the link pays is then on its own record. Raises ActRefused where it cannot be done.
    """
    ledger.hold_codes()
    decision = decide(act)
    (change,) = decision.changes
    rows = _editions()[change["definition"]["paytable"]]
    edition = paytable.read(rows)
    link = filed(change, {edition.code: edition})
    (terms,) = (terms for _, terms in link.terms)
    row = published(edition, rows, at, "link")
    for level in terms.levels:
        ledger.open_level_accounts(link.code, level.code)
    cause = encode(cause_of(act, paytable=rows, **more))
    stream = ledger.open_stream(link.code, cause=cause, result=encode(decision.result), at=at)
    show_link(terms, row, stream, link.meters, state=FILED, at=at)
    return stream.code, 0
