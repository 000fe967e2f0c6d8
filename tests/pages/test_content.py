"""What pages say: the same figures as the settlement, the ledger and the meters."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client

from accounting.office.models import Proposal
from accounting.shell.templatetags.pages import money
from devices.queries import Health
from devices.views import floor
from tables.queries import payouts
from tables.queries.floor import TableNow
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import ALONE, LINKED, TWIN, House, message, royal, run, seat, two_hits, value

EVERY_PAGE = (
    "/", "/floor/now", "/floor/tables/MS-101/", "/rounds/MS-101/r-1", "/rounds/MS-101/void", "/rounds/MS-101/held",
    "/rounds/MS-101/queued", "/find", "/find?q=none", "/jackpots/", "/jackpots/ms-mg01/", "/jackpots/twin/?span=200",
    "/jackpots/twin/meters/", "/jackpots/twin/meters/?with=ms-mg01", "/jackpots/twin/foresee/", "/foreseen/new/",
    "/payouts/", "/payouts/?kind=level", "/payouts/?min=nonsense", "/payouts/?sort=largest", "/payouts/ms-mg01-1-1/",
    "/accounting/", "/accounting/liabilities/", "/accounting/tables/", "/accounting/2030-01-01/",
    "/accounting/2026-11-27/accounts/wagers/", "/decisions/", "/audit/", "/devices/", "/set-up/", "/sign/twin",
    "/sign-in", "/nowhere",
)  # fmt: skip


@pytest.fixture
def busy(house: House) -> House:
    """A floor on which everything has happened that a page shows."""
    house.play(
        two_hits("r-1"),
        message("r-2", seat(2, "Jc Js", 1, 1, 3, three_card_bonus=500)),
        message("void", irregularities=[{"code": "card_exposed_early"}]),
        message("held", community="2c 2c Kd"),
        royal("t-1", table=TWIN),
        message("a-1", table=ALONE),
    )
    house.post(message("queued"))
    return house


@pytest.fixture
def auditor(busy: House, signed_in: SignedIn) -> Client:
    """Somebody who may see everything."""
    return signed_in()


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_no_page_needs_what_the_content_policy_forbids(auditor: Client, page: str) -> None:
    response = auditor.get(page) if page != "/sign-in" else Client().get(page)
    policy = response.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    body = response.content.decode()
    assert re.findall(r"<[^>]*\sstyle=", body) == []
    assert re.findall(r"<[^>]*\son[a-z]+=", body) == []
    assert re.findall(r"<style", body) == []
    for attributes in re.findall(r"<script([^>]*)>", body):
        assert "src=" in attributes or 'type="application/json"' in attributes
    assert re.findall(r"""(?:src|href)=["'](?:https?:)?//""", body) == []


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_every_field_has_a_label_and_every_id_is_there_once(auditor: Client, page: str) -> None:
    body = (auditor.get(page) if page != "/sign-in" else Client().get(page)).content.decode()
    ids = re.findall(r'\sid="([^"]+)"', body)
    assert len(ids) == len(set(ids)), sorted(name for name in ids if ids.count(name) > 1)
    for field in re.findall(r"<(?:input|select|textarea)\b([^>]*)>", body):
        if 'type="hidden"' not in field:
            (named,) = re.findall(r'id="([^"]+)"', field)
            assert f'for="{named}"' in body, field
    for named in re.findall(r'aria-labelledby="([^"]+)"', body):
        assert named in ids
    if page not in ("/floor/now",):
        assert len(re.findall(r"<h1\b", body)) == 1


