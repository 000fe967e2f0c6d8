"""The worked examples, recorded anew: accounting/terms/postings.json, docs/postings.md.

python3 -m tests.worked_postings
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

command = [sys.executable, "-m", "pytest", "-q", "tests/services/test_postings.py", "-k", "as_they_are_recorded"]
sys.exit(subprocess.call(command, cwd=ROOT, env=os.environ | {"WRITE_POSTINGS": "yes"}))
