"""What a settled round left for later acts, read from its settlement and from the meters before it (ARCHITECTURE §3a).

Who decides a round knows what it brought to each level; who comes later reads it off the meters: what stands on a part after
the contributions, less what stood on it before, is what was brought, to the millionth. No terms and no rules edition are asked,
so it holds for a round of any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from jackpot.rules.hits import HitState, envy_name
from jackpot.rules.meter import MILLION, Meter
from jackpot.rules.parts import NOTHING, Brought, held
from jackpot.rules.progressive import Locked, MeterRow
from tables.rules import books
from tables.rules.deciding import hits_of
from tables.rules.house import SETTLED, House, RoundState
from tables.rules.settlement import Settlement

OF_HITS: Final = frozenset(
    {"hit.verify", "hit.approve", "hit.pay", "hit.reject", "hit.unclaimed", "hit.remit", "hit.withhold"}
)
OF_ENVY: Final = frozenset({"payout.pay", "payout.unclaimed", "payout.remit", "payout.withhold"})
VOID_ROUND: Final = "round.void"
OF_THE_PAST: Final = OF_HITS | OF_ENVY | {VOID_ROUND}
"""The acts whose subject is, or may be, something that a settled round left."""


@dataclass(frozen=True, slots=True)
class Precedent:
    """A settled round as an act finds it: where it stands on its stream, what it left, and the line of each envy payout."""

    sequence: int
    key: tuple[str, str]
    round: RoundState
    hits: list[HitState]
    lines: Mapping[str, int]

    def subjects(self) -> list[str]:
        """What an act may have been about since: the round, its hits and its envy payouts, by their names."""
        table, reference = self.key
        return [f"{table}/{reference}", *(hit.name for hit in self.hits), *self.lines]

    def standing(self, subject: str) -> str | None:
        """The state of the round, or of its hit or envy payout of this name; None where there is none."""
        if subject == "/".join(self.key):
            return self.round.outcome
        states = {hit.name: hit.state for hit in self.hits}
        states |= {envy.name: envy.state for hit in self.hits for envy in hit.envy}
        return states.get(subject)

    def cents(self) -> dict[str, int]:
        """What each hit awards and each envy payout comes to, in whole cents, by name."""
        found = {hit.name: hit.paid_cents for hit in self.hits}
        return found | {envy.name: envy.cents for hit in self.hits for envy in hit.envy}

    def give(self, house: House) -> None:
        """Let a house know of it."""
        house.rounds[self.key] = self.round
        for hit in self.hits:
            house.hits[hit.name] = hit
            house.envy.update((envy.name, envy) for envy in hit.envy)

    def forget(self, house: House) -> None:
        """Let a house forget it again."""
        del house.rounds[self.key]
        for hit in self.hits:
            del house.hits[hit.name]
            for envy in hit.envy:
                del house.envy[envy.name]

    def take(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Take over what an act made of the round, its hits and its envy payouts."""
        hits = {hit.name: hit for hit in self.hits}
        envy = {each.name: each for hit in self.hits for each in hit.envy}
        for step in steps:
            if step["what"] == "hit" and step["name"] in hits:
                hits[step["name"]].state = step["state"]
            elif step["what"] == "envy" and step["name"] in envy:
                envy[step["name"]].state = step["state"]
            elif step["what"] == "tax" and step["name"] in hits:
                hits[step["name"]].is_withheld = True
            elif step["what"] == "tax":
                envy[step["name"]].is_withheld = True
            elif step["what"] == "round":
                self.round.outcome = step["state"]


def precedent(
    sequence: int,
    settlement: Settlement,
    before: Mapping[str, Meter],
    lock: Locked | None = None,
    won_on: date | None = None,
) -> Precedent:
    """What a round left that stands at a sequence: its meters before it, what its lock had put in, where it has one, its day."""
    rows: list[MeterRow] = settlement["meters"]
    link = rows[0]["link"] if rows else None
    awards = settlement["awards"]
    state = RoundState(settlement["outcome"], settlement["reasons"], link=link)
    if state.outcome == SETTLED:
        posting = books.posting(settlement, base_wagers=frozenset(), contributions=(), link=None)
        state.brought = tuple((row["level"], _brought(settlement, row, before[row["level"]], lock)) for row in rows)
        state.stakes_cents, state.pays_cents = posting.stakes_cents, posting.pays_cents
        state.hits = tuple(award["hit"] or "" for award in awards)
    hits = [] if link is None or not awards else hits_of(settlement, link, won_on)
    return Precedent(sequence, (settlement["table"], settlement["round"]), state, hits, envy_lines(settlement))


