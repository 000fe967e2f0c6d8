"""What people decide about links (CONTRACT §7), declared to the office.

A closing is declared by the tables: whether a lock still waits for its round is known there.
"""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from accounting.office.acts import Act, Asked, Change, Foreseen, Tier
from accounting.rules.acts import ActRefused
from accounting.rules.roles import ACCOUNTING, ADMINISTRATOR, MANAGER
from accounting.shell.templatetags.pages import money, share, words
from jackpot.acts.asked import act_asked, performing
from jackpot.queries import link_version, links_with_terms
from jackpot.rules import funds as rules_of_funds
from jackpot.rules import link_shapes
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import LevelTerms
from jackpot.services import acts, funds

SHOWN = {
    "reset_cents": "reset",
    "rate_ppm": "rate",
    "reserve_ppm": "reserve rate",
    "limit_cents": "limit",
    "unreasonable_cents": "most of one round",
    "overflow_policy": "overflow",
    "seed_funding": "seed from",
    "floor_policy": "below reset",
}
"""The keys of a level's terms, as pages call them."""


def _foresee_state(asked: Asked) -> Foreseen:
    """The state of the link before and after."""
    decision = acts.decide(act_asked(asked))
    (change,) = decision.changes
    before = acts.state_of(asked.subject, asked.at)
    return Foreseen(
        (Change("State", before, change["state"]),),
        "Rounds that count while it is not open are held when they bring a progressive wager; all others are settled.",
    )


def _foresee_funds(asked: Asked) -> Foreseen:
    """The balance beside what is owed, and the link suspended where it falls short."""
    funds_change, *closing = funds.foresee(act_asked(asked), at=asked.at).changes
    balance, owed = funds_change["balance_cents"], funds_change["owed_cents"]
    rows = [Change("Balance", "", money(balance)), Change("Owed", "", money(owed))]
    rows.append(
        Change("Beyond what is owed" if balance >= owed else "Short of what is owed", "", money(abs(balance - owed)))
    )
    if closing:
        rows.append(Change("State", acts.state_of(asked.subject, asked.at), closing[0]["state"]))
    said = "Owed are display, reserve and overflow of every level, and what was won and not handed over yet."
    if funds_change["short"]:
        said += " It is closed for new wagers from now on, until a balance suffices and people resume it."
    return Foreseen(tuple(rows), said)


def _foresee_filing(asked: Asked) -> Foreseen:
    """What there is of the new link: its terms, what it opens with, and how likely each level is hit."""
    (change,) = acts.decide(act_asked(asked)).changes
    rows = [Change("Link", "none", f"{change['link']}, on {change['definition']['paytable']}")]
    for level in change["definition"]["levels"]:
        code = level["code"]
        rows.append(Change(f"{code}: opens with", "", money(change["initial"][code])))
        rows += [Change(f"{code}: {SHOWN[key]}", "", worded(key, level[key])) for key in SHOWN if key in level]
        for game, chance in change["odds"][code].items():
            rows.append(Change(f"{code}: hit by one wager, {words(game)}", "", chance))
    return Foreseen(
        tuple(rows),
        "Nothing is on its meters until it is opened. Tables may join it before; their progressive wagers wait.",
    )


def _foresee_opening(asked: Asked) -> Foreseen:
    """What the house puts on each meter, and the state."""
    decision = acts.decide(act_asked(asked))
    terms = acts.as_it_stands(asked.subject).terms
    _signed(asked, (level for _, edition in terms for level in edition.levels))
    rows = [Change("State", acts.state_of(asked.subject, asked.at), "open")]
    rows += [
        Change(f"{row['level']}: display", money(row["before_cents"]), money(row["after_cents"]))
        for row in decision.result["meters"]
    ]
    return Foreseen(tuple(rows), "The house pays what it opens with, at once, from whenever it counts.")


def _levels(link: str) -> dict[str, Any]:
    """The form begins with a row for each level, in which nothing is changed yet."""
    levels = {level.code: None for _, edition in acts.as_it_stands(link).terms for level in edition.levels}
    return {"levels": [{"code": code} for code in levels]}


