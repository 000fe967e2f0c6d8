"""Reading links, levels, meters and hits."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from django.db import connection

from accounting.event_queries import documented, last_act
from accounting.queries import balance_series
from accounting.rules.accounts import of_level
from accounting.rules.events import OPENED
from jackpot.models import Hit, Level, LevelTerms, Link, Meter, ProgressiveEdition
from jackpot.rules.meter import MILLION


@dataclass(frozen=True, slots=True)
class LinkDefinition:
    """A link as the floor file defines it, with the terms of its levels that were decided last.

    `initial` is what each level opened with, in whole cents, where that was filed; `editions` counts the terms of a level.
    """

    code: str
    is_open: bool
    initial: dict[str, int]
    editions: int
    definition: dict[str, Any]
    paytable_code: str
    paytable_definition: dict[str, Any]
    level_ids: dict[str, int]


def link_definition(stream_id: int) -> LinkDefinition | None:
    """The link on a stream, None where the stream is a table's own."""
    link = Link.objects.select_related("paytable").filter(stream_id=stream_id).first()
    if link is None:
        return None
    levels = {level.code: level for level in link.levels.order_by("id")}
    terms = LevelTerms.objects.filter(level__link=link, in_force__upper_inf=True).select_related("level")
    return LinkDefinition(
        code=link.code,
        is_open=link.state == Link.State.OPEN,
        initial=_filed_with(stream_id),
        editions=LevelTerms.objects.filter(level=next(iter(levels.values()))).count(),
        definition={
            "code": link.code,
            "name": link.name,
            "paytable": link.paytable.code,
            "decks": link.decks,
            "envy_scope": link.envy_scope,
            "tie_policy": link.tie_policy,
            "levels": [level_definition(row) for row in sorted(terms, key=lambda row: row.level_id)],
        },
        paytable_code=link.paytable.code,
        paytable_definition=link.paytable.definition,
        level_ids={code: level.pk for code, level in levels.items()},
    )


def _filed_with(stream_id: int) -> dict[str, int]:
    """What each level of a link was filed to open with; nothing where it was installed by command."""
    found: dict[str, int] = {}
    for event in documented(stream_id, [OPENED]):
        for change in msgspec.json.decode(event.result).get("changes", ()):
            found |= change.get("initial", {})
    return found


def level_ids(link: str) -> dict[str, int]:
    """The ids of a link's levels by their codes."""
    return dict(Level.objects.filter(link__code=link).order_by("id").values_list("code", "id"))


def level_definition(terms: LevelTerms) -> dict[str, Any]:
    """The terms of a level in the keys of the floor file; what is absent is left out."""
    found = {
        "code": terms.level.code,
        "reset_cents": terms.reset_cents,
        "rate_ppm": terms.rate_ppm,
        "reserve_ppm": terms.reserve_ppm,
        "overflow_policy": terms.overflow_policy,
        "seed_funding": terms.seed_funding,
        "floor_policy": terms.floor_policy,
    }
    optional = {"limit_cents": terms.limit_cents, "unreasonable_cents": terms.unreasonable_cents}
    return found | {key: value for key, value in optional.items() if value is not None}


def link_states(code: str | None = None) -> list[dict[str, Any]]:
    """Links as the API shows them (CONTRACT §5): each with its levels as they stand; one link where `code` is given."""
    meters = Meter.objects.select_related("level__link").order_by("level__link__code", "level_id")
    if code is not None:
        meters = meters.filter(level__link__code=code)
    found: dict[str, dict[str, Any]] = {}
    for meter in meters:
        link = meter.level.link
        shown = found.setdefault(link.code, {"code": link.code, "name": link.name, "state": link.state, "levels": []})
        shown["levels"].append(level_row(meter, link.state))
    return list(found.values())


def level_row(meter: Meter, state: str) -> dict[str, Any]:
    """One level as it stands; the counts are lifetime meters and never reset."""
    return {
        "code": meter.level.code,
        "value_cents": meter.value_cents,
        "residual_millionths": meter.residual_millionths,
        "reserve_cents": meter.reserve_cents,
        "reserve_residual_millionths": meter.reserve_residual_millionths,
        "overflow_cents": meter.overflow_cents,
        "overflow_residual_millionths": meter.overflow_residual_millionths,
        "wagers": meter.wagers,
        "hits": meter.hits,
        "wins_cents": int(meter.wins_cents),
        **_parted("contributed", meter.contributed_millionths),
        **_parted("reserved", meter.reserved_millionths),
        **_parted("overflowed", meter.overflowed_millionths),
        "state": state,
    }


def _parted(name: str, millionths: Decimal) -> dict[str, int]:
    """A lifetime meter as whole cents and the fraction of one, as meters are shown everywhere."""
    cents, rest = divmod(int(millionths), MILLION)
    return {f"{name}_cents": cents, f"{name}_residual_millionths": rest}


@dataclass(frozen=True, slots=True)
class LinkReading:
    """A link at one moment of its stream, and the hits since another."""

    sequence: int
    state: str
    levels: list[dict[str, Any]]
    hits: list[tuple[int, dict[str, Any]]]


