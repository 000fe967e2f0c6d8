"""The app's name for Django."""

from django.apps import AppConfig


class ReportingConfig(AppConfig):
    """Reports of every app, on screen and as files."""

    name = "accounting.reporting"
    label = "reporting"
    verbose_name = "Reports"
