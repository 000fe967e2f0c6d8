"""Which PostgreSQL is taken, how a data folder is made by it, and what is said where its tools fail.

Versions that are not on this machine are stood in for by scripts, which write down what they are asked.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jackpot.config import backup, embedded_postgres
from jackpot.config.command_line import Refused
from jackpot.config.embedded_postgres import (
    DatabaseProblem,
    EmbeddedPostgres,
    _candidates,
    find_binaries,
    major_version,
)
from jackpot.config.server_user import ServerUser

SAYS = {
    "postgres (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)": 15,
    "postgres (PostgreSQL) 17.2": 17,
    "postgres (PostgreSQL) 18beta1": 18,
}


def tool(folder: Path, name: str, script: str) -> Path:
    """A program of this name that does this."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return folder


def binaries(folder: Path, version: int) -> Path:
    """A folder with the programs of a version."""
    tool(folder, "initdb", f'echo "$@" > {folder}/asked')
    return tool(folder, "postgres", f'echo "postgres (PostgreSQL) {version}.1"')


@pytest.mark.parametrize(("said", "version"), SAYS.items())
def test_a_server_says_its_version(said: str, version: int, tmp_path: Path) -> None:
    assert major_version(tool(tmp_path, "postgres", f"echo '{said}'")) == version


def test_of_several_on_a_machine_the_newest_that_will_do_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is made by an older version is for that version; what is too old is for none."""
    places = [binaries(tmp_path / name / "bin", version) for name, version in (("14", 14), ("15", 15), ("18", 18))]
    broken = tool(tool(tmp_path / "9" / "bin", "postgres", "exit 1"), "initdb", "exit 1")
    half = tool(tmp_path / "20" / "bin", "postgres", "echo 'postgres (PostgreSQL) 20.1'")
    monkeypatch.delenv("JACKPOT_PG_BIN", raising=False)
    monkeypatch.setattr(embedded_postgres, "SYSTEM_PLACES", (f"{tmp_path}/*/bin",))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: str(places[0] / "postgres"))
    assert list(_candidates()) == [half, *reversed(places), broken, places[0]], "whole numbers, not letters"
    assert find_binaries() == places[2] and find_binaries(15) == places[1]
    for version in (14, 17):
        with pytest.raises(DatabaseProblem, match=f"written by PostgreSQL {version}, and here is PostgreSQL 18 "):
            find_binaries(version)
    monkeypatch.setenv("JACKPOT_PG_BIN", str(places[0]))
    assert list(_candidates()) == [places[0]], "the one that is named, and no other"
    with pytest.raises(DatabaseProblem, match="There are no PostgreSQL binaries"):
        find_binaries()


@pytest.mark.parametrize(
    ("version", "locale"),
    [(16, "--locale=C"), (17, "--locale=C --locale-provider=builtin --builtin-locale=C.UTF-8")],
)
@pytest.mark.parametrize("durable", [True, False])
def test_a_data_folder_sorts_by_the_number_of_each_letter(
    version: int, locale: str, durable: bool, tmp_path: Path
) -> None:
    """And knows which are letters, where the version has a locale of its own for that."""
    server = EmbeddedPostgres(tmp_path / "postgres", durable=durable)
    there = binaries(tmp_path / "bin", version)
    (server.folder / "data.new" / "half made").mkdir(parents=True)
    server.data.mkdir()
    server._initialise(there, ServerUser())
    asked = f"-D {server.folder}/data.new -U jackpot --auth=trust --encoding=UTF8 {locale}"
    assert (there / "asked").read_text() == f"{asked}{'' if durable else ' --no-sync'}\n"
    assert list(server.folder.iterdir()) == [server.data] and list(server.data.iterdir()) == []
    assert server.data.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    server = EmbeddedPostgres(tmp_path / "file" / "postgres")
    with pytest.raises(
        DatabaseProblem, match=rf"^Cannot write {server.folder}: Not a directory\. Choose another folder"
    ):
        server._locked().__enter__()


def test_a_data_folder_that_cannot_be_made_is_said_and_is_not_there(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "postgres")
    server.data.mkdir(parents=True)
    there = tool(binaries(tmp_path / "bin", 18), "initdb", "echo no room >&2; exit 1")
    with pytest.raises(DatabaseProblem, match=rf"PostgreSQL could not make {server.data}: no room$"):
        server._initialise(there, ServerUser())
    assert list(server.data.iterdir()) == []


@pytest.mark.parametrize(("size", "set_aside"), [(20_000_000, False), (20_000_001, True)])
def test_a_log_is_set_aside_when_it_is_more_than_twenty_megabytes(
    size: int, set_aside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    server = EmbeddedPostgres(tmp_path / "postgres")
    server.data.mkdir(parents=True)
    (server.data / "PG_VERSION").write_text("18\n")
    server.log.touch()
    os.truncate(server.log, size)
    monkeypatch.setenv("JACKPOT_PG_BIN", str(binaries(tmp_path / "bin", 18)))
    monkeypatch.setattr(embedded_postgres, "server_user", lambda data: ServerUser())
    server._launch()
    assert server._process is not None and server._process.wait(20) == 0
    assert server.log.with_suffix(".log.1").exists() is set_aside
    assert server._last_words() == "postgres (PostgreSQL) 18.1", "of this start alone"


def test_a_server_is_started_again_while_the_last_one_s_memory_is_held_and_for_no_other_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a kill -9 the first start finds what the old server's last processes still hold; the second has no room."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(embedded_postgres, "server_user", lambda data: ServerUser())
    monkeypatch.setenv("JACKPOT_PG_BIN", str(binaries(tmp_path / "bin", 18)))
    server = EmbeddedPostgres(tmp_path / "postgres")
    server.data.mkdir(parents=True)
    (server.data / "PG_VERSION").write_text("18\n")
    begin = f"""[ "$1" = --version ] && echo "postgres (PostgreSQL) 18.1" && exit
