"""A browser whose person has just signed in or done something reads the house itself for a while (`accounting.elsewhere`)."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from accounting import elsewhere

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@sync_and_async_middleware
def acted(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Mark it in the browser for as long as a copy may be behind; machines, which keep no cookies, are not asked to."""

    def mark(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
        if request.method not in SAFE and elsewhere.there_is_one() and "HTTP_COOKIE" in request.META:
            answer.set_cookie(
                elsewhere.ACTED, "1", max_age=int(settings.READ_BEHIND_SECONDS) + 1,
                httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE,
            )  # fmt: skip
        return answer

    if inspect.iscoroutinefunction(get_response):

        async def ask(request: HttpRequest) -> HttpResponseBase:
            answer: Awaitable[HttpResponseBase] = get_response(request)
            return mark(request, await answer)

        return ask

    def ask_plainly(request: HttpRequest) -> HttpResponseBase:
        return mark(request, get_response(request))

    return ask_plainly
