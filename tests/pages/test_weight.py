"""What a first visit weighs, and how long a warm floor takes."""

from __future__ import annotations

import gzip
import re
import time
from pathlib import Path

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.conftest import Service
from tests.services.house import House, message, royal

pytestmark = pytest.mark.browser


def visitor(service: Service) -> httpx.Client:
    """Somebody signed in, without a browser."""
    client = Client()
    client.force_login(User.objects.get(username="everyone"), backend="django.contrib.auth.backends.ModelBackend")
    cookies = {"sessionid": client.cookies["sessionid"].value}
    return httpx.Client(base_url=service.url, cookies=cookies, trust_env=False, timeout=30)


def test_a_first_visit_is_compressed(open_house: House, live_service: Service) -> None:
    with visitor(live_service) as client:
        page = client.get("/").text
        weights = {}
        for address in sorted(set(re.findall(r'(?:src|href)="(/static/[^"#]+)', page))):
            with client.stream("GET", address, headers={"Accept-Encoding": "gzip"}) as answer:
                raw = b"".join(answer.iter_raw())
                plain = client.get(address, headers={"Accept-Encoding": "identity"}).content
                if len(plain) >= 1_024:
                    assert answer.headers["content-encoding"] == "gzip", address
                    assert gzip.decompress(raw) == plain, address
                    assert "Accept-Encoding" in answer.headers["vary"], address
                weights[address] = len(raw)
        assert sum(weights.values()) < 200_000, weights
        sheet = next(address for address in weights if "tabler" in address)
        assert weights[sheet] < 110_000


def test_a_warm_floor_takes_less_than_300_ms(open_house: House, live_service: Service) -> None:
    open_house.play(*(message(f"r-{number}") for number in range(40)), royal("r-royal"))
    with visitor(live_service) as client:
        taken = []
        for _ in range(12):
            began = time.perf_counter()
            assert client.get("/").status_code == 200
            taken.append(time.perf_counter() - began)
        assert sorted(taken[2:])[len(taken[2:]) // 2] < 0.3, taken


def test_what_is_compressed_is_made_anew_when_the_file_changes(tmp_path: Path) -> None:
    from jackpot.config.assets import compressed

    file = tmp_path / "a.css"
    file.write_text("a { color: red }\n" * 200)
    first = compressed(str(file))
    assert first is not None and gzip.decompress(first.read_bytes()) == file.read_bytes()
    file.write_text("b { color: red }\n" * 300)
    second = compressed(str(file))
    assert second is not None and gzip.decompress(second.read_bytes()) == file.read_bytes()
    (tmp_path / "small.css").write_text("a {}")
    assert compressed(str(tmp_path / "small.css")) is None
