"""`manage.py test`: every check, then every test; with arguments only pytest, with those arguments.

`--house` and what follows it is for another program: a whole house with real servers on three hosts, and all of its bad days.
"""

import os
import shutil
import subprocess
import sys
import time

from jackpot.config.data_folder import ROOT
from jackpot.config.embedded_postgres import DatabaseProblem
from jackpot.config.words import Parser

CHECKS = (
    ("format", ["-m", "ruff", "format", "--check", "--quiet", "."]),
    ("style", ["-m", "ruff", "check", "."]),
    ("imports", ["-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"]),
    ("types", ["-m", "mypy", "."]),
    ("migrations", ["manage.py", "makemigrations", "--check", "--dry-run"]),
)
# A browser keeps an event loop running in its process, where no other test may start one.
RUNS = (
    ("tests", ["-n", "2", "--dist", "loadgroup", "-m", "not alone and not browser"]),
    ("tests in a browser", ["-q", "-n", "2", "--dist", "loadgroup", "-m", "browser"]),
    ("tests that need the machine to themselves", ["-q", "-m", "alone"]),
)
NOTHING_CHOSEN = 5


def run(arguments: list[str]) -> int:
    """Exit code 0 when all is well. Needs the packages of tests/requirements.txt."""
    if arguments[:1] == ["--house"]:
        return subprocess.call([sys.executable, "-m", "tests.house", *arguments[1:]], cwd=ROOT)
    if {"-h", "--help"} & set(arguments):
        parser().print_help()
        return 0
    if arguments:
        return _pytest(arguments)
    failed = [name for name, command in CHECKS if _step(name, command)]
    ensure_chromium()
    ensure_hledger()
    failed += [name for name, arguments in RUNS if _pytest(list(arguments)) not in (0, NOTHING_CHOSEN)]
    if failed:
        print(f"\nNot well: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def parser() -> Parser:
    """For the help alone: words are pytest's."""
    return Parser(
        prog="manage.py test",
        usage="manage.py test [words for pytest] | --house [--help]",
        description="Without words all checks (format, style, imports, types, migrations) and tests; with words pytest alone;"
        " with --house a house on this machine with real servers and hosts, and each of its bad days.",
        epilog="Example: python3 manage.py test tests/rules -k meter (`python3 -m pytest --help` inside .venv lists the words)",
    )


def _step(name: str, command: list[str]) -> int:
    began = time.monotonic()
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    print(f"[test] {name}: {'failed' if done.returncode else 'well'} ({time.monotonic() - began:.1f} s)", flush=True)
    if done.returncode:
        print(done.stdout + done.stderr, flush=True)
    return done.returncode


def _pytest(arguments: list[str]) -> int:
    try:
        return subprocess.call([sys.executable, "-m", "pytest", *arguments], cwd=ROOT)
    except DatabaseProblem as problem:
        print(problem, file=sys.stderr)
        return 1


def ensure_chromium() -> None:
    """Pages are tested in a real browser: get Debian's where it is missing and we may."""
    if os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome"):
        return
    _from_debian("chromium", "the tests of pages")


def ensure_hledger() -> None:
    """The journal of the general ledger is read by the program that it is written for: get Debian's where it is missing."""
    if shutil.which("hledger") is None:
        _from_debian("hledger", "the tests of the general ledger")


def _from_debian(package: str, wanted_by: str) -> None:
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        print(f"[test] {package} is missing, and only root can install it here: {wanted_by} will say so", flush=True)
        return
    print(f"[test] installing {package} for {wanted_by} (once)", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", package]):
        subprocess.run(
            ["apt-get", "-qq", *command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
