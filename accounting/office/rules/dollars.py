"""Amounts as people type them."""

from __future__ import annotations

import re
from typing import Final

# Thousands are separated everywhere or nowhere, and cents are two digits: 12,50 is not 12.50 written elsewhere.
DOLLARS: Final = re.compile(r"([-−+]?)\s*\$?(\d{1,3}(?:,\d{3}){1,4}|\d{1,14})(?:\.(\d{2}))?", re.ASCII)


def cents_of(text: str) -> int:
    """Dollars such as `1,250.00`, `1250`, `$50` or `-5.00`, in whole cents. Raises ValueError."""
    found = DOLLARS.fullmatch(text.strip())
    if found is None:
        raise ValueError("an amount like 1,250.00 or 1250 is expected")
    cents = int(found[2].replace(",", "")) * 100 + int(found[3] or 0)
    return -cents if found[1] in ("-", "−") else cents


def typed(cents: int) -> str:
    """Cents as one would type them: `1,250.00`."""
    dollars, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{dollars:,}.{rest:02d}"
