"""The people of the house: security invites, changes roles, suspends and resets; auditors look."""

import secrets
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounting.people import queries
from accounting.people.addresses import link_to
from accounting.people.rules.names import folded, subject_of
from accounting.people.services import accounts, sessions, tokens
from accounting.people.services.acting import PersonRefused
from accounting.people.views.acting import actor, shown_once
from accounting.queries import audit_records
from accounting.rules.roles import ROLES, SECURITY
from accounting.shell.pages import page, roles_of

HISTORY_SHOWN = 30
Act = Callable[..., HttpResponse | None]


def may_change(request: HttpRequest) -> bool:
    """Whether whoever is signed in gives out roles; auditors only look."""
    return SECURITY in roles_of(request)


@require_http_methods(["GET", "HEAD", "POST"])
@page("people")
def people(request: HttpRequest) -> HttpResponse:
    """Everybody with an account; and inviting somebody."""
    typed: dict[str, Any] = {"roles": request.POST.getlist("roles")}
    typed |= {field: request.POST.get(field, "").strip() for field in ("name", "full_name")}
    refusal = None
    if request.method == "POST":
        _only_security(request)
        secret = secrets.token_urlsafe(32)
        try:
            person = accounts.invite(
                typed["name"], typed["roles"], full_name=typed["full_name"], secret=secret, by=actor(request),
                at=timezone.now(),
            )  # fmt: skip
            return _link_shown(request, person.username, secret)
        except PersonRefused as refused:
            refusal = refused
    context = {
        "people": queries.people(timezone.now()), "may_change": may_change(request), "roles": ROLES, "typed": typed,
        "refusal": refusal,
    }  # fmt: skip
    return render(request, "people/people.html", context, status=400 if refusal else 200)


@page("people")
def person(request: HttpRequest, name: str) -> HttpResponse:
    """One person: roles, standing, sessions, tokens, and what was done about the account."""
    now = timezone.now()
    found = queries.people(now, name=name)
    if not found:
        raise Http404(f"nobody is called {name}")
    known = found[0]
    context = {
        "person": known,
        "roles": ROLES,
        "sessions": queries.sessions_of(known.name, now),
        "tokens": queries.tokens_of(known.name),
        "history": audit_records(subject=subject_of(known.name), limit=HISTORY_SHOWN),
        "may_change": may_change(request) and known.name != request.user.get_username(),
        "is_own": known.name == request.user.get_username(),
    }
    return render(request, "people/person.html", context)


def _only_security(request: HttpRequest) -> None:
    if not may_change(request):
        raise PermissionDenied("Only security changes people.")


def act(done: str) -> Callable[[Act], Callable[..., HttpResponseBase]]:
    """An act of security about a person: posted, said to be done or why not, and back to the person's page."""

    def of(view: Act) -> Callable[..., HttpResponseBase]:
        @require_POST
        @page("people")
        def guarded(request: HttpRequest, /, name: str, **more: int) -> HttpResponse:
            _only_security(request)
            name = folded(name)
            try:
                actor(request).is_not(name)
                shown = view(request, name, **more)
            except PersonRefused as refusal:
                if refusal.code == "no_such_person":
                    raise Http404(str(refusal)) from None
                messages.error(request, str(refusal))
                return redirect("person", name)
            if shown is not None:
                return shown
            messages.success(request, done)
            return redirect("person", name)

        return guarded

    return of


@act("The roles are changed; they count from now on.")
def change_roles(request: HttpRequest, name: str) -> None:
    """Exactly the roles that are ticked."""
    accounts.change_roles(name, request.POST.getlist("roles"), by=actor(request), at=timezone.now())


@act("Suspended. Sessions, tokens and an open link have ended.")
def suspend(request: HttpRequest, name: str) -> None:
    """Shut out at once."""
    accounts.suspend(name, by=actor(request), at=timezone.now())


@act("Reinstated, with the roles and the password there were. Tokens stay withdrawn.")
def reinstate(request: HttpRequest, name: str) -> None:
    """Let in again."""
    accounts.reinstate(name, by=actor(request), at=timezone.now())


@act("")
def reset(request: HttpRequest, name: str) -> HttpResponse:
    """A new one-time link, shown once."""
    secret = secrets.token_urlsafe(32)
    accounts.reset(name, secret=secret, by=actor(request), at=timezone.now())
    return _link_shown(request, name, secret)


@act("The sessions have ended.")
def end_sessions(request: HttpRequest, name: str) -> None:
    """One session, or all of them."""
    sessions.end_of(name, request.POST.get("session") or None, by=actor(request), at=timezone.now())


@act("The token is withdrawn.")
def withdraw_token(request: HttpRequest, name: str, token_id: int) -> None:
    """End a token."""
    tokens.withdraw(name, token_id, by=actor(request), at=timezone.now())


def _link_shown(request: HttpRequest, name: str, secret: str) -> HttpResponse:
    address = link_to(request.build_absolute_uri("/").rstrip("/"), name, secret)
    return shown_once(request, what="link", name=name, secret=address, back="person")
