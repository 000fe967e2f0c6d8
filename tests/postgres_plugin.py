"""Loaded with `-p`: the throw-away PostgreSQL runs before pytest-django reads the settings.

Parallel workers share the server; each has databases of its own, for data and for the broker.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

import psutil
import pytest

from jackpot.config.embedded_postgres import BROKER, EmbeddedPostgres

SERVER: list[EmbeddedPostgres] = []
PREFIX = "jackpot-test-"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Start the server, or learn where the one of the main process is."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None and not os.environ.get("DATABASE_URL"):
        _clear_up()
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        folder.chmod(0o711)
        server = EmbeddedPostgres(folder / "postgres", durable=False)
        SERVER.append(server)
        server.start()
        os.environ["JACKPOT_DATA"] = str(folder)
        os.environ["DATABASE_URL"] = server.database_url
        os.environ["CELERY_BROKER_URL"] = server.broker_url
        os.environ["JACKPOT_TEST_POSTGRES"] = str(server.folder)
    elif worker is not None and (there := os.environ.get("JACKPOT_TEST_POSTGRES")):
        server = EmbeddedPostgres(Path(there), durable=False)
        with server.connect() as connection:
            connection.execute(f"CREATE DATABASE {BROKER}_{worker} TEMPLATE {BROKER}")
        os.environ["CELERY_BROKER_URL"] = f"{server.broker_url}_{worker}"
    os.environ["JACKPOT_DEMO"] = "1"
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright keeps an event loop running in the tests' thread


def pytest_unconfigure() -> None:
    """Stop the server and remove it."""
    for server in SERVER:
        server.stop()
        shutil.rmtree(server.folder.parent, ignore_errors=True)


def _clear_up() -> None:
    """Remove what a run that was killed has left."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = re.match(rf"{PREFIX}(\d+)-", folder.name)
        if owner and not psutil.pid_exists(int(owner[1])) and os.access(folder, os.W_OK):
            EmbeddedPostgres(folder / "postgres").stop()
            shutil.rmtree(folder, ignore_errors=True)
