"""What slips are made for, which the apps above know: they say here how a payout's amount is found (`tables/apps.py`)."""

from collections.abc import Callable


class Payables:
    """Where the amount of a hit or envy payout is read, in whole cents, by its name. ActRefused where none is to be paid."""

    def __init__(self) -> None:
        self.read: Callable[[str], int] | None = None

    def cents(self, subject: str) -> int:
        """What a hit or an envy payout comes to."""
        assert self.read is not None, "nobody knows payouts"
        return self.read(subject)


PAYABLES = Payables()
