"""What is read back of the books, against the tables as they stand: several streams, two days, acts beside rounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

import pytest

from accounting import book_queries, day_queries, event_queries, queries
from accounting.models import Account
from accounting.rules.chart import order
from accounting.services import closed_days, ledger
from accounting.statements import execute
from tests.services.house import ALONE, DEALT, LINKED, OPENED, TWIN, House, message, rows, royal, run, value
from tests.services.played import decided, stirred

STREAMS = ("ms-mg01", "twin", ALONE)
DAY = date(2026, 11, 27)
MESSAGES = ["round", "lock"]
"""The kinds of events that have no documents: a message is their cause."""


class Event(NamedTuple):
    """An event on record, with its documents where it has them."""

    stream_id: int
    stream: str
    sequence: int
    kind: str
    subject: str
    recorded_at: Any
    day: date
    own_day: date
    rules: int
    cause: bytes | None
    result: bytes | None


class Moved(NamedTuple):
    """A transfer on record."""

    stream_id: int
    sequence: int
    line: int
    debit: int
    credit: int
    cents: int
    reason: str


@pytest.fixture
def kept(lived: House) -> House:
    """Acts of every standing at moments of their own, on links and tables of one subject after another; a day before."""
    decided(lived)
    for minutes, (name, subject) in enumerate(
        [
            ("lock.void", f"{LINKED}/K-2"), ("link.suspend", "ms-mg01"), ("link.suspend", "twin"), ("link.resume", "ms-mg01"),
            ("table.close", LINKED), ("table.close", ALONE), ("table.open", ALONE), ("link.resume", "twin"),
            ("round.void", f"{ALONE}/R-2"),
        ],
        1,
    ):  # fmt: skip
        lived.act(name, subject, at=lived.now + timedelta(minutes=max(minutes, 2)))  # the first two at one moment
    day_before = (DEALT - timedelta(days=1)).isoformat()
    later = lived.now + timedelta(minutes=20)
    lived.play(
        message("Y-1", table=TWIN, dealt_at=day_before), message("Y-1", table=ALONE, dealt_at=day_before), at=later
    )
    stirred()
    return lived


def events() -> list[Event]:
    """Every event, stream by stream in their order."""
    found = rows(
        "SELECT event.stream_id, stream.code, event.sequence, event.kind, event.subject, event.recorded_at, event.gaming_date,"
        " coalesce(event.original_date, event.gaming_date), event.rules, document.cause, document.result"
        " FROM accounting_event event JOIN accounting_stream stream ON stream.id = event.stream_id"
        " LEFT JOIN accounting_document document"
        " ON document.stream_id = event.stream_id AND document.sequence = event.sequence"
    )
    every = [Event(*row[:9], *(each and bytes(each) for each in row[9:])) for row in found]
    return sorted(every, key=lambda event: (event.stream_id, event.sequence))


def transfers() -> list[Moved]:
    """Every transfer, stream by stream in their order."""
    found = rows("SELECT stream_id, sequence, line, debit_id, credit_id, amount_cents, reason FROM accounting_transfer")
    return sorted((Moved(*row) for row in found), key=lambda moved: moved[:3])


@pytest.mark.parametrize("code", ["wagers", "inventory", "liability"])
def test_the_lines_of_a_statement_are_its_accounts_own_and_go_on_where_a_page_ended(code: str, kept: House) -> None:
    """Debits and credits on their own sides, with the account on the other and the balance behind each."""
    names = dict(rows("SELECT id, code FROM accounting_account"))
    about = {(event.stream_id, event.sequence): event for event in events()}
    seen: set[date] = set()
    for account in Account.objects.filter(kind=code):
        for first, last in ((DAY - timedelta(days=1),) * 2, (DAY, DAY), (DAY - timedelta(days=1), DAY)):
            own = [
                (about[moved[:2]].day, moved)
                for moved in transfers()
                if account.pk in (moved.debit, moved.credit) and about[moved[:2]].day <= last
            ]
            own.sort(key=lambda found: (found[0], found[1][:3]))
            running, expected = 0, []
            for day, moved in own:
                debit, credit = moved.cents * (moved.debit == account.pk), moved.cents * (moved.credit == account.pk)
                running += debit - credit
                event = about[moved[:2]]
                if day >= first:
                    other = names[moved.credit if debit else moved.debit]
                    expected.append((
                        day, moved.stream_id, event.stream, moved.sequence, moved.line, event.kind, event.subject,
                        moved.reason, other, debit, credit, running,
                    ))  # fmt: skip
            found = book_queries.statement(account, first, last)
            assert [(*line_of(each)[:7], *line_of(each)[9:]) for each in found] == expected
            seen |= {day for day, *_ in expected}
            for place, each in enumerate(found):
                assert book_queries.statement(account, first, last, after=each.place) == found[place + 1 :]
                assert book_queries.statement(account, first, last, limit=place + 1) == found[: place + 1]
            for switch in ("off", "on"):  # joined by their keys the lines come in the order of the other accounts
                run(f"SET LOCAL enable_hashjoin = {switch}; SET LOCAL enable_nestloop = {switch}")
                assert book_queries.statement(account, first, last) == found
    assert seen == {DAY, DAY - timedelta(days=1)}


def line_of(line: book_queries.Line) -> tuple[Any, ...]:
    """A line's fields in their order."""
    return tuple(getattr(line, name) for name in line.__slots__)


