"""`manage.py demo_day`: every kind of event and act, played, paid, closed; its packs verify offline; its books foot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import DjangoDbBlocker

from accounting.office import registry
from accounting.office.rules.approval import Need
from accounting.queries import stream_heads, trial_balance
from accounting.rules.events import KINDS, REASONS
from accounting.rules.roles import CONTROLLER, MANAGER
from accounting.services.closed_days import signed_days
from devices import enrolment
from devices.demo_day import day as demo_day
from devices.demo_day import packs
from devices.demo_day.house import DemoHouse, NotPlayed
from tests.services import auditor
from tests.services.fixtures import Databases
from tests.services.house import LINKED, TWIN, House, message, rows, value, verify


@pytest.fixture
def empty_demo(
    databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker, settings: Any
) -> Iterator[None]:
    """A database of its own without a floor, for demo people."""
    settings.DEMO = True
    settings.PATRON_KEY = "A" * 43
    with django_db_blocker.unblock():
        name = databases.create(like=migrated)
        with databases.entered(name):
            yield
        databases.drop(name)


def test_the_day_is_played_closed_and_filed(
    empty_demo: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("demo_day", out=tmp_path)
    said = capsys.readouterr().out
    (signed,) = signed_days()
    day = signed.statement.day
    assert f"Gaming day {day}, closed with two signatures" in said
    kinds = dict(rows("SELECT kind, count(*) FROM accounting_event GROUP BY kind"))
    assert kinds.keys() == set(KINDS)
    done = dict(rows(
        "SELECT act, count(*) FROM office_proposal JOIN office_outcome ON proposal_id = office_proposal.id"
        " WHERE state = 'done' GROUP BY act"
    ))  # fmt: skip
    assert done.keys() == registry.acts().keys()
    assert {reason for (reason,) in rows("SELECT DISTINCT reason FROM accounting_transfer")} == set(REASONS)
    for name, count in {**kinds, **done}.items():
        assert f"  {name:<24}{count:>8,}" in said, name
    agreed = rows(
        "SELECT proposal.by, approval.by FROM office_approval approval"
        " JOIN office_proposal proposal ON proposal.id = approval.proposal_id"
    )
    assert agreed and all(by != other for by, other in agreed)
    assert value("SELECT count(*) FROM slips_slip") > value("SELECT count(*) FROM slips_slipvoid") > 0
    assert value("SELECT count(*) FROM slips_slipprint WHERE copy > 0") == 1
    balances = trial_balance(day)
    assert sum(one.debit_cents for one in balances) == sum(one.credit_cents for one in balances) > 0
    assert sum(one.after_cents for one in balances) == 0
    auditor.totals_are_the_transfers()
    auditor.meters_are_the_liability()
    verify()
    streams = [code for code, _, _ in stream_heads()]
    assert {file.stem for file in tmp_path.glob("*.zip")} == set(streams) >= {"bay", "tide", "cove", "DD-3"}
    assert said.count("verified offline") == len(streams)
    with pytest.raises(CommandError, match=r"Harbor Lights, a day: .* empty database"):
        call_command("demo_day", out=tmp_path)


def test_what_is_declared_and_not_played_fails_by_name(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds, acts, reasons = Counter(KINDS), Counter(registry.acts().keys()), Counter(REASONS)
    full = demo_day.Played(
        datetime.now(UTC).date(), kinds, acts, reasons, Counter(), [], levels_read=0, slips_printed=0
    )
    demo_day.require_all(full)
    for changed, words in (
        (replace(full, kinds=full.kinds - Counter(["table.contact"])), "kinds of events .*: table.contact"),
        (replace(full, acts=full.acts - Counter(["hit.remit", "day.close"])), "acts .*: hit.remit, day.close"),
        (replace(full, reasons=full.reasons - Counter(["top_up"])), "reasons .*: top_up"),
    ):
        with pytest.raises(NotPlayed, match=words):
            demo_day.require_all(changed)
    more = registry.acts() | {"table.paint": next(iter(registry.acts().values()))}
    monkeypatch.setattr(registry, "acts", lambda: more)
    with pytest.raises(NotPlayed, match=r"table\.paint"):
        demo_day.require_all(full)


def test_what_the_demo_has_no_people_or_devices_for_is_not_played(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = DemoHouse({LINKED: "none"}, house.now)
    for link, need, said in (
        ("ms-mg01", Need(CONTROLLER, 2), "2 × controller"),
        ("twin", Need(MANAGER, 1), "1 × manager"),
    ):
        monkeypatch.setattr("devices.demo_day.house.needs_of", lambda asked, need=need: (need,))
        with pytest.raises(
            NotPlayed, match=f"link.suspend {link}: {said} must agree, which the demo has no people for"
        ):
            demo.ask(MANAGER, "link.suspend", link)
    assert demo.acts == {}
    with pytest.raises(NotPlayed, match=f"the device of table {LINKED} is not known"):
        demo.post(message("R-1"))
    enrolment.enrol("DD", [LINKED], key="its key", by="ann", at=house.now)
    demo = DemoHouse(dict.fromkeys((LINKED, TWIN), "its key"), house.now)
    demo.post(message("R-1"))
    for sent, words in (
        (message("R-2", table=TWIN), f"round R-2: this device may not post for table {TWIN}"),
        (message("R-3", seats=[]), "round R-3: .*seats"),
    ):
        with pytest.raises(NotPlayed, match=words):
            demo.post(sent)
    assert demo.messages == {"accepted": 1}
    with pytest.raises(NotPlayed, match="ms-mg01-000009 has no slip"):
        demo_day._print(demo, "ms-mg01-000009")
    assert demo.prints == 0


def test_a_pack_that_its_verifier_does_not_accept_ends_the_day(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "pack", lambda wanted: b"no pack")
    with pytest.raises(packs.NotVerified, match=r"\.zip: \S"):
        list(packs.take_away(tmp_path))


def test_it_is_played_in_an_empty_demo_house_alone(house: House, settings: Any, tmp_path: Path) -> None:
    settings.DEMO = False
    with pytest.raises(CommandError, match="JACKPOT_DEMO"):
        call_command("demo_day", out=tmp_path)
    settings.DEMO = True
    events = value("SELECT count(*) FROM accounting_event")
    with pytest.raises(CommandError, match="Boston Harbor"):
        call_command("demo_day", out=tmp_path)
    assert (value("SELECT count(*) FROM accounting_event"), list(tmp_path.iterdir())) == (events, [])
