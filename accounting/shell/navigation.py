"""The parts of the pages, and which roles use each of them."""

from collections.abc import Collection
from typing import NamedTuple

from accounting.rules.roles import (
    ACCOUNTING,
    ADMINISTRATOR,
    AUDITOR,
    CONTROLLER,
    MANAGER,
    ROLES,
    SECURITY,
    SUPERVISOR,
)


class Section(NamedTuple):
    """A part of the pages: its address by name, the key that follows `g`, its icon, what it is for, who uses it."""

    code: str
    name: str
    key: str
    icon: str
    address: str
    purpose: str
    roles: frozenset[str]


HOUSE = frozenset(ROLES) - {SECURITY}
"""Everybody who has to do with the game and its money. Whoever gives out roles needs to see neither."""

SECTIONS = (
    Section("floor", "Floor", "f", "layout-dashboard", "floor", "Tables, meters and rounds as they happen", HOUSE),
    Section("jackpots", "Jackpots", "j", "diamond", "jackpots", "Links, their levels, meters and hits", HOUSE),
    Section("hits", "Hits", "h", "clock", "hits", "Awards on their way to be paid: whose turn it is", HOUSE),
    Section("payouts", "Payouts", "p", "cash", "payout-search", "What was paid, and how each sum was reached", HOUSE),
    Section(
        "slips", "Slips", "l", "printer", "slips", "Hand pays: slips by number, their prints, tax forms",
        HOUSE - {ADMINISTRATOR},
    ),
    Section(
        "accounting", "Accounting", "a", "report-money", "accounting",
        "Balances by gaming day, liabilities against meters", frozenset({ACCOUNTING, CONTROLLER, AUDITOR}),
    ),
    Section(
        "reports", "Reports", "r", "file-download", "reports",
        "Reports on screen and as files: meters, hand pays, play, books, control",
        frozenset({ACCOUNTING, CONTROLLER, AUDITOR, MANAGER}),
    ),
    Section(
        "audit", "Audit", "u", "shield-check", "audit",
        "Who did what, hash chains, how to verify", frozenset({AUDITOR, CONTROLLER}),
    ),
    Section(
        "devices", "Devices", "d", "router", "devices",
        "Gateways, the queue and significant events", frozenset({SUPERVISOR, MANAGER, AUDITOR, ADMINISTRATOR, SECURITY}),
    ),
    Section(
        "people", "People", "o", "users", "people",
        "Who works here: roles, ways in, sessions, tokens", frozenset({AUDITOR, SECURITY}),
    ),
    Section(
        "decisions", "Decisions", "w", "checks", "decisions", "What people ask for, and who must agree", frozenset(ROLES)
    ),
    Section(
        "set-up", "Set-up", "s", "settings", "set-up",
        "Property, links, tables, terms and paytables", frozenset({AUDITOR, ADMINISTRATOR}),
    ),
)  # fmt: skip


def may_use(section: str, roles: Collection[str]) -> bool:
    """Whether any of these roles uses the section. Raises KeyError for a section that does not exist."""
    return not _BY_CODE[section].roles.isdisjoint(roles)


def roles_using(section: str) -> frozenset[str]:
    """The roles that use a section. Raises KeyError for a section that does not exist."""
    return _BY_CODE[section].roles


def home(roles: Collection[str]) -> Section | None:
    """Where these roles begin: the first section that they use; None for somebody without a role."""
    return next((section for section in SECTIONS if not section.roles.isdisjoint(roles)), None)


_BY_CODE = {section.code: section for section in SECTIONS}
