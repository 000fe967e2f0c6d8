"""A moment as it was written is one instant, to the nanosecond below (CONTRACT §2)."""

from __future__ import annotations

from datetime import datetime

import pytest

from accounting.rules import moments

FRACTIONS = ["", "0", "1", "12", "123", "123456", "1234567", "12345678", "123456789", "1234567899", "999999999999",
    "000000001", "0000001", "0000000009", "9999990", "000000000000"]  # fmt: skip
OFFSETS = ["Z", "z", "+00:00", "-00:00", "-05:00", "+05:30", "+23:59", "-23:59"]
SECONDS = ["2026-11-27T22:00:00", "1969-12-31T23:59:59", "1970-01-01T00:00:00", "1900-01-01T00:00:00", "2199-12-31T23:59:59",
    "2028-02-29T12:34:56"]  # fmt: skip


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_a_moment_is_read_to_the_nanosecond_below(fraction: str, offset: str) -> None:
    for second in SECONDS:
        text = f"{second}.{fraction}{offset}" if fraction else f"{second}{offset}"
        whole = datetime.fromisoformat(f"{second}{offset.upper()}")
        since = round(whole.timestamp()) * 10**9 + int(fraction[:9].ljust(9, "0"))
        assert moments.is_moment(text)
        assert moments.nanoseconds(text) == since, text
        at, read = moments.read(text)
        assert (at, read) == (moments.instant(text), since)
        assert moments.instant_nanoseconds(at) == since // 1000 * 1000
        assert moments.at_nanoseconds(since) == at
