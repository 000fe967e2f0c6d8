"""What `docker/compose.yaml` and `docker/Dockerfile` say, read as the tools that run them read it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "docker" / "compose.yaml"
DOCKERFILE = ROOT / "docker" / "Dockerfile"
VARIABLE = re.compile(r"\$\{(?P<name>[A-Z_]+)(?:(?P<how>:[-?])(?P<word>[^}]*))?\}")

Service = dict[str, Any]


class Unset(KeyError):
    """A variable that the file demands has no value."""


def services(given: Mapping[str, str] | None = None) -> dict[str, Service]:
    """Every service by name, merges done; with `given` variables are replaced. Unset where one that is demanded is missing."""
    found: dict[str, Service] = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    return found if given is None else _filled(found, given)


def own() -> dict[str, Service]:
    """The services that run our image, variables as they are written."""
    return {name: service for name, service in services().items() if "build" in service}


def demanded() -> set[str]:
    """The variables without which compose does nothing."""
    return {found["name"] for found in VARIABLE.finditer(COMPOSE.read_text("utf-8")) if found["how"] == ":?"}


def _filled(value: Any, given: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(each, given) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, given) for each in value]
    return VARIABLE.sub(lambda found: _value(found, given), value) if isinstance(value, str) else value


def _value(found: re.Match[str], given: Mapping[str, str]) -> str:
    if value := given.get(found["name"]):
        return value
    if found["how"] == ":?":
        raise Unset(found["name"])
    return found["word"] or ""


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their words, continued lines in one."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text("utf-8"), flags=re.MULTILINE)
    lines = [line for line in re.sub(r"\\\n\s*", "", text).splitlines() if line.strip()]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def stages() -> list[list[tuple[str, str]]]:
    """The Dockerfile's instructions stage by stage."""
    found: list[list[tuple[str, str]]] = []
    for name, words in instructions():
        if name == "FROM":
            found.append([])
        found[-1].append((name, words))
    return found


def copied(stage: list[tuple[str, str]]) -> list[str]:
    """What a stage copies from the project: files and folders, as named."""
    sources: list[str] = []
    for name, words in stage:
        if name == "COPY" and "--from" not in words:
            sources += shlex.split(words)[:-1]
    return sources


def set_in_image() -> dict[str, str]:
    """The environment that the image comes with."""
    found: dict[str, str] = {}
    for name, words in stages()[-1]:
        if name == "ENV":
            found |= dict(word.split("=", 1) for word in shlex.split(words))
    return found
