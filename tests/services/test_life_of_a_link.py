"""A link in the running house from its filing to its closing: what is recorded, shown, verified and refused (CONTRACT §7)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from accounting.rules.acts import ActRefused
from devices.audit.verification import Difference
from tests.services.house import DEALT, FLOOR, House, message, rows, royal, seat, value, verify
from tests.services.played import tamper

LINK: dict[str, Any] = {
    "code": "nn",
    "paytable": "ms-mg-01",
    "decks": 1,
    "levels": [{"code": "major", "reset_cents": 10_000, "rate_ppm": 170_000}],
}
EARLY = DEALT - timedelta(hours=5)


def file(house: House, *, at: Any = EARLY, **more: Any) -> tuple[str, int]:
    """Link nn, on paper; what it opens with is more than its reset."""
    payload: dict[str, Any] = {"link": LINK, "initial": {"major": 25_000}, "filing": "MGC 2026-114"} | more
    return house.act("link.file", payload["link"]["code"], at=at, **payload)


def refused(house: House, name: str, subject: str, *, at: Any = None, **payload: Any) -> tuple[str, str | None]:
    """The code and pointer by which an act is refused."""
    with pytest.raises(ActRefused) as refusal:
        house.act(name, subject, at=at, **payload)
    return refusal.value.code, refusal.value.pointer


def result(stream: str, sequence: int) -> dict[str, Any]:
    """The result of an event as it is on record."""
    found: dict[str, Any] = json.loads(bytes(value(
        "SELECT result FROM accounting_document WHERE stream_id = %s AND sequence = %s", House.stream(stream), sequence
    )))  # fmt: skip
    return found


def state(link: str = "nn") -> str:
    """A link's state as it is shown."""
    found: str = value("SELECT state FROM jackpot_link WHERE code = %s", link)
    return found


def meter(link: str = "nn", level: str = "major") -> tuple[int, ...]:
    """Display, reserve and overflow of a level in whole cents, and the sequence they are of."""
    ((*found,),) = rows(
        "SELECT value_cents, reserve_cents, overflow_cents, sequence FROM jackpot_meter meter"
        " JOIN jackpot_level level ON level.id = meter.level_id JOIN jackpot_link link ON link.id = level.link_id"
        " WHERE link.code = %s AND level.code = %s", link, level,
    )  # fmt: skip
    return tuple(found)


def balance(account: str) -> int:
    """What the books owe on an account, in cents."""
    found: int = value(
        "SELECT coalesce(sum(credit_cents - debit_cents), 0)::bigint FROM accounting_total total"
        " JOIN accounting_account account ON account.id = total.account_id WHERE account.code = %s", account,
    )  # fmt: skip
    return found


def test_a_link_is_filed_and_opened(busy_house: House) -> None:
    house = busy_house
    assert file(house) == ("nn", 0)
    assert (state(), meter()) == ("filed", (0, 0, 0, 0))
    filed = result("nn", 0)
    assert filed["changes"][0]["odds"] == {
        "major": dict.fromkeys(("mississippi-stud", "let-it-ride", "double-down-stud", "boston-5-stud"), "1/64974")
    }
    assert filed["changes"][0]["initial"] == {"major": 25_000}
    verify()
    before = balance("seed_expense")
    assert house.act("link.open", "nn", at=EARLY + timedelta(minutes=1)) == ("nn", 1)
    assert (state(), meter()) == ("open", (25_000, 0, 0, 1))
    assert balance("level:nn/major:liability") == 25_000
    assert balance("seed_expense") - before == -25_000
    assert result("nn", 1)["transfers"] == [
        {"debit": "seed_expense", "credit": "level:nn/major:liability", "cents": 25_000, "reason": "seed"}
    ]
    verify()
    assert refused(house, "link.open", "nn") == ("wrong_state", None)


