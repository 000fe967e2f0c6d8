"""The ways in: signing in, and setting the password behind a one-time link."""

import json
from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounting.people.forms import FirstPasswordForm, SignInForm
from accounting.people.services import links
from accounting.people.services.acting import PersonRefused
from accounting.people.sessions import client_address
from accounting.rules.roles import ROLES
from accounting.shell.navigation import home
from accounting.shell.pages import roles_of

BY_PASSWORD = "django.contrib.auth.backends.ModelBackend"


class SignIn(LoginView):
    """The way in for staff. In demo mode it lists the demo people, so that anyone can look around."""

    template_name = "people/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_default_redirect_url(self) -> str:
        """Where the person's roles begin."""
        return begins_at(self.request)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the demo people, in demo mode only."""
        return super().get_context_data(**kwargs) | {"people": demo_people()}


def begins_at(request: HttpRequest) -> str:
    """The address at which the roles of whoever is signed in begin; their own account where there is no role."""
    section = home(roles_of(request))
    return reverse(section.address if section else "account")


def demo_people() -> list[dict[str, Any]]:
    """The people that `up` made and wrote into the data folder; nobody outside demo mode."""
    if not settings.DEMO:
        return []
    try:
        people = json.loads(settings.DATA.demo.read_text())["people"]
    except (OSError, ValueError, KeyError):
        return []
    return [person | {"roles": [ROLES.get(role, role) for role in person.get("roles", [])]} for person in people]


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def first_sign_in(request: HttpRequest, name: str) -> HttpResponse:
    """Set the password that a one-time link is for, and come in. Whether there is such a person or link shows only then."""
    form = FirstPasswordForm(User(username=name), request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            person = links.use(
                name, given["secret"], given["new_password1"], address=client_address(request), at=timezone.now()
            )
        except PersonRefused as refusal:
            form.add_error(None, str(refusal))
        else:
            login(request, person, backend=BY_PASSWORD)
            return redirect(begins_at(request))
    status = 400 if form.errors else 200
    return render(request, "people/first_sign_in.html", {"form": form, "name": name}, status=status)
