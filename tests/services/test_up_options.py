"""What `up` refuses before it starts anything, when it says that all is ready, and what it says then."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
from django.conf import settings

from accounting.services.signing import public_key
from jackpot.config import down, up
from jackpot.config.data_folder import DataFolder
from jackpot.config.processes import Known, State


@pytest.mark.parametrize("port", [0, -1, 65_536, 10**12])
def test_a_port_that_is_none_is_refused(port: int, tmp_path: Path) -> None:
    """0 among them: the kernel would choose one, and nobody would know which."""
    options = up.arguments().parse_args(["--port", str(port)])
    with pytest.raises(up.Refused, match=f"--port: {port} is no port; 1 to 65535"):
        up.Up(DataFolder(tmp_path), options, [])._listen()


def test_the_public_key_that_it_prints_is_the_one_the_house_signs_with() -> None:
    assert up.public_half(settings.SIGNING_KEY) == public_key().hex()
    for key in ("", "00", "zz" * 32):
        with pytest.raises(up.Refused, match="JACKPOT_SIGNING_KEY: an Ed25519 private key"):
            up.public_half(key)


def test_words_that_it_does_not_know_are_for_what_it_simulates_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    began: list[list[str]] = []

    def run(self: up.Up) -> int:
        began.append(self.simulate)
        return 0

    monkeypatch.setattr(up.Up, "run", run)
    monkeypatch.setenv("JACKPOT_DATA", str(tmp_path))
    assert up.main([]) == up.main(["--simulate", "--speed", "20"]) == 0
    assert began == [[], ["--speed", "20"]]
    with pytest.raises(SystemExit):
        up.main(["--speed", "20"])
    assert "unknown: --speed 20" in capsys.readouterr().err


def test_a_port_that_is_taken_is_refused_and_the_next_that_is_free_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(up.Refused, match=rf"^Port {port} is taken.* choose another: --port (\d+)$") as refused:
            up.Up(DataFolder(tmp_path), up.arguments().parse_args(["--port", str(port)]), [])._listen()
    free = int(str(refused.value).rpartition(" ")[2])
    assert port < free < port + 100 or free == 8080, "8080 where none of the next hundred is"


def test_down_stops_what_runs_on_the_folder_that_is_named_or_on_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    usual, named = tmp_path / "usual", tmp_path / "named"
    for words, folder in (([], usual), (["--data", str(named)], named)):
        monkeypatch.setenv("JACKPOT_DATA", str(usual))
        assert down.main(words) == 0
        assert capsys.readouterr().out == f"[down] nothing was running on {folder}\n"


# ── when it is ready ────────────────────────────────────────────────────────────────────────────────────────────
class Health(HTTPServer):
    """The health route of a service that answers one thing after another."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers: list[tuple[int, str]] = []
        self.asked = 0


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        health = self.server
        assert isinstance(health, Health) and self.path == "/api/v1/health"
        status, said = health.answers[min(health.asked, len(health.answers) - 1)]
        health.asked += 1
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps({"status": said}).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def health() -> Iterator[Health]:
    with Health() as found:
        thread = Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def starting(health: Health, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> up.Up:
    """An `up` whose children are all started, and which waits for that service; nothing of it is running."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    options = up.arguments().parse_args(["--port", str(health.server_port), "--exit-when-ready"])
    return up.Up(DataFolder(tmp_path), options, [])


def test_it_is_ready_when_rounds_are_settled(health: Health, starting: up.Up) -> None:
    health.answers = [(503, "no database"), (200, "stale"), (200, "ok"), (200, "stale")]
    starting._wait_until_ready()
    assert health.asked == 3


def test_it_is_ready_as_well_where_rounds_are_accepted_and_for_long_not_settled(
    health: Health, starting: up.Up, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(up, "SETTLING_PATIENCE_SECONDS", -1)
    health.answers = [(503, "no database"), (200, "stale")]
    starting._wait_until_ready()
    assert health.asked == 2
    assert f"rounds are accepted, but stale; the logs are in {starting.data.logs}" in capsys.readouterr().out


def test_it_gives_up_where_nothing_is_accepted_for_long(
    health: Health, starting: up.Up, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(up, "PATIENCE_SECONDS", -1)
    health.answers = [(503, "no database")]
    with pytest.raises(up.Refused, match=r'^Not ready after -1 s: 503 {"status": "no database"}\. The logs are in'):
        starting._wait_until_ready()


def test_it_gives_up_where_a_child_does_not_stay_up_and_waits_for_nobody_when_it_is_stopped(
    health: Health, starting: up.Up, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    health.answers = [(503, "no database")]
    failing = SimpleNamespace(name="web", log="web.log", last_words=lambda: "no such module")
    monkeypatch.setattr(starting.supervisor, "failing", lambda: failing)
    with pytest.raises(up.Refused, match=r"^web does not stay up; why is at the end of web\.log$"):
        starting._wait_until_ready()
    assert "the end of web.log:\nno such module" in capsys.readouterr().out
    starting.stopping = True
    starting._wait_until_ready()
    assert health.asked == 1


def test_what_an_up_that_was_killed_has_left_is_ended_and_nothing_is_said_where_it_left_nothing(
    starting: up.Up, capsys: pytest.CaptureFixture[str]
) -> None:
    starting._take_over()
    assert capsys.readouterr().out == ""
    with subprocess.Popen(["sleep", "600"]) as orphan:
        State(children={"web": Known.of(orphan.pid)}).write(starting.data.state)
        starting._take_over()
        assert orphan.wait(30) != 0
    assert "the last `up` was killed; ending 1 processes that it left" in capsys.readouterr().out


def test_who_may_sign_in_is_said_and_how_to_stop_where_somebody_is_there_to_do_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*words: str) -> str:
        up.Up(DataFolder(tmp_path), up.arguments().parse_args(list(words)), [])._tell(1.25, "ab")
        return capsys.readouterr().out

    for words, stays in (([], True), (["--ready-fd", "9"], False), (["--exit-when-ready"], False)):
        said = told(*words)
        assert "ready after 1.2 s" in said and "signs with     ab (Ed25519, public)" in said
        assert ("Ctrl-C stops everything" in said) is stays
        assert "first person   python3 manage.py person NAME --role security" in said
    people = [{"username": "max", "password": "secret", "roles": ["manager", "cage"]}]
    (tmp_path / "demo.json").write_text(json.dumps({"devices": {"MS-101": {}, "MS-102": {}}, "people": people}))
    said = told()
    assert "(2 tables)" in said and "first person" not in said
    assert [line.split() for line in said.splitlines() if "secret" in line] == [["max", "secret", "manager,", "cage"]]
