"""The inputs that a form shows for the keys of an act: of plain keys one each, nested objects key by key, lists row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from accounting.rules import acts
from accounting.rules.acts import Field, expected

FOLDED = 72
"""So many characters of JSON stand on one line of a text area."""


@dataclass
class Input:
    """One value of the payload as a form shows it, with what was typed and what is wrong with that.

    `path` leads to it: a nested object whose keys are known is shown key by key, a list of such objects row by row. Rows in
    which nothing is typed are left out of what is sent; `sent` is the path as it is there. A value with `under` is sent in
    the object of that name, under what is typed in the input named by `key` of the same row. `now` is what is in force, in
    words.
    """

    of: Field
    path: tuple[str | int, ...]
    sent: tuple[str, ...] = ()
    typed: str = ""
    chosen: list[str] = field(default_factory=list)
    none: bool = False
    error: str = ""
    under: str = ""
    key: str = ""
    now: str = ""

    @property
    def name(self) -> str:
        """The input's name and id."""
        return f"p-{'.'.join(map(str, self.path))}"

    @property
    def error_id(self) -> str:
        """Where its error stands, for whoever hears the page."""
        return f"{self.name}-error"

    @property
    def rows(self) -> int:
        """How many lines its text area shows: what is in it with room for one more, long lines folded, eight at least."""
        return min(max(8, sum(1 + len(line) // FOLDED for line in self.typed.splitlines()) + 1), 40)

    @property
    def like(self) -> str:
        """What may be typed, in words."""
        if self.of.money:
            return "dollars, like 1,250.00"
        if self.of.rate:
            return "percent of the wager, like 17 or 17.0003"
        if self.of.kind == acts.MOMENT:
            return "like 2026-11-27 22:00, on the property's clock"
        if self.of.kind == acts.NESTED:
            return f"JSON: {outline(self.of.schema or {})}"
        return expected(self.of) if self.of.kind == acts.WHOLE else ""


SCALARS = {"boolean": acts.FLAG, "integer": acts.WHOLE, "string": acts.TEXT}


def inputs_of(field: Field) -> list[Input]:
    """How a key is typed: by one input, or a nested object with known plain keys by one for each of them."""
    if field.kind != acts.NESTED:
        return [Input(field, (field.name,))]
    schema = field.schema or {}
    choices = schema.get("items", {}).get("enum") if schema.get("type") == "array" else None
    if choices:
        return [Input(replace(field, kind=acts.CHOICES, choices=tuple(choices)), (field.name,))]
    if _is_list_of_objects(schema):
        return _row((field.name,), field.title, schema["items"], 0)
    keys = schema.get("properties", {}) if schema.get("additionalProperties") is False else {}
    if not keys or not all(_is_plain(key) or _is_list_of_objects(key) for key in keys.values()):
        return [Input(field, (field.name,))]
    needed = schema.get("required", ())
    found = []
    for name, key in keys.items():
        if _is_plain(key):
            found.append(Input(_plain(name, key, name in needed), (field.name, name)))
        else:
            found += _row((field.name, name), name.replace("_", " ").capitalize(), key["items"], 0)
    return found


def _is_plain(schema: Mapping[str, Any]) -> bool:
    return "enum" in schema or _type(schema) in SCALARS


def _type(schema: Mapping[str, Any]) -> Any:
    """The type of a key, that it may be null left out."""
    kind = schema.get("type")
    return next((one for one in kind if one != "null"), None) if isinstance(kind, list) else kind


def _is_list_of_objects(schema: Mapping[str, Any]) -> bool:
    """Whether it is a list that is typed row by row: its objects have known plain keys."""
    items = schema.get("items", {})
    keys = items.get("properties", {}) if items.get("additionalProperties") is False else {}
    return schema.get("type") == "array" and bool(keys) and all(_is_plain(key) for key in keys.values())


def _row(path: tuple[str | int, ...], title: str, items: Mapping[str, Any], row: int) -> list[Input]:
    """The inputs of one object of a list."""
    called = f"{title.removesuffix('s')} {row + 1}"
    return [
        Input(_plain(name, key, name in items.get("required", ()), f"{called}: "), (*path, row, name))
        for name, key in items["properties"].items()
    ]


def _plain(name: str, schema: Mapping[str, Any], required: bool, before: str = "") -> Field:
    kind = acts.CHOICE if "enum" in schema else SCALARS[_type(schema)]
    money, rate = (kind == acts.WHOLE and name.endswith(unit) for unit in ("_cents", "_ppm"))
    title = schema.get("title") or name.removesuffix("_cents").removesuffix("_ppm").replace("_", " ")
    return Field(
        name, kind, f"{before}{title}" if before else title[:1].upper() + title[1:], required=required,
        choices=tuple(schema.get("enum", ())), least=schema.get("minimum"), most=schema.get("maximum"), money=money, rate=rate,
        may_be_null=isinstance(schema.get("type"), list), help="" if rate else schema.get("description", ""),
    )  # fmt: skip


def outline(schema: Mapping[str, Any]) -> str:
    """What JSON is wanted, in words: `a list of {code, rate_ppm}`."""
    if schema.get("type") == "array":
        return f"a list of {outline(schema.get('items', {}))}"
    keys = ", ".join(schema.get("properties", ()))
    return (
        f"{{{keys}}}" if keys else "an object" if schema.get("type") == "object" else str(schema.get("type", "a value"))
    )


def put(payload: dict[Any, Any], path: tuple[str | int, ...], value: Any) -> None:
    """Put a value where its path leads; the objects of a list are put by their rows, and `listed` makes it a list."""
    *outer, last = path
    for key in outer:
        payload = payload.setdefault(key, {})
    payload[last] = value


def listed(value: Any) -> Any:
    """What was put together, with its lists as lists: rows in their order, none between them."""
    if not isinstance(value, dict):
        return value
    if value and all(type(key) is int for key in value):
        return [listed(value[row]) for row in sorted(value)]
    return {key: listed(inner) for key, inner in value.items()}


def placed(payload: dict[Any, Any], path: tuple[str | int, ...]) -> tuple[str, ...]:
    """A path as it leads through what was put together: rows counted from the first that is there, none of one that is not."""
    found: list[str] = []
    at: Any = payload
    for key in path:
        inside = at if isinstance(at, dict) else {}
        if type(key) is int:
            found.append(str(sorted(inside).index(key)) if key in inside else "")
        else:
            found.append(str(key))
        at = inside.get(key)
    return tuple(found)


def shared(path: Sequence[str], pointed: Sequence[str]) -> int:
    """How many steps two paths go together."""
    return next((step for step, (one, other) in enumerate(zip(path, pointed, strict=False)) if one != other),
                min(len(path), len(pointed)))  # fmt: skip


def row_at(one: Input) -> int:
    """Where the row stands in the path of an input of a list; 0 where it is of none."""
    return next((place for place, key in enumerate(one.path) if type(key) is int), 0)


def again(one: Input, path: tuple[str | int, ...], row: int) -> Input:
    """An input of the first row of a list once more, in another row."""
    title = one.of.title.replace(" 1: ", f" {row + 1}: ", 1)
    again_path = (*path, row, *one.path[len(path) + 1 :])
    return Input(replace(one.of, title=title), again_path, under=one.under, key=one.key)


def all_inputs(fields: Sequence[Field]) -> list[Input]:
    """The inputs of an act's keys in their order; what belongs beside the rows of another key's list stands there."""
    found = [one for each in fields if not each.beside for one in inputs_of(each)]
    for each in fields:
        if each.beside:
            *rows, key = each.beside
            row = [one for one in found if one.path[:-1] == (*rows, 0)]
            called = row[0].of.title.partition(": ")[0]
            name = f"{each.name}_cents"
            value = _plain(name, (each.schema or {})["additionalProperties"], False, f"{called}: ")
            found.insert(found.index(row[-1]) + 1, Input(value, (*rows, 0, name), under=each.name, key=key))
    return found


def inside(value: Any, key: str | int) -> Any:
    """What a payload has under a key, or in a row; None where there is nothing."""
    if isinstance(value, Mapping):
        return value.get(key)
    return value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None
