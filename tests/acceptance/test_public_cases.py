"""Every public acceptance case, settled by `manage.py settle`'s own code and compared by the suite's own checker."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tables.settle import main

HERE = Path(__file__).parent
CASES = sorted((HERE / "public").glob("*.json"))


def _checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("acceptance_check", HERE / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = _checker()


def test_all_public_cases_are_here() -> None:
    assert len(CASES) == 79


@pytest.mark.parametrize("file", CASES, ids=[file.stem for file in CASES])
def test_public_case(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case: dict[str, Any] = json.loads(file.read_text("utf-8"))
    floor, rounds, meters = (tmp_path / name for name in ("floor.toml", "rounds.ndjson", "meters.json"))
    floor.write_text(check.floor_text(case, HERE / "public"), "utf-8")
    lines = (line if isinstance(line, str) else json.dumps(line) for line in case["rounds"])
    rounds.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    argv = [str(floor), str(rounds)]
    if case.get("meters") is not None:
        meters.write_text(json.dumps(case["meters"]), "utf-8")
        argv += ["--meters", str(meters)]

    code = main(argv)

    written = capsys.readouterr()
    if "floor_refused" in case:
        assert (code, written.out) == (2, "")
        assert case["floor_refused"] in written.err
        return
    assert code == 0, written.err
    settlements = [json.loads(line) for line in written.out.splitlines()]
    assert check.difference(case["expected"], settlements) is None
