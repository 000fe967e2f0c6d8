"""Rows that show a link: what its events say of it, for pages, signs and constraints; nothing is decided by them."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from accounting.rules.moments import at_nanoseconds, nanoseconds
from jackpot.models import Level, LevelTerms, Link, Meter, ProgressiveEdition
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import Meter as Reading
from jackpot.rules.probability import hit_probability
from jackpot.rules.state import LinkState

if TYPE_CHECKING:
    from accounting.models import Stream

FOREVER = 2**63


def show_link(
    terms: LinkTerms,
    edition: ProgressiveEdition,
    stream: "Stream",
    meters: Mapping[str, Reading],
    *,
    state: str,
    at: datetime,
) -> None:
    """Show a new link with its levels, their first terms from this moment on and their meters."""
    link = Link.objects.create(
        code=terms.code,
        name=terms.name,
        paytable=edition,
        decks=terms.decks,
        envy_scope=terms.envy_scope,
        tie_policy=terms.tie_policy,
        state=state,
        stream=stream,
        opened_at=at,
    )
    levels = {level.code: Level.objects.create(link=link, paytable=edition, code=level.code) for level in terms.levels}
    _show_edition(terms, levels, DateTimeTZRange(at, None))
    for code, level in levels.items():
        Meter.objects.create(level=level, value_cents=meters[code].value_cents)


def show_state(link: LinkState) -> None:
    """Show what a link is by the last of its changes of state: its events say from when on."""
    Link.objects.filter(code=link.code).update(state=link.state(FOREVER))


def show_terms(link: LinkState, since: int) -> None:
    """Show the terms of a link that count from a moment on (nanoseconds since 1970 UTC), recorded last of those.

    What counted then ends there, whether it was to end or not; where it began at the very same moment nothing is left of it.
    """
    rows = list(Level.objects.filter(link__code=link.code).order_by("id"))
    changes = [edition for begins, edition in link.terms if begins <= since]
    following = next((begins for begins, _ in link.terms if begins > since), None)
    at, until = at_nanoseconds(since), None if following is None else at_nanoseconds(following)
    for before in LevelTerms.objects.filter(level__in=rows, in_force__contains=at):
        begins = before.in_force.lower
        before.in_force = DateTimeTZRange(empty=True) if begins == at else DateTimeTZRange(begins, at)
        before.save(update_fields=["in_force"])
    _show_edition(changes[-1], {level.code: level for level in rows}, DateTimeTZRange(at, until))


def _show_edition(terms: LinkTerms, rows: Mapping[str, Level], in_force: DateTimeTZRange) -> None:
    for level in terms.levels:
        values = asdict(level)
        del values["code"]
        # The link's games rank the same hands with the same probability (SPEC §6.9): any of them says it.
        chance = hit_probability(terms.paytable, level.code, terms.paytable.games[0])
        LevelTerms.objects.create(
            level=rows[level.code],
            in_force=in_force,
            hit_numerator=chance.numerator,
            hit_denominator=chance.denominator,
            **values,
        )


def show(link: LinkState, change: Mapping[str, Any]) -> None:
    """Take over a change that was recorded of a link, and show what its events say of it now."""
    link.change(change)
    if change["what"] == "link.state":
        show_state(link)
    elif change["what"] == "link.terms":
        show_terms(link, nanoseconds(change["counts_from"]))
