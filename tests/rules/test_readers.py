"""The fast reader of posts and the patient one of `settle` read every body alike (`python3 -m tests.fuzz_readers`)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from devices import bodies
from tables.rules.door import InvalidJson
from tests import fuzz_readers


def test_ten_thousand_bodies_are_read_alike() -> None:
    """Among them enough of every kind that the test means something."""
    answers = fuzz_readers.fuzz(20261128, 10_000)
    assert answers["a message"] > 1_000
    for code in ("invalid_json", "invalid_value", "unknown_field", "missing_field"):
        assert answers[code] > 100, answers


def test_a_difference_is_found_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fast reader that keeps the last of repeated keys, as the decoder alone does, is caught."""

    def careless(raw: bytes) -> tuple[Any, bytes]:
        try:
            value = bodies.decode_value(raw)
        except Exception:
            raise InvalidJson from None
        return value, bodies.encode(value)

    monkeypatch.setattr(bodies, "strict", careless)
    with pytest.raises(fuzz_readers.Difference, match="seed 1, body"):
        fuzz_readers.fuzz(1, 10_000)


@pytest.mark.parametrize("digits", [4_300, 4_301, 100_000])
def test_a_number_of_any_length_is_read_by_both(digits: int) -> None:
    for text in ("9" * digits, f'{{"a": {"9" * digits}}}', f'[1, {{"b": [-{"9" * digits}]}}]'):
        value, canonical = bodies.strict(text.encode())
        assert type(value) in (int, dict, list) or digits > 4_300
        assert canonical == (text.replace(" ", "").encode() if digits <= 4_300 else b"")


def test_an_array_is_taken_apart_up_to_a_thousand_and_one() -> None:
    for many in (0, 1, 1_000):
        assert bodies.elements(json.dumps(list(range(many))).encode()) == [b"%d" % number for number in range(many)]
    assert len(bodies.elements(b"[" + b",".join([b"1"] * 100_000) + b"]")) == 1_001
    assert bodies.elements(b' [ {"a": [1, 2]} , "x,y" ] ') == [b'{"a": [1, 2]}', b'"x,y"']
    for broken in (b"[1,]", b"[1", b"[1] 2", b"[" * 100_000, b"[1 2]"):
        with pytest.raises(InvalidJson):
            bodies.elements(broken)
