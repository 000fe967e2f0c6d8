"""Every total of every report recomputed from the rounds, messages and acts alone (REQUIREMENTS R74-R102)."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest

from accounting.office.registry import acts
from accounting.reporting import registry
from accounting.rules.roles import AUDITOR, MANAGER
from tables.odds import of_edition
from tables.odds.thresholds import Thresholds
from tables.queries.worth import percent
from tests.pages.lived_in import client_of
from tests.pages.reported import (
    Lived,
    hit_of,
    period,
    report,
)
from tests.pages.walking import machine_words
from tests.services.house import LINKED, NEIGHBOUR, TWIN, House, Message, rows, run, value


# ── what they come to, from the record of rounds and acts alone ─────────────────────────────────────────────────
def settlements() -> list[tuple[str, dict[str, Any], bool]]:
    """Every round that counts, as its settlement says; and whether people voided it later."""
    voided = {
        json.loads(bytes(cause))["subject"]
        for (cause,) in rows(
            "SELECT cause FROM accounting_document document JOIN accounting_event event USING (stream_id, sequence)"
            " WHERE event.kind = 'round.void'"
        )
    }
    found = rows("SELECT settlement FROM tables_round ORDER BY stream_id, sequence")
    read = [json.loads(bytes(settlement)) for (settlement,) in found]
    return [(each["table"], each, f"{each['table']}/{each['round']}" in voided) for each in read]


def test_statistics_are_what_the_messages_staked_and_the_settlements_handed_back(reported: Lived) -> None:
    staked: Counter[tuple[str, str]] = Counter()
    paid: Counter[tuple[str, str]] = Counter()
    antes: Counter[tuple[str, str]] = Counter()
    sent = {(each["table"], each["round"]): each for each in reported.posted if each.get("kind") != "lock"}
    streets = ("ante", "third_street", "fourth_street", "fifth_street")
    for table, settled, is_voided in settlements():
        if is_voided or settled["outcome"] != "settled":
            continue
        stands = {entry["seat"]: entry for entry in settled["seats"] if entry["result"] != "void"}
        for asked in sent[table, settled["round"]]["seats"]:
            if asked["seat"] in stands:
                for wager, cents in asked["wagers"].items():
                    name = "base" if wager in streets else wager
                    staked[table, name] += cents
                    antes[table, name] += cents if wager not in streets[1:] else 0
        for entry in stands.values():
            for line in entry["lines"]:
                paid[table, "base" if line["wager"] in streets else line["wager"]] += line["paid_cents"]
            for envy in entry["envy"]:
                paid[table, "envy"] += envy["paid_cents"]
    found = report("statistics")
    by_wager = {(row["table"], row["wager"]): row for row in found["rows"]}
    assert len(by_wager) == len(found["rows"])
    assert {name: row["handle"] for name, row in by_wager.items() if row["handle"]} == dict(staked)
    assert {name: row["paid"] for name, row in by_wager.items() if row["paid"]} == {n: c for n, c in paid.items() if c}
    assert found["totals"]["hold"] == sum(staked.values()) - sum(paid.values())
    for (table, wager), row in by_wager.items():
        if wager in ("base", "three_card_bonus"):
            edge = of_edition(row["edition"]).edge
            assert edge is not None
            assert row["theory"] == round(edge * antes[table, wager])


def test_the_roll_forward_closes_at_the_meters_that_the_last_events_left(reported: Lived) -> None:
    last: dict[str, dict[str, Any]] = {}
    for stream, result in rows(
        "SELECT stream.code, coalesce(round.settlement, lock.result, document.result) FROM accounting_event event"
        " JOIN accounting_stream stream ON stream.id = stream_id"
        " LEFT JOIN tables_round round USING (stream_id, sequence) LEFT JOIN tables_lock lock USING (stream_id, sequence)"
        " LEFT JOIN accounting_document document USING (stream_id, sequence) ORDER BY event.stream_id, event.sequence"
    ):
        for row in json.loads(bytes(result)).get("meters", ()):
            if row["link"] == stream:  # a transfer's event has the meters of both links
                last[f"{row['link']}/{row['level']}"] = row
    assert len(last) == 3
    for by in ("day", "month", "quarter", "year"):
        found = report("roll-forward", by=by)
        final = found["rows"][-1]["period"]
        closing = {
            (row["level"], row["part"]): row["closing"]
            for row in found["rows"]
            if row["period"] == final and row["link"]
        }
        for level, row in last.items():
            for part, key in (("display", "after_cents"), ("reserve", "reserve_cents"), ("overflow", "overflow_cents")):
                assert closing.get((level, part), 0) == row[key], (by, level, part)
        # What was taken off one period's closing is the next one's opening.
        before: dict[tuple[str, str, str], int] = {}
        for row in found["rows"]:
            name = row["link"], row["level"], row["part"]
            assert row["opening"] == before.get(name, 0), (by, row)
            before[name] = row["closing"]
    day, year = report("roll-forward", by="day"), report("roll-forward", by="year")
    assert day["totals"] == year["totals"]
    awards = sum(award["paid_cents"] for _, settled, _ in settlements() for award in settled["awards"])
    envy = sum(
        each["paid_cents"] for _, settled, _ in settlements() for entry in settled["seats"] for each in entry["envy"]
    )
    moved = Counter[str]()
    for row in year["rows"]:
        moved[row["part"]] += row["award"]
    assert moved["display"] == -awards
    assert moved["unpaid"] == awards + envy


def test_jackpots_are_the_awards_of_the_settlements(reported: Lived) -> None:
    expected = [
        (award["hit"], award["level"], award["paid_cents"], award["meter_before_cents"], award["meter_after_cents"])
        for _, settled, _ in settlements()
        for award in settled["awards"]
    ]
    found = report("jackpots")
    shown = [(row["hit"], row["level"], row["award"], row["meter_before"], row["meter_after"]) for row in found["rows"]]
    assert sorted(shown) == sorted(expected)
    assert found["totals"]["award"] == sum(award[2] for award in expected)
    ended = {row["hit"]: row for row in found["rows"]}
    paid = ended[hit_of(NEIGHBOUR, "n-1")]
    assert (paid["state"], paid["verified_by"], paid["approved_by"], paid["ended_by"]) == (
        "paid", "a-supervisor", "a-manager", "a-cage",
    )  # fmt: skip
    assert found["totals"]["paid"] == paid["award"]
    assert (
        found["totals"]["rejected"]
        == sum(ended[name]["award"] for name in ended if ended[name]["state"] == "rejected")
        > 0
    )


def test_what_is_owed_is_what_was_won_and_neither_paid_nor_taken_back(reported: Lived) -> None:
    owed: dict[str, int] = {}
    for table, settled, _ in settlements():
        for award in settled["awards"]:
            owed[award["hit"]] = award["paid_cents"]
        for entry in settled["seats"]:
            for envy in entry["envy"]:
                owed[f"{table}/{settled['round']}/{entry['seat']}/{envy['from_seat']}"] = envy["paid_cents"]
    for (result,) in rows("SELECT result FROM accounting_document"):
        for step in json.loads(bytes(result)).get("steps", ()):
            if step["state"] in ("paid", "rejected", "cancelled", "remitted"):
                owed.pop(step["name"], None)
    found = report("unclaimed")
    assert {row["name"]: row["payable"] + row["unclaimed"] for row in found["rows"]} == {
        n: c for n, c in owed.items() if c
    }
    assert found["totals"]["payable"] == sum(owed.values())
    assert all("agrees with the register" in remark for remark in found["remarks"])


def test_the_daily_report_goes_from_nothing_to_the_readings(reported: Lived) -> None:
    found = report("progressive")
    read = dict(rows("SELECT level, display_cents FROM accounting_reading"))
    assert {row["level"]: row["reading"] for row in found["rows"]} == read
    assert found["totals"]["variance"] == 0
    progressives: Counter[str] = Counter()
    for table, settled, _ in settlements():
        for entry in settled["seats"]:
            for line in entry["lines"]:
                if line["wager"] == "progressive" and line["result"] != "void":
                    progressives["twin" if table == TWIN else "ms-mg01"] += line["stake_cents"]
    for row in found["rows"]:
        assert row["wagered"] == progressives[row["level"].partition("/")[0]], row["level"]
    hits = Counter(
        f"{'twin' if table == TWIN else 'ms-mg01'}/{award['level']}"
        for table, settled, _ in settlements()
        for award in settled["awards"]
    )
    assert {row["level"]: row["hits"] for row in found["rows"] if row["hits"]} == dict(hits)
    assert "000004" in next(row["slips"] for row in found["rows"] if row["level"] == "ms-mg01/major")


def test_the_books_are_the_movements_of_the_record(reported: Lived) -> None:
    """From the documents and settlements: what the ledger moved on the cage, and debits that equal credits."""
    ledger, balance = report("ledger"), report("trial-balance")
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in ledger["rows"]:
        sums[row["debit"]][0] += row["amount"]
        sums[row["credit"]][1] += row["amount"]
    assert {row["code"]: [row["debits"], row["credits"]] for row in balance["rows"]} == dict(sums)
    assert balance["totals"]["debits"] == balance["totals"]["credits"] == ledger["totals"]["amount"]
    wagered = sum(
        line["stake_cents"]
        for _, settled, _ in settlements()
        for entry in settled["seats"]
        for line in entry["lines"]
        if line["result"] != "void"
    )
    assert sum(row["amount"] for row in ledger["rows"] if row["reason"] == "wager") == wagered
    people = {
        row["event"] for row in ledger["rows"] if row["reason"] in ("correction", "transfer", "rejection", "void")
    }
    adjusted = report("adjustments")
    assert {row["event"] for row in adjusted["rows"]} == people
    assert adjusted["totals"]["amount"] == sum(
        row["amount"] for row in ledger["rows"] if row["reason"] in ("correction", "transfer", "rejection", "void")
    )
    correction = next(row for row in adjusted["rows"] if row["reason"] == "correction")
    assert (correction["by"], correction["approved_by"], correction["why"]) == (
        "accounting.one", "controller.one", "looked into",
    )  # fmt: skip


def test_the_slips_register_and_the_tax_pack(reported: Lived) -> None:
    slips = report("slips")
    assert [row["slip"] for row in slips["rows"]] == ["000001", "000002", "000003", "000004"]
    assert [row["state"] for row in slips["rows"]] == ["paid", "void", "paid", "paid"]
    assert slips["remarks"] == ["No number is missing from 000001 to 000004, the last that was given out."]
    (settled,) = [settled for table, settled, _ in settlements() if (table, settled["round"]) == (NEIGHBOUR, "n-1")]
    award = settled["awards"][0]["paid_cents"]
    (envy,) = (each["paid_cents"] for entry in settled["seats"] for each in entry["envy"])
    (first,) = (
        each["paid_cents"]
        for table, settled, _ in settlements()
        if (table, settled["round"]) == (LINKED, "r-1")
        for entry in settled["seats"]
        for each in entry["envy"]
        if (entry["seat"], each["from_seat"]) == (6, 2)
    )
    assert (slips["totals"]["paid"], slips["totals"]["void"], slips["totals"]["issued"]) == (
        first + envy + award,
        envy,
        0,
    )
    tax = report("tax")
    (form,) = tax["rows"]
    assert (form["slip"], form["paid"], form["wager"], form["known"]) == ("000004", award, 100, "NOT YET")
    assert form["winnings"] == award - 100, "the wager is deducted by the terms of the day"
    assert tax["totals"]["withheld"] == slips["totals"]["withheld"] == form["withheld"]
    assert "Forms W-2G: 1" in tax["remarks"][0] and "several share (Form 5754): 0." in tax["remarks"][0]
    run("SET session_replication_role = replica")
    run("UPDATE slips_slip SET number = 20 WHERE number = 2")
    run("UPDATE slips_slipcounter SET last = 21")
    try:
        (gap,) = report("slips")["remarks"]
        assert gap.startswith("MISSING of 000001 to 000021: 000002, 000005–000019, 000021.")
    finally:
        run("UPDATE slips_slip SET number = 2 WHERE number = 20")
        run("UPDATE slips_slipcounter SET last = 4")
        run("SET session_replication_role = origin")


def test_acts_exceptions_and_access_name_who_did_what(reported: Lived) -> None:
    acts = report("acts")
    states = Counter(row["state"] for row in acts["rows"])
    assert states == Counter(dict(rows("""
        SELECT coalesce(outcome.state, 'waiting'), count(*) FROM office_proposal proposal
        LEFT JOIN office_outcome outcome ON outcome.proposal_id = proposal.id GROUP BY 1
    """)))  # fmt: skip
    first = acts["rows"][0]
    assert (first["act"], first["by"], first["approved_by"], first["evidence"], first["amount"]) == (
        "Adjust a level", "accounting.one", "controller.one as controller", "Ticket 4711", 500,
    )  # fmt: skip
    assert {row["act"] for row in report("acts", role=MANAGER, act="slip.void")["rows"]} == {"Void a slip"}

    found = report("exceptions")
    kinds = Counter(row["kind"] for row in found["rows"])
    held = sum(house_settled(each) == "held" for each in reported.posted)
    assert kinds["round held"] >= held > 0
    assert kinds["round booked late"] == 1
    assert kinds["hit rejected"] == 1
    assert kinds["slip void"] == 1
    assert kinds["significant event"] == value("SELECT count(*) FROM devices_significantevent")
    voided = next(row for row in found["rows"] if row["kind"] == "round voided")
    assert (voided["about"], voided["who"]) == (f"{LINKED}/w-1", "tester")
    assert f"round held {kinds['round held']}" in found["remarks"][0]

    access = report("access")
    came_in = Counter(row["who"] for row in access["rows"] if row["what"] == "sign in")
    assert came_in == Counter(dict(rows("SELECT username, count(*) FROM axes_accesslog GROUP BY username")))
    assert came_in["a-auditor"] > 1
    assert any(row["what"].startswith("issue") or "token" in row["what"] for row in access["rows"])
    assert [row["at"] for row in access["rows"]] == sorted(row["at"] for row in access["rows"])
    assert report("access", person="tess")["rows"]


SPENT = """
    SELECT coalesce(sum(CASE WHEN debit.kind = %s THEN amount_cents ELSE -amount_cents END), 0)
    FROM accounting_transfer JOIN accounting_account debit ON debit.id = debit_id
    JOIN accounting_account credit ON credit.id = credit_id WHERE %s IN (debit.kind, credit.kind)