def test_a_rounds_page_shows_every_figure_of_its_settlement(auditor: Client, busy: House) -> None:
    settlement = busy.settlement(two_hits("r-1"))
    page = text_of(auditor.get("/rounds/MS-101/r-1"))
    assert page.index("Seat 6") < page.index("Seat 4") < page.index("Seat 2")
    for settled in settlement["seats"]:
        for cents in (settled["staked_cents"], settled["paid_cents"]):
            assert money(cents) in page
        for line in settled["lines"]:
            assert money(line["win_cents"]) in page
            assert (line["odds"] or "") in page
    for award in settlement["awards"]:
        assert award["hit"] in page
        for cents in (award["meter_before_cents"], award["paid_cents"], award["meter_after_cents"]):
            assert money(cents) in page
    for digest in ("previous", "message_digest", "result_digest", "hash"):
        recorded: Any = value(f"SELECT {digest} FROM accounting_event WHERE subject = %s", "MS-101/r-1")
        assert bytes(recorded).hex() in page
    moved = value(
        "SELECT sum(amount_cents)::bigint FROM accounting_transfer WHERE (stream_id, sequence) ="
        " (SELECT stream_id, sequence FROM accounting_event WHERE subject = %s)",
        "MS-101/r-1",
    )
    assert f"Debits and credits alike {money(moved)}" in page


def test_cards_are_named_for_whoever_cannot_see_them(auditor: Client) -> None:
    body = auditor.get("/rounds/MS-101/r-1").content.decode()
    assert 'aria-label="ace of spades, king of spades"' in body
    assert 'aria-label="queen of spades, jack of spades, ten of spades"' in body


def test_a_held_round_says_why_and_shows_the_stakes_it_holds(auditor: Client) -> None:
    page = text_of(auditor.get("/rounds/MS-101/held"))
    assert "waits for a supervisor" in page
    assert "duplicate card" in page
    assert "third street $10.00" in page
    assert "Ledger" not in page


def test_void_and_queued_rounds_say_so(auditor: Client) -> None:
    assert "Every stake goes back" in text_of(auditor.get("/rounds/MS-101/void"))
    assert "not settled yet" in text_of(auditor.get("/rounds/MS-101/queued"))


def test_rounds_lead_to_their_neighbours_on_the_stream(auditor: Client) -> None:
    body = auditor.get("/rounds/MS-101/r-2").content.decode()
    assert re.search(r'rel="prev" href="/rounds/MS-101/r-1"', body)
    assert re.search(r'rel="next" href="/rounds/MS-101/void"', body)


def test_every_winning_line_leads_to_how_it_was_reached(auditor: Client) -> None:
    body = auditor.get("/rounds/MS-101/r-1").content.decode()
    named = set(re.findall(r'href="/payouts/([^"?/]+)/"', body))
    assert named == {item["id"] for item in payouts.page({"table": LINKED}).items if item["round"] == "r-1"}


def test_an_award_is_explained_from_the_cards_to_the_hash(auditor: Client) -> None:
    (payout,) = payouts.page({"kind": "level", "seat": "2", "table": LINKED}).items
    response = auditor.get(f"/payouts/{payout['id']}/")
    page = text_of(response)
    steps = ["The cards", "The hand", "The paytable row", "The meter", "The ledger", "The hash proof", "Signatures"]
    assert [page.index(step) for step in steps] == sorted(page.index(step) for step in steps)
    assert f"How {money(payout['cents'])} was reached" in page
    assert "Left by the hit before, ms-mg01-000001" in page
    chosen = re.findall(r'<tr class="chosen"><td>([^<]+)</td>', response.content.decode())
    assert [row.strip() for row in chosen] == ["royal flush"]


def test_the_meter_of_an_explanation_adds_up(auditor: Client, busy: House) -> None:
    for item in payouts.page({"kind": "level"}).items:
        page = text_of(auditor.get(f"/payouts/{item['id']}/"))
        found = re.search(
            r"(?:Left by the hit before, \S+|At the opening of the link) (\S+) Contributed since, this round included.*?"
            r" (\S+) (?:Events .*? )?The meter this award saw (\S+) .*? the award (\S+)"
            r" Put back: .*? (\S+) The meter after it (\S+)",
            page,
        )
        assert found, page
        left, contributed, saw, award, put_back, after = (int(re.sub(r"[$,.]", "", text)) for text in found.groups())
        assert left + contributed == saw
        assert saw - award + put_back == after
        assert award == item["cents"]


