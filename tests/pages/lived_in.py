"""A house in which people work: every state of a round, of a proposal and of a job, for pages that must show them all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from accounting.office.models import Job
from accounting.office.services import proposals, results
from accounting.people.services import accounts, filters, tokens
from accounting.people.services.acting import Actor
from accounting.rules.roles import (
    ACCOUNTING,
    ADMINISTRATOR,
    AUDITOR,
    CAGE,
    CONTROLLER,
    MANAGER,
    ROLES,
    SECURITY,
    SUPERVISOR,
)
from accounting.services import audit
from devices.intake import deals, significant
from devices.intake.significant import Noted
from tests.pages.conftest import person
from tests.pages.walking import pages_of
from tests.services.desk import ANYBODY
from tests.services.house import LINKED, House, message, royal, run, seat, two_hits

LONG = "MS-101-20261127T211405-000001"
MISDATED = "2099-12-31T23:59:59-05:00"


def worker(role: str) -> User:
    """Somebody who has this role alone: `a-supervisor`."""
    return User.objects.filter(username=f"a-{role}").first() or person(f"a-{role}", role)


def client_of(role: str) -> Client:
    """A browser in which somebody of this role is signed in."""
    client = Client()
    client.force_login(worker(role), backend="django.contrib.auth.backends.ModelBackend")
    return client


def furnish(house: House) -> None:
    """Play rounds of every outcome, and have people ask for things, agree to them, and start long work."""
    for role in ROLES:
        worker(role)
    run("INSERT INTO accounting_gamingday (date, closed_at) VALUES ('2026-11-26', now())")
    house.play(
        two_hits(LONG),
        two_hits("r-1"),
        message("r-2", seat(2, "Jc Js", 1, 1, 3, progressive=100, three_card_bonus=500)),
        message("dated", dealt_at=MISDATED),
        message("caf\u00e9 1"),
        message("void", irregularities=[{"code": "card_exposed_early"}]),
        message("held", community="2c 2c Kd"),
        message("miscounted", dealing={"method": "shuffler", "mode": "cover_all", "players": 2}),
        message("late", dealing={"method": "shuffler", "mode": "cover_all", "players": 2}),
        royal("t-1", table="TW-201"),
        message("v-1", seat(1, "Ks Kc"), table="VIP-7"),
        royal("again"),
    )
    now = datetime.now(UTC)
    deals.look(at=now)
    significant.record([(Noted("reference_reused", f"demo-{LINKED}", LINKED, "r-1"), 17)])
    _proposals(now)
    _people(now)
    _jobs(now)
    audit.record(at=now, actor="the service", action="software", subject="0123456789abcdef" * 4, detail={"files": 700})


def _proposals(now: datetime) -> None:
    """One in every state, and of every app."""
    ticket = {"reference": "Ticket 4711", "note": "two\nlines"}

    def asked(role: str, act: str, subject: str, payload: dict[str, Any] | None = None, **more: Any) -> int:
        body = {"act": act, "subject": subject, "payload": payload or {}, "reason": "looked into"} | more
        return proposals.propose(body, by=ANYBODY[role], at=now).pk

    adjustment = {"part": "display", "cents": 500, "reason": "correction"}
    done = asked(ACCOUNTING, "level.adjust", "ms-mg01/major", adjustment, evidence=ticket)
    proposals.approve(done, by=ANYBODY[CONTROLLER], at=now, note="the ticket is there")
    boost = {"part": "display", "cents": 1_234_500, "reason": "boost"}
    why = "a promotion that many words explain"
    asked(ACCOUNTING, "level.adjust", "ms-mg01/major", boost, evidence=ticket, reason=why)
    refused = asked(ADMINISTRATOR, "table.terms", "MS-102", {"minimum_cents": 2_500})
    proposals.refuse(refused, by=ANYBODY[MANAGER], at=now, note="not on a Friday")
    withdrawn = asked(ADMINISTRATOR, "table.terms", "MS-102", {"maximum_cents": 90_000})
    proposals.withdraw(withdrawn, by=ANYBODY[ADMINISTRATOR], at=now)
    agreed = asked(ADMINISTRATOR, "table.terms", "MS-102", {"minimum_cents": 1_500})
    proposals.approve(agreed, by=ANYBODY[MANAGER], at=now)
    asked(SUPERVISOR, "round.void", f"{LINKED}/held")
    released = asked(SUPERVISOR, "round.release", f"{LINKED}/late")
    proposals.approve(released, by=ANYBODY[MANAGER], at=now)
    asked(SUPERVISOR, "table.close", "MS-102")
    asked(CAGE, "payout.pay", f"{LINKED}/r-1/6/2", {"method": "cage"})
    asked(MANAGER, "link.suspend", "twin")


def _people(now: datetime) -> None:
    """Invited, suspended, with a token."""
    security = Actor(f"a-{SECURITY}")
    accounts.invite("tess", ["cage"], full_name="Tess Harding", secret="a link", by=security, at=now)
    accounts.invite("gone", [SUPERVISOR, MANAGER], secret="another link", by=security, at=now)
    accounts.suspend("gone", by=security, at=now)
    kept = {
        "at night": "kind=level&min=1000&sort=largest",
        "A search with a name of no fewer than forty letters": "seat=1",
    }
    for name, query in kept.items():
        filters.save(worker(AUDITOR), "payouts", name, query, shared_with=AUDITOR, roles=[AUDITOR], at=now)
    for role in ROLES:
        tokens.issue(f"a-{role}", secret=f"of {role}", purpose="nightly report", by=Actor(f"a-{role}"), at=now)


def _jobs(now: datetime) -> None:
    """Done, broken off and under way."""
    began = now - timedelta(minutes=5)
    counts = {"events": 1_000, "transfers": 12_345}
    asked = {"report": "slips", "form": "csv", "by": "a-auditor", "at": now.isoformat(), "given": {}}
    made = Job.objects.create(
        kind="report", by="a-auditor", asked=asked, asked_at=began, started_at=began, finished_at=now, state="done", ok=True,
        detail="Slips register, 0 rows as CSV", result={"ok": True, "summary": "Slips register"},
    )  # fmt: skip
    results.keep(made.pk, "slips.csv", "text/csv", iter([b"made"]))
    for state, more in {
        "done": {"finished_at": now, "result": {"ok": True, "summary": "no difference", "counts": counts}},
        "failed": {"finished_at": now, "detail": "the database went away"},
        "running": {"beat_at": now, "done": 250, "total": 1_000},
    }.items():
        Job.objects.create(kind="verify", by="a-auditor", asked_at=began, started_at=began, state=state, **more)
    packed: dict[str, Any] = {"ok": True, "summary": "events 0 to 2 of stream twin", "events": 3}
    job = Job.objects.create(
        kind="pack", by="a-auditor", asked_at=began, started_at=began, finished_at=now, state="done", result=packed,
        detail=packed["summary"],
    )  # fmt: skip
    results.keep(job.pk, "twin-0-2.zip", "application/zip", iter([b"no pack, but a file"]))


def pages_of_everybody() -> list[tuple[str, str]]:
    """One page of every kind that somebody comes to, with the role as which it is looked at."""
    found: dict[str, tuple[str, str]] = {}
    for role in (AUDITOR, SUPERVISOR, ADMINISTRATOR, SECURITY):
        for kind, addresses in pages_of(client_of(role), role).kinds.items():
            found.setdefault(kind, (role, addresses[0]))
    return list(found.values())
