"""The app's name for Django."""

from django.apps import AppConfig


class OfficeConfig(AppConfig):
    """Decisions of people, approvals by others, and jobs."""

    name = "accounting.office"
    label = "office"
    verbose_name = "Office"
