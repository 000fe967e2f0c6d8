"""Every report that the installed apps declare: each app's `reports.py` holds `REPORTS: tuple[Report, ...]`, found by name."""

from collections.abc import Collection
from functools import cache

from accounting.declared import by, declared
from accounting.reporting.shape import GROUPS, ONE_DAY, Report


@cache
def reports() -> dict[str, Report]:
    """Every report by its code: group by group, what is of one day first, then in the order of apps and declarations."""
    found = by("code", declared("reports", "REPORTS"))
    return dict(sorted(found.items(), key=lambda item: (GROUPS.index(item[1].group), item[1].period != ONE_DAY)))


def seen_by(roles: Collection[str]) -> list[Report]:
    """The reports that these roles see."""
    return [report for report in reports().values() if not report.roles.isdisjoint(roles)]
