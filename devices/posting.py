"""Reading a POST of results and locks and wording its answer (CONTRACT §5). No database, no framework.

Between the two stands `devices.intake.inbox.accept`, which may be handed the messages of many requests at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from devices.bodies import MOST_MESSAGES, elements, strict
from devices.intake.directory import Caller, Directory
from devices.intake.inbox import ACCEPTED, DUPLICATE, REUSED, Arrival, Verdict
from devices.intake.significant import NOT_YOUR_TABLE, REFERENCE_REUSED, Noted
from tables.rules import door, lock
from tables.rules.door import Refusal


@dataclass(frozen=True, slots=True)
class Problem:
    """An answer in the form of RFC 9457; nothing was stored."""

    status: int
    code: str
    detail: str
    pointer: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    noted: Noted | None = None  # what supervisors are told of it

    def body(self) -> dict[str, Any]:
        """The problem's JSON object."""
        pointer = {} if self.pointer is None else {"pointer": self.pointer}
        return {
            "type": "about:blank",
            "title": TITLES.get(self.status, "Refused"),
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            **pointer,
            **self.extra,
        }


TITLES = {
    400: "Bad request",
    401: "Unauthorized",
    403: "Forbidden",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    422: "Refused at the door",
    503: "Try again",
}

DETAILS = {
    "invalid_json": "a round message is a JSON object",
    "missing_field": "this key is required",
    "unknown_field": "no such key; unknown keys are refused",
    "invalid_value": "this value is not one the contract allows",
    "unknown_table": "no such table in this property",
    "duplicate_seat": "this seat is already in the message",
    "reference_reused": "this reference was used for other content",
}


@dataclass(slots=True)
class Item:
    """One message of a post: refused, or on its way to the inbox."""

    round: str | None
    table: str | None
    refusal: Refusal | None = None
    arrival: Arrival | None = None


@dataclass(slots=True)
class Post:
    """A post as read: its messages in order, and whether it was one object or an array."""

    single: bool
    items: list[Item]

    @property
    def arrivals(self) -> list[Arrival]:
        """The messages to be stored, in order."""
        return [item.arrival for item in self.items if item.arrival is not None]


def read(body: bytes, caller: Caller, directory: Directory, received_at: datetime) -> Post | Problem:
    """Read a post; a Problem where all of it is refused. Each message is judged at the door by itself."""
    single = body.lstrip()[:1] != b"["
    try:
        raws = [body] if single else elements(body)
    except door.InvalidJson:
        return Problem(400, "invalid_json", "the body is not JSON", "")
    if len(raws) > MOST_MESSAGES:
        return Problem(413, "too_many_messages", f"{MOST_MESSAGES:,} messages at most")
    items = []
    for raw in raws:
        try:
            value, canonical = strict(raw)
        except door.InvalidJson:
            return Problem(400, "invalid_json", "the body is not JSON, repeats a key, or holds NaN", "")
        item = _item(value, canonical, raw, directory, received_at, caller)
        if item.table is not None and item.table in directory.addresses and item.table not in caller.tables:
            noted = Noted(NOT_YOUR_TABLE, caller.code, item.table, item.round)
            detail = f"this device may not post for table {item.table}"
            return Problem(403, NOT_YOUR_TABLE, detail, "/table", noted=noted)
        items.append(item)
    return Post(single, items)


def _item(
    value: Any, canonical: bytes, raw: bytes, directory: Directory, received_at: datetime, caller: Caller
) -> Item:
    is_lock = type(value) is dict and "kind" in value
    message = lock.read(value, directory.addresses) if is_lock else door.read(value, directory.games)
    if isinstance(message, Refusal):
        table = value.get("table") if isinstance(value, dict) else None
        return Item(message.round, table if isinstance(table, str) else None, refusal=message)
    assert canonical, "the door let a number pass that is too long to be written"
    address = directory.addresses[message.table]
    return Item(
        message.round,
        message.table,
        arrival=Arrival(
            stream_id=address.stream_id,
            table_id=address.table_id,
            reference=message.round,
            device_id=caller.id,
            device_sequence=message.sequence,
            received_at=received_at,
            raw=raw,
            digest=sha256(canonical).digest(),
            kind="lock" if is_lock else "result",
        ),
    )


def reused(post: Post, verdicts: Sequence[Verdict], caller: Caller) -> list[Noted]:
    """The messages whose reference was used for other content, as supervisors are told of them."""
    return [
        Noted(REFERENCE_REUSED, caller.code, item.table or "", item.round)
        for item, verdict in zip((item for item in post.items if item.arrival), verdicts, strict=True)
        if verdict.status == REUSED
    ]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    status: int
    body: Any
    problem: bool = False


def receipts(post: Post, verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """One receipt a message, in order; `verdicts` are the inbox's, one for each arrival."""
    remaining = iter(verdicts)
    found = []
    for index, item in enumerate(post.items):
        receipt: dict[str, Any] = {"index": index, "round": item.round, "table": item.table}
        if item.refusal is not None:
            receipt |= {"status": "refused", "code": item.refusal.code, "pointer": item.refusal.pointer}
        else:
            receipt["status"] = status = next(remaining).status
            if status not in (ACCEPTED, DUPLICATE):
                receipt |= {"code": "reference_reused", "pointer": "/round"}
        found.append(receipt)
    return found


def answer(post: Post, verdicts: Sequence[Verdict]) -> Answer:
    """The answer to a post: an array always 202 with its receipts, a single message by what became of it."""
    found = receipts(post, verdicts)
    if not post.single:
        return Answer(202, found)
    receipt = found[0]
    if receipt["status"] == ACCEPTED:
        return Answer(202, receipt)
    if receipt["status"] == DUPLICATE:
        return Answer(200, receipt)
    code = receipt["code"]
    status = 422 if receipt["status"] == "refused" else 409
    problem = Problem(status, code, DETAILS[code], receipt["pointer"], {
        key: receipt[key] for key in ("index", "round", "table")
    })  # fmt: skip
    # RFC 9457 wants the HTTP status under `status`; the receipt's own word goes beside it.
    return Answer(status, problem.body() | {"receipt": receipt["status"]}, problem=True)
