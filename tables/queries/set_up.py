"""Reading how the house is set up: tables with the terms in force, and the editions they pay by."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from jackpot.rules.paytable import FIVE_CARD_HANDS, Row
from tables.models import Table, TableTerms, WagerEdition
from tables.queries.worth import EditionWorth, edition_worth
from tables.rules.lines import row_name
from tables.rules.table import Terms


@dataclass(frozen=True, slots=True)
class TableInForce:
    """A table with the terms in force: amounts in whole cents, editions by wager, and the terms that are not default."""

    code: str
    game: str
    state: str
    link: str | None
    decks: int
    seats: int
    minimum_cents: int
    maximum_cents: int
    since: datetime
    paytables: list[tuple[str, str]]
    chosen: dict[str, Any]


def tables_in_force() -> list[TableInForce]:
    """Every table by code with its terms in force."""
    usual = {field.name: field.default for field in fields(Terms)}
    terms = (
        TableTerms.objects.filter(in_force__upper_inf=True)
        .select_related("table__link")
        .prefetch_related("paytables__edition")
        .order_by("table__code")
    )
    return [
        TableInForce(
            code=row.table.code,
            game=row.game,
            state=row.table.state,
            link=row.table.link.code if row.table.link else None,
            decks=row.table.decks,
            seats=row.seats,
            minimum_cents=row.minimum_cents,
            maximum_cents=row.maximum_cents,
            since=row.in_force.lower,
            paytables=[(offered.wager, offered.edition.code) for offered in row.paytables.all()],
            chosen={name: value for name, value in row.terms.items() if usual.get(name) != value},
        )
        for row in terms
    ]


@dataclass(frozen=True, slots=True)
class PaytableShown:
    """An edition as a page shows it: its rows from the best hand down, each with what it pays."""

    code: str
    about: str
    rows: list[dict[str, Any]]
    players: list[int]
    envy: bool
    worth: EditionWorth | None


def paytable_shown(code: str, about: str, definition: dict[str, Any]) -> PaytableShown:
    """The rows of an edition as stored; odds by players are put in order, which stored JSON does not keep."""
    by_players: dict[str, list[int]] = definition.get("odds_by_players") or {}
    order = {hand: place for place, hand in enumerate(reversed(FIVE_CARD_HANDS))}
    hands = sorted(by_players, key=lambda hand: order.get(hand, len(order)))
    rows = [*definition.get("rows", []), *({"hand": hand, "by_players": by_players[hand]} for hand in hands)]
    most = max((len(odds) for odds in by_players.values()), default=0)
    return PaytableShown(
        code, about, rows, list(range(1, most + 1)), any(row.get("envy_cents") for row in rows), edition_worth(code)
    )


def name_of(row: dict[str, Any]) -> str:
    """The name by which a line says that this row pays it."""
    return row_name(Row(row["hand"], row.get("pays", ""), from_rank=row.get("from"), to_rank=row.get("to")))


def editions() -> list[WagerEdition]:
    """Every base and side-wager edition on record, by code."""
    return list(WagerEdition.objects.all())


def hands_paid() -> list[str]:
    """Every hand that an edition of the house pays, by name."""
    definitions = [edition.definition for edition in WagerEdition.objects.all()]
    rows = [row["hand"] for definition in definitions for row in definition.get("rows", [])]
    by_players = [hand for definition in definitions for hand in definition.get("odds_by_players") or {}]
    return sorted({*rows, *by_players})


def link_of(table: str) -> str | None:
    """The code of the link that a table is on now; None where it is on none, or there is no such table."""
    return Table.objects.filter(code=table).values_list("link__code", flat=True).first()


def table_ids() -> dict[str, int]:
    """The id of every table by its code."""
    return dict(Table.objects.order_by("code").values_list("code", "id"))
