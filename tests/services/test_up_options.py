"""What `up` refuses before it starts anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from jackpot.config import up
from jackpot.config.data_folder import DataFolder


@pytest.mark.parametrize("port", [0, -1, 65_536, 10**12])
def test_a_port_that_is_none_is_refused(port: int, tmp_path: Path) -> None:
    """0 among them: the kernel would choose one, and nobody would know which."""
    options = up.arguments().parse_args(["--port", str(port)])
    with pytest.raises(up.Refused, match=f"--port: {port} is no port; 1 to 65535"):
        up.Up(DataFolder(tmp_path), options, [])._listen()
