"""Installing a floor: what is new is opened once, what is in use is not changed, what is refused leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from pytest_django import DjangoDbBlocker

from jackpot.rules.definition import DefinitionRefused
from tables.services import floors
from tests.services import auditor
from tests.services.fixtures import Databases
from tests.services.house import (
    ALONE,
    FLOOR,
    ODD,
    OPENED,
    House,
    forget,
    message,
    open_odd_table,
    rows,
    royal,
    run,
    seat,
    value,
    verify,
)  # fmt: skip

LATER = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

# Whatever installing writes.
CONFIGURATION = (
    "accounting_property", "accounting_stream", "accounting_account", "accounting_event", "accounting_transfer",
    "accounting_total", "accounting_gamingday", "accounting_auditrecord", "jackpot_link", "jackpot_level",
    "jackpot_levelterms", "jackpot_meter", "jackpot_progressiveedition", "jackpot_progressivegame",
    "jackpot_progressivelevel", "tables_table", "tables_tableterms", "tables_tablepaytable", "tables_wageredition",
)  # fmt: skip


@pytest.fixture
def empty(databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """No floor at all; rolled back."""
    with django_db_blocker.unblock(), databases.entered(migrated), transaction.atomic():
        yield
        transaction.set_rollback(True)


def recorded() -> dict[str, list[tuple[Any, ...]]]:
    """Everything installing writes, row by row."""
    return {table: rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in CONFIGURATION}


def changed(old: str, new: str, floor: str = FLOOR) -> str:
    """The floor with one thing changed."""
    assert floor.count(old) >= 1, f"{old!r} is not in the floor"
    return floor.replace(old, new, 1)


def test_a_floor_is_opened_with_its_books(empty: None) -> None:
    installed = floors.install(FLOOR, at=OPENED)
    assert installed == floors.Installed(True, ("ms-mg01", "twin"), ("MS-101", "MS-102", "TW-201", ALONE))
    run("SET CONSTRAINTS ALL IMMEDIATE")
    auditor.everything_agrees()
    assert rows("SELECT code, next_sequence FROM accounting_stream ORDER BY code") == [
        (ALONE, 1), ("ms-mg01", 1), ("twin", 1),
    ]  # fmt: skip
    # The first seeds come from the house: what the meters show is owed from the first moment.
    assert rows("""
        SELECT debit.code, credit.code, amount_cents, reason FROM accounting_transfer transfer
        JOIN accounting_account debit ON debit.id = debit_id JOIN accounting_account credit ON credit.id = credit_id
        ORDER BY transfer.stream_id, line
    """) == [
        ("seed_expense", "level:ms-mg01/major:liability", 1_000_000, "seed"),
        ("seed_expense", "level:twin/grand:liability", 2_000_000, "seed"),
        ("seed_expense", "level:twin/minor:liability", 5_000, "seed"),
    ]
    # 12:00 UTC is 08:00 in the house: the gaming day of the 1st.
    assert rows("SELECT DISTINCT gaming_date FROM accounting_event") == [(date(2026, 11, 1),)]
    audited = rows("SELECT action, subject, actor FROM accounting_auditrecord ORDER BY id")
    assert audited == [
        ("open property", "BOS", "installed by command"),
        ("open link", "ms-mg01", "installed by command"),
        ("open link", "twin", "installed by command"),
        *(("open table", code, "installed by command") for code in installed.tables),
    ]
    assert value("SELECT count(*) FROM tables_table WHERE state = 'open'") == 4
    assert value("SELECT count(*) FROM jackpot_link WHERE state = 'open'") == 2


def test_terms_are_stored_as_the_floor_says_and_its_defaults(empty: None) -> None:
    floors.install(FLOOR, at=OPENED)
    levels = rows("""
        SELECT level.code, reset_cents, rate_ppm, reserve_ppm, limit_cents, unreasonable_cents, overflow_policy,
            seed_funding, floor_policy, lower(in_force), upper(in_force)
        FROM jackpot_levelterms terms JOIN jackpot_level level ON level.id = terms.level_id ORDER BY level.id
    """)
    assert levels == [
        ("major", 1_000_000, 170_003, 30_007, 50_000_000, None, "next_reset", "reserve_then_house", "allow", OPENED, None),
        ("grand", 2_000_000, 123_457, 10_001, 2_000_400, None, "next_reset", "reserve_then_house", "top_up", OPENED, None),
        ("minor", 5_000, 54_321, 0, 5_100, None, "revenue", "house", "allow", OPENED, None),
    ]  # fmt: skip
    terms = dict(
        rows("SELECT tabl.code, terms.terms FROM tables_tableterms terms JOIN tables_table tabl ON tabl.id = table_id")
    )
    found = {code: json.loads(stored) if isinstance(stored, str) else stored for code, stored in terms.items()}
    assert found["MS-102"]["progressive_survives_fold"] is False
    assert found["MS-101"] == {
        "progressive_survives_fold": True, "cover_all_counts_folded_hands": False, "limit_scope": "base",
        "misdeal_voids": "seat", "bonus_returns_stake": False, "payout_limit_cents": 5_000_000, "ante_bonus_odds": 0,
        "ace_two_consecutive": False, "copy_hand": "dealer", "wheel_is_second": True,
    }  # fmt: skip


def test_a_second_run_changes_nothing(empty: None) -> None:
    floors.install(FLOOR, at=OPENED)
    before = recorded()
    assert floors.install(FLOOR, at=LATER) == floors.Installed(False, (), ())
    assert recorded() == before


def test_what_is_new_is_added_and_what_is_left_out_stays(empty: None) -> None:
    first = FLOOR[: FLOOR.index('[[tables]]\ncode = "TW-201"')]
    floors.install(first, at=OPENED)
    rest = FLOOR[: FLOOR.index("[[tables]]")] + FLOOR[FLOOR.index('[[tables]]\ncode = "TW-201"') :]
    assert floors.install(rest, at=LATER) == floors.Installed(False, (), ("TW-201", ALONE))
    assert value("SELECT count(*) FROM tables_table") == 4
    assert rows("SELECT lower(in_force) FROM tables_tableterms ORDER BY id") == [
        (OPENED,),
        (OPENED,),
        (LATER,),
        (LATER,),
    ]
    auditor.everything_agrees()


def test_a_table_that_joins_a_busy_link_is_settled_with_it(house: House) -> None:
    """The kept terms of the link are dropped when a table joins: its rounds are known at once."""
    house.play(royal("R-1"))
    joining = FLOOR + FLOOR[
        FLOOR.index('[[tables]]\ncode = "MS-101"') : FLOOR.index('[[tables]]\ncode = "MS-102"')
    ].replace("MS-101", "MS-103")
    floors.install(joining, at=OPENED)
    sent = message("R-1", seat(1, "3s 7d", progressive=100)) | {"table": "MS-103"}
    forget_only_the_directory()
    house.post(sent)
    house.settle()
    assert house.outcome(sent) == ("settled", [])
    assert house.order() == ["R-1", "R-1"]
    auditor.everything_agrees()


def forget_only_the_directory() -> None:
    """A second later in the web process; the settling worker is not told."""
    from devices.intake import directory

    directory.forget()


CHANGES = [
    ("property.name", 'name = "Boston Harbor"', 'name = "Boston Pier"'),
    ("property.time_zone", "America/New_York", "America/Chicago"),
    ("property.gaming_day_starts", '"06:00"', '"05:00"'),
    ("property.jurisdiction", '"MA"', '"NJ"'),
    ("property.code", '"BOS"', '"BOX"'),
    ("links[0].name", "Multi-Game 1", "Multi-Game 2"),
    ("links[0].paytable", 'paytable = "ms-mg-01"', 'paytable = "ms-mg-02"'),
    ("links[0].levels", "rate_ppm = 170003", "rate_ppm = 170004"),
    ("links[0].levels", "limit_cents = 50000000\n", ""),
    ("links[1].levels", "reset_cents = 5000\n", "reset_cents = 5001\n"),
    ("links[1].levels", 'floor_policy = "top_up"', 'floor_policy = "allow"'),
    ("links[1].paytable", 'pays = "for", odds = 50', 'pays = "for", odds = 51'),
    ("links[1].paytable", "envy_cents = 1000 ", "envy_cents = 1001 "),
    ("tables[0].seats", "seats = 6", "seats = 5"),
    ("tables[0].minimum_cents", "minimum_cents = 1000", "minimum_cents = 1100"),
    ("tables[0].maximum_cents", "maximum_cents = 50000", "maximum_cents = 60000"),
    ("tables[0].paytables", '"3cs-01"', '"3cs-02"'),
    ("tables[0].paytables", ', cover_all = "ms-cover-all" }', " }"),
    ("tables[0].link", 'link = "ms-mg01"\n', ""),
    ("tables[1].terms", "progressive_survives_fold = false", "progressive_survives_fold = true"),
    ("tables[3].link", f'code = "{ALONE}"\n', f'code = "{ALONE}"\nlink = "ms-mg01"\n'),
]


@pytest.mark.parametrize(("path", "old", "new"), CHANGES, ids=[f"{change[0]}-{n}" for n, change in enumerate(CHANGES)])
def test_a_change_of_what_is_in_use_is_refused(path: str, old: str, new: str, house: House) -> None:
    before = recorded()
    with pytest.raises(DefinitionRefused) as refusal, transaction.atomic():
        floors.install(changed(old, new), at=LATER)
    assert str(refusal.value).startswith(f"{path}: "), refusal.value
    assert recorded() == before


def test_nothing_new_is_opened_beside_a_refused_change(house: House) -> None:
    """One refusal leaves nothing behind, whatever stood before it in the file."""
    before = recorded()
    added = changed("[[tables]]", '[[links]]\ncode = "new"\npaytable = "ms-mg-02"\n[[links.levels]]\ncode = "major"\n'
                    "reset_cents = 5\nrate_ppm = 5\n\n[[tables]]")  # fmt: skip
    with pytest.raises(DefinitionRefused, match=r"tables\[3\]\.seats"), transaction.atomic():
        floors.install(added[::-1].replace("6 = staes", "4 = staes", 1)[::-1], at=LATER)
    assert recorded() == before


REFUSED = [
    ("tables[0].paytables.cover_all", "seats = 6", "seats = 7"),
    ("tables[0].decks", 'game = "mississippi-stud"\nseats = 6\ndecks = 1', 'game = "mississippi-stud"\nseats = 6\ndecks = 2'),
    ("tables[2].link", 'game = "mississippi-stud"\nseats = 6\ndecks = 1\nminimum_cents = 500\nmaximum_cents = 100000\n'
     'link = "twin"\npaytables = { base = "ms-base", cover_all = "ms-cover-all" }',
     'game = "let-it-ride"\nseats = 6\ndecks = 1\nminimum_cents = 500\nmaximum_cents = 100000\nlink = "twin"\n'
     'paytables = { base = "lir-base" }'),
    ("links[0].paytable", 'paytable = "ms-mg-01"', 'paytable = "ms-mg-99"'),
    ("tables[0].surrender", "seats = 6", "surrender = true\nseats = 6"),
    ("links[1].levels", '[[links.levels]]\ncode = "minor"\nreset_cents = 5000\nrate_ppm = 54321\nlimit_cents = 5100\n'
     'overflow_policy = "revenue"\nseed_funding = "house"\n', ""),
    ("tables[3].code", ALONE, "twin"),
    ("paytables[0].code", 'code = "two-prizes"', 'code = "ms-mg-02"'),
    ("property.time_zone", "America/New_York", "America/Boston"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new"), REFUSED, ids=[f"{each[0]}-{n}" for n, each in enumerate(REFUSED)])
def test_a_floor_that_cannot_stand_leaves_nothing_behind(path: str, old: str, new: str, empty: None) -> None:
    with pytest.raises(DefinitionRefused) as refusal, transaction.atomic():
        floors.install(changed(old, new), at=OPENED)
    assert str(refusal.value).startswith(path), refusal.value
    assert {table for table, found in recorded().items() if found} == set()


def _table(code: str, *more: str) -> str:
    lines = [
        "[[tables]]", f'code = "{code}"', 'game = "mississippi-stud"', "seats = 6", "minimum_cents = 500",
        "maximum_cents = 9000", 'paytables = { base = "ms-base" }', *more,
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


HOME = FLOOR[: FLOOR.index("[[paytables]]")]


@pytest.mark.parametrize("more", [(), ('link = "other"',)], ids=["alone", "on a link"])
def test_a_table_cannot_take_the_code_of_a_link_that_is_there(more: tuple[str, ...], house: House) -> None:
    """Rounds and sequences are told by the stream's code: one code must not mean a link and a table."""
    other = '[[links]]\ncode = "other"\npaytable = "ms-mg-01"\n[[links.levels]]\ncode = "major"\nreset_cents = 5\nrate_ppm = 5\n'
    before = recorded()
    with pytest.raises(DefinitionRefused) as refusal, transaction.atomic():
        floors.install(HOME + other + _table("ms-mg01", *more), at=LATER)
    assert str(refusal.value).startswith("tables[0].code: "), refusal.value
    assert recorded() == before


