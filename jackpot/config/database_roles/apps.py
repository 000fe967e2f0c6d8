"""The app's name for Django: after every migration the roles of the database are given what they may do.

Who settles has its sessions told how soon to let go and how to plan, whoever it connects as.
"""

from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate, pre_migrate

LET_GO = {
    "idle_in_transaction_session_timeout": "1500ms",
    "idle_session_timeout": "5s",  # between transactions it is idle for a second at most, from sweep to sweep
    "lock_timeout": "10s",
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "3s",
}
"""Of a settling session. `roles.sql` says the same of its role, but for `idle_session_timeout`, for where the broker is in
PostgreSQL that role listens, too, and is idle meanwhile. Here it holds on a server that has no such role, and through a pooler of
sessions, which passes no other settings on."""
KEPT_PLANS = {"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"}
"""Of a settling session, too: a plan that is kept was made when a table had two pages, and must do when it has a thousand."""
SET = "SELECT " + ", ".join(
    f"set_config('{name}', '{value}', false)" for name, value in {**LET_GO, **KEPT_PLANS}.items()
)


def let_go_soon(connection: Any, **_: Any) -> None:
    """Tell a new session what it is for."""
    with connection.cursor() as cursor:
        cursor.execute(SET)


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
        if settings.ROLE == "settle":
            connection_created.connect(let_go_soon, dispatch_uid="settling sessions let go soon")
