"""A round line by line, how a payout was reached, and finding either by its reference."""

import json
from contextlib import suppress
from typing import Any

import msgspec
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from accounting.event_queries import documents_of, event_shown, transfers_of
from accounting.rules import parameters
from accounting.rules.moments import instant
from accounting.shell.pages import page
from accounting.shell.templatetags.pages import money, share, words
from accounting.slips.queries import slips_at
from devices import queries
from devices.audit import on_the_spot
from devices.queries import RoundShown
from jackpot import hits_on_record
from jackpot import queries as jackpot_queries
from jackpot.rules.hits import envy_name
from tables.addresses import round_address
from tables.queries import ends, floor, locks, payouts, set_up
from tables.queries.set_up import PaytableShown
from tables.rules.differences import changed, side_by_side
from tables.rules.round_acts import unreleasable
from tables.rules.wagers import called
from tables.services import faults

METHODS = {
    "manual_shoe": "manual shoe",
    "automated_shoe": "automated shoe",
    "hand": "dealt by hand",
    "shuffler": "shuffler, then hand",
}


@page("floor")
def round_page(request: HttpRequest, reference: str) -> HttpResponse:
    """One round, wherever it stands: seats and lines, awards, meters, ledger, proof, the message as it came.

    One that is locked and has no result yet shows its lock.
    """
    found = queries.round_at(reference)
    if found is not None:
        return render(request, "rounds/round.html", {"round": _worded(found)})
    lock = locks.lock_at(reference)
    if lock is None:
        raise Http404(f"no round {reference}")
    transfers = transfers_of(lock.stream_id, lock.sequence)
    context = {
        "lock": lock,
        "transfers": transfers,
        "transferred_cents": sum(transfer["amount_cents"] for transfer in transfers),
        "event": queries.with_receipts([event_shown(lock.stream_id, lock.sequence)])[0],
    }
    return render(request, "rounds/locked.html", context)


def _worded(found: RoundShown) -> dict[str, Any]:
    message = found.as_decided
    settlement = msgspec.json.decode(found.settlement) if found.settlement else None
    dealing = message["dealing"]
    lock = locks.lock_of(found.table, found.round)
    from_lock = lock is not None and lock.state != "void" and found.counts_at == lock.counts_at
    shown: dict[str, Any] = {
        "reference": found.round,
        "table": found.table,
        "state": found.state,
        "stream": found.stream,
        "sequence": found.sequence,
        "received_at": found.received_at,
        "dealt_at": message["dealt_at"],
        "counts_at": found.counts_at,
        "lock": lock,
        "from_lock": from_lock,
        "misdated": not from_lock and found.counts_at is not None and found.counts_at != instant(message["dealt_at"]),
        "community": message["community"],
        "dealer": message.get("dealer", []),
        "dealing": _dealing(dealing),
        "device": dealing.get("device"),
        "irregularities": [_irregularity(report) for report in message.get("irregularities", [])],
        "message": json.dumps(found.message, indent=1, ensure_ascii=False),
        "size": len(found.raw),
        "players": settlement["players"] if settlement else dealing.get("players"),
        "reasons": settlement["reasons"] if settlement else [],
        "moved": None,
        "subject": f"{found.table}/{found.round}",
        "decided": _decided(found),
    }
    dealt = {seat["seat"]: seat for seat in message["seats"]}
    if found.sequence is None or found.stream_id is None or settlement is None:
        seats = [_as_reported(dealt[number]) for number in sorted(dealt, reverse=True)]
        held = _held(found, seats) if found.state == "held" else {}
        return shown | {"seats": seats} | held
    seats = [_seat(seat, dealt[seat["seat"]]) for seat in settlement["seats"]]
    ids = floor.payout_ids(found.stream_id, found.stream, found.sequence)
    for seat in seats:
        for line in seat["lines"]:
            line["payout"] = ids.get((seat["seat"], line["wager"], 0))
        for place, envy in enumerate(seat["envy"]):
            envy["payout"] = ids.get((seat["seat"], "envy", place))
    for award in settlement["awards"]:
        award["state"] = hits_on_record.hit_state(award["hit"] or "")
    near = floor.neighbours(found.stream_id, found.sequence)
    transfers = transfers_of(found.stream_id, found.sequence)
    staked, paid = sum(seat["staked_cents"] for seat in seats), sum(seat["paid_cents"] for seat in seats)
    return shown | {
        "seats": seats,
        "awards": settlement["awards"],
        "meters": settlement["meters"],
        "moved": {"staked_cents": staked, "paid_cents": paid, "house_cents": staked - paid},
        "voided": _voided(found.stream_id, found.sequence),
        "transfers": transfers,
        "transferred_cents": sum(transfer["amount_cents"] for transfer in transfers),
        "event": queries.with_receipts([event_shown(found.stream_id, found.sequence)])[0],
        "documents": documents_of(found.stream_id, found.sequence),
        "previous": round_address(*near.previous) if near.previous else None,
        "following": round_address(*near.following) if near.following else None,
    }