echo start >> {tmp_path}/starts
[ $(grep -c start {tmp_path}/starts) = 1 ] && echo "its memory is still in use" || echo "no room"
exit 1"""
    tool(tmp_path / "bin", "postgres", begin)
    server._launch()
    with pytest.raises(DatabaseProblem, match=r"did not start; .* ends: no room$"):
        server._wait(20)
    assert (tmp_path / "starts").read_text() == "start\n" * 2


def test_a_server_that_was_our_child_is_let_go_when_it_has_died(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path)
    server.reap()
    child = server._process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    server.reap()
    assert server._process is child, "it lives"
    child.kill()
    child.wait(20)
    server.reap()
    assert server._process is None


def test_a_backup_that_fails_says_what_its_tool_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tool(binaries(tmp_path / "bin", 18), "pg_basebackup", 'while [ "$1" != -D ]; do shift; done; mkdir -p "$2"')
    tool(there, "pg_verifybackup", "echo a file is gone >&2; exit 1")
    monkeypatch.setenv("JACKPOT_PG_BIN", str(there))
    for _ in range(2):  # what is left of the first is in nobody's way
        with pytest.raises(Refused, match=r"^the base backup is not whole: a file is gone$"):
            backup._base(EmbeddedPostgres(tmp_path / "postgres"), tmp_path / "kept")
    assert backup.bases(tmp_path / "kept") == []
    tool(there, "pg_basebackup", "echo no; echo such slot >&2; exit 1")
    with pytest.raises(Refused, match=r"^pg_basebackup failed: such slot$"):
        backup._base(EmbeddedPostgres(tmp_path / "postgres"), tmp_path / "kept")


@pytest.mark.parametrize("whole", [True, False])
def test_a_log_goes_on_from_a_base_only(whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a house that is backed up elsewhere the log is kept, but not from a base of this folder on."""
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setattr(backup, "borrow_database", lambda: None)
    monkeypatch.setattr(backup, "_keep_the_log", lambda server: whole)
    with pytest.raises(Refused, match="has no base that the log could go on from"):
        backup.main([str(tmp_path / "new"), "--log-only"])
    assert sorted(each.name for each in (tmp_path / "new").iterdir()) == ["base", "log"]


def test_a_backup_says_how_far_it_goes_and_what_is_not_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    for name, found in (
        ("borrow_database", None), ("_keep_the_log", True), ("_base", "B"), ("bases", ["B"]),
        ("_log", datetime(2026, 11, 28, 3, 4, 5, tzinfo=UTC)),
    ):  # fmt: skip
        monkeypatch.setattr(backup, name, lambda *_, found=found: found)
    for words in ([], ["--log-only"]):
        assert backup.main([str(tmp_path), *words]) == 0
        *base, until, missing = capsys.readouterr().out.splitlines()
        assert base == ([] if words else ["[backup] base B"])
        assert until == f"[backup] log until 2026-11-28 03:04:05 UTC in {tmp_path}"
        assert "not in it: signing_key, patron_key and secret_key of the data folder" in missing
