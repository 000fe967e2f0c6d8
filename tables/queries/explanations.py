"""How a payout was reached: cards, hand, paytable row, meter, ledger entries and hash proof (SPEC §10)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from accounting.event_queries import event_shown, transfers_of
from accounting.queries import contributed
from accounting.slips.queries import signatures
from accounting.statements import execute
from jackpot.hits_on_record import hit_and_the_one_before
from jackpot.queries import edition_of, link_definition
from jackpot.rules.meter import MILLION
from tables.models import Payout
from tables.queries import payouts

if TYPE_CHECKING:
    from jackpot.models import Hit

# All that a payout's explanation needs of its round and its terms in one look: an explanation was a dozen of them.
DETAIL = """
    SELECT payout.stream_id, payout.sequence, payout.line, payout.seat, payout.kind, payout.wager, payout.level_id,
        round.settlement, terms.id, terms.seats, terms.minimum_cents, terms.maximum_cents, terms.terms::text,
        tabl.link_paytable_id
    FROM tables_payout payout
    JOIN tables_round round ON round.stream_id = payout.stream_id AND round.sequence = payout.sequence
    JOIN tables_tableterms terms ON terms.id = round.terms_id
    JOIN tables_table tabl ON tabl.id = terms.table_id
    WHERE payout.stream_id = (SELECT id FROM accounting_stream WHERE code = %s)
        AND payout.sequence = %s AND payout.line = %s
"""
# The edition of the wager, or of the base wager where the wager has none of its own.
EDITION = """
    SELECT edition.code, edition.digest, edition.definition::text FROM tables_tablepaytable offered
    JOIN tables_wageredition edition ON edition.id = offered.edition_id
    WHERE offered.terms_id = %s AND offered.wager IN (%s, 'base') ORDER BY offered.wager = 'base' LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Detail:
    """A payout's row with the settlement of its round and the terms its table was under; amounts in whole cents."""

    stream_id: int
    sequence: int
    line: int
    seat: int
    kind: str
    wager: str
    level_id: int | None
    settlement: bytes
    terms_id: int
    seats: int
    minimum_cents: int
    maximum_cents: int
    terms: str
    link_paytable_id: int | None


def explanation(shown: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    """Everything from the cards to the ledger for one payout, as `payouts` shows it; `message` is its round's message."""
    key = payouts.parse_id(shown["id"])
    assert key is not None, "the payout was shown"
    payout = Detail(*execute(DETAIL, key)[0])
    settlement = msgspec.json.decode(payout.settlement)
    seat = next(seat for seat in settlement["seats"] if seat["seat"] == payout.seat)
    line = next((line for line in seat["lines"] if line["wager"] == payout.wager), None)
    dealt = next(dealt for dealt in message["seats"] if dealt["seat"] == payout.seat)
    award = next((award for award in settlement["awards"] if award["seat"] == payout.seat), None)
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
        "paytable": _paytable(payout),
        "limit": seat["limit"] if payout.kind == Payout.Kind.BASE else None,
        "meter": _meter(payout, award, settlement) if payout.kind == Payout.Kind.LEVEL and award else None,
        "terms": {
            "id": payout.terms_id,
            "seats": payout.seats,
            "minimum_cents": payout.minimum_cents,
            "maximum_cents": payout.maximum_cents,
            **msgspec.json.decode(payout.terms),
        },
        "ledger": transfers_of(payout.stream_id, payout.sequence),
        "proof": event_shown(payout.stream_id, payout.sequence),
        "signatures": signatures(shown["slip"]),
    }


