"""How a payout was reached: cards, hand, paytable row, meter, ledger entries and hash proof (SPEC §10)."""

from typing import Any

import msgspec
from django.db import connection

from accounting.queries import event_shown, transfers_of
from jackpot.queries import edition_of, hit_and_the_one_before
from tables.models import Payout, Round, TableTerms
from tables.queries import payouts

SINCE_LAST_HIT = """
    SELECT coalesce(sum(transfer.amount_cents), 0), count(DISTINCT transfer.sequence)
    FROM accounting_transfer transfer
    JOIN accounting_account account ON account.id = transfer.credit_id
    WHERE transfer.stream_id = %s AND transfer.sequence > %s AND transfer.sequence <= %s
        AND transfer.reason = 'contribution' AND account.kind = 'liability' AND account.owner = %s
"""


def explanation(payout_id: str, message: dict[str, Any]) -> dict[str, Any]:
    """Everything from the cards to the ledger for one payout that exists; `message` is its round's message."""
    shown = payouts.by_id(payout_id)
    key = payouts.parse_id(payout_id)
    assert shown is not None and key is not None, "the caller has looked the payout up"
    payout = Payout.objects.get(stream__code=key[0], sequence=key[1], line=key[2])
    round = Round.objects.get(stream_id=payout.stream_id, sequence=payout.sequence)
    settlement = msgspec.json.decode(bytes(round.settlement))
    seat = next(seat for seat in settlement["seats"] if seat["seat"] == payout.seat)
    line = next((line for line in seat["lines"] if line["wager"] == payout.wager), None)
    dealt = next(dealt for dealt in message["seats"] if dealt["seat"] == payout.seat)
    award = next((award for award in settlement["awards"] if award["seat"] == payout.seat), None)
    terms = TableTerms.objects.select_related("table__link__paytable").get(pk=round.terms_id)
    return {
        "payout": shown,
        "cards": {
            "own": dealt["cards"],
            "community": message["community"],
            "dealer": message.get("dealer", []),
            "folded": dealt.get("folded"),
        },
        "hand": seat["hand"],
        "line": None if payout.kind == Payout.Kind.ENVY else line,
        "envy": _envy(seat, settlement, payout) if payout.kind == Payout.Kind.ENVY else None,
        "paytable": _paytable(terms, payout),
        "limit": seat["limit"] if payout.kind == Payout.Kind.BASE else None,
        "meter": _meter(payout, award) if payout.kind == Payout.Kind.LEVEL and award else None,
        "terms": {
            "id": terms.pk,
            "seats": terms.seats,
            "minimum_cents": terms.minimum_cents,
            "maximum_cents": terms.maximum_cents,
            **terms.terms,
        },
        "ledger": transfers_of(payout.stream_id, payout.sequence),
        "proof": event_shown(payout.stream_id, payout.sequence),
        "signatures": [],
    }


def _envy(seat: dict[str, Any], settlement: dict[str, Any], payout: Payout) -> list[dict[str, Any]]:
    """The neighbour's hit that this payout is envy for, with its award.

    Two neighbours may hold the same hand: a seat's envy payouts stand in the order of its envy entries.
    """
    awards = {award["seat"]: award for award in settlement["awards"]}
    earlier = Payout.objects.filter(
        stream_id=payout.stream_id, sequence=payout.sequence, seat=payout.seat, kind=payout.kind, line__lt=payout.line
    )
    envy = seat["envy"][earlier.count()]
    return [{**envy, "hit": awards[envy["from_seat"]]["hit"]}]


def _paytable(terms: TableTerms, payout: Payout) -> dict[str, Any] | None:
    """The edition the line was paid by, whole, so that the row can be found in what was in force."""
    if payout.wager == "progressive":
        edition: Any = edition_of(terms.table.link_paytable_id or 0)
    else:
        rows = {row.wager: row.edition for row in terms.paytables.select_related("edition")}
        edition = rows.get(payout.wager, rows.get("base"))
        if edition is None:
            return None
    return {"edition": edition.code, "digest": bytes(edition.digest).hex(), "definition": edition.definition}


def _meter(payout: Payout, award: dict[str, Any]) -> dict[str, Any]:
    """The level before and after, and what was contributed to it since its last hit (REQUIREMENTS R31)."""
    hit, previous = hit_and_the_one_before(payout.level_id or 0, payout.sequence, award["order"])
    after = previous.sequence if previous else 0
    with connection.cursor() as cursor:
        owner = f"{hit.link.code}/{hit.level.code}"
        cursor.execute(SINCE_LAST_HIT, [payout.stream_id, after, payout.sequence, owner])
        contributed_cents, rounds = cursor.fetchone()
    return {
        "link": hit.link.code,
        "level": hit.level.code,
        "share_ppm": award["share_ppm"],
        "before_cents": award["meter_before_cents"],
        "paid_cents": award["paid_cents"],
        "after_cents": award["meter_after_cents"],
        "seed": award["seed"],
        "hit": hit.reference,
        "since_last_hit": {
            "hit": previous.reference if previous else None,
            "left_cents": previous.meter_after_cents if previous else None,
            "after_sequence": after,
            "to_sequence": payout.sequence,
            "contributed_cents": int(contributed_cents),
            "rounds": rounds,
        },
    }
