"""What every wager of every table came to over some gaming days, beside what its odds say (REQUIREMENTS §8.8, R101)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

import msgspec

from accounting.book_queries import first_of, last_of
from accounting.queries import streams
from accounting.statements import execute
from jackpot.queries import link_paytables
from jackpot.rules.paytable import read as read_paytable
from jackpot.rules.probability import NoProbability
from tables.models import Table, TableTerms
from tables.odds import EditionOdds, NoOdds, WagerOdds, of_edition
from tables.odds.progressive import ProgressiveOdds, of_paytable
from tables.odds.theory import NOTHING, UNKNOWN, Metered, Staked, Theory, bet_of, odds_of
from tables.rules.game import PROGRESSIVE
from tables.rules.games import GAMES

ROUNDS_AT_ONCE = 2_000
BASE = "base"
ENVY = "envy"
COVER_ALL = "cover_all"
"""Its odds go by the players dealt in; a dealer's hand, which no settlement names, is left out."""
OWN_TERMS = {"ante_bonus_odds": 0, "ace_two_consecutive": False}
"""Terms of a table that odds go by, as they are where nobody chose."""

ROUNDS = """
    SELECT round.table_id, round.terms_id, round.settlement, voided.sequence IS NOT NULL
    FROM tables_round round
    LEFT JOIN tables_voidedround voided ON voided.stream_id = round.stream_id AND voided.sequence = round.sequence
    WHERE round.stream_id = %s AND round.sequence BETWEEN %s AND %s AND round.gaming_date BETWEEN %s AND %s
        AND round.outcome = 'settled'
"""
STAKES = """
    SELECT settlement FROM tables_round WHERE stream_id = %s AND sequence BETWEEN %s AND %s AND outcome = 'settled'
"""


class _Line(msgspec.Struct):
    wager: str
    stake_cents: int
    result: str
    paid_cents: int


class _Envy(msgspec.Struct):
    paid_cents: int


class _Seat(msgspec.Struct):
    lines: list[_Line]
    envy: list[_Envy]


class _Seed(msgspec.Struct):
    reserve_cents: int
    house_cents: int
    overflow_cents: int


class _Award(msgspec.Struct):
    level: str
    paid_cents: int
    seed: _Seed


class _Meter(msgspec.Struct):
    link: str
    level: str
    after_cents: int


class _Settled(msgspec.Struct):
    players: int
    seats: list[_Seat]
    awards: list[_Award]
    meters: list[_Meter]

    def meters_at_the_awards(self) -> dict[str, int]:
        """What each level showed when the first award's turn came, in whole cents."""
        found = {meter.level: meter.after_cents for meter in self.meters}
        for award in self.awards:
            seed = award.seed
            found[award.level] += award.paid_cents - seed.reserve_cents - seed.house_cents - seed.overflow_cents
        return found


_decoder = msgspec.json.Decoder(_Settled)


@dataclass(slots=True)
class Wagered:
    """One wager of a table under one edition: how many, what was staked and handed back, in whole cents; and the theory."""

    table: str
    game: str
    wager: str
    edition: str
    wagers: int = 0
    handle_cents: int = 0
    paid_cents: int = 0
    theory: Theory = NOTHING

    @property
    def hold_cents(self) -> int:
        """What the house kept."""
        return self.handle_cents - self.paid_cents


@dataclass(slots=True)
class Statistics:
    """Every wager of every table, and how many rounds were left out because people voided them."""

    wagers: list[Wagered]
    rounds: int
    voided: int


Place = tuple[Wagered, Staked | None]
"""Where a line is added: what its wager came to, and the first stakes under its odds where it is one."""


@dataclass(slots=True)
class _TableSum:
    """What is added up of one table while rounds pass: by wager and edition, and by the odds that each was made under."""

    code: str
    game: str
    decks: int
    sums: dict[tuple[str, str], Wagered] = field(default_factory=dict)
    staked: list[tuple[Wagered, WagerOdds | None, Staked]] = field(default_factory=list)
    metered: dict[str, Metered | None] = field(default_factory=dict)
    places: dict[tuple[int, str, int], Place] = field(default_factory=dict)

    def of(self, wager: str, edition: str) -> Wagered:
        """What a wager came to so far."""
        found = self.sums.get((wager, edition))
        if found is None:
            found = self.sums[wager, edition] = Wagered(self.code, self.game, wager, edition)
        return found

    def place(self, terms: TableTerms, wager: str, players: int) -> Place:
        """Where the lines of a wager are added that is made under these terms, and for Cover All by so many players."""
        key = (terms.pk, wager, players)
        if key not in self.places:
            self.places[key] = self._place(terms, wager, players)
        return self.places[key]

    def _place(self, terms: TableTerms, wager: str, players: int) -> Place:
        base = GAMES[self.game].base_wagers
        editions = {offered.wager: offered.edition.code for offered in terms.paytables.all()}
        is_base = wager in base or wager not in editions  # an ante bonus is paid with the base wager
        edition = editions[BASE if is_base else wager]
        odds = _odds(edition)
        bet = bet_of(odds, wager) if odds is not None and is_base else None
        each_has_its_own = odds is not None and any("bet" in each.case for each in odds.wagers)
        if not is_base or (each_has_its_own and bet is None):
            name = wager
        else:
            name = bet or BASE
        sums = self.of(name, edition)
        if name == BASE and wager != base[0]:
            return sums, None  # a raise: the odds are in units of the first wager
        facts = (
            OWN_TERMS | terms.terms | {"decks": self.decks, "wager": wager, "players": players, "dealer_hand": False}
        )
        staked = Staked()
        self.staked.append((sums, None if odds is None else odds_of(odds, facts), staked))
        return sums, staked


