"""Pages and answers of the API are kept by no browser and no proxy: they are of one person, and of one moment."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware


@sync_and_async_middleware
def kept_by_nobody(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """`Cache-Control: no-store` on whatever says nothing about it; files that are alike for all are served before this."""

    def say(answer: HttpResponseBase) -> HttpResponseBase:
        answer.headers.setdefault("Cache-Control", "no-store")
        return answer

    if inspect.iscoroutinefunction(get_response):

        async def ask(request: HttpRequest) -> HttpResponseBase:
            answer: Awaitable[HttpResponseBase] = get_response(request)
            return say(await answer)

        return ask

    def ask_plainly(request: HttpRequest) -> HttpResponseBase:
        answer: HttpResponseBase = get_response(request)
        return say(answer)

    return ask_plainly
