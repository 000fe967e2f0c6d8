"""The payout history: filters, pages by key to the last one, CSV, and how a number was reached (CONTRACT §5, SPEC §10)."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest

from tests.api.conftest import Api, now_dealt, reference
from tests.services.auditor import winnings
from tests.services.house import ALONE, LINKED, TWIN, Message, message, rows, royal, seat, two_hits, value

KEYS = ["id", "round", "table", "link", "level", "seat", "hand", "kind", "cents", "state", "slip", "dealt_at"]  # fmt: skip
MORE = ["counts_at", "gaming_date"]  # in JSON and CSV
IN_CSV = ["dollars", "counts_at_local"]


def pages(api: Api, limit: int, **filters: Any) -> Iterator[list[Message]]:
    """Every page of a list, to the last."""
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = api.found("payouts", limit=limit, **filters | ({"cursor": cursor} if cursor else {}))
        assert set(page) == {"items", "next"}
        yield page["items"]
        cursor = page["next"]
        if cursor is None:
            return
        assert cursor not in seen, "the same page again"
        seen.add(cursor)


def all_of(api: Api, **filters: Any) -> list[Message]:
    """Every payout that matches."""
    return [item for page in pages(api, 1_000, **filters) for item in page]


@pytest.fixture(scope="module")
def record() -> dict[str, Message]:
    """Rounds of this module with a payout of every kind, by name; played once by `played`."""
    at = datetime.now(UTC) - timedelta(hours=30)
    return {
        "royal": royal(reference(), dealt_at=(at + timedelta(hours=1)).isoformat()),
        "twin": two_hits(reference(), table=TWIN, dealt_at=(at + timedelta(hours=2)).isoformat()),
        "quads": message(
            reference(), seat(1, "3s 3d", progressive=500), seat(2, "4s 5d", progressive=500), table=TWIN,
            community="3c 3h 9d", dealt_at=(at + timedelta(hours=3)).isoformat(),
        ),
        "bonus": message(
            reference(), seat(1, "2s 7d", three_card_bonus=700, cover_all=300, progressive=100),
            seat(2, "Kd Kh", three_card_bonus=500, cover_all=100, progressive=100),
            community="Ks Kc 4d", dealt_at=(at + timedelta(hours=4)).isoformat(),
        ),
        "alone": message(
            reference("a/b"), seat(1, "Ks Kc"), seat(2, "6s 6d"), table=ALONE,
            dealt_at=(at + timedelta(hours=5)).isoformat(),
        ),
    }  # fmt: skip


@pytest.fixture
def played(api: Api, record: dict[str, Message]) -> dict[str, Message]:
    """What those rounds came to."""
    if not rows("SELECT FROM devices_message WHERE reference = %s", record["royal"]["round"]):
        api.play(*record.values())
    return {name: api.shown(sent) for name, sent in record.items()}


def of(api: Api, shown: Message, **filters: Any) -> list[Message]:
    """The payouts of one round."""
    found = all_of(api, table=shown["table"], **filters)
    return [payout for payout in found if payout["round"] == shown["round"]]


def test_a_round_s_payouts_are_its_winnings_cent_by_cent(api: Api, played: dict[str, Message]) -> None:
    for shown in played.values():
        found = of(api, shown)
        assert sorted((payout["seat"], payout["hand"] or "", payout["cents"]) for payout in found) == sorted(
            winnings(shown["settlement"])
        )
        for payout in found:
            assert list(payout) == KEYS + MORE
            assert (payout["slip"], payout["table"]) == (None, shown["table"])
            assert datetime.fromisoformat(payout["dealt_at"]) == datetime.fromisoformat(shown["message"]["dealt_at"])


def test_kinds_and_levels(api: Api, played: dict[str, Message]) -> None:
    def kinds(name: str) -> set[tuple[int, str, str | None, str | None, str]]:
        return {
            (payout["seat"], payout["kind"], payout["link"], payout["level"], payout["state"])
            for payout in of(api, played[name])
        }

    assert kinds("royal") == {
        (3, "base", None, None, "paid"), (3, "level", "ms-mg01", "major", "detected"),
        (1, "envy", None, None, "owed"),
    }  # fmt: skip
    assert kinds("twin") == {
        (6, "base", None, None, "paid"), (2, "base", None, None, "paid"),
        (6, "level", "twin", "grand", "detected"), (2, "level", "twin", "grand", "detected"),
        (2, "envy", None, None, "owed"), (4, "envy", None, None, "owed"), (6, "envy", None, None, "owed"),
    }  # fmt: skip
    assert kinds("quads") == {
        (1, "base", None, None, "paid"), (1, "level", "twin", "minor", "detected"), (2, "envy", None, None, "owed"),
    }  # fmt: skip
    assert kinds("bonus") == {
        (1, "bonus", None, None, "paid"), (2, "bonus", None, None, "paid"), (1, "cover_all", None, None, "paid"),
        (2, "cover_all", None, None, "paid"), (1, "base", None, None, "paid"), (2, "base", None, None, "paid"),
        (2, "progressive", None, None, "paid"),
    }  # fmt: skip
    # Three kings pay, a pair of sixes is a push: a returned stake is no payout.
    assert kinds("alone") == {(1, "base", None, None, "paid")}


Match = Callable[[Message], bool]


def filters(played: dict[str, Message]) -> list[tuple[dict[str, Any], Match]]:
    """Parameters, and what a payout must be to match them."""
    dealt = played["quads"]["message"]["dealt_at"]
    at = datetime.fromisoformat(dealt)
    return [
        ({"table": TWIN}, lambda p: p["table"] == TWIN),
        ({"link": "twin"}, lambda p: p["link"] == "twin"),
        ({"level": "minor"}, lambda p: p["level"] == "minor"),
        ({"hand": "royal_flush"}, lambda p: p["hand"] == "royal_flush"),
        ({"kind": "base"}, lambda p: p["kind"] == "base"),
        ({"kind": "bonus"}, lambda p: p["kind"] == "bonus"),
        ({"kind": "cover_all"}, lambda p: p["kind"] == "cover_all"),
        ({"kind": "progressive"}, lambda p: p["kind"] == "progressive"),
        ({"kind": "level"}, lambda p: p["kind"] == "level"),
        ({"kind": "envy"}, lambda p: p["kind"] == "envy"),
        ({"seat": 2}, lambda p: p["seat"] == 2),
        ({"min_cents": 100_000}, lambda p: p["cents"] >= 100_000),
        ({"max_cents": 100_000}, lambda p: p["cents"] <= 100_000),
        ({"min_cents": 100_000, "max_cents": 100_000}, lambda p: p["cents"] == 100_000),
        ({"state": "paid"}, lambda p: p["state"] == "paid"),
        ({"state": "detected"}, lambda p: p["state"] == "detected"),
        ({"state": "owed"}, lambda p: p["state"] == "owed"),
        ({"state": "rejected"}, lambda p: False),
        ({"slip": "1"}, lambda p: False),
        ({"from": dealt}, lambda p: datetime.fromisoformat(p["dealt_at"]) >= at),
        ({"to": dealt}, lambda p: datetime.fromisoformat(p["dealt_at"]) <= at),
        ({"from": dealt, "to": dealt}, lambda p: datetime.fromisoformat(p["dealt_at"]) == at),
        ({"table": TWIN, "kind": "envy", "seat": 4}, lambda p: (p["table"], p["kind"], p["seat"]) == (TWIN, "envy", 4)),
    ]  # fmt: skip


def test_every_filter_finds_what_matches_and_nothing_else(api: Api, played: dict[str, Message]) -> None:
    everything = all_of(api)
    for parameters, match in filters(played):
        expected = [payout for payout in everything if match(payout)]
        assert all_of(api, **parameters) == expected, parameters
        assert expected or parameters.get("state") == "rejected" or "slip" in parameters, (
            f"nothing to find by {parameters}"
        )


def test_the_list_is_newest_first_and_holds_every_payout(api: Api, played: dict[str, Message]) -> None:
    everything = all_of(api)
    times = [datetime.fromisoformat(payout["dealt_at"]) for payout in everything]
    assert times == sorted(times, reverse=True)
    assert (
        len(everything) == len({payout["id"] for payout in everything}) == value("SELECT count(*) FROM tables_payout")
    )


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_pages_by_key_reach_the_last_without_overlap_or_gap(limit: int, api: Api, played: dict[str, Message]) -> None:
    """Also where many payouts are of one instant, as those of one round are; and while new rounds are settled."""
    everything = all_of(api)
    found: list[Message] = []
    for number, page in enumerate(pages(api, limit)):
        assert 0 < len(page) <= limit
        found += page
        if number == 3:
            api.play(royal(reference(), dealt_at=now_dealt()))  # newer than what is still to come: not on a later page
    assert found == everything


def test_a_page_that_ends_with_the_last_payout_is_the_last(api: Api, played: dict[str, Message]) -> None:
    many = len(all_of(api, table=ALONE))
    page = api.found("payouts", table=ALONE, limit=many)
    assert (len(page["items"]), page["next"]) == (many, None)
    assert api.found("payouts", table="MS-999") == {"items": [], "next": None}


@pytest.mark.parametrize("accept", ["text/csv", "text/csv, */*;q=0.1"])
def test_csv_streams_all_that_match_under_one_header(accept: str, api: Api, played: dict[str, Message]) -> None:
    expected = all_of(api, table=TWIN)
    answer = api.client.get(
        "/api/v1/payouts", params={"table": TWIN, "limit": 1}, headers=api.key() | {"Accept": accept}
    )
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    header, *lines = csv.reader(StringIO(answer.text, newline=""))
    assert header == KEYS + MORE + IN_CSV
    assert [line[:14] for line in lines] == [
        ["" if row[key] is None else str(row[key]) for key in KEYS + MORE] for row in expected
    ]
    for row, line in zip(expected, lines, strict=True):
        assert line[14] == f"{row['cents'] / 100:.2f}"
        local = datetime.fromisoformat(row["counts_at"]).astimezone(ZoneInfo("America/New_York"))
        assert line[15] == local.strftime("%Y-%m-%d %H:%M:%S %Z")


def test_csv_quotes_what_csv_must(api: Api) -> None:
    odd = reference('a,"b"\nc;=1+1')
    api.play(message(odd, seat(1, "Ks Kc"), table=ALONE, dealt_at=now_dealt()))
    answer = api.client.get("/api/v1/payouts", params={"table": ALONE}, headers=api.key() | {"Accept": "text/csv"})
    found = [line[1] for line in csv.reader(StringIO(answer.text, newline=""))]
    assert odd in found


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_csv_has_no_text_that_a_spreadsheet_would_run(start: str, api: Api) -> None:
    odd = reference(f"{start}cmd|'/C calc'!A0")
    api.play(message(odd, seat(1, "Ks Kc"), table=ALONE, dealt_at=now_dealt()))
    answer = api.client.get("/api/v1/payouts", params={"table": ALONE}, headers=api.key() | {"Accept": "text/csv"})
    cells = [cell for line in csv.reader(StringIO(answer.text, newline="")) for cell in line]
    assert f"'{odd}" in cells
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


@pytest.mark.parametrize(
    "empty", ["table", "link", "level", "hand", "kind", "seat", "min_cents", "from", "to", "state", "cursor", "slip"]
)
def test_an_empty_filter_is_as_if_not_given_in_json_and_csv_alike(
    empty: str, api: Api, played: dict[str, Message]
) -> None:
    expected = [payout["id"] for payout in all_of(api, table=TWIN)]
    assert [payout["id"] for payout in all_of(api, table=TWIN, **{empty: ""} if empty != "table" else {})] == expected
    answer = api.client.get(f"/api/v1/payouts?{empty}=", headers=api.key() | {"Accept": "text/csv"})
    lines = list(csv.reader(StringIO(answer.text, newline="")))[1:]
    assert [line[0] for line in lines] == [payout["id"] for payout in all_of(api, **{empty: ""})]
    assert set(expected) <= {line[0] for line in lines}


def test_payouts_come_oldest_or_largest_first_page_by_page(api: Api, played: dict[str, Message]) -> None:
    newest = all_of(api)
    for sort, expected in (
        ("newest", newest),
        ("oldest", newest[::-1]),
        ("largest", sorted(newest, key=lambda payout: -payout["cents"])),
    ):
        assert [payout for page in pages(api, 7, sort=sort) for payout in page] == expected, sort


def test_a_cursor_of_another_order_is_refused(api: Api, played: dict[str, Message]) -> None:
    cursor = api.found("payouts", limit=1, sort="largest")["next"]
    answer = api.client.get("/api/v1/payouts", params={"cursor": cursor}, headers=api.key())
    assert (answer.status_code, answer.json()["pointer"]) == (400, "/cursor")


BAD = [
    ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"), ("seat=x", "seat"), ("seat=-1", "seat"),
    ("min_cents=1.5", "min_cents"), ("min_cents=99999999999999999999", "min_cents"), ("max_cents=1_000", "max_cents"),
    ("kind=gift", "kind"), ("state=lost", "state"), ("from=yesterday", "from"), ("to=2026-13-01", "to"),
    ("from=2026-11-27T10:00:00", "from"), ("to=9999-12-31", "to"), ("from=0001-01-01", "from"), ("cursor=x", "cursor"),
    ("cursor=W10", "cursor"), ("colour=red", "colour"), ("cursor=WyJ4IiwxLDIsM10", "cursor"),
    ("min_cents=%2B5", "min_cents"), ("min_cents=%D9%A3", "min_cents"), ("seat=01", "seat"), ("from=2026-W48-6", "from"),
    ("to=20261127", "to"), ("from=2026-11-27 10:00:00Z", "from"), ("table=MS-101&table=MS-102", "table"),
    ("limit=1&limit=2", "limit"), ("sort=odd", "sort"), ("seat=40000", "seat"), ("limit=" + "9" * 5000, "limit"),
    ("cursor=" + "A" * 5000, "cursor"), ("from=0001-01-01T00:00:00Z", "from"), ("to=9999-12-31T23:59:59-05:00", "to"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "name"), BAD, ids=[each[0] for each in BAD])
@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
def test_a_filter_that_cannot_be_read_is_400_naming_it(query: str, name: str, accept: str, api: Api) -> None:
    answer = api.client.get(f"/api/v1/payouts?{query}", headers=api.key() | {"Accept": accept})
    if query in ("to=9999-12-31", "from=0001-01-01") and answer.status_code == 200:
        return  # a day at the end of the calendar may as well be understood
    assert answer.status_code == 400, answer.text[:300]
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.json()["code"], answer.json()["pointer"]) == ("invalid_value", f"/{name}")


def test_a_date_is_a_gaming_day_of_the_house(api: Api) -> None:
    """From 06:00 in New York to 06:00: a round of 05:59 is still the day before."""
    day = (datetime.now(UTC) - timedelta(days=4)).astimezone(UTC).date()
    local = datetime(day.year, day.month, day.day, 6, tzinfo=ZoneInfo("America/New_York"))
    before, after = (at.isoformat() for at in (local - timedelta(milliseconds=1), local))
    early, late = (message(reference(), seat(1, "Ks Kc"), table=ALONE, dealt_at=at) for at in (before, after))
    api.play(early, late)

    def days(**parameters: Any) -> set[str]:
        return {payout["round"] for payout in all_of(api, table=ALONE, **parameters)} & {early["round"], late["round"]}

    yesterday = day - timedelta(days=1)
    assert days(**{"from": day.isoformat()}) == {late["round"]}
    assert days(to=yesterday.isoformat()) == {early["round"]}
    assert days(**{"from": yesterday.isoformat(), "to": day.isoformat()}) == {early["round"], late["round"]}


# ── how the number was reached ──────────────────────────────────────────────────────────────────────────────────
def explained(api: Api, shown: Message, seat_number: int, kind: str, **more: Any) -> Message:
    """The explanation of one payout of a round."""
    (payout,) = (
        each
        for each in of(api, shown)
        if (each["seat"], each["kind"]) == (seat_number, kind)
        and all(each[key] == value for key, value in more.items())
    )
    found: Message = api.found(f"payouts/{quote(payout['id'], safe='')}/explanation")
    assert found["payout"] == payout
    assert found["message"] == shown["message"]
    assert found["proof"]["sequence"] == shown["sequence"]
    assert found["proof"]["subject"] == f"{shown['table']}/{shown['round']}"
    dealt = next(each for each in shown["message"]["seats"] if each["seat"] == seat_number)
    assert found["cards"] == {
        "own": dealt["cards"], "community": shown["message"]["community"], "dealer": [], "folded": dealt.get("folded"),
    }  # fmt: skip
    assert found["hand"] == next(each["hand"] for each in shown["settlement"]["seats"] if each["seat"] == seat_number)
    return found


def line_of(shown: Message, seat_number: int, wager: str) -> Message:
    seats = (each for each in shown["settlement"]["seats"] if each["seat"] == seat_number)
    line: Message = next(line for line in next(seats)["lines"] if line["wager"] == wager)
    return line


def row_of(found: Message, hand: str) -> Message:
    """The row of the edition that the explanation shows whole."""
    row: Message = next(row for row in found["paytable"]["definition"]["rows"] if row["hand"] == hand)
    return row


def test_a_base_payout_is_explained(api: Api, played: dict[str, Message]) -> None:
    found = explained(api, played["royal"], 3, "base", cents=500_000)
    assert found["line"] == line_of(played["royal"], 3, "ante")
    assert found["paytable"]["edition"] == "ms-base"
    assert row_of(found, "royal_flush")["odds"] * found["line"]["stake_cents"] == 500_000
    assert found["limit"] == {"limit_cents": 5_000_000, "uncapped_win_cents": 5_000_000, "withheld_cents": 0}
    assert (found["meter"], found["envy"]) == (None, None)
    assert found["terms"]["minimum_cents"] == 1000
    entry = {(row["debit"], row["credit"], row["reason"]): row["amount_cents"] for row in found["ledger"]}
    assert entry["fixed_pays", f"table:{LINKED}:inventory", "fixed_pay"] == 5_010_000


def test_a_bonus_payout_is_explained(api: Api, played: dict[str, Message]) -> None:
    found = explained(api, played["bonus"], 1, "bonus")
    assert found["line"] == line_of(played["bonus"], 1, "three_card_bonus")
    assert found["paytable"]["edition"] == "3cs-01"
    assert row_of(found, "pair")["odds"] * 700 == found["payout"]["cents"]
    assert (found["limit"], found["meter"], found["envy"]) == (None, None, None)


def test_a_cover_all_payout_is_explained(api: Api, played: dict[str, Message]) -> None:
    found = explained(api, played["bonus"], 1, "cover_all")
    assert found["line"] == line_of(played["bonus"], 1, "cover_all")
    assert found["paytable"]["edition"] == "ms-cover-all"
    assert found["payout"]["cents"] == found["line"]["win_cents"]


def test_a_progressive_payout_on_fixed_odds_is_explained(api: Api, played: dict[str, Message]) -> None:
    found = explained(api, played["bonus"], 2, "progressive")
    assert found["line"] == line_of(played["bonus"], 2, "progressive")
    assert found["paytable"]["edition"] == "ms-mg-01"
    assert row_of(found, "four_of_a_kind")["odds"] * 100 == found["payout"]["cents"] == 30_000
    assert (found["meter"], found["envy"]) == (None, None)


def test_a_level_s_payout_is_explained_by_its_meter(api: Api, played: dict[str, Message]) -> None:
    shown = played["twin"]
    second, first = (explained(api, shown, number, "level") for number in (2, 6))
    awards = shown["settlement"]["awards"]
    for found, award in zip((first, second), awards, strict=True):
        meter = found["meter"]
        assert found["paytable"]["edition"] == "two-prizes"
        assert (meter["link"], meter["level"], meter["hit"]) == ("twin", "grand", award["hit"])
        assert (meter["before_cents"], meter["paid_cents"], meter["after_cents"]) == (
            award["meter_before_cents"], award["paid_cents"], award["meter_after_cents"],
        )  # fmt: skip
        assert (
            meter["paid_cents"] == meter["before_cents"] * meter["share_ppm"] // 1_000_000 == found["payout"]["cents"]
        )
        assert meter["seed"] == award["seed"]
    # The second is paid on what the first left, with nothing contributed in between.
    since = second["meter"]["since_last_hit"]
    assert (since["hit"], since["left_cents"]) == (awards[0]["hit"], awards[0]["meter_after_cents"])
    assert since["contributed_cents"] == 0
    assert since["left_cents"] + since["contributed_cents"] == second["meter"]["before_cents"]


def test_what_was_contributed_since_the_last_hit_adds_up_to_the_meter(api: Api) -> None:
    """Left by the last hit + contributions since = the meter that was paid from, to the cent (REQUIREMENTS R31)."""
    api.play(royal(reference(), dealt_at=now_dealt()))
    api.play(*(api.round() for _ in range(9)))
    (shown,) = api.play(royal(reference(), dealt_at=now_dealt()))
    found = explained(api, shown, 3, "level")
    since = found["meter"]["since_last_hit"]
    assert since["left_cents"] + since["contributed_cents"] == found["meter"]["before_cents"]
    assert since["to_sequence"] - since["after_sequence"] == 10
    assert since["rounds"] == 10
    assert since["contributed_cents"] in (9 * 17 + 2 * 17, 9 * 17 + 2 * 17 + 1)


def test_envy_is_explained_by_the_neighbour_s_hit(api: Api, played: dict[str, Message]) -> None:
    shown = played["twin"]
    awards = {award["seat"]: award for award in shown["settlement"]["awards"]}
    for hand, cents, winner in (("straight_flush", 150_000, 6), ("royal_flush", 500_000, 2)):
        found = explained(api, shown, 4, "envy", hand=hand)
        assert found["line"] is None
        award = {key: awards[winner][key] for key in ("order", "hit")}
        assert found["envy"] == [{"from_seat": winner, "hand": hand, "paid_cents": cents} | award]
        assert found["cards"]["folded"] == "fourth_street"
        assert row_of(found, hand)["envy_cents"] == cents == found["payout"]["cents"]


def test_envy_for_two_neighbours_with_the_same_hand_is_told_apart(api: Api) -> None:
    """Two straight flushes on one board: each payout of the third bettor names the hit it is for."""
    sent = api.round(
        seat(1, "Qs Ks", progressive=100), seat(2, "2d 3d", progressive=100), seat(3, "7s 8s", progressive=100),
        community="9s Ts Js",
    )  # fmt: skip
    (shown,) = api.play(sent)
    hits = {award["seat"]: award["hit"] for award in shown["settlement"]["awards"]}
    assert set(hits) == {1, 3}
    found = [payout for payout in of(api, shown) if payout["kind"] == "envy"]
    named = [(payout["seat"], *api.found(f"payouts/{payout['id']}/explanation")["envy"]) for payout in found]
    assert sorted((of_seat, envy["from_seat"], envy["hit"], envy["paid_cents"]) for of_seat, envy in named) == [
        (1, 3, hits[3], 30_000), (2, 1, hits[1], 30_000), (2, 3, hits[3], 30_000), (3, 1, hits[1], 30_000),
    ], "also to those who won themselves, whose own payouts stand before"  # fmt: skip


@pytest.mark.parametrize("payout", ["nothing", "ms-mg01-1-99", "ms-mg01-99999999-1", "ms-mg01-0-1", "-1-1", "a-b-c", "ms-mg01-1-",
                                    "ms-mg01-١-1", "%00-1-1"])  # fmt: skip
def test_a_payout_that_is_not_there_is_404(payout: str, api: Api) -> None:
    answer = api.get(f"payouts/{payout}/explanation")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_payout_of_a_table_of_any_name_is_found(api: Api, played: dict[str, Message]) -> None:
    found = of(api, played["alone"])
    assert [payout["cents"] for payout in found] == [3000] * 4
    for payout in found:
        assert payout["id"].startswith(f"{ALONE}-")
        assert api.found(f"payouts/{quote(payout['id'], safe='')}/explanation")["payout"] == payout