def over(first: date, last: date, *, table: str | None = None) -> Statistics:
    """All tables over the gaming days from one to another, or the one that is named; read a run of rounds at a time."""
    tables = {row.pk: _TableSum(row.code, row.game, row.decks) for row in Table.objects.order_by("code")}
    terms = {row.pk: row for row in TableTerms.objects.prefetch_related("paytables__edition")}
    odds, rounds, voided = _LinkOdds(), 0, 0
    for table_id, terms_id, settlement, is_voided in _rounds(first, last):
        known = tables[table_id]
        if table is not None and known.code != table:
            continue
        rounds, voided = rounds + 1, voided + is_voided
        if not is_voided:
            _add(known, terms[terms_id], _decoder.decode(settlement), odds)
    found = [wagered for known in tables.values() for wagered in _with_theory(known)]
    return Statistics(found, rounds, voided)


@dataclass(frozen=True, slots=True)
class TableHold:
    """What a table held of its handle, envy aside, and what its odds say that it should have; whole cents."""

    table: str
    wagers: int = 0
    handle_cents: int = 0
    hold_cents: int = 0
    theory: Theory = NOTHING


def by_table(found: Statistics) -> list[TableHold]:
    """What every table that took wagers held, all its wagers together."""
    sums: dict[str, TableHold] = {}
    for wagered in found.wagers:
        if wagered.wager != ENVY:
            before = sums.get(wagered.table, TableHold(wagered.table))
            sums[wagered.table] = TableHold(
                wagered.table,
                before.wagers + wagered.wagers,
                before.handle_cents + wagered.handle_cents,
                before.hold_cents + wagered.hold_cents,
                before.theory.plus(wagered.theory),
            )
    return [hold for hold in sums.values() if hold.handle_cents]


def progressive_stakes(stream_id: int, after: int, through: int) -> tuple[int, int]:
    """The progressive wagers of rounds after one event of a link's stream up to another that stand: how many, whole cents."""
    count = cents = 0
    for run in range(after + 1, through + 1, ROUNDS_AT_ONCE):
        for (settlement,) in execute(STAKES, [stream_id, run, min(run + ROUNDS_AT_ONCE - 1, through)]):
            for seat in _decoder.decode(settlement).seats:
                for line in seat.lines:
                    if line.wager == PROGRESSIVE and line.result != "void":
                        count, cents = count + 1, cents + line.stake_cents
    return count, cents


def _rounds(first: date, last: date) -> Iterator[tuple[int, int, bytes, bool]]:
    for stream_id, _, _ in streams():
        begins, ends = first_of(first, stream_id), last_of(last, stream_id)
        for run in range(begins, ends + 1, ROUNDS_AT_ONCE):
            yield from execute(ROUNDS, [stream_id, run, min(run + ROUNDS_AT_ONCE - 1, ends), first, last])


def _add(known: _TableSum, terms: TableTerms, settled: _Settled, odds: _LinkOdds) -> None:
    """One round: every line that stands goes to its wager, its first stake to the odds that it was made under."""
    progressives = 0
    link = settled.meters[0].link if settled.meters else ""
    for seat in settled.seats:
        for line in seat.lines:
            wager = line.wager
            if line.result == "void":
                continue
            if wager == PROGRESSIVE:
                progressives += 1
                sums = known.of(PROGRESSIVE, link)
                sums.wagers += 1
            else:
                sums, staked = known.place(terms, wager, settled.players if wager == COVER_ALL else 0)
                if staked is not None:
                    sums.wagers += 1
                    staked.add(line.stake_cents)
            sums.handle_cents += line.stake_cents
            sums.paid_cents += line.paid_cents
        for envy in seat.envy:
            known.of(ENVY, link).paid_cents += envy.paid_cents
    if progressives:
        if link not in known.metered:
            of_link = odds.of(link)
            known.metered[link] = None if of_link is None else Metered(of_link)
        metered = known.metered[link]
        if metered is not None:
            metered.add(progressives, settled.meters_at_the_awards())


def _with_theory(known: _TableSum) -> list[Wagered]:
    """The wagers of a table in the order of play, each with what it should have come to."""
    for sums, odds, staked in known.staked:
        sums.theory = sums.theory.plus(staked.theory(odds))
    for link, metered in known.metered.items():
        known.of(PROGRESSIVE, link).theory = UNKNOWN if metered is None else metered.theory
        if (ENVY, link) in known.sums or (metered is not None and metered.envy):
            known.of(ENVY, link).theory = UNKNOWN if metered is None else metered.envy_theory
    order = (BASE, *GAMES[known.game].base_wagers, *GAMES[known.game].side_wagers, PROGRESSIVE, ENVY)

    def place(each: Wagered) -> tuple[int, str, str]:
        return order.index(each.wager.partition(", ")[0]) if each.wager in order else 0, each.wager, each.edition

    return sorted(known.sums.values(), key=place)


def _odds(edition: str) -> EditionOdds | None:
    """The odds of a published edition; None where nobody counted it (a floor's own paytable)."""
    try:
        return of_edition(edition)
    except NoOdds:
        return None


class _LinkOdds:
    """The odds of links' paytables, each counted when it is first asked for; a link's paytable never changes."""

    def __init__(self) -> None:
        self._paytables = link_paytables()
        self._known: dict[str, ProgressiveOdds | None] = {}

    def of(self, link: str) -> ProgressiveOdds | None:
        """Those of one link; None for a game that they are not known of."""
        if link not in self._known:
            try:
                self._known[link] = of_paytable(read_paytable(self._paytables[link]))
            except NoProbability:
                self._known[link] = None
        return self._known[link]
