"""Each table's gaming day as the books have it, against the settlements of its rounds (SPEC §10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.cache import cache

from accounting.rules.acts import ActRefused
from accounting.rules.gaming_day import began
from tables.queries import payouts
from tables.queries.days import TableDay, tables_on
from tables.queries.floor import tables_now
from tables.services import floors, slips
from tests.services.house import (
    ALONE,
    FLOOR,
    LINKED,
    NEIGHBOUR,
    OPENED,
    TWIN,
    House,
    Message,
    forget,
    locked,
    message,
    rows,
    royal,
    run,
    seat,
    two_hits,
)

DAY = date(2026, 11, 27)
GAME = "mississippi-stud"


@pytest.fixture(autouse=True)
def _added_up_anew() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def figures(house: House, table: str, link: str | None, *sent: Message) -> TableDay:
    """What rounds of a table come to by their messages and settlements; their contributions by the transfers."""
    settlements = [house.settlement(each) for each in sent]
    seats = [each for settlement in settlements for each in settlement["seats"]]
    jackpot = sum(award["paid_cents"] for settlement in settlements for award in settlement["awards"])
    envy = sum(each["paid_cents"] for one in seats for each in one["envy"])
    references = [each["round"] for each in sent]
    ((contributions,),) = rows(
        """
        SELECT coalesce(sum(amount_cents), 0) FROM accounting_transfer
        WHERE reason = 'contribution' AND (stream_id, sequence) IN (
            SELECT stream_id, sequence FROM tables_round
            WHERE table_id = (SELECT id FROM tables_table WHERE code = %s) AND reference = ANY(%s))
        """,
        table,
        references,
    )
    return TableDay(
        table,
        GAME,
        link,
        len(sent),
        sum(cents for each in sent for one in each["seats"] for cents in one["wagers"].values()),
        sum(one["paid_cents"] for one in seats) - jackpot - envy,
        jackpot,
        envy,
        int(contributions),
    )


def test_a_tables_day_is_what_its_rounds_came_to(house: House) -> None:
    linked = [
        message("R-1"),
        two_hits("R-2"),
        message("R-3", seat(1, "3s 3d", 3, 3, 3), seat(4, "Ks Kc", progressive=100)),
    ]
    linked.append(royal("R-8"))  # another envy, another award
    neighbour = [royal("R-1", table=NEIGHBOUR)]
    moved_nothing = message("R-1", table=TWIN, irregularities=[{"code": "shoe_failed"}])
    alone = [message("R-1", seat(1, "Ks Kc"), seat(2, "3s 7d"), table=ALONE)]
    other_days = [
        message("R-4", dealt_at="2026-11-27T05:59:59-05:00"),
        message("R-5", dealt_at="2026-11-26T21:00:00-05:00"),
    ]
    house.play(*linked, *neighbour, *alone, *other_days, moved_nothing, message("held", seat(9, "Ks Kc")))
    expected = [
        figures(house, LINKED, "ms-mg01", *linked),
        figures(house, NEIGHBOUR, "ms-mg01", *neighbour),
        TableDay(TWIN, GAME, "twin", 1, 0, 0, 0, 0, 0),
        figures(house, ALONE, None, *alone),
    ]
    first, second, _, last = expected
    assert first.pays_cents and first.jackpot_cents and first.envy_cents and first.contributions_cents
    assert second.envy_cents and last.pays_cents and not last.contributions_cents
    assert first.win_cents == first.handle_cents - first.pays_cents - first.envy_cents - first.contributions_cents
    assert tables_on(DAY) == expected
    assert [tables_on(DAY, table=each.table) for each in expected] == [[each] for each in expected]
    assert [each.rounds for each in tables_on(date(2026, 11, 26))] == [2, 0, 0, 0]
    assert [each.rounds for each in tables_on(date(2026, 11, 28))] == [0, 0, 0, 0]


def test_rounds_of_closed_days_are_of_the_day_that_they_are_booked_on(house: House) -> None:
    """However long before it they were dealt: all of them, and no other of the days that they were dealt on."""
    own = message("before", seat(1, "Ks Kc"), dealt_at="2026-11-25T20:00:00-05:00")
    house.play(own, at=datetime(2026, 11, 26, 1, 0, 1, tzinfo=UTC))
    run("INSERT INTO accounting_gamingday (date, closed_at) VALUES ('2026-11-27', now())")
    late = [
        message("R-1", seat(1, "Ks Kc"), dealt_at="2026-11-25T20:00:00-05:00"),
        royal("R-2", dealt_at="2026-11-26T20:00:00-05:00"),
        message("R-3", dealt_at="2026-11-28T20:00:00-05:00"),
        message("R-4", dealt_at="2026-11-29T05:59:59-05:00"),
    ]
    house.play(*late, at=datetime(2026, 11, 29, 11, 0, 0, tzinfo=UTC))
    assert tables_on(date(2026, 11, 28), table=LINKED) == [figures(house, LINKED, "ms-mg01", *late)]
    assert tables_on(DAY, table=LINKED) == [TableDay(LINKED, GAME, "ms-mg01", 0, 0, 0, 0, 0, 0)]
    for day, on_the_floor in ((date(2026, 11, 28), 4), (DAY, 0), (date(2026, 11, 25), 1)):
        begins = began(day, zone=ZoneInfo("America/New_York"), starts=time(6))
        assert {each.code: each.rounds_today for each in tables_now(day, begins)}[LINKED] == on_the_floor
    assert tables_on(date(2026, 11, 25), table=LINKED) == [figures(house, LINKED, "ms-mg01", own)]
    for asked, paid in (("2026-11-28", {"R-1", "R-2"}), ("2026-11-27", set()), ("2026-11-25", {"before"})):
        assert {item["round"] for item in payouts.page({"from": asked, "to": asked}).items} == paid


def test_tables_stand_by_their_codes_whenever_they_were_put_there(house: House) -> None:
    lone = FLOOR[FLOOR.index('[[tables]]\ncode = "VIP-7"') :]
    property_alone = FLOOR[: FLOOR.index("[[paytables]]")]
    floors.install(property_alone + lone.replace(ALONE, "AA-1"), at=OPENED)
    forget()
    assert [each.table for each in tables_on(DAY)] == ["AA-1", LINKED, NEIGHBOUR, TWIN, ALONE]


def test_what_a_lock_contributed_is_of_its_tables_day_and_what_was_taken_back_of_it_is_not(house: House) -> None:
    """By the lock, whatever became of it: decided, decided void, void by people, or still waiting.

    What it had brought to the reserve was paid with an award since: what the house puts in for it is no contribution.
    """
    both = (seat(1, "3s 7d", progressive=100), seat(2, "4h 8c", progressive=100))
    house.play(
        locked("R-1", 1, 2), message("R-1", *both),
        locked("R-2", 1, 2), royal("R-6"), message("R-2", *both, irregularities=[{"code": "shoe_failed"}]),
        locked("R-3", 1), locked("R-4", 1, 2), message("R-5", *both), royal("R-7"),
    )  # fmt: skip
    house.act("lock.void", f"{LINKED}/R-3")
    made_good = "SELECT sequence FROM accounting_transfer JOIN accounting_account debit ON debit.id = debit_id"
    assert len(rows(f"{made_good} WHERE debit.code = 'adjustments'")) == 2
    ((net,),) = rows(
        """
        SELECT sum(amount_cents * CASE WHEN debit.code = 'contribution_expense' THEN 1 ELSE -1 END)
        FROM accounting_transfer JOIN accounting_account debit ON debit.id = debit_id
        JOIN accounting_account credit ON credit.id = credit_id
        WHERE 'contribution_expense' IN (debit.code, credit.code)
        """
    )
    assert [(each.table, each.contributions_cents) for each in tables_on(DAY)] == [
        (LINKED, int(net)), (NEIGHBOUR, 0), (TWIN, 0), (ALONE, 0),
    ]  # fmt: skip
    assert int(net) > rows("SELECT max(amount_cents) FROM accounting_transfer WHERE reason = 'contribution'")[0][0]
    assert {reason for (reason,) in rows("SELECT DISTINCT reason FROM accounting_transfer")} >= {"contribution", "void"}


def test_a_void_lock_is_taken_off_on_its_day_whatever_another_link_does_at_the_same_place(house: House) -> None:
    house.play(locked("R-1"), locked("R-1", table=TWIN))
    contributed = {each.table: each.contributions_cents for each in tables_on(DAY)}
    assert contributed[LINKED] and contributed[TWIN]
    at_once = house.act("lock.void", f"{LINKED}/R-1")
    a_day_later = house.act("lock.void", f"{TWIN}/R-1", at=house.now + timedelta(days=1))
    assert at_once[1] == a_day_later[1]
    assert {each.table: each.contributions_cents for each in tables_on(DAY)} == contributed, "added up some seconds ago"
    cache.clear()
    for day, linked, twin in ((DAY, 0, contributed[TWIN]), (DAY + timedelta(days=1), 0, -contributed[TWIN])):
        found = {each.table: each.contributions_cents for each in tables_on(day)}
        assert (found[LINKED], found[TWIN]) == (linked, twin), day


def test_what_the_house_makes_good_of_a_lock_that_is_taken_back_is_no_contribution(house: House) -> None:
    """Where the meter shows less than what is to be taken from it; by people, and with a void result."""
    for lock in (locked("R-1"), locked("R-2")):
        house.play(lock)
        ((shown,),) = rows(
            "SELECT value_cents FROM jackpot_meter JOIN jackpot_level ON id = level_id WHERE code = 'major'"
        )
        house.act("level.adjust", "ms-mg01/major", part="display", cents=-shown, reason="correction")
        if lock["round"] == "R-1":
            house.act("lock.void", f"{LINKED}/R-1")
        else:
            house.play(message("R-2", irregularities=[{"code": "shoe_failed"}]))
    made_good = (
        "SELECT count(DISTINCT sequence) FROM accounting_transfer JOIN accounting_account debit ON debit.id = debit_id"
    )
    assert rows(f"{made_good} WHERE reason = 'void' AND debit.code = 'adjustments'") == [(2,)]
    ((net,),) = rows(
        "SELECT sum(amount_cents * CASE WHEN debit.code = 'contribution_expense' THEN 1 ELSE -1 END)"
        " FROM accounting_transfer JOIN accounting_account debit ON debit.id = debit_id"
        " JOIN accounting_account credit ON credit.id = credit_id WHERE 'contribution_expense' IN (debit.code, credit.code)"
    )
    assert tables_on(DAY, table=LINKED)[0].contributions_cents == int(net)


def test_voids_of_a_day_are_taken_off_together_and_nothing_of_another_link(house: House) -> None:
    """All that a table played, and part of what another did, at the same places of two streams."""
    pair = [seat(1, "Ks Kc"), seat(2, "3s 7d")]
    linked = [royal("R-1"), two_hits("R-2"), message("R-3", *pair)]
    twin = [royal("R-1", table=TWIN), two_hits("R-2", table=TWIN), message("R-3", *pair, table=TWIN)]
    house.play(*linked, *twin)
    places = [
        [house.act("round.void", f"{each['table']}/{each['round']}") for each in some] for some in (linked, twin[1:])
    ]
    assert {sequence for _, sequence in places[1]} < {sequence for _, sequence in places[0]}
    assert tables_on(DAY, table=LINKED) == [TableDay(LINKED, GAME, "ms-mg01", 3, 0, 0, 0, 0, 0, voids=3)]
    assert tables_on(DAY, table=TWIN) == [replace(figures(house, TWIN, "twin", twin[0]), rounds=3, voids=2)]


def test_a_void_of_a_round_that_moved_nothing_is_counted_like_any_other(house: House) -> None:
    """Its only seat was dealt a wrong number of cards, so that no cent was won or lost."""
    for table in (LINKED, ALONE):
        house.play(message("R-1", table=table, irregularities=[{"code": "wrong_card_count", "seat": 1}]))
        house.act("round.void", f"{table}/R-1")
    assert rows("SELECT count(*) FROM accounting_transfer WHERE sequence > 0") == [(0,)]
    counted = {each.table: (each.rounds, each.voids, each.handle_cents) for each in tables_on(DAY)}
    assert counted == {LINKED: (1, 1, 0), NEIGHBOUR: (0, 0, 0), TWIN: (0, 0, 0), ALONE: (1, 1, 0)}


def test_a_rejected_hit_is_taken_off_the_day_that_it_is_rejected_on(house: House) -> None:
    """Its award and the envy that was not paid yet; the other hit of the round stands (SPEC §6.7)."""
    both = two_hits("R-1")
    (settlement,) = house.play(both)
    before = figures(house, LINKED, "ms-mg01", both)
    house.act("hit.reject", "ms-mg01-000002")
    (_, rejected) = settlement["awards"]
    envy = sum(
        each["paid_cents"]
        for entry in settlement["seats"]
        for each in entry["envy"]
        if each["from_seat"] == rejected["seat"]
    )
    assert envy and rejected["paid_cents"]
    (found,) = tables_on(DAY, table=LINKED)
    assert (found.jackpot_cents, found.envy_cents, found.rejections) == (
        before.jackpot_cents - rejected["paid_cents"], before.envy_cents - envy, 1,
    )  # fmt: skip
    assert found.win_cents == before.win_cents + envy
    assert [each.rejections for each in tables_on(DAY) if each.table != LINKED] == [0, 0, 0]


@pytest.mark.parametrize("act", ["hit.reject", "round.void"])
def test_what_the_house_puts_in_for_a_seed_that_is_gone_is_no_award_taken_off(act: str, house: House) -> None:
    """The hit won little, was followed by a whole seed, and much of that is gone when the hit is undone."""
    house.act("level.adjust", "ms-mg01/major", part="display", cents=-990_000, reason="correction")
    (settlement,) = house.play(royal("R-1"))
    house.act("level.adjust", "ms-mg01/major", part="display", cents=-950_000, reason="correction")
    (award,) = settlement["awards"]
    (before,) = tables_on(DAY, table=LINKED)
    assert before.jackpot_cents == award["paid_cents"] < 20_000
    stream, sequence = house.act(act, "ms-mg01-000001" if act == "hit.reject" else f"{LINKED}/R-1")
    put_in = (
        "SELECT FROM accounting_transfer JOIN accounting_account debit ON debit.id = debit_id"
        " WHERE debit.code = 'adjustments' AND reason = 'rejection' AND stream_id = %s AND sequence = %s"
    )
    assert len(rows(put_in, House.stream(stream), sequence)) == 1
    cache.clear()
    (found,) = tables_on(DAY, table=LINKED)
    assert (found.jackpot_cents, found.rejections, found.voids) == (0, act == "hit.reject", act == "round.void")


def test_all_that_rejected_hits_won_is_taken_off_and_nothing_of_another_link(house: House) -> None:
    """Two hits of a table, one with two neighbours' envy, and a rejection of the other link at the place of one of them."""
    first, second = house.play(two_hits("R-1"), royal("R-2"))
    house.play(message("R-0", table=TWIN), royal("R-1", table=TWIN))
    before = {each.table: each for each in tables_on(DAY)}
    house.act("hit.reject", "ms-mg01-000001")
    house.act("hit.verify", "ms-mg01-000003")  # which takes nothing off
    for hit in ("twin-000001", "ms-mg01-000003"):
        house.act("hit.reject", hit)
    cache.clear()
    shared = "SELECT sequence FROM accounting_event WHERE kind = 'hit.reject' GROUP BY sequence HAVING count(*) = 2"
    assert len(rows(shared)) == 1
    envy = [
        each["paid_cents"]
        for settlement in (first, second)
        for entry in settlement["seats"]
        for each in entry["envy"]
        if each["from_seat"] == settlement["awards"][0]["seat"]
    ]
    assert len(envy) == 3 and all(envy)
    found = {each.table: each for each in tables_on(DAY)}
    assert found[LINKED].rejections == 2
    assert found[LINKED].envy_cents == before[LINKED].envy_cents - sum(envy)
    assert found[LINKED].jackpot_cents == before[LINKED].jackpot_cents - sum(
        settlement["awards"][0]["paid_cents"] for settlement in (first, second)
    )
    assert (found[TWIN].jackpot_cents, found[TWIN].envy_cents) == (0, 0)
    assert before[TWIN].jackpot_cents and before[TWIN].envy_cents
    for each in tables_on(DAY + timedelta(days=1)):
        assert (each.jackpot_cents, each.envy_cents, each.rejections) == (0, 0, 0), "they are of the day before"


