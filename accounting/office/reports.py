"""The report of acts: what people asked for, who agreed, and what became of it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from accounting.day_queries import began_on
from accounting.office import queries, registry
from accounting.office.rules.approval import STATES
from accounting.reporting.shape import CONTROL, MOMENT, MONEY, Asked, Column, Page, Parameter, Report, Row
from accounting.rules.roles import ACCOUNTING, AUDITOR, CONTROLLER, MANAGER


def _acts(asked: Asked) -> Iterator[Row]:
    titles = {act.name: act.title for act in registry.acts().values()}
    until = began_on(asked.last + timedelta(days=1))
    state = asked.get("state")
    for proposal in queries.proposed_between(began_on(asked.first), until, act=asked.get("act")):
        shown = queries.shown(proposal, asked.at)
        if state is not None and shown["state"] != state:
            continue
        ended, event, evidence = queries.outcome_of(proposal), shown["event"], shown["evidence"]
        approvals = [f"{each['by']} as {each['as']}" for each in shown["approvals"]]
        yield (
            proposal.pk, titles.get(proposal.act, proposal.act), proposal.subject, proposal.amount_cents, proposal.reason,
            (evidence["reference"] or evidence["note"] or evidence["file"]["name"]) if evidence else None, proposal.by,
            proposal.proposed_at, ", ".join(approvals) or None, shown["state"], (ended.by or None) if ended else None,
            ended.at if ended else None, shown["detail"] or shown["code"],
            f"{event['stream']}/{event['sequence']}" if event else None,
        )  # fmt: skip


ACTS: Final = Report(
    code="acts",
    title="Acts",
    purpose="What people asked for, with reason and evidence, who agreed or refused, and the event that it came to",
    group=CONTROL,
    roles=frozenset({ACCOUNTING, CONTROLLER, AUDITOR, MANAGER}),
    parameters=(
        Parameter(name="act", title="Act", options=lambda: list(registry.acts()), words=registry.title),
        Parameter(name="state", title="State", options=lambda: STATES),
    ),
    columns=(
        Column(name="number", title="No.", page=Page("decision", "decisions")),
        Column(name="act", title="Act"),
        Column(name="subject", title="About"),
        Column(name="amount", title="Amount", kind=MONEY),
        Column(name="reason", title="Why"),
        Column(name="evidence", title="Evidence", only_in_files=True),
        Column(name="by", title="Asked by"),
        Column(name="asked_at", title="Asked", kind=MOMENT),
        Column(name="approved_by", title="Agreed by"),
        Column(name="state", title="State"),
        Column(name="ended_by", title="Ended by", only_in_files=True),
        Column(name="ended_at", title="Ended", kind=MOMENT, only_in_files=True),
        Column(name="said", title="What was said"),
        Column(name="event", title="Event", page=Page("event", "accounting")),
    ),
    rows=_acts,
)

REPORTS: Final = (ACTS,)
