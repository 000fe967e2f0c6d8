"""Which versions an advisory is about, and that they are answered as the service answers (docker/README.md)."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.images.weaknesses import Advisories, Unreadable, affects, answering, brought


def advisory(name: str = "Some_Package", **more: Any) -> dict[str, Any]:
    """An advisory as exports have them."""
    events = [{"introduced": "0"}, {"fixed": "1.10"}, {"introduced": "2.0"}, {"last_affected": "2.3"}]
    package = {"ecosystem": "PyPI", "name": name}
    return {
        "id": "X-1",
        "summary": "it lets anybody in",
        "affected": [{"package": package, "ranges": [{"type": "ECOSYSTEM", "events": events}], "versions": ["9.9"]}],
    } | more


@pytest.mark.parametrize(
    ("version", "known"),
    [
        ("0.1", True), ("1.9", True), ("1.10rc1", True), ("1.10", False), ("1.10.1", False), ("2.0", True), ("2.3", True),
        ("2.3.1", False), ("9.9", True), ("10", False),
    ],
)  # fmt: skip
def test_a_version_is_named_or_lies_in_a_range(version: str, known: bool) -> None:
    """Versions are compared as packages are, whatever order the events stand in."""
    (part,) = advisory()["affected"]
    assert affects(part, version) is known
    part["ranges"][0]["events"].reverse()
    assert affects(part, version) is known


def test_commits_are_no_versions() -> None:
    assert not affects({"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}, "1.0")


def test_a_package_is_known_by_any_spelling_and_what_was_withdrawn_is_none() -> None:
    known = Advisories([advisory(), advisory("other"), advisory(id="X-2", withdrawn="2026-01-01T00:00:00Z")])
    assert [each["id"] for each in known.of("some-package", "1.0")] == ["X-1"]
    assert known.of("some.package", "1.0") and known.of("SOME_PACKAGE", "1.0")
    assert not known.of("some-package", "3.0") and not known.of("nobody", "1.0")
    elsewhere = advisory()
    elsewhere["affected"][0]["package"]["ecosystem"] = "npm"
    assert not Advisories([elsewhere]).of("some-package", "1.0")


def test_an_export_is_a_zip_or_a_folder(tmp_path: Path) -> None:
    folder, export = tmp_path / "folder", tmp_path / "all.zip"
    folder.mkdir()
    (folder / "X-1.json").write_text(json.dumps(advisory()))
    with zipfile.ZipFile(export, "w") as into:
        into.writestr("X-1.json", json.dumps(advisory()))
    assert brought(folder).count == brought(export).count == 1
    empty, wrong = tmp_path / "empty", tmp_path / "wrong.zip"
    empty.mkdir()
    wrong.write_text("no zip")
    for place in (empty, wrong, tmp_path / "nowhere.zip"):
        with pytest.raises(Unreadable):
            brought(place)


def test_it_is_answered_as_by_the_service() -> None:
    with answering(Advisories([advisory()])) as address, httpx.Client(trust_env=False) as client:

        def ask(version: str) -> Any:
            asked = {"package": {"name": "some-package", "ecosystem": "PyPI"}, "version": version}
            return client.post(address, content=json.dumps(asked)).json()

        assert [each["id"] for each in ask("1.0")["vulns"]] == ["X-1"]
        assert ask("3.0") == {}
