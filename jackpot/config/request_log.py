"""What is noted of every request, without asking the database who it is from where the answer must come without one."""

from django.http import HttpRequest
from django_structlog.middlewares import RequestMiddleware

ASKED_OF_NOBODY = frozenset({"/api/v1/health", "/metrics"})


class RequestLog(RequestMiddleware):
    """django-structlog's; a browser that is signed in asks health as well, and is answered while there is no database."""

    @staticmethod
    def bind_user_id(request: HttpRequest) -> None:
        """Who it is, except where nobody is asked."""
        if request.path_info not in ASKED_OF_NOBODY:
            RequestMiddleware.bind_user_id(request)
