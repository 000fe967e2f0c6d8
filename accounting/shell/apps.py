"""The app's name for Django."""

from django.apps import AppConfig


class ShellConfig(AppConfig):
    """What stands around every page: navigation, header, who may see what, how figures are written."""

    name = "accounting.shell"
    label = "shell"
    verbose_name = "Shell"
