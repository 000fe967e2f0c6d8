"""What `verify` finds, as a page: written from the very changes that its test makes past the triggers.

python3 -m tests.verify_table     # writes docs/verify.md anew
"""

import os
from pathlib import Path

import django

PAGE = Path(__file__).parents[1] / "docs" / "verify.md"
HEAD = """# What `manage.py verify` finds

Each of these was changed, added or removed with every guard of the database switched off, alone, in a house that had played; the
second column is how `verify` names it, with the house's own numbers left out. The page is written by
`python3 -m tests.verify_table` from the tests that try them all, `test_verify.py`, `test_past_acts.py`, `test_readings.py`,
`test_slips.py` and `test_weeks.py` in `tests/services`.

What is on record is an event with its cause and its result, chained by hash. `verify` takes every event in its order, decides it
again by the rules of its own edition, and compares the result byte for byte, then every row that follows from it; at the end what
the tables of the database show of terms, states, meters and totals, the inbox, the paytable editions, the chart of accounts, the
property, the audit trail, reviews of weeks, and slips against their payouts and the trail. What waits or is held has no place
in a chain yet:
there a change is found where one of two records of the same fact was changed (message and reference; hold and seal), not
where both were made anew alike.

| changed past the triggers | found as |
|---|---|
"""


def page() -> str:
    """The page as it should be. Django is set up."""
    from tests.services.closed_tampering import TAMPERING_OF_DAYS
    from tests.services.locked_tampering import TAMPERING_WITH_LOCKS
    from tests.services.tampering import BETWEEN_LINKS, TAMPERING, TAMPERING_OF_ACTS
    from tests.services.tampering_of_slips import TAMPERING_OF_SLIPS
    from tests.services.tampering_of_weeks import TAMPERING_OF_WEEKS

    rows = []
    every = (
        TAMPERING
        | TAMPERING_OF_ACTS
        | BETWEEN_LINKS
        | TAMPERING_WITH_LOCKS
        | TAMPERING_OF_DAYS
        | TAMPERING_OF_SLIPS
        | TAMPERING_OF_WEEKS
    )
    for what, (_, named) in every.items():
        for place in ("$held", "$waiting", "$first", "$reading"):
            named = named.replace(place, "…")
        rows.append(f"| {what} | `{named.strip(' :').replace('|', ' ')}` |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
    django.setup()
    PAGE.write_text(page(), "utf-8")
