"""Settling a round: from a message, the game as its table plays it and the meters to a settlement (SPEC §5-§8, CONTRACT §3).

The order is always the same: irregularities, held reasons, contributions, then the seats from the dealer's right to his
left - which is descending seat number - with their awards, then envy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from jackpot.rules import progressive
from jackpot.rules.meter import Meter
from jackpot.rules.progressive import Envy, Hit, LevelMovement, Locked
from tables.rules import held, irregularities, limit
from tables.rules.game import PROGRESSIVE, Game, Outcome
from tables.rules.irregularities import Ruling
from tables.rules.lines import Line, lost, returned, won
from tables.rules.message import RoundMessage, Seat
from tables.rules.settlement import SeatEntry, Settlement

SEAT_NUMBER = attrgetter("seat")


@dataclass(slots=True)
class Settled:
    """What a round comes to.

    `outcome` is settled, void or held; `settlement` is the JSON object of CONTRACT §3; `meters` are the link's meters
    after the round, by level; `movements` what contributions brought, one per level, or took back of a lock's; none of a
    held round.
    """

    outcome: str
    settlement: Settlement
    meters: dict[str, Meter]
    movements: tuple[LevelMovement, ...]


def settle(
    message: RoundMessage,
    game: Game[Any],
    meters: Mapping[str, Meter],
    extra_reasons: Iterable[str] = (),
    override: Collection[str] = (),
    locked: Locked | None = None,
) -> Settled:
    """Settle one round; `meters` are those of the table's link as they stand, by level, with what its lock has put in.

    `extra_reasons` are held reasons that only the caller can know (link_not_open, table_closed, lock_mismatch,
    processing_error); they take their printed place among the others. `override` are those that people have looked into:
    where no other applies the round is settled and its `reasons` name them (DECISIONS A66, A67).
    """
    ruling = irregularities.judge(message.irregularities, game.misdeal_voids, game.void_the_round)
    found = held.reasons(message, game, ruling)
    found.update(extra_reasons)
    reasons: list[str] = []
    if found:
        if left := found.difference(override):
            return Settled("held", _settlement(message, "held", held.ordered(left)), dict(meters), ())
        reasons = held.ordered(found)
    if ruling.void_codes:
        return _void_round(message, game, ruling, meters, reasons, locked)
    return _settled_round(message, game, ruling, meters, reasons, locked)


@dataclass(frozen=True, slots=True)
class Staked:
    """What a round brings to its link, whatever the meters show: its accepted stakes, how many, and whether a share is hit.

    `held` is the first reason for which it would wait instead, None where it would not.
    """

    held: str | None = None
    stakes_cents: int = 0
    wagers: int = 0
    hits: bool = False


NOTHING_STAKED: Final = Staked()


def staked(message: RoundMessage, game: Game[Any], extra_reasons: Iterable[str] = ()) -> Staked:
    """What `settle` comes to of a round without a lock, as far as that does not depend on meters; no line is written."""
    ruling = irregularities.judge(message.irregularities, game.misdeal_voids, game.void_the_round)
    found = held.reasons(message, game, ruling)
    found.update(extra_reasons)
    if found:
        return Staked(held.ordered(found)[0])
    if ruling.void_codes or game.link is None:
        return NOTHING_STAKED
    void_seats, forfeited, pays = ruling.void_seats, ruling.forfeited, game.progressive_pays
    stakes_cents = wagers = 0
    hits = False
    for seat in message.seats:
        stake_cents = seat.wagers.get(PROGRESSIVE)
        if stake_cents is None or seat.seat in void_seats:
            continue
        stakes_cents += stake_cents
        wagers += 1
        if seat.seat not in forfeited and (seat.folded is None or game.survives_fold):
            rank = game.five_card_class(seat, message)
            pay = None if rank is None else pays[rank]
            hits = hits or (pay is not None and pay.row.pays == "share")
    return Staked(None, stakes_cents, wagers, hits)


def held_alone(message: RoundMessage, reason: str) -> Settlement:
    """The settlement of a round that is held for one reason, without judging it."""
    return _settlement(message, "held", held.ordered([reason]))


def _settlement(message: RoundMessage, outcome: str, reasons: list[str]) -> Settlement:
    return {
        "awards": [],
        "meters": [],
        "outcome": outcome,
        "players": len(message.seats),
        "reasons": reasons,
        "round": message.round,
        "seats": [],
        "table": message.table,
    }


def voided(
    message: RoundMessage, game: Game[Any], meters: Mapping[str, Meter], locked: Locked | None = None
) -> Settled:
    """A held round that people call off: every stake back, whatever the wager is called (DECISIONS A68)."""
    settlement = _settlement(message, "void", ["voided"])
    settlement["seats"] = [
        _entry(game, seat.seat, None, "void", _every_stake_back(seat, game), [])
        for seat in sorted(message.seats, key=SEAT_NUMBER, reverse=True)
    ]
    return _nothing_accepted(settlement, game, meters, locked)


def _nothing_accepted(
    settlement: Settlement, game: Game[Any], meters: Mapping[str, Meter], locked: Locked | None
) -> Settled:
    """A void round contributes nothing; what its lock had brought goes back (DECISIONS A51)."""
    link = game.link
    if link is None:
        return Settled("void", settlement, dict(meters), ())
    if locked is None:
        settlement["meters"] = progressive.meter_rows(link, meters, meters)
        return Settled("void", settlement, dict(meters), ())
    after, movements = progressive.contributions(link, meters, 0, locked)
    settlement["meters"] = progressive.meter_rows(link, meters, after, -locked.stakes_cents)
    return Settled("void", settlement, after, movements)


def _every_stake_back(seat: Seat, game: Game[Any]) -> list[Line]:
    unknown = [wager for wager in seat.wagers if wager not in game.line_order]
    return game.lines_back(seat) + [returned(wager, seat.wagers[wager], "void") for wager in unknown]


def _void_round(
    message: RoundMessage,
    game: Game[Any],
    ruling: Ruling,
    meters: Mapping[str, Meter],
    reasons: list[str],
    locked: Locked | None,
) -> Settled:
    """Every stake back, nothing contributed, nothing awarded (SPEC §8, DECISIONS A10)."""
    settlement = _settlement(message, "void", [*reasons, *ruling.void_codes])
    settlement["seats"] = [
        _entry(game, seat.seat, None, "void", game.void_lines(seat, message, ruling), [])
        for seat in sorted(message.seats, key=SEAT_NUMBER, reverse=True)
    ]
    return _nothing_accepted(settlement, game, meters, locked)


def _settled_round(
    message: RoundMessage,
    game: Game[Any],
    ruling: Ruling,
    meters: Mapping[str, Meter],
    reasons: list[str],
    locked: Locked | None,
) -> Settled:
    settlement = _settlement(message, "settled", reasons)
    seats = sorted(message.seats, key=SEAT_NUMBER, reverse=True)
    void_seats, forfeited = ruling.void_seats, ruling.forfeited
    deal = game.deal(message, ruling)
    link = game.link
    stakes_cents = 0
    envious: set[int] = set()
    hits: list[Hit] = []
    played: list[tuple[Seat, Outcome]] = []
    for seat in seats:
        number = seat.seat
        if number in void_seats:
            played.append((seat, Outcome(None, None, "void", game.void_lines(seat, message, ruling))))
            continue
        outcome = game.outcome(seat, deal)
        stake_cents = seat.wagers.get(PROGRESSIVE)
        if number in forfeited:
            _forfeit(seat, outcome, game)
            # Contributions stand: the wager was accepted, and lost (seed 002 section 10(c)).
            stakes_cents += stake_cents or 0
        elif stake_cents is not None and link is not None:
            stakes_cents += stake_cents
            envious.add(number)
            hit = _progressive(seat, stake_cents, outcome, game)
            if hit is not None:
                hits.append(hit)
        played.append((seat, outcome))

    movements: tuple[LevelMovement, ...] = ()
    if link is not None:
        after, movements = progressive.contributions(link, meters, stakes_cents, locked)
        if hits:
            settlement["awards"] = awards = progressive.awards(link, after, hits)
            paid = {award["seat"]: award["paid_cents"] for award in awards}
            for seat, outcome in played:
                if seat.seat in paid:
                    _pay_share(outcome.lines[-1], paid[seat.seat])
        if locked is not None:
            stakes_cents -= locked.stakes_cents
        settlement["meters"] = progressive.meter_rows(link, meters, after, stakes_cents)
    else:
        after = dict(meters)
    settlement["seats"] = [
        _entry(
            game,
            seat.seat,
            outcome.hand,
            outcome.result,
            outcome.lines,
            progressive.envy(hits, seat.seat) if hits and seat.seat in envious else [],
        )
        for seat, outcome in played
    ]
    return Settled("settled", settlement, after, movements)


def _progressive(seat: Seat, stake_cents: int, outcome: Outcome, game: Game[Any]) -> Hit | None:
    """Add the line of a progressive wager; the hit it makes, if any, is still to be paid (SPEC §6.5, §6.7)."""
    pay = None
    if outcome.rank is not None and (seat.folded is None or game.survives_fold):
        pay = game.progressive_pays[outcome.rank]
    if pay is None:
        outcome.lines.append(lost(PROGRESSIVE, stake_cents))
        return None
    if pay.row.pays != "share":
        outcome.lines.append(pay.line(PROGRESSIVE, stake_cents))
        return None
    outcome.lines.append(won(PROGRESSIVE, stake_cents, pay.odds, 0, 0, pay.name))
    return Hit(seat.seat, outcome.hand or "", pay.row)


def _pay_share(line: Line, paid_cents: int) -> None:
    """Enter the award in the line that hit: the whole sum, the stake is gone."""
    line["win_cents"] = line["paid_cents"] = paid_cents


def _forfeit(seat: Seat, outcome: Outcome, game: Game[Any]) -> None:
    """A player who gave information away loses every wager not yet taken back; the hand is still named (SPEC §8)."""
    wagers, withdrawn = seat.wagers, seat.withdrawn
    outcome.lines = [
        returned(wager, wagers[wager], "void") if wager in withdrawn else lost(wager, wagers[wager])
        for wager in game.line_order
        if wager in wagers
    ]
    outcome.result = "fold" if outcome.result == "fold" else "lose"


def _entry(
    game: Game[Any], number: int, hand: str | None, result: str, lines: list[Line], envy: list[Envy]
) -> SeatEntry:
    """A seat of the settlement; what it was paid is every line and every envy (CONTRACT §3)."""
    limited = game.limited
    staked_cents = paid_cents = uncapped_cents = 0
    for line in lines:
        staked_cents += line["stake_cents"]
        paid_cents += line["paid_cents"]
        win_cents = line["win_cents"]
        if win_cents and line["wager"] in limited:
            uncapped_cents += win_cents
    capped = None
    if game.limit_cents is not None:
        capped = limit.apply(game.limit_cents, uncapped_cents, limited, lines)
        paid_cents -= capped["withheld_cents"]
    for each in envy:
        paid_cents += each["paid_cents"]
    return {
        "envy": envy,
        "hand": hand,
        "limit": capped,
        "lines": lines,
        "paid_cents": paid_cents,
        "result": result,
        "seat": number,
        "staked_cents": staked_cents,
    }
