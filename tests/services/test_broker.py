"""The listener of the broker: it hears inserts, and whoever consumes is told when its session is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from jackpot.config.broker import Listener
from jackpot.config.broker_tables import QUEUES, install_broker
from jackpot.config.database_roles.privileges import SERVICE, SETTLE
from jackpot.config.embedded_postgres import BROKER
from tests.conftest import ROOT, service_environment
from tests.services.house import House

LISTENING = """
    SELECT pid FROM pg_stat_activity
    WHERE application_name = 'jackpot broker listener' AND datname = current_database() AND query LIKE 'LISTEN%'
"""


def test_a_consumer_is_told_of_inserts_and_of_a_lost_session(house: House) -> None:
    """Its channel may be full of messages that could not be acknowledged: it must begin anew, or it waits for ever."""
    known = connection.settings_dict
    dsn = make_conninfo(
        host=known["HOST"], port=known["PORT"], dbname=known["NAME"], user=known["USER"], password=known["PASSWORD"]
    )
    listener = Listener(dsn)
    listener.register("wakes")
    try:
        with psycopg.connect(dsn, autocommit=True) as other:
            while not (listening := other.execute(LISTENING).fetchall()):
                listener.wait(0.05)
            listener.wait(0.05)
            assert not listener.wait(0.2)
            other.execute('NOTIFY "pgmq.q_wakes.INSERT"')
            assert listener.wait(10)
            for (pid,) in listening:
                other.execute("SELECT pg_terminate_backend(%s)", [pid])
        with pytest.raises(psycopg.OperationalError):
            for _ in range(100):
                listener.wait(0.1)
        with pytest.raises(psycopg.OperationalError):
            listener.wait(0)
    finally:
        listener.close()


def test_who_consumes_is_told_again_after_a_crash_has_emptied_the_table_of_who_is_told() -> None:
    """The service may not make queues: it finds them, and puts back what the server keeps in an unlogged table."""
    from jackpot.config.celery import app

    where = settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"]
    told = "SELECT throttle_interval_ms FROM pgmq.notify_insert_throttle WHERE queue_name = 'work'"
    with psycopg.connect(where, autocommit=True) as service, app.connection_for_read() as broker:
        assert service.execute("SELECT current_user::text").fetchone() == (SERVICE,)
        for left in (
            "DELETE FROM pgmq.notify_insert_throttle",  # as a crash leaves it
            "UPDATE pgmq.notify_insert_throttle SET throttle_interval_ms = 250",  # as the library would have it
        ):
            service.execute(left)
            with app.amqp.TaskConsumer(broker.channel(), queues=[app.amqp.queues["work"]]):
                assert service.execute(told).fetchone() == (0,), left
        assert broker.transport._get_notify_waiter().channels == {"pgmq.q_work.INSERT"}, "and it listens"


class Noting(psycopg.Connection[Any]):
    """A session that notes what it does beside looking."""

    done: list[str]

    def execute(self, query: Any, *params: Any, **more: Any) -> Any:
        """Run it, and remember it."""
        text = query if isinstance(query, str) else query.as_string(self) if isinstance(query, sql.Composable) else ""
        if text.startswith(("GRANT", "SELECT pgmq.")):
            self.done.append(text)
        return super().execute(query, *params, **more)


@pytest.fixture
def queues() -> Iterator[Noting]:
    """The broker's database as its owner sees it, left as it was."""
    where = connection.settings_dict
    reached = {"host": where["HOST"], "port": where["PORT"] or None, "user": where["USER"]}
    with Noting.connect(**reached, password=where["PASSWORD"] or None, dbname=BROKER) as session:
        session.done = []
        yield session
        session.rollback()


