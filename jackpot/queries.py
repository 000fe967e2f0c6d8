"""Reading links, levels, meters and hits."""

from dataclasses import dataclass
from typing import Any

from jackpot.models import LevelTerms, Link


@dataclass(frozen=True, slots=True)
class LinkDefinition:
    """A link as the floor file defines it, with the terms of its levels now in force."""

    code: str
    is_open: bool
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


