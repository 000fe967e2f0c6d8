"""Device keys for REST framework: `Authorization: Api-Key KEY` (CONTRACT §5). Signatures will stand beside them."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from devices.intake import directory


class DeviceKey(BaseAuthentication):
    """A device named by its key; other schemes are left to other authentications."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """The device, or None where no key was sent. An unknown key is 401."""
        authorization = request.headers.get("Authorization", "")
        if not authorization.lower().startswith("api-key"):
            return None
        caller = directory.caller(authorization, directory.current())
        if caller is None:
            raise AuthenticationFailed("unknown device key")
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        """What a 401 answer asks for: REST framework asks the first authentication only, so it speaks for tokens too."""
        return "Bearer" if request.headers.get("Authorization", "").lower().startswith("bearer") else "Api-Key"


class DeviceKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document names a device's key."""

    target_class = "devices.authentication.DeviceKey"
    name = "deviceKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """The header that carries the key."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Api-Key KEY`; a device's own, or in demo mode one from demo.json",
        }
