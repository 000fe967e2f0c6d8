"""Signs that could be taken for others are shown apart, and everything else as it is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.rules.signs import Piece, pieces


@pytest.mark.parametrize("text", ["MS-101-20261127-000123", "a b c", "~!", "x", "<script>&amp;"])
def test_plain_text_is_one_piece(text: str) -> None:
    assert pieces(text) == [Piece(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("R-1 ", [Piece("R-1"), Piece("␣", "U+0020 space")]),
        (" R-1", [Piece("␣", "U+0020 space"), Piece("R-1")]),
        ("R\u00a01", [Piece("R"), Piece("␣", "U+00A0 no-break space"), Piece("1")]),
        ("a  b", [Piece("a"), Piece("␣", "U+0020 space"), Piece("␣", "U+0020 space"), Piece("b")]),
        ("\u00e9", [Piece("\u00e9", "U+00E9 latin small letter e with acute")]),
        ("e\u0301", [Piece("e"), Piece("◌\u0301", "U+0301 combining acute accent")]),
        ("\u0410-1", [Piece("\u0410", "U+0410 cyrillic capital letter a"), Piece("-1")]),
        ("a\nb", [Piece("a"), Piece("⟨000A⟩", "U+000A a control character"), Piece("b")]),
        ("a\u202eb", [Piece("a"), Piece("⟨202E⟩", "U+202E right-to-left override"), Piece("b")]),
        ("", []),
    ],
)
def test_what_cannot_be_told_apart_is_marked_and_named(text: str, found: list[Piece]) -> None:
    assert pieces(text) == found


@given(st.text(), st.text())
def test_two_texts_that_differ_are_never_shown_alike(one: str, other: str) -> None:
    if one != other:
        assert pieces(one) != pieces(other)
    assert pieces(unicodedata.normalize("NFC", "é" + one)) != pieces(unicodedata.normalize("NFD", "é" + one))
