"""Reports of play: statistics of every wager against its odds; and what players won and nobody handed over yet."""

from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from typing import Final
from zoneinfo import ZoneInfo

from accounting.day_queries import gaming_day
from accounting.queries import the_property, trial_balance
from accounting.reporting.shape import (
    DAY,
    DECIMAL,
    HAND_PAYS,
    MONEY,
    ONE_WEEK,
    PERCENT,
    PLAY,
    WHOLE,
    Asked,
    Column,
    Foot,
    Parameter,
    Report,
    Row,
)
from accounting.reporting.written import moment
from accounting.rules.roles import ACCOUNTING, AUDITOR, CONTROLLER, MANAGER
from accounting.shell.templatetags.pages import title
from tables.odds.theory import deviations, standard_deviation
from tables.odds.thresholds import thresholds_in
from tables.queries import statistics, weeks
from tables.queries.days import tables_on
from tables.queries.projection import table_codes
from tables.queries.statistics import Wagered
from tables.queries.unclaimed import owed, waiting
from tables.rules.wagers import called

KEEPERS: Final = frozenset({ACCOUNTING, CONTROLLER, AUDITOR})


def _statistics(asked: Asked) -> Iterator[Row]:
    for each in statistics.over(asked.first, asked.last, table=asked.get("table")).wagers:
        yield each.table, each.game, each.wager, each.edition, each.wagers or None, *_figures(each)


def _figures(each: Wagered) -> Row:
    handle, paid, hold = each.handle_cents, each.paid_cents, each.hold_cents
    win, variance = each.theory
    return (
        handle, paid, hold, Fraction(hold, handle) if handle else None,
        None if win is None else round(win), Fraction(win, handle) if win is not None and handle else None,
        None if win is None else hold - round(win),
        None if not variance else standard_deviation(variance),
        None if win is None or variance is None else deviations(hold - win, variance),
    )  # fmt: skip


def _left_out(asked: Asked) -> list[str]:
    return [
        "Theoretical win is edge × first stake, raises within it; of the progressive it goes with the meters at which each"
        " wager was made. Under best play: whoever plays otherwise loses more. Cover All is taken without a dealer's hand."
        " Rounds that people voided, then or later, are left out."
    ]


STATISTICS: Final = Report(
    code="statistics",
    title="Statistics per table and wager",
    purpose="Handle, paid and hold of every wager against what its odds say, in dollars and in standard deviations",
    group=PLAY,
    roles=KEEPERS | {MANAGER},
    parameters=(Parameter(name="table", title="Table", options=table_codes),),
    columns=(
        Column(name="table", title="Table"),
        Column(name="game", title="Game", words=title, only_in_files=True),
        Column(name="wager", title="Wager", words=called),
        Column(name="edition", title="Paytable, link"),
        Column(name="wagers", title="Wagers", kind=WHOLE, sums=True),
        Column(name="handle", title="Handle", kind=MONEY, sums=True),
        Column(name="paid", title="Paid", kind=MONEY, sums=True),
        Column(name="hold", title="Hold", kind=MONEY, sums=True),
        Column(name="hold_share", title="Hold %", kind=PERCENT, ratio=("hold", "handle")),
        Column(name="theory", title="Theoretical", kind=MONEY, sums=True),
        Column(name="theory_share", title="Theor. %", kind=PERCENT),
        Column(name="difference", title="Difference", kind=MONEY, sums=True),
        Column(name="deviation", title="One std. deviation", kind=MONEY),
        Column(name="deviations", title="Std. deviations", kind=DECIMAL),
    ),
    rows=_statistics,
    feet=(
        Foot(said="handle is paid and held", left=("paid", "hold"), right=("handle",)),
        Foot(said="hold is theoretical and its difference", left=("theory", "difference"), right=("hold",)),
    ),
    remarks=_left_out,
)


# ── games ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _games(asked: Asked) -> Iterator[Row]:
    for number in range((asked.last - asked.first).days + 1):
        day = asked.first + timedelta(days=number)
        for each in tables_on(day, table=asked.get("table")):
            moved = (each.handle_cents, each.pays_cents, each.envy_cents, each.contributions_cents)
            if each.rounds or any(moved):
                yield day, each.game, each.table, each.link, each.rounds, *moved, each.win_cents


GAMES: Final = Report(
    code="games",
    title="Master games report",
    purpose="What each table took, paid and accrued for progressive prizes, by gaming day; odds and envy are no accrual",
    group=PLAY,
    roles=KEEPERS | {MANAGER},
    parameters=(Parameter(name="table", title="Table", options=table_codes),),
    columns=(
        Column(name="day", title="Gaming day", kind=DAY),
        Column(name="game", title="Game", words=title),
        Column(name="table", title="Table"),
        Column(name="link", title="Link"),
        Column(name="rounds", title="Rounds", kind=WHOLE, sums=True),
        Column(name="handle", title="Handle", kind=MONEY, sums=True),
        Column(name="paid", title="Paid at odds", kind=MONEY, sums=True),
        Column(name="envy", title="Envy", kind=MONEY, sums=True),
        Column(name="accrued", title="Progressive accrual", kind=MONEY, sums=True),
        Column(name="win", title="Win", kind=MONEY, sums=True),
    ),
    rows=_games,
    feet=(Foot(said="handle is paid, accrued and won", left=("paid", "envy", "accrued", "win"), right=("handle",)),),
)


# ── the weekly review ───────────────────────────────────────────────────────────────────────────────────────────
def _week(asked: Asked) -> Iterator[Row]:
    sheet = weeks.sheet_of(asked.first)
    yield from weeks.lines(asked.first) if sheet is None else weeks.kept_lines(sheet)