@pytest.mark.parametrize("code", ["MS-101", ALONE], ids=["of a linked table", "of a table alone"])
def test_a_link_cannot_take_the_code_of_a_table_that_is_there(code: str, house: House) -> None:
    link = f'[[links]]\ncode = "{code}"\npaytable = "ms-mg-01"\n[[links.levels]]\ncode = "major"\nreset_cents = 5\nrate_ppm = 5\n'
    before = recorded()
    with pytest.raises(DefinitionRefused) as refusal, transaction.atomic():
        floors.install(HOME + link, at=LATER)
    assert str(refusal.value).startswith("links[0].code: "), refusal.value
    assert recorded() == before


def test_a_floor_paytable_under_a_published_code_with_other_rows_is_refused(house: House) -> None:
    """A new link on the floor's own paytable, whose rows were changed meanwhile: editions never change (§4.9)."""
    text = changed('code = "twin"', 'code = "twin-2"', FLOOR[: FLOOR.index("[[tables]]")])
    before = recorded()
    with pytest.raises(DefinitionRefused) as refusal, transaction.atomic():
        floors.install(changed("odds = 50", "odds = 51", text), at=LATER)
    assert str(refusal.value).startswith("links[1].paytable: "), refusal.value
    assert recorded() == before
    assert floors.install(text, at=LATER).links == ("twin-2",)


