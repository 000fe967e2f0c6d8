"""A house that played, was backed up, played on and was restored to a moment between: gateways resend what they still hold.

Nothing of that is lost, and nothing is doubled.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.faults.account import account
from tests.faults.hall import Hall, by_table

pytestmark = [pytest.mark.alone, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("restored")
    folder.chmod(0o711)
    with Hall(folder, tables=4).up() as hall:
        yield hall


def play(house: Hall, rounds: int) -> list[list[dict[str, object]]]:
    """So many rounds, settled; the messages as their gateways hold them."""
    dealt = list(by_table(house.deal(rounds)).values())
    for messages in dealt:
        assert set(house.post(messages)) == {"accepted"}
    house.settled()
    return dealt


def managed(house: Hall, *words: str) -> str:
    done = house.manage(*words)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_restored_to_a_moment_and_resent_nothing_is_lost_and_nothing_doubled(house: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "backups"
    refused = house.manage("backup", str(kept), "--log-only")
    assert refused.returncode == 2 and b"no base" in refused.stderr, refused.stderr
    play(house, 60)
    managed(house, "backup", str(kept))
    held = play(house, 60)
    until = datetime.now(UTC)
    after = play(house, 60)
    assert "log until" in managed(house, "backup", str(kept), "--log-only")
    lost = play(house, 20)  # after the last backup of any kind
    house.down()

    refused = house.manage("restore", str(kept))
    assert refused.returncode == 2 and b"not overwritten" in refused.stderr
    shutil.move(house.server.data, house.server.folder / "data.before")
    for words, why in (
        (("--to", "2001-01-01T00:00:00Z"), b"the first backup in"),
        (("--to", "tomorrow"), b"a moment such as"),
        (("--to", "2001-01-01T00:00:00"), b"in which zone"),
        (("--to", "2100-01-01T00:00:00Z"), b"ends before that moment"),
    ):
        refused = house.manage("restore", str(kept), *words)
        assert (refused.returncode, why in refused.stderr) == (2, True), refused.stderr
        assert not house.server.data.exists(), "what could not be restored is not left behind"
    said = managed(house, "restore", str(kept), "--to", until.isoformat())
    assert "no difference" in said

    house.start()
    assert house.number("SELECT count(*) FROM devices_message") == 120
    # Gateways hold what they were told last, and do not know what the house has forgotten.
    statuses = {"held": "duplicate", "after": "accepted", "lost": "accepted"}
    for name, dealt in (("held", held), ("after", after), ("lost", lost)):
        for messages in dealt:
            assert set(house.post(messages)) == {statuses[name]}, name
    house.settled()
    account(house)
    assert house.number("SELECT count(*) FROM devices_message") == 200


def test_to_the_end_of_the_log_everything_until_the_last_backup_is_there(house: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "backups"
    before = house.number("SELECT count(*) FROM devices_message")
    managed(house, "backup", str(kept))
    play(house, 40)
    managed(house, "backup", str(kept), "--log-only")
    play(house, 40)
    managed(house, "backup", str(kept), "--log-only")
    house.down()
    shutil.rmtree(house.server.data)
    assert "no difference" in managed(house, "restore", str(kept))
    house.start()
    account(house)
    assert house.number("SELECT count(*) FROM devices_message") == before + 80
    # It is a house like any other again: it can be backed up anew, and no setting of the restore is left.
    managed(house, "backup", str(kept))
    left = "name IN ('restore_command', 'recovery_target_time') AND setting <> ''"
    with house.server.connect() as session:
        assert session.execute(f"SELECT name FROM pg_settings WHERE {left}".encode()).fetchall() == []
