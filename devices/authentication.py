"""Who a machine is: until keys are issued, nobody."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request


class DeviceKey(BaseAuthentication):
    """Reads `Authorization: Api-Key KEY`."""

    def authenticate(self, request: Request) -> None:
        """Nobody."""

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return "Api-Key"
