"""What is read of hits and their steps, against the tables as they stand: links that count alike, rows in no order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from jackpot import hit_queries, hits_on_record
from jackpot.queries import reading
from jackpot.rules.hits import OVER
from tests.services.fixtures import Databases
from tests.services.house import LINKED, NEIGHBOUR, RECEIVED, TWIN, House, message, rows, royal, run, seat, two_hits
from tests.services.played import stirred

LINKS = ("ms-mg01", "twin")


class Won(NamedTuple):
    """A hit as its rows say, with the states that it has reached, the last at the end."""

    id: int
    link: str
    stream: int
    number: int
    level_id: int
    level: str
    sequence: int
    order: int
    table: str
    hand: str
    paid_cents: int
    booked: date
    states: list[str]

    @property
    def name(self) -> str:
        """As people say it."""
        return f"{self.link}-{self.number:06d}"


def hits() -> list[Won]:
    """Every hit there is, in the order of their detection."""
    found = rows("""
        SELECT hit.id, link.code, link.stream_id, hit.number, hit.level_id, level.code, hit.sequence, hit."order", hit."table",
            hit.hand, hit.paid_cents, event.gaming_date,
            (SELECT array_agg(step.state ORDER BY step.id) FROM jackpot_hitstep step WHERE step.hit_id = hit.id)
        FROM jackpot_hit hit, jackpot_link link, jackpot_level level, accounting_event event
        WHERE link.id = hit.link_id AND level.id = hit.level_id
            AND event.stream_id = link.stream_id AND event.sequence = hit.sequence
    """)
    return sorted(Won(*row) for row in found)


def quads(round: str) -> dict[str, object]:
    """The lesser level of the other link is hit."""
    return message(round, seat(1, "9s 9d", progressive=500), table=TWIN, community="9c 9h Kd")


@pytest.fixture(scope="module")
def record(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """Hits of two links in every state, with numbers and sequences in common, on two days."""
    with django_db_blocker.unblock():
        name = databases.create(like=floored)
        with databases.entered(name):
            decided_about(House())
        yield name
        databases.drop(name)


def decided_about(house: House) -> None:
    """Play, and take the hits on."""
    house.play(
        royal("R-1"), royal("R-1", table=TWIN), two_hits("R-2"), two_hits("R-2", table=TWIN), quads("R-3"), quads("R-4"),
        message("R-3"), royal("R-4", table=NEIGHBOUR), royal("R-5"), royal("R-6", table=NEIGHBOUR),
    )  # fmt: skip
    tomorrow = RECEIVED + timedelta(days=1)
    house.play(royal("R-7", dealt_at=(tomorrow - timedelta(seconds=5)).isoformat()), at=tomorrow)
    at = tomorrow + timedelta(minutes=1)
    for act, subject in (
        ("hit.verify", "ms-mg01-000001"), ("hit.approve", "ms-mg01-000001"), ("hit.pay", "ms-mg01-000001"),
        ("hit.verify", "ms-mg01-000003"), ("hit.reject", "ms-mg01-000002"), ("hit.verify", "twin-000001"),
        ("hit.verify", "twin-000003"), ("hit.approve", "twin-000003"), ("round.void", f"{LINKED}/R-5"),
        ("hit.reject", "twin-000004"), ("hit.verify", "ms-mg01-000006"), ("hit.approve", "ms-mg01-000006"),
    ):  # fmt: skip
        at += timedelta(seconds=1)
        house.act(act, subject, at=at, **({"method": "cage"} if act == "hit.pay" else {}))


@pytest.fixture
def won(databases: Databases, record: str, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Those, their rows in no order, in a transaction that is rolled back."""
    with django_db_blocker.unblock(), databases.entered(record), transaction.atomic():
        stirred()
        yield
        transaction.set_rollback(True)


def ranges(found: list[Won], stream: int) -> Iterator[tuple[int, int]]:
    """From each sequence of a stream's hits to each."""
    sequences = sorted({hit.sequence for hit in found if hit.stream == stream})
    return ((first, last) for first in sequences for last in sequences if first <= last)


