"""The ledger as a journal in plain text, as both hledger and beancount read it.

One text serves both. Accounts begin with their type, parts begin with a capital letter and hold letters, digits and hyphens only,
which is what beancount asks; they are opened by a line that hledger reads as an entry without postings. What else is to be said
stands in comments, which neither of them counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Final, NamedTuple

from accounting.rules.chart import CHART

CURRENCY: Final = "USD"
ROOTS: Final = {"asset": "Assets", "liability": "Liabilities", "income": "Income", "expense": "Expenses"}
PLAIN: Final = re.compile(r"[A-Za-z0-9-]", re.ASCII)


def plain_name(code: str, kind: str, owner: str) -> str:
    """An account's name in the journal: `Liabilities:Link-ms-mg01:Level-major:Reserve`; two accounts never share one."""
    root = ROOTS[CHART[kind].type]
    last = "".join(word.capitalize() for word in kind.split("_"))
    match CHART[kind].of:
        case "table":
            return f"{root}:Table-{plain(owner)}:{last}"
        case "level":
            link, _, level = owner.rpartition("/")
            return f"{root}:Link-{plain(link)}:Level-{plain(level)}:{last}"
    return f"{root}:{last}"


def plain(text: str) -> str:
    """A code in letters, digits and hyphens: any other sign becomes `-uHEX-`.

    So does a hyphen that could be taken for the beginning of one.
    """
    return "".join(
        sign
        if PLAIN.fullmatch(sign) and not (sign == "-" and text[place + 1 : place + 2] == "u")
        else f"-u{ord(sign):x}-"
        for place, sign in enumerate(text)
    )


class Posting(NamedTuple):
    """One line of an entry: the account's name in the journal, cents that are debited (negative: credited), and a remark."""

    account: str
    cents: int
    remark: str


def opening(account: str, on: date, remark: str) -> str:
    """The line that opens an account."""
    return f"{on} open {account} {CURRENCY}{_said(remark)}\n"


def entry(on: date, what: str, about: str, reference: str, postings: Iterable[Posting]) -> str:
    """One entry with its postings, and an empty line behind it."""
    lines = [f"{on} * {_quoted(what)} {_quoted(about)}{_said(reference)}\n"]
    lines += [f"  {account}  {dollars(cents)} {CURRENCY}{_said(remark)}\n" for account, cents, remark in postings]
    return "".join(lines) + "\n"


def comment(text: str) -> str:
    """A line that is for people."""
    return f"; {_one_line(text)}\n"


def dollars(cents: int) -> str:
    """Whole cents in dollars, exactly and without anything between thousands: -123456 is `-1234.56`."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def _said(remark: str) -> str:
    return f"  ; {_one_line(remark)}" if remark else ""


def _quoted(text: str) -> str:
    """A text in quotation marks; hledger takes a semicolon for the beginning of a comment even there."""
    return '"' + _one_line(text).replace("\\", "\\\\").replace('"', '\\"').replace(";", ",") + '"'


def _one_line(text: str) -> str:
    return " ".join(text.split())
