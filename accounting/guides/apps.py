"""The app's name for Django."""

from django.apps import AppConfig


class GuidesConfig(AppConfig):
    """What each role does on a shift, step by step."""

    name = "accounting.guides"
    label = "guides"
    verbose_name = "Guides"
