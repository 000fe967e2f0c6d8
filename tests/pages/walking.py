"""From page to page by their links, beginning with the menu: which pages there are is found, not typed."""

from __future__ import annotations

import html
import re
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from django.test import Client
from django.urls import resolve, reverse

from accounting.shell.navigation import SECTIONS


@dataclass
class Walk:
    """What somebody came by: addresses by kind (an address's name and the parameters it was asked with), in order."""

    kinds: dict[str, list[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def one_of_each(self) -> list[str]:
        """The first page of every kind."""
        return [addresses[0] for addresses in self.kinds.values()]

    def names(self) -> set[str]:
        """The names of the addresses that were opened."""
        return {kind.partition("?")[0] for kind in self.kinds}


def kind_of(address: str) -> str:
    """The name of an address with the names of its parameters."""
    parts = urlsplit(address)
    given = sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)})
    return f"{resolve(parts.path).view_name}?{'&'.join(given)}"


def links_of(response: Any, address: str) -> list[str]:
    """The addresses of this house that a page links to; files that it offers are none of its pages."""
    found = re.findall(r'<a\b[^>]*\bhref="([^"#]*)', response.content.decode())
    return [
        urljoin(address, html.unescape(link))
        for link in dict.fromkeys(found)
        if link and "://" not in link and not link.startswith("/api/")
    ]


AS_WRITTEN = re.compile(
    r"<(script|style|pre|code|textarea)\b.*?</\1>|<(\w+)[^>]*\bclass=\"[^\"]*\bmono\b[^>]*>.*?</\2>|<[^>]+>", re.DOTALL
)
"""What a page shows as it is on record: codes, messages and documents in a face of their own; and tags."""
OF_MACHINES = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d[^\s;,]*|\b[a-z]+(?:_[a-z]+)+\b|\b(?:None|True|False)\b(?=[^ .])")


def machine_words(response: Any) -> list[str]:
    """What a page says in the words of machines where people read: moments in UTC, codes with underscores."""
    said = html.unescape(AS_WRITTEN.sub(" ", response.content.decode()))
    return sorted({found[0] for found in OF_MACHINES.finditer(said)})


FILTERS = re.compile(r'<form\b[^>]*\bclass="filters\b.*?</form>', re.DOTALL)
TYPED = re.compile(r'<input\b(?![^>]*type="(?:hidden|checkbox|radio)")[^>]*\bname="(table|link|level|hand|kind|state)"')


def typed_where_chosen(response: Any) -> list[str]:
    """Filters that are typed although the house knows every value that they may have."""
    return [name for form in FILTERS.findall(response.content.decode()) for name in TYPED.findall(form)]


def walk(client: Client, *begins: str, most: int) -> Walk:
    """Open the pages that somebody can come to, of every kind so many at most.

    Among `wrong` is what is no page, what is said there in the words of machines, and what must be typed in a filter.
    """
    seen, came, walked = set[str](), Counter[str](), Walk()
    todo = deque(begins)
    while todo:
        address = todo.popleft()
        if address in seen:
            continue
        seen.add(address)
        kind = kind_of(address)
        came[kind] += 1
        if came[kind] > most:
            continue
        response = client.get(address)
        if response.status_code == 302 and not response.headers["Location"].startswith(reverse("sign-in")):
            todo.append(
                urljoin(address, response.headers["Location"])
            )  # the house's own address leads to one's first page
            continue
        content = response.headers["Content-Type"]
        if "attachment" in response.headers.get("Content-Disposition", ""):
            continue  # evidence that was handed in
        if response.status_code != 200 or not content.startswith("text/html"):
            walked.wrong.append(f"{address}: {response.status_code} {content}")
            continue
        walked.kinds.setdefault(kind, []).append(address)
        walked.wrong += [f"{address} says {said}" for said in machine_words(response)]
        walked.wrong += [f"{address} has {name} typed" for name in typed_where_chosen(response)]
        todo += links_of(response, address)
    return walked


def pages_of(client: Client, *roles: str, most: int = 2) -> Walk:
    """The pages that somebody of these roles comes to from the menu, the account and the bar."""
    sections = [reverse(section.address) for section in SECTIONS if not section.roles.isdisjoint(roles)]
    return walk(client, *sections, reverse("account"), most=most)
