"""The page of what is kept, and for how long."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import timezone

from accounting.keeping import queries
from accounting.shell.pages import page


@page("audit")
def retention(request: HttpRequest) -> HttpResponse:
    """Every kind of record: how long it is kept, by which rule, since when, and what has passed its term."""
    return render(request, "keeping/retention.html", {"held": queries.overview(timezone.now())})


urlpatterns = [path("audit/retention/", retention, name="retention")]
