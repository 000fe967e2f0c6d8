"""How names, days and places of a statement stand in addresses.

Names stand as they are, slashes and line breaks among them (percent-encoded).
"""

from datetime import date

from django.http import Http404
from django.urls import register_converter
from django.urls.converters import StringConverter

from accounting.book_queries import Place
from accounting.rules.parameters import BadParameter, Parameters


class Anything(StringConverter):
    """Any text at all. Django's own `path` ends at a line break."""

    regex = r"[\s\S]+"


register_converter(Anything, "anything")


def day_named(text: str) -> date:
    """The day that an address names as YYYY-MM-DD; Http404 for anything else."""
    try:
        found = Parameters({"day": text}).day("day")
    except BadParameter:
        raise Http404("no day is written so") from None
    assert found is not None, "it was given"
    return found


def place(given: Parameters, name: str) -> Place | None:
    """The place in a statement that a parameter names; None where it was not given."""
    text = given.text(name, longest=80)
    if text is None:
        return None
    parts = text.split("~")
    if len(parts) != 4:
        raise BadParameter(name, "no place in a statement")
    day = Parameters({name: parts[0] or "x"}).day(name)
    stream_id, sequence, line = (Parameters({name: part or "x"}).whole(name) or 0 for part in parts[1:])
    assert day is not None, "it was given"
    return Place(day, stream_id, sequence, line)
