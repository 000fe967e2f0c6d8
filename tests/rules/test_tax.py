"""Tax on winnings: every vector of REQUIREMENTS §6, the bounds to the cent, splits that total (R108–R113)."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.rules import tax
from accounting.rules.tax import BACKUP, NOTHING, REGULAR, Payee, TaxRefused, Won

IN_2025 = tax.in_force(tax.us_federal(), date(2025, 6, 1))
IN_2026 = tax.in_force(tax.us_federal(), date(2026, 6, 1))
NOT_DEDUCTED_2025 = replace(IN_2025, deduct_wager=False)


@pytest.mark.parametrize(
    ("wager", "paid", "net", "reported_2026", "reported_2025", "reported_2025_not_deducted", "withheld_cents"),
    [
        pytest.param(100, 30_000, 29_900, False, False, False, 0, id="quads at 300 for 1"),
        pytest.param(500, 150_000, 149_500, False, False, True, 0, id="quads on five dollars"),
        pytest.param(100, 100_000, 99_900, False, True, True, 0, id="envy of a royal"),
        pytest.param(500, 150_000, 149_500, False, False, True, 0, id="envy of a straight flush on five dollars"),
        pytest.param(500, 500_000, 499_500, True, True, True, 0, id="envy of a royal on five dollars"),
        pytest.param(100, 600_000, 599_900, True, True, True, 143_976, id="a tenth of 60,000"),
        pytest.param(100, 500_100, 500_000, True, True, True, 0, id="5,000.00 is not more than 5,000"),
        pytest.param(100, 500_200, 500_100, True, True, True, 120_024, id="5,001.00"),
        pytest.param(500, 500_500, 500_000, True, True, True, 0, id="5,000.00 on five dollars"),
        pytest.param(500, 500_600, 500_100, True, True, True, 120_024, id="5,001.00 on five dollars"),
    ],
)  # fmt: skip
def test_every_vector(
    wager: int, paid: int, net: int, reported_2026: bool, reported_2025: bool, reported_2025_not_deducted: bool,
    withheld_cents: int,
) -> None:  # fmt: skip
    for terms, reported in (
        (IN_2026, reported_2026), (IN_2025, reported_2025), (NOT_DEDUCTED_2025, reported_2025_not_deducted)
    ):  # fmt: skip
        found = tax.determine(terms, wager_cents=wager, paid_cents=paid, has_number=True)
        assert (found.reported, found.proceeds_cents, found.withheld_cents) == (reported, net, withheld_cents)
        assert found.withholding == (REGULAR if withheld_cents else NOTHING)
        assert found.net_cents == paid - withheld_cents


def test_the_payer_may_leave_the_wager_in_and_withholding_still_looks_at_the_proceeds() -> None:
    left_in = replace(IN_2026, deduct_wager=False)
    found = tax.determine(left_in, wager_cents=100, paid_cents=500_100, has_number=True)
    assert (found.winnings_cents, found.proceeds_cents, found.withheld_cents) == (500_100, 500_000, 0)


def test_a_base_game_royal_of_500_to_1_is_reported_and_withheld_from() -> None:
    found = tax.determine(IN_2026, wager_cents=5_000, paid_cents=2_505_000, has_number=True)
    assert (found.proceeds_cents, found.withholding, found.withheld_cents) == (2_500_000, REGULAR, 600_000)


@pytest.mark.parametrize(("paid_on", "reported"), [(date(2025, 12, 31), True), (date(2026, 1, 1), False)])
def test_the_day_of_payment_decides_which_terms_count(paid_on: date, reported: bool) -> None:
    terms = tax.in_force(tax.us_federal(), paid_on)
    assert tax.determine(terms, wager_cents=100, paid_cents=100_000, has_number=True).reported is reported


def test_there_are_no_terms_before_the_first() -> None:
    with pytest.raises(TaxRefused, match="paid_on: no edition of tax terms counts on 2024-12-31"):
        tax.in_force(tax.us_federal(), date(2024, 12, 31))


@pytest.mark.parametrize(("net", "reported"), [(199_999, False), (200_000, True)])
def test_the_floor_is_reached_to_the_cent(net: int, reported: bool) -> None:
    assert tax.determine(IN_2026, wager_cents=100, paid_cents=net + 100, has_number=True).reported is reported


@pytest.mark.parametrize(("net", "reported"), [(299_999, False), (300_000, True)])
def test_three_hundred_times_is_reached_to_the_cent(net: int, reported: bool) -> None:
    assert tax.determine(IN_2026, wager_cents=1_000, paid_cents=net + 1_000, has_number=True).reported is reported


@pytest.mark.parametrize(("net", "withheld"), [(1_499_999, 0), (1_500_000, 360_000)])
def test_three_hundred_times_is_withheld_from_to_the_cent(net: int, withheld: int) -> None:
    found = tax.determine(IN_2026, wager_cents=5_000, paid_cents=net + 5_000, has_number=True)
    assert found.withheld_cents == withheld


def test_backup_withholding_is_of_what_is_reported_without_a_number() -> None:
    found = tax.determine(IN_2026, wager_cents=500, paid_cents=500_000, has_number=False)
    assert (found.withholding, found.withheld_cents) == (BACKUP, 119_880)
    left_in = tax.determine(replace(IN_2026, deduct_wager=False), wager_cents=500, paid_cents=500_000, has_number=False)
    assert left_in.withheld_cents == 120_000
    below = tax.determine(IN_2026, wager_cents=100, paid_cents=100_000, has_number=False)
    assert (below.reported, below.withholding, below.withheld_cents) == (False, NOTHING, 0)


def test_regular_withholding_takes_the_place_of_backup_withholding() -> None:
    rates = replace(IN_2026, backup_ppm=280_000)
    found = tax.determine(rates, wager_cents=100, paid_cents=600_000, has_number=False)
    assert (found.withholding, found.withheld_cents) == (REGULAR, 143_976)


def test_what_is_withheld_is_rounded_to_the_nearest_cent_half_a_cent_up() -> None:
    half = replace(IN_2026, regular_ppm=245_000)
    assert (
        tax.determine(half, wager_cents=100, paid_cents=600_200, has_number=True).withheld_cents == 147_025
    )  # 147,024.5
    assert tax.determine(IN_2026, wager_cents=100, paid_cents=600_102, has_number=True).withheld_cents == 144_000  # .48
    assert tax.determine(IN_2026, wager_cents=100, paid_cents=600_103, has_number=True).withheld_cents == 144_001  # .72


def test_what_is_withheld_from_is_always_reported() -> None:
    high = replace(IN_2026, floor_cents=1_000_000)
    assert tax.determine(high, wager_cents=100, paid_cents=600_000, has_number=True).reported


def test_jackpot_and_envy_of_one_wager_are_one_transaction_where_the_terms_say_so() -> None:
    won = (Won("jackpot", 480_000), Won("envy", 30_000))
    (together,) = tax.transactions(IN_2026, won)
    found = tax.determine(
        IN_2026, wager_cents=100, paid_cents=sum(line.paid_cents for line in together), has_number=True
    )
    assert (found.paid_cents, found.withheld_cents) == (510_000, 122_376)
    apart = tax.transactions(replace(IN_2026, one_transaction=False), won)
    assert apart == ((won[0],), (won[1],))
    assert [
        tax.determine(IN_2026, wager_cents=100, paid_cents=line.paid_cents, has_number=True).withheld_cents
        for (line,) in apart
    ] == [0, 0]
    assert tax.transactions(IN_2026, ()) == ()


def test_a_shared_win_is_reported_and_withheld_from_as_one_and_split_to_the_cent() -> None:
    payees = [Payee("A", 333_334, True), Payee("B", 333_333, True), Payee("C", 333_333, False)]
    forms = tax.forms(IN_2026, wager_cents=100, paid_cents=1_000_000, payees=payees)
    assert [form.withholding for form in forms] == [REGULAR] * 3
    assert sum(form.withheld_cents for form in forms) == 239_976  # 24% of 9,999.00
    assert sum(form.winnings_cents for form in forms) == 999_900
    assert [form.wager_cents for form in forms] == [34, 33, 33]


def test_each_who_shares_gets_a_form_even_where_their_own_part_is_below_the_floor() -> None:
    payees = [Payee(name, 75_000, name != "D") for name in "ABCD"]
    forms = tax.forms(IN_2026, wager_cents=100, paid_cents=300_000, payees=payees)
    assert [form.withholding for form in forms] == [NOTHING, NOTHING, NOTHING, BACKUP]
    assert [form.withheld_cents for form in forms] == [0, 0, 0, 17_994]  # 24% of 749.75
    assert tax.forms(IN_2026, wager_cents=100, paid_cents=100_000, payees=[Payee("A", 100_000, True)]) == ()


@pytest.mark.parametrize("shares", [(100_000, 99_999), (200_000, 0), (200_001, -1)])
def test_shares_that_do_not_total_the_win_are_refused(shares: tuple[int, int]) -> None:
    payees = [Payee("A", shares[0], True), Payee("B", shares[1], True)]
    with pytest.raises(TaxRefused, match="payees: shares of at least a cent that total 200000 cents"):
        tax.forms(IN_2026, wager_cents=100, paid_cents=200_000, payees=payees)


@given(st.integers(0, 10**12), st.lists(st.integers(0, 10**12), min_size=1, max_size=9).filter(any))
def test_parts_total_to_the_cent_and_none_is_a_cent_off(cents: int, shares: list[int]) -> None:
    parts = tax.shared(cents, shares)
    assert sum(parts) == cents
    assert all(abs(part * sum(shares) - cents * share) < sum(shares) for part, share in zip(parts, shares, strict=True))


@pytest.mark.parametrize("shares", [(), (0,), (0, 0), (-1, 3), (-3, 1)])
def test_nothing_is_shared_in_proportion_to_nothing_or_less(shares: tuple[int, ...]) -> None:
    with pytest.raises(TaxRefused, match="shares: shares are not negative, and one is more than nothing"):
        tax.shared(5, shares)


@given(
    wager=st.integers(1, 10**6),
    shares=st.lists(st.tuples(st.integers(1, 10**9), st.booleans()), min_size=1, max_size=5),
    deduct=st.booleans(),
)
def test_forms_total_what_was_won_wagered_and_withheld(
    wager: int, shares: list[tuple[int, bool]], deduct: bool
) -> None:
    terms = replace(IN_2026, deduct_wager=deduct)
    paid = sum(cents for cents, _ in shares)
    payees = [Payee(str(place), cents, known) for place, (cents, known) in enumerate(shares)]
    whole = tax.determine(terms, wager_cents=wager, paid_cents=paid, has_number=True)
    forms = tax.forms(terms, wager_cents=wager, paid_cents=paid, payees=payees)
    assert bool(forms) is whole.reported
    if forms:
        assert sum(form.paid_cents for form in forms) == paid
        assert sum(form.wager_cents for form in forms) == wager
        assert sum(form.winnings_cents for form in forms) == whole.winnings_cents
        assert sum(form.withheld_cents for form in forms if form.withholding == REGULAR) == whole.withheld_cents


@pytest.mark.parametrize(
    ("wager", "paid", "field"), [(0, 100, "wager_cents"), (-1, 100, "wager_cents"), (100, -1, "paid_cents")]
)
def test_amounts_that_cannot_be_are_refused(wager: int, paid: int, field: str) -> None:
    with pytest.raises(TaxRefused) as refused:
        tax.determine(IN_2026, wager_cents=wager, paid_cents=paid, has_number=True)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("key", "value"),
    [("floor_cents", -1), ("floor_cents", "600"), ("multiple", 1.5), ("regular_ppm", 1_000_001), ("counts_from", "2026"),
     ("unheard_of", 1)],
)  # fmt: skip
def test_terms_that_cannot_be_are_refused_by_their_key(key: str, value: object) -> None:
    row = {name: getattr(IN_2026, name) for name in IN_2026.__slots__} | {key: value}
    with pytest.raises(TaxRefused) as refused:
        tax.editions_of({"editions": [row]})
    assert refused.value.field == key
    del row[key]
    if key != "unheard_of":
        with pytest.raises(TaxRefused, match=f"{key}: is missing"):
            tax.editions_of({"editions": [row]})


def test_two_editions_do_not_count_from_one_day() -> None:
    row = {name: getattr(IN_2026, name) for name in IN_2026.__slots__}
    with pytest.raises(TaxRefused, match="counts_from"):
        tax.editions_of({"editions": [row, row]})


def test_lines_of_one_transaction_that_are_paid_one_by_one_total_it() -> None:
    won = (Won("jackpot", 480_000), Won("envy", 30_001))
    lines = [
        tax.forms_of_line(IN_2026, wager_cents=100, won=won, place=place, payees=[Payee("A", line.paid_cents, True)])
        for place, line in enumerate(won)
    ]
    whole = tax.determine(IN_2026, wager_cents=100, paid_cents=510_001, has_number=True)
    assert sum(form.withheld_cents for (form,) in lines) == whole.withheld_cents == 122_376
    assert sum(form.winnings_cents for (form,) in lines) == whole.winnings_cents
    alone = tax.forms_of_line(
        replace(IN_2026, one_transaction=False), wager_cents=100, won=won, place=1, payees=[Payee("A", 30_001, True)]
    )
    assert alone == ()


def test_two_equal_lines_are_told_apart() -> None:
    won = (Won("envy of 2", 150_000), Won("envy of 5", 150_000))
    forms = [
        tax.forms_of_line(IN_2026, wager_cents=101, won=won, place=place, payees=[Payee("A", 150_000, True)])
        for place in (0, 1)
    ]
    assert [form.wager_cents for (form,) in forms] == [51, 50]