def test_the_row_that_paid_a_bonus_is_marked_not_the_row_of_the_hand(house: House, signed_in: SignedIn) -> None:
    house.play(message("b-1", seat(1, "3s 7d", three_card_bonus=500), community="9c 9h Kd"))
    (payout,) = payouts.page({"kind": "bonus"}).items
    body = signed_in().get(f"/payouts/{payout['id']}/").content.decode()
    assert re.findall(r'<tr class="chosen"><td>([^<]+)</td><td class="n">([^<]+)</td>', body) == [("pair", "1 to 1")]


def test_payouts_are_filtered_and_paged_by_key(house: House, signed_in: SignedIn) -> None:
    house.play(*(message(f"p-{number:03}", seat(1, "Jc Js", ante=1000 + number)) for number in range(30)))
    client = signed_in()
    first = client.get("/payouts/", {"table": LINKED, "min": "10.00"})
    assert text_of(first).count(" pair ") >= 50
    onward = re.findall(r'rel="next" href="([^"]+)"', first.content.decode())[0].replace("&amp;", "&")
    second = text_of(client.get(onward))
    seen = re.findall(r"ms-mg01-\d+-\d", text_of(first)) + re.findall(r"ms-mg01-\d+-\d", second)
    more = re.findall(r'rel="next" href="([^"]+)"', client.get(onward).content.decode())
    while more:
        response = client.get(more[0].replace("&amp;", "&"))
        seen += re.findall(r"ms-mg01-\d+-\d", text_of(response))
        more = re.findall(r'rel="next" href="([^"]+)"', response.content.decode())
    assert len(seen) == len(set(seen)) == 120
    assert "No payout matches" in text_of(client.get("/payouts/", {"min": "10.30"}))
    assert "1 payout" not in text_of(client.get("/payouts/", {"min": "1,000"}))


def test_a_tables_rounds_are_all_there_though_dealt_at_one_instant(house: House, signed_in: SignedIn) -> None:
    house.play(*(message(f"p-{number:03}") for number in range(120)))
    client, page, seen = signed_in(), f"/floor/tables/{LINKED}/", []
    while page:
        body = client.get(page).content.decode()
        seen += re.findall(rf">{LINKED} (p-\d+)</a>", body)
        page = "".join(re.findall(r'rel="next" href="([^"]+)"', body))
    assert seen == [f"p-{number:03}" for number in reversed(range(120))]


@pytest.mark.parametrize(
    ("name", "typed", "called"),
    [
        ("min", "-1", "At least, $"), ("max", "1.234", "At most, $"), ("from", "yesterday", "From gaming day"),
        ("seat", "x", "Seat"), ("kind", "none", "Kind"), ("cursor", "x", "cursor"), ("min", "12,50", "At least, $"),
        ("min", "0,01", "At least, $"), ("max", "1,2,3,4", "At most, $"), ("min", "1_000", "At least, $"),
        ("max", "+5", "At most, $"), ("min", "\N{ARABIC-INDIC DIGIT THREE}", "At least, $"),
        ("to", "2026-W48-6", "To gaming day"), ("seat", "1_0", "Seat"), ("sort", "odd", "Order"), ("colour", "red", "colour"),
        ("table", ["MS-101", "MS-102"], "Table"),
    ],
)  # fmt: skip
def test_a_filter_that_cannot_be_read_is_named_as_the_page_calls_it(
    busy: House, signed_in: SignedIn, name: str, typed: str, called: str
) -> None:
    response = signed_in().get("/payouts/", {name: typed})
    page = text_of(response)
    assert response.status_code == 400
    assert f"{called} :" in page
    assert "Nothing is listed" in page
    assert "ms-mg01-1-1" not in page


@pytest.mark.parametrize("typed", ["1250", "1,250", "1,250.00", " 1250.00 "])
def test_an_amount_is_typed_as_people_write_it(busy: House, signed_in: SignedIn, typed: str) -> None:
    body = signed_in().get("/payouts/", {"min": typed, "kind": "level"}).content.decode()
    assert "min_cents=125000&amp;format=csv" in body
    assert "ms-mg01-1-" in body


