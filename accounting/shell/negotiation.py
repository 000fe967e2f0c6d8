"""Which form of an answer the API gives, by `format` or by the Accept header."""

from collections.abc import Iterable

from django.http import Http404
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer

from accounting.rules.parameters import BadParameter


class Negotiation(DefaultContentNegotiation):
    """REST framework's, save that a form which an address does not have is a parameter that cannot be followed (CONTRACT §5)."""

    def filter_renderers(self, renderers: Iterable[BaseRenderer], format: str) -> list[BaseRenderer]:
        """The renderers of a form that was named. BadParameter where there is none."""
        known = list(renderers)
        try:
            return super().filter_renderers(known, format)
        except Http404:
            forms = ", ".join(str(renderer.format) for renderer in known)
            raise BadParameter("format", f"one of {forms} is expected") from None
