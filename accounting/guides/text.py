"""Guides as they are written: one TOML file a role in `shifts/`, taken apart into words and marks.

A mark is what a reader could follow or a test can look up: `*Approve*` is something that stands on the step's page,
`{page hits}` a page, `{ask hit.pay}` an act that the role asks for, `{agree hit.approve}` one that it agrees to, `{act …}`
anybody's act, `{who hit.approve}` who must agree to it and from which amount, `{role cage}` what a role is called, `{key g h}`
keys.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SHIFTS = Path(__file__).parent / "shifts"
NAMED = "name"
KINDS = frozenset({NAMED, "page", "ask", "agree", "act", "who", "role", "key"})
MARK = re.compile(r"\*([^*\n]+)\*|\{([a-z]+) ([^}|]+)(?:\|([^}]+))?\}")


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that a text points at: what kind of thing, which one, and the words for it where they are given."""

    kind: str
    of: str
    said: str = ""


Paragraph = tuple[str | Mark, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture shows of the last page that its step looks at: the part of the page, and what it is called."""

    name: str
    of: str
    caption: str


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a shift: the page where it is done, by its address's name, and what is done there.

    `called` is the page's name where neither its section nor its address says it.
    `looks` are the addresses in the house of the tests where the names of the text stand.
    """

    title: str
    page: str
    called: str
    paragraphs: tuple[Paragraph, ...]
    looks: tuple[str, ...]
    picture: Picture | None

    def marks(self) -> Iterator[Mark]:
        """Every mark of the text."""
        return (piece for paragraph in self.paragraphs for piece in paragraph if isinstance(piece, Mark))

    def names(self) -> list[str]:
        """What the text says stands on the page."""
        return [mark.of for mark in self.marks() if mark.kind == NAMED]


@dataclass(frozen=True, slots=True)
class Guide:
    """A role's guide. What goes wrong is written like a step: `title` is what is seen, the text what is done."""

    role: str
    about: str
    steps: tuple[Step, ...]
    wrong: tuple[Step, ...]

    def all_steps(self) -> tuple[Step, ...]:
        """The steps, then what goes wrong."""
        return self.steps + self.wrong


@cache
def guide_of(role: str) -> Guide:
    """The guide of a role. Raises FileNotFoundError where it has none, ValueError where its file is not what it should be."""
    with (SHIFTS / f"{role}.toml").open("rb") as file:
        read = tomllib.load(file)
    return Guide(
        role,
        read["about"],
        tuple(_step(role, row) for row in read["steps"]),
        tuple(_step(role, row) for row in read["wrong"]),
    )


def _step(role: str, row: Mapping[str, Any]) -> Step:
    picture = row.get("picture")
    return Step(
        row["title"],
        row["page"],
        row.get("called", ""),
        tuple(taken_apart(" ".join(text.split())) for text in row["text"].strip().split("\n\n")),
        tuple(row.get("looks", ())),
        Picture(f"{role}-{picture['name']}", picture["of"], picture["caption"]) if picture else None,
    )


def taken_apart(text: str) -> Paragraph:
    """The words and marks of a paragraph, in order. Raises ValueError for a mark of no known kind."""
    pieces: list[str | Mark] = []
    end = 0
    for found in MARK.finditer(text):
        if before := text[end : found.start()]:
            pieces.append(before)
        name, kind, of, said = found.groups()
        mark = Mark(NAMED, name) if name else Mark(kind, of.strip(), said or "")
        if mark.kind not in KINDS:
            raise ValueError(f"{found[0]} is no mark of a guide")
        pieces.append(mark)
        end = found.end()
    if rest := text[end:]:
        pieces.append(rest)
    return tuple(pieces)
