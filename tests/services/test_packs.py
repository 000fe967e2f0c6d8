"""What an auditor takes away: a pack of a stream, verified by a process that has nothing but Python (SPEC §10)."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounting.rules.chain import canonical, event_hash
from accounting.rules.heads import Head, Signed, Statement, Unreadable, from_file, to_file
from accounting.services.signing import public_key, sign
from devices.packing.stretch import NotPacked, pack, wanted
from tables.rules.packs import read, read_event, zipped
from tables.rules.repeated import Checked, Differs, Repeated, repeat
from tables.verifier import said
from tests.services.house import ALONE, LINKED, RECEIVED, House, message, rows, royal, verify
from tests.services.played import tamper
from tests.worked_postings.events import record

Parts = dict[str, bytes]


@pytest.fixture
def played(busy_house: House) -> House:
    """A house in which one event of every kind was recorded, and its day closed."""
    for _ in record(busy_house):
        pass
    verify()
    return busy_house


def parts_of(content: bytes) -> Parts:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def checked(
    folder: Path, content: bytes, *more: str, verifier: bytes | None = None
) -> subprocess.CompletedProcess[str]:
    """Verify a pack as its receiver does: the verifier out of it, a Python without packages, and nothing else."""
    (folder / "pack.zip").write_bytes(content)
    (folder / "verifier.pyz").write_bytes(verifier or parts_of(content)["verifier.pyz"])
    command = [sys.executable, "-I", "-S", "verifier.pyz", "pack.zip", *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={"PYTHONTZPATH": ""})


def streams() -> dict[str, int]:
    return dict(rows("SELECT code, next_sequence - 1 FROM accounting_stream ORDER BY code"))


def test_every_stream_of_a_house_with_every_kind_of_event_verifies_anywhere(played: House, tmp_path: Path) -> None:
    for stream, last in streams().items():
        content = pack(wanted(stream))
        found = checked(tmp_path, content, "--key", public_key().hex())
        assert (found.returncode, found.stderr) == (0, ""), f"{stream}: {found.stderr}"
        assert f"stream {stream}, events 0 to {last}" in found.stdout
        assert content == pack(wanted(stream)), "the same record, the same bytes"


def looked_at(parts: Parts) -> Checked:
    """What there is in a pack to be looked at, counted in its lines."""
    lines, days = lines_of(parts), from_file(parts["heads.json"])
    moved = [transfer for line in lines for transfer in line["transfers"]]
    rounds = [line for line in lines if line["kind"] == "round" or "message" in line]
    before = [each for line in lines_of(parts, "before.ndjson") for each in (*line.values(), *line.get("since", ()))]
    own = {line["stream"] for line in lines}
    return Checked(
        events=len(lines), rounds=len(rounds), locks=sum(line["kind"] == "lock" for line in lines),
        acts=sum(line["kind"] not in ("round", "lock") for line in lines),
        hits=sum(len(json.loads(line["result"])["awards"]) for line in rounds),
        transfers=len(moved), moved_cents=sum(cents for _, _, cents, *_ in moved),
        taken=sum(isinstance(each, dict) and "cause" in each for each in before),
        heads=sum(len(day.statement.heads) for day in days), days=len(days),
        through=max((head.sequence for day in days for head in day.statement.heads if head.stream in own), default=-1),
    )  # fmt: skip


def test_the_verifier_says_how_much_it_looked_at(played: House) -> None:
    for stream, last in streams().items():
        for first in (0, last // 2):
            content = pack(wanted(stream, first, last))
            found = repeat(read(content))
            assert found.checked == looked_at(parts_of(content)), (stream, first)
            assert found.checked.days, "the test would prove little"
    checked = Checked(7_001, 6_002, 5_003, 4_004, 3_005, 2_006, 123_456_07, 1_008, 9, 1_010, 7)
    assert said(Repeated(checked, b"\x11" * 32, {}, {b"\x33", b"\x22"}), first=2_000, last=9_000) == [
        "decided again: 7,001 events (6,002 rounds, 5,003 locks, 4,004 acts of people), 3,005 hits",
        f"as booked: 2,006 transfers, 123,456.07 dollars; every hash up to {'11' * 32}",
        "taken as it says: 1,008 events from before event 2,000, each as its own hash has it",
        "signed: 9 heads of 1,010 closed gaming days, by key 22, 33",
        "not signed: events 2,000 to 9,000 lie behind no closed gaming day of this pack",
    ]
    checked.through = 9_000
    assert len(said(Repeated(checked, b"\x11" * 32, {}, ()), first=0, last=9_000)) == 2
    checked.through = 8_999
    assert said(Repeated(checked, b"\x11" * 32, {}, ()), first=0, last=9_000)[2].startswith(
        "not signed: events 9,000 to"
    )


def test_stretches_from_the_middle_verify_by_themselves(played: House, tmp_path: Path) -> None:
    for stream, last in streams().items():
        for first in range(1, last + 1):
            taken = read(pack(wanted(stream, first, last)))
            repeat(taken, public_key())
            assert taken.about.paytables == {}, "no opening of the first version is among them"
            assert all(left.event.sequence < first for left in taken.before.left), "what is in it is not before it"
        stretch = pack(wanted(stream, (last + 1) // 3, last * 2 // 3))
        found = checked(tmp_path, stretch)
        assert (found.returncode, found.stderr) == (0, ""), f"{stream}: {found.stderr}"


def test_what_was_left_was_won_on_its_own_day_whatever_day_it_was_booked_on(house: House) -> None:
    house.close_day("2026-11-26")
    house.play(royal("R-1", dealt_at="2026-11-26T21:00:00-05:00"))
    checks = ["cards", "seat", "wager_sensor", "surveillance"]
    stream, sequence = house.act("hit.verify", "ms-mg01-000001", checks=checks)
    (left,) = read(pack(wanted(stream, sequence))).before.left
    assert (left.event.day, left.event.original, left.won_on) == (
        date(2026, 11, 27), date(2026, 11, 26), date(2026, 11, 26),
    )  # fmt: skip


def test_a_release_whose_hold_is_gone_is_packed_as_it_is_on_record(house: House) -> None:
    house.play(message("H-1", dealing={"method": "shuffler", "mode": "cover_all", "players": 3}))
    stream, sequence = house.act("round.release", "MS-101/H-1")

    def held() -> tuple[str, ...]:
        (line,) = lines_of(parts_of(pack(wanted(stream, sequence))))
        return read_event(line).held

    assert held() == ("players_mismatch",)
    tamper("DELETE FROM tables_hold")
    assert held() == ()


def test_a_stretch_that_is_not_there_is_refused(played: House) -> None:
    last = streams()["ms-mg01"]
    for asked, why in (
        (("nowhere",), "stream: there is no stream nowhere"),
        (("ms-mg01", -1), "from: 0, the opening"),
        (("ms-mg01", 0, last + 1), f"to: the last event of stream ms-mg01 is {last}"),
        (("ms-mg01", 5, 4), "from: event 5 comes after event 4"),
    ):
        with pytest.raises(NotPacked, match=why):
            wanted(*asked)


def lines_of(parts: Parts, name: str = "events.ndjson") -> list[dict[str, Any]]:
    return [json.loads(line) for line in parts[name].splitlines()]


def put(parts: Parts, lines: list[dict[str, Any]], name: str = "events.ndjson") -> None:
    parts[name] = b"".join(canonical(line) + b"\n" for line in lines)


def event(lines: list[dict[str, Any]], kind: str, subject: str | None = None) -> dict[str, Any]:
    return next(line for line in lines if line["kind"] == kind and subject in (None, line["subject"]))


def chained_anew(lines: list[dict[str, Any]]) -> None:
    """Make every digest and hash anew, as somebody would who owns the record and wants no trace."""
    previous = lines[0]["previous"]
    for number, line in enumerate(lines):
        said = {**line, "previous": previous}
        found = read_event(said)
        cause = canonical(json.loads(found.cause)) if found.kind in ("round", "lock") else found.cause
        said["cause_digest"] = sha256(cause).hexdigest()
        said["result_digest"] = sha256(found.result).hexdigest()
        said["hash"] = previous = event_hash(
            bytes.fromhex(previous), stream=found.stream, sequence=found.sequence, kind=found.kind,
            subject=found.subject, gaming_date=found.day, recorded_at=found.recorded_at,
            message_digest=bytes.fromhex(said["cause_digest"]), result_digest=bytes.fromhex(said["result_digest"]),
            rules=found.rules, received_at=found.received_at, device_id=found.device,
        ).hex()  # fmt: skip
        lines[number] = said


def other(text: str, found: str, by: str) -> str:
    changed, times = re.subn(found, by, text, count=1)
    assert times == 1, f"there is no {found}"
    return changed


def _in_cause(parts: Parts) -> None:
    lines = lines_of(parts)
    line = event(lines, "round", "MS-101/R-2")
    line["cause"] = other(line["cause"], r'"ante": ?1000', '"ante":1100')
    put(parts, lines)


def _in_cause_with_its_hashes(parts: Parts) -> None:
    _in_cause(parts)
    lines = lines_of(parts)
    chained_anew(lines)
    put(parts, lines)


def _in_result(parts: Parts) -> None:
    lines = lines_of(parts)
    line = event(lines, "round", "MS-101/R-3")
    line["result"] = other(line["result"], r'"paid_cents":', '"paid_cents":1')
    put(parts, lines)


def _in_result_with_its_hashes(parts: Parts) -> None:
    _in_result(parts)
    lines = lines_of(parts)
    chained_anew(lines)
    put(parts, lines)


def _in_act(parts: Parts) -> None:
    lines = lines_of(parts)
    line = event(lines, "level.adjust")
    line["cause"] = other(line["cause"], r'"cents": ?50000', '"cents":50001')
    chained_anew(lines)
    put(parts, lines)


def _act_that_a_rule_is_against(parts: Parts) -> None:
    lines = lines_of(parts)
    line = event(lines, "level.adjust")
    line["cause"] = other(line["cause"], r'"part": ?"display"', '"part":"nowhere"')
    chained_anew(lines)
    put(parts, lines)


def _step_that_nobody_could_take(parts: Parts) -> None:
    """Of an act that moves no money nothing else would differ."""
    lines = lines_of(parts)
    line = event(lines, "hit.verify")
    line["cause"] = other(line["cause"], r'"subject": ?"ms-mg01-0000', '"subject":"ms-mg01-9000')
    line["subject"] = line["subject"].replace("-0000", "-9000")
    chained_anew(lines)
    put(parts, lines)


def _in_transfer(parts: Parts) -> None:
    lines = lines_of(parts)
    event(lines, "round", "MS-101/R-2")["transfers"][0][2] += 1
    put(parts, lines)


def _transfer_left_out(parts: Parts) -> None:
    lines = lines_of(parts)
    event(lines, "hit.pay")["transfers"].pop()
    put(parts, lines)


def _in_hash(parts: Parts) -> None:
    lines = lines_of(parts)
    lines[5]["hash"] = "00" * 32
    put(parts, lines)


def _in_day(parts: Parts) -> None:
    lines = lines_of(parts)
    event(lines, "round", "MS-101/R-2")["day"] = "2026-11-28"
    chained_anew(lines)
    put(parts, lines)


def _in_hold(parts: Parts) -> None:
    lines = lines_of(parts)
    line = event(lines, "round.release")
    line["message"] = other(line["message"], r'"ante": ?1000', '"ante":1100')
    put(parts, lines)


def _event_left_out(parts: Parts) -> None:
    lines = lines_of(parts)
    del lines[7]
    put(parts, lines)


def _event_left_out_and_renumbered(parts: Parts) -> None:
    lines = lines_of(parts)
    place = lines.index(event(lines, "round", "MS-101/R-5"))  # void: it moved nothing
    del lines[place]
    for number, line in enumerate(lines):
        line["sequence"] = number
    chained_anew(lines)
    put(parts, lines)
    about = json.loads(parts["pack.json"])
    parts["pack.json"] = canonical(about | {"last": about["last"] - 1})


def _tail_cut(parts: Parts) -> None:
    put(parts, lines_of(parts)[:-1])


def _tail_cut_and_said_so(parts: Parts) -> None:
    _tail_cut(parts)
    about = json.loads(parts["pack.json"])
    parts["pack.json"] = canonical(about | {"last": about["last"] - 1})


def _heads(parts: Parts, change: Callable[[dict[str, Any]], object]) -> None:
    said = json.loads(parts["heads.json"])
    change(said["days"][0])
    parts["heads.json"] = json.dumps(said).encode()


def _in_head(parts: Parts) -> None:
    def change(day: dict[str, Any]) -> None:
        for head in day["statement"]["heads"]:
            head["hash"] = "11" * 32

    _heads(parts, change)


def _in_signature(parts: Parts) -> None:
    # Its first byte: the last one of an Ed25519 signature is nought as it is, one time in sixteen.
    _heads(parts, lambda day: day.update(signature=f"{int(day['signature'][:2], 16) ^ 1:02x}{day['signature'][2:]}"))


def _in_signature_of_the_stream(parts: Parts) -> None:
    _heads(parts, lambda day: day["heads"].update({"ms-mg01": "22" * 64}))


def _head_left_out(parts: Parts) -> None:
    parts["heads.json"] = to_file([])


def _in_paytable(parts: Parts) -> None:
    name = next(name for name in parts if name.startswith("paytables/"))
    parts[name] = parts[name].replace(b"1", b"2", 1)


def _in_property(parts: Parts) -> None:
    about = json.loads(parts["pack.json"])
    parts["pack.json"] = canonical(about | {"property": "LAS"})


def _of(kind: str, change: Callable[[dict[str, Any]], object], *, anew: bool = True) -> Callable[[Parts], None]:
    """A change of the first event of a kind, with every hash after it made anew."""

    def make(parts: Parts) -> None:
        lines = lines_of(parts)
        change(event(lines, kind))
        if anew:
            chained_anew(lines)
        put(parts, lines)

    return make


def _cause(kind: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Parts], None]:
    """A change of what the first event of a kind asked for, with every hash after it made anew."""

    def make(line: dict[str, Any]) -> None:
        value = json.loads(line["cause"])
        change(value)
        line["cause"] = json.dumps(value)

    return _of(kind, make)


def _unknown_act(parts: Parts) -> None:
    _cause("hit.verify", lambda cause: cause.update(act="hit.forget"))(parts)
    _of("hit.verify", lambda line: line.update(kind="hit.forget"))(parts)


def _about(**said: Any) -> Callable[[Parts], None]:
    def make(parts: Parts) -> None:
        parts["pack.json"] = canonical(json.loads(parts["pack.json"]) | said)

    return make


CHANGES: dict[str, tuple[Callable[[Parts], None], str]] = {
    "cause": (_in_cause, r"\(round MS-101/R-2\): digest of the cause"),
    "cause and every hash after it": (_in_cause_with_its_hashes, r"\(round MS-101/R-2\): result"),
    "result": (_in_result, r"\(round MS-101/R-3\): digest of the result"),
    "result and every hash after it": (_in_result_with_its_hashes, r"\(round MS-101/R-3\): result"),
    "act and every hash after it": (_in_act, r"\(level.adjust ms-mg01/major\): result"),
    "act that a rule is against": (_act_that_a_rule_is_against, r"\(level.adjust ms-mg01/major\): decision: .*refused"),
    "step that nobody could take": (_step_that_nobody_could_take, r"\(hit.verify ms-mg01-9000\d+\): decision: .*refused"),
    "transfer": (_in_transfer, r"\(round MS-101/R-2\): ledger transfers"),
    "transfer left out": (_transfer_left_out, r"\(hit.pay ms-mg01-000001\): ledger transfers"),
    "hash": (_in_hash, r"event 5 \(.*\): hash of the event"),
    "gaming day and every hash after it": (_in_day, r"\(round MS-101/R-2\): gaming day"),
    "message of a held round": (_in_hold, r"\(round.release MS-101/H-1\): message that the cause names"),
    "event left out": (_event_left_out, r"event 7: stream and sequence of the next event"),
    "event left out and all made anew": (_event_left_out_and_renumbered, r"event \d+ \(.*\): sequence of its link"),
    "tail cut": (_tail_cut, r"stream ms-mg01: last event: .* cut off"),
    "tail cut and said so": (_tail_cut_and_said_so, r"signed head of gaming day 2026-11-27: event \d+: .* the pack ends"),
    "head": (_in_head, r"signed head of gaming day 2026-11-27: signature"),
    "signature": (_in_signature, r"signed head of gaming day 2026-11-27: signature"),
    "signature of the stream": (_in_signature_of_the_stream, r"2026-11-27: signature of stream ms-mg01"),
    "head left out": (_head_left_out, r"signed head of event \d+, which closed gaming day 2026-11-27"),
    "paytable": (_in_paytable, r"the pack: paytable "),
    "property": (_in_property, r"signed head of gaming day 2026-11-27: property"),
    "line that is none": (
        _of("hit.verify", lambda line: line.pop("hash"), anew=False),
        r"event \d+: line: expected an event",
    ),
    "message that is no JSON": (
        _of("round", lambda line: line.update(cause="{"), anew=False),
        r"R-1\): message: expected JSON",
    ),
    "cause that is no JSON": (
        _of("hit.verify", lambda line: line.update(cause="{"), anew=False),
        r"\): cause: expected JSON",
    ),
    "hash of the one before": (
        _of("hit.verify", lambda line: line.update(previous="0" * 64), anew=False),
        r"\): hash of the previous event",
    ),
    "event of another stream": (
        _of("hit.verify", lambda line: line.update(stream="twin")),
        r": stream and sequence of the next event",
    ),
    "message of no table": (
        _cause("round", lambda cause: cause.update(table="NO-1")),
        r"a round message, found unknown_table at /table",
    ),
    "round of another name": (
        _of("round", lambda line: line.update(subject="MS-101/R-99")),
        r"\): subject: expected MS-101/R-1,",
    ),
    "round never received": (
        _of("round", lambda line: line.pop("received_at")),
        r"\(round MS-101/R-1\): receipt of the message",
    ),
    "lock of no kind": (
        _cause("lock", lambda cause: cause.pop("kind")),
        r"\(lock MS-101/R-1\): message: expected a lock, found None",
    ),
    "lock of no table": (
        _cause("lock", lambda cause: cause.update(table="NO-1")),
        r"message: expected a lock, found Refusal.*unknown_table",
    ),
    "lock of another name": (
        _of("lock", lambda line: line.update(subject="MS-101/R-99")),
        r"\): subject: expected MS-101/R-1,",
    ),
    "lock never received": (
        _of("lock", lambda line: line.pop("received_at")),
        r"\(lock MS-101/R-1\): receipt of the message",
    ),
    "act of another kind": (
        _of("hit.verify", lambda line: line.update(kind="hit.approve")),
        r"\): kind of event: expected hit.verify",
    ),
    "act that nobody knows": (_unknown_act, r"kind of event: expected one that this version can replay, found hit.forget"),
    "act on something else": (
        _of("hit.verify", lambda line: line.update(subject="MS-101/R-99")),
        r"\): subject: expected ms-mg01-000001,",
    ),
    "act without what it asks": (
        _cause("hit.verify", lambda cause: cause.pop("payload")),
        r"\): decision: .* can be decided again",
    ),
    "closing by another event": (
        _cause("day.close", lambda cause: cause["streams"].update({"ms-mg01": 1})),
        r"event of this stream that the cause names",
    ),
    "closing that looked before": (
        _cause("day.close", lambda cause: cause["payload"]["sequences"].update({"ms-mg01": 3})),
        r"events of 2026-11-27 after the 3 that was looked at: expected none, found event 4",
    ),
    "closing on its own day": (
        _of("day.close", lambda line: line.update(day="2026-11-27")),
        r"booked on: expected one after 2026-11-27, which it closes",
    ),
    "moved to its own day": (
        _of("round", lambda line: line.update(original=line["day"])),
        r"gaming day it was moved to: expected a day after 2026-11-27",
    ),
    "hits before the first": (_about(next_hit=2), r"the pack: hits and closed days before the first event"),
    "days closed before the first": (
        _about(closed_through="2026-11-26"),
        r"the pack: hits and closed days before the first event",
    ),
    "clock of the property": (lambda parts: parts.update({"zone.tzif": b""}), r"what the stretch stands on"),
    "another edition": (_about(edition=2), r"not a stretch of a stream of edition 1"),
    "last before the first": (_about(first=2, last=1), r"first, last and next_hit are whole numbers"),
    "number that is none": (_about(next_hit="1"), r"first, last and next_hit are whole numbers"),
}  # fmt: skip

BETWEEN: dict[str, tuple[str, Callable[[Parts], None], str]] = {
    "its link as it stood": (
        "twin", _cause("level.transfer", lambda cause: _side(cause, "twin").update(state="closed")),
        r"state of its link that the cause names",
    ),
    "its paytable": (
        "twin", _cause("level.transfer", lambda cause: _side(cause, "twin")["paytable"].update(wager_cents=1)),
        r"paytable of its link that the cause has",
    ),
    "the other link": (
        "twin", _cause("level.transfer", lambda cause: cause["between"].remove(_side(cause, "nn"))),
        r"links that the cause names",
    ),
    "where a table was": (
        ALONE, _cause("table.join", lambda cause: cause["from"].update(sequence=cause["from"]["sequence"] + 1)),
        r"places that the cause names",
    ),
    "where a table went": (
        ALONE, _cause("table.join", lambda cause: cause.update(to=cause["from"])),
        r"places that the cause names",
    ),
}  # fmt: skip
"""What is changed of events that stand on several streams: on which, and what is said of it."""


def _side(cause: dict[str, Any], link: str) -> dict[str, Any]:
    return next(side for side in cause["between"] if side["link"] == link)


def difference(parts: Parts) -> str:
    """What a pack is refused for; empty where nothing is found."""
    try:
        repeat(read(zipped(parts)))
    except (Differs, Unreadable) as found:
        return str(found)
    return ""


def test_a_pack_that_was_changed_is_refused_with_the_place(played: House, tmp_path: Path) -> None:
    packs = {stream: pack(wanted(stream)) for stream in ("ms-mg01", "twin", ALONE)}
    wrong = {}
    for change, (stream, make, place) in (
        {name: ("ms-mg01", *each) for name, each in CHANGES.items()} | BETWEEN
    ).items():
        parts = parts_of(packs[stream])
        make(parts)
        if not re.search(place, found := difference(parts)):
            wrong[change] = found[:200]
    assert not wrong, "\n".join(map(str, wrong.items()))
    for change in ("cause", "transfer", "tail cut", "signature of the stream"):  # as its receiver finds it
        make, place = CHANGES[change]
        parts = parts_of(packs["ms-mg01"])
        make(parts)
        process = checked(tmp_path, zipped(parts))
        assert process.returncode == 1 and re.search(f"^DIFFERENT .*{place}", process.stderr), process.stderr


def test_closed_days_stand_on_one_another(played: House) -> None:
    """Of the second closing everything is signed, and still it does not go with the first or with the events."""
    (closed,) = (
        line["sequence"] for line in lines_of(parts_of(pack(wanted("ms-mg01")))) if line["kind"] == "day.close"
    )
    played.play(message("R-9"), at=RECEIVED + timedelta(minutes=3))
    played.close_day("2026-11-28", at=RECEIVED + timedelta(days=1))
    content = pack(wanted("ms-mg01"))
    last = streams()["ms-mg01"]
    assert not difference(parts_of(content))

    def second(**more: Any) -> str:
        parts = parts_of(content)
        first, day = from_file(parts["heads.json"])
        statement: Statement = replace(day.statement, **more)
        heads = {head.stream: sign(statement.of_head(head)) for head in statement.heads}
        parts["heads.json"] = to_file([first, Signed(statement, public_key(), sign(statement.encoded()), heads)])
        return difference(parts)

    _, day = from_file(parts_of(content)["heads.json"])
    assert not second()
    assert "number of the closing: expected 2, found 3" in second(number=3)
    assert "digest of the statement before" in second(previous=bytes(32))
    assert f"hash of event {last}" in second(heads=(Head("ms-mg01", last, bytes(32)),))
    own = next(head for head in day.statement.heads if head.stream == "ms-mg01")
    assert f"kind and day of event {last}" in second(day=day.statement.day + timedelta(days=1), heads=(own,))
    early = parts_of(pack(wanted("ms-mg01", closed + 1, last)))
    early["heads.json"] = parts_of(content)["heads.json"]
    assert f"event {closed}: expected one, found none: the pack begins with event {closed + 1}" in difference(early)
    late = parts_of(content)
    lines = lines_of(late)
    moved = event(lines, "round", "MS-101/R-9")
    assert moved.pop("original") == "2026-11-27"
    moved["day"] = "2026-11-27"
    chained_anew(lines)
    put(late, lines)
    assert "booked on: expected one after 2026-11-27, which is closed" in difference(late)


def test_another_key_is_refused_and_what_cannot_be_looked_at_is_no_difference(played: House, tmp_path: Path) -> None:
    content = pack(wanted("ms-mg01"))
    other = checked(tmp_path, content, "--key", "33" * 32)
    assert other.returncode == 1 and "key that signed it" in other.stderr
    for more, why in (
        (("--key", "12"), "--key: an Ed25519 public key"),
        (("--nothing",), "usage:"),
        (("second",), "usage:"),
    ):
        found = checked(tmp_path, content, *more)
        assert found.returncode == 2 and why in found.stderr
    verifier = parts_of(content)["verifier.pyz"]
    spoilt = content[: len(content) // 2]
    assert checked(tmp_path, spoilt, verifier=verifier).returncode == 2
    for missing in ("pack.json", "events.ndjson", "before.ndjson", "heads.json", "zone.tzif"):
        parts = parts_of(content)
        del parts[missing]
        found = checked(tmp_path, zipped(parts))
        assert found.returncode == 2 and missing in found.stderr


def test_what_a_stretch_stands_on_is_looked_at_as_well(played: House) -> None:
    content = pack(wanted("ms-mg01", 12))

    def changed(part: str, change: Callable[[list[dict[str, Any]], dict[str, Any]], object]) -> str:
        parts = parts_of(content)
        lines = lines_of(parts, "before.ndjson")
        change(lines, next(line for line in lines if part in line))
        put(parts, lines, "before.ndjson")
        return difference(parts)

    found = changed("last", lambda _, line: line["last"].update(result=line["last"]["result"].replace("0", "1", 1)))
    assert "before the stretch: stream ms-mg01, event 11" in found and "digest of the result" in found
    found = changed("terms", lambda _, line: line["terms"].update(result=line["terms"]["result"] + " "))
    assert "before the stretch" in found and "digest of the result" in found
    found = changed("left", lambda _, line: line["left"].update(subject="MS-101/R-9"))
    assert "before the stretch" in found and "hash of the event" in found
    found = changed("last", lambda lines, line: lines.remove(line))
    assert "the event before the first one: expected event 11, found none" in found
    found = changed("last", lambda _, line: line.update(last=lines_of(parts_of(pack(wanted("ms-mg01"))))[10]))
    assert "the event before the first one: expected ('ms-mg01', 11), found ('ms-mg01', 10)" in found
    found = changed("last", lambda lines, _: lines.append({"lock": {}, "table": LINKED, "round": "L-9"}))
    assert "what the stretch stands on: expected something that can be decided again" in found


def test_the_command_writes_the_pack_and_says_what_it_wrote(played: House, tmp_path: Path) -> None:
    file = tmp_path / "taken.zip"
    call_command("pack", "--stream", ALONE, "-o", str(file))
    assert file.read_bytes() == pack(wanted(ALONE))
    with pytest.raises(CommandError, match="--to: the last event"):
        call_command("pack", "--stream", ALONE, "--to", "9999", "-o", str(file))
