"""The sign-off of a week's review (REQUIREMENTS R93), declared to the office: what is signed is the sheet as it is on record."""

from datetime import date

from accounting.office.acts import Act, Asked, Change, Foreseen, Performed
from accounting.rules.acts import ActRefused, Shape
from accounting.rules.roles import ACCOUNTING, CONTROLLER
from accounting.rules.weeks import week_name, week_named
from tables.queries import weeks
from tables.services import weeks as reviews

LONGEST_NOTE = 2_000


def _first(subject: str) -> date:
    first = week_named(subject)
    if first is None:
        raise ActRefused("unknown_subject", detail=f"there is no week {subject}: one like 2026-W48 is expected")
    return first


def _version(subject: str) -> str | None:
    """The sheet: who signs has seen this very one."""
    first = week_named(subject)
    sheet = None if first is None else weeks.sheet_of(first)
    return None if sheet is None else bytes(sheet.digest).hex()[:16]


def _foresee(asked: Asked) -> Foreseen:
    """What the sheet marks, line by line."""
    sheet = reviews.signable(_first(asked.subject), by=asked.proposed_by)
    marked = [Change(line.table, "", line.unusual) for line in weeks.kept_lines(sheet) if line.unusual]
    digest = bytes(sheet.digest).hex()
    rows = (Change(f"Week {week_name(sheet.first)}", "", f"signed off by {asked.proposed_by}"), *marked)
    return Foreseen(rows, f"What is signed is the sheet with SHA-256 {digest}; why says what was found.")


def _perform(asked: Asked) -> Performed:
    reviews.sign_off(_first(asked.subject), asked.reason, at=asked.at, by=asked.proposed_by)
    return Performed(detail=f"week {asked.subject} signed off")


WEEK_ACTS: tuple[Act, ...] = (
    Act(
        shape=Shape("week.review", "week"),
        title="Sign off a week",
        proposes=frozenset({ACCOUNTING, CONTROLLER}),
        version=_version,
        foresee=_foresee,
        perform=_perform,
        possible=lambda week: _version(week) is not None,
    ),
)
