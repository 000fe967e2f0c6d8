"""Sums of what the door lets in never overflow, and one amount that cannot be stored holds its own round alone."""

from __future__ import annotations

import json

from accounting.queries import trial_balance
from jackpot.queries import link_states
from tests.services.house import LINKED, House, Message, earlier_door, message, royal, run, seat, value, verify
from tests.services.played import tamper

GREATEST = 10**12
BEYOND = 2**63 - 1 - 200_000  # what was let in by 0.1.0, and with it the day's total overflowed


def lost(round: str, cents: int, wager: str = "three_card_bonus") -> Message:
    """A round in which a side wager of so many cents is lost."""
    losing = seat(1, "3s 7d", progressive=100)
    losing["wagers"][wager] = cents
    return message(round, losing)


def test_a_day_of_the_greatest_wagers_comes_to_more_than_a_bigint_and_the_books_agree(busy_house: House) -> None:
    """Nine million such rounds in a day are too many for a test: the day is as far as they would have brought it."""
    busy_house.play(lost("R-0", GREATEST))
    wagers, inventory = (
        value("SELECT id FROM accounting_account WHERE code = %s", code)
        for code in ("wagers", f"table:{LINKED}:inventory")
    )
    day = "(SELECT max(gaming_date) FROM accounting_total)"
    moved = "UPDATE accounting_total SET {0} = {0} + %s WHERE account_id = %s AND gaming_date = " + day
    for column, account in (("credit_cents", wagers), ("debit_cents", inventory)):
        assert run(moved.format(column), 2**63 - 1 - GREATEST, account) == 1
    settled = busy_house.play(*(lost(f"R-{n}", GREATEST) for n in range(1, 6)), royal("R-6"))
    assert {each["outcome"] for each in settled} == {"settled"}
    credited = value("SELECT credit_cents FROM accounting_total WHERE account_id = %s", wagers)
    assert credited > 2**63 + 4 * GREATEST
    lines = {line.code: line for line in trial_balance(value("SELECT max(gaming_date) FROM accounting_total"))}
    assert lines["wagers"].credit_cents == credited
    assert sum(line.after_cents for line in lines.values()) == 0
    for column, account in (("credit_cents", wagers), ("debit_cents", inventory)):
        run(moved.format(column), -(2**63 - 1 - GREATEST), account)
    verify()


def test_a_lifetime_of_awards_comes_to_more_than_a_bigint(busy_house: House) -> None:
    busy_house.play(royal("R-0"))
    paid = value("SELECT wins_cents FROM jackpot_meter JOIN jackpot_level ON id = level_id WHERE code = 'major'")
    level = "(SELECT id FROM jackpot_level WHERE code = 'major')"
    run(f"UPDATE jackpot_meter SET wins_cents = %s WHERE level_id = {level}", 2**63 - 1)
    (settlement,) = busy_house.play(royal("R-1"))
    assert settlement["outcome"] == "settled"
    (award,) = settlement["awards"]
    (shown,) = [level for link in link_states("ms-mg01") for level in link["levels"]]
    assert shown["wins_cents"] == 2**63 - 1 + award["paid_cents"]
    assert json.loads(json.dumps(shown)) == shown
    tamper(f"UPDATE jackpot_meter SET wins_cents = {paid + award['paid_cents']} WHERE level_id = {level}")
    verify()


def test_one_round_that_cannot_be_stored_is_held_alone_and_later_ones_settle(busy_house: House) -> None:
    """Twenty rounds after it, a royal among them, and twenty more in the batches that follow."""
    huge = [lost("R-huge", BEYOND, "cover_all"), lost("R-huge-2", BEYOND, "cover_all")]
    with earlier_door():
        busy_house.post(lost("too much", 2**63 + 10**6), *huge)
    busy_house.post(*(message(f"R-{n}", table="MS-102") for n in range(19)), royal("R-won"))
    busy_house.settle()
    assert busy_house.outcome(busy_house.posted[0]) == ("held", ["processing_error"])
    assert [busy_house.outcome(sent)[0] for sent in busy_house.posted[1:]] == ["settled"] * 22
    later = [message(f"S-{n}") for n in range(19)] + [royal("S-won")]
    assert {settlement["outcome"] for settlement in busy_house.play(*later)} == {"settled"}
    verify()
