"""The queue of hits on their way to be paid, and one hit: its steps, whose turn it is, and why it was first."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounting.event_queries import acts_about
from accounting.office import registry
from accounting.office.queries import tiers_in_force
from accounting.rules import parameters
from accounting.rules.roles import ROLES, in_order
from accounting.shell.pages import page, roles_of
from accounting.shell.templatetags.pages import money
from accounting.slips.queries import slip_of
from accounting.slips.rules.winners import TAKES_DOWN
from jackpot import hit_queries
from jackpot.rules.hits import OVER
from tables.queries.ends import envy_owed
from tables.queries.payouts import payout_id
from tables.rules.house import VOID
from tables.rules.precedents import OF_THE_PAST, Precedent, step_of
from tables.services import past

NEXT = {"detected": "hit.verify", "verified": "hit.approve", "approved": "hit.pay", "unclaimed": "hit.pay"}
"""The act that takes a hit on from each state."""
LAST_SHOWN = 25


@page("hits")
def queue(request: HttpRequest) -> HttpResponse:
    """Hits that have not ended, the oldest first, and envy that is owed; then the last that are over."""
    given = parameters.read(request.GET.lists(), ("turn",))
    mine = given.choice("turn", ("mine",)) == "mine"
    now, roles = timezone.now(), roles_of(request)
    found, count = hit_queries.pending()
    turns = _turns()
    waiting = [_waiting(hit, turns, roles, now) for hit in found]
    pays = not roles.isdisjoint(turns["payout.pay"]["asks"])
    context = {
        "pay_envy": turns["payout.pay"] if pays else None,
        "waiting": [hit for hit in waiting if hit["mine"] or not mine],
        "count": count,
        "shown": len(found),
        "mine": mine,
        "mine_count": sum(hit["mine"] for hit in waiting),
        "cents": sum(hit["paid_cents"] for hit in found),
        "envy": _owed(now) if pays or not mine else [],
        "over": [hit for state in OVER for hit in hit_queries.page({"state": state}, limit=LAST_SHOWN).items],
    }
    context["over"].sort(key=lambda hit: hit["steps"][-1]["at"], reverse=True)
    return render(request, "hits/queue.html", context)


def _owed(now: datetime) -> list[dict[str, Any]]:
    return [
        envy | {"id": payout_id(envy["stream"], envy["sequence"], envy["line"]), "age": _age(envy["recorded_at"], now)}
        for envy in envy_owed()
    ]


def _age(since: datetime, now: datetime) -> int:
    """Seconds since a moment, in whole ones."""
    return max(0, int((now - since).total_seconds()))


def _turns() -> dict[str, dict[str, Any]]:
    """Of each act that takes a hit on: what it is called, who asks for it, and who must agree from which amount."""
    acts, tiers = registry.acts(), tiers_in_force()
    return {
        name: {"act": name, "title": acts[name].title, "asks": in_order(acts[name].proposes), "tiers": tiers[name]}
        for name in (*NEXT.values(), "hit.reject", "payout.pay")
    }


def _waiting(
    hit: dict[str, Any], turns: Mapping[str, dict[str, Any]], roles: Iterable[str], now: datetime
) -> dict[str, Any]:
    turn = turns[NEXT[hit["state"]]]
    agrees = [tier for tier in turn["tiers"] if tier["count"] and tier["from_cents"] <= hit["paid_cents"]]
    return hit | {
        "turn": turn,
        "who": _who(turn["act"], turn["asks"]),
        "agree": ", ".join(_more(tier) for tier in agrees),
        "age": _age(hit["detected_at"], now),
        "since": hit["steps"][-1]["at"],
        "mine": not frozenset(roles).isdisjoint(turn["asks"]),
    }


def _who(act: str, asks: Iterable[str]) -> str:
    """Who may take the step, in words."""
    named = [ROLES[role] for role in asks]
    if act in ("hit.pay", "payout.pay"):
        pit = " or ".join(ROLES[role] for role in asks if role != "cage")
        return f"cage, or at the table {pit}"
    return " or ".join(named)


def _more(tier: Mapping[str, Any]) -> str:
    count = tier["count"]
    said = f"{count} more {ROLES[tier['role']]}" if count == 1 else f"{count} more {ROLES[tier['role']]}s"
    return f"{said} from {money(tier['from_cents'])}" if tier["from_cents"] else said


@page("hits")
def hit(request: HttpRequest, name: str) -> HttpResponse:
    """One hit: what was won, its steps with who took them, the next, the envy that it earned, and its place in the order."""
    found = hit_queries.hit_named(name)
    if found is None:
        raise Http404(f"no hit {name}")
    if found["hit"] != name:
        return redirect("hit-page", found["hit"])
    now, turns = timezone.now(), _turns()
    precedent = past.standing("hit.verify", name)
    assert precedent is not None, "a hit's round is on record"
    stream_id = past.stream_id_of(name)
    events = acts_about(stream_id, precedent.subjects(), sorted(OF_THE_PAST), before=past.ANY_SEQUENCE)
    context = {
        "hit": found,
        "order": hit_queries.order_of(name),
        "sequence": precedent.sequence,
        "round_is_void": precedent.round.outcome == VOID,
        "round_subject": "/".join(precedent.key),
        "envy": _envy(precedent, name),
        "slip": slip_of(name),
        "takes_down": not TAKES_DOWN.isdisjoint(roles_of(request)),
        "next": _waiting(found, turns, roles_of(request), now) if found["state"] in NEXT else None,
        "reject": _who("hit.reject", turns["hit.reject"]["asks"]),
        "reject_agree": ", ".join(_more(tier) for tier in turns["hit.reject"]["tiers"] if tier["count"]),
        "events": [_event(event) for event in events],
    }
    return render(request, "hits/hit.html", context)


def _envy(precedent: Precedent, name: str) -> list[dict[str, Any]]:
    """The envy that a hit earned its neighbours, each with the name that it is paid by and its line."""
    return [
        {"subject": envy.name, "seat": envy.seat, "cents": envy.cents, "state": envy.state,
         "id": payout_id(envy.link, precedent.sequence, precedent.lines[envy.name])}
        for hit in precedent.hits if hit.name == name
        for envy in hit.envy
    ]  # fmt: skip


def _event(event: Any) -> dict[str, Any]:
    """An act about the hit, its envy or its round, with what it booked."""
    cause, result = msgspec.json.decode(event.cause), msgspec.json.decode(event.result)
    by, note = step_of(cause)
    return {
        "sequence": event.sequence, "kind": event.kind, "subject": cause["subject"], "at": event.recorded_at,
        "by": by, "note": note, "proposal": cause.get("proposal"), "transfers": result.get("transfers", []),
    }  # fmt: skip
