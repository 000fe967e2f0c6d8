"""Who works here: the roles, and which part of the pages each of them uses (SPEC §1)."""

from collections.abc import Collection
from typing import NamedTuple

SUPERVISOR = "supervisor"
ACCOUNTING = "accounting"
AUDITOR = "auditor"
ADMINISTRATOR = "administrator"

ROLES = {
    SUPERVISOR: "pit supervisor",
    ACCOUNTING: "accounting",
    AUDITOR: "auditor",
    ADMINISTRATOR: "links administrator",
}


class Section(NamedTuple):
    """A part of the pages: its address by name, the key that follows `g`, its icon, what it is for, who uses it."""

    code: str
    name: str
    key: str
    icon: str
    address: str
    purpose: str
    roles: frozenset[str]


EVERYONE = frozenset(ROLES)

SECTIONS = (
    Section("floor", "Floor", "f", "layout-dashboard", "floor", "Tables, meters and rounds as they happen", EVERYONE),
    Section("jackpots", "Jackpots", "j", "diamond", "jackpots", "Links, their levels, meters and hits", EVERYONE),
    Section("payouts", "Payouts", "p", "cash", "payout-search", "What was paid, and how each sum was reached", EVERYONE),
    Section(
        "accounting", "Accounting", "a", "report-money", "accounting",
        "Balances by gaming day, liabilities against meters", frozenset({ACCOUNTING, AUDITOR}),
    ),
    Section(
        "audit", "Audit", "u", "shield-check", "audit",
        "Who did what, hash chains, how to verify", frozenset({AUDITOR}),
    ),
    Section(
        "devices", "Devices", "d", "router", "devices",
        "Gateways, the queue and significant events", frozenset({SUPERVISOR, AUDITOR, ADMINISTRATOR}),
    ),
    Section(
        "set-up", "Set-up", "s", "settings", "set-up",
        "Property, links, tables, terms and paytables", frozenset({AUDITOR, ADMINISTRATOR}),
    ),
)  # fmt: skip


def may_use(section: str, roles: Collection[str]) -> bool:
    """Whether any of these roles uses the section. Raises KeyError for a section that does not exist."""
    return not _BY_CODE[section].roles.isdisjoint(roles)


_BY_CODE = {section.code: section for section in SECTIONS}
