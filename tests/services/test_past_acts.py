"""Hits, envy and settled rounds in the running house: every act recorded, shown and verified (CONTRACT §7, SPEC §6.7)."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from pytest_django import DjangoDbBlocker

from accounting.rules.acts import ActRefused
from accounting.services import house_numbers
from devices.audit import verification
from devices.audit.verification import Difference
from tables.queries.days import tables_on
from tables.services.precedents import NotAsRecorded
from tables.settle import main
from tests.services.fixtures import Databases
from tests.services.house import (
    ALONE,
    FLOOR,
    LINKED,
    NEIGHBOUR,
    PROGRESSIVE,
    TWIN,
    House,
    Message,
    message,
    rows,
    royal,
    seat,
    two_hits,
    value,
    verify,
)
from tests.services.played import planted_is_what_was_found, tamper
from tests.services.tampering import TAMPERING_OF_ACTS

FIRST, SECOND = "ms-mg01-000001", "ms-mg01-000002"
Line = dict[str, Any]


def verified(house: House) -> None:
    """Nothing differs, however the streams are cut."""
    verify()
    for size in (1, 3):
        verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=size)


def refused(house: House, name: str, subject: str, **payload: Any) -> str:
    """The code that an act is refused with."""
    with pytest.raises(ActRefused) as refusal:
        house.act(name, subject, **payload)
    return refusal.value.code


def steps(hit: str) -> list[tuple[str, str, str]]:
    """The steps of a hit as its rows show them."""
    return rows(
        "SELECT step.state, step.by, step.note FROM jackpot_hitstep step JOIN jackpot_hit hit ON hit.id = step.hit_id"
        " JOIN jackpot_link link ON link.id = hit.link_id WHERE link.code || '-' || lpad(hit.number::text, 6, '0') = %s"
        " ORDER BY step.id",
        hit,
    )


def balance(account: str) -> int:
    """Credits less debits of an account."""
    return int(value(
        "SELECT coalesce(sum(credit_cents - debit_cents), 0) FROM accounting_total total"
        " JOIN accounting_account account ON account.id = total.account_id WHERE account.code = %s", account,
    ))  # fmt: skip


def test_a_hit_walks_from_detected_to_paid(busy_house: House) -> None:
    house = busy_house
    house.play(royal("R-1"))
    owed = balance("awards_payable")
    assert refused(house, "hit.approve", FIRST) == "wrong_state"
    house.act("hit.verify", FIRST, checks=["cards", "seat", "wager_sensor", "surveillance"])
    house.act("hit.approve", FIRST, note="tape 12")
    assert refused(house, "hit.verify", FIRST) == "wrong_state"
    house.act("hit.pay", FIRST, method="cage")
    (cents,) = rows("SELECT paid_cents FROM jackpot_hit")[0]
    assert owed - balance("awards_payable") == cents == balance("cage")
    assert [state for state, _, _ in steps(FIRST)] == ["detected", "verified", "approved", "paid"]
    assert steps(FIRST)[1:] == [
        ("verified", "tester", "checked: cards, seat, wager sensor, surveillance"),
        ("approved", "tester", "tape 12"),
        ("paid", "tester", "from the cage"),
    ]
    for name in ("hit.verify", "hit.approve", "hit.reject"):
        assert refused(house, name, FIRST) == "already_paid"
    assert refused(house, "hit.pay", FIRST, method="table") == "already_paid"
    assert refused(house, "hit.verify", "ms-mg01-1") == "unknown_subject", "a hit is named with its zeros"
    assert refused(house, "hit.verify", SECOND) == "unknown_subject"
    verified(house)


def test_a_rejection_restores_the_meter_and_cancels_envy_that_is_not_paid(busy_house: House) -> None:
    house = busy_house
    house.play(message("R-0"), two_hits("R-1"))
    before = value("SELECT meter_before_cents FROM jackpot_hit WHERE number = 2")
    house.play(message("R-2", table=NEIGHBOUR))
    shown = value("SELECT value_cents FROM jackpot_meter JOIN jackpot_level l ON l.id = level_id WHERE code = 'major'")
    house.act("payout.pay", f"{LINKED}/R-1/4/2", method="table")
    house.act("hit.reject", SECOND)
    restored = value(
        "SELECT value_cents FROM jackpot_meter JOIN jackpot_level l ON l.id = level_id WHERE code = 'major'"
    )
    seed = value("SELECT seed_reserve_cents + seed_house_cents FROM jackpot_hit WHERE number = 2")
    assert (restored, before - seed) == (shown + before - seed, 0 + before - seed)
    assert rows("SELECT line, state FROM tables_envyend ORDER BY line")
    assert sorted(state for (state,) in rows("SELECT state FROM tables_envyend")) == ["cancelled", "paid"]
    assert refused(house, "hit.reject", SECOND) == "already_rejected"
    assert refused(house, "payout.pay", f"{LINKED}/R-1/4/2", method="cage") == "already_paid"
    assert refused(house, "payout.pay", f"{LINKED}/R-1/6/2", method="cage") == "wrong_state"
    house.act("payout.pay", f"{LINKED}/R-1/2/6", method="cage")
    verified(house)


def test_a_settled_round_is_voided_with_later_hits_between(busy_house: House) -> None:
    """Its award was reseeded, won again and contributed to since: what it brought is taken from today's balances."""
    house = busy_house
    house.play(message("R-0"), royal("R-1"), royal("R-2", table=NEIGHBOUR), message("R-3"), message("R-4", table=ALONE))
    house.act("hit.verify", SECOND)
    house.act("hit.approve", SECOND)
    house.act("hit.pay", SECOND, method="table")
    house.act("payout.pay", f"{LINKED}/R-1/1/3", method="cage")
    assert refused(house, "round.void", f"{NEIGHBOUR}/R-2") == "award_paid"
    wagers = balance("wagers")
    house.act("round.void", f"{LINKED}/R-1")
    assert wagers - balance("wagers") == value("""
        SELECT amount_cents FROM accounting_transfer transfer WHERE sequence = 2 AND reason = 'wager' AND stream_id = %s
    """, house.stream("ms-mg01"))  # fmt: skip
    assert steps(FIRST)[-1] == ("rejected", "tester", f"round {LINKED}/R-1 void")
    assert rows("SELECT state FROM tables_envyend") == [("paid",)], "paid envy stands"
    assert refused(house, "round.void", f"{LINKED}/R-1") == "wrong_state"
    assert refused(house, "hit.reject", FIRST) == "already_rejected"
    house.act("round.void", f"{ALONE}/R-4")
    house.play(message("R-5"))
    assert refused(house, "round.void", f"{ALONE}/R-9") == "unknown_subject"
    verified(house)


