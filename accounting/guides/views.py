"""The guides: what each role does on a shift. Everybody reads everybody's; one's own comes first."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from accounting.guides import wording
from accounting.guides.text import guide_of
from accounting.rules.roles import ROLES, in_order
from accounting.shell.navigation import SECTIONS, may_use
from accounting.shell.pages import page, roles_of


@page(None)
def guide(request: HttpRequest, role: str | None = None) -> HttpResponse:
    """A role's guide; without one that of the reader's first role."""
    held = roles_of(request)
    own = in_order(held)
    if role is not None and role not in ROLES:
        raise Http404(f"no role {role}")
    shown = role or next(iter(own), next(iter(ROLES)))
    text = guide_of(shown)
    context = {
        "role": shown,
        "is_own": shown in own,
        "roles": sorted(((code, name, code in own) for code, name in ROLES.items()), key=lambda row: not row[2]),
        "about": text.about,
        "steps": [wording.written(step, held) for step in text.steps],
        "wrong": [wording.written(step, held) for step in text.wrong],
        "acts": wording.may_do(shown),
        "sections": [section for section in SECTIONS if may_use(section.code, {shown})],
        "finds": may_use("floor", {shown}),
    }
    return render(request, "guides/guide.html", context)


urlpatterns = [
    path("guide/", guide, name="guide"),
    path("guide/<role>/", guide, name="guide-of"),
]
