"""The app's name for Django."""

from django.apps import AppConfig


class TablesConfig(AppConfig):
    """Games, tables, rounds and payouts."""

    name = "tables"
    label = "tables"
    verbose_name = "Tables"

    def ready(self) -> None:
        """Tell slips how the amount of a payout is found."""
        from accounting.slips.payables import PAYABLES
        from tables.services import slips

        PAYABLES.read = lambda subject: slips.payable(subject).cents
