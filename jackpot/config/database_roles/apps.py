"""The app's name for Django: after every migration the roles of the database are given what they may do."""

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate, pre_migrate


class DatabaseRolesConfig(AppConfig):
    """The roles of the database and their rights."""

    name = "jackpot.config.database_roles"
    label = "database_roles"
    verbose_name = "Database roles"

    def ready(self) -> None:
        """Once a migration: when Django tells of the first app, the tables of all are there."""
        from jackpot.config.database_roles import privileges

        pre_migrate.connect(
            privileges.before_migrations,
            sender=apps.get_app_config("accounting"),
            dispatch_uid="views are out of the way of migrations",
        )
        post_migrate.connect(
            privileges.after_migrations,
            sender=apps.get_app_config("accounting"),
            dispatch_uid="roles are given their rights",
        )
