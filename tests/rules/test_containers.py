"""`docker/compose.yaml` and `docker/Dockerfile`, as far as they can be tried without building anything.

The image itself is tried by `python3 -m tests.images`.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from accounting.services import releases
from tests.images import compose
from tests.images.compose import COMPOSE, ROOT

ROLES = {"web", "settle", "work", "beat"}
MUST_READ = re.compile(r"""(?:environ\.get|environ|getenv)[(\[]\s*["']([A-Z_]+)["']""")
PYTHONS = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "DJANGO_SETTINGS_MODULE"}
GIVEN = {name: name.lower() for name in compose.demanded()}
NO_HEALTH_CHECK = {"migrate": "it ends, and the others wait for it to have ended well"}


def known_variables() -> set[str]:
    """Every variable of the environment that the product reads."""
    sources = [path for app in releases.PARTS for path in (ROOT / app).rglob("*.py")]
    return {name for path in sources for name in MUST_READ.findall(path.read_text("utf-8"))}


@pytest.mark.parametrize("name", compose.own())
def test_a_service_of_ours_may_write_nothing_and_has_no_capability(name: str) -> None:
    service = compose.own()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["tmpfs"] == ["/tmp"]
    assert not {"cap_add", "privileged", "devices", "volumes", "user", "ports"} & service.keys()


@pytest.mark.parametrize("name", compose.services())
def test_a_service_says_whether_it_is_well_or_why_it_need_not(name: str) -> None:
    service = compose.services()[name]
    check = service.get("healthcheck", {})
    if check.get("disable"):
        assert name in NO_HEALTH_CHECK
    elif "build" in service and "test" not in check:
        assert "command" not in service, "the image's check asks its web process"
    elif "build" in service:
        kind, *words = check["test"]
        assert kind in {"CMD", "CMD-SHELL"}
        assert words
    else:
        assert check or name == "proxy", "other people's images are asked as they tell"


@pytest.mark.parametrize("name", compose.own())
def test_every_variable_that_a_service_is_given_is_read(name: str) -> None:
    given = set(compose.own()[name]["environment"])
    assert given <= known_variables()


def test_every_variable_of_the_image_is_read() -> None:
    assert set(compose.set_in_image()) - PYTHONS <= known_variables()


def test_every_role_has_a_service_and_every_queue_a_worker() -> None:
    services = compose.own()
    assert {service["environment"].get("JACKPOT_ROLE") for service in services.values()} == ROLES | {None}
    queues = {
        service["command"][service["command"].index("-Q") + 1]
        for service in services.values()
        if "-Q" in service.get("command", ())
    }
    assert queues == {"settle", "work"}


def test_the_owners_password_is_given_to_the_migration_alone() -> None:
    filled = compose.services(GIVEN)
    knows = {
        name for name, service in filled.items()
        if "build" in service and GIVEN["OWNER_PASSWORD"] in str(service["environment"])
    }  # fmt: skip
    assert knows == {"migrate"}
    users = {name: re.findall(r"//(\w+):", filled[name]["environment"]["DATABASE_URL"])[0] for name in compose.own()}
    assert users == {
        "migrate": "jackpot_owner",
        "web": "jackpot_service",
        "settle": "jackpot_settle",
        "worker": "jackpot_service",
        "beat": "jackpot_service",
    }


def test_what_has_no_default_is_demanded() -> None:
    with pytest.raises(compose.Unset):
        compose.services({})
    readme = (ROOT / "docker" / "README.md").read_text("utf-8")
    assert not [name for name in compose.demanded() if f"`{name}`" not in readme]


def test_whom_a_service_waits_for_is_there_and_can_be_waited_for() -> None:
    services = compose.services()
    for name, service in services.items():
        waits = service.get("depends_on", {})
        for other, how in waits.items() if isinstance(waits, dict) else [(other, {}) for other in waits]:
            assert other in services, (name, other)
            if how.get("condition") == "service_healthy":
                assert services[other].get("healthcheck", {}).get("test"), (name, other)
            if how.get("condition") == "service_completed_successfully":
                assert services[other]["restart"] == "no", (name, other)


def test_files_that_are_mounted_are_there_and_volumes_are_named() -> None:
    whole = yaml.safe_load(COMPOSE.read_text("utf-8"))
    for name, service in whole["services"].items():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert (COMPOSE.parent / source).exists() if source.startswith(".") else source in whole["volumes"], (
                name,
                source,
            )


def test_every_file_that_the_image_copies_is_there_and_not_ignored() -> None:
    ignored = set((ROOT / ".dockerignore").read_text("utf-8").split())
    for stage in compose.stages():
        for source in compose.copied(stage):
            assert (ROOT / source).exists(), source
            assert source not in ignored


def test_the_image_has_every_app_and_the_software_is_the_same_as_in_a_clone(tmp_path: Path) -> None:
    """By its digest, which goes on the audit trail: what the image runs is what a clone would run."""
    copied = compose.copied(compose.stages()[-1])
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    assert set(contracts["root_packages"]) <= set(copied)
    for source in copied:
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, tmp_path / source)
    assert releases.build(tmp_path) == releases.build(ROOT)


def test_the_image_is_nobodys_root_and_its_packages_are_the_pinned_ones() -> None:
    last = compose.stages()[-1]
    assert [words for name, words in last if name == "USER"] == ["10001:10001"]
    installs = [words for stage in compose.stages() for name, words in stage if name == "RUN" and " install " in words]
    assert len(installs) == 1
    assert "-r /tmp/image.txt" in installs[0]
    bases = {words.split()[0] for name, words in compose.instructions() if name == "FROM"}
    assert len(bases) == 1, "what is built is run on the same base"
