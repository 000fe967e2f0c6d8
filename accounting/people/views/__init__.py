"""Pages of people: the ways in and out, everybody's own account, and the people of the house."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from accounting.people.views import doors, house, own

urlpatterns = [
    path("sign-in", doors.SignIn.as_view(), name="sign-in"),
    path("sign-out", LogoutView.as_view(), name="sign-out"),
    path("first-sign-in/<str:name>", doors.first_sign_in, name="first-sign-in"),
    path("account/", own.account, name="account"),
    path("account/password", own.change_password, name="own-password"),
    path("account/sessions", own.end_sessions, name="own-sessions"),
    path("account/tokens", own.issue_token, name="own-tokens"),
    path("account/tokens/<int:token_id>/withdraw", own.withdraw_token, name="own-token-withdraw"),
    path("people/", house.people, name="people"),
    path("people/<str:name>/", house.person, name="person"),
    path("people/<str:name>/roles", house.change_roles, name="person-roles"),
    path("people/<str:name>/suspend", house.suspend, name="person-suspend"),
    path("people/<str:name>/reinstate", house.reinstate, name="person-reinstate"),
    path("people/<str:name>/reset", house.reset, name="person-reset"),
    path("people/<str:name>/sessions", house.end_sessions, name="person-sessions"),
    path("people/<str:name>/tokens/<int:token_id>/withdraw", house.withdraw_token, name="person-token-withdraw"),
]
