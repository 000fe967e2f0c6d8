"""What a slip says of a hit or an envy payout, from the record alone (REQUIREMENTS R76, SPEC §10).

Whoever verifies reads it anew and compares it, so nothing stands here that may become otherwise: a hit is looked at when it
has been approved, and its steps up to there stay as they are.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from accounting.event_queries import acts_about, event_shown
from accounting.rules.acts import ActRefused
from accounting.slips.services.slips import Payable
from jackpot.queries import edition_of, link_and_paytable
from jackpot.rules.hits import APPROVED, CANCELLED, CHECKS, OWED, PAID, REJECTED, UNCLAIMED
from tables.models import Round, TableTerms
from tables.queries.payouts import payout_id
from tables.queries.record import corrections, settlement_at
from tables.rules import books
from tables.rules.payouts import PAY
from tables.rules.precedents import Precedent, envy_lines
from tables.services import past, precedents
from tables.services.messages import MESSAGES

ENVY, HIT = "envy", "hit"
PAYABLE = (APPROVED, OWED, UNCLAIMED, PAID)
"""The states of a hit or an envy payout that a slip may be made in."""

SAID = {"hit.verify": "Hit verified", "hit.approve": "Hit approved"}


def kind_of(subject: str) -> str:
    """Whether a name is an envy payout's or a hit's: only the first has slashes (DECISIONS A63, A64)."""
    return ENVY if "/" in subject else HIT


def standing(subject: str) -> Precedent | None:
    """The round of a hit or envy payout as it stands now; None where there is none of this name."""
    found = past.standing(PAY.name if kind_of(subject) == ENVY else "hit.pay", subject)
    return None if found is None or found.standing(subject) is None else found


def state_of(subject: str) -> str | None:
    """How a hit or envy payout stands; None where there is none of this name."""
    found = standing(subject)
    return None if found is None else found.standing(subject)


def payable(subject: str) -> Payable:
    """What a slip for a hit or envy payout is for. ActRefused: there is none, it comes to nothing, it is not to be paid."""
    act = PAY.name if kind_of(subject) == ENVY else "hit.pay"
    place, found = precedents.place_of(act, subject), standing(subject)
    if place is None or found is None:
        raise ActRefused("unknown_subject", detail=f"there is no hit or envy payout {subject}")
    if found.standing(subject) not in PAYABLE:
        raise ActRefused("wrong_state", detail=f"{subject} is {found.standing(subject)}")
    return read(*place, subject)


def read(stream_id: int, sequence: int, subject: str) -> Payable:
    """What the record says of a payout that stands at a place of its stream. ActRefused where it comes to nothing."""
    settlement: dict[str, Any] = msgspec.json.decode(settlement_at(stream_id, sequence)[0])
    kind = kind_of(subject)
    award, seat, cents = _won(settlement, subject)
    if not cents:
        raise ActRefused("wrong_state", detail=f"{subject} comes to nothing")
    line = _line(settlement, subject, seat["seat"], kind)
    steps = _steps(stream_id, subject) if kind == HIT else []
    checked = {check for step in steps for check in step.pop("checks")}
    message_id, terms_id, gaming_date, counts_at = (
        Round.objects.filter(stream_id=stream_id, sequence=sequence)
        .values_list("message_id", "terms_id", "gaming_date", "counts_at")
        .get()
    )
    message = _message(message_id)
    dealt = next(dealt for dealt in message["seats"] if dealt["seat"] == seat["seat"])
    link = settlement["meters"][0]["link"]
    event = event_shown(stream_id, sequence)
    facts = {
        "id": payout_id(event["stream"], sequence, line),
        "subject": subject,
        "kind": kind,
        "cents": cents,
        "table": settlement["table"],
        "round": settlement["round"],
        "seat": seat["seat"],
        "game": TableTerms.objects.values_list("game", flat=True).get(pk=terms_id),
        "gaming_date": gaming_date.isoformat(),
        "counts_at": counts_at.isoformat(),
        "link": link,
        "paytable": _paytable(link),
        "level": award["level"],
        "hand": award["hand"],
        "cards": dealt.get("cards", []),
        "community": message.get("community", []),
        "wager_cents": next(line["stake_cents"] for line in seat["lines"] if line["wager"] == "progressive"),
        "hit": {
            "name": award["hit"],
            "seat": award["seat"],
            "share_ppm": award["share_ppm"],
            "meter_before_cents": award["meter_before_cents"],
            "meter_after_cents": award["meter_after_cents"],
        },
        "checks": [{"check": check, "done": check in checked} for check in CHECKS] if kind == HIT else [],
        "steps": steps,
        "event": {"stream": event["stream"], "sequence": sequence, "line": line, "hash": event["hash"]},
    }
    return Payable(stream_id, sequence, line, subject, kind, cents, kind == ENVY or checked == set(CHECKS), facts)


def transaction(subject: str) -> dict[str, Any]:
    """The wager that won a payout and all that it won, as things stand: the wagering transaction of tax forms, whole cents.

    What was rejected or cancelled is not part of it; a for-1 pay of the same wager is, though the table paid it at once.
    """
    found = standing(subject)
    act = PAY.name if kind_of(subject) == ENVY else "hit.pay"
    place = precedents.place_of(act, subject)
    assert place is not None and found is not None, "it is payable"
    settlement: dict[str, Any] = msgspec.json.decode(settlement_at(*place)[0])
    _, seat, _ = _won(settlement, subject)
    number = seat["seat"]
    wager = next(line for line in seat["lines"] if line["wager"] == "progressive")
    lines = []
    for hit in found.hits:
        award = next(award for award in settlement["awards"] if award["hit"] == hit.name)
        if award["seat"] == number and hit.paid_cents and hit.state != REJECTED:
            lines.append({"subject": hit.name, "cents": hit.paid_cents})
        lines += [
            {"subject": envy.name, "cents": envy.cents}
            for envy in hit.envy
            if envy.seat == number and envy.state != CANCELLED
        ]
    if wager["win_cents"] and not any(award["seat"] == number for award in settlement["awards"]):
        lines.append({"subject": "progressive", "cents": wager["win_cents"]})
    return {"wager_cents": wager["stake_cents"], "lines": lines}


def signed(payable: Payable) -> list[tuple[str, str, int | None]]:
    """Who took each step of a hit, as which act, and by which proposal."""
    return [(step["act"], step["by"], step["proposal"]) for step in payable.facts["steps"]]


def _won(settlement: Mapping[str, Any], subject: str) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The award that a payout comes from, the seat that gets it, and how many cents."""
    awards = settlement["awards"]
    seats = {seat["seat"]: seat for seat in settlement["seats"]}
    if kind_of(subject) == HIT:
        award = next(award for award in awards if award["hit"] == subject)
        return award, seats[award["seat"]], award["paid_cents"]
    *_, number, from_seat = subject.split("/")
    envy = next(envy for envy in seats[int(number)]["envy"] if envy["from_seat"] == int(from_seat))
    award = next(
        award
        for award in awards
        if (award["order"] == envy["order"] if "order" in envy else award["seat"] == envy["from_seat"])
    )
    return award, seats[int(number)], envy["paid_cents"]


