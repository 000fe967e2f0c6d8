"""Who won: what is taken down for tax forms, who may take it down, and who may look at it (REQUIREMENTS R111–R113)."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from accounting.rules.acts import ActRefused
from accounting.rules.roles import ACCOUNTING, CAGE, CONTROLLER, MANAGER, SUPERVISOR

TAKES_DOWN: Final = frozenset({CAGE, SUPERVISOR, MANAGER, ACCOUNTING, CONTROLLER})
"""Who hands money over asks who gets it; the books complete what was left out."""

LOOKS: Final = frozenset({ACCOUNTING, CONTROLLER})
"""Who files the forms. Nobody else sees a name or a number once it was taken down."""

MOST_PAYEES: Final = 20
FIELDS: Final = {
    "name": ("Name", 120),
    "address": ("Address", 300),
    "taxpayer_number": ("Taxpayer's number", 11),
    "first_id": ("First identification", 80),
    "second_id": ("Second identification", 80),
}
"""What is taken down of each payee: what it is called, and how long it may be. Of two identifications one has a photograph."""

OPTIONAL: Final = ("taxpayer_number",)
EMPLOYER: Final = re.compile(r"\d{2}-\d{7}", re.ASCII)
NUMBER: Final = re.compile(rf"\d{{3}}-?\d{{2}}-?\d{{4}}|{EMPLOYER.pattern}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Winner:
    """One payee: who, where, under which taxpayer's number, seen by which identifications; their cents.

    The number is nine digits of a person, an employer's with its hyphen (`12-3456789`), or none.
    """

    name: str
    address: str
    taxpayer_number: str
    first_id: str
    second_id: str
    share_cents: int

    def kept(self) -> dict[str, Any]:
        """What is sealed: everything but the share, which the books need."""
        return {name: value for name, value in asdict(self).items() if name != "share_cents"}


def winners(given: object, cents: int) -> tuple[Winner, ...]:
    """The payees of a payout, every value judged. ActRefused with the pointer of the first fault; shares total the payout."""
    if type(given) is not list or not 1 <= len(given) <= MOST_PAYEES:
        raise ActRefused("invalid_value", "/payees", f"one payee to {MOST_PAYEES} are expected")
    found = tuple(_winner(one, f"/payees/{place}") for place, one in enumerate(given))
    total = sum(winner.share_cents for winner in found)
    if total != cents:
        raise ActRefused("shares_differ", "/payees", f"the shares come to {total} cents, the payout to {cents}")
    return found


def _winner(given: object, pointer: str) -> Winner:
    if type(given) is not dict:
        raise ActRefused("invalid_value", pointer, "an object is expected")
    for key in given:
        if key not in FIELDS and key != "share_cents":
            raise ActRefused("unknown_field", f"{pointer}/{key}", f"a payee has no {key}")
    said = {name: _text(given, name, f"{pointer}/{name}") for name in FIELDS}
    number = said["taxpayer_number"]
    if number and not NUMBER.fullmatch(number):
        raise ActRefused("invalid_value", f"{pointer}/taxpayer_number", "nine digits are expected, like 123-45-6789")
    said["taxpayer_number"] = number if EMPLOYER.fullmatch(number) else number.replace("-", "")
    if said["first_id"] == said["second_id"]:
        raise ActRefused("invalid_value", f"{pointer}/second_id", "two different identifications are expected")
    if "share_cents" not in given:
        raise ActRefused("missing_field", f"{pointer}/share_cents", "the share is missing")
    share = given["share_cents"]
    if type(share) is not int or not 1 <= share < 10**15:
        raise ActRefused("invalid_value", f"{pointer}/share_cents", "a share is a whole number of cents, 1 at least")
    return Winner(**said, share_cents=share)


def _text(given: Mapping[str, Any], name: str, pointer: str) -> str:
    title, longest = FIELDS[name]
    value = given.get(name, "")
    if type(value) is not str or len(value) > longest or not value.isprintable():
        raise ActRefused("invalid_value", pointer, f"{title}: text of {longest} characters at most")
    value = value.strip()
    if not value and name not in OPTIONAL:
        raise ActRefused("missing_field", pointer, f"{title} is missing")
    return value


def masked(number: str) -> str:
    """A taxpayer's number with its last four digits alone."""
    if EMPLOYER.fullmatch(number):
        return f"••-•••{number[-4:]}"
    return f"•••-••-{number[-4:]}" if number else "none"


def written(number: str) -> str:
    """A taxpayer's number as forms have it."""
    if EMPLOYER.fullmatch(number):
        return number
    return f"{number[:3]}-{number[3:5]}-{number[5:]}" if number else "none"
