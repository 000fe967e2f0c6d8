"""`python3 verifier.pyz PACK`: decide a pack of a stream's record again, on a machine that has nothing but Python.

Standard library and rules only. Exit code 0 when everything is as the rules give it, 1 at the first difference, 2 when it
could not be looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from accounting.rules.heads import Unreadable
from tables.rules.packs import opened, read
from tables.rules.repeated import Differs, Repeated, repeat

USAGE: Final = "usage: python3 verifier.pyz PACK [--key HEX]"
HELP: Final = f"""{USAGE}

Decides every event of the pack again, or of each pack in the file of a gaming day: settlements, meters, transfers, hashes,
gaming days, and the signatures of closed days.
--key pins the house's public key (Ed25519, 64 hexadecimal digits), as the house gave it to you by another way: without it a
signature says only that the pack and the key in it belong together.

Exit code 0: nothing differs. 1: the first difference is named. 2: it could not be looked at."""


def main(argv: Sequence[str]) -> int:
    """Run the verifier; its exit code."""
    if {"-h", "--help"} & set(argv):
        print(HELP)
        return 0
    try:
        file, key = _arguments(argv)
        packs = opened(Path(file).read_bytes())
    except OSError as trouble:
        print(f"{trouble.filename or file}: {trouble.strerror}", file=sys.stderr)
        return 2
    except ValueError as fault:
        print(f"NOT VERIFIED {fault}", file=sys.stderr)
        return 2
    for name, content in packs:
        code = _verify(f"{name}: " if name else "", content, key)
        if code:
            return code
    print("no difference")
    return 0


def _verify(where: str, content: bytes, key: bytes | None) -> int:
    try:
        pack = read(content)
    except Unreadable as fault:
        print(f"NOT VERIFIED {where}{fault}", file=sys.stderr)
        return 2
    try:
        found = repeat(pack, key)
    except Differs as difference:
        print(f"DIFFERENT {where}{difference}", file=sys.stderr)
        return 1
    about = pack.about
    print(f"{about.property}, stream {about.stream}, events {about.first:,} to {about.last:,}")
    for line in said(found, first=about.first, last=about.last):
        print(line)
    return 0


def said(found: Repeated, *, first: int, last: int) -> list[str]:
    """What was checked, in words."""
    checked = found.checked
    dollars = f"{checked.moved_cents // 100:,}.{checked.moved_cents % 100:02d}"
    lines = [
        f"decided again: {checked.events:,} events ({checked.rounds:,} rounds, {checked.locks:,} locks,"
        f" {checked.acts:,} acts of people), {checked.hits:,} hits",
        f"as booked: {checked.transfers:,} transfers, {dollars} dollars; every hash up to {found.head.hex()}",
    ]
    if first:
        lines.append(
            f"taken as it says: {checked.taken:,} events from before event {first:,}, each as its own hash has it"
        )
    for link, meters in found.meters.items():
        for level, meter in meters.items():
            lines.append(
                f"meter {link}/{level}: {meter.value_cents} cents and {meter.residual_millionths} millionths,"
                f" reserve {meter.reserve_cents}, overflow {meter.overflow_cents}"
            )
    if found.keys:
        names = ", ".join(sorted(key.hex() for key in found.keys))
        lines.append(f"signed: {checked.heads:,} heads of {checked.days:,} closed gaming days, by key {names}")
    if checked.through < last:
        since = max(checked.through + 1, first)
        lines.append(f"not signed: events {since:,} to {last:,} lie behind no closed gaming day of this pack")
    return lines


def _arguments(argv: Sequence[str]) -> tuple[str, bytes | None]:
    files: list[str] = []
    key: bytes | None = None
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--key" and rest:
            key = _key(rest.pop(0))
        elif word.startswith("--key="):
            key = _key(word.removeprefix("--key="))
        elif word.startswith("-"):
            raise ValueError(USAGE)
        else:
            files.append(word)
    if len(files) != 1:
        raise ValueError(USAGE)
    return files[0], key


def _key(text: str) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != 32:
        raise ValueError("--key: an Ed25519 public key in 64 hexadecimal digits is expected")
    return found
