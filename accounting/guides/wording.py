"""A guide's marks as a page writes them: from what is declared and in force, so that no claim is typed twice."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounting.guides.text import NAMED, Mark, Paragraph, Picture, Step
from accounting.office import registry
from accounting.office.queries import tiers_in_force
from accounting.rules.roles import ROLES
from accounting.shell.navigation import SECTIONS
from accounting.shell.pages import may_open
from accounting.shell.templatetags.pages import money

PICTURES = Path(__file__).parent / "pictures.json"
"""Of each picture its size and the structure of what it shows; `python3 -m tests.guides` writes it beside the pictures."""

Tiers = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class MayDo:
    """An act that a role asks for, agrees to or both, and who must agree to it."""

    name: str
    title: str
    asks: bool
    agrees: bool
    who: str


@cache
def pictures() -> dict[str, dict[str, Any]]:
    """What is kept of each picture by its name."""
    kept: dict[str, dict[str, Any]] = json.loads(PICTURES.read_text("utf-8"))
    return kept


def may_do(role: str) -> list[MayDo]:
    """What a role asks for and agrees to, by the tiers in force."""
    tiers = tiers_in_force()
    rows = [
        MayDo(
            act.name,
            act.title,
            role in act.proposes,
            any(tier["role"] == role and tier["count"] for tier in tiers[act.name]),
            who_agrees(tiers[act.name]),
        )
        for act in registry.acts().values()
    ]
    return [row for row in rows if row.asks or row.agrees]


def who_agrees(tiers: Sequence[Mapping[str, Any]]) -> str:
    """Who must agree, from which amount: `1 × shift manager, 2 × shift manager from $100,000.00`."""
    if not tiers:
        return "nobody else"
    return ", ".join(
        f"{tier['count']} × {ROLES[tier['role']]}"
        + (f" from {money(tier['from_cents'])}" if tier["from_cents"] else "")
        for tier in tiers
    )


def written(step: Step, readers: Collection[str]) -> dict[str, Any]:
    """A step as the page shows it to readers of these roles: its words, its page and its picture.

    What is not open to them is named without a link.
    """
    tiers, address = tiers_in_force(), reverse(step.page)
    return {
        "title": step.title,
        "page": step.called or page_name(step.page),
        "address": address if may_open(address, readers) else "",
        "key": next((section.key for section in SECTIONS if section.address == step.page), ""),
        "paragraphs": [_paragraph(paragraph, tiers, readers) for paragraph in step.paragraphs],
        "picture": _picture(step.picture) if step.picture else None,
    }


def page_name(address: str) -> str:
    """What a page is called: the section that begins with it, else the words of its address's name."""
    found = next((section.name for section in SECTIONS if section.address == address), None)
    return found or address.replace("-", " ").capitalize()


def _picture(picture: Picture) -> dict[str, Any]:
    kept = pictures().get(picture.name, {})
    return {"address": static(f"guides/{picture.name}.webp"), "caption": picture.caption} | {
        key: kept.get(key) for key in ("width", "height")
    }


def _paragraph(paragraph: Paragraph, tiers: Tiers, readers: Collection[str]) -> SafeString:
    return format_html_join(
        "", "{}", ((piece if isinstance(piece, str) else _mark(piece, tiers, readers),) for piece in paragraph)
    )


def _mark(mark: Mark, tiers: Tiers, readers: Collection[str]) -> SafeString | str:
    match mark.kind:
        case "page":
            address, said = reverse(mark.of), mark.said or page_name(mark.of)
            return format_html('<a href="{}">{}</a>', address, said) if may_open(address, readers) else said
        case "ask":
            act = registry.acts()[mark.of]
            if act.proposes.isdisjoint(readers):
                return format_html("<b>{}</b>", act.title)
            return format_html('<a href="{}">{}</a>', reverse("propose", args=[act.name]), act.title)
        case "agree" | "act":
            return format_html("<b>{}</b>", registry.acts()[mark.of].title)
        case "who":
            return who_agrees(tiers[mark.of])
        case "role":
            return ROLES[mark.of]
        case "key":
            return format_html_join(" ", "<kbd>{}</kbd>", ((key,) for key in mark.of.split()))
    assert mark.kind == NAMED, mark
    return format_html("<b>{}</b>", mark.of)
