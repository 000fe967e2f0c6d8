"""How the first version opened streams: the definition alone was both cause and result (rules edition 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounting.rules.accounts import Movement
from jackpot.rules.installing import first_change, member_change, seeds
from tables.rules.house import House


def is_link(definition: Mapping[str, Any]) -> bool:
    """Whether such a definition is a link's; else it is a table's that is on no link."""
    return "levels" in definition


def first_changes(
    definition: Mapping[str, Any], paytables: Mapping[str, Mapping[str, Any]], opened_at: str
) -> list[dict[str, Any]]:
    """What such an opening introduced; `paytables` are the progressive editions' definitions by code."""
    if is_link(definition):
        return [first_change(definition, paytables[definition["paytable"]], opened_at)]
    return [member_change(definition, opened_at)]


def first_movements(definition: Mapping[str, Any], house: House) -> list[Movement]:
    """The seeds that such an opening booked: those of a link at its resets, none of a table."""
    if not is_link(definition):
        return []
    link = house.links[definition["code"]]
    return seeds(link.code, link.meters.items())
