"""Terms foreseen and replayed over HTTP, with the figures that the page and the command show."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest

from accounting.office import registry
from accounting.office.models import Job
from accounting.office.services import jobs
from devices.api import foresights
from devices.api.foresights import _hundredths, _nearest
from devices.foresight import report, words
from jackpot.rules.meter import Meter
from tables.odds.foreseeing import Figure
from tables.rules.alternative import Tally
from tests.api.test_hits import Desk
from tests.services.desk import ANYBODY
from tests.services.house import House, message, royal

AT = datetime(2026, 11, 28, 4, 0, tzinfo=UTC)
HIGHER = {"levels": [{"code": "major", "rate_ppm": 200_000}]}
BODY: dict[str, Any] = {"link": "ms-mg01", "terms": HIGHER, "wagers": 1_000}


@pytest.fixture
def auditor(house: House) -> Desk:
    """An auditor, on a link with three rounds."""
    house.play(message("R-1"), royal("R-2"), message("R-3"))
    return Desk("aud", "auditor")


def test_proposed_terms_stand_beside_todays(auditor: Desk) -> None:
    status, found = auditor.post("foresights", BODY)
    assert status == 200, found
    assert (found["link"], found["wagers"], found["seed"], found["replay"]) == ("ms-mg01", 1_000, 1, None)
    (today,), (proposed,) = found["today"]["levels"], found["proposed"]["levels"]
    # A thousand wagers of a dollar: 17.0003 % of it as it is, 20 % as it would be.
    assert (today["contributed_cents"], proposed["contributed_cents"]) == (17_000, 20_000)
    assert today["hits"] == proposed["hits"], "how often it is hit is the paytable's"
    assert proposed["next_meter"]["error_cents"] is None, "exact"
    assert proposed["next_meter"]["low_cents"] <= proposed["next_meter"]["mean_cents"]
    assert {each["what"] for each in proposed["returns"]} == {each["what"] for each in today["returns"]}
    assert auditor.post("foresights", BODY)[1] == found, "the same seed, the same figures"


def test_a_link_that_is_not_there_yet(auditor: Desk) -> None:
    level = {"code": "major", "reset_cents": 50_000, "rate_ppm": 100_000}
    terms = {"paytable": "ms-mg-01", "levels": [level], "initial": {"major": 60_000}}
    status, found = auditor.post("foresights", {"link": "nn", "terms": terms, "wagers": 1_000})
    assert (status, found["today"]) == (200, None)
    assert found["proposed"]["levels"][0]["contributed_cents"] == 10_000


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ([], "invalid_value", ""),
        (BODY | {"colour": 1}, "unknown_field", "/colour"),
        ({"terms": HIGHER}, "missing_field", "/link"),
        ({"link": "ms-mg01"}, "missing_field", "/terms"),
        (BODY | {"link": 5}, "invalid_value", "/link"),
        (BODY | {"terms": []}, "invalid_value", "/terms"),
        (BODY | {"terms": {"levels": [{"code": "minor"}]}}, "invalid_value", "/terms/levels/0/code"),
        (BODY | {"terms": {"levels": [{"code": "major", "rate_ppm": -1}]}}, "invalid_value", "/terms/levels/0/rate_ppm"),
        (BODY | {"terms": {"levels": [{"code": "major", "limit_cents": 1_000_000}]}}, "invalid_value",
         "/terms/levels/0/limit_cents"),
        (BODY | {"terms": HIGHER | {"decks": 1}}, "invalid_value", "/terms/decks"),
        (BODY | {"link": "nowhere"}, "invalid_value", "/terms/paytable"),
        (BODY | {"wagers": 0}, "invalid_value", "/wagers"),
        (BODY | {"wagers": 1_000_000_001}, "invalid_value", "/wagers"),
        (BODY | {"wagers": True}, "invalid_value", "/wagers"),
        (BODY | {"seed": -1}, "invalid_value", "/seed"),
        (BODY | {"seed": 2_147_483_649}, "invalid_value", "/seed"),
        (BODY | {"replay": []}, "invalid_value", "/replay"),
        (BODY | {"replay": {"since": "x"}}, "unknown_field", "/replay/since"),
        (BODY | {"replay": {"from": "2026-11-27"}}, "invalid_value", "/replay/from"),
        (BODY | {"replay": {"from": "2027-01-01T00:00:00Z"}}, "invalid_value", "/replay"),
    ],
)  # fmt: skip
def test_a_fault_is_named_and_starts_nothing(auditor: Desk, body: Any, code: str, pointer: str) -> None:
    status, answer = auditor.post("foresights", body)
    assert (status, answer["code"], answer.get("pointer")) == (422, code, pointer), answer
    assert not Job.objects.exists()


def test_figures_are_rounded_to_the_nearest_whole_and_halves_away_from_nothing() -> None:
    """Over the API and in words alike."""
    for said, whole in (("0", 0), ("1/3", 0), ("1/2", 1), ("4/3", 1), ("5/2", 3)):
        for value, expected, sign in ((Fraction(said), whole, ""), (-Fraction(said), -whole, "-" if whole else "")):
            assert foresights._nearest(value) == expected
            assert words.cents(value) == f"{sign}$0.0{whole}"


def test_a_side_of_a_replay_is_told_to_the_millionth_of_a_cent() -> None:
    """Every figure that the page names, each part of the meter with its fraction."""
    tally = Tally(
        Meter(0), Meter(10_000, 250_000, 30, 400_000, 5, 999_999), contributed_millionths=7, hits=11, full_hits=13,
        paid_cents=17, house_cents=19, from_reserve_cents=23, revenue_cents=29, made_good_cents=31, lowest_cents=37,
        highest_cents=41,
    )  # fmt: skip
    cents = 1_000_000
    assert report.of_tally(tally) == {
        "display": 10_000_250_000, "lowest": 37 * cents, "highest": 41 * cents, "hits": 11, "full_hits": 13,
        "paid": 17 * cents, "contributed": 7, "reserved": 53_400_000, "house": 19 * cents, "from_reserve": 23 * cents,
        "revenue": 29 * cents, "made_good": 31 * cents, "cost": tally.cost_millionths, "reserve": 30_400_000,
        "overflow": 5_999_999,
    }  # fmt: skip
    assert set(report.of_tally(tally)) == {name for name, _ in report.FIGURES}


@pytest.mark.parametrize(("wagers", "seed"), [(1, 0), (2, 2_147_483_648)])
def test_the_least_and_the_most_that_may_be_asked(auditor: Desk, wagers: int, seed: int) -> None:
    status, found = auditor.post("foresights", BODY | {"wagers": wagers, "seed": seed})
    assert (status, found["wagers"], found["seed"]) == (200, wagers, seed), found


@pytest.mark.parametrize(
    ("value", "nearest", "dollars", "count"),
    [
        (Fraction(0), 0, "$0.00", "0"),
        (Fraction(1, 4), 0, "$0.00", "0.25"),
        (Fraction(49, 100), 0, "$0.00", "0.49"),
        (Fraction(1, 2), 1, "$0.01", "0.50"),
        (Fraction(1), 1, "$0.01", "1"),
        (Fraction(5, 4), 1, "$0.01", "1.25"),
        (Fraction(1999, 1000), 2, "$0.02", "2.00"),
        (Fraction(2_469_139, 16), 154_321, "$1,543.21", "154,321.19"),
        (Fraction(-49, 100), 0, "$0.00", None),
        (Fraction(-1, 2), -1, "-$0.01", None),
        (Fraction(-1), -1, "-$0.01", None),
        (Fraction(-5, 4), -1, "-$0.01", None),
        (Fraction(-2_469_139, 16), -154_321, "-$1,543.21", None),
    ],
)
def test_figures_are_said_to_the_nearest_and_halves_away_from_nought(
    value: Fraction, nearest: int, dollars: str, count: str | None
) -> None:
    assert (_nearest(value), words.cents(value)) == (nearest, dollars)
    if count is not None:  # nothing counted is below nought
        assert words.count(value) == count
        assert Fraction(_hundredths(value)) == Fraction(count.replace(",", ""))
        assert Fraction(words.percent(value / 1_000).removesuffix(" %")) * 10 == Fraction(count.replace(",", ""))


def test_a_figure_says_what_it_rests_on() -> None:
    exact, simulated = Figure(Fraction(5, 2), 1, 4), Figure(Fraction(5, 2), 1, 4, Fraction(1, 2))
    assert words.cell(exact) == words.Cell("$0.03", "$0.01 to $0.04", "exact")
    assert words.cell(simulated, words.COUNT) == words.Cell("2.50", "1 to 4", "simulated, ± 0.50")
    assert words.cell(simulated, how="by hand").how == "by hand"
    assert words.cell(replace(exact, low=None)).band == words.cell(replace(exact, high=None)).band == ""
    assert words.cell(None) == words.NOTHING


def test_a_replay_is_started_watched_and_read(
    auditor: Desk, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    called: list[int] = []
    monkeypatch.setattr(jobs, "call", called.append)
    with django_capture_on_commit_callbacks(execute=True):
        status, found = auditor.post("foresights", BODY | {"replay": {"from": "2026-11-01T00:00:00Z"}})
    assert called == [found["replay"]], "a worker is called for it"
    assert status == 202 and found["proposed"], found
    one = f"foresights/{found['replay']}"
    assert auditor.get(one) | {"asked_at": ""} == {
        "id": found["replay"], "link": "ms-mg01", "state": "queued", "by": "aud", "asked_at": "", "done": 0, "total": None,
        "detail": "", "result": None,
    }  # fmt: skip
    status, refusal = auditor.post("foresights", BODY | {"replay": {}})
    assert (status, refusal["code"]) == (409, "already_running")
    assert jobs.run(found["replay"], clock=lambda: AT)
    shown = auditor.get(one)
    assert (shown["state"], shown["done"]) == ("done", shown["total"])
    (level,) = shown["result"]["levels"]
    # Before the royal three wagers: 51.0009 cents as it was, 60 as it would have been.
    assert (level["was"]["paid"], level["would"]["paid"]) == (1_000_051 * 10**6, 1_000_060 * 10**6)
    assert auditor.client.get("/api/v1/foresights/4711").status_code == 404
    other = jobs.start(registry.jobs()["verify"], by=ANYBODY["auditor"], at=AT)
    answer = auditor.client.get(f"/api/v1/foresights/{other.pk}")
    assert (answer.status_code, answer.json()["detail"]) == (404, f"no replay {other.pk}"), "it is other work"


def test_terms_are_foreseen_by_those_who_answer_for_them(auditor: Desk) -> None:
    for role, status in (
        ("administrator", 200),
        ("accounting", 200),
        ("controller", 200),
        ("manager", 403),
        ("cage", 403),
    ):
        desk = Desk(role, role)
        assert desk.post("foresights", BODY)[0] == status, role
        if status == 403:
            assert desk.client.get("/api/v1/foresights/1").json()["code"] == "not_your_role"
