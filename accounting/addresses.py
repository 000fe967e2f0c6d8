"""How names stand in addresses: as they are, slashes and line breaks among them (percent-encoded on the way)."""

from django.urls import register_converter
from django.urls.converters import StringConverter


class Anything(StringConverter):
    """Any text at all. Django's own `path` ends at a line break."""

    regex = r"[\s\S]+"


register_converter(Anything, "anything")
