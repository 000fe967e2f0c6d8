"""What a house records and shows by a day that is always played the same: rows, pages, reports and answers, as lines of text."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import time_machine
from django.core.cache import cache
from django.test import Client, override_settings

from accounting.reporting import registry
from accounting.rules.roles import AUDITOR, ROLES
from devices.demo_day import day as demo_day
from tests.pages.conftest import person
from tests.pages.walking import pages_of
from tests.scenarios.lived import everything_forgotten
from tests.services.house import rows

KEPT: Final = Path(__file__).with_name("kept")
RECORD: Final = Path(__file__).with_name("record.txt")
NOT_PLAYED: Final = r"^(auth_|axes_|django_|people_|accounting_account$|devices_passed$)"
"""Tables of the framework, of who is signed in, and of what is not of the day."""
LONGEST: Final = 3_000
"""Characters of a row that are kept."""
NOW: Final = datetime(2026, 11, 28, 14, 5, 30, tzinfo=UTC)
"""A morning of the house, some hours after its day has ended."""
MOST: Final = 3
"""Pages of a kind that are kept, the first that an auditor comes to; of everybody else's one, and what it says otherwise."""
ANSWERS: Final = (
    "acts", "books/accounts/awards_payable", "books/general-ledger?from=2026-11-27&to=2026-11-27", "books/trial-balance",
    "books/trial-balance?at=2026-11-27T17:00:00Z", "days", "days/2026-11-27", "days/2026-11-27/readings", "days/heads", "hits",
    "hits/bay-000003", "hits/tide-000001", "links", "links/bay", "links/tide", "payouts", "payouts?kind=envy&limit=3",
    "payouts/bay-1-12/explanation", "payouts/bay-19-6/explanation", "payouts/tide-4-12/explanation",
    "payouts/bay-19-6/verification", "proposals?limit=20", "proposals/3", "reports", "rounds/DD-1/R-3", "rounds/DD-4/R-4",
    "rounds/DD-1/H-2", "rounds/DD-2/T-3", "slips", "slips/000003", "streams/bay/events",
    "streams/tide/events?after_sequence=5&limit=4",
)  # fmt: skip
"""What programs read (CONTRACT §5), below /api/v1/."""
PERIODS: Final = {
    "days": {"from": "2025-10-01", "to": "2026-11-28"},
    "day": {"day": "2026-11-27"},
    "week": {"week": "2026-W47"},
    "now": {},
}
DAY_BY_DAY: Final = {"roll-forward": {"from": "2026-11-26", "to": "2026-11-28"}}
"""Reports with a line for every day there was."""
WHENEVER: Final = re.compile(r"20(?:2[7-9]|[3-9]\d)-\d\d-\d\dT[0-9:.+-]*|2026-1(?:1-29|1-30|2-)[0-9T:.+-]*")
"""By the clock of the database, which nobody sets: after the day."""
DRAWN: Final = (
    "d",
    "points",
    "x",
    "y",
    "x1",
    "x2",
    "y1",
    "y2",
    "cx",
    "cy",
    "r",
    "width",
    "height",
    "transform",
    "style",
)
SAID: Final = ("aria-label", "title", "alt", "placeholder", "data-age", "datetime")
LOOKS: Final = frozenset({"td", "tr", "span"})
"""What tells by its look how it stands: how it looks is kept, too."""
STANDS_OUT: Final = frozenset({"b", "strong", "del", "mark"})
NOT_READ: Final = frozenset({"script", "style", "noscript"})
NEW_EACH_TIME: Final = (
    (re.compile(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b"), "#"),
    (re.compile(r"[A-Za-z0-9+/_-]{40,}=*"), "#"),
    (re.compile(r"^(Printed .* by) .*"), r"\1 #"),
    (re.compile(r'^( "milliseconds":) \d+'), r"\1 #"),
)
"""Hashes, keys, tokens and how long it took are of this playing alone; whoever prints a page is whoever looks at it."""


class Lines(HTMLParser):
    """A page as somebody reads it, a line for each thing said, chosen, linked to or drawn."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """What an element leads to, asks for or draws."""
        if tag in NOT_READ:
            self.silent += 1
        given = {name: value or "" for name, value in attrs}
        state = "".join(f" {name}" for name in ("checked", "required", "readonly", "disabled") if name in given)
        if tag in LOOKS and given.get("class"):
            self._say(f"{tag}.{given['class']}")
        elif tag in STANDS_OUT:
            self._say(f"<{tag}>")
        for name in SAID:
            if given.get(name):
                self._say(f"{tag} {name}: {given[name]}")
        if tag == "a" and "href" in given:
            self._say(f"-> {given['href']}")
        elif tag in {"form", "button"}:
            self._say(f"{tag} {given.get('method', '')} {given.get('action', given.get('name', ''))}{state}")
        elif tag in {"input", "select", "textarea"} and given.get("name") != "csrfmiddlewaretoken":
            self._say(f"{tag} {given.get('name', '')}={given.get('value', '')}{state}")
        elif tag == "option":
            self._say(f"option {given.get('value', '')}{' selected' if 'selected' in given else ''}")
        drawn = " ".join(f"{name}={given[name]}" for name in DRAWN if given.get(name))
        if drawn and tag not in {"svg", "img"}:
            self._say(f"{tag} {drawn}")

    def handle_endtag(self, tag: str) -> None:
        """Read on behind what is not read."""
        if tag in NOT_READ:
            self.silent -= 1

    def handle_data(self, data: str) -> None:
        """What is said."""
        if not self.silent:
            self._say(data)

    def _say(self, words: str) -> None:
        if said := " ".join(words.split()):
            self.lines.append(said)


def lines_of(answer: Any, *, whole: bool) -> list[str]:
    """What an answer says: its status where it is none, its words; of a page what stands in its middle, unless `whole`."""
    text = (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        reader = Lines()
        reader.feed(text if whole or "<main" not in text else text[text.index("<main") : text.index("</main>")])
        found = reader.lines
    elif answer.headers.get("Content-Type", "").split(";")[0].endswith("json"):
        found = json.dumps(json.loads(text), indent=1, ensure_ascii=False).splitlines()
    else:
        found = text.splitlines()
    for pattern, instead in NEW_EACH_TIME:
        found = [pattern.sub(instead, line) for line in found]
    return found if answer.status_code == 200 else [str(answer.status_code), *found]


@contextmanager
def at_that_time() -> Iterator[None]:
    """It is that morning, in a house of demo people; nothing is kept from before it or for after it."""
    cache.clear()
    everything_forgotten()
    try:
        with time_machine.travel(NOW, tick=False), override_settings(DEMO=True, PATRON_KEY="A" * 43):
            yield
    finally:
        cache.clear()


@dataclass(frozen=True, slots=True)
class Place:
    """Something to look at: by whom, where."""

    role: str
    address: str

    @property
    def file(self) -> str:
        """Where what it shows is kept: the first part of its address."""
        first = self.address.removeprefix("/api/v1").strip("/").partition("?")[0].partition("/")[0]
        return first or "floor"

    @property
    def head(self) -> str:
        """The line that it is kept below."""
        return f"=== {self.role} {self.address}"


class House:
    """The house after its day, with somebody of every role signed in."""

    def __init__(self) -> None:
        with at_that_time():
            demo_day.play(now=NOW)
            self.clients: dict[str, Client] = {}
            for role in ROLES:
                self.clients[role] = Client()
                self.clients[role].force_login(
                    person(f"a-{role}", role), backend="django.contrib.auth.backends.ModelBackend"
                )
        self._auditors: dict[str, list[str]] = {}

    def shows(self, place: Place) -> list[str]:
        """What somebody sees there; of a page that auditors see, too, what anybody else sees otherwise."""
        if place.role == AUDITOR:
            return self._lines(place)
        auditors = self._auditors.get(place.address)
        if auditors is None:
            auditors = self._auditors[place.address] = self._lines(Place(AUDITOR, place.address))
        return list(otherwise(auditors, self._lines(place)))

    def _lines(self, place: Place) -> list[str]:
        with at_that_time():
            answer = self.clients[place.role].get(place.address)
            return lines_of(answer, whole=place.address.endswith("/account/"))

    def places(self) -> list[Place]:
        """All there is to look at: pages that people come to, every report on a page and as a table, what programs read."""
        found = []
        with at_that_time():
            for role, client in self.clients.items():
                walked = pages_of(client, role, most=MOST if role == AUDITOR else 1)
                found += [Place(role, address) for addresses in walked.kinds.values() for address in addresses]
            for code, report in registry.reports().items():
                asked = DAY_BY_DAY.get(code, PERIODS[report.period])
                found.append(Place(AUDITOR, f"/reports/{code}/?{urlencode(asked)}"))
                found.append(Place(AUDITOR, f"/api/v1/reports/{code}?{urlencode(asked | {'form': 'csv'})}"))
        return found + [Place(AUDITOR, f"/api/v1/{answer}") for answer in ANSWERS]


def otherwise(auditors: list[str], theirs: list[str]) -> Iterator[str]:
    """The lines that one page has not, and the other has."""
    for what, began, ended, began_too, ended_too in SequenceMatcher(
        None, auditors, theirs, autojunk=False
    ).get_opcodes():
        if what != "equal":
            yield from (f"- {line}" for line in auditors[began:ended])
            yield from (f"+ {line}" for line in theirs[began_too:ended_too])


def recorded() -> list[str]:
    """Every row that the day leaves, table by table."""
    found = []
    for (table,) in rows(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename !~ %s ORDER BY 1", NOT_PLAYED
    ):
        there = sorted(text for (text,) in rows(f"SELECT to_jsonb(kept)::text FROM {table} kept"))
        found += [f"=== {table}, {len(there)} rows"]
        found += [row if len(row) < LONGEST else f"{row[:LONGEST]} … {len(row)}" for row in map(legible, there)]
    return found


def legible(row: str) -> str:
    """A row with its bytes as the text that they are, and without what is new each time."""
    row = re.sub(r'"\\\\x((?:[0-9a-f]{2})*)"', lambda found: json.dumps(as_text(bytes.fromhex(found[1]))), row)
    row = WHENEVER.sub("#", row)
    for pattern, instead in NEW_EACH_TIME:
        row = pattern.sub(instead, row)
    return row


def as_text(raw: bytes) -> Any:
    """The text that bytes are, or that they are none."""
    try:
        return json.loads(raw)
    except ValueError:
        return f"{len(raw)} bytes"


def kept(file: str) -> dict[Place, list[str]]:
    """What is kept of every place of a file."""
    found: dict[Place, list[str]] = {}
    lines: list[str] = []
    for line in (KEPT / f"{file}.txt").read_text("utf-8").splitlines():
        if line.startswith("=== "):
            _, role, address = line.split(" ", 2)
            lines = found[Place(role, address)] = []
        else:
            lines.append(line)
    return found


def keep(house: House) -> None:
    """Write down what there is to see now, instead of what was kept."""
    KEPT.mkdir(exist_ok=True)
    for old in KEPT.glob("*.txt"):
        old.unlink()
    files: dict[str, list[str]] = defaultdict(list)
    for place in house.places():
        files[place.file] += [place.head, *house.shows(place)]
    for file, lines in files.items():
        (KEPT / f"{file}.txt").write_text("\n".join(lines) + "\n", "utf-8")
