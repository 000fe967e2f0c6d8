"""Every refusal of the API has one shape: RFC 9457 with a code, words and, where a field is at fault, a pointer."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import Client
from rest_framework import exceptions

from jackpot.config.problems import handler

pytestmark = pytest.mark.django_db


def problem(answer: Any) -> dict[str, Any]:
    assert answer["Content-Type"] == "application/problem+json"
    body = json.loads(answer.content)
    assert {"type", "title", "status", "code", "detail"} <= set(body)
    assert body["status"] == answer.status_code
    return dict(body)


def test_an_unknown_address_is_404(client: Client) -> None:
    answer = client.get("/api/v1/nothing")
    assert (answer.status_code, problem(answer)["code"]) == (404, "not_found")


def test_an_unknown_address_outside_the_api_is_a_page(client: Client) -> None:
    answer = client.get("/nothing")
    assert (answer.status_code, answer["Content-Type"]) == (404, "text/html; charset=utf-8")


def test_without_a_key_it_is_401_and_says_what_is_asked_for(client: Client) -> None:
    answer = client.get("/api/v1/links")
    assert (answer.status_code, problem(answer)["code"]) == (401, "not_authenticated")
    assert answer["WWW-Authenticate"] == "Api-Key"


def test_a_wrong_method_is_405_and_says_which_are_right(client: Client) -> None:
    client.force_login(User.objects.create(username="auditor"))
    answer = client.put("/api/v1/payouts")
    assert (answer.status_code, problem(answer)["code"]) == (405, "method_not_allowed")
    assert "GET" in answer["Allow"]


def test_a_host_that_is_not_ours_is_400(client: Client) -> None:
    answer = client.get("/api/v1/health", headers={"host": "elsewhere.example"})
    assert (answer.status_code, problem(answer)["code"]) == (400, "bad_request")


@pytest.mark.parametrize(
    ("fault", "code", "pointer"),
    [
        ({"table": [exceptions.ErrorDetail("Missing.", "required")]}, "missing_field", "/table"),
        ({"seats": [{}, {"cards": ["Bad."]}]}, "invalid_value", "/seats/1/cards"),
        ({"a/b~c": ["Bad."]}, "invalid_value", "/a~1b~0c"),
        ({"non_field_errors": ["They differ."]}, "invalid_value", None),
        (["Bad."], "invalid_value", None),
    ],
)
def test_the_first_fault_of_a_nest_is_named_by_its_pointer(fault: Any, code: str, pointer: str | None) -> None:
    answer: Any = handler(exceptions.ValidationError(fault), {})
    assert (answer.status_code, answer.data["code"], answer.data.get("pointer")) == (400, code, pointer)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Http404(), 404, "not_found"),
        (PermissionDenied(), 403, "permission_denied"),
        (exceptions.ParseError(), 400, "invalid_json"),
        (exceptions.UnsupportedMediaType("text/plain"), 415, "unsupported_media_type"),
    ],
)
def test_errors_from_below_get_the_same_shape(error: Exception, status: int, code: str) -> None:
    answer: Any = handler(error, {})
    assert (answer.status_code, answer.data["code"]) == (status, code)


def test_a_bug_is_not_dressed_up() -> None:
    assert handler(ZeroDivisionError(), {}) is None