def test_queues_that_are_as_they_should_be_are_left_alone_and_what_they_lack_is_made(queues: Noting) -> None:
    install_broker(queues)
    assert queues.done == []
    heard = "trigger_notify_queue_insert_listeners"
    for queue in QUEUES:
        queues.execute(f"DROP TRIGGER {heard} ON pgmq.q_{queue}".encode())
        other = f"CREATE TRIGGER another AFTER INSERT ON pgmq.q_{queue} EXECUTE FUNCTION pgmq.notify_queue_listeners()"
        queues.execute(other.encode())
        install_broker(queues)
        assert queues.done == ["SELECT pgmq.enable_notify_insert(%s, 0)"], "another trigger tells nobody"
        queues.done.clear()
    queues.execute(f"REVOKE DELETE ON pgmq.meta FROM {SETTLE}".encode())
    install_broker(queues)
    assert {grant.rpartition(" TO ")[2] for grant in queues.done} == {f'"{SETTLE}"'}
    queues.done.clear()
    install_broker(queues)
    assert queues.done == []


def test_whoever_owns_the_queues_grants_their_use_and_nobody_else(queues: Noting) -> None:
    """A superuser or not."""
    queues.execute(f"REVOKE DELETE ON pgmq.meta FROM {SETTLE}".encode())
    queues.execute(f"SET LOCAL ROLE {SERVICE}".encode())
    install_broker(queues)
    assert queues.done == []
    queues.execute(b"RESET ROLE")
    queues.execute(b"GRANT CREATE ON DATABASE " + BROKER.encode() + b" TO pg_monitor")
    queues.execute(b"ALTER SCHEMA pgmq OWNER TO pg_monitor")
    for kind, name in queues.execute(
        "SELECT relkind::text, oid::regclass::text FROM pg_class WHERE relnamespace = 'pgmq'::regnamespace"
        " AND (relkind IN ('r', 'p') OR relkind = 'S' AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid"
        " AND deptype IN ('a', 'i')))"
    ).fetchall():
        queues.execute(f"ALTER {'SEQUENCE' if kind == 'S' else 'TABLE'} {name} OWNER TO pg_monitor".encode())
    queues.execute(b"SET LOCAL ROLE pg_monitor")
    install_broker(queues)
    assert {grant.rpartition(" TO ")[2] for grant in queues.done} == {f'"{SETTLE}"'}


def test_a_job_that_dies_with_its_process_is_done_again_and_nobody_commands_workers_through_the_broker() -> None:
    from jackpot.config.celery import app

    assert app.conf.task_acks_late and app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1, "nobody keeps a job for himself that another could do"
    assert not app.conf.worker_enable_remote_control
    told = {"use_notify": True, "notify_throttle_interval_ms": 0, "wait_time_seconds": 0}
    assert told.items() <= app.conf.broker_transport_options.items(), (
        "of every job at once, and nothing asks inside the server"
    )


def test_a_broker_in_postgresql_may_have_several_servers() -> None:
    """Celery's own reader of addresses knows one host, and would look for it in the environment."""
    where = conninfo_to_dict(settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"])
    nobody, there = quote("/nowhere", safe=""), quote(str(where["host"]), safe="")
    several = f"pgmq://{where['user']}@{nobody}:1,{there}:5432/{where['dbname']}?target_session_attrs=read-write"
    sends = "from jackpot.config.celery import app; app.send_task('no.such', queue='work', expires=1); print('sent')"
    sent = subprocess.run(
        [sys.executable, "-c", sends], cwd=ROOT, env={**service_environment(), "CELERY_BROKER_URL": several},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (sent.stdout, sent.returncode) == ("sent\n", 0), sent.stderr


def test_what_a_command_wakes_goes_to_the_broker_of_the_house(house: House) -> None:
    """Celery without the house's application sends to whatever listens at its usual port on this machine."""
    asked = ["shell", "--no-imports", "-c", "from celery import current_app; print(current_app.main)"]
    said = subprocess.run(
        [sys.executable, "manage.py", *asked], cwd=ROOT, env={**service_environment(), "JACKPOT_NO_VENV": "1"},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (said.stdout, said.returncode) == ("jackpot\n", 0), said.stderr
