"""Which version of the software this is: it stands on every report (REQUIREMENTS R95). A test holds it to `pyproject.toml`."""

from typing import Final

VERSION: Final = "0.1.0"
