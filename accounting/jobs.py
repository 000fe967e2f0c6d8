"""Long reports, made by a worker and kept for whoever asked."""

from datetime import datetime
from typing import Any

from accounting.office.work import JobKind, Progress
from accounting.reporting import handing_out, making, registry
from accounting.shell.navigation import roles_using


def make(progress: Progress) -> dict[str, Any]:
    """Make the report that was asked for, in its form: what it is called, how many rows it has. Long pages come in parts."""
    wanted = progress.asked
    report, form = registry.reports()[wanted["report"]], wanted["form"]
    asked = making.asked(
        report, ((name, [value]) for name, value in wanted["given"].items()), at=datetime.fromisoformat(wanted["at"])
    )
    made = making.made(report, asked, by=wanted["by"])
    made.passed = progress.advance
    files = [
        progress.file(name, handing_out.TYPES[form], pieces).name for name, pieces in handing_out.files(made, form)
    ]
    astray = [verdict.words for verdict in made.totals.verdicts() if not verdict.is_even]
    words = f"{report.title}, {made.heading.period}, {made.totals.count:,} rows as {form.upper()}"
    words += f" in {len(files)} parts" if len(files) > 1 else ""
    return {"ok": not astray, "summary": "; ".join([words, *astray])}


MAKE = JobKind(
    name="report", title="Make a report", roles=roles_using("reports"), run=make, address="report-made",
    for_each=True, apart=frozenset({"at"}), reads_elsewhere=True,
)  # fmt: skip

JOBS = (MAKE,)
