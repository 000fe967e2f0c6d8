"""The app's name for Django, and what happens when somebody signs in."""

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """Who works here: accounts, roles, the ways in, sessions and personal tokens."""

    name = "accounting.people"
    label = "people"
    verbose_name = "People"

    def ready(self) -> None:
        """A session knows since when and from where."""
        from django.contrib.auth.signals import user_logged_in

        from accounting.people import sessions

        user_logged_in.connect(sessions.note, dispatch_uid="a session knows since when and from where")
