"""What paytables and links are worth, for whoever chooses them: exact odds worded for pages (`tables.odds`)."""

from dataclasses import dataclass
from fractions import Fraction

from jackpot.queries import LinkDefinition, link_definition, link_key, link_states
from jackpot.rules import link as link_rules
from jackpot.rules import paytable as paytables
from tables.odds import NoOdds, of_edition
from tables.odds.progressive import of_paytable


def percent(value: Fraction, places: int = 4) -> str:
    """A fraction in percent, rounded half to even in decimal, never through a float."""
    scaled = round(value * 100 * 10**places)
    sign, digits = ("−" if scaled < 0 else ""), f"{abs(scaled):0{places + 1}d}"
    return f"{sign}{digits[:-places]}.{digits[-places:]} %"


@dataclass(frozen=True, slots=True)
class EditionWorth:
    """What an edition keeps for the house: one figure, or one for each number of players."""

    summary: str
    by_players: tuple[str, ...] = ()
    with_dealer: tuple[str, ...] = ()


def edition_worth(code: str) -> EditionWorth | None:
    """The house edge of a published edition; None where nobody counted it (a floor's own paytable)."""
    try:
        odds = of_edition(code)
    except NoOdds:
        return None
    if "dealer_hand" in odds.ordinary.case:
        edges = {
            dealer: tuple(
                percent(case.edge, 1) for case in odds.wagers if case.case["dealer_hand"] is dealer and case.edge
            )
            for dealer in (False, True)
        }
        return EditionWorth("house edge by players dealt in", edges[False], edges[True])
    progressive = odds.ordinary.progressive
    if progressive is not None:
        fixed = percent(progressive.fixed_return, 2)
        return EditionWorth(f"the fixed rows return {fixed}; the rest goes with the meter, see what each link is worth")
    edge, wins = odds.edge, odds.ordinary.hit_frequency
    if edge is None:
        return EditionWorth(odds.ordinary.reason or "not counted")
    words = f"house edge {percent(edge)}"
    if odds.ordinary.element_of_risk not in (None, edge):
        words += f" of the first wager, {percent(odds.ordinary.element_of_risk or edge)} of all staked"
    if wins is not None:
        words += f"; wins {percent(wins, 2)} of rounds"
    return EditionWorth(words)


@dataclass(frozen=True, slots=True)
class LevelWorth:
    """One level of a link: how often it is hit, and where its meter settles in the long run (whole cents)."""

    level: str
    hit_once_in: int
    full_once_in: int | None
    mean_meter_cents: int
    house_adds: str
    reserve_unspent: str


@dataclass(frozen=True, slots=True)
class LinkWorth:
    """What a link's wager returns now and in the long run, as shares of the wager, and what it costs the house."""

    link: str
    returned_now: str
    envy_each: str
    break_even_cents: int | None
    long_run_returned: str
    long_run_kept: str
    levels: tuple[LevelWorth, ...]


def link_worths() -> list[LinkWorth]:
    """Every link on its meters as they stand."""
    found = []
    for state in link_states():
        key = link_key(state["code"])
        definition = link_definition(key[1]) if key else None
        if definition is not None:
            meters = {level["code"]: level["value_cents"] for level in state["levels"]}
            found.append(_link_worth(definition, meters))
    return found


def _link_worth(definition: LinkDefinition, meters: dict[str, int]) -> LinkWorth:
    paytable = paytables.read(definition.paytable_definition)
    terms = link_rules.read(definition.definition, {paytable.code: paytable})
    odds = of_paytable(paytable)
    runs = {level.code: odds.long_run(level) for level in terms.levels}
    break_even = odds.break_even_cents()
    return LinkWorth(
        link=definition.code,
        returned_now=percent(odds.returned(meters), 2),
        envy_each=percent(odds.envy, 2),
        break_even_cents=None if break_even is None else round(break_even),
        long_run_returned=percent(odds.long_run_returned(terms.levels), 2),
        long_run_kept=percent(odds.long_run_kept(terms.levels), 2),
        levels=tuple(
            LevelWorth(
                level=level.level,
                hit_once_in=round(1 / level.hit_probability),
                full_once_in=round(1 / level.full_probability) if level.full_probability else None,
                mean_meter_cents=round(runs[level.level].mean_meter_cents),
                house_adds=percent(runs[level.level].house_cents / odds.wager_cents, 2),
                reserve_unspent=percent(runs[level.level].unspent_cents / odds.wager_cents, 2),
            )
            for level in odds.levels
        ),
    )
