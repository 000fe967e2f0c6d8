"""The simulator through TLS with certificates that only the house knows: at the web itself, and at the proxy of docker/."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from tests.api.conftest import Api, serving_floor
from tests.conftest import ROOT, running
from tests.faults.hall import eventually, free_port
from tests.faults.proxy import CADDY, proxied
from tests.services.fixtures import Databases
from tests.services.house import FLOOR
from tests.services.servers import Authority

pytestmark = [pytest.mark.alone, pytest.mark.timeout(150)]

NAME = "localhost"  # a name that is not public, and that every machine knows
PASSED_OVER_SECONDS = 4.0


@pytest.fixture(scope="module")
def house(databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker) -> Iterator[Api]:
    """A web process, and the demo's keys."""
    with django_db_blocker.unblock(), serving_floor(databases, migrated) as api, databases.entered(api.database):
        yield api


@contextmanager
def itself(api: Api, certificate: tuple[Path, Path], folder: Path) -> Iterator[int]:
    """uvicorn with a certificate."""
    port = free_port()
    words = ["-m", "uvicorn", "jackpot.config.asgi:application", "--port", str(port), "--log-level", "error"]
    words += ["--ssl-certfile", str(certificate[0]), "--ssl-keyfile", str(certificate[1])]
    with running(words, "web"):
        yield port


@contextmanager
def caddy(api: Api, certificate: tuple[Path, Path], folder: Path) -> Iterator[int]:
    """Debian's Caddy with the file of docker/."""
    with proxied(urlsplit(api.url).netloc, NAME, certificate, folder) as port:
        yield port


@pytest.mark.parametrize(
    "front",
    [
        itself,
        pytest.param(caddy, marks=pytest.mark.skipif(CADDY is None, reason="caddy is not installed")),
    ],
)
def test_the_simulator_plays_through_a_proxy_whose_authority_it_is_told(
    front: Callable[..., AbstractContextManager[int]], house: Api, tmp_path: Path
) -> None:
    authority, stranger = Authority(tmp_path), Authority(_made(tmp_path / "stranger"))
    demo, floor = tmp_path / "demo.json", tmp_path / "floor.toml"
    demo.write_text(json.dumps({"base_url": "none", "devices": {t: {"api_key": k} for t, k in house.keys.items()}}))
    floor.write_text(FLOOR)
    with front(house, authority.issue(NAME, tmp_path), tmp_path) as port:
        eventually(lambda: _listens(port), "nobody listens")
        url = f"https://{NAME}:{port}"

        def simulate(*words: str) -> subprocess.CompletedProcess[str]:
            command = ["manage.py", "simulate", "--floor", str(floor), "--demo", str(demo), "--base-url", url]
            command += ["--rounds", "20", "--speed", "max", "--calm", *words]
            environment = {**os.environ, "JACKPOT_NO_VENV": "1"}
            return subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True)

        for words in ([], ["--ca", str(stranger.certificate)]):
            refused = simulate(*words)
            assert refused.returncode == 2 and "not trusted" in refused.stderr and "--ca FILE" in refused.stderr, (
                refused
            )
        with house.settling():
            played = simulate("--ca", str(authority.certificate))
        assert played.returncode == 0, played.stderr
        with httpx.Client(verify=_trusting(authority), trust_env=False) as client:
            assert client.get(f"{url}/api/v1/health").json()["queued"] == 0
            if front is caddy:
                assert client.get(f"{url}/metrics").status_code == 404, "figures are not for everybody"


@pytest.mark.skipif(CADDY is None, reason="caddy is not installed")
def test_a_web_process_that_takes_connections_and_says_nothing_is_passed_over(house: Api, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as silent, ExitStack() as stack:
        both = f"127.0.0.1:{silent.getsockname()[1]} {urlsplit(house.url).netloc}"
        port = stack.enter_context(proxied(both, NAME, authority.issue(NAME, tmp_path), tmp_path))
        eventually(lambda: _listens(port), "nobody listens")
        client = stack.enter_context(
            httpx.Client(verify=_trusting(authority), trust_env=False, timeout=PASSED_OVER_SECONDS)
        )
        time.sleep(PASSED_OVER_SECONDS)
        answers = [client.get(f"https://{NAME}:{port}/api/v1/health").status_code for _ in range(12)]
    assert set(answers) <= {200, 503}, answers  # well or not, it is the house that speaks


@pytest.mark.parametrize(("text", "why"), [(None, "there is no file"), ("nothing", "holds no certificates in PEM")])
def test_an_authority_that_is_none_is_refused(text: str | None, why: str, tmp_path: Path) -> None:
    file = tmp_path / "authority.crt"
    if text is not None:
        file.write_text(text)
    demo = tmp_path / "demo.json"
    demo.write_text('{"base_url": "https://h", "devices": {}}')
    command = [sys.executable, "manage.py", "simulate", "--demo", str(demo), "--ca", str(file)]
    refused = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "JACKPOT_NO_VENV": "1"}, capture_output=True, text=True
    )
    assert refused.returncode == 2 and f"--ca: {file}" in refused.stderr.replace("there is no file ", ""), (
        refused.stderr
    )
    assert why in refused.stderr


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=authority.certificate)
