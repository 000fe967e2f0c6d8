"""`python3 manage.py test --house`: a whole house on this machine, and each bad day of the handbook.

PostgreSQL 15 with Redis, then 18 with RabbitMQ, each with a standby, three hosts on machines of their own (network namespaces), a
proxy with TLS, opened by the commands of docs/running.md; gateways of the simulator play all the while and keep what they have
sent. Then the proofs that are for one server alone. At the end everything that gateways were told is there, once, and as a house
has it that never failed. For root, on Debian with the packages that it names.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from devices.simulator.table import Dealt
from tests.faults.account import account
from tests.faults.brokers import RabbitMQ, Redis
from tests.faults.hall import ROOT
from tests.faults.replayed import compare
from tests.faults.traffic import ANSWER_SECONDS, WAIT_SECONDS, Traffic
from tests.house import alone, needs
from tests.house.account import look
from tests.house.faults import FAULTS, Fault
from tests.house.handbook import EXCUSED, Handbook
from tests.house.place import Place, house

PLAY = "python3 manage.py simulate --base-url https://NAME --ca FILE --floor FLOOR.toml --demo KEYS.json --rounds 100 --speed 60"
PATIENCE = WAIT_SECONDS + ANSWER_SECONDS  # of a gateway whose post is with a machine that is gone
RATE = 25.0  # rounds a second: two hundred tables deal four


@dataclass(frozen=True, slots=True)
class Pass:
    """Which servers."""

    name: str
    binaries: Path | None
    broker: type[RabbitMQ | Redis]


PASSES = (Pass("PostgreSQL 15, Redis", needs.OLD, Redis), Pass("PostgreSQL 18, RabbitMQ", None, RabbitMQ))


@dataclass(slots=True)
class Row:
    """A line of the table. `away` is for how long nothing could be settled; a gateway waits for as long as it chose to, more."""

    where: str
    fault: str
    stall: float | None
    away: float
    goal: float | None
    told: float = 0.0
    gone: int = 0
    lost: int = 0
    doubled: int = 0
    trouble: str = ""

    @property
    def well(self) -> bool:
        """Whether it is within the goal, and nothing lost or doubled."""
        slow = self.goal is not None and (
            (self.stall or 0.0) > self.away + self.goal or self.told > self.away + self.goal + PATIENCE
        )
        return not (self.trouble or slow or self.lost or self.doubled)

    def __str__(self) -> str:
        stall = "–" if self.stall is None else f"{self.stall:.1f}"
        away = f"{self.away:.1f}" if self.away else "–"
        told = f"{self.told:.1f}" if self.told else "–"
        goal = "–" if self.goal is None else f"{self.away + self.goal:.1f}"
        said = "" if self.well else self.trouble or "NOT WITHIN THE GOAL"
        again = f"{self.gone} brought back by gateways" if self.gone else ""
        words = "; ".join(filter(None, [again, said]))
        return f"| {self.where} | {self.fault} | {away} | {stall} | {goal} | {told} | {self.lost} | {self.doubled} | {words} |"


HEAD = (
    "| servers | fault | database away, s | stall, s | goal, s | told after, s | lost | doubled | |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def say(words: str) -> None:
    """Progress."""
    print(f"[house] {time.strftime('%H:%M:%S')} {words}", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """0 when everything is within its goal, 1 when something is not, 2 when it cannot be tried."""
    options = argparse.ArgumentParser(
        prog="manage.py test --house", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--postgresql", choices=["15", "18"], help="only with this one")
    options.add_argument(
        "--only", nargs="+", metavar="WORD", help="only faults that have one of these words in their name"
    )
    options.add_argument("--without-proofs", action="store_true", help="leave the proofs out that are for one server")
    options.add_argument("--keep", action="store_true", help="keep the folder with all logs also where all is well")
    wanted = options.parse_args(argv)
    if (lacking := needs.missing()) is not None:
        print(lacking, file=sys.stderr)
        return 2
    chosen = [fault for fault in FAULTS if not wanted.only or any(word in fault.name for word in wanted.only)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # whatever was started is ended, and no machine stays behind
    handbook, rows = Handbook(), list[Row]()
    folder = Path(tempfile.mkdtemp(prefix="jackpot-house-"))
    folder.chmod(0o711)
    began = time.monotonic()
    say(f"logs are in {folder}")
    for number, each in enumerate(PASSES):
        if wanted.postgresql is None or wanted.postgresql in each.name:
            (folder / str(number)).mkdir(mode=0o711)
            rows += _passed(each, folder / str(number), handbook, chosen)
    if not wanted.without_proofs:
        rows += _on_one_machine(folder / "alone", handbook)
        rows += [_proved(proof, folder) for proof in alone.PROOFS]
    left = handbook.left()
    print("\n".join(["", HEAD, *map(str, rows), ""]))
    print(f"{len(handbook.run)} commands of docs/running.md were run as they stand there; {len(left)} were not")
    print("\n".join(f"not run: {command}, {reason}" for command, reason in EXCUSED.items()))
    whole = wanted.postgresql is None and not wanted.only and not wanted.without_proofs
    for command in left if whole else []:
        print(f"NOT RUN: {command}")
    ill = [row for row in rows if not row.well]
    print(f"{len(rows)} rows, {len(ill)} not well, after {(time.monotonic() - began) / 60:.0f} minutes")
    if not ill and not wanted.keep:
        subprocess.run(["rm", "-rf", str(folder)])
    return 1 if ill or (whole and left) else 0


@contextmanager
def _binaries(folder: Path | None) -> Iterator[None]:
    before = os.environ.pop("JACKPOT_PG_BIN", None)
    if folder is not None:
        os.environ["JACKPOT_PG_BIN"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("JACKPOT_PG_BIN", None)
        if before is not None:
            os.environ["JACKPOT_PG_BIN"] = before


def _passed(each: Pass, folder: Path, handbook: Handbook, chosen: Sequence[Fault]) -> list[Row]:
    """A house with these servers, all faults, and the account."""
    rows: list[Row] = []
    try:
        with _binaries(each.binaries):
            say(f"{each.name}: opening a house")
            with house(folder, handbook, each.broker) as place:
                _by_the_handbook(place)
                with Traffic(place.service(), place.floor_file, rate=RATE) as traffic:
                    traffic.answered_again()
                    for fault in chosen:
                        rows.append(_struck(each, fault, place, traffic))
                        say(str(rows[-1]))
                _account(place, traffic)
                say(
                    f"{each.name}: {len(traffic.dealt):,} rounds dealt; each is there once, as a house has it that never failed"
                )
    except Exception as error:
        rows.append(Row(each.name, "the whole", None, 0, None, trouble=_words(error)))
        say(str(rows[-1]))
    return rows


def _struck(each: Pass, fault: Fault, place: Place, traffic: Traffic) -> Row:
    place.ready()
    traffic.goes_on(1)
    say(f"{each.name}: {fault.name} …")
    began = time.time()
    away = fault.strike(place, traffic)
    traffic.answered_again()
    place.ready()
    traffic.goes_on(2)
    ended = time.time()
    traffic.goes_on(1.5)
    seen = look(place, traffic, began - 1, ended)
    expected = fault.name == "standby promoted"
    return Row(
        each.name, fault.name, seen.stall, away, fault.goal, told=seen.told,
        gone=seen.gone if expected else 0, lost=0 if expected else seen.gone, doubled=seen.doubled,
    )  # fmt: skip


def _by_the_handbook(place: Place) -> None:
    """What its reader does next: plays test tables, looks at what is to be watched."""
    say("the simulator of the handbook plays")
    given = {
        "https://NAME": place.base_url, "FILE": str(place.authority.certificate),
        "FLOOR.toml": str(place.floor_file), "KEYS.json": str(place.keys_file()),
    }  # fmt: skip
    kept = place.folder / "kept.ndjson"
    words = [*place.handbook.words(PLAY, given), "--locks", "0", "--irregularities", "0", "--keep", str(kept)]
    done = subprocess.run(words, cwd=ROOT, env=place.environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    place.answered |= {line["round"]: line for line in alone.lines(kept)}
    place.settled()
    alone.watched(place)


def _account(place: Place, traffic: Traffic) -> None:
    """Gateways send everything that they hold; then nothing is lost, and nothing there that they did not send."""
    place.settled()
    said = traffic.send_again(place.service())
    assert set(said) <= {"accepted", "duplicate"}, said
    place.settled()
    say(f"sent again: {dict(said)}")
    before = {name: Dealt(message["table"], 0, 0, 0, message, "settled") for name, message in place.answered.items()}
    dealt = before | traffic.dealt
    account(place, {reference: each.message for reference, each in dealt.items()})
    compare(place, dealt)
    alone.verified(place)


def _on_one_machine(folder: Path, handbook: Handbook) -> list[Row]:
    say("a house on one machine: up, backup, restore")
    try:
        alone.on_one_machine(folder, handbook)
    except Exception as error:
        return [Row("one machine", "backup and restore by the handbook", None, 0, None, trouble=_words(error))]
    return [Row("one machine", "backup and restore by the handbook", None, 0, None)]


def _proved(proof: alone.Proof, folder: Path) -> Row:
    say(f"{proof.name} …")
    log = folder / f"{re.sub('[^a-z0-9]+', '-', proof.name.lower())}.log"
    environment = {**os.environ, "JACKPOT_NO_VENV": "1"}
    with log.open("wb") as out:
        code = subprocess.call([sys.executable, *proof.words], cwd=ROOT, env=environment, stdout=out, stderr=out)
    text = log.read_text(errors="replace")
    found = re.findall(proof.stall, text) if proof.stall else []
    stall = max(map(float, found), default=None)
    missed = proof.stall is not None and stall is None
    trouble = f"exit code {code}, see {log}" if code else "it says nothing of a stall" if missed else ""
    row = Row("one machine", proof.name, stall, 0, proof.goal, trouble=trouble)
    say(str(row))
    return row


def _words(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:600].replace("|", "/")


if __name__ == "__main__":
    sys.exit(main())