def _reviewed(asked: Asked) -> list[str]:
    """What is shown, as it stands or as it was made; how it is marked; who signed it."""
    home = the_property()
    terms = thresholds_in(home.jurisdiction, asked.last)
    marked = (
        f"Marked: a hold more than {terms.deviations_hundredths / 100:g} standard deviations off its theory, or off what the"
        f" {terms.weeks_before} weeks before held against theirs; of {terms.least_wagers:,} wagers or more."
    )
    sheet = weeks.sheet_of(asked.first)
    if sheet is None:
        return [marked, "As it stands: no sheet of this week is on record yet, so nobody can sign it off."]
    zone = ZoneInfo(home.time_zone)
    signed = [
        f"Signed off by {review.by}, {moment(review.at, zone)}: {review.note}"
        for review in weeks.reviews_of(asked.first)
    ]
    made = f"The sheet as made by {sheet.by}, {moment(sheet.made_at, zone)}; SHA-256 {bytes(sheet.digest).hex()}."
    return [marked, made, *(signed or ["Not signed off."])]


WEEKLY: Final = Report(
    code="weekly",
    title="Weekly review",
    purpose="The master games report of a week beside the weeks before, with what is unusual marked, and who signed it off",
    group=PLAY,
    roles=KEEPERS | {MANAGER},
    period=ONE_WEEK,
    columns=(
        Column(name="table", title="Table"),
        Column(name="game", title="Game", words=title, only_in_files=True),
        Column(name="rounds", title="Rounds", kind=WHOLE, sums=True),
        Column(name="handle", title="Handle", kind=MONEY, sums=True),
        Column(name="win", title="Win", kind=MONEY, sums=True),
        Column(name="win_share", title="Win %", kind=PERCENT, ratio=("win", "handle")),
        Column(name="before", title="Win before", kind=MONEY, sums=True),
        Column(name="before_share", title="Win % before", kind=PERCENT),
        Column(name="hold", title="Hold", kind=MONEY, sums=True, only_in_files=True),
        Column(name="theory", title="Theoretical", kind=MONEY, sums=True, only_in_files=True),
        Column(name="off_theory", title="Off theory", kind=MONEY, sums=True),
        Column(name="theory_deviations", title="Off theory, std. dev.", kind=DECIMAL),
        Column(name="off_usual", title="Off before", kind=MONEY, sums=True),
        Column(name="usual_deviations", title="Off before, std. dev.", kind=DECIMAL),
        Column(name="unusual", title="Unusual"),
    ),
    rows=_week,
    feet=(Foot(said="hold is theoretical and its difference", left=("theory", "off_theory"), right=("hold",)),),
    remarks=_reviewed,
)


# ── owed and unclaimed ──────────────────────────────────────────────────────────────────────────────────────────
DUE: Final = {
    "hit.unclaimed": "book as unclaimed", "payout.unclaimed": "book as unclaimed", "hit.remit": "remit to the state",
    "payout.remit": "remit to the state",
}  # fmt: skip


def _owed(asked: Asked) -> Iterator[Row]:
    today = gaming_day(asked.at)[0]
    state = asked.get("state")
    for each in sorted([*owed(), *waiting()], key=lambda each: each.won_on):
        if state is None or each.state == state:
            yield (
                "jackpot" if each.what == "hit" else "envy", each.name, each.state, each.won_on,
                0 if each.is_unclaimed else each.cents, each.cents if each.is_unclaimed else 0, each.unclaimed_from,
                each.state_from, DUE.get(each.due(today) or "") if each.may_be_handed_over else "verify and approve",
            )  # fmt: skip


def _against_the_ledger(asked: Asked) -> list[str]:
    """What the register comes to beside what the ledger owes."""
    balances = {each.code: -each.after_cents for each in trial_balance(gaming_day(asked.at)[0])}
    listed = [*owed(), *waiting()]
    said = []
    for code, is_unclaimed in (("awards_payable", False), ("unclaimed", True)):
        register = sum(each.cents for each in listed if each.is_unclaimed is is_unclaimed)
        ledger = balances.get(code, 0)
        words = (
            "agrees with the register"
            if register == ledger
            else f"DIFFERS from the register by {ledger - register} cents"
        )
        said.append(f"Ledger, {code.replace('_', ' ')}: ${ledger // 100:,}.{ledger % 100:02d}, {words}.")
    return said


UNCLAIMED: Final = Report(
    code="unclaimed",
    title="Unclaimed register",
    purpose="What players won and nobody handed over: from when it is unclaimed, and when it is the state's",
    group=HAND_PAYS,
    roles=KEEPERS,
    period="now",
    parameters=(
        Parameter(
            name="state", title="State", options=lambda: ("detected", "verified", "approved", "owed", "unclaimed")
        ),
    ),
    columns=(
        Column(name="what", title="What"),
        Column(name="name", title="Hit, payout"),
        Column(name="state", title="State"),
        Column(name="won_on", title="Won on", kind=DAY),
        Column(name="payable", title="Payable", kind=MONEY, sums=True),
        Column(name="unclaimed", title="Unclaimed", kind=MONEY, sums=True),
        Column(name="unclaimed_from", title="Unclaimed from", kind=DAY),
        Column(name="state_from", title="Expires, the state's from", kind=DAY),
        Column(name="due", title="Due now"),
    ),
    rows=_owed,
    remarks=_against_the_ledger,
)

REPORTS: Final = (STATISTICS, GAMES, WEEKLY, UNCLAIMED)