def test_a_link_can_be_filed_on_a_paytable_of_this_house(busy_house: House) -> None:
    """Its record keeps the paytable as it was filed, beside what was asked for."""
    house = busy_house
    twin = LINK | {"paytable": "two-prizes", "levels": [
        {"code": "grand", "reset_cents": 1, "rate_ppm": 1}, {"code": "minor", "reset_cents": 0, "rate_ppm": 2},
    ]}  # fmt: skip
    file(house, link=twin, initial={"minor": 7})
    house.act("link.open", "nn")
    assert (meter(level="grand")[0], meter(level="minor")[0]) == (1, 7)
    verify()
    tamper(
        "UPDATE jackpot_progressiveedition SET definition = jsonb_set(definition, '{rows,3,odds}', '51'),"
        " digest = digest WHERE code = 'two-prizes'"
    )
    with pytest.raises(Difference, match=r"stream nn: link: pays"):
        verify()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"link": LINK | {"code": "n n"}}, ("invalid_value", "/payload/link/code")),
        ({"link": LINK | {"code": "n/n"}}, ("invalid_value", "/payload/link/code")),
        ({"link": LINK | {"code": "nén"}}, ("invalid_value", "/payload/link/code")),
        ({"link": LINK | {"code": ""}}, ("invalid_value", "/payload/link/code")),
        ({"link": LINK | {"code": "n" * 65}}, ("invalid_value", "/payload/link/code")),
        ({"link": LINK | {"code": "ms-mg01"}}, ("wrong_state", None)),
        ({"link": LINK | {"code": "VIP-7"}}, ("wrong_state", None)),
        ({"link": LINK | {"code": "MS-101"}}, ("wrong_state", None)),
        ({"link": LINK | {"paytable": "nothing"}}, ("invalid_value", "/payload/link/paytable")),
        ({"link": LINK | {"color": "red"}}, ("unknown_field", "/payload/link/color")),
        ({"initial": {"minor": 1}}, ("invalid_value", "/payload/initial/minor")),
        ({"initial": {"major": -1}}, ("invalid_value", "/payload/initial/major")),
        ({"filing": ""}, ("invalid_value", "/payload/filing")),
    ],
)
def test_what_cannot_be_filed(house: House, more: dict[str, Any], why: tuple[str, str | None]) -> None:
    with pytest.raises(ActRefused) as refusal:
        file(house, **more)
    assert (refusal.value.code, refusal.value.pointer) == why
    assert value("SELECT count(*) FROM jackpot_link") == 2


def test_a_filed_link_is_filed_once(house: House) -> None:
    file(house)
    with pytest.raises(ActRefused) as refusal:
        file(house)
    assert refusal.value.code == "wrong_state"
    assert refused(house, "link.resume", "nn") == ("wrong_state", None)
    assert refused(house, "link.suspend", "nn") == ("wrong_state", None)
    assert refused(house, "link.terms", "nn", levels=[{"code": "major", "rate_ppm": 1}]) == ("wrong_state", None)
    assert refused(house, "link.open", "nowhere") == ("unknown_subject", None)


def test_a_floor_that_names_a_filed_link_leaves_it_as_it_is(house: House) -> None:
    from tables.rules.floor import FloorRefused
    from tables.services import floors

    file(house)
    named = FLOOR[: FLOOR.index("[[tables]]")] + (
        '[[links]]\ncode = "nn"\npaytable = "ms-mg-01"\n'
        '[[links.levels]]\ncode = "major"\nreset_cents = 10000\nrate_ppm = 170000\n'
    )
    assert floors.install(named, at=DEALT).links == ()
    assert state() == "filed"
    with pytest.raises(FloorRefused, match="two people"):
        floors.install(named.replace("170000", "170001"), at=DEALT)


# Terms


def terms(link: str = "nn") -> list[tuple[Any, ...]]:
    """The terms of a link's levels as they are shown: from, until, rate, limit."""
    return rows(
        "SELECT lower(in_force), upper(in_force), rate_ppm, limit_cents FROM jackpot_levelterms terms"
        " JOIN jackpot_level level ON level.id = terms.level_id JOIN jackpot_link link ON link.id = level.link_id"
        " WHERE link.code = %s ORDER BY level.id, in_force, terms.id", link,
    )  # fmt: skip


def suspended(house: House) -> None:
    """Link nn, opened and then suspended."""
    file(house)
    house.act("link.open", "nn", at=EARLY + timedelta(minutes=1))
    house.act("link.suspend", "nn", at=EARLY + timedelta(minutes=2))


