"""Who changes people, and putting it on record."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounting.people.rules.names import subject_of
from accounting.services import audit


class PersonRefused(Exception):
    """What was asked for about a person cannot be done. `code` says which rule, `field` what was given wrongly."""

    def __init__(self, code: str, detail: str, field: str = "") -> None:
        super().__init__(detail)
        self.code = code
        self.field = field


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, by account name or as a command at the server, and from where: the client's address."""

    name: str
    address: str = ""
    at_server: bool = False

    def is_not(self, name: str) -> None:
        """Raise PersonRefused where people would act on themselves: nobody changes his own standing."""
        if self.name == name:
            raise PersonRefused("own_account", "Nobody changes their own roles, standing or way in: ask a colleague.")


def on_record(
    by: Actor, action: str, name: str, at: datetime, /, *, before: dict[str, Any] | None = None, **after: Any
) -> None:
    """Write an act about a person into the audit trail, what it found and what it left. Comes last in a transaction."""
    detail = {"before": before or {}, "after": after}
    audit.record(at=at, actor=by.name, action=action, subject=subject_of(name), detail=detail, origin=by.address)
