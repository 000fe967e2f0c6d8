"""Keeps anew what the house records and shows, after a change of what it is to be: read what changed, then commit it.

python3 -m tests.shown
"""

from __future__ import annotations

import os
import subprocess
import sys

PLACES = "tests/shown/test_shown.py::test_every_place_that_people_come_to_is_kept"

if __name__ == "__main__":
    sys.exit(
        subprocess.call(
            [sys.executable, "-m", "pytest", "-q", PLACES],
            env={**os.environ, "JACKPOT_SHOWN_ANEW": "1", "JACKPOT_NO_VENV": "1"},
        )
    )
