"""Django's sessions in the database, with whose each is, since when and from where (`settings.SESSION_ENGINE`)."""

from datetime import datetime
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.http import HttpRequest
from django.utils import timezone

from accounting.people.models import Session

ABOUT = "signed_in"


class SessionStore(DatabaseStore):
    """Writes the person beside the session."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        """Where sessions are kept."""
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """The row of a session."""
        row = super().create_model_instance(data)
        assert isinstance(row, Session)
        about = data.get(ABOUT, {})
        row.person_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        row.since = datetime.fromisoformat(about["since"]) if about else None
        row.address = about.get("address", "")
        row.browser = about.get("browser", "")
        return row


def client_address(request: HttpRequest) -> str:
    """Where a request comes from; behind a proxy what the proxy says of it (`jackpot.config.web`)."""
    return str(request.META.get("REMOTE_ADDR") or "")[:64]


def note(request: HttpRequest, user: User, **_: Any) -> None:
    """Keep in a session since when and from where it is; called when somebody signs in."""
    request.session[ABOUT] = {
        "since": timezone.now().isoformat(),
        "address": client_address(request),
        "browser": request.META.get("HTTP_USER_AGENT", "")[:200],
    }