def _envy(seat: dict[str, Any], settlement: dict[str, Any], payout: Detail) -> list[dict[str, Any]]:
    """The neighbour's hit that this payout is envy for, with its award.

    Two neighbours may hold the same hand: a seat's envy payouts stand in the order of its envy entries, and an entry
    says which award it is for. Entries of the first rules edition name the seat alone, which hits once in a round.
    """
    by_seat = {award["seat"]: award for award in settlement["awards"]}
    by_order = {award["order"]: award for award in settlement["awards"]}
    earlier = Payout.objects.filter(
        stream_id=payout.stream_id, sequence=payout.sequence, seat=payout.seat, kind=payout.kind, line__lt=payout.line
    )
    envy = seat["envy"][earlier.count()]
    award = by_order[envy["order"]] if "order" in envy else by_seat[envy["from_seat"]]
    return [{**envy, "hit": award["hit"]}]


def _paytable(payout: Detail) -> dict[str, Any] | None:
    """The edition the line was paid by, whole, so that the row can be found in what was in force."""
    if payout.wager == "progressive":
        edition = edition_of(payout.link_paytable_id or 0)
        return _edition(edition.code, bytes(edition.digest), edition.definition)
    for code, digest, definition in execute(EDITION, [payout.terms_id, payout.wager]):
        return _edition(code, digest, msgspec.json.decode(definition))
    return None


def _edition(code: str, digest: bytes, definition: Any) -> dict[str, Any]:
    return {"edition": code, "digest": digest.hex(), "definition": definition}


RESIDUAL_AT = "SELECT settlement FROM tables_round WHERE stream_id = %s AND sequence = %s"


def _residual(settlement: dict[str, Any], level: str) -> int:
    """The fraction of a cent that a round left on a level; an award does not touch it."""
    return next((row["residual_millionths"] for row in settlement["meters"] if row["level"] == level), 0)


def _wagers(
    payout: Detail, award: dict[str, Any], settlement: dict[str, Any], previous: "Hit | None"
) -> dict[str, Any]:
    """What the contributions since the last hit are made of: so many wagers of one amount at one rate, to the millionth.

    Empty where the rate changed in between or something else moved the meter: then, as where some of them went to the
    overflow, only their sum can be told.
    """
    level = award["level"]
    opened = link_definition(payout.stream_id)
    if opened is None or opened.editions > 1:
        return {}
    terms = next(row for row in opened.definition["levels"] if row["code"] == level)
    left, residual = 0, 0
    if previous is None:
        left = opened.initial.get(level, terms["reset_cents"])
    else:
        left = previous.meter_after_cents
        for (recorded,) in execute(RESIDUAL_AT, [payout.stream_id, previous.sequence]):
            residual = _residual(msgspec.json.decode(recorded), level)
    now = award["meter_before_cents"] * MILLION + _residual(settlement, level)
    contributed = now - left * MILLION - residual
    wager_cents, rate_ppm = opened.paytable_definition["wager_cents"], terms["rate_ppm"]
    count, over = divmod(contributed, wager_cents * rate_ppm) if rate_ppm else (0, 1)
    if over or count < 0:
        return {}
    return {
        "wagers": count,
        "wager_cents": wager_cents,
        "rate_ppm": rate_ppm,
        "contributed_millionths": contributed,
        "carried_in_millionths": residual,
        "carried_out_millionths": _residual(settlement, level),
    }


def _meter(payout: Detail, award: dict[str, Any], settlement: dict[str, Any]) -> dict[str, Any]:
    """The level before and after, and what was contributed to it since its last hit (REQUIREMENTS R31)."""
    hit, previous = hit_and_the_one_before(payout.level_id or 0, payout.sequence, award["order"])
    after = previous.sequence if previous else 0
    owner = f"{hit.link.code}/{hit.level.code}"
    contributed_cents, rounds, ran_over = contributed(payout.stream_id, owner, after=after, upto=payout.sequence)
    # What is neither left by the hit before nor contributed since, people moved: an adjustment, a rejection, a void.
    moved_cents = award["meter_before_cents"] - contributed_cents - previous.meter_after_cents if previous else 0
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
            "contributed_cents": contributed_cents,
            "rounds": rounds,
            "moved_cents": moved_cents,
            **({} if ran_over or moved_cents else _wagers(payout, award, settlement, previous)),
        },
    }
