"""Who stands behind a request: for pages and API alike."""

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest

from accounting.office.rules.person import Person
from accounting.shell.pages import roles_of


def person_of(request: HttpRequest) -> Person:
    """Whoever is signed in, with their roles and the client's address. A device is nobody: it has no name and no role."""
    origin = request.META.get("REMOTE_ADDR", "")
    if not isinstance(request.user, AbstractBaseUser):
        return Person("", frozenset(), origin)
    return Person(request.user.get_username(), roles_of(request), origin)
