"""Personal tokens for REST framework: `Authorization: Bearer TOKEN` (CONTRACT §7)."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounting.people.models import PersonalToken
from accounting.people.services import tokens


class Bearer(BaseAuthentication):
    """A person named by a personal token; other schemes are left to other authentications."""

    def authenticate(self, request: Request) -> tuple[User, PersonalToken] | None:
        """The person, or None where no token was sent. One that is unknown, withdrawn or a suspended person's is 401."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = tokens.holder(secret.strip(), demo=settings.DEMO, at=timezone.now())
        if token is None:
            raise AuthenticationFailed("unknown or withdrawn token")
        return token.person, token

    def authenticate_header(self, request: Request) -> str:
        """What a 401 answer asks for."""
        return "Bearer"


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document names the token."""

    target_class = "accounting.people.authentication.Bearer"
    name = "personalToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """The header that carries the token."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "a person's token, with that person's roles; issued on a page or by `manage.py token`",
        }
