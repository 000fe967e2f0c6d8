"""Rows on their way into the database while Python makes the next ones.

A batch is made of rules, which Python computes, and of rows, which PostgreSQL checks and stores. Waiting for one before
beginning the other leaves each idle half of the time. So rows are handed over in portions, each table's by one COPY, and
whoever computes looks in every now and then (`step`) to give the server what it is ready for. It is the same connection and
the same transaction: rows arrive in the order in which they were handed over, and all or none are there in the end.
"""

import select
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from typing import Any, LiteralString, NamedTuple, TypeVar

import psycopg
from django.db import connection, transaction
from psycopg import sql
from psycopg.copy import Writer
from psycopg.errors import NumericValueOutOfRange, error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from accounting.statements import execute

Row = tuple[Any, ...]
Result = TypeVar("Result")
Waiting = Generator[bool, None, Result]
"""What yields wherever it would have to wait for the server."""


REFUSED_ROWS = "among rows of "
"""How the note begins that the database's refusal of rows handed over carries, and of nothing else."""


def refused_rows(error: BaseException | None) -> bool:
    """Whether this is the database's refusal of rows that were handed over, not of a statement beside them."""
    return any(note.startswith(REFUSED_ROWS) for note in getattr(error, "__notes__", ()))


class RowsAstray(Exception):
    """The server says that it wrote or removed another number of rows than it was told to."""


class _Portion(NamedTuple):
    """A statement with the rows that it must touch, if that is known; if it is a COPY, those in COPY's binary form too."""

    table: str | None
    statement: bytes
    rows: int | None
    pieces: list[bytes] | None


class _Pieces(Writer):
    """Keeps what would be sent."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, data: Any) -> None:
        self.pieces.append(bytes(data))


class Copying:
    """Rows handed over to the server, in this order, on Django's connection, inside the caller's transaction.

        with Copying() as copying:
            copying.send("accounting_event", COLUMNS, rows)
            copying.step()      # as often as one likes
        # all are stored here, or the database's refusal was raised

    Between `send` and `finish` the connection is taken: another statement on it fails. An error that leaves the block gives
    up what is under way; the transaction can only be rolled back then.
    """

    def __init__(self) -> None:
        if not connection.in_atomic_block:
            raise transaction.TransactionManagementError("rows are copied inside a transaction only")
        self._connection: psycopg.Connection[Any] = connection.connection
        self._server: PGconn = self._connection.pgconn
        self._refusals = connection.wrap_database_errors  # looked up once: `step` comes every few rounds
        self._portions: deque[_Portion] = deque()
        self._under_way: Waiting[None] | None = None
        self._unsent = False
        if self._server.transaction_status == TransactionStatus.IDLE:
            execute("SELECT")  # sends the BEGIN that was only announced so far; a COPY sent from here would not

    def __enter__(self) -> "Copying":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self._give_up()

    def send(self, table: LiteralString, columns: Mapping[str, str], rows: Iterable[Row]) -> None:
        """Hand rows over, `columns` naming each column's type. Defaults and signals do not apply: rows must be whole.

        A number that no column can hold is refused as the database would refuse it. RowsAstray is raised, here or later,
        when the server stored another number of them.
        """
        pieces, sent = _Pieces(), 0
        names: LiteralString = ", ".join(columns)
        with self._refusals:
            try:
                with psycopg.Copy(psycopg.Cursor(self._connection), binary=True, writer=pieces) as copy:
                    copy.set_types(list(columns.values()))
                    write_row = copy.formatter.write_row  # `copy.write_row` costs as much again to call
                    for row in rows:
                        if piece := write_row(row):
                            pieces.write(piece)
                        sent += 1
            except OverflowError as error:
                refusal = NumericValueOutOfRange(f"{table}: {error}")
                refusal.add_note(REFUSED_ROWS + table)
                raise refusal from error
        statement = f"COPY {table} ({names}) FROM STDIN (FORMAT binary)".encode()
        self._portions.append(_Portion(table, statement, sent, pieces.pieces))
        self.step()

    def execute(self, statement: sql.Composable, *, rows: int | None = None) -> None:
        """Hand over a statement whose answer nobody needs; with `rows`, RowsAstray when it touched another number."""
        self._portions.append(_Portion(None, statement.as_bytes(self._connection), rows, None))
        self.step()

    def step(self) -> None:
        """Give the server what it is ready for, and take its answers; never waits. Raises the database's refusal."""
        if self._under_way is not None or self._portions:
            with self._refusals:
                self._go_on()

    def finish(self) -> None:
        """Wait until everything handed over is stored. Raises the database's refusal."""
        with self._refusals:
            while self._go_on():
                self._wait()

    def _go_on(self) -> bool:
        """As far as it goes without waiting; whether there is more to do."""
        while True:
            if self._under_way is None:
                if not self._portions:
                    return False
                self._under_way = self._copy(self._portions.popleft())
            if next(self._under_way, False):
                return True
            self._under_way = None

    def _wait(self) -> None:
        """Until the server has read some of what was sent, or has an answer."""
        socket = self._server.socket
        select.select([socket], [socket] if self._unsent else [], [])

    def _copy(self, portion: _Portion) -> Waiting[None]:
        """The way of one statement; yields wherever it would have to wait for the server."""
        self._server.send_query(portion.statement)
        yield from self._flush()
        if portion.pieces is not None:
            ready = yield from self._answer()
            if ready is None or ready.status != ExecStatus.COPY_IN:
                raise (yield from self._refusal(portion, ready))
            # Nought is the answer while there is no room for it: then nothing of it was taken.
            for piece in portion.pieces:
                while not self._server.put_copy_data(piece):
                    yield from self._make_room()
                yield from self._flush()
            while not self._server.put_copy_end():
                yield from self._make_room()
            yield from self._flush()
        done = yield from self._answer()
        if done is None or done.status != ExecStatus.COMMAND_OK:
            raise (yield from self._refusal(portion, done))
        yield from self._rest()
        if portion.rows is not None and done.command_tuples != portion.rows:
            what = portion.statement[:160].decode(errors="replace").strip()
            raise RowsAstray(f"{what} …: {portion.rows} rows were meant, the server says {done.command_tuples}")

    def _make_room(self) -> Waiting[None]:
        yield from self._flush()
        self._unsent = True  # wait for the server to read, not only to speak
        yield True

    def _flush(self) -> Waiting[None]:
        while self._server.flush():
            # A server that has something to say may not read on before it was heard.
            self._server.consume_input()
            self._unsent = True
            yield True
        self._unsent = False

    def _answer(self) -> Waiting[PGresult | None]:
        self._server.consume_input()
        while self._server.is_busy():
            yield True
            self._server.consume_input()
        return self._server.get_result()

    def _rest(self) -> Waiting[None]:
        while (yield from self._answer()) is not None:
            pass

    def _refusal(self, portion: _Portion, answer: PGresult | None) -> Waiting[psycopg.Error]:
        yield from self._rest()
        if answer is None:
            return psycopg.OperationalError("the server gave no answer to COPY")
        error = error_from_result(answer, encoding=self._connection.info.encoding)
        if portion.table is not None:
            error.add_note(REFUSED_ROWS + portion.table)
        return error

    def _give_up(self) -> None:
        """Leave the connection so that the transaction can be rolled back: it fails, and its answers are taken."""
        self._portions.clear()
        if self._under_way is None:
            return
        self._under_way = None
        with suppress(psycopg.Error):  # the connection is gone, and the transaction with it
            while (answer := self._server.get_result()) is not None:
                if answer.status == ExecStatus.COPY_IN:
                    self._server.put_copy_end(b"given up: what made the rows has failed")
