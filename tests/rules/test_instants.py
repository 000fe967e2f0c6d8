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


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        ("1900-01-01T00:00:00Z", True), ("1899-12-31T23:59:59.999Z", False), ("1900-01-01T00:00:00+14:00", True),
        ("2199-12-31T23:59:59.999999999-12:00", True), ("2200-01-01T00:00:00Z", False), ("0001-01-01T00:00:00Z", False),
        ("9999-12-31T23:59:59Z", False), ("2028-02-29T12:00:00Z", True), ("2027-02-29T12:00:00Z", False),
        ("2026-11-31T12:00:00Z", False), ("2026-13-01T12:00:00Z", False), ("2026-11-27T24:00:00Z", False),
        ("2026-11-27T12:60:00Z", False), ("2026-11-27T12:00:60Z", False), ("2026-11-27T12:00:00", False),
        ("2026-11-27T12:00:00+24:00", False), ("2026-11-27 12:00:00Z", False), ("2026-11-27T12:00:00.Z", False),
        ("\u0662\u0660\u0662\u0666-11-27T12:00:00Z", False), ("2026-11-27T12:00:00Z\n", False), ("", False),
        (None, False), (2026, False), (b"2026-11-27T12:00:00Z", False), (["2026-11-27T12:00:00Z"], False),
    ],
)  # fmt: skip
def test_a_moment_is_a_day_of_the_calendar_between_its_years_with_its_offset(text: object, whether: bool) -> None:
    assert moments.is_moment(text) is whether
