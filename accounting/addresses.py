"""How names and days stand in addresses: names as they are, slashes and line breaks among them (percent-encoded)."""

from datetime import date

from django.http import Http404
from django.urls import register_converter
from django.urls.converters import StringConverter

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
