"""`manage.py backup DIR`: a base backup of the embedded server and its log from then on, by PostgreSQL's own tools.

    DIR/base/2026-11-29T05.40.12Z/   the server's files as they were when that backup ended
    DIR/log/                         what has been written since the first of them, up to the last `backup` of any kind

A replication slot keeps the log between two backups, so that nothing is missing between them however far apart they are. The
keys of the house (signing_key, patron_key, secret_key) are not in it: whoever has both reads what is sealed.
"""

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from jackpot.config.command_line import Refused, borrow_database
from jackpot.config.data_folder import DataFolder
from jackpot.config.embedded_postgres import OWNER, EmbeddedPostgres, find_binaries
from jackpot.config.words import Parser

SLOT = "jackpot_backup"
KEPT_AT_MOST = "32GB"
"""So much log is kept for the next backup; should none come, the disk is not filled, and the next one needs a new base."""

NAMED = "%Y-%m-%dT%H.%M.%SZ"
AS_IT_COMES = """
    SELECT slot_name IS NOT NULL AND wal_status <> 'lost' FROM (SELECT 1) one LEFT JOIN pg_replication_slots ON slot_name = %s
"""


def main(argv: list[str]) -> int:
    """Take a base backup and the log until now."""
    parser = Parser(
        prog="manage.py backup",
        description="Back up the embedded database: its files, and its log until now. While the house runs.",
        epilog="Example: python3 manage.py backup /mnt/backup/jackpot",
        allow_abbrev=False,
    )
    parser.add_argument("folder", metavar="DIR", help="where backups are kept; made if it is not there")
    parser.add_argument(
        "--log-only", action="store_true", help="only what was written since: quick, for every few minutes"
    )
    parser.add_argument(
        "--data", metavar="DATA", help="data folder (default: JACKPOT_DATA, or .jackpot beside manage.py)"
    )
    options = parser.parse_args(argv)
    refuse_elsewhere("backup")
    if options.data:
        os.environ["JACKPOT_DATA"] = str(Path(options.data).expanduser().absolute())
    folder = Path(options.folder).expanduser().absolute()
    for place in (folder, folder / "base", folder / "log"):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    borrow_database()
    server = EmbeddedPostgres(DataFolder().postgres)
    whole = _keep_the_log(server)
    if not options.log_only:
        print(f"[backup] base {_base(server, folder)}")
    elif not whole or not bases(folder):
        raise Refused(f"{folder} has no base that the log could go on from: `backup` without --log-only first")
    until = _log(server, folder / "log")
    print(f"[backup] log until {until:%Y-%m-%d %H:%M:%S} UTC in {folder}")
    print(
        "[backup] not in it: signing_key, patron_key and secret_key of the data folder; keep copies of them elsewhere"
    )
    return 0


def refuse_elsewhere(command: str) -> None:
    """Refused where the database is somebody else's: its own tools do this."""
    if os.environ.get("DATABASE_URL"):
        raise Refused(
            f"`{command}` is for the embedded server; DATABASE_URL names another, which pg_basebackup and its log archive back up"
        )


def bases(folder: Path) -> list[tuple[datetime, Path]]:
    """Base backups that were ended, the oldest first, with when that was."""
    found = []
    for base in (folder / "base").iterdir() if (folder / "base").is_dir() else ():
        try:
            found.append((datetime.strptime(base.name, NAMED).replace(tzinfo=UTC), base))
        except ValueError:
            continue  # one that was broken off
    return sorted(found)


def _keep_the_log(server: EmbeddedPostgres) -> bool:
    """Have the server keep its log for the next backup; whether it has done so since the last."""
    with server.connect() as session:
        ((there,),) = session.execute(AS_IT_COMES, [SLOT]).fetchall()
        if there:
            return True
        session.execute(f"ALTER SYSTEM SET max_slot_wal_keep_size = '{KEPT_AT_MOST}'".encode())
        session.execute("SELECT pg_reload_conf()")
        session.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", [SLOT]
        )
        session.execute("SELECT pg_create_physical_replication_slot(%s, true)", [SLOT])
        return False


def _base(server: EmbeddedPostgres, folder: Path) -> Path:
    draft = folder / "base" / "under-way"
    if draft.exists():
        shutil.rmtree(draft)
    tool(server, "pg_basebackup", "-D", str(draft), "-X", "stream", "-c", "fast")
    checked = subprocess.run([find_binaries() / "pg_verifybackup", str(draft)], capture_output=True, text=True)
    if checked.returncode:
        raise Refused(f"the base backup is not whole: {checked.stderr.strip()}")
    base = draft.with_name(f"{_now(server):{NAMED}}")
    draft.rename(base)
    return base


def _log(server: EmbeddedPostgres, folder: Path) -> datetime:
    """Fetch what has been written until now; when that was."""
    with server.connect() as session:
        until = _now(server)
        # A commit after that moment, so that a restore to it finds where to stop.
        session.execute("SELECT pg_logical_emit_message(true, 'jackpot', 'backup')")
        ((end,),) = session.execute("SELECT pg_current_wal_flush_lsn()::text").fetchall()
    tool(server, "pg_receivewal", "-D", str(folder), "--slot", SLOT, "--no-loop", "--endpos", end)
    return until


def _now(server: EmbeddedPostgres) -> datetime:
    with server.connect() as session:
        ((now,),) = session.execute("SELECT clock_timestamp()").fetchall()
        found: datetime = now
        return found.astimezone(UTC)


def tool(server: EmbeddedPostgres, name: str, *words: str) -> None:
    """Run one of PostgreSQL's own tools on the server; Refused with what it says."""
    where = ["-h", str(server.socket), "-U", OWNER, "--no-password"]
    done = subprocess.run([find_binaries() / name, *where, *words], cwd="/", capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"{name} failed: {' '.join(done.stderr.split())}")