def _line(settlement: Any, subject: str, seat: int, kind: str) -> int:
    """Where a payout stands among those of its round."""
    if kind == ENVY:
        return envy_lines(settlement)[subject]
    posted = books.posting(settlement, base_wagers=frozenset(), contributions=(), link=None).payouts
    return next(line for line, payout in enumerate(posted, 1) if payout.kind == "level" and payout.seat == seat)


def _steps(stream_id: int, hit: str) -> list[dict[str, Any]]:
    """The steps of a hit up to its approval: what, by whom, when, by which proposal, and what was checked."""
    found = []
    for event in acts_about(stream_id, [hit], list(SAID), before=past.ANY_SEQUENCE):
        cause = msgspec.json.decode(event.cause)
        step = {"act": event.kind, "at": event.recorded_at.isoformat(), "proposal": cause.get("proposal")}
        step |= {"what": SAID[event.kind], "by": cause.get("by") or "", "checks": cause["payload"].get("checks", [])}
        found.append(step)
        found += [
            {**step, "act": f"{event.kind} agreed", "what": "Agreed to it", "by": name, "checks": []}
            for name in cause.get("approved_by") or ()
        ]
    return found


def _message(message_id: int) -> dict[str, Any]:
    """The message that a round was decided by: as corrected, where people corrected it, else as posted."""
    corrected = corrections([message_id]).get(message_id)
    if corrected is not None:
        found: dict[str, Any] = msgspec.json.decode(corrected)["payload"]["message"]
        return found
    posted: dict[str, Any] = msgspec.json.decode(MESSAGES.of(message_id).raw)
    return posted


def _paytable(link: str) -> str:
    """The edition that a link pays by."""
    found = link_and_paytable(link)
    return "" if found is None else edition_of(found[1]).code