def test_a_hit_is_found_by_its_name_and_with_its_own_steps(won: None) -> None:
    found = hits()
    assert {hit.number for hit in found if hit.link == LINKS[0]} & {hit.number for hit in found if hit.link == LINKS[1]}
    assert {hit.states[-1] for hit in found} == {"detected", "verified", "approved", "paid", "rejected"}
    for hit in found:
        assert hits_on_record.hit_detected(hit.name) == (hit.stream, hit.sequence)
        row = hits_on_record.hit_by_reference(hit.name)
        assert row is not None and row.pk == hit.id
        assert hits_on_record.hit_state(hit.name) == hit.states[-1]
        shown = hit_queries.hit_named(hit.name)
        assert shown is not None and (shown["hit"], shown["state"]) == (hit.name, hit.states[-1])
        steps = {state: (at, by, note) for state, at, by, note in rows(
            "SELECT state, at, by, note FROM jackpot_hitstep WHERE hit_id = %s", hit.id
        )}  # fmt: skip
        for state in (*hit_queries.STATES, "lost"):
            assert hits_on_record.step_shown(hit.name, state) == steps.get(state), (hit.name, state)
    for name in ("twin-000099", "nowhere-000001", "nothing"):
        assert hits_on_record.hit_detected(name) is None
        assert hits_on_record.hit_by_reference(name) is None
        assert hits_on_record.hit_state(name) is None
        assert hits_on_record.step_shown(name, "detected") is None


def test_hits_of_a_stretch_are_those_of_its_stream_in_their_order(won: None) -> None:
    found = hits()
    for stream in {hit.stream for hit in found}:
        for first, last in ranges(found, stream):
            within = sorted(
                (hit.sequence, hit.order, hit.id)
                for hit in found
                if hit.stream == stream and first <= hit.sequence <= last
            )
            ids = [row for _, _, row in within]
            assert [hit.pk for hit in hits_on_record.hits_between(stream, first, last)] == ids
            for most in (2, 100):
                latest, count = hits_on_record.latest_hits_between(stream, first, last, most)
                assert ([hit.pk for hit in latest], count) == (ids[-most:], len(ids))


def test_what_a_stream_had_before_an_event_is_its_own(won: None) -> None:
    """The hits that were open then, and the number that the next would have."""
    found = hits()
    ended = {hit.name for hit in found if hit.states[-1] in OVER}
    for stream in {hit.stream for hit in found}:
        ((following,),) = rows("SELECT next_sequence FROM accounting_stream WHERE id = %s", stream)
        own = sorted((hit for hit in found if hit.stream == stream), key=lambda hit: hit.number)
        for before in (*(hit.sequence for hit in own), *(hit.sequence + 1 for hit in own), following):
            earlier = [hit for hit in own if hit.sequence < before]
            assert hits_on_record.next_hit_before(stream, before) == len(earlier) + 1
            if before == following:
                earlier = [hit for hit in earlier if hit.name not in ended]
            assert [(hit.name, hit.level, hit.paid_cents) for hit in hits_on_record.open_hits(stream, before)] == [
                (hit.name, hit.level, hit.paid_cents) for hit in earlier
            ]


def test_an_award_is_explained_by_its_level_s_hit_before_it(won: None) -> None:
    found = hits()
    for hit in found:
        this, before = hits_on_record.hit_and_the_one_before(hit.level_id, hit.sequence, hit.order)
        earlier = [other for other in found if other.level_id == hit.level_id and other.number < hit.number]
        last = max(earlier, key=lambda other: other.number).id if earlier else None
        assert (this.pk, before and before.pk) == (hit.id, last)
        order = hit_queries.order_of(hit.name)
        assert order is not None
        beside = [other.name for other in found if other.link == hit.link and abs(other.number - hit.number) <= 1]
        assert sorted(place.hit for place in order.places) == sorted(beside)
        assert order.this.hit == hit.name


def test_hits_are_listed_by_what_they_are_asked_for(won: None) -> None:
    found = hits()
    newest = [hit.name for hit in reversed(found)]
    assert [hit["hit"] for hit in hit_queries.page({}).items] == newest
    assert [hit["hit"] for hit in hit_queries.last_hits(limit=100)] == newest
    for state in {hit.states[-1] for hit in found}:
        listed = [hit["hit"] for hit in hit_queries.page({"state": state}).items]
        assert listed == [hit.name for hit in reversed(found) if hit.states[-1] == state]
    for limit in (3, 100):
        listed, count = hit_queries.pending(limit=limit)
        waiting = [hit.name for hit in found if hit.states[-1] not in OVER]
        assert ([hit["hit"] for hit in listed], count) == (waiting[:limit], len(waiting))
    for states in (("approved",), ("detected", "verified")):
        assert [(name, cents, state) for name, cents, state, _ in hit_queries.awards_to_hand_over(states)] == [
            (hit.name, hit.paid_cents, hit.states[-1]) for hit in found if hit.states[-1] in states
        ]


