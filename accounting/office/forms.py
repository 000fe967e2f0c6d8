"""Forms made from the shape of an act: what is typed becomes the object that the API takes, faults go beside their field."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from django.utils.datastructures import MultiValueDict

from accounting.office.acts import Act
from accounting.office.rules import asking
from accounting.office.rules.dollars import cents_of, typed
from accounting.rules import acts
from accounting.rules.acts import ActRefused, Field, expected
from accounting.rules.moments import is_moment

FOLDED = 72
"""So many characters of JSON stand on one line of a text area."""


class Upload(Protocol):
    """A file that a browser sent."""

    name: str | None
    size: int | None

    def read(self) -> bytes:
        """Its bytes."""


@dataclass
class Input:
    """One value of the payload as a form shows it, with what was typed and what is wrong with that.

    `path` leads to it: a nested object whose keys are known is shown key by key.
    """

    of: Field
    path: tuple[str, ...]
    typed: str = ""
    chosen: list[str] = field(default_factory=list)
    none: bool = False
    error: str = ""

    @property
    def name(self) -> str:
        """The input's name and id."""
        return f"p-{'.'.join(self.path)}"

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
    keys = schema.get("properties", {}) if schema.get("additionalProperties") is False else {}
    if not keys or any("enum" not in key and key.get("type") not in SCALARS for key in keys.values()):
        return [Input(field, (field.name,))]
    needed = schema.get("required", ())
    return [Input(_plain(name, key, name in needed), (field.name, name)) for name, key in keys.items()]


def _plain(name: str, schema: Mapping[str, Any], required: bool) -> Field:
    kind = acts.CHOICE if "enum" in schema else SCALARS[schema["type"]]
    money = kind == acts.WHOLE and name.endswith("_cents")
    return Field(
        name, kind, schema.get("title") or name.removesuffix("_cents").replace("_", " ").capitalize(), required=required,
        choices=tuple(schema.get("enum", ())), least=schema.get("minimum"), most=schema.get("maximum"), money=money,
        help=schema.get("description", ""),
    )  # fmt: skip


def outline(schema: Mapping[str, Any]) -> str:
    """What JSON is wanted, in words: `a list of {code, rate_ppm}`."""
    if schema.get("type") == "array":
        return f"a list of {outline(schema.get('items', {}))}"
    keys = ", ".join(schema.get("properties", ()))
    return (
        f"{{{keys}}}" if keys else "an object" if schema.get("type") == "object" else str(schema.get("type", "a value"))
    )


