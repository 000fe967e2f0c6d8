"""What people send when they ask for an act, judged key by key (CONTRACT §7); pages and API send the same object."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from accounting.rules.acts import ActRefused, escaped
from accounting.rules.chain import canonical

LONGEST_SUBJECT: Final = 160
LONGEST_WORDS: Final = 2_000
LONGEST_NAME: Final = 200
LARGEST_FILE: Final = 5 * 1024 * 1024
MOST_WHOLE: Final = 10**18

KEYS: Final = ("act", "subject", "payload", "reason", "evidence", "seen")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was handed in with a proposal: where to find it, a note, a file."""

    reference: str = ""
    note: str = ""
    name: str = ""
    content: bytes | None = None

    @property
    def content_digest(self) -> bytes | None:
        """SHA-256 of the file."""
        return None if self.content is None else sha256(self.content).digest()

    @property
    def digest(self) -> bytes:
        """SHA-256 over all of it as one line of canonical JSON: reference, note, name and the file's own digest."""
        held = self.content_digest
        return sha256(canonical([self.reference, self.note, self.name, held.hex() if held else None])).digest()


def keys_of(body: object, known: tuple[str, ...], pointer: str = "") -> dict[str, Any]:
    """An object with no other keys than these. Raises ActRefused."""
    if type(body) is not dict:
        raise ActRefused("invalid_value", pointer, "an object is expected")
    for key in body:
        if key not in known:
            raise ActRefused("unknown_field", f"{pointer}/{escaped(key)}", f"there is no {key} here")
    return body


def words(
    body: dict[str, Any], key: str, *, required: bool = False, most: int = LONGEST_WORDS, pointer: str = ""
) -> str:
    """The text under a key, without space around it; "" where it is not there. Raises ActRefused."""
    value = body.get(key)
    if value is None:
        if required:
            raise ActRefused("missing_field", f"{pointer}/{key}", f"{key} is missing")
        return ""
    if required and type(value) is str and not value.strip():
        raise ActRefused("invalid_value", f"{pointer}/{key}", f"{key} is empty")
    if type(value) is not str or len(value) > most or not _is_text(value):
        raise ActRefused("invalid_value", f"{pointer}/{key}", f"{key}: text of {most:,} characters at most is expected")
    return value.strip()


def _is_text(value: str) -> bool:
    """Whether the database can keep it: no NUL, no half of a surrogate pair."""
    return "\0" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)


def subject_of(body: dict[str, Any]) -> str:
    """What the act is about, exactly as it was written. Raises ActRefused."""
    if "subject" not in body:
        raise ActRefused("missing_field", "/subject", "subject is missing")
    value = body["subject"]
    if type(value) is not str or not 1 <= len(value) <= LONGEST_SUBJECT or not _is_text(value):
        raise ActRefused(
            "invalid_value", "/subject", f"subject: text of {LONGEST_SUBJECT} characters at most is expected"
        )
    return value


def reason_of(body: dict[str, Any], reasons: tuple[str, ...]) -> str:
    """Why, one of the act's reasons where it has any. Raises ActRefused."""
    reason = words(body, "reason", required=True)
    if reasons and reason not in reasons:
        raise ActRefused("invalid_value", "/reason", f"reason: one of {', '.join(reasons)} is expected")
    return reason


def evidence_of(body: dict[str, Any], *, required: bool) -> Evidence | None:
    """What was handed in: a text is a reference, else `{reference?, note?, file?: {name, content}}`, content in base64."""
    value = body.get("evidence")
    if value is None:
        if required:
            raise ActRefused("missing_field", "/evidence", "this act asks for evidence")
        return None
    if type(value) is str:
        value = {"reference": value}
        reference = words(value, "reference", required=True, most=LONGEST_NAME, pointer="/evidence").strip()
        return Evidence(reference)
    keys_of(value, ("reference", "note", "file"), "/evidence")
    reference = words(value, "reference", most=LONGEST_NAME, pointer="/evidence")
    note = words(value, "note", pointer="/evidence")
    name, content = "", None
    if value.get("file") is not None:
        file = keys_of(value["file"], ("name", "content"), "/evidence/file")
        name = words(file, "name", required=True, most=LONGEST_NAME, pointer="/evidence/file")
        content = _content(file)
    if not (reference or note or content is not None):
        raise ActRefused("invalid_value", "/evidence", "evidence: a reference, a note or a file is expected")
    return Evidence(reference, note, name, content)


def _content(file: dict[str, Any]) -> bytes:
    pointer = "/evidence/file/content"
    if "content" not in file:
        raise ActRefused("missing_field", pointer, "the file has no content")
    try:
        content = base64.b64decode(file["content"], validate=True) if type(file["content"]) is str else b""
    except (binascii.Error, ValueError):
        content = b""
    if not 1 <= len(content) <= LARGEST_FILE:
        raise ActRefused("invalid_value", pointer, f"file: base64 of 1 to {LARGEST_FILE:,} bytes is expected")
    return content


def kept(value: Any, pointer: str = "/payload") -> None:
    """Raise ActRefused for what a record cannot keep as it came: fractions, NUL, halves of signs, endless numbers."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not _is_text(key):
                raise ActRefused("invalid_value", pointer, "a key that is no text")
            kept(inner, f"{pointer}/{escaped(key)}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            kept(inner, f"{pointer}/{number}")
    elif isinstance(value, float) or (type(value) is int and abs(value) > MOST_WHOLE):
        raise ActRefused("invalid_value", pointer, "a whole number within reason is expected")
    elif isinstance(value, str) and not _is_text(value):
        raise ActRefused("invalid_value", pointer, "text without NUL is expected")
