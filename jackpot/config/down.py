"""`manage.py down`: stop what `up` started on a data folder, and return when every process has ended."""

import os
from pathlib import Path

from jackpot.config.data_folder import DataFolder
from jackpot.config.embedded_postgres import EmbeddedPostgres
from jackpot.config.processes import State, end, still_running
from jackpot.config.words import Parser


def main(argv: list[str]) -> int:
    """Stop `up`, whatever a killed `up` left, and the embedded database. 0 when nothing of them runs."""
    parser = Parser(
        prog="manage.py down",
        description="Stop what `up` started on a data folder. The data stays.",
        epilog="Example: python3 manage.py down",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--data", metavar="DIR", help="data folder (default: JACKPOT_DATA, or .jackpot beside manage.py)"
    )
    options = parser.parse_args(argv)
    if options.data:
        os.environ["JACKPOT_DATA"] = str(Path(options.data).expanduser().absolute())
    data = DataFolder()
    state = State.read(data.state)
    ended = 0
    if state.up is not None and (up := state.up.alive()) is not None:
        ended += 1
        up.terminate()  # it ends its children and its database itself
        if still_running([up], 45):
            up.kill()
    orphans = [process for known in state.children.values() if (process := known.alive()) is not None]
    ended += len(orphans)
    end(orphans)
    server = EmbeddedPostgres(data.postgres)
    if not os.environ.get("DATABASE_URL") and server.process() is not None:
        ended += 1
        server.stop()
    data.state.unlink(missing_ok=True)
    print(f"[down] {'stopped' if ended else 'nothing was running on'} {data.path}")
    return 0
