"""What the embedded PostgreSQL puts where others can write is ours alone, or it does not start."""

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from jackpot.config.data_folder import open_private
from jackpot.config.embedded_postgres import SOCKET_BYTES, DatabaseProblem, EmbeddedPostgres

SOMEBODY_ELSE = 54321


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedPostgres:
    """One whose folder has so long a path that its socket is in the temporary folder."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    server = EmbeddedPostgres(tmp_path / ("x" * SOCKET_BYTES))
    assert server.socket.parent == shared
    return server


def open_to_others(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def for_others_to_look_into(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)


def a_link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "elsewhere")


def a_link_to_nowhere(folder: Path) -> None:
    folder.symlink_to(folder.parent / "nowhere")


def a_file(folder: Path) -> None:
    folder.touch(mode=0o600)


def of_somebody_else(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to somebody else")
    folder.mkdir(mode=0o700)
    os.chown(folder, SOMEBODY_ELSE, SOMEBODY_ELSE)


MADE_BEFORE = [open_to_others, for_others_to_look_into, a_link, a_link_to_nowhere, a_file, of_somebody_else]


@pytest.mark.parametrize("make", MADE_BEFORE)
@pytest.mark.parametrize("running", [False, True])
def test_a_socket_folder_that_is_not_ours_alone_is_refused(
    make: Callable[[Path], None], running: bool, server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(server.socket)
    monkeypatch.setattr(server, "process", lambda: object() if running else None)
    with pytest.raises(DatabaseProblem, match=r"is not for this service alone .*TMPDIR") as refused:
        server.start(timeout=1)
    assert "\n" not in str(refused.value)
    assert not (server.data / "PG_VERSION").exists(), "nothing was made"
    assert not (server.socket.parent / "nowhere").exists()


def test_locks_and_logs_are_for_their_owner_alone(tmp_path: Path) -> None:
    """The data folder can be passed through, and whoever can read a file can hold its lock."""
    for file in (tmp_path / "new", tmp_path / "old"):
        if file.name == "old":
            file.touch(mode=0o644)
        with open_private(file) as stream:
            stream.write("a")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.read_text() == "a"
