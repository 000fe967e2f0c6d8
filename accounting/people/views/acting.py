"""What the pages of people share: who acts, and what is shown once."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounting.people.services.acting import Actor
from accounting.people.sessions import client_address


def actor(request: HttpRequest) -> Actor:
    """Whoever is signed in, at the client's address."""
    return Actor(request.user.get_username(), client_address(request))


def shown_once(request: HttpRequest, **context: object) -> HttpResponse:
    """A page with a secret that is kept nowhere: not by us, and not by the browser either."""
    page = render(request, "people/shown_once.html", context)
    page.headers["Cache-Control"] = "no-store"
    return page
