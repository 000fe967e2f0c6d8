"""The two readers of a posted body against each other: the fast one of the web process and the patient one of `settle`.

    python3 -m tests.fuzz_readers --seed 1 --count 1000000

Bodies are round messages written in every way that JSON allows and in some that it does not: values swapped, keys
repeated, numbers of every length, texts escaped or broken.  Both readers must give the same value and the same canonical
bytes, or both refuse with the same code and pointer; and nothing else may leave them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from devices import bodies
from tables.rules import door
from tables.rules.door import InvalidJson, Refusal
from tables.rules.floor import read_floor
from tables.rules.games import Games

FLOOR: Final = Path(__file__).parent / "acceptance" / "floors" / "harbor.toml"

MESSAGE: Final[dict[str, Any]] = {
    "round": "R-1",
    "table": "MS-101",
    "dealt_at": "2026-11-27T21:14:05.120-05:00",
    "dealing": {"method": "shuffler", "device": "IDP-0042", "deck": "blue", "cards_in_deck": 52, "players": 2,
                "mode": "cover_all"},
    "community": ["Ah", "Kh", "2c"],
    "dealer": [],
    "seats": [
        {"seat": 1, "cards": ["As", "Ad"], "wagers": {"ante": 1000, "third_street": 3000, "progressive": 100}},
        {"seat": 4, "cards": ["7d", "2h"], "folded": "third_street", "withdrawn": [], "wagers": {"ante": 1000}},
    ],
    "irregularities": [{"code": "wrong_card_count", "seat": 4}, {"code": "wrong_card_count", "position": "dealer"}],
    "sequence": 7,
}  # fmt: skip


class Written(str):
    """A piece of a body that is written as it stands."""

    __slots__ = ()


NUMBERS: Final = [
    "0", "-0", "1", "-1", "1000", "1000000000000", "1000000000001", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1.0", "1e3", "1E+2", "0.1e-999", "1e400",
    "-1e400", "2.5", "9007199254740993", "123456789012345678901234567890", "9" * 4_299, "9" * 4_300, "9" * 4_301,
    "-" + "9" * 4_301, "9" * 9_000, "0" * 5_000, "1" + "0" * 4_400 + ".0", "01", "-", "+1", "1.", ".5", "0x10", "1_000",
    "NaN", "Infinity", "-Infinity", "nan", "\u0663",
]  # fmt: skip
TEXTS: Final = [
    "", "a", "R-1", "MS-101", "MS-999", "Ah", "1h", "x" * 64, "x" * 65, "\u00e9" * 64, "\U0001f0a1" * 65, "a\u0000b", "\x7f",
    "\u2028", "\ufeff", "e\u0301", "\u00a0", "third_street", "hand", "dealer", "forfeit", "2026-11-27T21:14:05Z",
    "1899-12-31T23:59:59Z", "2199-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "\ud800", "\udc00\ud800", "a/b~c",
    '"', "\\", "[", "}",
]  # fmt: skip
KEYS: Final = [
    "round",
    "table",
    "seat",
    "cards",
    "ante",
    "surrender",
    "kind",
    "",
    "a/b~c",
    "\u00e9",
    "result",
    "position",
    "\ud83c\udccf",
]
WORDS: Final = [
    "true",
    "false",
    "null",
    "None",
    "tru",
    "'a'",
    "/**/",
    "",
    "{",
    "]",
    "[1,]",
    '{"a":1,}',
    "{}",
    "[]",
    '{"a":1 "b":2}',
]
BLANKS: Final = [" ", "\n", "\t", "\r\n", "  "]
BAD_BLANKS: Final = ["\v", "\u00a0", "\f", "\ufeff", "\x00"]


class Author:
    """Writes bodies, each by the next number of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def body(self) -> bytes:
        """One body."""
        draw = self.random
        value = self.copy(MESSAGE)
        for _ in range(draw.choice((0, 0, 1, 1, 1, 2, 3))):
            value = self.changed(value)
        text = self.written(value)
        if draw.random() < 0.08:
            text = self.spoilt(text)
        raw = text.encode("utf-8", "surrogatepass")
        if draw.random() < 0.03:
            place = draw.randrange(len(raw) + 1)
            raw = raw[:place] + draw.choice((b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\x80", b"\x00")) + raw[place:]
        return raw

    def copy(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.copy(item) for key, item in value.items()}
        return [self.copy(item) for item in value] if isinstance(value, list) else value

    def anything(self, depth: int = 0) -> Any:
        draw = self.random
        match draw.randrange(7 if depth < 3 else 5):
            case 0 | 1:
                return Written(draw.choice(NUMBERS))
            case 2 | 3:
                return draw.choice(TEXTS)
            case 4:
                return Written(draw.choice(WORDS))
            case 5:
                return [self.anything(depth + 1) for _ in range(draw.randrange(4))]
            case _:
                return {draw.choice(KEYS): self.anything(depth + 1) for _ in range(draw.randrange(4))}

    def changed(self, value: Any) -> Any:
        """The value with one thing in it replaced, removed, added, moved, or wrapped up deep."""
        draw = self.random
        places: list[tuple[Any, Any]] = []
        left = [value]
        while left:
            here = left.pop()
            keys = here if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ()
            for key in keys:
                places.append((here, key))
                left.append(here[key])
        if not places or draw.random() < 0.02:
            return self.anything()
        here, key = draw.choice(places)
        match draw.randrange(8):
            case 0:
                del here[key]
            case 1 if isinstance(here, dict):
                here[draw.choice(KEYS)] = self.anything()
            case 1:
                here.insert(draw.randrange(len(here) + 1), self.anything())
            case 2 if isinstance(here, dict):
                moved = here.pop(key)
                here[key] = moved
            case 3:
                here[key] = Written(draw.choice(NUMBERS))
            case 4 if draw.random() < 0.1:
                levels = draw.choice((3, 400, 499, 500, 501, 990, 1_000, 3_000))
                here[key] = Written("[" * levels + "]" * levels)
            case _:
                here[key] = self.anything()
        return value

    def written(self, value: Any) -> str:
        draw = self.random
        if isinstance(value, Written):
            return str(value)
        if isinstance(value, str):
            return self.quoted(value)
        if isinstance(value, list):
            return f"[{self.blank()}{','.join(self.written(item) for item in value)}{self.blank()}]"
        if isinstance(value, dict):
            pairs = [(key, item) for key, item in value.items()]
            if pairs and draw.random() < 0.02:  # a key twice, alike or not
                pairs.insert(draw.randrange(len(pairs) + 1), (draw.choice(pairs)[0], self.anything(2)))
            if draw.random() < 0.1:
                draw.shuffle(pairs)
            inside = ",".join(
                f"{self.blank()}{self.quoted(key)}:{self.blank()}{self.written(item)}" for key, item in pairs
            )
            return f"{{{inside}{self.blank()}}}"
        return json.dumps(value)

    def blank(self) -> str:
        roll = self.random.random()
        if roll < 0.9:
            return ""
        return self.random.choice(BLANKS if roll < 0.9995 else BAD_BLANKS)

    def quoted(self, text: str) -> str:
        """A text between quotes, escaped as much as the next number says."""
        roll = self.random.random()
        if roll < 0.9:
            return json.dumps(text, ensure_ascii=False)
        if roll < 0.96:
            return json.dumps(text)
        if roll < 0.995:
            return '"' + "".join(f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else sign for sign in text) + '"'
        return '"' + text + self.random.choice(["\\", "\\u12", "\n", "\\x41", "\t", "\\/", ""]) + '"'

    def spoilt(self, text: str) -> str:
        draw = self.random
        place = draw.randrange(len(text) + 1)
        match draw.randrange(6):
            case 0:
                return text[:place]
            case 1:
                return text + draw.choice([" {}", ",", "]", "x", "\ufeff", " ", "\n", "\x00"])
            case 2:
                return draw.choice(["\ufeff", " ", "\n", "x", "\v"]) + text
            case 3:
                return text[:place] + text[place + 1 :]
            case 4:
                return text[:place] + draw.choice('{}[]":,\\0 -') + text[place:]
            case _:
                return text.replace('"', "'")


Answer = tuple[Any, ...]


def answer(read: Callable[[bytes], tuple[Any, bytes]], raw: bytes, games: Games) -> Answer:
    """What a reader makes of a body: a refusal's code and pointer, or the message, its value and its canonical bytes."""
    try:
        value, canonical = read(raw)
    except InvalidJson:
        return ("refused", "invalid_json", None)
    found = door.read(value, games)
    if isinstance(found, Refusal):
        return ("refused", found.code, found.pointer, found.round)
    return ("message", found, json.dumps(value), canonical)


def patient(raw: bytes) -> tuple[Any, bytes]:
    """The value as `settle` reads it, and its canonical bytes as anybody would write them down."""
    value = door.parse(raw)
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError):
        return value, b""
    return value, text.encode()


class Difference(AssertionError):
    """A body that the two readers do not read alike."""


def fuzz(seed: int, count: int, tell: Callable[[str], None] = lambda words: None) -> Counter[str]:
    """Try `count` bodies; how often each answer was given. Difference for the first body that is read differently."""
    games = Games(read_floor(FLOOR.read_text("utf-8")).tables)
    author = Author(seed)
    answers: Counter[str] = Counter()
    for number in range(1, count + 1):
        raw = author.body()
        fast, slow = (answer(read, raw, games) for read in (bodies.strict, patient))
        if fast != slow:
            raise Difference(f"seed {seed}, body {number}: {raw[:2_000]!r}\nfast: {fast!r:.600}\nslow: {slow!r:.600}")
        answers[fast[1] if fast[0] == "refused" else "a message"] += 1
        if number % 100_000 == 0:
            tell(f"{number:,} bodies, none read differently")
    return answers


def main(argv: list[str]) -> int:
    """Run by command; 1 when a body was read differently."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.fuzz_readers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="the same seed, the same bodies (1)")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many bodies (1,000,000)")
    options = parser.parse_args(argv)
    try:
        answers = fuzz(options.seed, options.count, lambda words: print(words, flush=True))
    except Difference as difference:
        print(difference, file=sys.stderr)
        return 1
    for code, times in answers.most_common():
        print(f"{times:>10,}  {code}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
