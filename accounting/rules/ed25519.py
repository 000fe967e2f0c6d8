"""Ed25519 signatures checked with the standard library alone (RFC 8032 §5.1): for machines that have nothing else.

Only checking is here: nothing secret passes through, so nothing needs to take the same time for every value. Signing is
`accounting.services.signing`.
"""

from __future__ import annotations

from hashlib import sha512
from typing import Final

P: Final = 2**255 - 19
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
D: Final = -121665 * pow(121666, P - 2, P) % P
ROOT: Final = pow(2, (P - 1) // 4, P)
"""A square root of -1."""

Point = tuple[int, int, int, int]
"""Extended homogeneous coordinates X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z (§5.1.4)."""

NEUTRAL: Final[Point] = (0, 1, 1, 0)


def _added(one: Point, other: Point) -> Point:
    """The sum of two points, which may be the same (§5.1.4)."""
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a = (y1 - x1) * (y2 - x2) % P
    b = (y1 + x1) * (y2 + x2) % P
    c = 2 * D * t1 * t2 % P
    d = 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _point(encoded: bytes) -> Point | None:
    """The point that 32 bytes encode; None where they encode none (§5.1.3)."""
    number = int.from_bytes(encoded, "little")
    odd, y = number >> 255, number & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = P - x
    return x, y, 1, x * y % P


def _encoded(point: Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, P - 2, P)
    return (y * inverse % P | (x * inverse % P & 1) << 255).to_bytes(32, "little")


BASE: Final = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little")) or NEUTRAL


def _both(first: int, one: Point, second: int, other: Point) -> Point:
    """`first` times one point and `second` times the other, added: both walked down together."""
    choices = (NEUTRAL, one, other, _added(one, other))
    found = NEUTRAL
    for bit in reversed(range(max(first.bit_length(), second.bit_length()))):
        found = _added(found, found)
        choice = (first >> bit & 1) | (second >> bit & 1) << 1
        if choice:
            found = _added(found, choices[choice])
    return found


def is_signed(statement: bytes, signature: bytes, by: bytes) -> bool:
    """Whether a signature (64 bytes) over some bytes is by this public key (32 bytes), after RFC 8032 §5.1.7.

    What has another length, or encodes no point, is none.
    """
    if len(signature) != 64 or len(by) != 32:
        return False
    key = _point(by)
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or scalar >= ORDER:
        return False
    x, y, z, t = key
    hashed = int.from_bytes(sha512(signature[:32] + by + statement).digest(), "little") % ORDER
    return _encoded(_both(scalar, BASE, hashed, (P - x, y, z, P - t))) == signature[:32]