def test_a_voided_round_is_taken_off_the_day_on_which_it_is_voided(house: House) -> None:
    house.play(royal("R-1"), royal("R-2", table=NEIGHBOUR))
    house.act("round.void", f"{LINKED}/R-1", at=house.now)
    house.act("round.void", f"{NEIGHBOUR}/R-2", at=house.now + timedelta(days=1))

    def of(day: date, table: str) -> tuple[int, ...]:
        cache.clear()
        (row,) = tables_on(day, table=table)
        return (
            row.rounds, row.voids, row.handle_cents, row.pays_cents, row.jackpot_cents, row.envy_cents,
            row.contributions_cents, row.win_cents,
        )  # fmt: skip

    played, after = date(2026, 11, 27), date(2026, 11, 28)
    assert of(played, LINKED) == (1, 1, 0, 0, 0, 0, 0, 0)
    assert of(after, LINKED) == (0, 0, 0, 0, 0, 0, 0, 0)
    rounds, voids, *moved = of(played, NEIGHBOUR)
    assert (rounds, voids) == (1, 0)
    assert moved[0] > 0 and moved[1] > 0 and moved[2] > 0 and moved[3] > 0
    rounds, voids, *undone = of(after, NEIGHBOUR)
    assert (rounds, voids, undone) == (0, 1, [-cents for cents in moved])