def test_terms_change_while_suspended_and_are_shown_by_the_moment_they_count_from(busy_house: House) -> None:
    house = busy_house
    file(house)
    house.act("link.open", "nn", at=EARLY + timedelta(minutes=1))
    change = {"levels": [{"code": "major", "rate_ppm": 100_000}]}
    assert refused(house, "link.terms", "nn", **change) == ("link_open", None)
    house.act("link.suspend", "nn", at=EARLY + timedelta(minutes=2))
    assert refused(house, "link.terms", "nn", levels=[{"code": "major", "limit_cents": 24_999}]) == (
        "limit_below_meter", None,
    )  # fmt: skip
    assert refused(house, "link.terms", "nn", **change, counts_from=EARLY.isoformat()) == ("in_the_past", None)
    assert refused(house, "link.terms", "nn", levels=[{"code": "minor", "rate_ppm": 1}]) == (
        "invalid_value", "/payload/levels/0/code",
    )  # fmt: skip
    now = EARLY + timedelta(minutes=3)
    stream, sequence = house.act("link.terms", "nn", at=now, levels=[{"code": "major", "limit_cents": 30_000}])
    assert result(stream, sequence)["changes"] == [
        {"what": "link.terms", "link": "nn", "changed": [{"code": "major", "limit_cents": 30_000}],
         "counts_from": now.isoformat()}
    ]  # fmt: skip
    later = now + timedelta(hours=2)
    house.act("link.terms", "nn", at=now, **change, counts_from=later.isoformat())
    assert terms() == [(EARLY, now, 170_000, None), (now, later, 170_000, 30_000), (later, None, 100_000, 30_000)]
    verify()
    # Put before what was decided ahead; and in the place of it, from the very moment.
    between = now + timedelta(hours=1)
    house.act(
        "link.terms", "nn", at=now, levels=[{"code": "major", "limit_cents": None}], counts_from=between.isoformat()
    )
    house.act("link.terms", "nn", at=now, levels=[{"code": "major", "rate_ppm": 3}], counts_from=later.isoformat())
    assert terms() == [
        (None, None, 100_000, 30_000), (EARLY, now, 170_000, None), (now, between, 170_000, 30_000),
        (between, later, 170_000, None), (later, None, 3, 30_000),
    ]  # fmt: skip
    verify()
    house.act("link.resume", "nn", at=now)
    verify()


def test_states_that_are_decided_ahead_are_shown_as_they_will_be(busy_house: House) -> None:
    house = busy_house
    file(house)
    opens = EARLY + timedelta(hours=1)
    house.act("link.open", "nn", counts_from=(DEALT + timedelta(hours=2)).isoformat())
    assert state() == "open"
    verify()
    house.act("link.suspend", "ms-mg01", counts_from=(DEALT + timedelta(days=3)).isoformat())
    house.act("link.suspend", "ms-mg01", counts_from=(DEALT + timedelta(days=1)).isoformat())
    house.act("link.resume", "ms-mg01", counts_from=(DEALT + timedelta(days=2)).isoformat())
    assert state("ms-mg01") == "suspended"
    assert opens < DEALT
    verify()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("UPDATE jackpot_levelterms SET rate_ppm = rate_ppm + 1 WHERE isempty(in_force)", "link, levels, major 1: rate_ppm"),
        ("UPDATE jackpot_levelterms SET in_force = 'empty' WHERE lower(in_force) > now() - interval '100 years'"
         " AND NOT upper_inf(in_force) AND level_id IN (SELECT level.id FROM jackpot_level level"
         " JOIN jackpot_link link ON link.id = level.link_id WHERE link.code = 'nn')", "link, levels, major"),
        ("DELETE FROM jackpot_levelterms WHERE isempty(in_force)", "link, levels: major"),
        ("UPDATE jackpot_link SET state = 'open' WHERE code = 'nn'", "link: state"),
    ],
)  # fmt: skip
def test_rows_that_show_other_terms_are_found(busy_house: House, change: str, named: str) -> None:
    house = busy_house
    suspended(house)
    now = EARLY + timedelta(minutes=3)
    later = (now + timedelta(hours=1)).isoformat()
    house.act("link.terms", "nn", at=now, levels=[{"code": "major", "rate_ppm": 2}], counts_from=later)
    house.act("link.terms", "nn", at=now, levels=[{"code": "major", "rate_ppm": 3}], counts_from=later)
    verify()
    tamper(change)
    with pytest.raises(Difference, match=f"stream nn: {named}"):
        verify()


