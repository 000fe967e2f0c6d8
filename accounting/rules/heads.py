"""Closed gaming days as they are signed: which bytes say how far every stream had come (SPEC §9, §10).

A *head* is a stream's event that closed the day: its sequence and its hash, under which all before it lies. A *statement*
is one day's heads with the digest of the statement before, so that no day can be left out or put between two others. Both
are canonical JSON, so that an auditor can build the signed bytes with any tool. Keys and signatures (Ed25519) are not known
here: this is standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from typing import Any, Final

from accounting.rules.chain import canonical

EDITION: Final = 1
STATEMENT: Final = "closed gaming day"
HEAD: Final = "head of a stream"
FILE: Final = "signed heads"
FIRST_PREVIOUS: Final = bytes(32)
"""What stands in the place of the digest before the first statement."""


class Unreadable(ValueError):
    """What should be a statement or a file of heads is none; the words say what is missing."""


@dataclass(frozen=True, slots=True)
class Head:
    """The event of a stream that closed a day: its number on the stream and its hash (32 bytes)."""

    stream: str
    sequence: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Statement:
    """A closed day: the number of its closing at the property from 1, when it was closed, every stream's head by code.

    `previous` is the SHA-256 over the statement before.
    """

    property: str
    number: int
    day: date
    closed_at: datetime
    previous: bytes
    heads: tuple[Head, ...]

    def encoded(self) -> bytes:
        """The bytes that are signed."""
        return canonical(self.written())

    def written(self) -> dict[str, Any]:
        """The statement as the JSON object that is signed."""
        return {
            "what": STATEMENT,
            "edition": EDITION,
            "property": self.property,
            "number": self.number,
            "day": self.day.isoformat(),
            "closed_at": self.closed_at.isoformat(),
            "previous": self.previous.hex(),
            "heads": [
                {"stream": head.stream, "sequence": head.sequence, "hash": head.hash.hex()} for head in self.heads
            ],
        }

    def digest(self) -> bytes:
        """What the next statement names this one by."""
        return sha256(self.encoded()).digest()

    def of_head(self, head: Head) -> bytes:
        """The bytes that are signed for one stream alone."""
        return canonical(
            {
                "what": HEAD,
                "edition": EDITION,
                "property": self.property,
                "day": self.day.isoformat(),
                "stream": head.stream,
                "sequence": head.sequence,
                "hash": head.hash.hex(),
            }
        )


def read(written: Mapping[str, Any]) -> Statement:
    """The statement that a JSON object is; Unreadable where it is none."""
    try:
        if (written["what"], written["edition"]) != (STATEMENT, EDITION):
            raise Unreadable(f"not a {STATEMENT} of edition {EDITION}")
        found = Statement(
            property=written["property"],
            number=written["number"],
            day=date.fromisoformat(written["day"]),
            closed_at=datetime.fromisoformat(written["closed_at"]),
            previous=bytes.fromhex(written["previous"]),
            heads=tuple(
                Head(head["stream"], head["sequence"], bytes.fromhex(head["hash"])) for head in written["heads"]
            ),
        )
        whole = (found.number, *(head.sequence for head in found.heads))
        if found.written() != written or any(type(number) is not int for number in whole):
            raise Unreadable("it is not written as it would be signed")
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise Unreadable(f"no statement of a closed gaming day: {fault}") from None
    return found


@dataclass(frozen=True, slots=True)
class Signed:
    """A statement with its signature (64 bytes), by whose key (32 bytes), and the signature of each head by its stream."""

    statement: Statement
    public_key: bytes
    signature: bytes
    heads: Mapping[str, bytes]


def to_file(days: list[Signed]) -> bytes:
    """Closed days as the file that auditors take with them: JSON, one day after the other."""
    return (
        json.dumps(
            {
                "what": FILE,
                "edition": EDITION,
                "days": [
                    {
                        "statement": day.statement.written(),
                        "public_key": day.public_key.hex(),
                        "signature": day.signature.hex(),
                        "heads": {head.stream: day.heads[head.stream].hex() for head in day.statement.heads},
                    }
                    for day in days
                ],
            },
            indent=1,
            ensure_ascii=False,
        ).encode()
        + b"\n"
    )


def from_file(content: bytes) -> list[Signed]:
    """The closed days of such a file; Unreadable says what is wrong with it. Signatures are not looked at here."""
    try:
        said = json.loads(content)
        if (said["what"], said["edition"]) != (FILE, EDITION):
            raise Unreadable(f"not a file of {FILE} of edition {EDITION}")
        return [
            Signed(
                read(day["statement"]),
                bytes.fromhex(day["public_key"]),
                bytes.fromhex(day["signature"]),
                {stream: bytes.fromhex(signature) for stream, signature in day["heads"].items()},
            )
            for day in said["days"]
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as fault:
        raise Unreadable(str(fault) if isinstance(fault, Unreadable) else f"no file of signed heads: {fault}") from None