def test_a_floor_paytable_is_stored_whole(house: House) -> None:
    edition = rows("SELECT wager_cents, definition FROM jackpot_progressiveedition WHERE code = 'two-prizes'")[0]
    definition = json.loads(edition[1]) if isinstance(edition[1], str) else edition[1]
    assert edition[0] == 500
    assert definition["rows"][5] == {"hand": "straight", "pays": "sum", "cents": 12345}
    assert rows("SELECT game FROM jackpot_progressivegame g JOIN jackpot_progressiveedition e ON e.id = edition_id"
                " WHERE e.code = 'two-prizes'") == [("mississippi-stud",)]  # fmt: skip
    levels = rows("SELECT l.code FROM jackpot_progressivelevel l JOIN jackpot_progressiveedition e ON e.id = edition_id"
                  " WHERE e.code = 'two-prizes' ORDER BY l.id")  # fmt: skip
    assert levels == [("grand",), ("minor",)]


def test_every_amount_the_floor_reader_lets_in_can_be_stored(empty: None) -> None:
    """The reader's bounds are inside the database's: nothing that is read breaks while it is written."""
    extreme = changed("limit_cents = 50000000", "limit_cents = 1000000000000000\nunreasonable_cents = 0")
    extreme = changed("maximum_cents = 50000", "maximum_cents = 1000000000000000", extreme)
    extreme = changed("reset_cents = 1000000\n", "reset_cents = 0\n", extreme)
    extreme = changed('name = "Multi-Game 1"', f'name = "{"é" * 200}"', extreme)
    floors.install(extreme, at=OPENED)
    run("SET CONSTRAINTS ALL IMMEDIATE")
    auditor.everything_agrees()


