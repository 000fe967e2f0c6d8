"""The OpenAPI document: valid, and of every route below /api/v1; and any request it allows is answered as it says."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import httpx
import jsonschema  # type: ignore[import-untyped]
import pytest
import schemathesis
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings

from devices import demo
from devices.intake import settling
from tests.api.conftest import Api
from tests.api.test_hits import Desk
from tests.services.house import royal, seat
from tests.shown import looking

UNDOCUMENTED = {"/api/v1/schema": "the document itself", "/api/v1/docs": "a page about it"}


def served_paths(patterns: list[URLPattern | URLResolver], before: str = "/") -> set[str]:
    """The paths of the API in the document's own form."""
    found: set[str] = set()
    for pattern in patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found |= served_paths(pattern.url_patterns, here)
        elif here.startswith("/api/v1"):
            found.add(re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", here))
    return found


@pytest.fixture
def document(api: Api) -> dict[str, Any]:
    """The document as it is served."""
    answer = api.client.get("/api/v1/schema", headers=api.key() | {"Accept": "application/vnd.oai.openapi+json"})
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_the_document_is_of_every_route(document: dict[str, Any]) -> None:
    assert set(document["paths"]) | set(UNDOCUMENTED) == served_paths(get_resolver().url_patterns)


def test_the_document_is_valid(document: dict[str, Any]) -> None:
    from drf_spectacular.validation import validate_schema

    assert document["openapi"].startswith("3.")
    validate_schema(document)  # type: ignore[no-untyped-call]
    operations = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(operations) == len(set(operations)), "each operation has a name of its own"
    told = {
        int(status) for path in document["paths"].values() for said in path.values() for status in said["responses"]
    }
    assert told <= {200, 201, 202, 204, 400, 401, 403, 404, 409, 413, 422, 503}, "and no status that is never given"
    for path, operation in document["paths"].items():
        for place in re.findall(r"{(\w+)}", path):
            for method, said in operation.items():
                named = [parameter["name"] for parameter in said.get("parameters", [])]
                assert place in named, f"{method} {path} does not describe {place}"


def test_the_answers_are_of_the_shapes_it_promises(document: dict[str, Any], api: Api) -> None:
    """Real answers with everything in them against the schemas of the document."""
    shown = api.play(royal(f"R-{id(document)}", dealt_at=api.round()["dealt_at"]), api.round(seat(1, "3s 3s")))
    payouts = api.found("payouts")
    auditor = next(row["token"] for row in demo.ensure()["people"] if row["username"] == "auditor")
    books = partial(api.client.get, headers={"Authorization": f"Bearer {auditor}"})
    answers = {
        "/api/v1/rounds/{path}": shown,
        "/api/v1/rounds": [api.found("rounds", stream="ms-mg01")],
        "/api/v1/links": [api.found("links")],
        "/api/v1/links/{code}": api.found("links")["items"],
        "/api/v1/hits": [api.found("hits")],
        "/api/v1/hits/{hit}": api.found("hits")["items"],
        "/api/v1/payouts": [payouts],
        "/api/v1/payouts/{payout_id}/explanation": [api.found(f"payouts/{payouts['items'][0]['id']}/explanation")],
        "/api/v1/payouts/{payout_id}/verification": [api.found(f"payouts/{payouts['items'][0]['id']}/verification")],
        "/api/v1/streams/{code}/events": [api.found("streams/ms-mg01/events", rounds="yes", after_sequence=-1)],
        "/api/v1/health": [api.client.get("/api/v1/health").json()],
        "/api/v1/books/trial-balance": [books("/api/v1/books/trial-balance").json()],
        "/api/v1/books/accounts/{code}": [books("/api/v1/books/accounts/awards_payable").json()],
    }
    for path in ("/api/v1/books/trial-balance", "/api/v1/books/accounts/{code}"):
        assert answers[path][0]["items"], path
    for path, values in answers.items():
        schema = promised(document, path)
        for value in values:
            jsonschema.validate(value, schema)


def test_what_a_whole_day_answers_is_of_the_shapes_it_promises_key_for_key(document: dict[str, Any]) -> None:
    """Every answer that is kept of the demo's day: proposals in every state, days, slips, readings, reports among them."""
    seen = set()
    for place, lines in (each for file in looking.KEPT.glob("*.txt") for each in looking.kept(file.stem).items()):
        if not place.address.startswith("/api/v1/") or lines[0] not in ("{", "["):
            continue
        asked = place.address.partition("?")[0]
        (path,) = {asked} & set(document["paths"]) or {path for path in document["paths"] if reads(path, asked)}
        value = json.loads(re.sub(r'": #(?=,?$)', '": 0', "\n".join(lines), flags=re.MULTILINE))
        jsonschema.validate(value, promised(document, path))
        seen.add(path)
    assert len(seen) > 20


def reads(path: str, asked: str) -> bool:
    """Whether an address is one of a path; a round's reference alone may have slashes."""
    return re.fullmatch(re.sub(r"{\w+}", lambda of: ".+" if of[0] == "{path}" else "[^/]+", path), asked) is not None


def promised(document: dict[str, Any], path: str) -> Any:
    """The JSON Schema of what a path answers."""
    content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    return as_json_schema({**content["schema"], "components": document["components"]})


def as_json_schema(schema: Any) -> Any:
    """OpenAPI 3.0's `nullable` in the words of JSON Schema; where keys are told, there are no others."""
    if isinstance(schema, list):
        return [as_json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: as_json_schema(each) for key, each in schema.items() if key != "nullable"}
    if schema.get("type") == "object" and "properties" in schema:
        plain.setdefault("additionalProperties", False)
    return {"anyOf": [plain, {"type": "null"}]} if schema.get("nullable") is True else plain


def test_every_list_gives_at_most_a_thousand_at_a_time(document: dict[str, Any], api: Api) -> None:
    """And one at least; whatever else is asked for is refused by name."""
    lists = [
        path.format(code="ms-mg01" if "streams" in path else "cage")
        for path, operations in document["paths"].items()
        if "limit" in {parameter["name"] for parameter in operations.get("get", {}).get("parameters", ())}
    ]
    assert len(lists) >= 6, lists
    reader = Desk("reader", "auditor").client
    for path in lists:
        query = {"stream": "ms-mg01"} if path.endswith("/rounds") else {}
        for limit, status in ((0, 400), (1, 200), (1_000, 200), (1_001, 400)):
            answer = reader.get(path, {**query, "limit": str(limit)})
            assert answer.status_code == status, (path, limit, answer.content)
            assert status == 200 or answer.json()["pointer"] == "/limit", path


def test_the_page_about_the_api_loads_nothing_from_elsewhere(api: Api) -> None:
    answer = api.client.get("/api/v1/docs", headers=api.key())
    assert answer.status_code == 200
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", answer.text)


@pytest.fixture
def api_schema(document: dict[str, Any], api: Api) -> Any:
    """The document as Schemathesis takes it, without the endless stream."""
    found = schemathesis.openapi.from_dict(document)
    found.config.update(base_url=api.url)
    return found.exclude(path_regex="/stream$")


schema = schemathesis.pytest.from_fixture("api_schema")


@schema.parametrize()
@settings(
    max_examples=12, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
def test_no_request_breaks_it(case: Any, api: Api) -> None:
    """Whatever is asked, valid by the document or not: an answer below 500, and JSON that says what is wrong."""
    settling.beat("sweep", timezone.now())  # who asks health strictly is told so by 503 where nothing settles
    answer = case.call(headers=api.key(), timeout=20)
    assert answer.status_code < 500, (case.as_curl_command(), answer.content[:500])
    if answer.status_code >= 400:
        assert answer.headers["content-type"][0] == "application/problem+json", (
            answer.status_code,
            case.as_curl_command(),
        )
        body = json.loads(answer.content)
        assert {"type", "title", "status", "code", "detail"} <= set(body)
        assert body["status"] == answer.status_code


@pytest.mark.parametrize(
    "path", ["rounds/%E0%A4%A", "links/%", "payouts/%zz/explanation", "streams/a%0Ab/events", "rounds/../../x/y"]
)
def test_paths_that_are_odd_are_404(path: str, api: Api) -> None:
    with httpx.Client(trust_env=False) as client:
        request = client.build_request("GET", f"{api.url}/api/v1/x", headers=api.key())
        request.url = request.url.copy_with(raw_path=f"/api/v1/{path}".encode())
        answer = client.send(request)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
