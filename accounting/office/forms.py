"""Forms made from the shape of an act: what is typed becomes the object that the API takes, faults go beside their field."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from django.utils.datastructures import MultiValueDict

from accounting.office.acts import Act
from accounting.office.rules import asking
from accounting.office.rules.dollars import cents_of
from accounting.rules import acts
from accounting.rules.acts import ActRefused, Field, expected
from accounting.rules.moments import is_moment


class Upload(Protocol):
    """A file that a browser sent."""

    name: str | None
    size: int | None

    def read(self) -> bytes:
        """Its bytes."""


@dataclass
class Input:
    """One key of the payload as a form shows it, with what was typed and what is wrong with that."""

    of: Field
    typed: str = ""
    chosen: list[str] = field(default_factory=list)
    none: bool = False
    error: str = ""

    @property
    def name(self) -> str:
        """The input's name; its id begins with `p-`."""
        return f"p-{self.of.name}"

    @property
    def error_id(self) -> str:
        """Where its error stands, for whoever hears the page."""
        return f"{self.name}-error"

    @property
    def like(self) -> str:
        """What may be typed, in words."""
        if self.of.money:
            return "dollars, like 1,250.00"
        if self.of.kind == acts.MOMENT:
            return "like 2026-11-27 22:00, on the property's clock"
        if self.of.kind == acts.NESTED:
            return "JSON"
        return expected(self.of) if self.of.kind == acts.WHOLE else ""


class ActForm:
    """The form of one act: empty, or with what somebody typed."""

    def __init__(self, act: Act, *, subject: str = "", seen: str = "", zone: ZoneInfo) -> None:
        self.act = act
        self.subject = subject
        self.seen = seen
        self.zone = zone
        self.reason = self.reference = self.note = ""
        self.inputs = [Input(one) for one in act.shape.fields]
        self.errors: dict[str, str] = {}  # of what stands beside the payload: subject, reason, evidence
        self.refusal: str = ""  # of the whole

    def read(self, data: MultiValueDict[str, str], files: Mapping[str, Upload]) -> dict[str, Any] | None:
        """The object that the API would take, None where something typed cannot be read; the inputs then say what."""
        self.subject, self.seen = data.get("subject", ""), data.get("seen", "")
        self.reason, self.reference, self.note = (data.get(key, "").strip() for key in ("reason", "reference", "note"))
        payload: dict[str, Any] = {}
        for one in self.inputs:
            one.typed = data.get(one.name, "").strip()
            one.chosen = data.getlist(one.name)
            one.none = one.of.may_be_null and f"{one.name}-none" in data
            try:
                if one.none:
                    payload[one.of.name] = None
                elif one.chosen if one.of.kind == acts.CHOICES else one.typed:
                    payload[one.of.name] = self._value(one)
            except ValueError as fault:
                one.error = str(fault)
        body: dict[str, Any] = {
            "act": self.act.name,
            "subject": self.subject,
            "payload": payload,
            "reason": self.reason,
        }
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
            case ["payload", name, *_]:
                for one in self.inputs:
                    if one.of.name == name:
                        one.error = words
                        return
                self.refusal = words
            case [("subject" | "reason" | "evidence") as name, *_]:
                self.errors[name] = words
            case _ if refusal.code == "unknown_subject":
                self.errors["subject"] = words
            case _:
                self.refusal = words


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