def put(payload: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Put a value where its path leads."""
    *outer, last = path
    for key in outer:
        payload = payload.setdefault(key, {})
    payload[last] = value


def shared(path: Sequence[str], pointed: Sequence[str]) -> int:
    """How many steps two paths go together."""
    return next((step for step, (one, other) in enumerate(zip(path, pointed, strict=False)) if one != other),
                min(len(path), len(pointed)))  # fmt: skip


class ActForm:
    """The form of one act: empty, or with what somebody typed."""

    def __init__(self, act: Act, *, subject: str = "", seen: str = "", zone: ZoneInfo) -> None:
        self.act = act
        self.subject = subject
        self.seen = seen
        self.zone = zone
        self.reason = self.reference = self.note = ""
        self.inputs = [one for field in act.shape.fields for one in inputs_of(field)]
        self.errors: dict[str, str] = {}  # of what stands beside the payload: subject, reason, evidence
        self.refusal: str = ""  # of the whole
        self.had_file = False

    def begin(self, payload: Mapping[str, Any]) -> None:
        """Show a payload for a start."""
        for one in self.inputs:
            value: Any = payload
            for key in one.path:
                value = value.get(key) if isinstance(value, Mapping) else None
            if value is not None:
                one.typed = as_typed(one.of, value)
                one.chosen = list(value) if one.of.kind == acts.CHOICES else []

    def read(self, data: MultiValueDict[str, str], files: Mapping[str, Upload]) -> dict[str, Any] | None:
        """The object that the API would take, None where something typed cannot be read; the inputs then say what."""
        self.subject, self.seen = data.get("subject", ""), data.get("seen", "")
        self.reason, self.reference, self.note = (data.get(key, "").strip() for key in ("reason", "reference", "note"))
        payload: dict[str, Any] = {}
        for key in {one.path[0] for one in self.inputs if len(one.path) > 1}:
            if any(shown.name == key and shown.required for shown in self.act.shape.fields):
                payload[key] = {}  # required, however little is typed of it
        for one in self.inputs:
            one.typed = data.get(one.name, "").strip()
            one.chosen = data.getlist(one.name)
            one.none = one.of.may_be_null and f"{one.name}-none" in data
            try:
                if one.none:
                    put(payload, one.path, None)
                elif one.chosen if one.of.kind == acts.CHOICES else one.typed:
                    put(payload, one.path, self._value(one))
            except ValueError as fault:
                one.error = str(fault)
        body: dict[str, Any] = {
            "act": self.act.name,
            "subject": self.subject,
            "payload": payload,
            "reason": self.reason,
        }
        self.had_file = "file" in files
        evidence = self._evidence(files.get("file"))
        if evidence:
            body["evidence"] = evidence
        if self.seen:
            body["seen"] = self.seen
        return None if self.errors or any(one.error for one in self.inputs) else body

    def _value(self, one: Input) -> Any:
        match one.of.kind:
            case acts.WHOLE if one.of.money:
                return cents_of(one.typed)
            case acts.WHOLE:
                digits = one.typed.removeprefix("-")
                if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
                    raise ValueError(f"{expected(one.of)} is expected")
                return int(one.typed)
            case acts.FLAG:
                if one.typed not in ("yes", "no"):
                    raise ValueError("yes or no is expected")
                return one.typed == "yes"
            case acts.CHOICES:
                return one.chosen
            case acts.MOMENT:
                return moment_of(one.typed, self.zone)
            case acts.NESTED:
                try:
                    return json.loads(one.typed)
                except (ValueError, RecursionError):
                    raise ValueError("this is not JSON") from None
        return one.typed

    def _evidence(self, file: Upload | None) -> dict[str, Any]:
        evidence: dict[str, Any] = {}
        if self.reference:
            evidence["reference"] = self.reference
        if self.note:
            evidence["note"] = self.note
        if file is not None:
            if not 1 <= (file.size or 0) <= asking.LARGEST_FILE:
                self.errors["evidence"] = f"a file of 1 to {asking.LARGEST_FILE:,} bytes is expected"
                return {}
            evidence["file"] = {"name": file.name, "content": base64.b64encode(file.read()).decode()}
        return evidence

    def refused(self, refusal: ActRefused) -> None:
        """Put a refusal beside the field that it points at, or above the form."""
        steps = (refusal.pointer or "").split("/")[1:]
        words = str(refusal)
        match steps:
            case ["payload", *path]:
                beside = max(self.inputs, key=lambda one: shared(one.path, path), default=None)
                if beside is not None and (together := shared(beside.path, path)):
                    beside.error = ": ".join(filter(None, ("/".join(path[together:]), words)))
                else:
                    self.refusal = words
            case [("subject" | "reason" | "evidence") as name, *_]:
                self.errors[name] = words
            case _ if refusal.code == "unknown_subject":
                self.errors["subject"] = words
            case _:
                self.refusal = words


def as_typed(of: Field, value: Any) -> str:
    """A value as one would have typed it."""
    match of.kind:
        case acts.WHOLE if of.money:
            return typed(value)
        case acts.FLAG:
            return "yes" if value else "no"
        case acts.NESTED | acts.CHOICES:
            return laid_out(value)
    return str(value)


def laid_out(value: Any) -> str:
    """A nested value as JSON that people can change: one line for each key, and one for each object of a list."""
    if not isinstance(value, Mapping):
        return json.dumps(value, indent=1, ensure_ascii=False)
    lines = []
    for key, inner in value.items():
        text = json.dumps(inner, ensure_ascii=False)
        if isinstance(inner, list) and any(isinstance(item, Mapping) for item in inner):
            text = "[\n  " + ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in inner) + "\n ]"
        lines.append(f" {json.dumps(key, ensure_ascii=False)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}"


def moment_of(text: str, zone: ZoneInfo) -> str:
    """A moment as it was typed, with an offset or on the property's clock, as RFC 3339. Raises ValueError."""
    if is_moment(text):
        return text
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("a date and time like 2026-11-27 22:00 is expected") from None
    if at.tzinfo is None:
        local = at.replace(tzinfo=zone)
        if local.utcoffset() != at.replace(tzinfo=zone, fold=1).utcoffset():
            raise ValueError("the clock is changed then: write the offset too, like 2026-11-01T01:30:00-04:00")
        at = local
    return at.isoformat()
