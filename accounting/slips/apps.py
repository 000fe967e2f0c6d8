"""The app's name for Django."""

from django.apps import AppConfig


class SlipsConfig(AppConfig):
    """Hand-pay slips, and tax on what they pay."""

    name = "accounting.slips"
    label = "slips"
    verbose_name = "Slips"
