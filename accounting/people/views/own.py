"""Everybody's own account: the password, where one is signed in, and tokens for the API."""

import secrets

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from accounting.people import queries
from accounting.people.forms import OwnPasswordForm
from accounting.people.services import accounts, sessions, tokens
from accounting.people.services.acting import PersonRefused
from accounting.people.views.acting import actor, shown_once
from accounting.shell.pages import page


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # `page` lets nobody else in
    return request.user


def _account(request: HttpRequest, form: OwnPasswordForm | None = None, status: int = 200) -> HttpResponse:
    user, now = _user(request), timezone.now()
    context = {
        "person": queries.people(now, name=user.username)[0],
        "sessions": queries.sessions_of(user.username, now, current_key=request.session.session_key),
        "tokens": queries.tokens_of(user.username),
        "form": form,
    }
    return render(request, "people/account.html", context, status=status)


@page(None)
def account(request: HttpRequest) -> HttpResponse:
    """One's own account."""
    return _account(request)


@sensitive_post_parameters()
@require_POST
@page(None)
def change_password(request: HttpRequest) -> HttpResponse:
    """Set another password; every other session of one's own ends."""
    user, form = _user(request), OwnPasswordForm(request, request.POST)
    if not form.is_valid():
        return _account(request, form, status=400)
    key = request.session.session_key
    accounts.set_password(user, form.cleaned_data["new_password1"], by=actor(request), at=timezone.now(), keep=key)
    update_session_auth_hash(request, user)
    messages.success(request, "The password is changed, and every other session of yours has ended.")
    return redirect("account")


@require_POST
@page(None)
def end_sessions(request: HttpRequest) -> HttpResponse:
    """End one of one's own sessions, or all but this one."""
    try:
        ended = sessions.end(
            _user(request),
            request.POST.get("session") or None,
            keep=request.session.session_key,
            by=actor(request),
            at=timezone.now(),
        )
        messages.success(request, f"Sessions ended: {ended}.")
    except PersonRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("account")


@require_POST
@page(None)
def issue_token(request: HttpRequest) -> HttpResponse:
    """A new token of one's own, shown once."""
    name, secret = _user(request).username, secrets.token_urlsafe(32)
    tokens.issue(name, secret=secret, purpose=request.POST.get("purpose", ""), by=actor(request), at=timezone.now())
    return shown_once(request, what="token", name=name, secret=secret, back="account")


@require_POST
@page(None)
def withdraw_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """End a token of one's own."""
    try:
        tokens.withdraw(_user(request).username, token_id, by=actor(request), at=timezone.now())
        messages.success(request, "The token is withdrawn.")
    except PersonRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("account")