def test_transfers_of_a_range_are_those_of_their_stream_in_their_order(kept: House) -> None:
    for stream in STREAMS:
        stream_id = House.stream(stream)
        own = [moved for moved in transfers() if moved.stream_id == stream_id]
        last = own[-1].sequence
        for first, until in ((0, last), (1, 1), (2, 3), (last, last), (1, last - 1)):
            found = [tuple(row) for row in event_queries.transfers_between(stream_id, first, until)]
            assert found == [moved[1:] for moved in own if first <= moved.sequence <= until]


def test_the_next_event_is_the_first_from_a_sequence_on_and_before_another(kept: House) -> None:
    stream_id = House.stream("twin")
    own = [event.sequence for event in events() if event.stream_id == stream_id]
    last = own[-1]
    assert len({event.sequence for event in events() if event.stream == "ms-mg01"}) != len(own)
    run("SET session_replication_role = replica")
    assert run("DELETE FROM accounting_event WHERE stream_id = %s AND sequence IN (2, 3)", stream_id) == 2
    for first, before in (
        (0, 9),
        (2, 9),
        (3, 4),
        (2, 4),
        (2, 5),
        (4, 5),
        (4, 4),
        (last, last),
        (last, last + 1),
        (last + 1, 999),
    ):
        expected = min((each for each in own if first <= each < before and each not in (2, 3)), default=None)
        assert event_queries.next_event(stream_id, first, before) == expected, (first, before)


def test_the_last_act_is_of_its_stream_and_begins_so_or_is_about_the_subject(kept: House) -> None:
    every = events()
    for stream in STREAMS:
        stream_id = House.stream(stream)
        for kinds, subject in (
            ("link.", "nobody"), ("table.", "nobody"), ("link.suspend", "ms-mg01"), ("nothing", ALONE), ("nothing", "twin"),
            ("nothing", LINKED), ("nothing", f"{ALONE}/R-2"), ("lock.", "nobody"), ("round.", "twin"),
            ("nothing", f"{LINKED}/K-1"),
        ):  # fmt: skip
            expected = max(
                (event.sequence for event in every if event.stream == stream and event.kind != "round"
                 and (event.kind.startswith(kinds) or event.subject == subject)),
                default=0,
            )  # fmt: skip
            assert event_queries.last_act(stream_id, kinds=kinds, subject=subject) == expected, (stream, kinds, subject)


def test_what_rounds_added_to_a_level_is_summed_between_two_sequences(kept: House) -> None:
    """Both ends of the range, every level, what ran over, and a round that was taken back."""
    accounts = {
        account: (kind, owner) for account, kind, owner in rows("SELECT id, kind, owner FROM accounting_account")
    }
    overflowed = False
    for stream, owners in (("ms-mg01", ["ms-mg01/major"]), ("twin", ["twin/grand", "twin/minor"])):
        stream_id = House.stream(stream)
        moves = [
            moved for moved in transfers()
            if moved.stream_id == stream_id and moved.reason in ("contribution", "void")
        ]  # fmt: skip
        last = moves[-1].sequence
        for owner in owners:
            for after, upto in ((0, last), (0, 1), (1, 2), (1, last), (2, last), (0, last - 1), (last, last), (3, 5)):
                cents, counted, ran_over = 0, set(), False
                for moved in (each for each in moves if after < each.sequence <= upto):
                    for account, sign in ((moved.credit, 1), (moved.debit, -1)):
                        if accounts[account] == ("liability", owner):
                            cents += sign * moved.cents
                            counted |= {moved.sequence} if moved.reason == "contribution" else set()
                        ran_over |= accounts[account] == ("overflow", owner)
                found = queries.contributed(stream_id, owner, after=after, upto=upto)
                assert found == (cents, len(counted), ran_over), (owner, after, upto)
                overflowed |= ran_over
    assert overflowed
    assert queries.contributed(House.stream("twin"), "twin/grand", after=900, upto=999) == (0, 0, False)


