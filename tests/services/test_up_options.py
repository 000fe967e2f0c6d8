"""What `up` refuses before it starts anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from accounting.services.signing import public_key
from jackpot.config import up
from jackpot.config.data_folder import DataFolder


@pytest.mark.parametrize("port", [0, -1, 65_536, 10**12])
def test_a_port_that_is_none_is_refused(port: int, tmp_path: Path) -> None:
    """0 among them: the kernel would choose one, and nobody would know which."""
    options = up.arguments().parse_args(["--port", str(port)])
    with pytest.raises(up.Refused, match=f"--port: {port} is no port; 1 to 65535"):
        up.Up(DataFolder(tmp_path), options, [])._listen()


def test_the_public_key_that_it_prints_is_the_one_the_house_signs_with() -> None:
    assert up.public_half(settings.SIGNING_KEY) == public_key().hex()
    for key in ("", "00", "zz" * 32):
        with pytest.raises(up.Refused, match="JACKPOT_SIGNING_KEY: an Ed25519 private key"):
            up.public_half(key)
