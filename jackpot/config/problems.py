"""Errors of the API as RFC 9457 `application/problem+json`: a code to act on, words to read, a pointer to the field."""

import re
import sys
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import is_valid_path
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from accounting.rules.edition import LaterVersion
from accounting.rules.parameters import BadParameter

MEDIA_TYPE = "application/problem+json"


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    pointer: str | None = None,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> JsonResponse:
    """One problem document. `pointer` (RFC 6901) names the field at fault, where one is."""
    return JsonResponse(
        document(status, code, detail, pointer=pointer, **more), status=status, content_type=MEDIA_TYPE, headers=headers
    )


def document(status: int, code: str, detail: str, *, pointer: str | None = None, **more: Any) -> dict[str, Any]:
    """The members of a problem: type and title by status, then ours."""
    body: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    body |= {"code": code, "detail": detail}
    if pointer is not None:
        body["pointer"] = pointer
    return body | more


def handler(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Django REST framework's exception handler: every refusal of the API in one shape.

    An exception of ours with `status`, `code` and perhaps `pointer` says its own words.
    """
    if isinstance(error, Http404):
        error = exceptions.NotFound(*error.args)
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied(*error.args)
    elif isinstance(error, BadParameter):
        body = document(400, "invalid_value", error.detail, pointer=error.pointer)
        return Response(body, status=400, content_type=MEDIA_TYPE)
    elif isinstance(error, LaterVersion):
        set_rollback()
        return Response(document(503, "later_version", str(error)), status=503, content_type=MEDIA_TYPE)
    if not isinstance(error, exceptions.APIException):
        return None  # a bug: let it fail loudly
    set_rollback()
    headers: dict[str, str] = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = str(challenge)
    if (wait := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = str(int(wait) + 1)
    code, detail, pointer = _first_fault(error)
    body = document(error.status_code, code, detail, pointer=getattr(error, "pointer", pointer))
    return Response(body, status=error.status_code, headers=headers, content_type=MEDIA_TYPE)


def _first_fault(error: exceptions.APIException) -> tuple[str, str, str | None]:
    """Code, words and pointer of the first fault in a nest of them."""
    fault: Any = error.detail
    steps: list[str] = []
    while isinstance(fault, (dict, list)):
        if not fault:
            return error.default_code, str(error.default_detail), None
        if isinstance(fault, dict):
            key, fault = next(iter(fault.items()))
            if key != "non_field_errors":
                steps.append(str(key))
        else:
            faulty = next((i for i, item in enumerate(fault) if item), 0)
            if isinstance(fault[faulty], dict):
                steps.append(str(faulty))
            fault = fault[faulty]
    code = str(getattr(fault, "code", None) or error.default_code)
    pointer = "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps) if steps else None
    return CODES.get(code, code), str(fault), pointer


CODES = {
    "invalid": "invalid_value",
    "required": "missing_field",
    "null": "invalid_value",
    "parse_error": "invalid_json",
}


def _is_api(request: HttpRequest) -> bool:
    return re.match(r"/api(/|$)", request.path) is not None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 outside the API views, such as an impossible Host header or a parameter of a page that cannot be followed."""
    if _is_api(request):
        if isinstance(refused := exception.__cause__, BadParameter):
            return problem(400, "invalid_value", refused.detail, pointer=refused.pointer)
        return problem(400, "bad_request", "The request cannot be read.")
    if not getattr(request, "user", None):
        return defaults.bad_request(request, exception)  # refused before anybody was asked for: no page can be drawn
    said = str(exception) if isinstance(exception, BadRequest) else ""
    return render(request, "refused.html", {"detail": said}, status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: signed in, and not allowed."""
    if _is_api(request):
        return problem(403, "permission_denied", str(exception) or "You may not do this.")
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: no such address, or no such thing at it."""
    if _is_api(request):
        return problem(404, "not_found", f"There is nothing at {request.path}.")
    if (elsewhere := _by_another_slash(request)) is not None:
        return redirect(elsewhere)
    return defaults.page_not_found(request, exception)


def _by_another_slash(request: HttpRequest) -> str | None:
    """The same address with a slash at its end, or without, where that leads to a page and this does not."""
    path = request.path_info
    if request.method not in ("GET", "HEAD") or len(path) > LONGEST_REDIRECTED:
        return None
    bare = path.rstrip("/")
    candidates = [f"{bare}/", bare] if path.endswith("/") else [] if _leads_somewhere(path) else [f"{path}/"]
    found = next((each for each in candidates if each != path and each[:2] != "//" and _leads_somewhere(each)), None)
    if found is None:
        return None
    query = request.META.get("QUERY_STRING", "")
    return quote(found, safe="/:@") + (f"?{query}" if query else "")


def _leads_somewhere(path: str) -> bool:
    return bool(path) and bool(is_valid_path(path))


LONGEST_REDIRECTED = 2_000


def server_error(request: HttpRequest) -> HttpResponse:
    """500: a bug. Whatever was posted may or may not be stored; the same message can be sent again.

    503 for what only a later version of this program may go on with: another host may have it already.
    """
    error = sys.exc_info()[1]
    if isinstance(error, LaterVersion):
        if _is_api(request):
            return problem(503, "later_version", str(error))
        why = f"Nothing was changed: {error}. Try again; another server may have it already."
        words = {"title": "This server is being updated", "status": 503, "detail": why}
        return render(request, "refused.html", words, status=503)
    if _is_api(request):
        return problem(500, "internal_error", "Something broke. It has been logged; send the same message again.")
    return defaults.server_error(request)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: a form or script without its token."""
    return forbidden(request, PermissionDenied(reason or "The form's token is missing or old: reload the page."))
