"""`manage.py settle FLOOR.toml ROUNDS.ndjson [--meters METERS.json]`: settle rounds without a server (CONTRACT §4).

One message or act a line in, one settlement or answer a line out, in order; meters and terms carry from line to line.
Standard library and rules only, so that it starts at once and runs anywhere.
"""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

from accounting.rules.acts import ActRefused
from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import read_act, refused_act
from jackpot.rules.definition import Definition, DefinitionRefused
from jackpot.rules.meter import MILLION, LevelTerms, Meter, opening
from tables.rules import door, lock
from tables.rules.deciding import SHAPES, Result, decide
from tables.rules.door import InvalidJson, Refusal
from tables.rules.floor import Floor, read_floor
from tables.rules.house import House, RoundState, house_of
from tables.rules.locking import Lock
from tables.rules.settle import held_alone
from tables.rules.settlement import printed

USAGE: Final = "usage: manage.py settle FLOOR.toml ROUNDS.ndjson [--meters METERS.json]   (- is standard input)"
HELP: Final = f"""{USAGE}

Settle rounds without a server: one message or act a line in, one settlement or answer a line out, in order. Meters start at
reset, or as METERS.json says, and carry from line to line. Exit code 0 when every line was read, 2 when a file is at fault.

Example: python3 manage.py settle jackpot/config/demo/floor.toml rounds.ndjson"""
METER_KEYS: Final = (
    "value_cents",
    "residual_millionths",
    "reserve_cents",
    "reserve_residual_millionths",
    "overflow_cents",
    "overflow_residual_millionths",
)

Meters = dict[str, dict[str, Meter]]