def test_the_trial_balance_agrees_and_carries_over(auditor: Client, signed_in: SignedIn) -> None:
    page = text_of(auditor.get("/accounting/2026-11-27/"))
    assert "debits equal credits" in page
    assert "balances agree" in page
    with time_machine.travel(datetime(2026, 11, 29, 20, tzinfo=UTC)):
        later = text_of(signed_in("auditor").get("/accounting/2026-11-29/"))
    assert "balances agree" in later
    liability = value(
        "SELECT sum(total.credit_cents - total.debit_cents)::bigint FROM accounting_total total"
        " JOIN accounting_account account ON account.id = total.account_id WHERE account.code = %s",
        "level:ms-mg01/major:liability",
    )
    row = re.search(r"level: ms-mg01/ major: liability (\S+) (\S+) (\S+) (\S+)", later)
    assert row and row.groups() == (money(-liability), "$0.00", "$0.00", money(liability))


def test_liabilities_and_meters_agree_and_a_difference_is_seen(auditor: Client) -> None:
    assert "ledger and meters agree" in text_of(auditor.get("/accounting/liabilities/"))
    run(
        "UPDATE jackpot_meter SET value_cents = value_cents + 1 WHERE level_id = (SELECT max(level_id) FROM jackpot_meter)"
    )
    page = text_of(auditor.get("/accounting/liabilities/"))
    assert "ledger and meters differ" in page
    assert page.count("equal ") >= 2
    sums = re.search(r"All levels (\S+) (\S+) (\S+) (\S+) (\S+) (\S+) The ledger", page)
    assert sums, "each column of the ledger beside its meters'"
    ledger, meters, reserve, reserve_meters, overflow, overflow_meters = sums.groups()
    assert (reserve, overflow) == (reserve_meters, overflow_meters)
    assert ledger != meters


def test_the_floor_shows_meters_rounds_hits_and_what_waits(auditor: Client) -> None:
    page = text_of(auditor.get("/"))
    assert money(value("SELECT value_cents FROM jackpot_meter JOIN jackpot_level level ON level.id = level_id"
                       " JOIN jackpot_link link ON link.id = link_id WHERE link.code = 'ms-mg01'")) in page  # fmt: skip
    for words in ("r-1", "r-2", "t-1", "a-1", "1 held", "duplicate card"):
        assert words in page
    body = auditor.get("/").content.decode()
    assert body.count('data-stream="/live"') == 2
    for hit in ("ms-mg01-000001", "ms-mg01-000002", "twin-000001"):
        assert f'title="hit {hit}"' in body


def test_the_floor_says_which_stream_stands_still_and_why(house: House, signed_in: SignedIn) -> None:
    house.post(message("R-1"))
    supervisor = signed_in("supervisor")
    assert "Standing still" not in text_of(supervisor.get("/"))
    run(
        "INSERT INTO devices_stoppage SELECT id, now(), 'permission denied for table jackpot_meter' FROM accounting_stream"
        " WHERE code = 'ms-mg01'"
    )
    for page in ("/", "/floor/now"):
        cache.clear()
        said = text_of(supervisor.get(page))
        assert "Standing still 1 stream" in said
        assert "ms-mg01 permission denied for table jackpot_meter" in said
        assert "Every round received was settled" not in said
    house.settle()
    cache.clear()
    assert "Standing still" not in text_of(supervisor.get("/"))


def test_a_chart_ends_at_what_the_meter_shows(auditor: Client) -> None:
    import json

    body = auditor.get("/jackpots/ms-mg01/").content.decode()
    (data,) = re.findall(r'<script id="series-\d+" type="application/json">(.*?)</script>', body)
    series = json.loads(data)
    assert series["cents"][-1] == value(
        "SELECT value_cents FROM jackpot_meter JOIN jackpot_level level ON level.id = level_id"
        " JOIN jackpot_link link ON link.id = link_id WHERE link.code = 'ms-mg01'"
    )
    assert series["sequence"] == sorted(series["sequence"])
    assert len(series["at"]) == len(series["cents"]) == len(series["sequence"])


