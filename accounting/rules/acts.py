"""Acts: what people decide, as they may be asked for (CONTRACT §7, DECISIONS A71, A72).

An app declares the shape of each of its acts here in plain Python; pages, the API and `settle` read what people send
by the same shape, so that one and the same fault has one code and one pointer everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accounting.rules.moments import is_moment

TEXT: Final = "text"
WHOLE: Final = "whole"  # a whole number
FLAG: Final = "flag"
CHOICE: Final = "choice"
CHOICES: Final = "choices"  # several of them, each once, at least one
MOMENT: Final = "moment"
NESTED: Final = "nested"  # an object or list that `read` judges

LONGEST_TEXT: Final = 2_000


class ActRefused(Exception):
    """An act that cannot be done: a code to act on, the pointer of the value at fault where one is, and words for people."""

    def __init__(self, code: str, pointer: str | None = None, detail: str = "") -> None:
        super().__init__(code, pointer, detail)
        self.code = code
        self.pointer = pointer
        self.detail = detail

    def __str__(self) -> str:
        return self.detail or self.code.replace("_", " ")


@dataclass(frozen=True)
class Field:
    """One key of an act's payload: what it is, what it is called, and what it may hold.

    `read` judges a nested value at its pointer and raises ActRefused; `schema` is its JSON Schema. `beside` is for an object
    of values by name whose names are typed elsewhere, in a key of each row of a list: a form asks for the value there.
    `subject_at` is the key of an object that must name the act's subject: a form does not ask for it twice.
    """

    name: str
    kind: str
    title: str
    required: bool = True
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    may_be_null: bool = False
    money: bool = False  # whole cents, typed by people as dollars
    rate: bool = False  # parts per million, typed by people as percent
    help: str = ""
    read: Callable[[Any, str], Any] | None = None
    schema: Mapping[str, Any] | None = None
    beside: tuple[str, ...] = ()
    subject_at: str = ""


@dataclass(frozen=True)
class Shape:
    """The shape of one act: its name, what it is about (`link`, `level`, `table`, `round` …) and the keys of its payload."""

    name: str
    subject: str
    fields: tuple[Field, ...] = ()

    def read(self, payload: object, pointer: str = "/payload") -> dict[str, Any]:
        """The payload as sent, every value judged; ActRefused for its first fault (DECISIONS A71).

        Unknown keys come first, then the keys in the order of the shape.
        """
        if type(payload) is not dict:
            raise ActRefused("invalid_value", pointer, "an object is expected")
        known = {field.name for field in self.fields}
        for key in payload:
            if key not in known:
                raise ActRefused("unknown_field", f"{pointer}/{escaped(key)}", f"{self.name} has no {key}")
        for field in self.fields:
            if field.name in payload:
                judge(field, payload[field.name], f"{pointer}/{field.name}")
            elif field.required:
                raise ActRefused("missing_field", f"{pointer}/{field.name}", f"{field.title} is missing")
        return payload

    def schema(self) -> dict[str, Any]:
        """The payload's JSON Schema, for `GET /api/v1/acts`."""
        return {
            "type": "object",
            "properties": {field.name: field_schema(field) for field in self.fields},
            "required": [field.name for field in self.fields if field.required],
            "additionalProperties": False,
        }


def judge(field: Field, value: Any, pointer: str) -> None:
    """Raise ActRefused `invalid_value` unless a key's value is what the field may hold."""
    if value is None and field.may_be_null:
        return
    if field.kind == NESTED:
        assert field.read is not None, f"{field.name} has nobody to read it"
        field.read(value, pointer)
        return
    if field.kind == CHOICES and type(value) is list:
        for place, item in enumerate(value):
            if type(item) is not str or item not in field.choices or item in value[:place]:
                raise ActRefused("invalid_value", f"{pointer}/{place}", f"{field.title}: {expected(field)} is expected")
    if not _fits(field, value):
        raise ActRefused("invalid_value", pointer, f"{field.title}: {expected(field)} is expected")


def _fits(field: Field, value: Any) -> bool:
    match field.kind:
        case "text":
            most = LONGEST_TEXT if field.most is None else field.most
            return type(value) is str and (field.least or 0) <= len(value) <= most and "\0" not in value
        case "whole":
            return (
                type(value) is int
                and (field.least is None or value >= field.least)
                and (field.most is None or value <= field.most)
            )
        case "flag":
            return type(value) is bool
        case "choice":
            return type(value) is str and value in field.choices
        case "choices":
            return type(value) is list and bool(value)  # its items have been judged
        case "moment":
            return is_moment(value)
    raise ValueError(f"{field.kind} is no kind of field")


def expected(field: Field) -> str:
    """What a field may hold, in words."""
    match field.kind:
        case "whole":
            bounds = [f"{field.least:,} at least"] if field.least is not None else []
            bounds += [f"{field.most:,} at most"] if field.most is not None else []
            return "a whole number" + (f", {' and '.join(bounds)}" if bounds else "")
        case "flag":
            return "true or false"
        case "choice":
            return f"one of {', '.join(field.choices)}"
        case "choices":
            return f"a list of {', '.join(field.choices)}, each once"
        case "moment":
            return "a moment with its offset, like 2026-11-27T22:00:00-05:00,"
    return f"text of {LONGEST_TEXT if field.most is None else field.most:,} characters at most"


def field_schema(field: Field) -> dict[str, Any]:
    """The JSON Schema of one field."""
    found: dict[str, Any] = {"title": field.title}
    if field.help:
        found["description"] = field.help
    match field.kind:
        case "text":
            found |= {"type": "string", "maxLength": LONGEST_TEXT if field.most is None else field.most}
            if field.least:
                found["minLength"] = field.least
        case "whole":
            found["type"] = "integer"
            found |= {"minimum": field.least} if field.least is not None else {}
            found |= {"maximum": field.most} if field.most is not None else {}
        case "flag":
            found["type"] = "boolean"
        case "choice":
            found |= {"type": "string", "enum": list(field.choices)}
        case "choices":
            items = {"type": "string", "enum": list(field.choices)}
            found |= {"type": "array", "items": items, "uniqueItems": True, "minItems": 1}
        case "moment":
            found |= {"type": "string", "format": "date-time"}
        case _:
            found |= field.schema or {}
    if field.may_be_null:
        found["type"] = [found["type"], "null"]
    return found


def escaped(key: str) -> str:
    """A key as a step of an RFC 6901 pointer."""
    return key.replace("~", "~0").replace("/", "~1")
