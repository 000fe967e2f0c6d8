"""What goes to the general ledger: CSV, and a journal that hledger and beancount read (SPEC §9, REQUIREMENTS R91, R97)."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from beancount import loader
from beancount.core import realization as _realization
from pytest_django import DjangoDbBlocker

from accounting import book_queries, general_ledger, statements
from accounting.queries import trial_balance
from accounting.rules.plain_text import Posting, dollars, entry, opening, plain, plain_name
from accounting.services import house_numbers
from tests.services.fixtures import Databases
from tests.services.house import ALONE, DEALT, LINKED, TWIN, House, message, open_odd_table, royal, two_hits, value

FIRST, DAYS = date(2026, 11, 27), 30
LAST = FIRST + timedelta(days=DAYS - 1)


@pytest.fixture(scope="module")
def month(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database in which a month was played: rounds every day, awards paid, unclaimed and rejected, levels adjusted."""
    with django_db_blocker.unblock():
        name = databases.create(like=floored)
        with databases.entered(name):
            house = House()
            open_odd_table()
            for number in range(DAYS):
                dealt = DEALT + timedelta(days=number)
                at = dealt + timedelta(seconds=2)
                moment = dealt.isoformat()
                house.play(
                    message(f"A-{number}", dealt_at=moment),
                    message(f"B-{number}", table=ALONE, dealt_at=moment),
                    *([royal(f"C-{number}", dealt_at=moment)] if number % 7 == 0 else []),
                    *([two_hits(f"D-{number}", table=TWIN, dealt_at=moment)] if number % 5 == 0 else []),
                    at=at,
                )
                if number % 7 == 1:
                    hit = f"ms-mg01-{number // 7 + 1:06d}"
                    house.act("hit.verify", hit, at=at)
                    house.act("hit.approve", hit, at=at)
                    house.act("hit.unclaimed" if number > 7 else "hit.pay", hit, at=at, **METHOD[number > 7])
                    house.act("payout.pay", f"{LINKED}/C-{number - 1}/1/3", at=at, method="table")
            house.act("level.adjust", "twin/grand", at=at, part="display", cents=-12_345, reason="correction")
            house.act("round.void", f"{LINKED}/A-3", at=at)
            house_numbers.give({"cage": "1010", "wagers": "4000.1"}, by="ann", at=at)
        yield name
        databases.drop(name)


realization: Any = _realization  # it has no types

METHOD = {True: {}, False: {"method": "cage"}}


