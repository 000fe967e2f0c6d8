"""Forms made from the shape of an act: what is typed becomes the object that the API takes, faults go beside their field."""

import base64
import json
from collections.abc import Mapping
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from django.utils.datastructures import MultiValueDict

from accounting.office.acts import Act
from accounting.office.inputs import Input, again, all_inputs, inside, listed, placed, put, row_at, shared
from accounting.office.rules import asking
from accounting.office.rules.dollars import cents_of, typed
from accounting.office.rules.shares import percent, ppm_of
from accounting.rules import acts
from accounting.rules.acts import ActRefused, Field, expected
from accounting.rules.moments import moment_of

MOST_ROWS = 60
"""So many objects of one list are typed row by row at most."""


class Upload(Protocol):
    """A file that a browser sent."""

    name: str | None
    size: int | None

    def read(self) -> bytes:
        """Its bytes."""


class ActForm:
    """The form of one act: empty, or with what somebody typed."""

    def __init__(self, act: Act, *, subject: str = "", seen: str = "", zone: ZoneInfo) -> None:
        self.act = act
        self.subject = subject
        self.seen = seen
        self.zone = zone
        self.reason = self.reference = self.note = ""
        self._named = [(each.name, each.subject_at) for each in act.shape.fields if each.subject_at]
        self.inputs = [one for one in all_inputs(act.shape.fields) if one.path not in self._named]
        self._rows: dict[tuple[str | int, ...], int] = {
            one.path[: row_at(one)]: 1 for one in self.inputs if row_at(one)
        }
        self.errors: dict[str, str] = {}  # of what stands beside the payload: subject, reason, evidence
        self.refusal: str = ""  # of the whole
        self.had_file = False

    def begin(self, payload: Mapping[str, Any]) -> None:
        """Show a payload for a start, with a row to spare in each list."""
        for path in list(self._rows):
            items: Any = payload
            for key in path:
                items = items.get(key) if isinstance(items, Mapping) else None
            self._show_rows(path, len(items) + 1 if isinstance(items, list) else 1)
        for one in self.inputs:
            value: Any = payload
            for key in (one.under, self._name_of(one)) if one.under else one.path:
                value = inside(value, key)
            if value is not None:
                one.typed = as_typed(one.of, value)
                one.chosen = list(value) if one.of.kind == acts.CHOICES else []

    def stand(self, payload: Mapping[str, Any]) -> None:
        """Say beside each optional input what is in force under its key; the rows of a list go by their codes."""
        for one in self.inputs:
            value: Any = payload
            for place, key in enumerate(one.path):
                if type(key) is int:
                    code = next(
                        (other.typed for other in self.inputs if other.path == (*one.path[: place + 1], "code")), ""
                    )
                    rows = value if isinstance(value, list) else []
                    value = next((row for row in rows if row["code"] == code), None)
                elif not isinstance(value, Mapping) or key not in value:
                    break
                else:
                    value = value[key]
            else:
                if not one.of.required:
                    one.now = "none" if value is None else in_force(one.of, value)

    def read(self, data: MultiValueDict[str, str], files: Mapping[str, Upload]) -> dict[str, Any] | None:
        """The object that the API would take, None where something typed cannot be read; the inputs then say what."""
        self.subject, self.seen = data.get("subject", ""), data.get("seen", "")
        self.reason, self.reference, self.note = (data.get(key, "").strip() for key in ("reason", "reference", "note"))
        payload: dict[Any, Any] = {}
        for path in list(self._rows):
            before = f"p-{'.'.join(map(str, path))}."
            rows = [int(row) for key in data if (row := key.removeprefix(before).partition(".")[0]) and
                    key.startswith(before) and row.isascii() and row.isdigit() and len(row) < 4]  # fmt: skip
            self._show_rows(path, min(max(rows, default=0) + 1, MOST_ROWS))
        for key in {one.path[0] for one in self.inputs if len(one.path) > 1}:
            if any(shown.name == key and shown.required for shown in self.act.shape.fields):
                payload[str(key)] = {}  # required, however little is typed of it
        for one in self.inputs:
            one.typed = data.get(one.name, "").strip()
            one.chosen = data.getlist(one.name)
            one.none = one.of.may_be_null and f"{one.name}-none" in data
            try:
                if one.none:
                    put(payload, one.path, None)
                elif one.chosen if one.of.kind == acts.CHOICES else one.typed:
                    put(payload, self._path_of(one), self._value(one))
            except ValueError as fault:
                one.error = str(fault)
        for path in self._named:
            put(payload, path, self.subject)
        for one in self.inputs:
            one.sent = (one.under, self._name_of(one)) if one.under else placed(payload, one.path)
        payload = listed(payload)
        for path in self._rows:
            if len(path) == 1 and not payload.get(str(path[0]), True):
                payload[str(path[0])] = []  # a list of nothing
        self._spare_row()
        body: dict[str, Any] = {
            "act": self.act.name,
            "subject": self.subject,
            "payload": payload,
            "reason": self.reason,
            "seen": self.seen,
        }
        self.had_file = "file" in files
        evidence = self._evidence(files.get("file"))
        if evidence:
            body["evidence"] = evidence
        return None if self.errors or any(one.error for one in self.inputs) else body

    @property
    def lists(self) -> list[str]:
        """What is typed row by row, one of it: `level`."""
        return [str(path[-1]).removesuffix("s").replace("_", " ") for path in self._rows]

    def _name_of(self, one: Input) -> str:
        """What is typed beside a value as the name that it is sent under."""
        return next(other.typed for other in self.inputs if other.path == (*one.path[:-1], one.key))

    def _path_of(self, one: Input) -> tuple[str | int, ...]:
        """Where the value of an input is put. ValueError where nothing beside it says under which name."""
        if not one.under:
            return one.path
        if not (name := self._name_of(one)):
            raise ValueError(f"{one.key} is missing: it says whose amount this is")
        return one.under, name

    def _show_rows(self, path: tuple[str | int, ...], count: int) -> None:
        """Have so many rows of a list among the inputs, beside each other; those that are there already stay."""
        there = [one for one in self.inputs if one.path[: len(path)] == path and row_at(one)]
        place = self.inputs.index(there[-1]) + 1
        for row in range(self._rows[path], count):
            first = [one for one in there if one.path[len(path)] == 0]
            new = [again(one, path, row) for one in first]
            self.inputs[place:place] = new
            place += len(new)
        self._rows[path] = max(count, self._rows[path])

    def _spare_row(self) -> None:
        """A row in which nothing is typed, at the end of each list: shown again, the form has room for one more."""
        for path, count in list(self._rows.items()):
            last = [one for one in self.inputs if one.path[: len(path) + 1] == (*path, count - 1)]
            if count < MOST_ROWS and any(one.typed or one.none for one in last):
                self._show_rows(path, count + 1)

    def _value(self, one: Input) -> Any:
        match one.of.kind:
            case acts.WHOLE if one.of.money:
                return cents_of(one.typed)
            case acts.WHOLE if one.of.rate:
                return ppm_of(one.typed)
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
            case ["payload", *path] if tuple(path) in self._named:
                self.errors["subject"] = words
            case ["payload", *path]:
                beside = max(self.inputs, key=lambda one: shared(one.sent, path), default=None)
                if beside is not None and (together := shared(beside.sent, path)):
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
        case acts.WHOLE if of.rate:
            return percent(value)
        case acts.FLAG:
            return "yes" if value else "no"
        case acts.NESTED | acts.CHOICES:
            return laid_out(value)
    return str(value)


def in_force(of: Field, value: Any) -> str:
    """A value as people read it: with its sign of dollars or percent."""
    said = as_typed(of, value).replace("_", " ")
    return f"${said}" if of.money else f"{said} %" if of.rate else said


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
