"""The broker's queues inside PostgreSQL: made by the owner of their schema, used by the service."""

from typing import Any

import psycopg
from psycopg import sql

from jackpot.config.database_roles.privileges import WORKING

QUEUES = ("settle", "work")
"""What tasks are sent to (`settings.CELERY_TASK_ROUTES`)."""

MINE = "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'pgmq'"
HEARD = """
    SELECT EXISTS (SELECT FROM pg_trigger
    WHERE tgrelid = to_regclass(%s) AND tgname = 'trigger_notify_queue_insert_listeners')
"""
WITHOUT_RIGHTS = """
    SELECT rolname FROM pg_roles WHERE rolname = ANY (%s) AND EXISTS (
        SELECT FROM pg_class WHERE relnamespace = 'pgmq'::regnamespace AND relkind IN ('r', 'p')
            AND NOT has_table_privilege(pg_roles.oid, pg_class.oid, 'DELETE'))
"""


def install_broker(connection: psycopg.Connection[Any]) -> None:
    """The queue's tables and functions, once, in one transaction, and the rights to use them.

    They come as plain SQL, not as an extension. Whoever does not own them finds them installed and changes nothing.
    """
    with connection.transaction():
        if connection.execute("SELECT to_regclass('pgmq.meta')").fetchone() == (None,):
            from pgmq import get_embedded_install_sql

            connection.execute(get_embedded_install_sql().encode())
        if connection.execute(MINE).fetchone() != (True,):
            return
        for queue in QUEUES:
            if connection.execute("SELECT FROM pgmq.meta WHERE queue_name = %s", [queue]).fetchone() is None:
                connection.execute("SELECT pgmq.create(%s)", [queue])
            if connection.execute(HEARD, [f"pgmq.q_{queue}"]).fetchone() == (False,):
                connection.execute("SELECT pgmq.enable_notify_insert(%s, 0)", [queue])
        for (role,) in connection.execute(WITHOUT_RIGHTS, [list(WORKING)]).fetchall():
            who = sql.Identifier(role)
            connection.execute(sql.SQL("GRANT USAGE ON SCHEMA pgmq TO {}").format(who))
            connection.execute(
                sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pgmq TO {}").format(who)
            )
            connection.execute(sql.SQL("GRANT SELECT ON ALL SEQUENCES IN SCHEMA pgmq TO {}").format(who))
