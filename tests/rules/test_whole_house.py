"""What `manage.py test --house` makes of what it found: what is missing is named, what is not well makes it fail."""

from __future__ import annotations

import pytest

from jackpot.config import testing
from tests.house import __main__ as house
from tests.house import needs
from tests.house.__main__ import Row

Captured = pytest.CaptureFixture[str]


def test_what_is_missing_is_named_in_one_line_and_nothing_is_tried(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    lacking = [needs.Need("Redis", "redis-server", lambda: False), needs.Need("ip", "iproute2", lambda: True)]
    monkeypatch.setattr(needs, "NEEDS", lacking)
    assert house.main([]) == 2
    assert capsys.readouterr() == ("", "Redis is missing: apt-get install redis-server\n")


def test_who_is_not_root_is_told_so(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(needs, "NEEDS", ())
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert house.main([]) == 2
    assert "for root" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "well"),
    [
        (Row("PostgreSQL 18", "web killed", 5.9, 0, 6.0), True),
        (Row("PostgreSQL 18", "web killed", 6.1, 0, 6.0), False),
        (Row("PostgreSQL 18", "host cut off", 4.0, 0, 6.0, told=9.9), True),
        (Row("PostgreSQL 18", "host cut off", 4.0, 0, 6.0, told=10.1), False),
        (Row("PostgreSQL 18", "server restarted", 9.0, 4.0, 6.0), True),
        (Row("PostgreSQL 18", "server restarted", 10.1, 4.0, 6.0), False),
        (Row("PostgreSQL 18", "promoted", 1.0, 0, 6.0, gone=40), True),
        (Row("PostgreSQL 18", "promoted", 1.0, 0, 6.0, lost=1), False),
        (Row("PostgreSQL 18", "promoted", 1.0, 0, 6.0, doubled=1), False),
        (Row("one machine", "disk full", None, 0, None, trouble="exit code 1"), False),
        (Row("one machine", "disk full", None, 0, None), True),
    ],
)
def test_a_row_is_well_within_its_goal_and_with_everything_there_once(row: Row, well: bool) -> None:
    assert row.well is well
    assert ("NOT WITHIN" in str(row) or "exit code" in str(row)) is not well
    assert str(row).count("|") == house.HEAD.splitlines()[0].count("|")


def test_the_command_hands_on_what_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def call(words: list[str], **more: object) -> int:
        called.append(words)
        return 3

    monkeypatch.setattr("subprocess.call", call)
    assert testing.run(["--house", "--only", "web"]) == 3
    assert called[0][1:] == ["-m", "tests.house", "--only", "web"]
