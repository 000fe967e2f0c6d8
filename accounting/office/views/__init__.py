"""Pages of the office: decisions, and long work."""

from accounting.office.views import decisions, jobs

urlpatterns = [*decisions.urlpatterns, *jobs.urlpatterns]
