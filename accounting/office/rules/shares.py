"""Rates as people type them: percent of a wager, for parts per million."""

from __future__ import annotations

import re
from typing import Final

PERCENT: Final = re.compile(r"(\d{1,3})(?:\.(\d{1,4}))?\s*%?", re.ASCII)


def ppm_of(text: str) -> int:
    """A percentage such as `17`, `17.0003` or `3 %` in parts per million. Raises ValueError."""
    found = PERCENT.fullmatch(text.strip())
    if found is None:
        raise ValueError("a percentage like 17 or 17.0003 is expected, four places at most")
    return int(found[1]) * 10_000 + int((found[2] or "").ljust(4, "0"))


def percent(ppm: int) -> str:
    """Parts per million as people type a percentage: 170003 is `17.0003`."""
    whole, rest = divmod(ppm, 10_000)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".")