def reading(link_id: int, *, after_sequence: int, most_hits: int = 10_000) -> LinkReading:
    """A link's meters as they stand, with every award after a stream sequence. Both are of one moment."""
    meters = list(Meter.objects.select_related("level__link").filter(level__link_id=link_id).order_by("level_id"))
    sequence = max(meter.sequence for meter in meters)
    state = meters[0].level.link.state
    hits = Hit.objects.select_related("link", "level").filter(
        link_id=link_id, sequence__gt=after_sequence, sequence__lte=sequence
    )
    return LinkReading(
        sequence=sequence,
        state=state,
        levels=[level_row(meter, state) for meter in meters],
        hits=[(hit.sequence, award_row(hit)) for hit in hits.order_by("sequence", "order")[:most_hits]],
    )


def award_row(hit: Hit) -> dict[str, Any]:
    """An award as its settlement shows it (CONTRACT §3), with the link, table and round it belongs to."""
    return {
        "order": hit.order,
        "seat": hit.seat,
        "level": hit.level.code,
        "hand": hit.hand,
        "share_ppm": hit.share_ppm,
        "meter_before_cents": hit.meter_before_cents,
        "paid_cents": hit.paid_cents,
        "meter_after_cents": hit.meter_after_cents,
        "seed": {
            "reserve_cents": hit.seed_reserve_cents,
            "house_cents": hit.seed_house_cents,
            "overflow_cents": hit.seed_overflow_cents,
        },
        "hit": hit.reference,
        "link": hit.link.code,
        "table": hit.table,
        "round": hit.round,
        "dealt_at": hit.dealt_at.isoformat(),
    }


def link_keys() -> list[tuple[str, int, int]]:
    """Every link by code with its id and its stream's."""
    return list(Link.objects.values_list("code", "id", "stream_id"))


def links_by_code() -> list[str]:
    """The code of every link, in order."""
    return list(Link.objects.order_by("code").values_list("code", flat=True))


def link_key(code: str) -> tuple[int, int] | None:
    """The ids of a link and its stream; None where there is no such link."""
    return Link.objects.filter(code=code).values_list("id", "stream_id").first()


def link_paytables() -> dict[str, dict[str, Any]]:
    """The paytable of every link by the link's code, as it was published."""
    return dict(Link.objects.values_list("code", "paytable__definition"))


def link_and_paytable(code: str) -> tuple[int, int] | None:
    """The ids of a link and of its paytable's edition; None where there is no such link."""
    return Link.objects.filter(code=code).values_list("id", "paytable_id").first()


def links_with_terms(code: str | None = None, *, at: datetime) -> list[dict[str, Any]]:
    """Links as pages show them: as the API does, and with paytable, wager, stream and the terms of each level at a moment."""
    terms: dict[tuple[int, str], LevelTerms] = {}
    for row in LevelTerms.objects.filter(in_force__isempty=False).select_related("level").order_by("in_force"):
        key = (row.level.link_id, row.level.code)
        if key not in terms or row.in_force.lower <= at:
            terms[key] = row
    links = {link.code: link for link in Link.objects.select_related("paytable")}
    found = link_states(code)
    for shown in found:
        link = links[shown["code"]]
        shown |= {
            "id": link.pk,
            "stream_id": link.stream_id,
            "paytable": link.paytable.code,
            "wager_cents": link.paytable.wager_cents,
            "decks": link.decks,
            "opened_at": link.opened_at,
        }
        for level in shown["levels"]:
            level |= {"limit_cents": None, "unreasonable_cents": None} | level_definition(terms[link.pk, level["code"]])
            level["room"] = _room(level["value_cents"], level["reset_cents"], level["limit_cents"])
    return found


def _room(value_cents: int, reset_cents: int, limit_cents: int | None) -> float:
    """How far a meter has come from its reset to its limit, in percent, for drawing only."""
    if not limit_cents or limit_cents <= reset_cents:
        return 0.0
    return round(min(100.0, max(0.0, 100 * (value_cents - reset_cents) / (limit_cents - reset_cents))), 2)


@dataclass(frozen=True, slots=True)
class LevelBalance:
    """What the ledger owes on a level against what its meter shows, in whole cents, at one moment."""

    link: str
    level: str
    meter_cents: int
    liability_cents: int
    reserve_meter_cents: int
    reserve_cents: int
    overflow_meter_cents: int
    overflow_cents: int

    @property
    def agrees(self) -> bool:
        """Whether liability, reserve and overflow in the ledger equal the meter (SPEC §3)."""
        return (self.liability_cents, self.reserve_cents, self.overflow_cents) == (
            self.meter_cents, self.reserve_meter_cents, self.overflow_meter_cents,
        )  # fmt: skip


