"""What READMEs, pages of docs and the map name is there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = (
    "*.md",
    "docs/*.md",
    "accounting/**/*.md",
    "jackpot/**/*.md",
    "tables/**/*.md",
    "devices/**/*.md",
    "docker/*.md",
)
DOCUMENTS = sorted({path for place in PLACES for path in ROOT.glob(place)})
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
# In code quotes, of an app's folder or below the document's own: `rules/chain.py`, `services/audit`.
NAMED = re.compile(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+(?:\.(?:py|toml|md|sql|yaml|svg))?/?)`")

RESULTS = {"win/lose"}  # of a split hand in blackjack


def is_there(name: str, *, beside: Path) -> bool:
    """Whether a file, folder or module of this name is there, from the document's folder, above it or the root."""
    return any((folder / f"{name}{end}").exists() for folder in (beside, *beside.parents, ROOT) for end in ("", ".py"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_links_to_and_names_is_there(document: Path) -> None:
    text = document.read_text("utf-8")
    missing = [link for link in LINK.findall(text) if not (document.parent / link).exists()]
    named = set(NAMED.findall(text)) - RESULTS
    missing += [name for name in sorted(named) if not is_there(name, beside=document.parent)]
    assert not missing, f"{document.relative_to(ROOT)} names what is not there: {missing}"


def modules_of_the_map() -> Iterator[str]:
    """Every module that the map names; a second one after a comma is beside the first."""
    for line in re.findall(r'<text class="where"[^>]*>([^<]+)</text>', (ROOT / "docs" / "map.svg").read_text("utf-8")):
        for group in re.split(r" · | → ", line):
            first, *others = group.split(", ")
            yield first
            yield from (f"{first.split('/')[0]}/{other}" for other in others)


def test_the_map_names_modules_that_are_there() -> None:
    found = set(modules_of_the_map())
    assert len(found) > 12
    assert not [name for name in found - {"APP/acts"} if not is_there(name, beside=ROOT)]
