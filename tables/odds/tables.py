"""The odds as tables for people: lines of text for a terminal, and the page of every edition in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import sqrt
from typing import Final

from jackpot.rules.meter import LevelTerms
from tables.odds.edition import EditionOdds, WagerOdds
from tables.odds.progressive import MOST_OTHERS, ProgressiveOdds

HEAD: Final = ("edition", "game", "wager", "case", "edge", "return", "wins", "std. deviation", "average stake")
LEFT_ALIGNED: Final = 4
# The examples of the page: meters in cents for a $1 wager, and the terms of a link.
METERS_CENTS: Final = (1_000_000, 5_000_000, 10_000_000)
TERMS: Final = (
    LevelTerms("major", reset_cents=1_000_000, rate_ppm=170_000, reserve_ppm=30_000),
    LevelTerms("major", reset_cents=2_500_000, rate_ppm=215_000, reserve_ppm=25_000),
    LevelTerms("major", reset_cents=5_000_000, rate_ppm=200_000, reserve_ppm=40_000),
)


def percentage(value: Fraction | None, places: int = 4) -> str:
    """A fraction in percent, rounded for reading; a dash for none."""
    return "–" if value is None else f"{float(value * 100):.{places}f} %"


def dollars(cents: Fraction | int | None) -> str:
    """An amount of cents in dollars, rounded to the cent for reading."""
    return "–" if cents is None else f"${float(cents) / 100:,.2f}"


def case(wager: WagerOdds) -> str:
    """The case of a wager in words."""
    return ", ".join(
        f"{name.replace('_', ' ')} {('yes' if value else 'no') if isinstance(value, bool) else value}"
        for name, value in wager.case.items()
    )


def rows(editions: Iterable[EditionOdds]) -> list[tuple[str, ...]]:
    """A row of cells for each case of each edition, under HEAD; what has no edge has one row an edition."""
    found: list[tuple[str, ...]] = []
    for odds in editions:
        uncounted = False
        for wager in odds.wagers:
            left_out = wager.edge is None and wager.progressive is None
            if left_out and uncounted:
                continue  # the reason is the same, and there is nothing to compare
            uncounted = uncounted or left_out
            found.append(
                (
                    odds.edition,
                    odds.game,
                    odds.wager,
                    "" if left_out else case(wager),
                    percentage(wager.edge),
                    _return(wager),
                    percentage(wager.hit_frequency, 3),
                    "–" if wager.variance is None else f"{sqrt(wager.variance):.4f}",
                    "–" if left_out else f"{float(wager.average_stake):.4f}",
                )
            )
    return found


def _return(wager: WagerOdds) -> str:
    known = wager.progressive
    if known is None:
        return percentage(wager.returned)
    parts = [percentage(known.fixed_return)]
    parts += [
        f"{percentage(level.mean_share / known.wager_cents * 100_000)} per $1,000 of {level.level}"
        for level in known.levels
    ]
    return " + ".join(parts)


def text(editions: Sequence[EditionOdds]) -> list[str]:
    """The table for a terminal, the game left to the code; a single edition with its combinations."""
    found = _aligned([(line[0], *line[2:]) for line in [HEAD, *rows(editions)]], LEFT_ALIGNED - 1)
    if len(editions) != 1:
        return found
    odds = editions[0]
    for wager in odds.wagers:
        found += ["", f"{odds.edition} {case(wager)}".strip()]
        found += _aligned([(f"  {hand}", f"{ways:,}") for hand, ways in wager.combinations.items()], 1)
        found.append(f"  of {wager.total:,}")
        found += [f"  {play.replace('_', ' ')}: {percentage(share)}" for play, share in wager.plays.items()]
        if wager.progressive is not None:
            found += [f"  {line}" for line in _progressive_text(wager.progressive)]
        if wager.reason is not None:
            found.append(f"  {wager.reason}")
    if odds.assumes is not None:
        found += ["", f"assumes: {odds.assumes}"]
    return found


def _progressive_text(odds: ProgressiveOdds) -> list[str]:
    found = [f"envy for each other bettor: {percentage(odds.envy)}"]
    for level in odds.levels:
        found.append(f"{level.level} is hit once in {float(1 / level.hit_probability):,.2f}")
    for others in range(MOST_OTHERS + 1):
        found.append(f"breaks even with {others} others at {dollars(odds.break_even_cents(others))}")
    return found


def _aligned(lines: Sequence[Sequence[str]], left: int) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _markdown(head: Sequence[str], lines: Iterable[Sequence[str]], left: int = LEFT_ALIGNED) -> list[str]:
    found = [
        f"| {' | '.join(head)} |",
        "|" + "|".join(" --- " if i < left else " ---: " for i in range(len(head))) + "|",
    ]
    found += [f"| {' | '.join(line)} |" for line in lines]
    return found


def page(editions: Sequence[EditionOdds]) -> str:
    """The page of every edition (docs/odds.md)."""
    found = [
        "# What the editions are worth",
        "",
        "Counted exactly, in whole numbers and fractions; `manage.py odds EDITION --json` has the fractions. This page is",
        "written by `manage.py odds --markdown > docs/odds.md`. Edge and return are shares of the initial wager (the ante; one",
        "of the three bets of let it ride); the standard deviation and the average stake are in initial wagers. Where the",
        "player decides, the figures are those of the play that is best on average, payout limits left out.",
        "",
        *_markdown(HEAD, rows(editions)),
    ]
    taken = [(odds.edition, odds.assumes) for odds in editions if odds.assumes is not None]
    if taken:
        found += ["", "## What is taken for granted", "", *(f"- `{code}`: {assumes}." for code, assumes in taken)]
    left_out = dict.fromkeys(
        (odds.edition, wager.reason)
        for odds in editions
        for wager in odds.wagers
        if wager.reason is not None and wager.progressive is None
    )
    if left_out:
        found += ["", "## What is left out", "", *(f"- `{code}`: {reason}." for code, reason in left_out)]
    for odds in editions:
        known = odds.ordinary.progressive
        if known is not None:
            found += ["", *_progressive_page(odds, known)]
    return "\n".join(found) + "\n"


def _progressive_page(edition: EditionOdds, odds: ProgressiveOdds) -> list[str]:
    """The section of one progressive edition of one level."""
    found = [f"## {edition.edition}: a wager of {dollars(odds.wager_cents)}", ""]
    if len(odds.levels) != 1:
        return [*found, "It has several levels: `--json` has the return per cent of each meter."]
    level = odds.levels[0]
    units = odds.wager_cents // 100
    found += [
        f"Return with a meter of *m* and *n* other bettors at the table: {percentage(odds.fixed_return)} +"
        f" {percentage(level.mean_share / odds.wager_cents * 100_000)} for each $1,000 of *m* + {percentage(odds.envy)} × *n*.",
        "The meter is the one displayed when the seat's turn comes.",
        "",
        *_markdown(
            ("meter", *(f"{others} other{'s' if others != 1 else ''}" for others in range(MOST_OTHERS + 1))),
            [
                (
                    dollars(meter * units),
                    *(percentage(odds.returned({level.level: meter * units}, n)) for n in range(MOST_OTHERS + 1)),
                )
                for meter in METERS_CENTS
            ]
            + [("break-even", *(dollars(odds.break_even_cents(others)) for others in range(MOST_OTHERS + 1)))],
            0,
        ),
        "",
        "In the long run, without limit or top-up, in shares of the wager; the mean meter is also what a royal finds on average:",
        "",
        *_markdown(
            (
                "reset",
                "rate",
                "reserve",
                "mean meter",
                "to players, no envy",
                "house keeps",
                "left in the reserve",
                "house adds to resets",
            ),
            [
                (
                    dollars(terms.reset_cents),
                    percentage(Fraction(terms.rate_ppm, 1_000_000), 1),
                    percentage(Fraction(terms.reserve_ppm, 1_000_000), 1),
                    dollars(run.mean_meter_cents),
                    percentage(odds.long_run_returned((terms,))),
                    percentage(odds.long_run_kept((terms,))),
                    percentage(run.unspent_cents / odds.wager_cents),
                    percentage(run.house_cents / odds.wager_cents),
                )
                for terms, run in ((terms, odds.long_run(terms)) for terms in TERMS)
            ],
            0,
        ),
    ]
    return found
