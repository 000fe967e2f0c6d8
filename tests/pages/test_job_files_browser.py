"""Files that came of long work, given out by the real server, on its own clock."""

from __future__ import annotations

from hashlib import sha256

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from accounting.office.models import Job
from accounting.office.services import results
from tests.conftest import Service
from tests.services.house import House


@pytest.mark.browser
def test_the_real_server_gives_a_file_out_as_it_was_kept(open_house: House, live_service: Service) -> None:
    """More parts than it reads together, through the server that serves everybody."""
    now = timezone.now()
    job = Job.objects.create(kind="pack", by="everyone", asked_at=now, started_at=now, finished_at=now, state="done")
    whole = bytes(range(256)) * (3 * results.PART // 256) + b"the rest"
    kept = results.keep(job.pk, "long.zip", "application/zip", iter([whole]))
    client = Client()
    client.force_login(User.objects.get(username="everyone"), backend="django.contrib.auth.backends.ModelBackend")
    cookies = {"sessionid": client.cookies["sessionid"].value}
    address = f"{live_service.url}/audit/jobs/{job.pk}/files/1"
    with httpx.stream("GET", address, cookies=cookies, trust_env=False, timeout=30) as answer:
        assert answer.status_code == 200
        assert int(answer.headers["content-length"]) == len(whole)
        assert sha256(b"".join(answer.iter_raw())).hexdigest() == kept.sha256
