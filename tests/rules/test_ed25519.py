"""Signatures checked without packages are those that `cryptography` makes and refuses (RFC 8032)."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.rules.ed25519 import ORDER, is_signed


def theirs(statement: bytes, signature: bytes, by: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(by).verify(signature, statement)
    except (InvalidSignature, ValueError):
        return False
    return True


# RFC 8032 §7.1, tests 1 to 3: public key, message, signature.
VECTORS = (
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
)


@pytest.mark.parametrize(("key", "message", "signature"), VECTORS)
def test_the_vectors_of_the_rfc(key: str, message: str, signature: str) -> None:
    said = bytes.fromhex(message), bytes.fromhex(signature), bytes.fromhex(key)
    assert is_signed(*said) and theirs(*said)


@settings(max_examples=60)
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=200), st.integers(0, 511), st.integers(0, 255))
def test_what_they_sign_is_signed_and_one_bit_off_is_not(
    secret: bytes, statement: bytes, bit: int, of_key: int
) -> None:
    key = Ed25519PrivateKey.from_private_bytes(secret)
    public, signature = key.public_key().public_bytes_raw(), key.sign(statement)
    assert is_signed(statement, signature, public)
    assert not is_signed(statement + b"x", signature, public)
    off = bytearray(signature)
    off[bit // 8] ^= 1 << bit % 8
    assert not is_signed(statement, bytes(off), public) and not theirs(statement, bytes(off), public)
    other = bytearray(public)
    other[of_key // 8] ^= 1 << of_key % 8
    assert is_signed(statement, signature, bytes(other)) == theirs(statement, signature, bytes(other)) is False


def test_a_scalar_beyond_the_order_and_other_lengths_are_refused() -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public, signature = key.public_key().public_bytes_raw(), key.sign(b"day")
    scalar = int.from_bytes(signature[32:], "little") + ORDER  # the same point again (§5.1.7: refuse it)
    longer = signature[:32] + scalar.to_bytes(32, "little")
    assert not is_signed(b"day", longer, public) and not theirs(b"day", longer, public)
    for wrong in (signature[:-1], signature + b"x", b""):
        assert not is_signed(b"day", wrong, public)
    for wrong in (public[:-1], public + b"x", b"", b"\xff" * 32):
        assert not is_signed(b"day", signature, wrong)
    # Everything fits the key that is the neutral element: what is refused beside it is refused for its form alone.
    neutral = (1).to_bytes(32, "little")
    anything = neutral + bytes(32)
    assert is_signed(b"day", anything, neutral) and theirs(b"day", anything, neutral)
    at_the_order = neutral + ORDER.to_bytes(32, "little")
    assert not is_signed(b"day", at_the_order, neutral) and not theirs(b"day", at_the_order, neutral)
    for wrong in (anything[:-1], anything + b"\0"):
        assert not is_signed(b"day", wrong, neutral)
    for wrong in (neutral[:-1], neutral + b"\0"):
        assert not is_signed(b"day", anything, wrong)
