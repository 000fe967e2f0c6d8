"""The progressive of a link: contributions, awards in order, envy, and what each kind of row pays."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.rules import progressive
from jackpot.rules.link import LinkTerms, misfit
from jackpot.rules.meter import LevelTerms, Meter
from jackpot.rules.parts import Brought
from jackpot.rules.paytable import ProgressivePaytable, Row, builtin
from jackpot.rules.progressive import LevelMovement
from tables.rules.floor import read_floor

ROYAL_BOARD = "Ts Js Qs"


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (Row("royal_flush", "share", level="major", share_ppm=1_000_000), "100% of major"),
        (Row("straight_flush", "share", level="major", share_ppm=100_000), "10% of major"),
        (Row("straight_flush", "share", level="minor", share_ppm=125_000), "12.5% of minor"),
        (Row("straight_flush", "share", level="minor", share_ppm=123_456), "12.3456% of minor"),
        (Row("straight_flush", "share", level="minor", share_ppm=1), "0.0001% of minor"),
        (Row("straight_flush", "share", level="minor", share_ppm=500_100), "50.01% of minor"),
        (Row("flush", "for", odds=40), "40 for 1"),
        (Row("flush", "to", odds=40), "40 to 1"),
        (Row("flush", "sum", cents=2_500_000), "$25,000"),
        (Row("flush", "sum", cents=250_050), "$2,500.50"),
        (Row("flush", "sum", cents=5), "$0.05"),
        (Row("flush", "push"), None),
    ],
)
def test_odds_read_as_the_settlement_prints_them(row: Row, text: str | None) -> None:
    assert progressive.odds_text(row) == text


def test_which_tables_a_link_takes() -> None:
    link = LinkTerms("lk", "Link", builtin()["ms-stud-01"], 1, ())
    assert misfit(link, game="mississippi-stud", decks=1) is None
    assert "decks" in str(misfit(link, game="mississippi-stud", decks=2))
    assert "let-it-ride" in str(misfit(link, game="let-it-ride", decks=1))
    multi = LinkTerms("lk", "Link", builtin()["ms-mg-02"], 1, ())
    assert misfit(multi, game="let-it-ride", decks=1) is None
    assert misfit(multi, game="three-card-poker", decks=1) is not None
    assert misfit(multi, game="mini-tex", decks=1) is not None


def test_movements_say_where_whole_cents_arrived() -> None:
    level = LevelTerms("major", 0, rate_ppm=170_000, reserve_ppm=30_005, limit_cents=1_000)
    link = LinkTerms("lk", "Link", ProgressivePaytable("p", (), 100, ()), 1, (level,))
    after, movements = progressive.contributions(link, {"major": Meter(999, 500_000)}, 200)
    assert after["major"] == Meter(1_000, 0, 6, 1_000, 33, 500_000)
    assert movements == (LevelMovement("major", 34_000_000, 6_001_000, 33_500_000, 1, 6, 33),)
    assert movements[0].brought == Brought(500_000, 6_001_000, 33_500_000)


def test_awards_go_from_the_highest_seat_down_each_on_what_the_last_one_left(harbor: Any) -> None:
    message = harbor.message(
        "MS-101",
        ROYAL_BOARD,
        harbor.seat(2, "9s 8s", progressive=100),
        harbor.seat(6, "As Ks", progressive=100),
        harbor.seat(1, "2c 7d", folded="third_street", progressive=100),
    )
    settled = harbor.settle(message, {"major": Meter(5_000_000)})
    first, second = settled.settlement["awards"]
    assert list(first) == [
        "order",
        "seat",
        "level",
        "hand",
        "share_ppm",
        "meter_before_cents",
        "paid_cents",
        "meter_after_cents",
        "seed",
        "hit",
    ]
    assert (first["order"], first["seat"], first["paid_cents"], first["meter_after_cents"]) == (1, 6, 5_000_051, 10**6)
    assert (second["order"], second["seat"], second["paid_cents"], second["meter_after_cents"]) == (
        2,
        2,
        100_000,
        900_000,
    )
    entries = {entry["seat"]: entry for entry in settled.settlement["seats"]}
    assert [entry["from_seat"] for entry in entries[1]["envy"]] == [6, 2]
    assert entries[6]["envy"] == [{"from_seat": 2, "hand": "straight_flush", "paid_cents": 30_000, "order": 2}]
    assert entries[2]["envy"] == [{"from_seat": 6, "hand": "royal_flush", "paid_cents": 100_000, "order": 1}]
    assert entries[1]["paid_cents"] == 130_000
    assert settled.meters["major"] == Meter(900_000, 0, 0)


def test_the_settlement_has_a_row_for_every_level_whatever_was_wagered(harbor: Any) -> None:
    settled = harbor.settle(harbor.message("MS-104", "4d 9h 3s", harbor.seat(1, "Kc 7h", ante=1500)))
    assert settled.settlement["meters"] == [
        {
            "link": "ms-st01",
            "level": "major",
            "before_cents": 1_000_000,
            "after_cents": 1_000_000,
            "residual_millionths": 0,
            "contributed_millionths": 0,
            "reserve_cents": 0,
            "reserve_residual_millionths": 0,
            "overflow_cents": 0,
            "overflow_residual_millionths": 0,
            "reserve_before_cents": 0,
            "overflow_before_cents": 0,
        }
    ]
    assert settled.movements == (LevelMovement("major", 0, 0, 0, 0, 0, 0),)
    assert harbor.settle(harbor.message("MS-110", "4d 9h 3s", harbor.seat(1, "Kc 7h"))).settlement["meters"] == []


def test_overflow_that_became_revenue_is_said_on_the_award(harbor: Any) -> None:
    message = harbor.message("MS-104", ROYAL_BOARD, harbor.seat(1, "As Ks", ante=1500, progressive=100))
    award = harbor.settle(message, {"major": Meter(60_000_000, 0, 0, 0, 70, 5)}).settlement["awards"][0]
    assert award["revenue_cents"] == 95  # the round's own 25 cents overflowed as well
    assert award["meter_after_cents"] == 1_000_000
    assert award["seed"]["overflow_cents"] == 0


def test_a_royal_without_its_own_wager_pays_nothing_and_triggers_no_envy(harbor: Any) -> None:
    settled = harbor.settle(
        harbor.message("MS-101", ROYAL_BOARD, harbor.seat(6, "As Ks"), harbor.seat(1, "2c 7d", progressive=100))
    )
    assert settled.settlement["awards"] == []
    assert all(entry["envy"] == [] for entry in settled.settlement["seats"])


@pytest.mark.parametrize(("table", "meter", "survives"), [("MS-101", 34, True), ("MS-107", 50, False)])
def test_a_folded_wager_survives_by_the_tables_term(harbor: Any, table: str, meter: int, survives: bool) -> None:
    message = harbor.message(
        table,
        ROYAL_BOARD,
        harbor.seat(6, "As Ks", 1, 1, folded="fifth_street", progressive=100),
        harbor.seat(5, "9s 8s", progressive=100),
        harbor.seat(1, "2c 7d", folded="third_street", progressive=100),
    )
    settled = harbor.settle(message, {"major": Meter(5_000_000)})
    winners = [award["seat"] for award in settled.settlement["awards"]]
    assert winners == ([6, 5] if survives else [5])
    envy = {entry["seat"]: [each["from_seat"] for each in entry["envy"]] for entry in settled.settlement["seats"]}
    # A wager that does not survive still earns envy, and triggers none.
    assert envy == ({6: [5], 5: [6], 1: [6, 5]} if survives else {6: [5], 5: [], 1: [5]})
    contributed = settled.settlement["meters"][0]["contributed_millionths"]
    assert contributed == 300 * (170_000 if survives else 253_217)


def test_a_surviving_fold_is_paid_fixed_odds_too(harbor: Any) -> None:
    message = harbor.message("MS-101", "9c 9d 2h", harbor.seat(1, "9h 9s", folded="third_street", progressive=100))
    assert harbor.entries(message)[1]["line"]["progressive"]["win_cents"] == 30_000


TWO_LEVELS = """
[property]
code = "BOS"
name = "Boston"
time_zone = "America/New_York"
gaming_day_starts = "06:00"
jurisdiction = "MA"

