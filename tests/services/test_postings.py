"""The worked examples of what events book are what is really recorded, one of every kind (SPEC §9)."""

from __future__ import annotations

import json
import os

from accounting.rules.events import KINDS, REASONS
from tests.services.house import House, verify
from tests.worked_postings.events import FILE, PAGE, file_of, page_of, worked


def test_the_worked_examples_are_as_they_are_recorded(busy_house: House) -> None:
    examples = worked(busy_house)
    verify()
    if os.environ.get("WRITE_POSTINGS"):
        FILE.write_text(file_of(examples), "utf-8")
        PAGE.write_text(page_of(examples), "utf-8")
    assert json.loads(FILE.read_text("utf-8")) == examples, "record them anew: python3 -m tests.worked_postings"
    assert PAGE.read_text("utf-8") == page_of(examples), "record them anew: python3 -m tests.worked_postings"


def test_every_kind_of_event_has_its_example() -> None:
    shown = {example["kind"] for example in json.loads(FILE.read_text("utf-8"))}
    assert shown == set(KINDS)


def test_every_reason_for_moving_money_is_shown_but_two() -> None:
    shown = {row["reason"] for example in json.loads(FILE.read_text("utf-8")) for row in example["transfers"]}
    assert set(REASONS) - shown == {"correction", "over_limit"}, "an adjustment for either books as others do"
