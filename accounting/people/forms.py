"""The forms by which people come in and set their passwords."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from accounting.people.rules.names import folded
from accounting.people.services import demo


class SignInForm(AuthenticationForm):
    """Name and password; the name is one whatever its case."""

    def clean_username(self) -> str:
        """The account that is meant."""
        return folded(self.cleaned_data["username"])

    def confirm_login_allowed(self, user: User) -> None:
        """Refuse who may not come in although the password is right."""
        super().confirm_login_allowed(user)
        if not demo.may_sign_in(user):
            raise ValidationError("Demo people sign in to a demo only.", code="demo")


class OwnPasswordForm(PasswordChangeForm):
    """A new password for whoever is signed in. The old one is asked for, and wrong ones count as they do at the door."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(request.user, *args, **kwargs)  # type: ignore[arg-type]
        self.request = request

    def clean_old_password(self) -> str:
        """The password as it was."""
        typed: str = self.cleaned_data["old_password"]
        if authenticate(self.request, username=self.user.get_username(), password=typed) is None:
            raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return typed


class FirstPasswordForm(SetPasswordForm):
    """The secret of a one-time link, and a password twice."""

    secret = forms.CharField(max_length=200)


def counted_as(request: HttpRequest, credentials: dict[str, Any] | None) -> str:
    """The account whose wrong passwords are counted: `ACCOUNTING` is `accounting` (settings.AXES_USERNAME_CALLABLE)."""
    typed = (credentials or {}).get("username") or request.POST.get("username") or ""
    return folded(str(typed))
