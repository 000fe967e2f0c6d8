"""What an auditor takes away: a pack of a stream, verified by a process that has nothing but Python (SPEC §10)."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounting.rules.chain import canonical, event_hash
from accounting.rules.heads import to_file
from accounting.services.signing import public_key
from devices.packing.stretch import NotPacked, pack, wanted
from tables.rules.packs import read, read_event, zipped
from tables.rules.repeated import repeat
from tests.services.house import ALONE, House, message, rows, royal, verify
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
}  # fmt: skip


def test_a_pack_that_was_changed_is_refused_with_the_place(played: House, tmp_path: Path) -> None:
    content = pack(wanted("ms-mg01"))
    wrong = {}
    for change, (make, place) in CHANGES.items():
        parts = parts_of(content)
        make(parts)
        found = checked(tmp_path, zipped(parts))
        if found.returncode != 1 or not re.search(place, found.stderr) or "DIFFERENT" not in found.stderr:
            wrong[change] = (found.returncode, (found.stderr or found.stdout)[:200])
    assert not wrong, "\n".join(map(str, wrong.items()))


def test_another_key_is_refused_and_what_cannot_be_looked_at_is_no_difference(played: House, tmp_path: Path) -> None:
    content = pack(wanted("ms-mg01"))
    other = checked(tmp_path, content, "--key", "33" * 32)
    assert other.returncode == 1 and "key that signed it" in other.stderr
    for more, why in ((("--key", "12"), "--key: an Ed25519 public key"), (("--nothing",), "usage:")):
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


def test_what_a_stretch_stands_on_is_looked_at_as_well(played: House, tmp_path: Path) -> None:
    content = pack(wanted("ms-mg01", 12))

    def changed(change: Callable[[dict[str, Any]], object], part: str) -> str:
        parts = parts_of(content)
        lines = lines_of(parts, "before.ndjson")
        change(next(line for line in lines if part in line))
        put(parts, lines, "before.ndjson")
        found = checked(tmp_path, zipped(parts))
        assert found.returncode == 1
        return found.stderr

    said = changed(lambda line: line["last"].update(result=line["last"]["result"].replace("0", "1", 1)), "last")
    assert "before the stretch: stream ms-mg01, event 11" in said and "digest of the result" in said
    said = changed(lambda line: line["terms"].update(result=line["terms"]["result"] + " "), "terms")
    assert "before the stretch" in said and "digest of the result" in said
    said = changed(lambda line: line["left"].update(subject="MS-101/R-9"), "left")
    assert "before the stretch" in said and "hash of the event" in said


def test_the_command_writes_the_pack_and_says_what_it_wrote(played: House, tmp_path: Path) -> None:
    file = tmp_path / "taken.zip"
    call_command("pack", "--stream", ALONE, "-o", str(file))
    assert file.read_bytes() == pack(wanted(ALONE))
    with pytest.raises(CommandError, match="--to: the last event"):
        call_command("pack", "--stream", ALONE, "--to", "9999", "-o", str(file))
