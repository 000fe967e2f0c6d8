"""The app's name for Django."""

from django.apps import AppConfig


class KeepingConfig(AppConfig):
    """How long every kind of record is kept."""

    name = "accounting.keeping"
    label = "keeping"
    verbose_name = "Keeping"
