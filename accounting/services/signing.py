"""The key that closed gaming days are signed with: Ed25519, outside the database (SPEC §9)."""

from functools import cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


@cache
def _key(written: str) -> Ed25519PrivateKey:
    try:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(written))
    except ValueError:
        raise ImproperlyConfigured("JACKPOT_SIGNING_KEY: an Ed25519 private key in 64 hexadecimal digits") from None


def sign(statement: bytes) -> bytes:
    """The signature of this house over some bytes: 64 bytes, the same for the same bytes."""
    return _key(settings.SIGNING_KEY).sign(statement)


def public_key() -> bytes:
    """The public half of the key that this house signs with: 32 bytes."""
    return _key(settings.SIGNING_KEY).public_key().public_bytes_raw()


def is_signed(statement: bytes, signature: bytes, by: bytes) -> bool:
    """Whether a signature over some bytes is by this public key."""
    try:
        Ed25519PublicKey.from_public_bytes(by).verify(signature, statement)
    except (InvalidSignature, ValueError):
        return False
    return True
