"""Every address of the service. An app's API stands in its api.urlpatterns, its pages in its views.urlpatterns."""

from importlib import import_module
from importlib.util import find_spec

from django.urls import include, path
from django.urls.resolvers import URLPattern, URLResolver
from django.utils.module_loading import import_string
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

APPS = (
    "devices",
    "tables",
    "jackpot",
    "accounting",
    "accounting.office",
    "accounting.people",
    "accounting.reporting",
    "accounting.slips",
    "accounting.guides",
    "accounting.keeping",
)


def _of(module: str) -> list[URLPattern | URLResolver]:
    """The module's urlpatterns; an app without API or pages has none."""
    if find_spec(module) is None:
        return []
    return list(getattr(import_module(module), "urlpatterns", []))


urlpatterns: list[URLPattern | URLResolver] = [
    path("metrics", import_string("devices.api.health.metrics"), name="metrics"),
    path("api/v1/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="api-docs"),
    *(path("api/v1/", include(patterns)) for app in APPS if (patterns := _of(f"{app}.api"))),
    *(path("", include(patterns)) for app in APPS if (patterns := _of(f"{app}.views"))),
]

handler400 = "jackpot.config.problems.bad_request"
handler403 = "jackpot.config.problems.forbidden"
handler404 = "jackpot.config.problems.not_found"
handler500 = "jackpot.config.problems.server_error"
