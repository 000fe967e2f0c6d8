"""The app's name for Django."""

from django.apps import AppConfig


class DevicesConfig(AppConfig):
    """Table controllers and signs: keys, inbox, queue."""

    name = "devices"
    label = "devices"
    verbose_name = "Devices"

    def ready(self) -> None:
        """Tell live pages how settling is seen at work and who is silent, and tables how a kept message is read and found."""
        from devices import queries
        from devices.intake import contact
        from jackpot.hit_queries import wins_unacknowledged
        from jackpot.pulse import PULSE
        from tables.services.messages import MESSAGES

        PULSE.settled_at = queries.swept_at
        PULSE.silent = contact.silent_by_link
        PULSE.wins = wins_unacknowledged
        MESSAGES.read = queries.received
        MESSAGES.find = queries.result_of
