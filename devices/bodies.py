"""Bodies of posts: JSON read fast, and as strictly as the patient reader of `settle` does. No database, no framework."""

from typing import Any

import msgspec

from tables.rules import door

MOST_MESSAGES = 1_000

encode = msgspec.json.Encoder(order="sorted").encode
decode_value = msgspec.json.Decoder().decode
# An array of any length as its first messages and one more, if there is one; the rest is looked over and not kept.
_Messages = msgspec.defstruct(
    "_Messages",
    [(f"message_{index}", msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for index in range(MOST_MESSAGES + 1)],
    array_like=True,
)
decode_array = msgspec.json.Decoder(_Messages).decode


def elements(body: bytes) -> list[bytes]:
    """The elements of a JSON array, each as it came: up to 1,000, and one more where there are more.

    InvalidJson where it is none.
    """
    try:
        found = msgspec.structs.astuple(decode_array(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise door.InvalidJson(str(problem)) from None
    return [bytes(raw) for raw in found if raw is not msgspec.UNSET]


def strict(raw: bytes) -> tuple[Any, bytes]:
    """A JSON value and its canonical bytes. InvalidJson for repeated keys, NaN and whatever is not JSON.

    The fast decoder keeps the last of repeated keys. Where no backslash is about, a key that was dropped shows in the
    number of quotes; otherwise the strict reader decides, as it does for what is nested strangely deep. A number of
    thousands of digits has no canonical bytes: there are none, and the door refuses the message that holds it.
    """
    try:
        value = decode_value(raw)
        canonical: bytes = encode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError, OverflowError):
        return _patiently(raw)
    if (
        b"\\" in raw
        or raw.count(b'"') != canonical.count(b'"')
        or raw.count(b"[") + raw.count(b"{") > door.DEEPEST
    ):  # fmt: skip
        return _patiently(raw)
    return value, canonical


def _patiently(raw: bytes) -> tuple[Any, bytes]:
    value = door.parse(raw)
    try:
        return value, encode(value)
    except TypeError:  # door.TooLong
        return value, b""
    except (UnicodeError, ValueError, OverflowError, RecursionError):
        raise door.InvalidJson from None