def _brought(settlement: Settlement, row: MeterRow, before: Meter, lock: Locked | None) -> Brought:
    """What came to a level by the round, its lock included."""
    level = row["level"]
    put_in = NOTHING if lock is None else lock.brought.get(level, NOTHING)
    if lock is not None and (given_up := lock.stakes_cents - _accepted(settlement)) > 0:
        return _kept(put_in, -row["contributed_millionths"], given_up, lock.stakes_cents)
    mine = [award for award in settlement["awards"] if award["level"] == level]
    display_cents = mine[0]["meter_before_cents"] if mine else row["after_cents"]
    reserve_cents = row["reserve_cents"] + sum(award["seed"]["reserve_cents"] for award in mine)
    overflow_cents = row["overflow_cents"] + sum(
        award["seed"]["overflow_cents"] + award.get("revenue_cents", 0) for award in mine
    )
    found = Brought(
        display_cents * MILLION + row["residual_millionths"] - held(before, "display"),
        reserve_cents * MILLION + row["reserve_residual_millionths"] - held(before, "reserve"),
        overflow_cents * MILLION + row["overflow_residual_millionths"] - held(before, "overflow"),
    )
    if found.contributed != row["contributed_millionths"]:
        raise ValueError(f"level {level}: {found.contributed} millionths came by the meters, not as the row says")
    return Brought(*(one + other for one, other in zip(put_in, found, strict=True)))


def _accepted(settlement: Settlement) -> int:
    """The progressive stakes that a round accepted, in cents: those of seats that are not void (SPEC §6.1)."""
    return sum(
        line["stake_cents"]
        for seat in settlement["seats"]
        for line in seat["lines"]
        if line["wager"] == "progressive" and line["result"] != "void"
    )


def _kept(put_in: Brought, taken_back: int, given_up_cents: int, locked_cents: int) -> Brought:
    """What is left of a lock's contribution whose result took some back: of its overflow first, the reserve's in proportion.

    The meters do not show it where more was taken than a part still held (DECISIONS A51, A58).
    """
    overflowed = min(taken_back, put_in.overflow)
    reserve = put_in.reserve * given_up_cents // locked_cents
    return Brought(put_in.display - (taken_back - overflowed), put_in.reserve - reserve, put_in.overflow - overflowed)


def envy_lines(settlement: Settlement) -> dict[str, int]:
    """The line of each envy payout among the payouts of its round, by its name."""
    posted = books.posting(settlement, base_wagers=frozenset(), contributions=(), link=None).payouts
    lines = [line for line, payout in enumerate(posted, 1) if payout.kind == "envy"]
    names = [
        envy_name(settlement["table"], settlement["round"], seat["seat"], envy["from_seat"])
        for seat in settlement["seats"]
        for envy in seat["envy"]
    ]
    return dict(zip(names, lines, strict=True))


def meters_in(rows: list[MeterRow], link: str) -> dict[str, Meter]:
    """The meters of a link as the rows of a result show them after its event."""
    return {
        row["level"]: Meter(
            row["after_cents"], row["residual_millionths"], row["reserve_cents"], row["reserve_residual_millionths"],
            row["overflow_cents"], row["overflow_residual_millionths"],
        )
        for row in rows
        if row["link"] == link
    }  # fmt: skip


def names(subject: str) -> tuple[str, str]:
    """The table and the round that `TABLE/ROUND` names; the first slash ends the table's code."""
    table, _, reference = subject.partition("/")
    return table, reference


def step_of(cause: Mapping[str, Any]) -> tuple[str, str]:
    """Who took a step, and the note to it, from the cause that its event is kept with."""
    payload = cause["payload"]
    said = [payload["note"]] if payload.get("note") else []
    if payload.get("checks"):
        said.append(f"checked: {', '.join(check.replace('_', ' ') for check in payload['checks'])}")
    if payload.get("method"):
        said.append(f"from the {payload['method']}")
    if cause["act"] == VOID_ROUND:
        said.append(f"round {cause['subject']} void")
    if cause.get("reason"):
        said.append(cause["reason"])
    if cause.get("approved_by"):
        said.append(f"agreed: {', '.join(cause['approved_by'])}")
    return cause.get("by") or "", "; ".join(said)
