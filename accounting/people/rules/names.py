"""Names of accounts: one account a name, whatever its case (cases 15), and no two that look alike."""

import re
import unicodedata

ACCOUNT_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{1,59}")


class NameRefused(ValueError):
    """A name that no account can have."""


def folded(typed: str) -> str:
    """The account that somebody means who types this: small letters, whatever form the keyboard gave them."""
    return unicodedata.normalize("NFKC", typed).strip().lower()


def account_name(typed: str) -> str:
    """The name as it is kept. Raises NameRefused."""
    name = folded(typed)
    if not ACCOUNT_NAME.fullmatch(name):
        raise NameRefused(
            f"{typed!r} is no account name: 2 to 60 small letters, digits and . _ @ + -, the first a letter or digit"
        )
    return name


def subject_of(name: str) -> str:
    """What the audit trail calls a person."""
    return f"person {name}"
