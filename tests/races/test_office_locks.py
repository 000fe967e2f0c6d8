"""The locks of decisions, jobs, devices and the audit trail, one by one: somebody's transaction is open, another comes.

Each of these fails when its lock is taken away, those of the database's own guards among them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError

from accounting.office import registry
from accounting.office.models import Job
from accounting.office.refusals import Conflict
from accounting.office.rules.person import Person
from accounting.office.services import jobs, proposals
from accounting.services import audit
from accounting.services.audit import check_audit_trail
from devices import enrolment
from devices.intake import deals, lost_locks
from tests.races.test_locks import Doing, holding
from tests.services.attempts.office import AT, new_approval, new_job, new_outcome, new_proposal
from tests.services.desk import ANYBODY, RENAME
from tests.services.house import LINKED, RECEIVED, House, locked, message, value

ONE_MANAGER = [{"role": "manager", "count": 1}]


def refused_by(doing: Doing) -> str | None:
    """The constraint that refused what was done in a thread."""
    with pytest.raises(DatabaseError) as refusal:
        doing.done()
    cause = refusal.value.__cause__
    assert isinstance(cause, psycopg.Error), refusal.value
    return cause.diag.constraint_name


def after(first: Callable[[], Any], second: Callable[[], Any]) -> Doing:
    """Do something while another has done something and not committed: it must wait for that."""
    with holding(first):
        doing = Doing(second)
        assert doing.waits(), "it went on beside a transaction that decides the same"
    return doing


def test_two_approvals_of_one_need_are_counted_one_after_the_other(busy_house: House) -> None:
    asked = new_proposal(needs=ONE_MANAGER)
    second = after(lambda: new_approval(proposal=asked), lambda: new_approval(proposal=asked, by="bob"))
    assert refused_by(second) == "an_approval_counts_for_a_need"
    assert value("SELECT count(*) FROM office_approval") == 1


def test_nothing_is_approved_while_it_is_withdrawn(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "acts", lambda: {RENAME.name: RENAME})
    asked = new_proposal(needs=ONE_MANAGER)
    approval = after(
        lambda: proposals.withdraw(asked.pk, by=Person("ada", frozenset({"administrator"}), ""), at=AT),
        lambda: proposals.approve(asked.pk, by=ANYBODY["manager"], at=AT),
    )
    with pytest.raises(Conflict) as conflict:
        approval.done()
    assert conflict.value.code == "not_waiting"
    assert value("SELECT count(*) FROM office_approval") == 0


def test_what_is_done_waits_for_the_approval_that_it_needs(busy_house: House) -> None:
    asked = new_proposal(needs=ONE_MANAGER)
    done = after(
        lambda: new_approval(proposal=asked),
        lambda: new_outcome(proposal=asked, state="done", note="", stream="ms-mg01", sequence=0),
    )
    assert done.done().state == "done"


def test_a_job_that_begins_while_it_is_cancelled_goes_on_and_hears_of_it(busy_house: House) -> None:
    job = new_job()
    begun = Job.objects.filter(pk=job.pk)
    cancelled = after(
        lambda: begun.update(state=Job.State.RUNNING, started_at=AT, beat_at=AT),
        lambda: jobs.cancel(job.pk, by=ANYBODY["auditor"], at=AT),
    )
    cancelled.done()
    job.refresh_from_db()
    assert (job.state, job.cancel_asked_by, job.finished_at) == ("running", ANYBODY["auditor"].name, None)


def test_a_devices_key_is_withdrawn_once(busy_house: House) -> None:
    enrolment.enrol("IDP-9", [LINKED], key="a key", by="sam", at=AT)

    def withdraw() -> None:
        enrolment.withdraw("IDP-9", by="sam", at=AT)

    second = after(withdraw, withdraw)
    with pytest.raises(enrolment.EnrolmentRefused, match="has no key"):
        second.done()
    assert value("SELECT count(*) FROM accounting_auditrecord WHERE action = 'withdraw device key'") == 1


@pytest.mark.parametrize("look", [deals.look, lost_locks.look], ids=["deals", "locks"])
def test_a_second_look_waits_for_nobody_and_tells_nothing_twice(look: Callable[..., int], busy_house: House) -> None:
    busy_house.play(message("A"), message("B"), locked("C"))
    at = RECEIVED + timedelta(days=1)
    with holding(lambda: look(at=at)):
        assert Doing(lambda: look(at=at)).done() == 0
    assert look(at=at) == 0
    assert value("SELECT count(*) FROM devices_significantevent") == 1


def test_the_audit_trail_has_one_order(busy_house: House) -> None:
    def record() -> None:
        audit.record(at=AT, actor="sam", action="look", subject="BOS")

    after(record, record).done()
    assert value("SELECT count(*) FROM accounting_auditrecord WHERE action = 'look'") == 2
    assert check_audit_trail() == []
