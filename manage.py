#!/usr/bin/env python3
"""The way in: `python3 manage.py up` runs everything, `python3 manage.py test` checks everything."""

import os
import sys
import traceback


def main() -> None:
    """Send the command to what runs it; whatever needs packages goes on inside .venv."""
    if sys.version_info < (3, 11):  # noqa: UP036 (who has an older one should read this, not a traceback)
        sys.exit("This needs Python 3.11 or newer; this one is " + sys.version.split()[0])
    sys.dont_write_bytecode = False  # a set PYTHONDONTWRITEBYTECODE would compile everything anew at every start
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command == "settle":  # rules only: neither packages nor Django
        from tables.settle import main as settle

        sys.exit(settle(sys.argv[2:]))

    from jackpot.config import bootstrap

    asks_for_help = bool({"-h", "--help"} & set(sys.argv[2:]))
    bootstrap.ensure(sys.argv, tests=command in bootstrap.NEED_TESTS and not asks_for_help)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
    from jackpot.config.command_line import execute

    try:
        code = execute(sys.argv)
    except Exception:
        traceback.print_exc()
        code = 2  # 1 is left to findings, and a bug has found nothing
    sys.exit(code)


if __name__ == "__main__":
    main()