def main(argv: Sequence[str]) -> int:
    """Run the command; 0 when every line was read, 2 when the call, the floor or the meters are at fault."""
    if {"-h", "--help"} & set(argv):
        print(HELP)
        return 0
    try:
        floor_file, rounds_file, meters_file = _arguments(argv)
        floor = read_floor(_text_of(floor_file))
        meters = _read_meters(_text_of(meters_file), floor) if meters_file else _opening_meters(floor)
        house = house_of(floor, meters)
        rounds = sys.stdin.buffer if rounds_file == "-" else Path(rounds_file).open("rb")  # noqa: SIM115
    except (DefinitionRefused, ValueError) as refusal:
        print(refusal, file=sys.stderr)
        return 2
    except OSError as trouble:
        print(
            f"{trouble.filename or 'a file'}: {trouble.strerror}. `python3 manage.py settle --help` shows how",
            file=sys.stderr,
        )
        return 2
    with rounds:
        try:
            _settle_lines(rounds, house, sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read the settlements has stopped; what is left would be lost anyway.
            sys.stderr.close()
            return 1
    return 0


def _arguments(argv: Sequence[str]) -> tuple[str, str, str | None]:
    files: list[str] = []
    meters: str | None = None
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--meters" and rest and meters is None:
            meters = rest.pop(0)
        elif word.startswith("--meters=") and meters is None:
            meters = word.removeprefix("--meters=")
        elif word != "-" and word.startswith("-"):
            raise ValueError(USAGE)
        else:
            files.append(word)
    if len(files) != 2:
        raise ValueError(USAGE)
    return files[0], files[1], meters


def _text_of(file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except UnicodeDecodeError as problem:
        raise ValueError(f"{file}: not UTF-8: {problem}") from None


def _opening_meters(floor: Floor) -> Meters:
    return {link.code: {level.code: opening(level) for level in link.levels} for link in floor.links.values()}


def _read_meters(text: str, floor: Floor) -> Meters:
    """The meters to start from; what is left out is as a level opens (DECISIONS A42)."""
    meters = _opening_meters(floor)
    try:
        value = door.parse(text)
    except InvalidJson as problem:
        raise DefinitionRefused("meters", f"not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise DefinitionRefused("meters", "an object of links is expected")
    links = Definition(value, "", meters)
    for link in links.values:
        levels = Definition(links.values[link], link, meters[link])
        for level in levels.values:
            terms = floor.links[link].level[level]
            meters[link][level] = _meter(Definition(levels.values[level], levels.at(level), METER_KEYS), terms)
    return meters


def _meter(entry: Definition, terms: LevelTerms) -> Meter:
    def cents(key: str, default: int) -> int:
        return entry.integer(key, 0) if key in entry.values else default

    def millionths(key: str) -> int:
        return entry.integer(key, 0, MILLION - 1) if key in entry.values else 0

    return Meter(
        cents("value_cents", terms.reset_cents),
        millionths("residual_millionths"),
        cents("reserve_cents", 0),
        millionths("reserve_residual_millionths"),
        cents("overflow_cents", 0),
        millionths("overflow_residual_millionths"),
    )


@dataclass(slots=True)
class _File:
    """A file while it is read: the house, and the digest of every result and lock that used its reference up."""

    house: House
    results: dict[tuple[str, str], bytes] = field(default_factory=dict)
    locks: dict[tuple[str, str], bytes] = field(default_factory=dict)


def _settle_lines(lines: BinaryIO, house: House, out: TextIO) -> None:
    file = _File(house)
    live = lines is sys.stdin.buffer  # somebody may be waiting for each answer
    for raw in lines:
        if raw.strip():
            out.write(_encoded(printed(_line(raw, file))))
            if live:
                out.flush()


def _encoded(settlement: Mapping[str, Any]) -> str:
    try:
        return f"{json.dumps(settlement)}\n"
    except ValueError:
        # Python declines to write numbers of thousands of digits; a wager that was read must have its pay written.
        usual = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(2 * usual)
        try:
            return f"{json.dumps(settlement)}\n"
        finally:
            sys.set_int_max_str_digits(usual)


def _line(raw: bytes, file: _File) -> Mapping[str, Any]:
    """What one line comes to: an act, a lock, or a round's result (DECISIONS A71). The house is moved along."""
    try:
        value = door.parse(raw)
    except InvalidJson:
        return _refused(Refusal("invalid_json", "", None))
    if type(value) is dict:
        if "act" in value:
            return _act(value, file.house)
        if "kind" in value:
            return _lock(value, file)
    return _round(value, file)


def _round(value: Any, file: _File) -> Mapping[str, Any]:
    house = file.house
    message = door.read(value, house.doors)
    if isinstance(message, Refusal):
        return _refused(message)
    reference = (message.table, message.round)
    if (code := _used_up(value, reference, file.results)) is not None:
        return _refused(Refusal(code, "/round", message.round))
    try:
        decision = decide(Result(message, nanoseconds(message.dealt_at)), house)
    except Exception:
        # A message that the rules cannot cope with costs itself only; the error is for whoever mends them.
        traceback.print_exc()
        house.rounds[reference] = RoundState("held", ["processing_error"], message)
        return held_alone(message, "processing_error")
    house.apply(decision)
    return decision.result


def _lock(value: dict[str, Any], file: _File) -> Mapping[str, Any]:
    message = lock.read(value, file.house.tables)
    if isinstance(message, Refusal):
        return _refused(message)
    reference = (message.table, message.round)
    if (code := _used_up(value, reference, file.locks)) is not None:
        return _refused(Refusal(code, "/round", message.round))
    decision = decide(Lock(message, nanoseconds(message.locked_at)), file.house)
    file.house.apply(decision)
    return decision.result


def _used_up(value: Any, reference: tuple[str, str], digests: dict[tuple[str, str], bytes]) -> str | None:
    """Why a message's reference cannot be used; None if it was free, and is not any more.

    A held message uses its reference up as well, a refused line does not (DECISIONS A8); a lock's is its own (A50).
    """
    digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()
    known = digests.setdefault(reference, digest)
    if known is digest:
        return None
    return "duplicate" if known == digest else "reference_reused"


def _act(value: dict[str, Any], house: House) -> Mapping[str, Any]:
    """An act as performed: its settlement, or its answer; refused, nothing has changed (DECISIONS A71, A72)."""
    try:
        decision = decide(read_act(value, SHAPES), house)
    except ActRefused as refusal:
        return refused_act(value, refusal)
    house.apply(decision)
    return decision.result


def _refused(refusal: Refusal) -> dict[str, Any]:
    return {
        "round": refusal.round,
        "outcome": "refused",
        "code": refusal.code,
        "pointer": refusal.pointer,
    }
