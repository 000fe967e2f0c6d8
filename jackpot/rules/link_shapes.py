"""What people may send about a link: the shapes of its acts, each value judged by itself (DECISIONS A55, A65, A70)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from accounting.rules.acts import MOMENT, NESTED, TEXT, ActRefused, Field, Shape, escaped
from jackpot.rules import definition
from jackpot.rules import link as definitions
from jackpot.rules.definition import PLAIN_CODE, DefinitionRefused
from jackpot.rules.levels import MOST_CENTS
from jackpot.rules.link import LEVEL_KEYS, LINK_KEYS, MAY_BE_NONE
from jackpot.rules.meter import MILLION
from jackpot.rules.parts import PARTS
from jackpot.rules.paytable import builtin

# Where a part of a closing link may go when it goes to no level, and the account that gets it (DECISIONS A65).
ENDS: Final = {"regulator_order": "adjustments", "revenue_booked": "revenue"}

_INITIAL: Final = {
    "type": "integer", "minimum": 0, "maximum": MOST_CENTS, "title": "opens with",
    "description": "its reset where this is left empty",
}  # fmt: skip
_CENTS: Final = {"type": "integer", "minimum": 0, "maximum": definition.MOST_CENTS}
_PPM: Final = {"type": "integer", "minimum": 0, "maximum": MILLION, "description": "parts per million of the wager"}
LEVEL_SCHEMA: Final[dict[str, Any]] = {
    "code": {"type": "string"},
    "reset_cents": _CENTS,
    "rate_ppm": _PPM,
    "reserve_ppm": _PPM | {"title": "reserve rate"},
    "limit_cents": _CENTS | {"minimum": 1},
    "unreasonable_cents": _CENTS | {"title": "most of one round"},
    "overflow_policy": {"type": "string", "enum": ["next_reset", "revenue"]},
    "seed_funding": {"type": "string", "enum": ["reserve_then_house", "house"]},
    "floor_policy": {"type": "string", "enum": ["allow", "top_up"]},
}
"""The JSON Schema of each key of a level, for whoever fills in a form; what it may hold is said by `link.read`."""


def _object(value: Any, pointer: str, keys: Collection[str], what: str) -> None:
    if type(value) is not dict:
        raise ActRefused("invalid_value", pointer, f"{what}: an object is expected")
    for key in value:
        if key not in keys:
            raise ActRefused("unknown_field", f"{pointer}/{escaped(key)}", f"{what} has no {key}")


def _read_link(value: Any, pointer: str) -> None:
    """A link as CONTRACT §1 has it; with a paytable that only the floor knows it is read again by `file`."""
    _object(value, pointer, LINK_KEYS, "a link")
    code = value.get("code")
    if type(code) is str and code and PLAIN_CODE.fullmatch(code) is None:
        # As in a floor file: a code could be taken for another, or break an address. Its levels' are its paytable's.
        raise ActRefused(
            "invalid_value", f"{pointer}/code", f"printable ASCII without spaces or slashes is expected ({code!a})"
        )
    try:
        definitions.read(value, builtin(), however_rare=True)
    except DefinitionRefused as refused:
        if refused.path != "paytable" or refused.code != "invalid_value":
            raise ActRefused(refused.code, f"{pointer}{refused.pointer}", refused.detail) from None


def _read_initial(value: Any, pointer: str) -> None:
    if type(value) is not dict:
        raise ActRefused("invalid_value", pointer, "Initial amounts: an object is expected")
    for level, cents in value.items():
        if type(cents) is not int or not 0 <= cents <= MOST_CENTS:
            raise ActRefused("invalid_value", f"{pointer}/{escaped(level)}", "a whole number of cents is expected")


def _read_levels(value: Any, pointer: str) -> None:
    if type(value) is not list or not value:
        raise ActRefused("invalid_value", pointer, "Levels: a list of levels is expected")
    for place, level in enumerate(value):
        at = f"{pointer}/{place}"
        _object(level, at, LEVEL_KEYS, "a level")
        if "code" not in level:
            raise ActRefused("missing_field", f"{at}/code", "which level is missing")
        if type(level["code"]) is not str or level["code"] in (other["code"] for other in value[:place]):
            raise ActRefused("invalid_value", f"{at}/code", "a level, each once, is expected")
        for key in LEVEL_KEYS:
            if key in level and not _may_be(key, level[key]):
                raise ActRefused("invalid_value", f"{at}/{key}", f"{key} cannot be {level[key]}")


def _may_be(key: str, value: object) -> bool:
    """Whether a level's key may hold a value, by itself; None takes a limit away."""
    schema = LEVEL_SCHEMA[key]
    if value is None:
        return key in MAY_BE_NONE
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "string":
        return type(value) is str
    return type(value) is int and schema["minimum"] <= value <= schema["maximum"]


