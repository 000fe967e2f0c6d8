"""Reports by the real server: streamed, attached, and for people alone."""

from __future__ import annotations

import io
import zipfile

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.api.conftest import Api

FORMS = {
    "csv": ("text/csv; charset=utf-8", b"Property,"),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", b"PK"),
    "pdf": ("application/pdf", b"%PDF"),
}


def asked(api: Api, **given: str) -> httpx.Response:
    """The trial balance, for an auditor."""
    client = Client()
    client.force_login(User.objects.get(username="auditor"))
    cookies = {"sessionid": client.cookies["sessionid"].value}
    return httpx.get(f"{api.url}/api/v1/reports/trial-balance", params=given, cookies=cookies, trust_env=False)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_comes_whole_and_by_its_name(form: str, api: Api) -> None:
    answer = asked(api, form=form, **{"from": "2026-01-01", "to": "2199-12-31"})
    content_type, begins = FORMS[form]
    assert answer.status_code == 200
    assert answer.headers["content-type"] == content_type
    assert answer.headers["content-disposition"] == (
        f'attachment; filename="trial-balance-2026-01-01-2199-12-31.{form}"'
    )
    assert answer.content.startswith(begins)
    if form == "xlsx":
        assert zipfile.ZipFile(io.BytesIO(answer.content)).testzip() is None


def test_json_is_streamed_as_one_object(api: Api) -> None:
    answer = asked(api)
    assert answer.headers["content-type"] == "application/json"
    found = answer.json()
    assert found["code"] == "trial-balance"
    assert found["count"] == len(found["rows"])
    assert [foot["is_even"] for foot in found["feet"]] == [True, True, True]


def test_a_fault_is_told_before_anything_is_sent(api: Api) -> None:
    answer = asked(api, form="pdf", **{"from": "2026-02-30"})
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert answer.json()["pointer"] == "/from"
