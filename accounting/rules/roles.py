"""The roles of the people who work here, and which of them one person may hold together (SPEC §1)."""

from collections.abc import Collection, Iterable

SUPERVISOR = "supervisor"
MANAGER = "manager"
ACCOUNTING = "accounting"
CONTROLLER = "controller"
CAGE = "cage"
AUDITOR = "auditor"
ADMINISTRATOR = "administrator"
SECURITY = "security"

ROLES = {
    SUPERVISOR: "pit supervisor",
    MANAGER: "shift manager",
    ACCOUNTING: "accounting",
    CONTROLLER: "accounting manager",
    CAGE: "cage",
    AUDITOR: "auditor",
    ADMINISTRATOR: "links administrator",
    SECURITY: "security",
}

GAMING = frozenset({SUPERVISOR, MANAGER, ADMINISTRATOR})
"""Roles that decide what is played and under which terms."""

BOOKS = frozenset({ACCOUNTING, CONTROLLER, CAGE})
"""Roles that count what was played, pay it and keep the books."""

FORESIGHT = frozenset({ADMINISTRATOR, ACCOUNTING, CONTROLLER, AUDITOR})
"""Roles that see what proposed terms of a link would come to, before anybody signs them."""


class RolesRefused(ValueError):
    """Roles that one person may not hold. `rule` is the sentence they break, and the database's name of it."""

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(detail)
        self.rule = rule


def may_hold(roles: Collection[str]) -> bool:
    """Whether one person may hold all of these roles."""
    try:
        require_together(roles)
    except RolesRefused:
        return False
    return True


def require_together(roles: Collection[str]) -> None:
    """Raise RolesRefused unless one person may hold all of these roles.

    Whoever decides the game does not keep the books, whoever looks at everything changes nothing, and whoever gives out
    roles has none that decides money. The database refuses the same (`people/0001`).
    """
    held = frozenset(roles)
    if unknown := sorted(held - ROLES.keys()):
        raise RolesRefused("a_role_is_one_of_the_house", f"no role {unknown[0]!r}: there are {', '.join(ROLES)}")
    if AUDITOR in held and len(held) > 1:
        raise RolesRefused("an_auditor_holds_no_other_role", f"an auditor holds no other role: {_listed(held)}")
    if SECURITY in held and held & (GAMING | BOOKS):
        raise RolesRefused(
            "security_holds_no_role_that_decides_money", f"security holds no role that decides money: {_listed(held)}"
        )
    if held & GAMING and held & BOOKS:
        raise RolesRefused(
            "nobody_holds_gaming_and_accounting_roles",
            f"nobody holds a gaming role and an accounting role: {_listed(held & GAMING)} with {_listed(held & BOOKS)}",
        )


def in_order(roles: Iterable[str]) -> list[str]:
    """Roles in the order of the house; what is no role of it is left out."""
    held = frozenset(roles)
    return [role for role in ROLES if role in held]


def _listed(roles: Iterable[str]) -> str:
    return ", ".join(in_order(roles))
