"""Floor files: every default, and every refusal with the dotted path of the key at fault."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from jackpot.rules import paytable as progressive_paytables
from jackpot.rules.meter import LevelTerms
from tables.rules import paytables
from tables.rules.floor import FloorRefused, Terms, read_floor, table_terms

FLOOR = """
[property]
code = "BOS"
name = "Boston Harbor"
time_zone = "America/New_York"
gaming_day_starts = "06:00"
jurisdiction = "MA"

[[links]]
code = "lk"
paytable = "ms-mg-01"
[[links.levels]]
code = "major"
reset_cents = 1000000
rate_ppm = 170000

[[tables]]
code = "MS-1"
game = "mississippi-stud"
seats = 6
minimum_cents = 1000
maximum_cents = 50000
link = "lk"
paytables = { base = "ms-base", three_card_bonus = "3cs-01", cover_all = "ms-cover-all" }

[[tables]]
code = "MS-2"
game = "mississippi-stud"
seats = 7
minimum_cents = 1000
maximum_cents = 1000
paytables = { base = "ms-base" }
"""

OWN = """
[[paytables]]
code = "own-1"
games = ["mississippi-stud"]
wager_cents = 200
rows = [
  { hand = "royal_flush", pays = "share", level = "major", share_ppm = 1000000, envy_cents = 5000 },
  { hand = "straight_flush", pays = "share", level = "minor", share_ppm = 1000000 },
  { hand = "four_of_a_kind", pays = "share", level = "minor", share_ppm = 125000 },
  { hand = "full_house", pays = "for", odds = 50 },
  { hand = "flush", pays = "to", odds = 40 },
  { hand = "straight", pays = "sum", cents = 2550 },
  { hand = "pair", from = "J", to = "A", pays = "push" },
]
"""


def refused(text: str) -> FloorRefused:
    with pytest.raises(FloorRefused) as caught:
        read_floor(text)
    return caught.value


def with_line(after: str, line: str) -> str:
    """The floor with a line added after the first line that starts so."""
    assert after in FLOOR
    return FLOOR.replace(after, f"{after}\n{line}", 1)


def instead(old: str, new: str, count: int = 1) -> str:
    """The floor with a text replaced."""
    assert old in FLOOR
    return FLOOR.replace(old, new, count)


def test_every_term_has_its_default() -> None:
    floor = read_floor(FLOOR)
    link = floor.links["lk"]
    assert (link.name, link.decks, link.envy_scope, link.tie_policy) == ("lk", 1, "table", "sequential")
    assert link.levels == (
        LevelTerms("major", 1_000_000, 170_000, 0, None, None, "next_reset", "reserve_then_house", "allow"),
    )
    table = floor.tables["MS-1"]
    assert (table.decks, table.terms, table.link) == (1, Terms(), link)
    assert floor.tables["MS-2"].link is None
    assert floor.tables["MS-1"].paytables["base"] is paytables.builtin()["ms-base"]


def test_a_floor_may_have_nothing_but_its_property() -> None:
    floor = read_floor(FLOOR[: FLOOR.index("[[links]]")])
    assert (floor.links, floor.tables, floor.paytables) == ({}, {}, {})


def test_a_floor_may_define_a_progressive_of_two_levels() -> None:
    text = FLOOR.replace('paytable = "ms-mg-01"', 'paytable = "own-1"') + OWN
    minor = '[[links.levels]]\ncode = "minor"\nreset_cents = 0\nrate_ppm = 800000\nreserve_ppm = 30000\n\n[[tables]]'
    floor = read_floor(text.replace("[[tables]]", minor, 1))
    assert floor.paytables["own-1"].levels == ("major", "minor")
    assert [level.code for level in floor.links["lk"].levels] == ["major", "minor"], "they may take the whole wager"


def test_the_built_in_editions_say_what_the_seed_says() -> None:
    progressives = progressive_paytables.builtin()
    assert {code: (p.wager_cents, p.games) for code, p in progressives.items() if code.startswith("ms-")} == {
        "ms-stud-01": (100, ("mississippi-stud",)),
        "ms-mg-01": (100, ("mississippi-stud", "let-it-ride", "double-down-stud", "boston-5-stud")),
        "ms-mg-02": (500, ("mississippi-stud", "let-it-ride", "double-down-stud", "boston-5-stud")),
    }
    editions = paytables.builtin()
    base = {(row.hand, row.pays, row.odds, row.from_rank, row.to_rank) for row in editions["ms-base"].rows}
    assert base == {
        ("royal_flush", "to", 500, None, None),
        ("straight_flush", "to", 100, None, None),
        ("four_of_a_kind", "to", 40, None, None),
        ("full_house", "to", 10, None, None),
        ("flush", "to", 6, None, None),
        ("straight", "to", 4, None, None),
        ("three_of_a_kind", "to", 3, None, None),
        ("two_pair", "to", 2, None, None),
        ("pair", "to", 1, "J", "A"),
        ("pair", "push", 0, "6", "T"),
    }
    assert {len(odds) for odds in editions["ms-cover-all"].odds_by_players.values()} == {6}


def test_every_edition_file_is_named_after_its_code() -> None:
    for module in (progressive_paytables, paytables):
        assert module.__file__ is not None
        folder = Path(module.__file__).parents[1] / "paytables"
        for file in folder.glob("*.toml"):
            assert tomllib.loads(file.read_text("utf-8"))["code"] == file.stem


ODD = [
    "MS 101",
    "MS/101",
    "MS-101\u00a0",
    "MS\u00e9",
    "MSe\u0301",
    "\u202eMS",
    "\uff2d\uff33",
    " MS",
    "MS ",
    "M\\tS",
    "/",
    "\u0391",
]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    ("line", "path"),
    [
        ('code = "BOS"', "property.code"),
        ('code = "own-1"', "paytables[0].code"),
        ('code = "lk"', "links[0].code"),
        ('code = "major"', "links[0].levels[0].code"),
        ('code = "MS-1"', "tables[0].code"),
    ],
)
def test_a_code_that_looks_like_another_or_breaks_an_address_is_refused(line: str, path: str, odd: str) -> None:
    """Both forms of an accented letter, a blank that cannot be seen, a letter of another script: codes are plain."""
    text = FLOOR + OWN
    assert line in text, text
    with pytest.raises(FloorRefused) as refusal:
        read_floor(text.replace(line, f'code = "{odd}"', 1))
    assert refusal.value.path == path


@pytest.mark.parametrize("plain", ["!", "~", "MS-101", "a.b:c_d(e)", "x" * 64, "#?&%"])
def test_a_code_of_printable_signs_is_taken(plain: str) -> None:
    assert read_floor(FLOOR.replace('code = "MS-1"', f'code = "{plain}"')).tables[plain].code == plain


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "property"),
        ("nonsense", "floor"),
        ("property = 5", "property"),
        (with_line("[property]", 'colour = "red"'), "property.colour"),
        (f"colour = 1\n{FLOOR}", "colour"),
        (instead('code = "BOS"\n', ""), "property.code"),
        (instead('jurisdiction = "MA"\n', ""), "property.jurisdiction"),
        (instead('code = "BOS"', "code = 5"), "property.code"),
        (instead('code = "BOS"', 'code = ""'), "property.code"),
        (instead('code = "BOS"', 'code = " BOS"'), "property.code"),
        (instead('code = "BOS"', 'code = "B\\u0000S"'), "property.code"),
        (instead('code = "BOS"', f'code = "{"B" * 65}"'), "property.code"),
        (instead("America/New_York", "America/Boston"), "property.time_zone"),
        (instead("America/New_York", "../etc/passwd"), "property.time_zone"),
        (instead("America/New_York", "America"), "property.time_zone"),
        (instead('"06:00"', '"24:00"'), "property.gaming_day_starts"),
        (instead('"06:00"', '"6:00"'), "property.gaming_day_starts"),
        (instead('"06:00"', '"06:00:00"'), "property.gaming_day_starts"),
        (instead('"06:00"', "06:00:00"), "property.gaming_day_starts"),
        (instead('"06:00"', "6"), "property.gaming_day_starts"),
    ],
)
def test_a_bad_property_is_refused(text: str, path: str) -> None:
    assert refused(text).path == path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (instead('paytable = "ms-mg-01"', 'paytable = "ms-mg-09"'), "links[0].paytable"),
        (instead('paytable = "ms-mg-01"', 'paytable = "ms-base"'), "links[0].paytable"),
        (instead('paytable = "ms-mg-01"\n', ""), "links[0].paytable"),
        (with_line('code = "lk"', "colour = 1"), "links[0].colour"),
        (with_line('code = "lk"', "decks = 0"), "links[0].decks"),
        (with_line('code = "lk"', "decks = true"), "links[0].decks"),
        (with_line('code = "lk"', 'envy_scope = "link"'), "links[0].envy_scope"),
        (with_line('code = "lk"', 'tie_policy = "split"'), "links[0].tie_policy"),
        (with_line('code = "lk"', "name = 5"), "links[0].name"),
        (instead('code = "major"\n', ""), "links[0].levels[0].code"),
        (instead('code = "major"', 'code = "minor"'), "links[0].levels[0].code"),
        (instead("reset_cents = 1000000\n", ""), "links[0].levels[0].reset_cents"),
        (instead("reset_cents = 1000000", "reset_cents = -1"), "links[0].levels[0].reset_cents"),
        (instead("reset_cents = 1000000", "reset_cents = 1000000.0"), "links[0].levels[0].reset_cents"),
        (instead("reset_cents = 1000000", 'reset_cents = "1000000"'), "links[0].levels[0].reset_cents"),
        (instead("reset_cents = 1000000", "reset_cents = true"), "links[0].levels[0].reset_cents"),
        (instead("reset_cents = 1000000", f"reset_cents = {10**30}"), "links[0].levels[0].reset_cents"),
        (instead("rate_ppm = 170000\n", ""), "links[0].levels[0].rate_ppm"),
        (instead("rate_ppm = 170000", "rate_ppm = -1"), "links[0].levels[0].rate_ppm"),
        (instead("rate_ppm = 170000", "rate_ppm = 1000001"), "links[0].levels[0].rate_ppm"),
        (instead("rate_ppm = 170000", "rate_ppm = 0.17"), "links[0].levels[0].rate_ppm"),
        (with_line("rate_ppm = 170000", "reserve_ppm = 830001"), "links[0].levels[0].reserve_ppm"),
        (with_line("rate_ppm = 170000", "reserve_ppm = -1"), "links[0].levels[0].reserve_ppm"),
        (with_line("rate_ppm = 170000", "limit_cents = 999999"), "links[0].levels[0].limit_cents"),
        (with_line("rate_ppm = 170000", "limit_cents = true"), "links[0].levels[0].limit_cents"),
        (with_line("rate_ppm = 170000", "unreasonable_cents = -1"), "links[0].levels[0].unreasonable_cents"),
        (with_line("rate_ppm = 170000", 'overflow_policy = "keep"'), "links[0].levels[0].overflow_policy"),
        (with_line("rate_ppm = 170000", 'seed_funding = "reserve"'), "links[0].levels[0].seed_funding"),
        (with_line("rate_ppm = 170000", 'floor_policy = "deny"'), "links[0].levels[0].floor_policy"),
        (with_line("rate_ppm = 170000", "colour = 1"), "links[0].levels[0].colour"),
        (
            instead('[[links.levels]]\ncode = "major"\nreset_cents = 1000000\nrate_ppm = 170000\n', ""),
            "links[0].levels",
        ),
        (
            instead(
                "[[links.levels]]", '[[links.levels]]\ncode = "major"\nreset_cents = 1\nrate_ppm = 1\n[[links.levels]]'
            ),
            "links[0].levels[1].code",
        ),
        (
            instead(
                "[[tables]]",
                '[[links]]\ncode = "lk"\npaytable = "ms-mg-01"\n[[links.levels]]\ncode = "major"\n'
                "reset_cents = 1\nrate_ppm = 1\n[[tables]]",
            ),
            "links[1].code",
        ),
    ],
)
def test_a_bad_link_is_refused(text: str, path: str) -> None:
    assert refused(text).path == path


def test_levels_together_take_no_more_than_the_wager() -> None:
    text = instead('paytable = "ms-mg-01"', 'paytable = "own-1"') + OWN
    minor = '[[links.levels]]\ncode = "minor"\nreset_cents = 0\nrate_ppm = 800000\nreserve_ppm = 30001\n\n[[tables]]'
    assert refused(text.replace("[[tables]]", minor, 1)).path == "links[0].levels[1].rate_ppm"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (instead('game = "mississippi-stud"', 'game = "faro"'), "tables[0].game"),
        (instead('game = "mississippi-stud"\n', ""), "tables[0].game"),
        (with_line('code = "MS-1"', "colour = 1"), "tables[0].colour"),
        (instead('code = "MS-2"', 'code = "MS-1"'), "tables[1].code"),
        (instead('code = "MS-2"', 'code = "lk"'), "tables[1].code"),
        (instead("seats = 6\n", ""), "tables[0].seats"),
        (instead("seats = 6", "seats = 0"), "tables[0].seats"),
        (instead("seats = 6", "seats = 8"), "tables[0].seats"),
        (instead("seats = 6", "seats = true"), "tables[0].seats"),
        (instead("seats = 6", "seats = 7"), "tables[0].paytables.cover_all"),
        (instead("minimum_cents = 1000", "minimum_cents = 0"), "tables[0].minimum_cents"),
        (instead("minimum_cents = 1000", "minimum_cents = 50001"), "tables[0].maximum_cents"),
        (instead("maximum_cents = 50000\n", ""), "tables[0].maximum_cents"),
        (instead('link = "lk"', 'link = "kl"'), "tables[0].link"),
        (instead('link = "lk"', "link = 5"), "tables[0].link"),
        (with_line('code = "MS-1"', "decks = 2"), "tables[0].decks"),
        (with_line('code = "MS-2"', "decks = 2"), "tables[1].decks"),
        (with_line('code = "lk"', "decks = 2"), "tables[0].decks"),
        (instead('base = "ms-base"', 'base = "ms-bass"'), "tables[0].paytables.base"),
        (instead('base = "ms-base"', 'base = "3cs-01"'), "tables[0].paytables.base"),
        (instead('base = "ms-base"', 'base = "ms-mg-01"'), "tables[0].paytables.base"),
        (instead('base = "ms-base", ', ""), "tables[0].paytables.base"),
        (instead('paytables = { base = "ms-base" }\n', ""), "tables[1].paytables.base"),
        (instead('paytables = { base = "ms-base" }', "paytables = []"), "tables[1].paytables"),
        (instead('{ base = "ms-base" }', '{ base = "ms-base", bonus = "3cs-01" }'), "tables[1].paytables.bonus"),
        (instead('{ base = "ms-base" }', '{ base = "ms-base", cover_all = 5 }'), "tables[1].paytables.cover_all"),
        (FLOOR + "terms = 5", "tables[1].terms"),
        (FLOOR + "terms = { colour = 1 }", "tables[1].terms.colour"),
        (FLOOR + "terms = { progressive_survives_fold = 1 }", "tables[1].terms.progressive_survives_fold"),
        (FLOOR + 'terms = { limit_scope = "all" }', "tables[1].terms.limit_scope"),
        (FLOOR + 'terms = { misdeal_voids = "table" }', "tables[1].terms.misdeal_voids"),
        (FLOOR + 'terms = { copy_hand = "player" }', "tables[1].terms.copy_hand"),
        (FLOOR + "terms = { ante_bonus_odds = 31 }", "tables[1].terms.ante_bonus_odds"),
        (FLOOR + "terms = { payout_limit_cents = 4999999 }", "tables[1].terms.payout_limit_cents"),
        (FLOOR + "terms = { bonus_returns_stake = true }", "tables[1].terms.bonus_returns_stake"),
        (FLOOR.replace("[[tables]]", "[tables]", 1).split("[[tables]]")[0], "tables"),
    ],
)
def test_a_bad_table_is_refused(text: str, path: str) -> None:
    assert refused(text).path == path


def test_the_refusal_of_seven_seats_reads_as_the_contract_prints_it() -> None:
    assert (
        str(refused(instead("seats = 6", "seats = 7")))
        == "tables[0].paytables.cover_all: six seats at most (seats = 7)"
    )


def test_a_game_the_paytable_does_not_fit_is_refused_with_the_game() -> None:
    tcp = FLOOR.replace("mississippi-stud", "three-card-poker", 1).replace(
        'base = "ms-base", three_card_bonus = "3cs-01", cover_all = "ms-cover-all"', 'base = "tcp-base"'
    )
    refusal = refused(tcp)
    assert refusal.path == "tables[0].link"
    assert "three-card-poker" in refusal.detail
    assert "ms-mg-01" in refusal.detail


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('code = "own-1"', 'code = "ms-mg-01"', "paytables[0].code"),
        ('code = "own-1"', 'code = "ms-base"', "paytables[0].code"),
        ('code = "own-1"\n', "", "paytables[0].code"),
        ("wager_cents = 200", "wager_cents = 0", "paytables[0].wager_cents"),
        ("wager_cents = 200", "wager_cents = true", "paytables[0].wager_cents"),
        ("wager_cents = 200", "wager_cents = 10000001", "paytables[0].wager_cents"),
        ("wager_cents = 200", "wager_cents = 200\ncolour = 1", "paytables[0].colour"),
        ('["mississippi-stud"]', "[]", "paytables[0].games"),
        ('["mississippi-stud"]', '"mississippi-stud"', "paytables[0].games"),
        ('["mississippi-stud"]', '["mississippi-stud", "faro"]', "paytables[0].games[1]"),
        ('["mississippi-stud"]', '["mississippi-stud", "mississippi-stud"]', "paytables[0].games[1]"),
        ('["mississippi-stud"]', '["three-card-poker"]', "paytables[0].games[0]"),
        ('"royal_flush", pays = "share"', '"royal_flush", pays = "all"', "paytables[0].rows[0].pays"),
        ('"royal_flush", pays', '"royal", pays', "paytables[0].rows[0].hand"),
        ('"royal_flush", pays', '"mini_royal", pays', "paytables[0].rows[0].hand"),
        ('hand = "royal_flush", ', "", "paytables[0].rows[0].hand"),
        ('level = "major", ', "", "paytables[0].rows[0].level"),
        ("share_ppm = 1000000, envy", "envy", "paytables[0].rows[0].share_ppm"),
        ("share_ppm = 1000000, envy", "share_ppm = 1000001, envy", "paytables[0].rows[0].share_ppm"),
        ("share_ppm = 1000000, envy", "share_ppm = 0, envy", "paytables[0].rows[0].share_ppm"),
        ("envy_cents = 5000", "envy_cents = -1", "paytables[0].rows[0].envy_cents"),
        ("envy_cents = 5000", "odds = 5", "paytables[0].rows[0].odds"),
        ("odds = 50 }", "odds = 50, envy_cents = 0 }", "paytables[0].rows[3].envy_cents"),
        ("odds = 50 }", 'odds = 50, level = "major" }', "paytables[0].rows[3].level"),
        ("odds = 50 }", "odds = 0 }", "paytables[0].rows[3].odds"),
        ("odds = 50 }", "odds = 2.5 }", "paytables[0].rows[3].odds"),
        ("odds = 50 }", "colour = 1 }", "paytables[0].rows[3].colour"),
        ("odds = 40 }", "cents = 40 }", "paytables[0].rows[4].cents"),
        ("cents = 2550 }", "cents = 0 }", "paytables[0].rows[5].cents"),
        ('pays = "push" }', 'pays = "push", odds = 1 }', "paytables[0].rows[6].odds"),
        ('from = "J"', 'from = "10"', "paytables[0].rows[6].from"),
        ('from = "J", to = "A"', 'from = "A", to = "J"', "paytables[0].rows[6].to"),
        ('hand = "full_house"', 'hand = "four_of_a_kind"', "paytables[0].rows[3].hand"),
        (OWN, f"{OWN}{OWN}", "paytables[1].code"),
    ],
)
def test_a_bad_paytable_is_refused(old: str, new: str, path: str) -> None:
    assert old in OWN
    assert refused(FLOOR + OWN.replace(old, new, 1)).path == path


def test_rows_of_one_hand_may_not_overlap() -> None:
    row = '  { hand = "pair", from = "6", to = "J", pays = "push" },\n]'
    assert refused(FLOOR + re.sub(r"\]\s*$", row, OWN)).path == "paytables[0].rows[7].hand"
    read_floor(FLOOR + re.sub(r"\]\s*$", row.replace('"J"', '"T"'), OWN))


def test_terms_may_be_rebuilt_from_what_was_stored(harbor: Any) -> None:
    for table in harbor.floor.tables.values():
        definition: dict[str, Any] = {
            "code": table.code,
            "game": table.game,
            "seats": table.seats,
            "decks": table.decks,
            "minimum_cents": table.minimum_cents,
            "maximum_cents": table.maximum_cents,
            "paytables": {wager: edition.code for wager, edition in table.paytables.items()},
            "terms": asdict(table.terms),
        }
        if table.link is not None:
            definition["link"] = table.link.code
        assert table_terms(definition, harbor.floor.links) == table