# Closing

TO_BOOKS = [
    {"level": "major", "part": "display", "to": "regulator_order"},
    {"level": "major", "part": "reserve", "to": "revenue_booked"},
    {"level": "major", "part": "overflow", "to": "revenue_booked"},
]


def test_a_link_is_closed_with_every_part_at_zero_and_never_moves_again(busy_house: House) -> None:
    house = busy_house
    house.play(message("R-1"))
    (display, reserve, *_), (owed, revenue) = meter("ms-mg01"), (balance("adjustments"), balance("revenue"))
    assert reserve > 0
    at = DEALT + timedelta(minutes=1)
    assert refused(house, "link.close", "ms-mg01", disposition=TO_BOOKS) == ("wrong_state", None)
    house.act("link.suspend", "ms-mg01", at=at)
    assert refused(house, "link.close", "ms-mg01", at=at, disposition=TO_BOOKS[:1]) == ("money_left", None)
    for to in ("twin/none", "none/grand", "ms-mg01/major"):
        assert refused(house, "link.close", "ms-mg01", at=at, disposition=[*TO_BOOKS[1:], TO_BOOKS[0] | {"to": to}]) == (
            "invalid_value", "/payload/disposition/2/to",
        )  # fmt: skip
    stream, sequence = house.act("link.close", "ms-mg01", at=at, disposition=TO_BOOKS)
    assert (state("ms-mg01"), meter("ms-mg01")) == ("closed", (0, 0, 0, sequence))
    assert (balance("adjustments") - owed, balance("revenue") - revenue) == (display, reserve)
    for kind in ("liability", "reserve", "overflow"):
        assert balance(f"level:ms-mg01/major:{kind}") == 0
    assert stream == "ms-mg01"
    verify()
    # Dealt before it was closed, received after: held; one without the wager is settled.
    house.now = at + timedelta(minutes=1)
    late = message("R-2")
    house.play(late)
    assert house.outcome(late) == ("held", ["link_not_open"])
    house.play(plain := message("R-3", seat(1, "3s 7d")))
    assert house.outcome(plain) == ("settled", [])
    for name in ("link.open", "link.resume", "link.suspend"):
        assert refused(house, name, "ms-mg01") == ("wrong_state", None)
    assert refused(house, "level.adjust", "ms-mg01/major", part="display", cents=1, reason="correction") == (
        "wrong_state", None,
    )  # fmt: skip
    with pytest.raises(ActRefused) as refusal:
        house.act("round.release", "MS-101/R-2")
    assert refusal.value.code == "wrong_state"
    verify()


def test_a_link_with_a_hit_that_is_neither_paid_nor_rejected_is_not_closed(busy_house: House) -> None:
    house = busy_house
    house.play(royal("R-1"))
    at = DEALT + timedelta(minutes=1)
    house.act("link.suspend", "ms-mg01", at=at)
    assert refused(house, "link.close", "ms-mg01", at=at, disposition=TO_BOOKS) == ("open_hits", None)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("UPDATE jackpot_link SET state = 'suspended' WHERE code = 'ms-mg01'", "stream ms-mg01: link: state"),
        ("UPDATE jackpot_meter SET reserve_residual_millionths = 1 WHERE level_id = (SELECT level.id FROM jackpot_level level"
         " JOIN jackpot_link link ON link.id = level.link_id WHERE link.code = 'ms-mg01')", "stream ms-mg01: meter major"),
    ],
)  # fmt: skip
def test_a_closed_link_that_shows_otherwise_is_found(busy_house: House, change: str, named: str) -> None:
    house = busy_house
    house.play(message("R-1"))
    at = DEALT + timedelta(minutes=1)
    house.act("link.suspend", "ms-mg01", at=at)
    house.act("link.close", "ms-mg01", at=at, disposition=TO_BOOKS)
    tamper(change)
    with pytest.raises(Difference, match=named):
        verify()
