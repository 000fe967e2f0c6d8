"""How much a page shows, how long a text may be, how long something waits: what somebody meets is changed on purpose only.

The other tests ask a limit for its own value, or set it low enough to come to it.
"""

from __future__ import annotations

import importlib
from datetime import timedelta
from typing import Any

import pytest

MEGABYTE = 1024 * 1024
LIMITS: dict[str, dict[str, Any]] = {
    "accounting.api": {"MOST": 1_000},
    "accounting.made_reports": {"LISTED": 50},
    "accounting.office.api.requests": {"USUAL": 100},
    "accounting.office.forms": {"MOST_ROWS": 60},
    "accounting.office.queries": {"MOST": 1_000},
    "accounting.office.rules.asking": {
        "LONGEST_SUBJECT": 160, "LONGEST_WORDS": 2_000, "LONGEST_NAME": 200, "LARGEST_FILE": 5 * MEGABYTE,
        "MOST_WHOLE": 10**18,
    },
    "accounting.office.services.proposals": {"TERM": timedelta(days=7)},
    "accounting.office.services.results": {"LARGEST": 2_048 * MEGABYTE, "LONGEST_NAME": 120},
    "accounting.office.tasks": {"PATIENCE": timedelta(seconds=30)},
    "accounting.office.views.decisions": {"SHOWN": 50},
    "accounting.office.work": {"SILENT": timedelta(seconds=30)},
    "accounting.people.rules.filters": {"MOST_FILTERS": 30, "LONGEST_NAME": 60, "LONGEST_QUERY": 1_000},
    "accounting.people.rules.keeping": {"LINK_TERM": timedelta(hours=72)},
    "accounting.people.services.tokens": {"USE_NOTED_EVERY": timedelta(minutes=1)},
    "accounting.people.views.house": {"HISTORY_SHOWN": 30},
    "accounting.reporting.forms.pdf": {"MOST_ROWS": 2_000, "MOST_PARTS": 50},
    "accounting.reporting.forms.xlsx": {"ROWS_OF_A_SHEET": 1_000_000, "LONGEST": 32_767, "MOST_DIGITS": 15},
    "accounting.reporting.making": {"DIGITS_OF_A_BUILD": 12, "TOLD_OF": 500},
    "accounting.reporting.views": {"SHOWN": 200, "LONG": timedelta(days=31), "SHORT": 12, "LOOKED_THROUGH": 20_000},
    "accounting.rules.acts": {"LONGEST_TEXT": 2_000},
    "accounting.rules.parameters": {"LONGEST_TEXT": 4_000, "MOST": 2**62},
    "accounting.services.ledger": {"WAITED_AT_MOST": timedelta(minutes=1)},
    "accounting.services.readings": {"LONGEST": 500, "LONGEST_NAME": 200, "LARGEST_PHOTO": 5 * MEGABYTE},
    "accounting.slips.queries": {"MOST": 1_000},
    "accounting.slips.rules.winners": {"MOST_PAYEES": 20},
    "accounting.slips.views": {"SHOWN": 50, "ROWS_OFFERED": 4},
    "accounting.views": {"AUDIT_PAGE": 50, "LINES_SHOWN": 200},
}  # fmt: skip


@pytest.mark.parametrize("module", LIMITS)
def test_a_limit_is_the_one_that_was_agreed(module: str) -> None:
    found = vars(importlib.import_module(module))
    assert {name: found[name] for name in LIMITS[module]} == LIMITS[module]