def test_totals_of_a_stream_are_what_its_transfers_come_to_by_account_and_day(kept: House) -> None:
    names = dict(rows("SELECT id, code FROM accounting_account"))
    days = {(event.stream_id, event.sequence): event.day for event in events()}
    for stream in STREAMS:
        stream_id = House.stream(stream)
        expected: dict[tuple[str, date], list[int]] = defaultdict(lambda: [0, 0])
        for moved in transfers():
            if moved.stream_id == stream_id:
                expected[names[moved.debit], days[moved[:2]]][0] += moved.cents
                expected[names[moved.credit], days[moved[:2]]][1] += moved.cents
        assert queries.totals_of(stream_id) == {key: tuple(sides) for key, sides in expected.items()}


def test_acts_are_read_with_their_documents_by_kind_subject_and_how_far(kept: House) -> None:
    every = events()
    kinds = ["link.suspend", "link.resume", "table.close", "round.void", "lock.void"]
    for stream in STREAMS:
        stream_id = House.stream(stream)
        acts = [event for event in every if event.stream == stream and event.kind in kinds]
        assert acts, stream
        said = [(each.sequence, each.kind, each.rules, each.recorded_at, each.cause, each.result) for each in acts]
        assert [tuple(each) for each in event_queries.documented(stream_id, kinds)] == said
        for none in (MESSAGES, []):
            assert event_queries.documented(stream_id, none) == []
        for subjects in ([acts[0].subject], sorted({each.subject for each in acts}), ["nobody"], []):
            for before in (acts[0].sequence, acts[0].sequence + 1, acts[-1].sequence, 999):
                expected = [
                    each
                    for each, act in zip(said, acts, strict=True)
                    if act.subject in subjects and act.sequence < before
                ]
                found = event_queries.acts_about(stream_id, subjects, kinds, before=before)
                assert [tuple(each) for each in found] == expected
        one = [each for each, act in zip(said, acts, strict=True) if act.kind == acts[0].kind]
        assert [tuple(each) for each in event_queries.acts_about(
            stream_id, sorted({each.subject for each in acts}), [acts[0].kind], before=999)] == one  # fmt: skip
        of_messages = [event.subject for event in every if event.kind in MESSAGES]
        assert event_queries.acts_about(stream_id, of_messages, MESSAGES, before=999) == []


def test_what_was_decided_on_a_stream_or_about_a_subject_stands_newest_first(kept: House) -> None:
    def expected(stream: str, subject: str | None) -> list[tuple[Any, ...]]:
        chosen = [
            event for event in events()
            if event.cause is not None and event.result is not None
            and (event.subject == subject if subject is not None else event.stream == stream)
            | (event.stream == stream and event.kind in ("opened", "table.install"))
            and (not event.kind.startswith("round") or (event.kind == "round.void" and b'"steps":' in event.result))
        ]  # fmt: skip
        chosen.sort(key=lambda event: (-event.recorded_at.timestamp(), event.stream_id, -event.sequence))
        return [(event.stream, event.sequence, event.kind, event.subject, event.recorded_at) for event in chosen]

    def found(stream: str, subject: str | None, **more: int) -> list[tuple[Any, ...]]:
        said = event_queries.decided_on(stream, subject=subject, **more)
        return [(each.stream, each.sequence, each.kind, each.subject, each.recorded_at) for each in said]

    for stream in STREAMS:
        for subject in (None, stream, LINKED, ALONE, f"{ALONE}/R-2", "nobody"):
            assert found(stream, subject) == expected(stream, subject), (stream, subject)
        assert found(stream, None, limit=2) == expected(stream, None)[:2]
    assert {each[2] for each in found(ALONE, None)} >= {"round.void", "table.close", "table.open"}


