"""Addresses of people's ways in."""

from django.urls import reverse


def link_to(base_url: str, name: str, secret: str) -> str:
    """The one-time link as it is given out. What stands behind # is never sent: no log and no proxy sees the secret."""
    return f"{base_url}{reverse('first-sign-in', args=[name])}#{secret}"
