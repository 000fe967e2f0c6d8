"""A gaming day is closed once, with every earlier one, and nothing moves (CONTRACT §7 `day.close`, SPEC §10)."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from accounting.rules.heads import FIRST_PREVIOUS, Head, Signed, Statement, Unreadable, from_file, read, to_file
from tests.rules.lines import Lines


def test_a_day_is_closed_and_shows_every_meter_unmoved() -> None:
    lines = Lines()
    lines.round("R-1")
    before = lines.standing()
    closed = lines.done("day.close", "2026-11-27", sequences={"aa": 1})
    assert closed["transfers"] == []
    assert {row["link"] for row in closed["meters"]} == set(lines.house.links)
    assert all(
        row["before_cents"] == row["after_cents"] and not row["contributed_millionths"] for row in closed["meters"]
    )
    assert closed["changes"] == [{"what": "day.closed", "day": "2026-11-27"}]
    assert lines.house.closed_through == date(2026, 11, 27)
    lines.house.closed_through = None
    assert lines.standing() == before


@pytest.mark.parametrize(
    ("subject", "payload", "fault"),
    [
        ("2026-11-27", {}, ("missing_field", "/payload/sequences")),
        ("2026-11-27", {"sequences": []}, ("invalid_value", "/payload/sequences")),
        ("2026-11-27", {"sequences": {"aa": -1}}, ("invalid_value", "/payload/sequences/aa")),
        ("2026-11-27", {"sequences": {"aa": True}}, ("invalid_value", "/payload/sequences/aa")),
        ("2026-11-27", {"sequences": {"aa": 2**63}}, ("invalid_value", "/payload/sequences/aa")),
        ("2026-11-27", {"sequences": {"nobody": 0}}, ("invalid_value", "/payload/sequences/nobody")),
        ("2026-11-27", {"sequences": {"a/b~c": 1}}, ("invalid_value", "/payload/sequences/a~1b~0c")),
        ("2026-11-27", {"sequences": {}, "day": 1}, ("unknown_field", "/payload/day")),
        ("2026-11-31", {"sequences": {}}, "unknown_subject"),
        ("27 Nov", {"sequences": {}}, "unknown_subject"),
        ("20261127", {"sequences": {}}, "unknown_subject"),
        ("2026-W48-5", {"sequences": {}}, "unknown_subject"),
        ("2026-11-28", {"sequences": {}}, "wrong_state"),
    ],
)
def test_what_is_no_closing_is_refused_by_name(subject: str, payload: dict[str, object], fault: object) -> None:
    assert Lines().code("day.close", subject, **payload) == fault


def test_a_closed_day_and_all_before_it_stay_closed() -> None:
    lines = Lines()
    lines.done("day.close", "2026-11-26", sequences={})
    assert lines.code("day.close", "2026-11-26", sequences={}) == "wrong_state"
    assert lines.code("day.close", "2026-11-01", sequences={}) == "wrong_state"
    lines.done("day.close", "2026-11-27", sequences={"aa": 0, "MS-5": 2**63 - 1})


def test_the_day_begins_where_the_property_says() -> None:
    """At 5 in the morning it is still the day before; at 6 the next has begun."""
    line = {"act": "day.close", "subject": "2026-11-28", "payload": {"sequences": {}}}
    assert Lines().line(line | {"at": "2026-11-28T05:59:59-05:00"})["code"] == "wrong_state"
    assert Lines().line(line | {"at": "2026-11-28T06:00:00-05:00"})["outcome"] == "done"


# ── what is signed ──────────────────────────────────────────────────────────────────────────────────────────────
STATEMENT = Statement(
    "BOS", 1, date(2026, 11, 27), datetime(2026, 11, 28, 13, tzinfo=UTC), FIRST_PREVIOUS,
    (Head("VIP 7/é", 2, bytes(range(32))), Head("ms-mg01", 9, bytes(32))),
)  # fmt: skip


def test_the_signed_bytes_are_canonical_and_written_down_once_for_all() -> None:
    assert STATEMENT.encoded().decode() == (
        '{"closed_at":"2026-11-28T13:00:00+00:00","day":"2026-11-27","edition":1,"heads":['
        '{"hash":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f","sequence":2,"stream":"VIP 7/é"},'
        f'{{"hash":"{"0" * 64}","sequence":9,"stream":"ms-mg01"}}],'
        f'"number":1,"previous":"{"0" * 64}","property":"BOS","what":"closed gaming day"}}'
    )
    assert STATEMENT.of_head(STATEMENT.heads[1]).decode() == (
        f'{{"day":"2026-11-27","edition":1,"hash":"{"0" * 64}","property":"BOS","sequence":9,"stream":"ms-mg01",'
        '"what":"head of a stream"}'
    )


def test_a_statement_is_read_as_it_was_written_and_no_other_way() -> None:
    assert read(json.loads(STATEMENT.encoded())) == STATEMENT
    changes: tuple[dict[str, object], ...] = (
        {"number": "1"}, {"day": "27"}, {"more": 1}, {"heads": {}}, {"closed_at": "2026-11-28T14:00+01:00"},
    )  # fmt: skip
    for change in changes:
        changed = json.loads(STATEMENT.encoded()) | change
        with pytest.raises(Unreadable):
            read(changed)


def test_a_file_of_heads_is_read_as_it_was_written() -> None:
    signed = Signed(STATEMENT, b"k" * 32, b"s" * 64, {"VIP 7/é": b"a" * 64, "ms-mg01": b"b" * 64})
    assert from_file(to_file([signed, signed])) == [signed, signed]
