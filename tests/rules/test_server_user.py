"""As whom the embedded PostgreSQL runs, and whose its files are: root is refused by it, and others are what they are."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jackpot.config import server_user
from jackpot.config.server_user import ServerUser

NOBODY = pwd.getpwnam("nobody")
SOMEBODY = pwd.getpwnam("daemon")
MAPPED = ("unshare", "--user", f"--map-user={NOBODY.pw_uid}", f"--map-group={NOBODY.pw_gid}")


def reaching(owner: pwd.struct_passwd) -> tuple[str, ...]:
    """The command that becomes somebody who may go below root's folders."""
    return (
        "setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups",
        "--inh-caps=+dac_override", "--ambient-caps=+dac_override",
    )  # fmt: skip


def folder(uid: int | None) -> Any:
    """A data folder of this user's, or none."""

    def stat() -> SimpleNamespace:
        if uid is None:
            raise FileNotFoundError
        return SimpleNamespace(st_uid=uid)

    return SimpleNamespace(stat=stat)


BOTH = ("unshare", "setpriv")
AS = [
    (1, SOMEBODY.pw_uid, BOTH, None, ServerUser()),
    (0, SOMEBODY.pw_uid, BOTH, None, ServerUser(reaching(SOMEBODY), SOMEBODY)),
    (0, SOMEBODY.pw_uid, ("unshare",), None, ServerUser((), SOMEBODY)),
    (0, 0, BOTH, None, ServerUser(MAPPED)),
    (0, 0, ("setpriv",), None, ServerUser(reaching(NOBODY), NOBODY)),
    (0, 0, (), None, ServerUser((), NOBODY)),
    (0, 0, BOTH, "nobody", ServerUser(reaching(NOBODY), NOBODY)),
    (0, None, BOTH, "", ServerUser(MAPPED)),
    (0, 4_000_000_000, BOTH, None, ServerUser(MAPPED)),
]


@pytest.mark.parametrize(("we", "owner", "allowed", "asked", "chosen"), AS)
def test_root_takes_the_first_that_a_machine_allows(
    we: int, owner: int | None, allowed: tuple[str, ...], asked: str | None, chosen: ServerUser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(os, "geteuid", lambda: we)
    monkeypatch.setattr(server_user, "_works", lambda prefix: prefix[0] in allowed)
    monkeypatch.delenv("JACKPOT_PG_AS", raising=False)
    if asked is not None:
        monkeypatch.setenv("JACKPOT_PG_AS", asked)
    assert server_user.server_user(folder(owner)) == chosen


def test_a_command_in_front_works_or_it_does_not(capfd: pytest.CaptureFixture[str]) -> None:
    assert server_user._works(("env",))
    assert not server_user._works(("env", "--no-such-option"))
    assert not server_user._works(("/nowhere/at/all",))
    assert capfd.readouterr() == ("", "")


def test_who_runs_the_server_is_set_by_the_command_in_front_or_else_by_us() -> None:
    assert ServerUser().options() == ServerUser(("setpriv",), NOBODY).options() == {}
    ours = {"user": NOBODY.pw_uid, "group": NOBODY.pw_gid, "extra_groups": []}
    assert ServerUser((), NOBODY).options() == ours


def test_a_folder_is_given_whole_to_whoever_it_is_not_yet_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link in it is given, not what it points to; a folder that is theirs already is left as it is."""
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "1").touch()
    (tmp_path / "pg_wal").symlink_to("/")
    given: list[tuple[Path, int, int, bool]] = []

    def chown(place: Path, user: int, group: int, *, follow_symlinks: bool = True) -> None:
        given.append((place.resolve() if place.name == "." else place, user, group, follow_symlinks))

    monkeypatch.setattr(os, "chown", chown)
    ours = tmp_path.stat().st_uid
    for owner in (None, SimpleNamespace(pw_uid=ours, pw_gid=8)):
        ServerUser((), owner).own(tmp_path)  # type: ignore[arg-type]
    assert given == []
    ServerUser((), SimpleNamespace(pw_uid=ours + 1, pw_gid=8)).own(tmp_path)  # type: ignore[arg-type]
    whole = {tmp_path, tmp_path / "base", tmp_path / "base" / "1", tmp_path / "pg_wal"}
    assert set(given) == {(place, ours + 1, 8, False) for place in whole}