def _held(found: RoundShown, seats: list[dict[str, Any]]) -> dict[str, Any]:
    """What is wrong with a held round, each fault at its wager, its seat or the whole round; and what releases it."""
    given = faults.of_held(found.message_id, found.raw, found.received_at)
    for seat in seats:
        of_seat = [fault for fault in given if fault.seat == seat["seat"]]
        missing = {fault.wager for fault in of_seat if fault.wager and fault.wager not in seat["wagers"]}
        seat["lines"] += [{"wager": wager, "stake_cents": None} for wager in sorted(missing)]
        for line in seat["lines"]:
            line["faults"] = [fault for fault in of_seat if fault.wager == line["wager"]]
        seat["faults"] = [fault for fault in of_seat if fault.wager is None]
        seat["at_fault"] = bool(of_seat)
    return {
        "error": floor.held_error(found.message_id),
        "faults": given,
        "whole": [fault for fault in given if fault.seat is None],
        "unreleasable": unreleasable(dict.fromkeys(fault.reason for fault in given)),
    }


def _voided(stream_id: int, sequence: int) -> dict[str, Any] | None:
    """How a settled round was voided afterwards, with what that booked."""
    found = ends.voided(stream_id, sequence)
    if found is None:
        return None
    transfers = transfers_of(stream_id, found["event"])
    documents = documents_of(stream_id, found["event"])
    asked = json.loads(documents["cause"]) if documents else {}
    total_cents = sum(transfer["amount_cents"] for transfer in transfers)
    return found | {"transfers": transfers, "total_cents": total_cents, "proposal": asked.get("proposal")}


def _decided(found: RoundShown) -> dict[str, Any] | None:
    """What people decided of the round, with the posted message beside the corrected one."""
    if found.decided is None:
        return None
    corrected = found.decided["message"]
    return {
        **found.decided,
        "overridden": msgspec.json.decode(found.settlement)["reasons"]
        if found.settlement and found.state == "settled"
        else [],
        "beside": side_by_side(found.message, corrected) if corrected is not None else [],
        "changed": changed(found.message, corrected) if corrected is not None else [],
    }


def _as_reported(seat: dict[str, Any]) -> dict[str, Any]:
    """A seat that has no settlement yet: its cards and stakes as the table reported them."""
    lines = [{"wager": wager, "stake_cents": cents} for wager, cents in seat["wagers"].items()]
    return {**seat, "lines": lines, "staked_cents": sum(seat["wagers"].values())}


def _seat(settled: dict[str, Any], dealt: dict[str, Any]) -> dict[str, Any]:
    won = sum(line["win_cents"] for line in settled["lines"]) + sum(envy["paid_cents"] for envy in settled["envy"])
    return {
        **settled,
        "cards": dealt["cards"],
        "folded": dealt.get("folded"),
        "won_cents": won,
        "won_beside": _beside(settled) if settled["result"] != "win" else None,
    }


def _beside(settled: dict[str, Any]) -> dict[str, Any] | None:
    """What a seat won although its own bets did not: on which wagers, and how much in whole cents."""
    won = {called(line["wager"]): line["win_cents"] for line in settled["lines"] if line["win_cents"]}
    if envied := sum(envy["paid_cents"] for envy in settled["envy"]):
        won["envy"] = envied
    return {"on": ", ".join(won), "cents": sum(won.values())} if won else None


def _dealing(dealing: dict[str, Any]) -> list[str]:
    facts = [METHODS.get(dealing["method"], dealing["method"])]
    if dealing.get("deck"):
        facts.append(f"{dealing['deck']} deck")
    if dealing.get("cards_in_deck") is not None:
        facts.append(f"{dealing['cards_in_deck']} cards counted")
    if dealing.get("mode"):
        facts.append(f"mode {dealing['mode'].replace('_', ' ')}")
    return facts


def _irregularity(report: dict[str, Any]) -> str:
    said = words(report["code"])
    if "seat" in report:
        return f"{said}, seat {report['seat']}"
    return f"{said}, {report['position']}" if "position" in report else said


