"""`python3 manage.py roles`: which role may do what, written down from the declarations (`docs/roles.md`)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from accounting.office import registry
from accounting.office.acts import Act
from accounting.office.rules.dollars import typed
from accounting.reporting.registry import reports
from accounting.rules.roles import BOOKS, GAMING, ROLES
from accounting.shell.navigation import SECTIONS

PAGE = Path("docs") / "roles.md"
BEFORE = """# Who may do what

Written by `python3 manage.py roles` from what the apps declare (`acts`, `reports`, `accounting/shell/navigation.py`); a test
fails when it is stale. Who must agree from which amount is what a house begins with: it is data afterwards.

Nobody holds a gaming role ({gaming}) together with one of the books ({books}); an auditor holds no other role, and security
none that decides money.

## Acts

**asks**: `POST /api/v1/proposals`, the form of the act, and `…/withdrawal` of one's own. **agrees**: `…/approvals` of what
somebody else asked for, and `…/refusal`; how many of the role must agree stands beside it, and from which amount. An act
to which nobody must agree is done when it is asked for. Every other call of the act by the role is answered 403
`not_your_role`. Reading proposals and events is open to all of them.
"""


class Command(BaseCommand):
    """Writes the page, or says whether it is what the declarations say."""

    help = "Write docs/roles.md: the matrix of roles, acts and pages, from the declarations."
    example = "roles"
    requires_system_checks: list[Any] = []

    def handle(self, *args: Any, **options: Any) -> None:
        PAGE.write_text(document(), "utf-8")
        self.stdout.write(f"{PAGE} written: {len(registry.acts())} acts, {len(ROLES)} roles")


def document() -> str:
    """The whole page, as Markdown."""
    acts = [[f"`{act.name}`<br>{act.title}", *(_may(act, role) for role in ROLES)] for act in registry.acts().values()]
    pages = [[f"{one.name}<br>{one.purpose}", *("sees" * (role in one.roles) for role in ROLES)] for one in SECTIONS]
    before = BEFORE.format(gaming=_listed(GAMING), books=_listed(BOOKS))
    made = [
        [f"`{one.code}`<br>{one.title}", *("sees" * (role in one.roles) for role in ROLES)]
        for one in reports().values()
    ]
    parts = [
        *_table("Act", acts),
        "",
        "## Pages",
        "",
        *_table("Page", pages),
        "",
        "## Reports",
        "",
        *_table("Report", made),
    ]
    return "\n".join([before, *parts, ""])


def _may(act: Act, role: str) -> str:
    """What a role may do with an act: ask for it, agree to it."""
    said = ["asks"] if role in act.proposes else []
    for tier in sorted(act.approves, key=lambda tier: tier.from_cents):
        if tier.role == role and tier.count:
            amount = f" from ${typed(tier.from_cents)}" if tier.from_cents else ""
            said.append(f"agrees ({tier.count}{amount})")
    return ", ".join(said)


def _table(what: str, rows: Iterable[list[str]]) -> list[str]:
    heads = [what, *ROLES]
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]


def _listed(roles: Iterable[str]) -> str:
    return ", ".join(role for role in ROLES if role in frozenset(roles))