@pytest.fixture
def played(month: str, databases: Databases, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The month's database, to be looked at."""
    with django_db_blocker.unblock(), databases.entered(month):
        yield


def ours(day: date) -> dict[str, str]:
    """Our balances at the end of a gaming day, in dollars by the account's name in the journal; none of zero."""
    return {
        plain_name(each.code, each.kind, each.owner): dollars(each.after_cents)
        for each in trial_balance(day)
        if each.after_cents
    }


def of_hledger(file: Path) -> dict[str, str]:
    """What hledger makes of a journal: balances by account."""
    program = shutil.which("hledger")
    assert program, "hledger is missing: `manage.py test` installs it where it may"
    for command in (["check"], ["balance", "--flat", "--no-total", "--output-format", "csv"]):
        done = subprocess.run([program, "-f", str(file), *command], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
    return {account: amount.removesuffix(" USD") for account, amount in rows if amount != "0"}


def of_beancount(file: Path) -> dict[str, str]:
    """What beancount makes of a journal: balances by account."""
    entries, errors, _ = loader.load_file(str(file))
    assert errors == []
    found = {}
    for account in realization.iter_children(realization.realize(entries), leaf_only=True):
        balance = account.balance.get_currency_units("USD").number
        if balance:
            found[account.account] = f"{balance:.2f}"
            assert len(account.balance) == 1, "in dollars alone"
    return found


@pytest.mark.parametrize("detail", general_ledger.LEVELS_OF_DETAIL)
@pytest.mark.parametrize("read_by", [of_hledger, of_beancount], ids=["hledger", "beancount"])
def test_both_programs_read_a_played_month_and_come_to_our_balances(
    read_by: object, detail: str, played: None, tmp_path: Path
) -> None:
    file = tmp_path / "month.journal"
    file.write_text("".join(general_ledger.journal(date(2026, 11, 1), LAST, detail, carried=False)), "utf-8")
    assert callable(read_by)
    expected = ours(LAST)
    assert len(expected) > 15, "a month that moves little proves little"
    assert read_by(file) == expected


@pytest.mark.parametrize("read_by", [of_hledger, of_beancount], ids=["hledger", "beancount"])
def test_a_period_that_carries_over_comes_to_our_balances_too(read_by: object, played: None, tmp_path: Path) -> None:
    file = tmp_path / "days.journal"
    text = "".join(general_ledger.journal(FIRST + timedelta(days=9), FIRST + timedelta(days=11), "days", carried=True))
    file.write_text(text, "utf-8")
    assert callable(read_by)
    assert read_by(file) == ours(FIRST + timedelta(days=11)) != ours(LAST)


def csv_of(first: date, last: date, detail: str) -> list[dict[str, str]]:
    """The rows of the CSV."""
    return list(csv.DictReader(io.StringIO("".join(general_ledger.csv(first, last, detail)))))


def test_days_and_entries_of_the_csv_add_up_to_the_same_and_foot(played: None) -> None:
    sums: dict[str, dict[str, list[int]]] = {}
    for detail in general_ledger.LEVELS_OF_DETAIL:
        rows = csv_of(FIRST, LAST, detail)
        of: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for row in rows:
            of[row["account"]][0] += int(row["debit_cents"])
            of[row["account"]][1] += int(row["credit_cents"])
            assert row["debit"] == dollars(int(row["debit_cents"]))
        assert sum(each[0] for each in of.values()) == sum(each[1] for each in of.values()) > 0
        sums[detail] = dict(of)
    assert sums["days"] == sums["entries"]
    for balance in trial_balance(LAST):
        before = next((each for each in trial_balance(FIRST - timedelta(days=1)) if each.code == balance.code), None)
        moved = sums["days"].get(balance.code, [0, 0])
        assert balance.after_cents - (before.after_cents if before else 0) == moved[0] - moved[1], balance.code


def test_the_house_finds_its_own_numbers_and_every_transfer_once(played: None) -> None:
    rows = csv_of(FIRST, LAST, "entries")
    assert {row["number"] for row in rows if row["account"] == "wagers"} == {"4000.1"}
    assert {row["number"] for row in rows if row["account"] == "envy"} == {""}
    places = {(row["stream"], row["sequence"], row["line"], row["side"]) for row in rows}
    expected = value(
        "SELECT count(*) FROM accounting_transfer JOIN accounting_event USING (stream_id, sequence)"
        " WHERE gaming_date BETWEEN %s AND %s", FIRST, LAST,
    )  # fmt: skip
    assert len(places) == len(rows) == 2 * expected


def test_an_export_of_any_length_takes_no_more_memory_than_a_run_of_it(
    played: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The month written once takes what the month written twenty times over takes."""
    peaks = []
    one = list(book_queries.transfers_between(FIRST, LAST))
    for times in (1, 20):

        def long(first: date, last: date, times: int = times) -> Iterator[book_queries.Moved]:
            for _ in range(times):
                yield from one

        monkeypatch.setattr(general_ledger, "transfers_between", long)
        tracemalloc.start()
        for _ in general_ledger.journal(FIRST, LAST, "entries", carried=False):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5, peaks


def test_transfers_are_read_a_run_of_events_at_a_time(played: None, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(book_queries.transfers_between(FIRST, LAST))
    monkeypatch.setattr(book_queries, "EVENTS_AT_ONCE", 3)
    asked: list[int] = []
    execute = statements.execute

    def counted(*given: Any) -> Any:
        asked.append(1)
        return execute(*given)

    monkeypatch.setattr(book_queries, "execute", counted)
    assert list(book_queries.transfers_between(FIRST, LAST)) == whole
    assert len(asked) > 20
    asked.clear()
    list(islice(book_queries.transfers_between(FIRST, LAST), 2))
    assert len(asked) == 1, "nothing is read before it is asked for"


def test_numbers_are_kept_on_the_audit_trail_and_refused_by_name(house: House) -> None:
    at = datetime(2026, 12, 1, tzinfo=UTC)
    assert house_numbers.give({"cage": "1010", "envy": ""}, by="ann", at=at) == 1
    assert house_numbers.give({"cage": "1010"}, by="ann", at=at) == 0, "nothing changed"
    assert house_numbers.give({"cage": "1020"}, by="bob", at=at) == 1
    trail = "SELECT actor, subject, detail FROM accounting_auditrecord WHERE action = 'number an account' ORDER BY id"
    from tests.services.house import rows

    assert [(actor, subject) for actor, subject, _ in rows(trail)] == [("ann", "cage"), ("bob", "cage")]
    assert general_ledger.exported()["cage"].number == "1020"
    for numbers, account in (({"cage": "1", "envy": "=1+1"}, "envy"), ({"cage": "1", "none": "2"}, "none")):
        with pytest.raises(house_numbers.NumberRefused) as refusal:
            house_numbers.give(numbers, by="ann", at=at)
        assert refusal.value.account == account
    assert general_ledger.exported()["cage"].number == "1020", "nothing of a refused set is kept"
    assert house_numbers.give({"cage": ""}, by="ann", at=at) == 1
    assert general_ledger.exported()["cage"].number == ""


def test_no_two_accounts_share_a_name_in_the_journal() -> None:
    codes = ["a b", "a-b", "a-u20-b", "a_b", "A b", "é", "-u", "u", "a/b", "a-", "a"]
    assert len({plain(code) for code in codes}) == len(codes)
    assert plain_name("level:l/m:reserve", "reserve", "l/m") == "Liabilities:Link-l:Level-m:Reserve"


def test_odd_texts_stay_on_their_line(tmp_path: Path) -> None:
    """A quote, a semicolon, a line break or a backslash in a reference changes neither amount nor account."""
    text = opening("Assets:Cage", FIRST, 'a "b"\n; c') + opening("Income:Wagers", FIRST, "")
    said = 'R-1 "x"\\ ; y\n  Assets:Cage  9.00 USD'
    text += entry(FIRST, "round", said, said, [Posting("Assets:Cage", 5, said), Posting("Income:Wagers", -5, "")])
    file = tmp_path / "odd.journal"
    file.write_text(text, "utf-8")
    expected = {"Assets:Cage": "0.05", "Income:Wagers": "-0.05"}
    assert of_hledger(file) == of_beancount(file) == expected
