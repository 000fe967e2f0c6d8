"""Why a call on the office is refused, apart from what a rule says of the act itself (ActRefused)."""


class NotYours(Exception):
    """Whoever asks may not: 403."""

    code = "not_your_role"


class Conflict(Exception):
    """The call does not fit how things stand: 409 with its code."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class NoSuchProposal(LookupError):
    """There is no proposal of this number: 404."""