def test_what_the_house_adds_to_a_meter_for_a_rejection_is_no_award(house: House) -> None:
    """Where the meter and the award together are less than what the level was reset with."""
    house.act("link.suspend", "ms-mg01", at=OPENED + timedelta(days=1))
    house.act(
        "link.terms", "ms-mg01", at=OPENED + timedelta(days=2), levels=[{"code": "major", "reset_cents": 9_000_000}]
    )
    house.act("link.resume", "ms-mg01", at=OPENED + timedelta(days=3))
    won = royal("R-1")
    (settlement,) = house.play(won)
    before = figures(house, LINKED, "ms-mg01", won)
    house.act("level.adjust", "ms-mg01/major", part="display", cents=-8_990_000, reason="correction")
    house.act("hit.reject", "ms-mg01-000001")
    assert rows("SELECT FROM accounting_transfer WHERE reason = 'rejection' AND debit_id ="
                " (SELECT id FROM accounting_account WHERE code = 'adjustments')")  # fmt: skip
    (found,) = tables_on(DAY, table=LINKED)
    assert found.jackpot_cents == before.jackpot_cents - settlement["awards"][0]["paid_cents"] == 0


def test_a_hit_that_came_to_nothing_is_rejected_like_any_other(house: House) -> None:
    """Its meter showed nothing, so that no cent moves with it."""
    link, table = FLOOR.index('[[links]]\ncode = "twin"'), FLOOR.index('[[tables]]\ncode = "TW-201"')
    empty = FLOOR[link : FLOOR.index("[[tables]]")] + FLOOR[table : FLOOR.index('[[tables]]\ncode = "VIP-7"')]
    for before, after in (('"twin"', '"new"'), (TWIN, "AA-1"), ("2000000", "0"), ("123457", "1"), ("10001", "0")):
        empty = empty.replace(before, after)
    floors.install(FLOOR[: FLOOR.index("[[links]]")] + empty, at=OPENED)
    forget()
    won = royal("R-1", table=TWIN) | {"table": "AA-1"}
    (settlement,) = house.play(won | {"seats": [each for each in won["seats"] if each["seat"] == 3]})
    assert [award["paid_cents"] for award in settlement["awards"]] == [0]
    with pytest.raises(ActRefused, match="new-000001 comes to nothing"):
        slips.read(House.stream("new"), 1, "new-000001")
    _, sequence = house.act("hit.reject", "new-000001")
    assert not rows(
        "SELECT FROM accounting_transfer WHERE stream_id = %s AND sequence = %s", House.stream("new"), sequence
    )
    (found,) = tables_on(DAY, table="AA-1")
    assert (found.rounds, found.jackpot_cents, found.rejections) == (1, 0, 1)
