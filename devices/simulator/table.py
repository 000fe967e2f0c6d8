"""One Mississippi Stud table: seats that fill and empty, two decks, and the rounds dealt from them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from devices.simulator import irregularities, rig, strategy
from devices.simulator.deck import NAMES, Deck
from devices.simulator.irregularities import HELD, SETTLED, Rates
from devices.simulator.players import SKIPS_A_HABIT, Player

if TYPE_CHECKING:
    from tables.rules.table import TableTerms

GAME = "mississippi-stud"

SITS_DOWN = 0.05
"""Chance that an empty chair is taken before the next round."""

SAME_DECK_AGAIN = 1 / 2_000
"""A dealer forgets to change decks: no fault of the round, but a compliance event (SPEC §8)."""

STUB_COUNT_EVERY = 5


@dataclass(frozen=True, slots=True)
class Dealt:
    """A round as dealt: the message, when (milliseconds after the first deal), and how the service must end it."""

    table: str
    floor_round: int
    table_round: int
    at_ms: int
    message: dict[str, Any]
    meant: str
    note: str | None = None
    """The irregularity or held reason behind it, or `rig HAND`."""


class Table:
    """A table with its own stream of luck: adding or removing another table changes nothing here."""

    def __init__(self, terms: TableTerms, *, seed: int | str, prefix: str, rates: Rates) -> None:
        self.terms = terms
        self.code = terms.code
        self.rng = rng = Random(f"{seed}/{terms.code}")
        self.prefix = f"{terms.code}-{prefix}-"
        self.rounds = 0
        self.progressive_cents = terms.link.paytable.wager_cents if terms.link is not None else 0
        self.offers_bonus = "three_card_bonus" in terms.paytables
        self.offers_cover_all = "cover_all" in terms.paytables
        self.method = "shuffler" if self.offers_cover_all else rng.choice(METHODS)
        self.device = f"{_DEVICES[self.method]}-{rng.randrange(1, 10_000):04d}"
        self._counts = self.method in irregularities.WITH_SHUFFLER
        self._steps = rates.at(self.method)
        self._decks = (Deck("blue"), Deck("red"))
        self._deck = 0
        self._chairs: list[Player | None] = [None] * terms.seats
        for chair in range(terms.seats):
            if rng.random() < 0.65:
                self._chairs[chair] = self._somebody()

    @property
    def players(self) -> int:
        """How many people sit at the table now."""
        return sum(player is not None for player in self._chairs)

    def _somebody(self) -> Player:
        terms = self.terms
        return Player(self.rng, minimum_cents=terms.minimum_cents, maximum_cents=terms.maximum_cents)

    def _come_and_go(self) -> list[tuple[int, Player]]:
        """Let people leave and sit down; at least one plays, for a table without players deals nothing."""
        random = self.rng.random
        chairs = self._chairs
        seated: list[tuple[int, Player]] = []
        for chair, player in enumerate(chairs):
            if player is None:
                if random() >= SITS_DOWN:
                    continue
                player = chairs[chair] = self._somebody()
            elif player.leaves_after <= 0:
                chairs[chair] = None
                continue
            player.leaves_after -= 1
            seated.append((chair + 1, player))
        if not seated:
            chair = self.rng.randrange(len(chairs))
            player = chairs[chair] = self._somebody()
            seated.append((chair + 1, player))
        return seated

    def deal(self, *, floor_round: int, at_ms: int, dealt_at: str, rigged: str | None = None) -> Dealt:
        """Play one round and write its message; `rigged` names a hand that a progressive bettor is to hold."""
        rng = self.rng
        self.rounds += 1
        seated = self._come_and_go()
        if rng.random() >= SAME_DECK_AGAIN:
            self._deck = 1 - self._deck
        deck = self._decks[self._deck]
        deck.shuffle(rng)
        mishap = irregularities.happening(self._steps, rng) if rigged is None else None

        wagers = [self._opening_wagers(player) for _, player in seated]
        lucky = -1
        if rigged is not None:
            lucky = self._choose_bettor(wagers)
            cards = rig.five_cards(rigged, rng)
            board = 2 * len(seated)
            deck.bring(cards, (2 * lucky, 2 * lucky + 1, board, board + 1, board + 2))
        drawn = deck.cards
        if mishap == "face_up_card":
            shown = rng.randrange(2 * len(seated) + 3)
            drawn = drawn[:shown] + drawn[shown + 1 :]

        first = 2 * len(seated)
        board_cards = (drawn[first], drawn[first + 1], drawn[first + 2])
        seats = [
            self._play(
                number, player, drawn[2 * place], drawn[2 * place + 1], board_cards, wagers[place], place == lucky
            )
            for place, (number, player) in enumerate(seated)
        ]
        message: dict[str, Any] = {
            "round": f"{self.prefix}{self.rounds:06d}",
            "table": self.code,
            "dealt_at": dealt_at,
            "dealing": self._dealing(deck.colour, len(seats)),
            "community": [NAMES[number] for number in board_cards],
            "seats": seats,
        }
        meant, note = SETTLED, None
        if rigged is not None:
            note = f"rig {rigged}"
        elif mishap is not None:
            meant, note = self._spoil(message, mishap, spare=drawn[first + 3])
        return Dealt(self.code, floor_round, self.rounds, at_ms, message, meant, note)

    def _opening_wagers(self, player: Player) -> dict[str, int]:
        random = self.rng.random
        wagers = {"ante": player.ante_cents}
        if player.progressive and self.progressive_cents and random() >= SKIPS_A_HABIT:
            wagers["progressive"] = self.progressive_cents
        if player.bonus_cents and self.offers_bonus and random() >= SKIPS_A_HABIT:
            wagers["three_card_bonus"] = player.bonus_cents
        if player.cover_all_cents and self.offers_cover_all and random() >= SKIPS_A_HABIT:
            wagers["cover_all"] = player.cover_all_cents
        return wagers

    def _choose_bettor(self, wagers: list[dict[str, int]]) -> int:
        """The place that gets the rigged hand; it bets the progressive, and so does a neighbour if there is one."""
        bettors = [place for place, made in enumerate(wagers) if "progressive" in made]
        others = [place for place in range(len(wagers)) if place not in bettors]
        self.rng.shuffle(others)
        while others and len(bettors) < 2:
            place = others.pop()
            wagers[place]["progressive"] = self.progressive_cents
            bettors.append(place)
        return self.rng.choice(bettors)

    def _play(
        self,
        number: int,
        player: Player,
        first: int,
        second: int,
        board: tuple[int, int, int],
        wagers: dict[str, int],
        lucky: bool,
    ) -> dict[str, Any]:
        """Bet a seat to the end or to the fold; a seat with the rigged hand never folds."""
        seat: dict[str, Any] = {"seat": number, "cards": [NAMES[first], NAMES[second]], "wagers": wagers}
        rng = self.rng
        ante = player.ante_cents
        bet = player.bets(strategy.third_street(first, second), rng) or lucky
        if not bet:
            seat["folded"] = "third_street"
            return seat
        wagers["third_street"] = bet * ante
        raised = bet == strategy.RAISE
        bet = player.bets(strategy.fourth_street(first, second, board[0]), rng) or lucky
        if not bet:
            seat["folded"] = "fourth_street"
            return seat
        wagers["fourth_street"] = bet * ante
        raised = raised or bet == strategy.RAISE
        bet = player.bets(strategy.fifth_street(first, second, board[0], board[1], raised=raised), rng) or lucky
        if not bet:
            seat["folded"] = "fifth_street"
            return seat
        wagers["fifth_street"] = bet * ante
        return seat

    def _dealing(self, colour: str, players: int) -> dict[str, Any]:
        dealing: dict[str, Any] = {"method": self.method, "device": self.device, "deck": colour}
        if self._counts:
            dealing["cards_in_deck"] = 52
            dealing["players"] = players
        elif self.rounds % STUB_COUNT_EVERY == 0:
            dealing["cards_in_deck"] = 52
        if self.offers_cover_all:
            dealing["mode"] = "cover_all"
        return dealing

    def _spoil(self, message: dict[str, Any], mishap: str, *, spare: int) -> tuple[str, str | None]:
        """Let the mishap happen to the message; (how the round must end, why)."""
        rng = self.rng
        if mishap in irregularities.MISREADINGS:
            reason = irregularities.misread(mishap, message, rng)
            return (HELD, reason) if reason is not None else (SETTLED, None)
        report: dict[str, Any] = {"code": mishap}
        if mishap in ("wrong_card_count", "forfeit"):
            seat = rng.choice(message["seats"])
            report["seat"] = seat["seat"]
            if mishap == "wrong_card_count":
                irregularities.misdeal(seat, spare, rng)
        elif mishap == "community_misdealt":
            report = {"code": "wrong_card_count", "position": "community"}
            irregularities.cut_short(message, mishap, rng)
        elif mishap == "deck_count_wrong":
            message["dealing"]["cards_in_deck"] = 51
        elif irregularities.REPORTED[mishap] == irregularities.VOID:
            irregularities.cut_short(message, mishap, rng)
        message["irregularities"] = [report]
        meant = irregularities.REPORTED[mishap]
        if mishap == "wrong_card_count" and self.terms.terms.misdeal_voids == "round":
            meant = irregularities.VOID
        return meant, report["code"]


METHODS = ("shuffler", "shuffler", "shuffler", "hand", "automated_shoe", "manual_shoe")
_DEVICES = {"shuffler": "IDP", "hand": "SHF", "automated_shoe": "SHOE", "manual_shoe": "BOX"}