@page("payouts")
def payout_page(request: HttpRequest, payout_id: str) -> HttpResponse:
    """How one payout was reached, from the cards to the hash; posted to, its event is decided again on the spot."""
    looked = None
    if request.method == "POST" and (key := payouts.parse_id(payout_id)) is not None:
        with suppress(LookupError):  # of no payout: said below
            looked = on_the_spot.look(key[0], key[1])
    found = queries.explanation_of(payout_id)
    if found is None:
        raise Http404(f"no payout {payout_id}")
    payout, paytable, meter = found["payout"], found["paytable"], found["meter"]
    if meter:
        since = meter["since_last_hit"]
        meter["opening_cents"] = meter["before_cents"] - since["contributed_cents"] - since["moved_cents"]
        meter["put_back_cents"] = sum(meter["seed"].values())
        meter["events"] = since["to_sequence"] - since["after_sequence"]
        meter["other_events"] = meter["events"] - since["rounds"]
    players = found["message"]["dealing"].get("players") or len(found["message"]["seats"])
    shown = set_up.paytable_shown(paytable["edition"], "", paytable["definition"]) if paytable else None
    context = {
        "explained": found,
        "payout": payout,
        "address": round_address(payout["table"], payout["round"]),
        "lock": locks.lock_of(payout["table"], payout["round"]) if locks.counted_from_locks([payout["id"]]) else None,
        "total_cents": sum(transfer["amount_cents"] for transfer in found["ledger"]),
        "paytable": shown,
        "envy_subjects": [
            envy_name(payout["table"], payout["round"], payout["seat"], envy["from_seat"])
            for envy in found["envy"] or []
        ],
        "chosen": _row_of(found, shown, players) if shown else None,
        "players": players,
        "slips": slips_at(*place) if (place := payouts.place_of(payout_id)) else [],
        "looked": looked,
    }
    return render(request, "rounds/payout.html", context)


def _row_of(found: dict[str, Any], paytable: PaytableShown, players: int) -> dict[str, Any] | None:
    """The row that paid: of the hand that hit for envy, else the one that the line names.

    Lines of the first rules edition name none: there it is the row whose odds the line was paid at.
    """
    if found["line"] is None:
        return next((row for row in paytable.rows if row["hand"] == found["payout"]["hand"]), None)
    if "row" in found["line"]:
        return next((row for row in paytable.rows if set_up.name_of(row) == found["line"]["row"]), None)
    odds = found["line"]["odds"]
    if paytable.players:
        return next((row for row in paytable.rows if f"{row['by_players'][players - 1]} to 1" == odds), None)
    return next((row for row in paytable.rows if _odds(row) == odds), None)


def _odds(row: dict[str, Any]) -> str:
    """What a paytable row pays, in the words of a settlement's `odds`."""
    if row["pays"] == "share":
        return f"{share(row['share_ppm'])} of {row['level']}"
    if row["pays"] == "sum":
        return money(row["cents"]).removesuffix(".00")
    return f"{row.get('odds')} {row['pays']} 1"


@page("floor")
def find(request: HttpRequest) -> HttpResponse:
    """A round, payout, hit, table or link by its reference: straight to it when there is one, else what there is.

    What is called exactly so comes first; only where nothing is, what is meant: another case, a link's name, the last
    digits of a round, alone or after its table.
    """
    asked = (parameters.read(request.GET.lists(), ("q",)).text("q") or "").strip()
    matches = _exactly(asked) or _about(asked) if asked else []
    if len(matches) == 1:
        return redirect(matches[0]["address"])
    return render(request, "rounds/find.html", {"query": asked, "matches": matches, "most": ROUNDS_FOUND})


ROUNDS_FOUND = 20


def _exactly(asked: str) -> list[dict[str, str]]:
    found = []
    if (hit := hits_on_record.hit_by_reference(asked)) is not None:
        found.append(("hit", f"{asked}: {hit.round}", reverse("hit-page", args=[hit.reference])))
    if payouts.by_id(asked) is not None:
        found.append(("payout", asked, reverse("payout-page", args=[asked])))
    named = set(queries.rounds_named(asked))
    if (at := queries.round_at(asked)) is not None:
        named.add((at.table, at.round))
    found += [("round", f"{table} {reference}", round_address(table, reference)) for table, reference in sorted(named)]
    if jackpot_queries.link_key(asked) is not None:
        found.append(("link", asked, reverse("jackpot", args=[asked])))
    if floor.table_exists(asked):
        found.append(("table", asked, reverse("table-page", args=[asked])))
    return [{"kind": kind, "name": name, "address": address} for kind, name, address in found]


def _about(asked: str) -> list[dict[str, str]]:
    for other in dict.fromkeys((asked.upper(), asked.lower())):
        if other != asked and (found := _exactly(other)):
            return found
    tables = list(set_up.table_ids())
    links = [(link["code"], link["name"]) for link in jackpot_queries.link_states()]
    meant = asked.casefold()
    matches = [
        {"kind": "table", "name": code, "address": reverse("table-page", args=[code])}
        for code in tables
        if meant in code.casefold()
    ]
    matches += [
        {"kind": "link", "name": f"{name} ({code})", "address": reverse("jackpot", args=[code])}
        for code, name in links
        if meant in code.casefold() or meant in name.casefold()
    ]
    # `MS-101 17`, `101/17` or the last digits alone.
    table, _, ending = asked.replace("/", " ").rpartition(" ")
    at = [code for code in tables if table.casefold().strip() in code.casefold()]
    if ending and at:
        matches += [
            {"kind": "round", "name": f"{code} {reference}", "address": round_address(code, reference)}
            for code, reference in floor.rounds_ending(ending, tables=at, limit=ROUNDS_FOUND)
        ]
    return matches