def test_an_award_that_came_to_nothing_is_not_handed_over(won: None) -> None:
    (first, *others) = [hit for hit in hits() if hit.states[-1] == "approved"]
    run("SET LOCAL session_replication_role = replica")
    run("UPDATE jackpot_hit SET paid_cents = CASE WHEN id = %s THEN 0 ELSE 1 END", first.id)
    assert [(name, cents) for name, cents, *_ in hit_queries.awards_to_hand_over()] == [(hit.name, 1) for hit in others]


def test_hits_of_gaming_days_are_those_that_were_booked_then(won: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hit_queries, "AT_ONCE", 3)
    found = hits()
    first, last = min(hit.booked for hit in found), max(hit.booked for hit in found)
    assert first < last
    for days in ((first, first), (last, last), (first, last)):
        within = [hit for hit in found if days[0] <= hit.booked <= days[1]]
        assert [hit["hit"] for hit, _ in hit_queries.booked_between(*days)] == [hit.name for hit in within]
        for link in LINKS:
            assert [hit["hit"] for hit, _ in hit_queries.booked_between(*days, link=link, state="verified")] == [
                hit.name for hit in within if hit.link == link and hit.states[-1] == "verified"
            ]


def test_signs_display_the_latest_that_nobody_has_looked_at(won: None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hits()
    for most, switch in ((50, "on"), (1, "on"), (4, "on"), (50, "off")):
        run(f"SET LOCAL enable_hashjoin = {switch}; SET LOCAL enable_nestloop = {switch}")  # whatever the plan
        monkeypatch.setattr(hit_queries, "MOST_WINS", most)
        shown: dict[str, list[tuple[object, ...]]] = {}
        for link in LINKS:
            latest = sorted((hit for hit in found if hit.link == link), key=lambda hit: -hit.number)[:most]
            wins: list[tuple[object, ...]] = [
                (w.name, w.level, w.table, w.hand, w.paid_cents) for w in latest if w.states == ["detected"]
            ]
            shown |= {link: wins} if wins else {}
        displayed = {
            link: [tuple(win.values()) for win in wins] for link, wins in hit_queries.wins_unacknowledged().items()
        }
        assert list(displayed.items()) == list(shown.items())
        for link in LINKS:
            assert list(hit_queries.wins_unacknowledged(link)) == [link] * (link in shown)


def test_what_is_detected_and_not_decided_comes_to_every_such_hit(house: House) -> None:
    assert hit_queries.detected_cents() == 0
    house.play(two_hits("R-1"), royal("R-1", table=TWIN), quads("R-2"))
    house.act("hit.verify", "ms-mg01-000001")
    house.act("hit.verify", "ms-mg01-000002")
    house.act("hit.approve", "ms-mg01-000002")
    house.act("hit.reject", "twin-000002")
    waiting = [hit.paid_cents for hit in hits() if not {"approved", "rejected"} & set(hit.states)]
    assert len(waiting) == 2
    assert hit_queries.detected_cents() == sum(waiting)


def test_a_link_is_read_at_one_moment_with_its_hits_since_another(won: None) -> None:
    run("SET LOCAL session_replication_role = replica")
    for link_id, code in rows("SELECT id, code FROM jackpot_link"):
        ((now,),) = rows(
            "SELECT max(sequence) FROM jackpot_meter JOIN jackpot_level ON id = level_id WHERE link_id = %s", link_id
        )
        *own, last = sorted((hit for hit in hits() if hit.link == code), key=lambda hit: (hit.sequence, hit.order))
        for settled in (now, now + 1):  # with the moment that is read, and while it is read
            run("UPDATE jackpot_hit SET sequence = %s WHERE id = %s", settled, last.id)
            for after in (0, own[0].sequence, own[-1].sequence):
                since = [hit.name for hit in own if hit.sequence > after] + [last.name] * (settled == now)
                for most in (2, 100):
                    read = reading(link_id, after_sequence=after, most_hits=most)
                    assert [award["hit"] for _, award in read.hits] == since[:most]
        levels = rows("SELECT code FROM jackpot_level WHERE link_id = %s ORDER BY id", link_id)
        assert (read.sequence, [level["code"] for level in read.levels]) == (now, [level for (level,) in levels])


BAY, OTHER = (f"link_id = (SELECT {which}(id) FROM jackpot_link)" for which in ("min", "max"))


def of_hit(number: int, link: str = BAY) -> str:
    """A hit's key, in SQL."""
    return f"(SELECT id FROM jackpot_hit WHERE number = {number} AND {link})"


def test_a_step_that_no_event_made_is_named(won: None) -> None:
    assert hits_on_record.stray_step() is None
    run("SET LOCAL session_replication_role = replica")
    for change, state, number, link, stray in (
        ("at = at + interval '1 second'", "paid", 1, BAY, ("ms-mg01-000001", "paid")),
        ("at = at + interval '1 second'", "rejected", 2, BAY, ("ms-mg01-000002", "rejected")),
        (
            "at = at + interval '1 second'",
            "rejected",
            5,
            BAY,
            ("ms-mg01-000005", "rejected"),
        ),  # by the void of its round
        ("state = 'unclaimed'", "verified", 3, BAY, ("ms-mg01-000003", "unclaimed")),
        ("state = 'verified'", "rejected", 2, BAY, ("ms-mg01-000002", "verified")),
        ("state = 'paid'", "rejected", 5, BAY, ("ms-mg01-000005", "paid")),
        (f"hit_id = {of_hit(2, OTHER)}", "verified", 1, OTHER, ("twin-000002", "verified")),
    ):
        changed = f"UPDATE jackpot_hitstep SET {change} WHERE state = '{state}' AND hit_id = {of_hit(number, link)}"
        with transaction.atomic():
            assert run(changed) == 1
            assert hits_on_record.stray_step() == stray
            transaction.set_rollback(True)


def test_the_first_of_the_steps_that_no_event_made_is_named(won: None) -> None:
    run("SET LOCAL session_replication_role = replica")
    astray = "UPDATE jackpot_hitstep SET at = at + interval '1 second' WHERE state IN ('paid', 'approved', 'verified')"
    first = f"hit_id = {of_hit(1)} AND state = 'verified'"
    assert run(f"{astray} AND NOT ({first})") > 3
    assert run(f"{astray} AND {first}") == 1  # its row lies behind the others now
    assert hits_on_record.stray_step() == ("ms-mg01-000001", "verified")


def test_the_first_hit_without_its_link_and_the_first_step_without_its_hit_are_named(won: None) -> None:
    assert (hits_on_record.hit_without_link(), hits_on_record.step_without_hit()) == (None, None)
    run("SET LOCAL session_replication_role = replica")
    for number, link in ((3, 4712), (1, 4711)):  # the first one's row lies behind the other now
        assert run(f"UPDATE jackpot_hitstep SET hit_id = {link} WHERE hit_id = {of_hit(number)}") > 1
        assert run(f"UPDATE jackpot_hit SET link_id = {link} WHERE id = {of_hit(number)}") == 1
    (sequence,) = rows("SELECT sequence FROM jackpot_hit WHERE link_id = 4711")[0]
    assert hits_on_record.hit_without_link() == (4711, sequence)
    assert hits_on_record.step_without_hit() == 4711


def test_a_step_made_at_the_same_moment_on_another_stream_is_one_that_none_made(won: None) -> None:
    """Nor does a round of that moment make one, nor another act on the same hit."""
    run("SET LOCAL session_replication_role = replica")
    moved = "UPDATE accounting_event SET stream_id = 4711 WHERE kind = %s AND subject = %s"
    assert run(moved, "hit.verify", "ms-mg01-000003") == 1
    assert hits_on_record.stray_step() == ("ms-mg01-000003", "verified")
    back = "UPDATE accounting_event SET stream_id = %s, kind = %s WHERE stream_id = 4711"
    stream = House.stream("ms-mg01")
    for kind in ("round", "hit.approve", "round.void"):
        assert run(back, stream, kind) == 1
        assert hits_on_record.stray_step() == ("ms-mg01-000003", "verified"), kind
        run(moved, kind, "ms-mg01-000003")
    run(back, stream, "hit.verify")
    assert hits_on_record.stray_step() is None
    assert run("UPDATE accounting_event SET kind = 'round.correct' WHERE kind = 'round.void'") == 1
    assert hits_on_record.stray_step() == ("ms-mg01-000005", "rejected")


def test_a_hit_of_more_than_six_digits_keeps_its_steps(won: None) -> None:
    run("SET LOCAL session_replication_role = replica")
    run("UPDATE jackpot_hit SET number = 1234567 WHERE number = 3 AND link_id = (SELECT min(id) FROM jackpot_link)")
    assert hits_on_record.stray_step() == ("ms-mg01-1234567", "verified")
    run("UPDATE accounting_event SET subject = 'ms-mg01-1234567' WHERE subject = 'ms-mg01-000003'")
    assert hits_on_record.stray_step() is None
    run(f"DELETE FROM jackpot_hitstep WHERE state = 'verified' AND hit_id = {of_hit(1234567)}")
    latest, *_ = hit_queries.wins_unacknowledged("ms-mg01")["ms-mg01"]
    assert latest["hit"] == "ms-mg01-1234567"