def _read_disposition(value: Any, pointer: str) -> None:
    if type(value) is not list:
        raise ActRefused("invalid_value", pointer, "Disposition: a list is expected")
    for place, item in enumerate(value):
        at = f"{pointer}/{place}"
        _object(item, at, ("level", "part", "to"), "a disposition")
        for key in ("level", "part", "to"):
            if key not in item:
                raise ActRefused("missing_field", f"{at}/{key}", f"{key} is missing")
            if type(item[key]) is not str or (key == "part" and item[key] not in PARTS):
                raise ActRefused("invalid_value", f"{at}/{key}", f"{key}: {item[key]} is not expected")


COUNTS_FROM: Final = Field(
    "counts_from", MOMENT, "Counts from", required=False, help="not before it is decided; at once where it is left out"
)
FILE: Final = Shape(
    "link.file",
    "link",
    (
        Field(
            "link", NESTED, "Link", read=_read_link, subject_at="code",
            schema={
                "type": "object",
                "properties": {
                    "code": {"type": "string"}, "name": {"type": "string"}, "paytable": {"type": "string"},
                    "decks": {"type": "integer", "minimum": 1, "maximum": 8},
                    "envy_scope": {"type": "string", "enum": ["table"]}, "tie_policy": {"type": "string", "enum": ["sequential"]},
                    "levels": {
                        "type": "array",
                        "items": {
                            "type": "object", "properties": LEVEL_SCHEMA,
                            "required": ["code", "reset_cents", "rate_ppm"], "additionalProperties": False,
                        },
                    },
                },
                "required": ["code", "paytable", "levels"],
                "additionalProperties": False,
            },
        ),
        Field(
            "initial", NESTED, "Initial amounts", required=False, read=_read_initial,
            help="what each level opens with; its reset where it is not named",
            schema={"type": "object", "additionalProperties": _INITIAL}, beside=("link", "levels", "code"),
        ),
        Field("filing", TEXT, "Filing", least=1, most=200, help="the reference of the approval"),
    ),
)  # fmt: skip
OPENING: Final = Shape("link.open", "link", (COUNTS_FROM,))
SUSPEND: Final = Shape("link.suspend", "link", (COUNTS_FROM,))
RESUME: Final = Shape("link.resume", "link", (COUNTS_FROM,))
CLOSE: Final = Shape(
    "link.close",
    "link",
    (
        Field(
            "disposition", NESTED, "Disposition", read=_read_disposition,
            help="where each part goes that is not at zero",
            schema={
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "level": {"type": "string"},
                        "part": {"type": "string", "enum": list(PARTS)},
                        "to": {"type": "string", "description": f"LINK/LEVEL, or {' or '.join(ENDS)}"},
                    },
                    "required": ["level", "part", "to"],
                    "additionalProperties": False,
                },
            },
        ),
    ),
)  # fmt: skip
TERMS: Final = Shape(
    "link.terms",
    "link",
    (
        Field(
            "levels", NESTED, "Levels", read=_read_levels,
            schema={
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": LEVEL_SCHEMA
                    | {key: LEVEL_SCHEMA[key] | {"type": ["integer", "null"]} for key in MAY_BE_NONE},
                    "required": ["code"],
                    "additionalProperties": False,
                },
            },
        ),
        COUNTS_FROM,
    ),
)  # fmt: skip