def test_a_round_that_was_released_is_voided_like_any_other(busy_house: House) -> None:
    house = busy_house
    held = message("R-1", dealing={"method": "shuffler", "mode": "cover_all", "players": 6})
    house.play(held)
    assert house.outcome(held)[0] == "held"
    house.act("round.release", f"{LINKED}/R-1")
    house.act("round.void", f"{LINKED}/R-1")
    assert refused(house, "round.void", f"{LINKED}/R-1") == "wrong_state"
    assert refused(house, "round.release", f"{LINKED}/R-1") == "wrong_state"
    assert [kind for (kind,) in rows("SELECT kind FROM accounting_event WHERE kind LIKE %s ORDER BY 1", "round.%")] == [
        "round.release", "round.void",
    ]  # fmt: skip
    verified(house)


class Random:
    """A history at random on the floor of the tests: rounds, and acts that are often right and often not."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.rounds: list[tuple[str, str]] = [(LINKED, "R-0")]
        self.hits: dict[str, int] = {"ms-mg01": 1, "twin": 1}
        self.envy: list[str] = [f"{LINKED}/R-0/1/3"]
        self.walking: list[str] = []

    def round(self, number: int) -> Message:
        """A round with no hit, one, or two."""
        table = self.chance.choice((LINKED, NEIGHBOUR, TWIN, TWIN, ALONE))
        name, wager = f"R-{number}", PROGRESSIVE[table]
        self.rounds.append((table, name))
        kind = self.chance.choice(("plain", "royal", "two", "quads", "void"))
        link = {TWIN: "twin", ALONE: None}.get(table, "ms-mg01")
        if kind == "void":
            return message(name, table=table, irregularities=[{"code": "shoe_failed"}])
        if kind == "quads":
            if link == "twin":
                self.hits["twin"] += 1
                self.envy.append(f"{table}/{name}/2/1")
            return message(
                name, seat(1, "9s 9d", **wager), seat(2, "3s 7d", **wager), table=table, community="9c 9h Kd"
            )
        if kind == "royal":
            if link:
                self.hits[link] += 1
                self.envy.append(f"{table}/{name}/1/3")
            return royal(name, table=table)
        if kind == "two":
            if link:
                self.hits[link] += 2
                self.envy += [f"{table}/{name}/{seat}" for seat in ("2/6", "4/2", "4/6", "6/2")]
            return two_hits(name, table=table)
        return message(name, table=table)

    def act(self) -> Line:
        """An act about something of the past; every other one is the next step of one hit."""
        if self.chance.random() < 0.5:
            if not self.walking:
                link = self.chance.choice(("ms-mg01", "twin"))
                hit = f"{link}-{max(1, self.hits[link] - 1):06d}"
                last = self.chance.choice(("hit.pay", "hit.unclaimed"))
                self.walking = [f"{step} {hit}" for step in (last, "hit.approve", "hit.verify")]
            name, _, subject = self.walking.pop().partition(" ")
            return {"act": name, "subject": subject, "payload": {"method": "cage"} if name == "hit.pay" else {}}
        name = self.chance.choice(
            (
                "hit.unclaimed",
                "hit.remit",
                "payout.unclaimed",
                "payout.unclaimed",
                "payout.remit",
                "hit.verify",
                "hit.approve",
                "hit.pay",
                "hit.reject",
                "hit.reject",
                "payout.pay",
                "round.void",
                "round.void",
            )
        )
        payload = {"method": self.chance.choice(("cage", "table"))} if name.endswith(".pay") else {}
        if name == "round.void":
            subject = "/".join(self.chance.choice(self.rounds))
        elif name.startswith("payout."):
            subject = self.chance.choice(self.envy)
        else:
            link = self.chance.choice(("ms-mg01", "twin"))
            subject = f"{link}-{self.chance.randint(max(1, self.hits[link] - 6), self.hits[link]):06d}"
        return {"act": name, "subject": subject, "payload": payload}


@pytest.mark.parametrize("number", [1, 2])
def test_settle_says_of_the_same_lines_what_the_running_house_recorded(
    number: int, busy_house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rounds and acts in one order: the same results, key for key, and the same refusals."""
    house, history = busy_house, Random(number)
    lines: list[Line] = []
    found: list[Any] = []
    for count in range(120):
        now = house.now + timedelta(days=count // 60, seconds=count)
        if history.chance.random() < 0.4:
            sent = history.round(count + 1)
            lines.append(sent)
            found.extend(house.play(sent, at=now))
            continue
        asked = history.act()
        lines.append(asked | {"at": now.isoformat()})
        try:
            stream, sequence = house.act(asked["act"], asked["subject"], at=now, **asked["payload"])
        except ActRefused as refusal:
            found.append(refusal.code)
        else:
            result = value(
                "SELECT result FROM accounting_document WHERE stream_id = %s AND sequence = %s",
                house.stream(stream), sequence,
            )  # fmt: skip
            found.append(json.loads(bytes(result)))
    floor, file = tmp_path / "floor.toml", tmp_path / "lines.ndjson"
    floor.write_text(FLOOR, "utf-8")
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    assert main([str(floor), str(file)]) == 0
    settled = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["code"] if line["outcome"] == "refused" else line for line in settled] == found
    unclaimed = {"hit.unclaimed", "payout.unclaimed"}
    done = {line["act"] for line in settled if line["outcome"] == "done"}
    assert done == {"hit.verify", "hit.approve", "hit.pay", "hit.reject", "payout.pay", "round.void"} | unclaimed
    codes = {one for one in found if isinstance(one, str)}
    assert codes >= {"wrong_state", "unknown_subject", "not_due"}, codes
    verified(house)