def test_an_event_that_is_no_messages_is_read_with_its_days_and_documents(kept: House) -> None:
    for event in events():
        said = event_queries.documents_at(event.stream, event.sequence)
        if event.cause is None:
            assert said is None
        else:
            assert said == (event.kind, event.subject, event.own_day, event.day, event.recorded_at, event.rules,
                            event.cause, event.result)  # fmt: skip
    assert event_queries.documents_at("nobody", 0) is None


@pytest.mark.parametrize("changed", ["cause = 'x'", "result = 'x'"])
def test_the_first_document_that_is_not_what_its_event_was_digested_of_is_named(changed: str, kept: House) -> None:
    stream_id, other = House.stream(ALONE), House.stream("ms-mg01")
    kinds = ["table.close", "table.open", "round.void"]
    at = [event.sequence for event in events() if event.stream == ALONE and event.kind in kinds]
    assert event_queries.stray_documents(stream_id, kinds) == event_queries.stray_documents(other, kinds) == []
    run("SET session_replication_role = replica")
    for sequence in reversed(at):
        run(f"UPDATE accounting_document SET {changed} WHERE stream_id = %s AND sequence = %s", stream_id, sequence)
        assert event_queries.stray_documents(stream_id, kinds) == [sequence]
    assert event_queries.stray_documents(stream_id, ["link.suspend"]) == []
    assert event_queries.stray_documents(other, kinds) == []
    assert run("DELETE FROM accounting_document WHERE stream_id = %s AND sequence = %s", stream_id, at[0])
    assert event_queries.stray_documents(stream_id, kinds) == [at[0]], "one that is gone is none of its event's"


def test_a_sequence_is_found_by_when_it_was_recorded(kept: House) -> None:
    for stream in STREAMS:
        own = [event for event in events() if event.stream == stream]
        following = value("SELECT next_sequence FROM accounting_stream WHERE code = %s", stream)
        for event in own:
            for at in (event.recorded_at, event.recorded_at + timedelta(microseconds=1)):
                expected = next((each.sequence for each in own if each.recorded_at >= at), following)
                assert event_queries.recorded_from(event.stream_id, at) == expected


def test_a_day_is_closed_by_itself_or_with_a_later_one_and_lies_between_its_neighbours(house: House) -> None:
    monday, tuesday, wednesday = (date(2026, 11, 23) + timedelta(days=days) for days in range(3))
    for day, closed in ((wednesday, DEALT + timedelta(hours=1)), (monday, None), (tuesday, DEALT)):
        run("INSERT INTO accounting_gamingday (date, closed_at) VALUES (%s, %s)", day, closed)
    assert day_queries.closed_at(monday) == day_queries.closed_at(tuesday) == DEALT
    assert day_queries.closed_at(wednesday) == DEALT + timedelta(hours=1)
    assert day_queries.closed_at(wednesday + timedelta(days=1)) is None
    first = date(2026, 11, 1)  # on which the house was opened
    assert day_queries.days_around(first) == (None, monday)
    assert day_queries.days_around(monday) == (first, tuesday)
    assert day_queries.days_around(tuesday) == (monday, wednesday)
    assert day_queries.days_around(wednesday) == (tuesday, None)


def sides(moves: Iterable[Moved]) -> dict[int, tuple[int, int]]:
    """What transfers debit and credit to each account that they move."""
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for moved in moves:
        sums[moved.debit][0] += moved.cents
        sums[moved.credit][1] += moved.cents
    return {account: (debits, credits) for account, (debits, credits) in sums.items()}