@pytest.mark.parametrize(("asked", "span"), [("", "2,000"), ("?span=200", "200"), ("?span=20000", "20,000")])
def test_a_chart_goes_back_as_far_as_was_asked(auditor: Client, asked: str, span: str) -> None:
    body = auditor.get(f"/jackpots/ms-mg01/{asked}").content.decode()
    assert re.findall(r'aria-current="true">([\d,]+)</a>', body) == [span]
    assert f"span={span.replace(',', '')}" in re.findall(r'data-charts="([^"]+)"', body)[0]


def test_charts_of_open_pages_are_made_anew_once_for_all_who_look(
    busy: House, auditor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jackpot.views.MADE_ANEW_SECONDS", 600)

    def shown(asked: str) -> dict[str, Any]:
        found: dict[str, Any] = auditor.get(f"/jackpots/series{asked}").json()
        return found

    before = {asked: shown(asked) for asked in ("", "?link=ms-mg01", "?link=twin")}
    assert before[""] == before["?link=ms-mg01"] | before["?link=twin"]
    busy.play(message("moved"))
    assert {asked: shown(asked) for asked in before} == before, "the same for a while"
    assert shown("?link=ms-mg01&span=2000") != before["?link=ms-mg01"], "of another stretch it is another"
    cache.clear()
    assert shown("") != before[""] and shown("?link=twin") == before["?link=twin"]


@pytest.mark.parametrize(
    ("asked", "address"),
    [
        ("r-1", "/rounds/MS-101/r-1"),
        ("MS-101/r-1", "/rounds/MS-101/r-1"),
        ("queued", "/rounds/MS-101/queued"),
        ("ms-mg01-000002", "/hits/ms-mg01-000002/"),
        ("ms-mg01-1-1", "/payouts/ms-mg01-1-1/"),
        ("ms-mg01", "/jackpots/ms-mg01/"),
        (TWIN, f"/floor/tables/{TWIN}/"),
    ],
)
def test_the_finder_goes_straight_to_what_there_is(auditor: Client, asked: str, address: str) -> None:
    assert auditor.get("/find", {"q": f" {asked} "}).headers["Location"] == address


def test_the_finder_lists_what_several_tables_call_the_same(house: House, signed_in: SignedIn) -> None:
    house.play(message("same"), message("same", table=ALONE))
    body = signed_in().get("/find", {"q": "same"}).content.decode()
    assert body.count(">MS-101 same<") == body.count(f">{ALONE} same<") == 1


def test_the_audit_trail_and_the_set_up_name_what_was_installed(auditor: Client) -> None:
    audit = text_of(auditor.get("/audit/"))
    assert "python3 manage.py verify" in audit
    assert value("SELECT encode(head, 'hex') FROM accounting_stream WHERE code = 'twin'") in audit
    assert "MS-101" in text_of(auditor.get("/audit/?subject=MS-101"))
    house = text_of(auditor.get("/set-up/"))
    for words in (
        "Boston Harbor",
        "two-prizes",
        "12.3457%",
        "progressive survives fold no",
        "100% of grand",
        "$123.45",
    ):
        assert words in house
    assert house.index("royal flush 500 250") < house.index("straight flush 200 100") < house.index("flush 60 30")


def test_before_a_floor_is_loaded_pages_say_what_to_do(transactional_db: None) -> None:
    from tests.pages.conftest import person

    client = Client()
    client.force_login(person("first", "supervisor"), backend="django.contrib.auth.backends.ModelBackend")
    response = client.get("/")
    assert response.status_code == 503
    assert "load_floor" in text_of(response)


def test_a_payout_is_worked_out_in_steps_that_a_calculator_follows(house: House, signed_in: SignedIn) -> None:
    house.play(royal("r-0"), *(message(f"r-{number}") for number in range(1, 30)), royal("r-30"))
    (payout, _) = payouts.page({"kind": "level"}).items
    page = text_of(signed_in().get(f"/payouts/{payout['id']}/"))
    # 29 + 2 wagers at 17.0003 %: 527.0093 cents, and 0.0006 cents that the first royal left behind.
    assert "31 wagers × $1.00 × 17.0003% = $5.270093, with +.000600¢ carried in and +.009900¢ carried on $5.27" in page
    assert "$10,005.27 × 100%, down to the whole cent: the award" in page
    assert "Events 2 to 31 of the stream are 30: 30 brought this meter a cent or more." in page


def test_why_sequence_numbers_are_missing_from_a_sum_is_said(house: House, signed_in: SignedIn) -> None:
    house.play(message("r-1"), message("dry", seat(1, "3s 7d")), message("dry-2", seat(1, "3s 7d")), royal("r-2"))
    (payout,) = payouts.page({"kind": "level"}).items
    page = text_of(signed_in().get(f"/payouts/{payout['id']}/"))
    assert "3 wagers × $1.00 × 17.0003% = $0.510009" in page
    assert (
        "are 4: 2 brought this meter a cent or more; 2 did not, being rounds in which nobody bet the progressive"
        in page
    )


def test_a_seat_that_lost_and_was_paid_by_a_bonus_says_both(house: House, signed_in: SignedIn) -> None:
    sent = message("b-1", seat(1, "2s 7d", three_card_bonus=500), community="9c Tc Jc")
    house.play(sent)
    (settled,) = house.settlement(sent)["seats"]
    assert settled["result"] == "lose"
    (line,) = [line for line in settled["lines"] if line["wager"] == "three_card_bonus"]
    page = text_of(signed_in().get("/rounds/MS-101/b-1"))
    assert f"own bets: {settled['hand'].replace('_', ' ')} lose {money(line['win_cents'])} won on 3 Card Bonus" in page
    body = signed_in("auditor").get("/rounds/MS-101/b-1").content.decode()
    assert "/payouts/ms-mg01-1-1/" in body


@pytest.mark.parametrize(
    ("asked", "address"),
    [
        ("R-1", "/rounds/MS-101/r-1"), ("MS-MG01-000002", "/hits/ms-mg01-000002/"), ("tw-201", "/floor/tables/TW-201/"),
        ("Twin Prizes", "/jackpots/twin/"), ("twin pri", "/jackpots/twin/"), ("MS-102", "/floor/tables/MS-102/"),
        ("000123", "/rounds/MS-102/MS-102-20261127-000123"), ("ms-102 123", "/rounds/MS-102/MS-102-20261127-000123"),
        ("102/0123", "/rounds/MS-102/MS-102-20261127-000123"),
    ],
)  # fmt: skip
def test_the_finder_is_forgiving(busy: House, signed_in: SignedIn, asked: str, address: str) -> None:
    busy.play(message("MS-102-20261127-000123", table="MS-102"))
    assert signed_in().get("/find", {"q": asked}).headers["Location"] == address


def test_the_finder_lists_what_may_be_meant(busy: House, signed_in: SignedIn) -> None:
    busy.play(*(message(f"x-{number:04}", table=table) for number in (17, 117) for table in (LINKED, TWIN)))
    page = signed_in().get("/find", {"q": "17"}).content.decode()
    for table in (LINKED, TWIN):
        assert f">{table} x-0017<" in page
        assert f">{table} x-0117<" in page
    assert page.count(">MS-101 ") == 2
    assert "Nothing is called this" in text_of(signed_in("auditor").get("/find", {"q": "no such thing"}))


def alerts(client: Client) -> list[str]:
    """What stands large on the floor now."""
    cache.clear()
    found = re.search(r'<ul class="alerts".*?</ul>', client.get("/floor/now").content.decode(), re.DOTALL)
    assert found
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", line)).strip() for line in re.findall(r"<li.*?</li>", found[0])]


def test_held_rounds_hits_and_silent_tables_alert_on_the_floor(house: House, signed_in: SignedIn) -> None:
    dealt = datetime(2026, 11, 28, 2, 14, 7, tzinfo=UTC)
    with time_machine.travel(dealt + timedelta(minutes=3), tick=False):
        client = signed_in()
        assert alerts(client) == []
        house.play(royal("r-1"), message("held", community="2c 2c Kd"), message("held-2", community="2c 2c Kd"))
        assert alerts(client) == [
            "2 rounds held oldest at MS-101, waiting 2 min",
            "royal flush pays $10,000.34 MS-101 seat 3, detected 2 min ago",
        ]
    with time_machine.travel(dealt + timedelta(minutes=21), tick=False):
        assert alerts(client) == [
            "2 rounds held oldest at MS-101, waiting 20 min",
            "MS-101 is silent no round for 21 min",
        ]
        house.play(message("r-2", dealt_at="2026-11-27T21:33:00-05:00"), at=dealt + timedelta(minutes=20))
        assert len(alerts(client)) == 1


TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("ago", "silent", "is_news", "settles"),
    [
        (timedelta(seconds=9.9), False, True, True),
        (timedelta(seconds=10), False, True, False),
        (timedelta(minutes=15) - TICK, False, True, False),
        (timedelta(minutes=15), False, False, False),
        (timedelta(minutes=15) + TICK, True, False, False),
        (timedelta(hours=8) - TICK, True, False, False),
        (timedelta(hours=8), False, False, False),
    ],
)
def test_an_alert_begins_and_ends_at_its_moment(ago: timedelta, silent: bool, is_news: bool, settles: bool) -> None:
    """A table that dealt so long ago, a hit that was detected then, and a worker that was seen then."""
    now = datetime(2026, 11, 28, 2, tzinfo=UTC)
    table = TableNow("T-1", "mississippi-stud", "open", None, 6, 500, 10_000, now - ago, 0, 1)
    assert bool(floor._silent([table], now)) == silent
    hit = {
        "hit": "l-1", "hand": "flush", "paid_cents": 1, "table": "T-1", "seat": 1, "round": "r", "state": "detected",
        "detected_at": now - ago,
    }  # fmt: skip
    assert bool(floor._hit([hit], now)) == is_news
    assert floor._pulse(Health(0, None, now - ago, True), now)["silent"] == (not settles)
    assert not floor._silent([replace(table, state="closed"), replace(table, rounds_today=0)], now)


