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
from tests.faults.replayed import compare
from tests.faults.traffic import Traffic

pytestmark = [pytest.mark.alone, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("restored")
    folder.chmod(0o711)
    with Hall(folder, tables=4).up() as hall:
        yield hall


def play(house: Hall, rounds: int) -> None:
    """So many rounds, settled."""
    for messages in by_table(house.deal(rounds)).values():
        assert set(house.post(messages)) == {"accepted"}
    house.settled()


def managed(house: Hall, *words: str) -> str:
    done = house.manage(*words)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_restored_to_a_moment_and_resent_nothing_is_lost_and_nothing_doubled(house: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "backups"
    refused = house.manage("backup", str(kept), "--log-only")
    assert refused.returncode == 2 and b"no base" in refused.stderr, refused.stderr
    with Traffic(house.service(), house.floor_file, rate=30) as traffic:
        traffic.goes_on(2)
        managed(house, "backup", str(kept))
        traffic.goes_on(1)
        until = datetime.now(UTC)
        traffic.goes_on(1)
        assert "log until" in managed(house, "backup", str(kept), "--log-only")
        traffic.goes_on(1)  # after the last backup of any kind
    house.settled()
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
    assert "no difference" in said and "not in a backup" not in said, "the keys are where they were"
    assert f"[restore] from {kept}/" in said and f" to {until:%Y-%m-%d %H:%M:%S} UTC" in said

    house.start()
    with house.server.connect("jackpot") as database:
        there = {reference for (reference,) in database.execute("SELECT reference FROM devices_message")}
    sent = traffic.kept.sent.values()
    before = {each.message["round"] for each in sent if each.answered_at and each.answered_at < until.timestamp()}
    after = {each.message["round"] for each in sent if each.left_at > until.timestamp()}
    assert before and after and before <= there, "everything that was answered before the moment is there"
    assert not after & there, "nothing that came after it is"
    # Gateways hold what they were told last, and do not know what the house has forgotten.
    told = traffic.send_again(house.service())
    assert set(told) == {"duplicate", "accepted"}
    assert (told["duplicate"], told["accepted"]) == (len(there), len(traffic.dealt) - len(there))
    house.settled()
    house.answered = {reference: dealt.message for reference, dealt in traffic.dealt.items()}
    account(house)
    compare(house, traffic.dealt)


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
    said = managed(house, "restore", str(kept))
    assert "no difference" in said and " to the end of the log" in said
    house.start()
    account(house)
    assert house.number("SELECT count(*) FROM devices_message") == before + 80
    # It is a house like any other again: it can be backed up anew, and no setting of the restore is left.
    managed(house, "backup", str(kept))
    left = "name IN ('restore_command', 'recovery_target_time') AND setting <> ''"
    with house.server.connect() as session:
        assert session.execute(f"SELECT name FROM pg_settings WHERE {left}".encode()).fetchall() == []
