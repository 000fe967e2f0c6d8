"""The app's name for Django."""

from django.apps import AppConfig


class TablesConfig(AppConfig):
    """Games, tables, rounds and payouts."""

    name = "tables"
    label = "tables"
    verbose_name = "Tables"
