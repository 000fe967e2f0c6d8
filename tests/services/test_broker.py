"""The listener of the broker: it hears inserts, and whoever consumes is told when its session is lost."""

from __future__ import annotations

import subprocess
import sys
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from jackpot.config.broker import Listener
from jackpot.config.database_roles.privileges import SERVICE
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


def test_a_job_that_dies_with_its_process_is_done_again_and_nobody_commands_workers_through_the_broker() -> None:
    from jackpot.config.celery import app

    assert app.conf.task_acks_late and app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1, "nobody keeps a job for himself that another could do"
    assert not app.conf.worker_enable_remote_control


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
