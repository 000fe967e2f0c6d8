"""Which roles one person may hold together: every set, judged by the three sentences alone. And what browsers are called."""

from itertools import combinations

import pytest

from accounting.people.rules.browsers import in_two_words
from accounting.rules.roles import (
    ACCOUNTING,
    ADMINISTRATOR,
    AUDITOR,
    BOOKS,
    CAGE,
    CONTROLLER,
    GAMING,
    MANAGER,
    ROLES,
    SECURITY,
    SUPERVISOR,
    RolesRefused,
    in_order,
    may_hold,
    require_together,
)

EVERY_SET = [held for count in range(len(ROLES) + 1) for held in combinations(ROLES, count)]


def test_the_house_has_eight_roles_and_each_may_be_held_alone() -> None:
    assert len(ROLES) == 8
    assert all(may_hold([role]) for role in ROLES)
    assert may_hold([])


def test_of_all_sets_those_of_one_side_of_the_house_may_be_held() -> None:
    allowed = {held for held in EVERY_SET if may_hold(held)}
    gaming = {held for held in EVERY_SET if set(held) <= {SUPERVISOR, MANAGER, ADMINISTRATOR}}
    books = {held for held in EVERY_SET if set(held) <= {ACCOUNTING, CONTROLLER, CAGE}}
    assert allowed == gaming | books | {(AUDITOR,), (SECURITY,)}
    assert len(allowed) == 8 + 8 - 1 + 2


@pytest.mark.parametrize(
    ("roles", "rule"),
    [
        ([SUPERVISOR, CAGE], "nobody_holds_gaming_and_accounting_roles"),
        ([AUDITOR, SUPERVISOR], "an_auditor_holds_no_other_role"),
        ([AUDITOR, SECURITY], "an_auditor_holds_no_other_role"),
        ([SECURITY, ADMINISTRATOR], "security_holds_no_role_that_decides_money"),
        ([SECURITY, CONTROLLER], "security_holds_no_role_that_decides_money"),
        (["dealer"], "a_role_is_one_of_the_house"),
        (list(ROLES), "an_auditor_holds_no_other_role"),
    ],
)
def test_a_refusal_names_the_sentence_that_is_broken(roles: list[str], rule: str) -> None:
    with pytest.raises(RolesRefused) as refused:
        require_together(roles)
    assert refused.value.rule == rule


def test_the_two_sides_share_no_role_and_leave_out_those_who_only_look() -> None:
    assert not GAMING & BOOKS
    assert set(ROLES) - GAMING - BOOKS == {AUDITOR, SECURITY}


def test_roles_are_listed_in_the_order_of_the_house() -> None:
    assert in_order({CAGE, SUPERVISOR, "somebody else's group", MANAGER}) == [SUPERVISOR, MANAGER, CAGE]


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML) Chrome/131.0 Safari/537.36 Edg/131.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0 Safari/537.36",
            "Chrome on Linux",
        ),
        (
            "Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/604.1",
            "Safari on iPad",
        ),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:130.0) Gecko/20100101 Firefox/130.0", "Firefox on macOS"),
        ("python-httpx/0.28.1", "python-httpx/0.28.1"),
        ("", ""),
    ],
)
def test_a_browser_in_two_words(user_agent: str, words: str) -> None:
    assert in_two_words(user_agent) == words