def test_balances_at_a_moment_are_the_same_from_what_came_before_and_from_what_came_later(
    kept: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every sequence of every stream, each account once; and over all streams, in the order of the chart."""
    looked: list[tuple[str, Any]] = []

    def looking(statement: Any, values: Any) -> Any:
        looked.append((statement, values))
        return execute(statement, values)

    monkeypatch.setattr(book_queries, "execute", looking)
    every, about = transfers(), {(event.stream_id, event.sequence): event for event in events()}
    for stream in STREAMS:
        stream_id = House.stream(stream)
        own = [moved for moved in every if moved.stream_id == stream_id]
        for cut in range(own[-1].sequence + 2):
            expected = sorted((key, *each) for key, each in sides(move for move in own if move.sequence < cut).items())
            for statement in (book_queries.BEFORE, book_queries.LESS_LATER):
                found = execute(statement, {"stream": stream_id, "cut": cut})
                assert sorted(row for row in found if any(row[1:])) == expected, (stream, cut)
    accounts = {account.pk: account for account in Account.objects.all()}
    moments = sorted({event.recorded_at for event in about.values()})
    for at in (moments[0], moments[len(moments) // 2], moments[-1]):
        balances = sides(moved for moved in every if about[moved[:2]].recorded_at <= at)
        expected_balances = [
            (account.code, *balances[pk])
            for pk, account in sorted(accounts.items(), key=lambda each: order(each[1].kind, each[1].owner))
            if pk in balances
        ]
        found_balances = book_queries.balances_at(at)
        assert [(each.code, each.debit_cents, each.credit_cents) for each in found_balances] == expected_balances
    length = {
        House.stream(stream): sum(event.stream_id == House.stream(stream) for event in about.values())
        for stream in STREAMS
    }
    for statement, values in looked:
        before = values["cut"]
        read = before if statement is book_queries.BEFORE else length[values["stream"]] - before
        assert read <= length[values["stream"]] - read, "whichever is shorter"


def test_what_is_won_and_not_handed_over_is_counted_between_two_events_and_on_streams(kept: House) -> None:
    day_before = (DEALT - timedelta(days=1)).isoformat()
    kept.play(royal("Y-2", table=TWIN, dealt_at=day_before), at=kept.now + timedelta(minutes=25))
    payables = {pk for pk, kind in rows("SELECT id, kind FROM accounting_account") if kind in queries.PAYABLES}
    raised: dict[tuple[int, int], int] = defaultdict(int)
    for moved in transfers():
        raised[moved[:2]] += moved.cents * ((moved.credit in payables) - (moved.debit in payables))
    assert any(raised.values())
    ids = [House.stream(stream) for stream in STREAMS]
    for stream_id in ids:
        last = max(sequence for of, sequence in raised if of == stream_id)
        for first, before in ((0, last + 1), (0, last), (1, last + 1), (2, 3), (3, 3), (last, last + 1)):
            expected = sum(raised[stream_id, sequence] for sequence in range(first, before))
            assert queries.unpaid_between(stream_id, first, before) == expected, (stream_id, first, before)
        total = {stream_id: sum(cents for (of, _), cents in raised.items() if of == stream_id)}
        assert {of: cents for of, cents in queries.unpaid_on([stream_id]).items() if cents} == {
            of: cents for of, cents in total.items() if cents
        }
    assert len([cents for cents in queries.unpaid_on(ids).values() if cents]) == 2, "of two links, each its own"


def test_acts_of_a_stretch_are_those_of_its_stream_kinds_and_days(kept: House) -> None:
    every = events()
    days = [(DAY, DAY), (OPENED.date(), DAY), (OPENED.date(), OPENED.date()), (DAY, DAY + timedelta(days=1))]
    days += [(DAY - timedelta(days=9), DAY - timedelta(days=1))]
    for stream in STREAMS:
        acts = [event for event in every if event.stream == stream and event.cause is not None]
        kinds, last = sorted({event.kind for event in acts}), acts[-1].sequence
        for begins, ends in ((0, last), (acts[1].sequence, acts[-2].sequence), (1, last - 1), (last, last + 9)):
            for first, until in days:
                for asked in (kinds, kinds[:2], MESSAGES, []):
                    expected = [
                        (act.recorded_at, act.subject, act.cause, act.result)
                        for act in acts
                        if act.kind in asked and begins <= act.sequence <= ends and first <= act.day <= until
                    ]
                    found = event_queries.documented_between(acts[0].stream_id, asked, begins, ends, first, until)
                    assert found == expected, (stream, begins, ends, first, until)


def test_the_last_act_of_a_kind_is_read_for_each_stream_that_has_one(kept: House) -> None:
    for cents in range(1, 6):
        for level in ("ms-mg01/major", "twin/grand"):
            later = kept.now + timedelta(minutes=25)
            kept.act("level.adjust", level, at=later, part="reserve", cents=cents, reason="correction")
    stirred()
    every, ids = events(), [House.stream(stream) for stream in STREAMS]
    for kind in ("opened", "level.adjust", "round.void", "table.close", "link.suspend", *MESSAGES, "nothing"):
        last = {event.stream_id: event for event in every if event.kind == kind and event.cause is not None}
        for asked in (ids, ids[:1], ids[1:], []):
            expected = {of: (event.recorded_at, event.cause) for of, event in last.items() if of in asked}
            assert event_queries.last_documented(kind, asked) == expected, (kind, asked)


def test_what_acts_booked_is_read_line_by_line_with_both_accounts(kept: House) -> None:
    names = dict(rows("SELECT id, code FROM accounting_account"))
    about = {(event.stream_id, event.sequence): event for event in events()}
    for kinds in (["opened"], ["opened", "round.void", "link.suspend"], ["round"], []):
        expected = [
            (*moved[:2], about[moved[:2]].kind, about[moved[:2]].subject, names[moved.debit], names[moved.credit], moved.cents)
            for moved in transfers()
            if about[moved[:2]].kind in kinds and about[moved[:2]].kind != "round"
        ]  # fmt: skip
        assert event_queries.booked_as(kinds) == expected


def test_an_event_is_read_with_what_is_its_own(kept: House) -> None:
    """Its kind, subject and digests, what it booked line by line, and its documents; of no other stream."""
    names = dict(rows("SELECT id, code FROM accounting_account"))
    moves = transfers()
    for event in events():
        place = event.stream_id, event.sequence
        shown, at = event_queries.event_shown(*place), event_queries.event_at(*place)
        assert at is not None
        assert at[:2] == event_queries.recorded_of(*place) == (event.kind, event.subject)
        assert [shown[name] for name in ("stream", "sequence", "kind", "subject", "gaming_date", "rules", "hash")] == [
            event.stream, event.sequence, event.kind, event.subject, event.day.isoformat(), event.rules, at[2].hex(),
        ]  # fmt: skip
        assert event_queries.transfers_of(*place) == [
            {"line": moved.line, "debit": names[moved.debit], "credit": names[moved.credit], "amount_cents": moved.cents,
             "reason": moved.reason}
            for moved in moves if moved[:2] == place
        ]  # fmt: skip
        said = event_queries.documents_of(*place)
        if event.cause is None or event.result is None:
            assert said is None
        else:
            assert said == {"cause": event.cause.decode(), "result": event.result.decode()}
            digests = sha256(event.cause).digest(), sha256(event.result).digest()
            assert event_queries.event_digests(*place) == digests
    assert event_queries.event_at(House.stream("twin"), 99) is None
    assert event_queries.event_digests(House.stream("twin"), 99) is None


@pytest.mark.parametrize("with_rounds", [True, False])
def test_a_page_of_events_goes_on_behind_a_sequence(with_rounds: bool, kept: House) -> None:
    for stream in STREAMS:
        own = [event for event in events() if event.stream == stream and (with_rounds or event.kind != "round")]
        for after, limit in ((-1, 99), (0, 99), (0, 2), (own[-2].sequence, 99), (own[-1].sequence, 99)):
            page = event_queries.events_page(stream, after_sequence=after, limit=limit, with_rounds=with_rounds)
            expected = [event for event in own if event.sequence > after][:limit]
            assert [each["sequence"] for each in page] == [event.sequence for event in expected]
            for each, event in zip(page, expected, strict=True):
                said = (
                    event_queries.NOT_SAID
                    if event.cause is None
                    else event_queries.said(event.cause, event.result or b"")
                )
                assert {name: each[name] for name in said} == said


def test_the_first_event_booked_since_somebody_looked_is_named_of_the_first_stream_by_its_code(kept: House) -> None:
    every, ids = events(), {stream: House.stream(stream) for stream in STREAMS}
    last = {of: max(event.sequence for event in every if event.stream == of) for of in STREAMS}
    for day in (DAY, DAY - timedelta(days=1), OPENED.date(), OPENED.date() - timedelta(days=1)):
        for looked in (
            dict.fromkeys(STREAMS, -1), dict.fromkeys(STREAMS, 0), dict.fromkeys(STREAMS, 4), last,
            {"twin": 1}, last | {"twin": last["twin"] - 1}, last | {"ms-mg01": 2, "twin": 2}, {ALONE: 0, "twin": -1},
        ):  # fmt: skip
            since = [
                (event.stream, event.sequence)
                for event in every if event.stream in looked and event.sequence > looked[event.stream] and event.day <= day
            ]  # fmt: skip
            found = closed_days.booked_since({ids[stream]: sequence for stream, sequence in looked.items()}, day)
            assert found == min(since, default=None), (day, looked)
        for stream, stream_id in ids.items():
            for after, before in ((-1, 99), (0, 99), (0, 1), (0, 2), (1, last[stream]), (last[stream], 99)):
                first = min(
                    (event.sequence for event in every
                     if event.stream == stream and after < event.sequence < before and event.day <= day),
                    default=None,
                )  # fmt: skip
                found_first = event_queries.booked_between(stream_id, after, before, day)
                assert found_first == first, (stream, after, before, day)


def test_what_is_beyond_this_program_is_the_first_event_of_an_unknown_kind_since_it_last_looked(kept: House) -> None:
    known = ["round", "opened", "level.adjust"]
    for stream in STREAMS:
        own = [event for event in events() if event.stream == stream]
        for seen in range(-1, len(own) + 1):
            unknown = [event.kind for event in own if event.sequence > seen and event.kind not in known]
            for last in (0, own[-1].sequence, own[-1].sequence + 1):
                values = {"stream": own[0].stream_id, "last": last, "seen": seen, "kinds": known}
                rules = own[last].rules if last < len(own) else None
                assert execute(ledger.BEYOND, values) == [(rules, unknown[0] if unknown else None)], values


def test_streams_that_are_held_are_all_there_are_in_the_order_of_their_ids(kept: House) -> None:
    """Whoever holds several takes them in one order, or two would wait for each other."""
    expected = sorted(rows("SELECT id, code, next_sequence, head, terms_version FROM accounting_stream"))
    for found in (closed_days.hold_streams(), closed_days.streams_now()):
        assert [(each.id, each.code, each.next_sequence, each.head, each.terms_version) for each in found] == [
            (*row[:3], bytes(row[3]), row[4]) for row in expected
        ]


def test_the_day_that_a_stream_had_closed_is_the_latest_before_an_event(kept: House) -> None:
    closings = []
    for number, day in enumerate((DAY, DAY + timedelta(days=1), DAY + timedelta(days=3)), 1):
        closings.append((day, kept.close_day(day.isoformat(), at=kept.now + timedelta(days=number))))
    for stream in STREAMS:
        stream_id = House.stream(stream)
        for sequence in range(value("SELECT next_sequence FROM accounting_stream WHERE id = %s", stream_id) + 1):
            expected = max((day for day, at in closings if at[stream] < sequence), default=None)
            assert day_queries.closed_before(stream_id, sequence) == expected, (stream, sequence)
            over = next(((day, at[stream]) for day, at in closings if at[stream] >= sequence), None)
            assert closed_days.signed_over(stream_id, sequence) == over, (stream, sequence)
    for day in (DAY, *(day + timedelta(days=1) for day, _ in closings)):
        closing = next((at for closed, at in reversed(closings) if closed < day), {})
        assert closed_days.closing_of(day) == {House.stream(stream): at for stream, at in closing.items()}
    assert {head.stream: head.sequence for head in closed_days.last_heads().values()} == closings[-1][1]
    said = [(each[:2], each[2]) for each in event_queries.closing_events()]
    assert said == sorted(
        ((House.stream(stream), at[stream]), day.isoformat()) for day, at in closings for stream in STREAMS
    )


def test_what_was_booked_on_days_is_listed_stream_by_stream_in_its_order(kept: House) -> None:
    names = dict(rows("SELECT id, code FROM accounting_account"))
    about = {(event.stream_id, event.sequence): event for event in events()}
    every, asked = transfers(), list[dict[str, Any]]()
    asked += (
        {}, {"stream": "twin"}, {"stream": "nobody"}, {"account": "wagers"}, {"reasons": ["wager", "seed"]}, {"reasons": []},
        {"stream": ALONE, "account": "cage", "reasons": ["wager"]},
    )  # fmt: skip
    for narrowed in asked:
        for first, last in ((OPENED.date(), DAY), (DAY, DAY), (DAY - timedelta(days=1), DAY - timedelta(days=1))):
            expected = []
            for moved in every:
                event, sides_of = about[moved[:2]], {names[moved.debit], names[moved.credit]}
                if (
                    first <= event.day <= last
                    and narrowed.get("stream", event.stream) == event.stream
                    and ("account" not in narrowed or narrowed["account"] in sides_of)
                    and moved.reason in narrowed.get("reasons", [moved.reason])
                ):
                    expected.append((
                        event.day, event.recorded_at, event.stream, *moved[1:3], event.kind, event.subject, moved.reason,
                        names[moved.debit], names[moved.credit], moved.cents,
                    ))  # fmt: skip
            found = [(each.day, *each[2:]) for each in book_queries.transfers_between(first, last, **narrowed)]
            assert found == expected, (narrowed, first, last)