# One statement, so that meters and totals are of one moment while rounds go on being settled.
LIABILITIES = """
    WITH owed AS (
        SELECT account.owner, account.kind, sum(total.credit_cents - total.debit_cents)::bigint AS cents
        FROM accounting_account account JOIN accounting_total total ON total.account_id = account.id
        WHERE account.kind IN ('liability', 'reserve', 'overflow') GROUP BY account.owner, account.kind
    )
    SELECT link.code, level.code, meter.value_cents, coalesce(liability.cents, 0), meter.reserve_cents,
        coalesce(reserve.cents, 0), meter.overflow_cents, coalesce(overflow.cents, 0)
    FROM jackpot_level level JOIN jackpot_link link ON link.id = level.link_id
    JOIN jackpot_meter meter ON meter.level_id = level.id
    LEFT JOIN owed liability ON liability.owner = link.code || '/' || level.code AND liability.kind = 'liability'
    LEFT JOIN owed reserve ON reserve.owner = link.code || '/' || level.code AND reserve.kind = 'reserve'
    LEFT JOIN owed overflow ON overflow.owner = link.code || '/' || level.code AND overflow.kind = 'overflow'
    ORDER BY link.code, level.id
"""


def liabilities() -> list[LevelBalance]:
    """Every level with its liability, reserve and overflow in the ledger beside the meter."""
    with connection.cursor() as cursor:
        cursor.execute(LIABILITIES)
        return [LevelBalance(*row) for row in cursor.fetchall()]


def meter_series(meter: Meter, *, events: int, points: int = 400) -> list[tuple[int, datetime, int]]:
    """A meter over the last events of its stream: sequence, time and whole cents, at most `points` of them."""
    link = meter.level.link
    after = max(0, meter.sequence - events)
    return balance_series(
        of_level(link.code, meter.level.code, "liability"),
        link.stream_id,
        after=after,
        upto=meter.sequence,
        width=max(1, -(-(meter.sequence - after) // points)),
        cents=meter.value_cents,
    )


def meters_of(link: str) -> list[Meter]:
    """The meters of a link in the order of its levels."""
    return list(Meter.objects.select_related("level__link").filter(level__link__code=link).order_by("level_id"))


def editions() -> list[ProgressiveEdition]:
    """Every progressive paytable edition on record with its games."""
    return list(ProgressiveEdition.objects.prefetch_related("games"))


def meters_shown(stream_id: int) -> dict[str, tuple[int, ...]]:
    """The meters of a stream's link by level: sequence, the parts with their fractions, lifetime meters, the next hit."""
    rows = Meter.objects.filter(level__link__stream_id=stream_id).values_list(
        "level__code", "sequence", "value_cents", "residual_millionths", "reserve_cents", "reserve_residual_millionths",
        "overflow_cents", "overflow_residual_millionths", "wagers", "hits", "wins_cents",
        "contributed_millionths", "reserved_millionths", "overflowed_millionths", "level__link__next_hit",
    )  # fmt: skip
    return {row[0]: tuple(int(part) for part in row[1:]) for row in rows}


def edition_of(edition_id: int) -> ProgressiveEdition:
    """A progressive edition by its id."""
    return ProgressiveEdition.objects.get(pk=edition_id)


def link_shown(stream_id: int) -> dict[str, Any] | None:
    """The link of a stream as its rows show it, with the terms of its levels in order; None where there is none."""
    link = Link.objects.select_related("paytable").filter(stream_id=stream_id).first()
    if link is None:
        return None
    return {
        "code": link.code,
        "name": link.name,
        "paytable": link.paytable.code,
        "pays": link.paytable.definition,
        "decks": link.decks,
        "envy_scope": link.envy_scope,
        "tie_policy": link.tie_policy,
        "state": link.state,
        "opened at": link.opened_at,
        "levels": {
            level.code: [
                {
                    "from": row.in_force.lower,
                    "until": row.in_force.upper,
                    **level_definition(row),
                    "odds": (row.hit_numerator, row.hit_denominator),
                }
                for row in level.terms.select_related("level").order_by("in_force")
            ]
            for level in link.levels.order_by("id")
        },
    }


def level_owners() -> list[str]:
    """Every level as its accounts name it: `LINK/LEVEL`."""
    return [f"{link}/{level}" for link, level in Level.objects.order_by("id").values_list("link__code", "code")]


def links_of_levels() -> dict[str, str]:
    """The link of every level, by the level as its accounts name it."""
    found = Level.objects.order_by("link__code", "id").values_list("link__code", "code")
    return {f"{link}/{level}": link for link, level in found}


def levels_by_id() -> dict[int, tuple[str, str]]:
    """Every level by its id: its link's code and its own."""
    return {level: (link, code) for level, link, code in Level.objects.values_list("id", "link__code", "code")}


def link_version(code: str) -> str | None:
    """What changes whenever a link's terms or state do; None where there is no such link."""
    found = Link.objects.filter(code=code).values_list("state", "stream__terms_version").first()
    return None if found is None else f"{found[0]}:{found[1]}"


def level_version(subject: str) -> str | None:
    """What changes whenever the level that `LINK/LEVEL` names moves by hand or changes its terms, not with every round."""
    link, _, level = subject.rpartition("/")
    found = Level.objects.filter(link__code=link, code=level).values_list("link__stream_id", flat=True).first()
    if found is None:
        return None
    return f"{link_version(link)}:{last_act(found, kinds='link.', subject=subject)}"
