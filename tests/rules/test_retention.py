"""How long records are kept: terms by the day from which they count (R100, R81)."""

from datetime import date, timedelta

from accounting.rules.retention import DONE, EMPTIED, ENDS, NEVER, REMOVED, Edition, Kind, kinds


def kind(*editions: Edition) -> Kind:
    return Kind("k", "K", REMOVED, ("t",), editions, None, "guard")


FIVE = Edition(date(2026, 1, 1), 5, 0, "a rule")
LONGER = Edition(date(2028, 1, 1), 7, 0, "a longer one")
SHORTER = Edition(date(2029, 1, 1), 1, 0, "a shorter one")


def test_what_a_rule_names_is_kept_that_long() -> None:
    terms = {code: one.in_force(date(2026, 11, 27)) for code, one in kinds().items()}
    named = {code: (term.years, term.days) for code, term in terms.items() if term}
    assert named["progressive"] == (5, 0)  # 68 IAC 2-6-34(c)
    assert named["analysis"] == (3, 0)  # 13 Miss. 7-9.6(b)
    assert named["evidence"] == (0, 7)  # WAC 230-15-405(6)
    assert (named["job_results"], named["sign_ins"]) == ((0, 90), (1, 0))
    assert all(one.ends in ENDS for one in kinds().values())
    assert {code for code, one in kinds().items() if one.ends in (REMOVED, EMPTIED)} == {
        "job_files", "job_results", "sign_ins", "winners",
    }  # fmt: skip
    assert all(bool(one.guard) == (one.ends in (REMOVED, EMPTIED)) for one in kinds().values())
    assert all(bool(one.editions) == (one.ends != DONE) for one in kinds().values())
    assert all(edition.source for one in kinds().values() for edition in one.editions)
    assert kinds()["tax_forms"].ends == NEVER


def test_the_last_day_of_a_term_is_kept_and_the_next_has_passed() -> None:
    one = kind(FIVE)
    made = date(2026, 11, 27)
    assert one.kept_until(made, made) == date(2031, 11, 27)
    assert not one.has_passed(made, date(2031, 11, 27))
    assert one.has_passed(made, date(2031, 11, 28))
    assert one.kept_until(date(2028, 2, 29), made) == date(2033, 3, 1), "a year without the day keeps it one longer"
    assert kind().kept_until(made, made) is None
    assert not kind().has_passed(made, date(2100, 1, 1))
    assert kind().passed_before(made) == date.min


def test_a_later_edition_lengthens_what_is_kept_and_never_shortens_it() -> None:
    one = kind(FIVE, LONGER, SHORTER)
    made = date(2026, 11, 27)
    assert one.kept_until(made, date(2027, 12, 31)) == date(2031, 11, 27), "the longer one does not count yet"
    assert one.kept_until(made, date(2028, 1, 1)) == date(2033, 11, 27)
    assert one.kept_until(made, date(2030, 1, 1)) == date(2033, 11, 27)
    assert one.kept_until(date(2029, 6, 1), date(2030, 1, 1)) == date(2030, 6, 1), "made under the shorter one alone"
    assert one.in_force(LONGER.counts_from - timedelta(days=1)) == FIVE
    assert one.in_force(LONGER.counts_from) == LONGER
    assert one.in_force(date(2020, 1, 1)) == FIVE, "what was there before the first edition is kept by it"


def test_everything_before_a_day_has_passed_and_that_day_has_not() -> None:
    for one in (
        kind(FIVE),
        kind(FIVE, LONGER),
        kind(Edition(date(2026, 1, 1), 0, 90, "days")),
        kind(FIVE, LONGER, SHORTER),
    ):
        for today in (date(2026, 11, 27), date(2032, 2, 29), date(2033, 3, 1), date(2040, 1, 1)):
            day = one.passed_before(today)
            longest = max(edition.kept_until(day) for edition in one.editions if edition.counts_from <= today)
            assert longest >= today
            for before in range(1, 400):
                assert one.has_passed(day - timedelta(days=before), today), (one, today, before)