"""


def test_the_games_report_accrues_what_wagers_brought_and_neither_odds_nor_envy(reported: Lived) -> None:
    found = report("games")
    for column, account in (("accrued", "contribution_expense"), ("envy", "envy"), ("paid", "fixed_pays")):
        assert found["totals"][column] == value(SPENT, account, account) > 0, column
    taken: Counter[str] = Counter()
    for row in report("statistics")["rows"]:
        taken[row["table"]] += row["handle"] if row["wager"] != "envy" else 0
    for table, cents in taken.items():
        rows = [row for row in found["rows"] if row["table"] == table]
        assert sum(row["handle"] for row in rows) == cents > 0, table
        assert all(row["win"] == row["handle"] - row["paid"] - row["envy"] - row["accrued"] for row in rows)
    of_twin = [row["accrued"] for row in found["rows"] if row["table"] == TWIN]
    assert report("games", table=TWIN)["totals"]["accrued"] == sum(of_twin) > 0


def test_a_table_that_held_too_little_is_an_exception(reported: Lived, monkeypatch: pytest.MonkeyPatch) -> None:
    assert report("exceptions", kind="hold off its theory")["rows"] == [], "too few wagers to say anything"
    monkeypatch.setattr("devices.exceptions.thresholds_in", lambda jurisdiction, on: Thresholds(100, 40_000, 1, 4, 7))
    found = {row["about"]: row for row in report("exceptions", kind="hold off its theory")["rows"]}
    held: dict[str, int] = defaultdict(int)
    for row in report("statistics")["rows"]:
        if row["wager"] != "envy":
            held[row["table"]] += row["hold"]
    assert LINKED in found, "royals fell there"
    for table, row in found.items():
        deviation, _, words = row["detail"].rpartition(", ")[2].partition(" ")
        assert words == "standard deviations" and abs(Fraction(deviation.replace("−", "-"))) > 1, row["detail"]
        assert (row["amount"] < 0) == (deviation[0] == "−"), row["detail"]
        assert f"held {percent(Fraction(held[table], handle(table)))}" in row["detail"]


def handle(table: str) -> int:
    """What a table took, envy aside."""
    return sum(row["handle"] for row in report("statistics", table=table)["rows"] if row["wager"] != "envy")


def house_settled(sent: Message) -> str:
    """What became of a message at first."""
    return str(House().settlement(sent)["outcome"]) if sent.get("kind") != "lock" else "lock"


def in_words(value: Any) -> str:
    return str(value).replace("_", " ")


def test_what_a_report_is_narrowed_to_is_what_it_has_of_that(reported: Lived) -> None:
    """Every filter of every report that names one of its columns, with every value that it offers."""
    narrowed = set()
    for code, declared in registry.reports().items():
        columns = {column.name for column in declared.columns}
        whole = report(code, role=AUDITOR)["rows"]
        for parameter in declared.parameters:
            if parameter.options is None or parameter.name not in columns or parameter.default:
                continue
            counted = 0
            titles = {name: act.title for name, act in acts().items()} if parameter.name == "act" else {}
            for option in parameter.options():
                said = in_words(titles.get(option, option))
                wanted = [row for row in whole if in_words(row[parameter.name]) == said]
                assert report(code, **{parameter.name: option})["rows"] == wanted, (code, parameter.name, option)
                counted += len(wanted)
            assert counted == len([row for row in whole if row[parameter.name] is not None]), (code, parameter.name)
            narrowed.add((code, parameter.name))
    assert narrowed >= {
        ("acts", "state"),
        ("acts", "act"),
        ("slips", "table"),
        ("jackpots", "state"),
        ("tax", "withholding"),
    }


def test_a_report_s_page_says_nothing_in_the_words_of_machines(reported: Lived) -> None:
    """What may be chosen is among it, and what was chosen."""
    client = client_of(AUDITOR)
    wrong = {}
    for code, declared in registry.reports().items():
        offered: list[tuple[str, str]] = [("", "")]
        for parameter in declared.parameters:
            offered += [(parameter.name, option) for option in (parameter.options or tuple)()]
        for name, option in offered:
            page = client.get(f"/reports/{code}/", period(code) | ({name: option} if name else {}))
            assert page.status_code == 200, (code, name, option)
            if said := machine_words(page):
                wrong[code, option] = said
    assert wrong == {}
