"""The data folder may be anywhere: not there yet, named from elsewhere, on a volume that is lent, on one that knows no links."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.http import HttpResponse

from jackpot.config import alive, prepare, up
from jackpot.config.assets import CompressedFiles
from jackpot.config.data_folder import DataFolder
from tests.conftest import ROOT, service_environment
from tests.services.house import House


def test_a_folder_named_from_here_is_the_same_for_children_that_work_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JACKPOT_DATA", "data here")
    assert up.main(["--port", "0"]) == 2
    assert "--port: 0 is no port" in capsys.readouterr().err
    assert os.environ["JACKPOT_DATA"] == str(tmp_path / "data here")


def test_others_pass_through_it_and_read_nothing(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "new" / "folder")
    folder.create()
    assert (stat.S_IMODE(folder.path.stat().st_mode), stat.S_IMODE(folder.logs.stat().st_mode)) == (0o711, 0o700)
    folder.path.chmod(0o777)
    folder.create()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o711, "whoever opened it meanwhile"


def test_only_who_is_watched_by_a_file_makes_the_folder_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACKPOT_DATA", str(tmp_path / "new" / "folder"))
    for role in ("web", "command"):
        alive.watch(role)
        assert not (tmp_path / "new").exists()
    for _ in range(2):
        alive.watch("settle")
        assert (tmp_path / "new" / "folder").is_dir()


LONG_WORK = """
import time
from celery.signals import task_postrun, task_prerun
from jackpot.config import alive

alive.IDLE_SECONDS, alive.LOOK_SECONDS, touched = 0.0, 0.01, alive.file_of("work")
alive._watch_this_child()
task_prerun.send(None)
for _ in range(2):
    give_up = time.monotonic() + 20
    while not touched.exists() and time.monotonic() < give_up:
        time.sleep(0.01)
    touched.unlink()
print("touched twice")
"""


def test_a_process_at_a_long_task_is_seen_at_work_for_as_long_as_it_takes(tmp_path: Path) -> None:
    """However long ago it ended one."""
    environment = {**os.environ, "JACKPOT_DATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", LONG_WORK], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "touched twice\n", done.stderr


def test_a_volume_that_is_somebody_else_s_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Path.chmod

    def chmod(self: Path, mode: int, **more: Any) -> None:
        if self == tmp_path:
            raise PermissionError(errno.EPERM, "Operation not permitted", str(self))
        plain(self, mode, **more)

    monkeypatch.setattr(Path, "chmod", chmod)
    folder = DataFolder(tmp_path)
    folder.create()
    assert len(folder.signing_key()) == 64 and folder.signing_key() == DataFolder(tmp_path).signing_key()


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOTSUP])
def test_of_many_first_starts_all_read_one_key_where_no_links_can_be_made(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: Any) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "link", link)
    numbers = iter(range(10_000, 20_000))
    monkeypatch.setattr(os, "getpid", lambda: next(numbers))  # each thread as a process of its own
    with ThreadPoolExecutor(8) as starting:
        keys = list(starting.map(lambda _: DataFolder(tmp_path).secret_key(), range(8)))
    assert len(set(keys)) == 1
    assert not [left for left in tmp_path.iterdir() if left.name.startswith("secret_key.")]


def test_a_house_whose_keys_come_from_elsewhere_is_prepared_without_its_folder(
    busy_house: House, tmp_path: Path
) -> None:
    data = tmp_path / "not there yet" / "Häuser"
    environment = {
        **service_environment(), "JACKPOT_DATA": str(data), "JACKPOT_NO_VENV": "1", "JACKPOT_DEMO": "1",
        "JACKPOT_SECRET_KEY": "s" * 50, "JACKPOT_SIGNING_KEY": "ab" * 32, "JACKPOT_PATRON_KEY": "A" * 43 + "=",
    }  # fmt: skip
    environment["DATABASE_URL"] = environment["DATABASE_URL"].replace("jackpot_service", "jackpot")
    done = subprocess.run(
        [sys.executable, "-m", "jackpot.config.prepare", "--base-url", "http://h"],
        cwd=ROOT, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((data / "demo.json").read_text())["base_url"] == "http://h"


@pytest.mark.parametrize("demo", [True, False])
@pytest.mark.parametrize(
    ("given", "there", "loaded"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_a_floor_goes_into_an_empty_house_and_demo_people_into_a_demo_alone(
    demo: bool, given: bool, there: bool, loaded: bool, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is no demo any more lets the demo's people and keys go."""
    called: list[str] = []

    def imported(name: str) -> Any:
        def call(*_: Any, **__: Any) -> dict[str, Any]:
            called.append(name)
            return {"devices": {}}

        return call

    floor = tmp_path / "floor.toml"
    floor.write_text("a floor")
    data = SimpleNamespace(create=lambda: None, floor=tmp_path / "kept.toml", demo=tmp_path / "demo.json")
    data.demo.write_text("of an earlier start")
    settings.DEMO, settings.DATA, settings.CELERY_BROKER_URL = demo, data, "memory://"
    house = SimpleNamespace(objects=SimpleNamespace(exists=lambda: there))
    for name, stand_in in {
        "as_owner": nullcontext, "refuse_newer": lambda: None, "refuse_a_pooler": lambda: None, "import_string": imported,
        "call_command": lambda *words, **_: called.append(" ".join(words)),
        "apps": SimpleNamespace(get_model=lambda *_: house), "django": SimpleNamespace(setup=lambda: None),
    }.items():  # fmt: skip
        monkeypatch.setattr(prepare, name, stand_in)
    assert prepare.main(["--base-url", "http://h", *(["--floor", str(floor)] if given else [])]) == 0
    assert called == [
        "migrate", *([f"load_floor {floor}"] if loaded else []), "accounting.services.releases.put_on_record",
        *(["devices.demo.ensure"] if demo else ["accounting.people.services.demo.retire", "devices.demo.retire"]),
    ]  # fmt: skip
    assert data.floor.exists() is loaded
    assert data.demo.exists() is demo
    if demo:
        assert json.loads(data.demo.read_text()) == {"base_url": "http://h", "devices": {}}


@pytest.mark.parametrize(("finders", "role", "forms"), [(True, "web", 2), (False, "web", 1), (True, "command", 1)])
def test_what_an_image_has_collected_is_served_as_it_was_built(
    finders: bool, role: str, forms: int, tmp_path: Path, settings: Any
) -> None:
    """Only files that are served from where they lie are compressed as they are found, and by who serves them."""
    settings.ROLE = role
    (tmp_path / "a.css").write_text("a { color: red }\n" * 200)
    files = CompressedFiles(lambda request: HttpResponse())
    files.use_finders = finders
    found = files.get_static_file(str(tmp_path / "a.css"), "/static/a.css")
    assert len(found.alternatives) == forms