@pytest.fixture(scope="module")
def acted(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database with an act of every kind on record."""
    with django_db_blocker.unblock():
        name = databases.create(like=floored)
        with databases.entered(name):
            house = House()
            house.play(two_hits("R-1"), message("R-2"), royal("R-3", table=NEIGHBOUR))
            house.act("hit.verify", FIRST, checks=["cards", "surveillance"])
            house.act("hit.approve", FIRST, note="tape 12")
            house.act("payout.pay", f"{LINKED}/R-1/4/6", method="cage")
            house.act("hit.reject", SECOND)
            house.act("round.void", f"{LINKED}/R-2")
            house.now += timedelta(days=1)
            house.act("hit.unclaimed", FIRST)
            house.act("payout.unclaimed", f"{LINKED}/R-1/2/6")
            house_numbers.give({"cage": "1010"}, by="ann", at=house.now)
            verify()
        yield name
        databases.drop(name)


@pytest.mark.parametrize("what", TAMPERING_OF_ACTS)
def test_tampering_with_what_acts_made_is_found_and_named(
    what: str, acted: str, databases: Databases, django_db_blocker: DjangoDbBlocker
) -> None:
    statement, named = TAMPERING_OF_ACTS[what]
    with django_db_blocker.unblock():
        name = databases.create(like=acted)
        with databases.entered(name):
            planted = tamper(statement)
            with pytest.raises(Difference) as difference:
                verify()
            assert named in str(difference.value)
            planted_is_what_was_found(planted, str(difference.value))
            for size in (1, 3):
                with pytest.raises(Difference) as again:
                    verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=size)
                assert str(again.value) == str(difference.value), size
        databases.drop(name)


def test_what_a_decision_about_a_held_round_says_of_its_message_is_what_is_stored_of_it(busy_house: House) -> None:
    """Its device and its receipt, though message and reference were changed alike."""
    busy_house.play(message("H-1", dealing={"method": "shuffler", "mode": "cover_all", "players": 6}))
    busy_house.act("round.release", f"{LINKED}/H-1")
    verify()
    second = "interval '1 second'"
    for column, changed, back, words in (
        ("device_id", "device_id + 4710", "device_id - 4710", "device that the cause names: expected "),
        (
            "received_at",
            f"received_at + {second}",
            f"received_at - {second}",
            "receipt that the cause names: expected ",
        ),
    ):
        for value_, found in ((changed, words), (back, None)):
            for table in ("devices_message", "devices_reference"):
                tamper(f"UPDATE {table} SET {column} = {value_}")
            if found is None:
                verify()
            else:
                with pytest.raises(Difference, match=rf"\({LINKED}/H-1\): {found}"):
                    verify()


def test_no_act_builds_on_a_settlement_that_is_not_the_one_that_was_hashed(house: House) -> None:
    house.play(royal("R-1"))
    tamper("UPDATE tables_round SET settlement = settlement || ' '::bytea")
    with pytest.raises(NotAsRecorded):
        house.act("hit.verify", FIRST)
