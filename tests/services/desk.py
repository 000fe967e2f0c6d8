"""Acts of a house that exists in tests only: what they do is written to the database like any other act's."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from accounting.models import Property
from accounting.office.acts import Act, Asked, Change, Foreseen, Performed, Tier
from accounting.office.rules.person import Person
from accounting.rules.acts import CHOICE, CHOICES, FLAG, MOMENT, NESTED, TEXT, WHOLE, ActRefused, Field, Shape
from accounting.rules.roles import ROLES

HOUSE = "BOS"
ANYBODY = {role: Person(f"{role}.one", frozenset({role}), "10.0.0.7") for role in ROLES}
ANOTHER = {role: Person(f"{role}.two", frozenset({role}), "10.0.0.8") for role in ROLES}


def version(subject: str) -> str | None:
    """The property by its code; its name and place are what changes."""
    found = Property.objects.filter(code=subject).first()
    return None if found is None else sha256(f"{found.name}\n{found.jurisdiction}".encode()).hexdigest()[:12]


def foresee_name(asked: Asked) -> Foreseen:
    """The new name beside the old one; a house called Locked keeps its name."""
    home = Property.objects.get(code=asked.subject)
    if home.name == "Locked":
        raise ActRefused("wrong_state", None, "the name is locked")
    if asked.payload["name"] == home.name:
        raise ActRefused("invalid_value", "/payload/name", "that is its name already")
    return Foreseen((Change("name", home.name, asked.payload["name"]),), "Signs show it at once.")


def rename(asked: Asked) -> Performed:
    """Give the property its new name; `Unlucky` is refused by a rule that nobody foresees, `Boom` breaks."""
    Property.objects.update(name=asked.payload["name"])
    if asked.payload["name"] == "Unlucky":
        raise ActRefused("unlucky", "/payload/name", "no house is called that")
    if asked.payload["name"] == "Boom":
        raise RuntimeError("a broken assumption")
    return Performed("ms-mg01", 0, f"renamed, {len(asked.approved_by)} agreed")


def foresee_grant(asked: Asked) -> Foreseen:
    """What stands in the place of the sum."""
    home = Property.objects.get(code=asked.subject)
    return Foreseen((Change("granted", home.jurisdiction, str(asked.payload["cents"])),))


def grant(asked: Asked) -> Performed:
    """Write the sum down."""
    Property.objects.update(jurisdiction=str(asked.payload["cents"]))
    return Performed()


TERMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "survives": {"type": "boolean"},
        "scope": {"enum": ["base", "seat"]},
        "limit_cents": {"type": "integer", "minimum": 1},
    },
    "additionalProperties": False,
}
REASONS: dict[str, Any] = {"type": "array", "items": {"type": "string", "enum": ["dark", "wet"]}}


def any_value(value: Any, pointer: str) -> None:
    """Whatever it is."""


def read_terms(value: Any, pointer: str) -> None:
    """A limit of a million at most."""
    if value.get("limit_cents", 0) > 100_000_000:
        raise ActRefused("invalid_value", f"{pointer}/limit_cents", "a million at most")


RENAME = Act(
    shape=Shape("house.rename", "property", (Field("name", TEXT, "New name", least=1, most=100),)),
    title="Rename the house",
    proposes=frozenset({"administrator"}),
    approves=(Tier(0, "manager", 1),),
    version=version,
    foresee=foresee_name,
    perform=rename,
)
GRANT = Act(
    shape=Shape(
        "house.grant",
        "property",
        (
            Field("cents", WHOLE, "Amount", least=-(10**12), most=10**12, money=True),
            Field("part", CHOICE, "Part", required=False, choices=("display", "reserve")),
        ),
    ),
    title="Grant a sum",
    proposes=frozenset({"supervisor", "manager"}),
    approves=(Tier(0, "manager", 1), Tier(10_000_000, "controller", 1), Tier(100_000_000, "controller", 2)),
    reasons=("correction", "boost"),
    evidence=True,
    amount=lambda payload: int(payload["cents"]),
    version=version,
    foresee=foresee_grant,
    perform=grant,
)
NOTE = Act(
    shape=Shape(
        "house.note",
        "property",
        (
            Field("name", TEXT, "Name", help="As it stands on signs."),
            Field("since", MOMENT, "Since", required=False),
            Field("loud", FLAG, "Loud", required=False),
            Field("signs", CHOICES, "Signs", required=False, choices=("pit", "cage", "door")),
            Field("limit", WHOLE, "Limit", required=False, least=1, money=True, may_be_null=True),
            Field("terms", NESTED, "Terms", required=False, read=read_terms, schema=TERMS),
            Field("reasons", NESTED, "Reasons", required=False, read=any_value, schema=REASONS),
            Field("message", NESTED, "Message", required=False, read=any_value, schema={"type": "object"}),
        ),
    ),
    title="Name the house at once",
    proposes=frozenset({"supervisor"}),
    version=version,
    foresee=foresee_name,
    perform=rename,
    begins=lambda subject: {"name": f"{subject} anew", "limit": 125_000, "loud": True, "message": {"a": [1]}},
)
ACTS = {act.name: act for act in (RENAME, GRANT, NOTE)}


def asking(act: Any = "house.rename", **changes: Any) -> dict[str, Any]:
    """The object that asks for an act, right until something in it is changed."""
    payload: dict[str, dict[str, Any]] = {
        "house.rename": {"name": "Boston Light"},
        "house.grant": {"cents": 500},
        "house.note": {"name": "Quay"},
    }
    body: dict[str, Any] = {"act": act, "subject": HOUSE, "payload": payload.get(act, {}), "reason": "correction"}
    if act == "house.grant":
        body["evidence"] = {"reference": "Ticket 4711"}
    return body | changes


def the_name() -> str:
    """What the house is called."""
    return Property.objects.get().name