[[paytables]]
code = "own-1"
games = ["mississippi-stud"]
wager_cents = 200
rows = [
  { hand = "royal_flush", pays = "share", level = "major", share_ppm = 1000000, envy_cents = 5000 },
  { hand = "straight_flush", pays = "share", level = "minor", share_ppm = 1000000, envy_cents = 100 },
  { hand = "four_of_a_kind", pays = "share", level = "minor", share_ppm = 125000 },
  { hand = "full_house", pays = "for", odds = 50 },
  { hand = "flush", pays = "to", odds = 40 },
  { hand = "straight", pays = "sum", cents = 2550 },
  { hand = "pair", from = "J", to = "A", pays = "push" },
]

[[links]]
code = "lk"
paytable = "own-1"
[[links.levels]]
code = "major"
reset_cents = 1000000
rate_ppm = 100000
unreasonable_cents = 40
[[links.levels]]
code = "minor"
reset_cents = 50000
rate_ppm = 50000
reserve_ppm = 2500

[[tables]]
code = "MS-1"
game = "mississippi-stud"
seats = 7
minimum_cents = 1000
maximum_cents = 50000
link = "lk"
paytables = { base = "ms-base" }
"""


@pytest.mark.parametrize(
    ("board", "cards", "line"),
    [
        ("Ts Js Qs", "As Ks", ("win", "100% of major", 1_000_020, 1_000_020)),
        ("Ts Js Qs", "9s Ks", ("win", "100% of minor", 50_010, 50_010)),
        ("9c 9d Qs", "9h 9s", ("win", "12.5% of minor", 6_251, 6_251)),
        ("9c 9d Qs", "9h Qh", ("win", "50 for 1", 10_000, 10_000)),
        ("9c 7c Qc", "3c 2c", ("win", "40 to 1", 8_000, 8_200)),
        ("9c 8d 7c", "6h 5h", ("win", "$25.50", 2_550, 2_550)),
        ("Jc 8d 7c", "Jh 5h", ("push", None, 0, 200)),
        ("Tc 8d 7c", "Th 5h", ("lose", None, 0, 0)),
    ],
)
def test_every_kind_of_row_pays_its_way(house: Any, board: str, cards: str, line: tuple[Any, ...]) -> None:
    two = house(read_floor(TWO_LEVELS))
    entry = two.entries(two.message("MS-1", board, two.seat(3, cards, progressive=200)))[3]
    paid = entry["line"]["progressive"]
    assert (paid["result"], paid["odds"], paid["win_cents"], paid["paid_cents"]) == line


def test_every_level_grows_by_its_own_rate(house: Any) -> None:
    two = house(read_floor(TWO_LEVELS))
    settled = two.settle(two.message("MS-1", "Tc 8d 7c", two.seat(3, "2h 5h", progressive=200)))
    assert settled.meters == {"major": Meter(1_000_020), "minor": Meter(50_010, 0, 0, 500_000)}
    assert [row["contributed_millionths"] for row in settled.settlement["meters"]] == [20_000_000, 10_000_000]


THREE_LEVELS = """
[property]
code = "P"
name = "P"
time_zone = "America/New_York"
gaming_day_starts = "06:00"
jurisdiction = "PA"
[[paytables]]
code = "three-prizes"
games = ["mississippi-stud"]
wager_cents = 500
rows = [
  { hand = "royal_flush", pays = "share", level = "mega", share_ppm = 1000000, envy_cents = 100000 },
  { hand = "straight_flush", pays = "share", level = "major", share_ppm = 1000000, envy_cents = 30000 },
  { hand = "four_of_a_kind", pays = "share", level = "minor", share_ppm = 1000000 },
  { hand = "full_house", pays = "for", odds = 50 },
]
[[links]]
code = "three"
name = "Three Prizes"
paytable = "three-prizes"
decks = 1
[[links.levels]]
code = "mega"
reset_cents = 1000000
rate_ppm = 100000
[[links.levels]]
code = "major"
reset_cents = 100000
rate_ppm = 60000
[[links.levels]]
code = "minor"
reset_cents = 20000
rate_ppm = 40000
[[tables]]
code = "MS-1"
game = "mississippi-stud"
seats = 6
minimum_cents = 1000
maximum_cents = 50000
link = "three"
paytables = { base = "ms-base" }
"""


@pytest.mark.parametrize(
    ("board", "cards", "level", "paid_cents"),
    [
        ("Ts Js Qs", "As Ks", "mega", 1_000_050),
        ("Ts Js Qs", "9s Ks", "major", 100_030),
        ("9c 9d Qs", "9h 9s", "minor", 20_020),
    ],
)
def test_a_paytable_of_mega_major_and_minor_pays_each_by_its_row(
    house: Any, board: str, cards: str, level: str, paid_cents: int
) -> None:
    """The whole of the level that the row names, which restarts; the other two keep what they have (REQUIREMENTS R12)."""
    three = house(read_floor(THREE_LEVELS))
    settled = three.settle(three.message("MS-1", board, three.seat(3, cards, progressive=500)))
    (award,) = settled.settlement["awards"]
    assert (award["level"], award["share_ppm"], award["paid_cents"]) == (level, 1_000_000, paid_cents)
    grown = {"mega": 1_000_050, "major": 100_030, "minor": 20_020}
    resets = {"mega": 1_000_000, "major": 100_000, "minor": 20_000}
    assert {code: meter.value_cents for code, meter in settled.meters.items()} == grown | {level: resets[level]}


def test_no_envy_where_the_paytable_gives_none(house: Any) -> None:
    two = house(read_floor(TWO_LEVELS))
    entries = two.entries(
        two.message("MS-1", "9c 9d Qs", two.seat(3, "9h 9s", progressive=200), two.seat(1, "2h 5h", progressive=200))
    )
    assert entries[1]["envy"] == []


def test_more_than_is_reasonable_for_one_round_is_held(house: Any) -> None:
    two = house(read_floor(TWO_LEVELS))
    seats = [two.seat(1, "2h 5h", progressive=200), two.seat(2, "2d 5d", progressive=200)]
    assert two.settle(two.message("MS-1", "Tc 8d 7c", *seats)).outcome == "settled", "exactly as much is reasonable"
    seats.append(two.seat(3, "2s 5s", progressive=200))
    message = two.message("MS-1", "Tc 8d 7c", *seats)
    assert two.settle(message).settlement["reasons"] == ["unreasonable_contribution"]
    # A void seat's wager is not accepted, a forfeited one is.
    void = message | {"irregularities": [{"code": "wrong_card_count", "seat": 3}]}
    assert two.settle(void).outcome == "settled"
    forfeit = message | {"irregularities": [{"code": "forfeit", "seat": 3}]}
    assert two.settle(forfeit).settlement["reasons"] == ["unreasonable_contribution"]
