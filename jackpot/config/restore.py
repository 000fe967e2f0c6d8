"""`manage.py restore DIR`: the embedded database as it was at a moment, from what `backup` keeps, into a data folder without one.

Gateways resend what they still hold: what the restored house knows is a duplicate, what it lost is settled again.
"""

import os
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from jackpot.config.backup import bases, refuse_elsewhere
from jackpot.config.command_line import Refused
from jackpot.config.data_folder import ROOT, DataFolder
from jackpot.config.embedded_postgres import DatabaseProblem, EmbeddedPostgres
from jackpot.config.server_user import server_user
from jackpot.config.words import Parser

OURS = ("restore_command", "recovery_target_time", "recovery_target_action")
PATIENCE_SECONDS = 3_600.0


def main(argv: list[str]) -> int:
    """Restore, and verify; 0 when all is as recorded, 1 where something differs."""
    parser = Parser(
        prog="manage.py restore",
        description="Restore the embedded database from backups, to their end or to a moment, and verify it.",
        epilog="Example: python3 manage.py restore /mnt/backup/jackpot --to 2026-11-29T05:30:00Z",
        allow_abbrev=False,
    )
    parser.add_argument("folder", metavar="DIR", help="what `backup` was given")
    parser.add_argument(
        "--to", metavar="MOMENT", help="RFC 3339, such as 2026-11-29T05:30:00Z; else to the end of the log"
    )
    parser.add_argument(
        "--data", metavar="DATA", help="data folder (default: JACKPOT_DATA, or .jackpot beside manage.py)"
    )
    options = parser.parse_args(argv)
    refuse_elsewhere("restore")
    if options.data:
        os.environ["JACKPOT_DATA"] = str(Path(options.data).expanduser().absolute())
    folder, to = Path(options.folder).expanduser().absolute(), _moment(options.to)
    data = DataFolder()
    data.create()
    server = Restored(data.postgres)
    if server.data.exists():
        raise Refused(f"{server.data} is there already, and is not overwritten: stop the house and move it away")
    base = _base(folder, to)
    print(f"[restore] from {base}" + (f" to {to:%Y-%m-%d %H:%M:%S} UTC" if to else " to the end of the log"))
    _lay_out(server, base, folder / "log", to)
    try:
        server.start(PATIENCE_SECONDS)
    except DatabaseProblem as problem:
        server.stop()
        shutil.rmtree(server.data)
        if "before configured" in str(problem):
            raise Refused(
                "--to: the log in the backup ends before that moment; without --to all of it is restored"
            ) from None
        raise Refused(f"not restored: {problem}") from None
    finally:
        shutil.rmtree(server.folder / "log", ignore_errors=True)
    missing = [name for name in ("signing_key", "patron_key", "secret_key") if not (data.path / name).is_file()]
    if missing:
        print(
            f"[restore] not in a backup, and not here: {', '.join(missing)}; put the house's own in {data.path} before `up`"
        )
    print("[restore] verifying", flush=True)
    return subprocess.run([sys.executable, str(ROOT / "manage.py"), "verify"], cwd=ROOT).returncode


class Restored(EmbeddedPostgres):
    """A server that replays a log first, and is furnished when it is a server of its own again."""

    def _furnish(self) -> None:
        give_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            with self.connect() as session:
                if session.execute("SELECT pg_is_in_recovery()").fetchone() == (False,):
                    break
            if time.monotonic() > give_up:
                raise DatabaseProblem("the log is still being replayed")
            time.sleep(0.2)
        with self.connect() as session:
            for name in OURS:
                session.execute(f"ALTER SYSTEM RESET {name}".encode())
            session.execute("SELECT pg_reload_conf()")
        super()._furnish()


def _moment(said: str | None) -> datetime | None:
    if said is None:
        return None
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        raise Refused(f"--to {said}: a moment such as 2026-11-29T05:30:00Z is expected") from None
    if found.tzinfo is None:
        raise Refused(f"--to {said}: say in which zone, such as 2026-11-29T05:30:00Z")
    return found.astimezone(UTC)


def _base(folder: Path, to: datetime | None) -> Path:
    """The newest base backup that had ended by then."""
    known = bases(folder)
    if not known:
        raise Refused(f"{folder} has no base backup: it is to be the folder that `backup` was given")
    fit = [base for ended, base in known if to is None or ended <= to]
    if not fit:
        first = f"{known[0][0]:%Y-%m-%d %H:%M:%S} UTC"
        raise Refused(f"--to: the first backup in {folder} ended at {first}; only later moments can be had")
    return fit[-1]


def _lay_out(server: EmbeddedPostgres, base: Path, log: Path, to: datetime | None) -> None:
    as_whom = server_user(server.data)
    draft = server.folder / "data.new"
    shutil.rmtree(draft, ignore_errors=True)
    server.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    shutil.copytree(base, draft, symlinks=True)
    draft.chmod(0o700)
    kept = server.folder / "log"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(log, kept)
    kept.chmod(0o700)
    for last in kept.glob(
        "*.partial"
    ):  # as far as the log had been written; the next backup would have gone on with it
        last.rename(last.with_suffix(""))
    said = {"restore_command": f'cp "{kept}/%f" "%p"'}
    if to is not None:
        said |= {"recovery_target_time": f"{to:%Y-%m-%d %H:%M:%S.%f}+00", "recovery_target_action": "promote"}
    with (draft / "postgresql.auto.conf").open("a") as settings:
        settings.writelines("{} = '{}'\n".format(name, value.replace("'", "''")) for name, value in said.items())
    (draft / "recovery.signal").touch()
    for place in (draft, kept):
        as_whom.own(place)
    draft.rename(server.data)
