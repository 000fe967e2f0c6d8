"""A new term and a new key in a settlement leave what is on record verifiable, byte for byte (ARCHITECTURE §3a)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

import pytest

from accounting.rules import edition
from devices.audit.verification import Difference
from tables.rules import deciding, floor, settle
from tables.rules.table import Terms
from tables.services import terms
from tests.services import auditor
from tests.services.house import LINKED, House, message, rows, value, verify


@dataclass(frozen=True, slots=True)
class NextTerms(Terms):
    """The terms of the version after this one: one more, with its default."""

    dealer_speaks: bool = False


def next_version(monkeypatch: pytest.MonkeyPatch, *, numbered: bool = True) -> None:
    """The version after this one: tables have a further term, settlements a further key; `numbered` gives it an edition."""
    monkeypatch.setattr(floor, "Terms", NextTerms)
    monkeypatch.setattr(floor, "TERM_KEYS", tuple(term.name for term in fields(NextTerms)))
    real = settle._settlement

    def settlement(*arguments: Any) -> Any:
        found: Any = real(*arguments)
        found["spoken"] = "well played"
        return found

    monkeypatch.setattr(settle, "_settlement", settlement)
    if numbered:
        monkeypatch.setattr(edition, "CURRENT", edition.CURRENT + 1)
        monkeypatch.setattr(
            deciding, "KEYS_SINCE", {**deciding.KEYS_SINCE, edition.CURRENT: {"settlement": ("spoken",)}}
        )
    terms.forget()


def hashes() -> list[tuple[Any, ...]]:
    return rows("SELECT stream_id, sequence, hash FROM accounting_event ORDER BY stream_id, sequence")


def test_a_new_term_and_a_new_key_leave_old_streams_verifiable(played: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """With acts among the old events: terms that were changed by people speak only of what they changed."""
    later = played.now + timedelta(minutes=1)
    played.act("table.terms", LINKED, at=later, minimum_cents=1_500, terms={"limit_scope": "all_fixed_odds"})
    played.settle()
    before = hashes()
    verify()

    next_version(monkeypatch)
    verify()
    assert hashes() == before
    house = House(now=later + timedelta(minutes=1))
    held = message("N-0", dealt_at=(later + timedelta(seconds=1)).isoformat())
    sent = message("N-1", dealt_at=(later - timedelta(seconds=1)).isoformat())
    house.play(held, sent)
    assert house.outcome(held) == ("held", ["wager_not_allowed"])
    assert house.settlement(sent)["spoken"] == "well played"
    house.act("table.terms", LINKED, minimum_cents=1_000)
    assert value("SELECT max(rules) FROM accounting_event") == 3
    verify()
    auditor.everything_agrees()
    assert [row for row in hashes() if row in before] == before


def test_a_change_without_an_edition_of_its_own_is_found(played: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody forgets: another form of a settlement under the same number differs from what is on record."""
    next_version(monkeypatch, numbered=False)
    with pytest.raises(Difference, match="settlement: expected"):
        verify()