def _levels_now(link: str) -> dict[str, Any]:
    """The terms of each level in force."""
    (shown,) = links_with_terms(link, at=timezone.now())
    return {"levels": [{key: level[key] for key in ("code", *SHOWN)} for level in shown["levels"]]}


def _foresee_terms(asked: Asked) -> Foreseen:
    """Each term of each level that changes, before and after."""
    before, after = acts.terms_before_and_after(act_asked(asked))
    rows = terms_changed(before, after)
    _signed(asked, (level for level in after.levels if level.reserve_ppm != before.level[level.code].reserve_ppm))
    return Foreseen(
        tuple(rows),
        "Rounds that count from then on; what was dealt before keeps its terms. Accounting agrees before it counts.",
    )


def terms_changed(before: LinkTerms, after: LinkTerms) -> list[Change]:
    """What differs between two editions of a link's terms."""
    return [
        Change(f"{level.code}: {what}", worded(key, was), worded(key, is_now))
        for level in after.levels
        for key, what in SHOWN.items()
        if (was := getattr(before.level[level.code], key)) != (is_now := getattr(level, key))
    ]


def worded(key: str, value: Any) -> str:
    """A term of a level as pages show it."""
    if value is None:
        return "none"
    if key.endswith("_cents"):
        return money(value)
    return share(value) if key.endswith("_ppm") else words(value)


def _signed(asked: Asked, levels: Iterable[LevelTerms]) -> None:
    """Whoever lets part of a wager fund a reserve shows that the signs say so (REQUIREMENTS R17); ActRefused."""
    funded = next((level.code for level in levels if level.reserve_ppm), None)
    if funded is not None and asked.evidence is None:
        raise ActRefused(
            "missing_field",
            "/evidence",
            f"part of each wager funds the reserve of level {funded}: hand in the acknowledgement that signs say so",
        )


LINK_ACTS: tuple[Act, ...] = (
    Act(
        shape=link_shapes.FILE,
        title="File a link",
        proposes=frozenset({ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1),),
        version=lambda code: link_version(code) or "no link yet",
        foresee=_foresee_filing,
        perform=performing(acts.perform),
        possible=lambda link: acts.shown_state(link) is None,
    ),
    Act(
        shape=link_shapes.OPENING,
        title="Open a link",
        proposes=frozenset({ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1),),
        version=link_version,
        foresee=_foresee_opening,
        perform=performing(acts.perform),
        possible=lambda link: acts.shown_state(link) == "filed",
    ),
    Act(
        shape=link_shapes.SUSPEND,
        title="Suspend a link",
        proposes=frozenset({ADMINISTRATOR, MANAGER}),
        version=link_version,
        foresee=_foresee_state,
        perform=performing(acts.perform),
        possible=lambda link: acts.shown_state(link) == "open",
    ),
    Act(
        shape=link_shapes.RESUME,
        title="Resume a link",
        proposes=frozenset({ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1),),
        version=link_version,
        foresee=_foresee_state,
        perform=performing(acts.perform),
        possible=lambda link: acts.shown_state(link) == "suspended",
    ),
    Act(
        shape=link_shapes.TERMS,
        title="Change a link's terms",
        proposes=frozenset({ADMINISTRATOR}),
        # Whoever reconciles the meters knows of a new rate before it counts (REQUIREMENTS R8).
        approves=(Tier(0, MANAGER, 1), Tier(0, ACCOUNTING, 1)),
        version=link_version,
        foresee=_foresee_terms,
        perform=performing(acts.perform),
        begins=_levels,
        stands=_levels_now,
        possible=lambda link: acts.shown_state(link) == "suspended",
    ),
    Act(
        shape=rules_of_funds.ASKED,
        title="Record a link's balance",
        proposes=frozenset({ACCOUNTING}),
        evidence=True,
        version=link_version,
        foresee=_foresee_funds,
        perform=performing(funds.record),
        possible=lambda link: acts.shown_state(link) in ("open", "suspended"),
    ),
)
