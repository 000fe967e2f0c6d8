"""The app's name for Django."""

from django.apps import AppConfig


class DevicesConfig(AppConfig):
    """Table controllers and signs: keys, inbox, queue."""

    name = "devices"
    label = "devices"
    verbose_name = "Devices"
