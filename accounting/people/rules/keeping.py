"""What is kept of a secret that was shown once: its digest, and for how long a one-time link is good."""

from datetime import timedelta
from hashlib import sha256

LINK_TERM = timedelta(hours=72)
"""A link given to somebody on a Friday still opens on Monday; one that lies about longer does not."""


def digest_of(secret: str) -> bytes:
    """SHA-256. The secrets are 256 random bits, so that nothing slower is needed."""
    return sha256(secret.encode()).digest()


def handle_of(session_key: str) -> str:
    """A name for a session that opens nothing: its key would."""
    return sha256(f"handle of {session_key}".encode()).hexdigest()[:16]
