"""What the page of a report needs beside what every page has."""

import re
from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

BREAKS = re.compile(r"(?<=[/:_-])(?=\w)")


@register.filter
def of(mapping: Mapping[str, Any], name: str) -> Any:
    """What a mapping has under a name; nothing where it has none."""
    return mapping.get(name, "")


@register.filter
def broken(text: str) -> SafeString:
    """A text that may break behind a slash, a colon, a hyphen or an underscore, too."""
    return format_html_join(mark_safe("<wbr>"), "{}", ((part,) for part in BREAKS.split(text)))
