"""Tables as the database shows them, for whoever compares them with what the events say (ARCHITECTURE §3a)."""

from dataclasses import asdict
from typing import Any

from django.db.models import Prefetch

from jackpot.rules.definition import DefinitionRefused
from tables.models import Table, TableTerms, WagerEdition
from tables.rules.floor import read_terms


def tables_shown(stream_id: int) -> dict[str, dict[str, Any]]:
    """The tables of a stream by code: what their rows say, their terms in order with the offered editions."""
    terms = TableTerms.objects.order_by("in_force").prefetch_related("paytables__edition")
    tables = (
        Table.objects.filter(stream_id=stream_id)
        .select_related("link", "link_paytable")
        .prefetch_related(Prefetch("terms", queryset=terms))
    )
    return {
        table.code: {
            "game": table.game,
            "decks": table.decks,
            "link": table.link.code if table.link else None,
            "paytable of its link": table.link_paytable.code if table.link_paytable else None,
            "state": table.state,
            "opened at": table.opened_at,
            "terms": [
                {
                    "from": row.in_force.lower,
                    "until": row.in_force.upper,
                    "game": row.game,
                    "seats": row.seats,
                    "minimum_cents": row.minimum_cents,
                    "maximum_cents": row.maximum_cents,
                    "terms": _as_read(row.terms),
                    "paytables": {
                        offered.wager: (offered.edition.code, offered.game, offered.seats)
                        for offered in row.paytables.all()
                    },
                }
                for row in table.terms.all()
            ],
        }
        for table in tables
    }


def _as_read(terms: dict[str, Any]) -> dict[str, Any]:
    """A row's terms as they are read now: one that came later is not in older rows, and then has its default."""
    try:
        return asdict(read_terms(terms))
    except DefinitionRefused:
        return terms  # nobody could have recorded them: shown as they are


def editions_shown() -> list[WagerEdition]:
    """Every base and side-wager edition on record, by code."""
    return list(WagerEdition.objects.order_by("code"))


def table_codes() -> list[str]:
    """The codes of all tables."""
    return list(Table.objects.order_by("code").values_list("code", flat=True))