def test_the_command_says_what_it_opened_and_what_it_refuses(empty: None, tmp_path: Path) -> None:
    floor = tmp_path / "floor.toml"
    floor.write_text(FLOOR, "utf-8")
    said = StringIO()
    call_command("load_floor", str(floor), stdout=said)
    assert said.getvalue().splitlines() == [
        "opened link ms-mg01", "opened link twin",
        "opened table MS-101", "opened table MS-102", "opened table TW-201", f"opened table {ALONE}",
    ]  # fmt: skip
    said = StringIO()
    call_command("load_floor", str(floor), stdout=said)
    assert said.getvalue().strip() == "nothing to do: the floor is installed"
    floor.write_text(changed("seats = 6", "seats = 5"), "utf-8")
    said = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("load_floor", str(floor), stderr=said)
    assert ended.value.code == 2
    assert said.getvalue().startswith("tables[0].seats: table MS-101 is in use with seats = 6")
    forget()


def test_an_odd_code_from_before_goes_on_and_no_new_one_is_let_in(busy_house: House) -> None:
    """Blank, slash and a letter beyond ASCII: its rounds settle, its record verifies, only floor files refuse it."""
    open_odd_table()
    (settlement,) = busy_house.play(message("r/1 \u00fc", table=ODD))
    assert (settlement["table"], settlement["outcome"]) == (ODD, "settled")
    assert busy_house.order(ODD) == ["r/1 \u00fc"]
    verify()
    before = recorded()
    with pytest.raises(DefinitionRefused, match="printable ASCII without spaces or slashes") as refusal:
        floors.install(FLOOR.replace(f'code = "{ALONE}"', f'code = "{ODD}2"'), at=LATER)
    assert refusal.value.path == "tables[3].code"
    assert recorded() == before
