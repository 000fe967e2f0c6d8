"""Halls and databases for tests of faults."""

from collections.abc import Iterator

import pytest

from jackpot.config.embedded_postgres import EmbeddedPostgres
from tests.faults.furnished import Place, embedded, furnished_by_hand
from tests.faults.hall import Hall
from tests.faults.house_of_its_own import OwnHouse


@pytest.fixture(scope="module")
def _hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("hall")
    folder.chmod(0o711)  # the database's user must reach its files
    with Hall(folder, tables=4, settlers=2).up() as hall:
        yield hall


@pytest.fixture
def hall(_hall: Hall) -> Hall:
    """A running service with two settling workers, everybody back from the test before."""
    _hall.ready()
    return _hall


@pytest.fixture(scope="session")
def own_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnHouse]:
    """A server with a floor that tests may freeze, block or cut off; each leaves it as it was."""
    with OwnHouse(tmp_path_factory.mktemp("own")).open() as house:
        yield house


@pytest.fixture(scope="module", params=[embedded, furnished_by_hand])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("roles")
    folder.chmod(0o711)
    server = EmbeddedPostgres(folder / "postgres", durable=False)
    server.start()
    try:
        owner = request.param(server)
        server.start()  # adopted, should a command have stopped it
        yield Place(server, owner)
    finally:
        server.stop()
