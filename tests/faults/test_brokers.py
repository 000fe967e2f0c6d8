"""A broker that stops stalls nothing, and everybody comes back to it by themselves, whichever it is.

The long form, a minute each, is `python3 -m tests.faults.brokers`. RabbitMQ takes so long to start that it is tried with
JACKPOT_ALL_BROKERS=1 only, and by that command.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from jackpot.config.database_roles.privileges import SERVICE
from tests.faults.account import account
from tests.faults.brokers import Broker, InPostgreSQL, RabbitMQ, Redis, outage, running
from tests.faults.hall import Hall, eventually, free_port
from tests.faults.house_of_its_own import OwnHouse
from tests.faults.test_alive import at_work

pytestmark = [pytest.mark.alone, pytest.mark.timeout(170)]

AWAY_SECONDS = 5.0
STALL_SECONDS = 3.0


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(Redis, marks=pytest.mark.skipif(Redis.missing is not None, reason=str(Redis.missing))),
        pytest.param(
            RabbitMQ,
            marks=[
                pytest.mark.skipif(RabbitMQ.missing is not None, reason=str(RabbitMQ.missing)),
                pytest.mark.skipif(not os.environ.get("JACKPOT_ALL_BROKERS"), reason="JACKPOT_ALL_BROKERS=1 tries it"),
            ],
        ),
    ],
)
def test_a_broker_that_stops_stalls_nothing_and_everybody_comes_back(kind: type[Broker], tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    with ExitStack() as stack:
        broker, environment = stack.enter_context(running(kind, tmp_path))
        hall = stack.enter_context(Hall(tmp_path, tables=4, settlers=2, environment=environment).up())
        outcome = outage(hall, broker, AWAY_SECONDS)
        print(outcome)
        assert outcome.stall < STALL_SECONDS, outcome
        account(hall)


def test_the_broker_that_is_built_in_may_stop_as_well(hall: Hall) -> None:
    outcome = outage(hall, InPostgreSQL(), AWAY_SECONDS)
    print(outcome)
    assert outcome.stall < STALL_SECONDS, outcome
    account(hall)


UNHEARD = "SELECT count(*) FROM accounting_event WHERE kind = 'table.contact'"
HEARD = "INSERT INTO devices_contact (device_id, heard_at) SELECT id, now() FROM devices_device WHERE code = 'GW-1'"


def test_without_a_broker_silent_devices_close_their_tables_and_silent_holders_are_ended(own_house: OwnHouse) -> None:
    """The second holds a stream whose tables the first closes: neither waits for the other."""
    nobody = {"CELERY_BROKER_URL": f"amqp://guest@127.0.0.1:{free_port()}//", "JACKPOT_SILENT_SECONDS": "2"}
    with own_house.server.connect("jackpot") as owner, at_work(own_house, "work", **nobody):
        with psycopg.connect(own_house.server.url_of(SERVICE), autocommit=True) as holder:
            holder.execute("BEGIN")
            holder.execute("SELECT FROM accounting_stream WHERE code = 'soak' FOR UPDATE")
            owner.execute(HEARD)
            eventually(lambda: owner.execute(UNHEARD).fetchone() == (4,), "the tables stay open", 40)
            with pytest.raises(psycopg.OperationalError):
                holder.execute("SELECT 1")
        owner.execute("UPDATE devices_contact SET heard_at = now() + interval '1 hour'")
        eventually(lambda: owner.execute(UNHEARD).fetchone() == (8,), "the tables stay closed", 20)
        owner.execute("DELETE FROM devices_contact")
