"""Taking the pictures of the guides in the house in which people work, and what is kept of each page beside its picture."""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from accounting.guides.text import Guide, Picture, guide_of
from accounting.guides.wording import PICTURES
from accounting.office.models import Proposal
from accounting.office.rules.person import Person
from accounting.office.services import proposals
from accounting.rules.roles import ADMINISTRATOR, MANAGER, ROLES, SUPERVISOR
from devices import enrolment
from tests.pages.lived_in import furnish
from tests.services.desk import ANYBODY
from tests.services.house import LINKED, House

ROOT = Path(__file__).parents[2]
TAKEN = ROOT / "accounting" / "guides" / "static" / "guides"
COMMAND = "python3 -m tests.guides"
WIDTH, HEIGHT, TALLEST = 1_280, 800, 700
HEAVIEST = 80_000
VARYING = re.compile(r"\d[\d.,:]*|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b")

NAMES = """() => {
    document.querySelectorAll("main details").forEach((folded) => { folded.open = true; });
    const named = "main :is(a, button, summary, h1, h2, h3, th, label, legend, dt, option, .state, .label)";
    return [...document.querySelectorAll(named)].filter((part) => part.tagName === "OPTION" || part.checkVisibility())
        .map((part) => part.textContent.replace(/\\s+/g, " ").trim());
}"""
"""What can be named on a page: links, buttons, headings, heads of columns, labels, terms and states."""

STRUCTURE = """(of) => {
    const part = document.querySelector(of);
    if (!part || !part.checkVisibility()) { return null; }
    const named = ":is(h1, h2, h3, thead th, label, legend, dt, button, a.btn, summary)";
    return [...part.querySelectorAll(named)].filter((one) => one.checkVisibility())
        .map((one) => one.tagName.toLowerCase() + " " + one.textContent.replace(/\\s+/g, " ").trim());
}"""


def furnish_shift(house: House) -> None:
    """The house in which people work, with a hit on each step of its way, and a device."""
    furnish(house)
    now = datetime.now(UTC)
    enrolment.enrol("IDP-0042", {LINKED}, key="shown once", by="a-security", at=now)

    def asked(role: str, act: str, subject: str, **payload: Any) -> None:
        body = {"act": act, "subject": subject, "payload": payload, "reason": "looked into"}
        proposals.propose(body, by=ANYBODY[role], at=now)

    for hit in ("ms-mg01-000001", "ms-mg01-000002", "twin-000001"):
        asked(SUPERVISOR, "hit.verify", hit, checks=["cards", "seat", "wager_sensor", "surveillance"])
    for hit in ("ms-mg01-000001", "twin-000001"):
        asked(MANAGER, "hit.approve", hit, note="seen on the recording")
    for role, act, subject, payload in (
        (SUPERVISOR, "round.void", f"{LINKED}/miscounted", {}),
        (ADMINISTRATOR, "table.terms", "MS-102", {"minimum_cents": 2_000}),
    ):
        body = {"act": act, "subject": subject, "payload": payload, "reason": "looked into"}
        proposals.propose(body, by=Person(f"a-{role}", frozenset({role})), at=now)


def guides() -> list[Guide]:
    """Everybody's."""
    return [guide_of(role) for role in ROLES]


def address_of(look: str) -> str:
    """A look's address; `{decision ACT}` is the proposal of that act that waits."""
    found = re.fullmatch(r"\{decision (.+)\}", look)
    if found is None:
        return look
    return f"/decisions/{Proposal.objects.filter(act=found[1], outcome=None).latest('id').pk}/"


def is_among(name: str, seen: list[str]) -> bool:
    """Whether a name stands there: alone, or before a figure, a colon or a small word that belongs to it."""
    return any(re.match(rf"{re.escape(name)}(?!\w)", text) for text in seen)


def structure(page: Page, picture: Picture) -> list[str] | None:
    """Headings, labels, buttons and heads of columns of what a picture shows, in their order, without figures and dates."""
    found: list[str] | None = page.evaluate(STRUCTURE, picture.of)
    if found is None:
        return None
    parted = (line.partition(" ") for line in found)
    return list(dict.fromkeys(f"{tag} {VARYING.sub('0', text)}" for tag, _, text in parted))


def digest(lines: list[str]) -> str:
    """SHA-256 over a structure, in hexadecimal."""
    return sha256("\n".join(lines).encode()).hexdigest()


def take(page: Page, picture: Picture) -> dict[str, int]:
    """Take a picture of the page as it stands; its size."""
    box = page.evaluate(
        """(of) => {
            const box = document.querySelector(of).getBoundingClientRect();
            const [x, y] = [box.x + scrollX, box.y + scrollY].map(Math.floor);
            return {x, y, width: Math.ceil(box.width), height: Math.ceil(box.height)};
        }""",
        picture.of,
    )
    box["height"] = min(box["height"], TALLEST)
    asked = {"format": "webp", "quality": 55, "captureBeyondViewport": True, "clip": box | {"scale": 1}}
    taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", asked)
    TAKEN.mkdir(parents=True, exist_ok=True)
    (TAKEN / f"{picture.name}.webp").write_bytes(base64.b64decode(taken["data"]))
    return {"width": box["width"], "height": box["height"]}


def keep(kept: dict[str, dict[str, Any]]) -> None:
    """Write down what is kept of every picture, and remove those that no guide shows."""
    PICTURES.write_text(json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
    for file in TAKEN.glob("*.webp"):
        if file.stem not in kept:
            file.unlink()
