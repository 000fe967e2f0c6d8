"""A server that died after it had answered is quoted: why it died is what whoever started it has to know."""

import signal
from pathlib import Path

import pytest

from jackpot.config.embedded_postgres import DatabaseProblem, EmbeddedPostgres
from jackpot.config.processes import still_running


class DiesOnceItAnswers(EmbeddedPostgres):
    """As a restored one does whose log ends too early: it lets onlookers in, and gives up when it finds the end."""

    def _furnish(self) -> None:
        process = self.process()
        assert process is not None
        process.send_signal(signal.SIGQUIT)
        assert not still_running([process], 10)
        super()._furnish()


def test_a_server_that_answers_and_dies_is_quoted_and_no_start_before_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    server = DiesOnceItAnswers(tmp_path / "postgres", durable=False)
    server.folder.mkdir(mode=0o711)
    server.log.write_text("FATAL:  recovery ended before configured recovery target was reached\n")
    with pytest.raises(
        DatabaseProblem, match=r"answered and then did not.*received immediate shutdown request"
    ) as said:
        server.start()
    assert "before configured" not in str(said.value)
