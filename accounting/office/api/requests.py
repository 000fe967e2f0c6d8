"""Reading requests strictly, and answering what the office refuses as a problem."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rest_framework.exceptions import APIException, NotFound, ParseError, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from accounting.office import queries
from accounting.office.callers import person_of
from accounting.office.refusals import Conflict, NoSuchProposal, NotYours
from accounting.office.rules.person import Person
from accounting.rules.acts import ActRefused

USUAL = 100


class Refused(APIException):
    """A refusal of the office as a problem: its status, code, words and pointer."""

    def __init__(self, status: int, code: str, detail: str, pointer: str | None = None) -> None:
        super().__init__(detail, code)
        self.status_code = status
        self.pointer = pointer


@contextmanager
def refusals() -> Iterator[None]:
    """Answer what the office refuses as CONTRACT §7 prints it."""
    try:
        yield
    except ActRefused as refusal:
        raise Refused(422, refusal.code, str(refusal), refusal.pointer) from refusal
    except NotYours as refusal:
        raise Refused(403, refusal.code, str(refusal)) from refusal
    except Conflict as refusal:
        raise Refused(409, refusal.code, str(refusal)) from refusal
    except NoSuchProposal as refusal:
        raise NotFound(str(refusal)) from refusal


class StrictJson(BaseParser):
    """JSON as it was meant: no repeated key, no NaN; numbers of any length are read, for a rule to refuse by name."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """The value of the body; an empty body is an empty object."""
        text = stream.read()
        if not text.strip():
            return {}
        try:
            return json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_nan, parse_int=_whole)
        except (ValueError, RecursionError):
            raise ParseError("the body is not JSON, repeats a key, or holds NaN") from None


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _no_nan(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _whole(text: str) -> int:
    return int(text[:40])  # far beyond every bound is as good as further


def parameters(request: Request, *names: str) -> dict[str, str]:
    """The query parameters that were given, of those there are; an empty one is as if not given (CONTRACT §5)."""
    found = {}
    for name, values in request.query_params.lists():
        if name not in names:
            raise ValidationError({name: "there is no such parameter"})
        if len(values) > 1:
            raise ValidationError({name: "given twice"})
        if values[0]:
            found[name] = str(values[0])
    return found


def limit_of(given: dict[str, str]) -> int:
    """How many a page shows."""
    text = given.pop("limit", str(USUAL))
    if not (text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= queries.MOST):
        raise ValidationError({"limit": f"a whole number from 1 to {queries.MOST:,} is expected"})
    return int(text)


def somebody(request: Request) -> Person:
    """The person who asks; a device decides nothing."""
    person = person_of(request)
    if not person.name:
        raise NotYours("acts are decided by people, not by devices")
    return person
