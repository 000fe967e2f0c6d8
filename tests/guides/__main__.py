"""The pictures of the guides, taken anew: accounting/guides/static/guides/*.webp, accounting/guides/pictures.json.

python3 -m tests.guides
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

command = [sys.executable, "-m", "pytest", "-q", "tests/pages/test_guides_browser.py"]
sys.exit(subprocess.call(command, cwd=ROOT, env=os.environ | {"TAKE_GUIDES": "yes"}))
