"""The app's name for Django."""

from django.apps import AppConfig


class JackpotConfig(AppConfig):
    """Links, levels, meters and hits."""

    name = "jackpot"
    label = "jackpot"
    verbose_name = "Jackpots"
