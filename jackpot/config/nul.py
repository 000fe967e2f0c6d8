"""Requests that name a NUL character: nothing is called so, and PostgreSQL holds no text with one."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from accounting.rules.parameters import BadParameter


@sync_and_async_middleware
def no_nul(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """404 where the path has a NUL, 400 where a parameter has one; every view below may hand its texts to the database."""

    def look_at(request: HttpRequest) -> None:
        if "\0" in request.path_info:
            raise Http404("nothing has a NUL in its name")
        asked = request.META.get("QUERY_STRING", "")
        if "%00" in asked or "\0" in asked:
            at_fault = next((name for name, value in parse_qsl(asked, True) if "\0" in name + value), "")
            refusal = BadParameter(at_fault.replace("\0", "\\0"), "no NUL among its characters, please")
            raise BadRequest(str(refusal)) from refusal

    if inspect.iscoroutinefunction(get_response):

        async def ask(request: HttpRequest) -> HttpResponseBase:
            look_at(request)
            answer: Awaitable[HttpResponseBase] = get_response(request)
            return await answer

        return ask

    def ask_plainly(request: HttpRequest) -> HttpResponseBase:
        look_at(request)
        answer: HttpResponseBase = get_response(request)
        return answer

    return ask_plainly
