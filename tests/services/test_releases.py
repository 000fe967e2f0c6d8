"""Which software ran when is on the audit trail, and nobody had to enter it (REQUIREMENTS R41)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from accounting.services import releases
from accounting.services.audit import check_audit_trail
from jackpot.config.data_folder import ROOT
from tests.services.house import RECEIVED, House, rows


def trail() -> list[tuple[str, str, object]]:
    """What the audit trail says of the software, oldest first."""
    return rows(
        "SELECT actor, subject, detail -> 'before' FROM accounting_auditrecord WHERE action = 'software' ORDER BY id"
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A little of the software, somewhere else."""
    for name in ("manage.py", "jackpot/rules/meter.py", "tables/paytables/ms-base.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def test_a_start_with_other_software_is_put_on_record_once(house: House, copy: Path) -> None:
    assert releases.put_on_record(copy, at=RECEIVED) is True
    assert releases.put_on_record(copy, at=RECEIVED + timedelta(minutes=1)) is False
    first = releases.build(copy).digest
    rates = copy / "tables/paytables/ms-base.toml"
    rates.write_bytes(rates.read_bytes().replace(b"500", b"501", 1))  # one byte of what hands pay
    second = releases.build(copy).digest
    assert first != second
    assert releases.put_on_record(copy, at=RECEIVED + timedelta(minutes=2)) is True
    assert [(actor, subject) for actor, subject, _ in trail()] == [("the service", first), ("the service", second)]
    assert [str(before).strip('"') for _, _, before in trail()] == ["null", first] or trail()[1][2] == first
    assert check_audit_trail() == []


def test_a_file_more_less_or_renamed_is_other_software_and_what_is_compiled_is_not(copy: Path) -> None:
    first = releases.build(copy)
    compiled = copy / "jackpot/rules/__pycache__/meter.cpython-311.pyc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"x")
    assert releases.build(copy) == first
    more = copy / "jackpot/rules/more.py"
    more.write_bytes(b"")
    assert releases.build(copy).files == first.files + 1
    moved = more.rename(copy / "jackpot/rules/less.py")
    assert releases.build(copy).digest not in (first.digest, "")
    moved.unlink()
    assert releases.build(copy) == first


def test_the_product_itself_is_told_whole() -> None:
    found = releases.build(ROOT)
    assert found.files > 500 and len(found.digest) == 64