def test_the_floor_shows_the_queue_and_its_age_and_whether_anything_settles(house: House, signed_in: SignedIn) -> None:
    received = datetime(2026, 11, 28, 2, 14, 7, 120_000, tzinfo=UTC)
    with time_machine.travel(received + timedelta(seconds=34), tick=False):
        client = signed_in()
        assert "queue empty" in text_of(client.get("/"))
        house.post(message("r-1"))
        run("INSERT INTO devices_heartbeat (name, seen_at) VALUES ('sweep', %s)", received)
        cache.clear()
        page = text_of(client.get("/floor/now"))
        assert "1 waiting, oldest 34 s" in page
        assert "nothing settles, 34 s" in page
        assert 'data-ages data-settling="34"' in client.get("/").content.decode()


def test_a_form_of_several_levels_has_room_for_another_and_asks_for_nothing_yet(
    house: House, signed_in: SignedIn
) -> None:
    client = signed_in("administrator")
    form = "/decisions/new/link.file/"
    assert "Another level" in text_of(client.get(form)) and "Level 2: code" not in text_of(client.get(form))
    answer = client.post(form, {"p-link.levels.0.code": "grand", "more": "1"})
    shown = text_of(answer)
    assert (answer.status_code, "Level 2: code" in shown) == (200, True)
    assert 'value="grand"' in answer.content.decode() and not Proposal.objects.exists()
    assert "missing" not in shown
