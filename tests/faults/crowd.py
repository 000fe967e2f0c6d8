"""A crowd of processes at the same streams, forked as they are asked for, to be killed (SIGKILL) at any moment.

    python -m tests.faults.crowd

Each line it reads is a part and a seed: a child is forked that plays the part until somebody ends it, and its process id is
said. `settle` settles whatever waits, `gateway` posts rounds and locks (some twice), `act` does what people do: hits and envy,
voids, releases, adjustments, transfers, states of links, tables that move. A child tells what it may be asked for afterwards in
lines of its own: what was accepted, what was done or refused, and what must not happen.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import django

PARTS = ["display", "reserve", "overflow"]
WAIT_AT_MOST = 60
"""Messages: a gateway rests while more of them wait, for a machine may be slow."""

Line = dict[str, Any]
Chosen = tuple[str, str, Line]


def now() -> datetime:
    """A clock that all processes share."""
    from tests.services.house import RECEIVED

    return RECEIVED + timedelta(seconds=time.monotonic())


def tell(**said: Any) -> None:
    """One line, whole, whoever else writes."""
    os.write(1, json.dumps(said).encode() + b"\n")


class Part:
    """What a child does, again and again."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)
        self.seed = seed
        self.count = 0
        self.over = False
        signal.signal(signal.SIGTERM, self.end)

    def end(self, *_: Any) -> None:
        """Stop after what is under way."""
        self.over = True

    def run(self) -> None:
        """Go on until it is over."""
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('application_name', %s, false)", [f"crowd {os.getpid()}"])
        while not self.over:
            self.turn()

    def turn(self) -> None:
        """Once."""
        raise NotImplementedError


class Settler(Part):
    """A settling worker."""

    def turn(self) -> None:
        """Every stream that waits, a few messages at a time."""
        from devices.intake import settling

        worked = 0
        for stream in settling.streams_waiting():
            worked += settling.settle_next(stream, clock=now, limit=self.chance.randint(1, 8)).batch.dealt_with
        if not worked:
            time.sleep(0.01)


class Gateway(Part):
    """Tables that deal; a round may be locked first, or said twice."""

    def turn(self) -> None:
        """A post of some tables' rounds."""
        from tests.rules.histories import cards
        from tests.rules.stages import EVERY_POLICY
        from tests.services.house import House

        chance, tables = self.chance, EVERY_POLICY[0].tables
        sent: list[Line] = []
        for table in chance.sample(tables, chance.randint(1, 3)):
            self.count += 1
            reference, at = f"{self.seed}-{self.count}", now() - timedelta(seconds=chance.choice((0, 0, 0, 2)))
            board, seats = cards(chance, chance.sample(range(1, 7), chance.randint(1, 3)))
            result = {
                "round": reference, "table": table, "dealt_at": at.isoformat(), "dealing": {"method": "shuffler"},
                "community": board, "seats": seats,
            }  # fmt: skip
            if chance.random() < 0.1:
                result["irregularities"] = [{"code": "shoe_failed"}]
            if chance.random() < 0.4 and (
                betting := [seat["seat"] for seat in seats if "progressive" in seat["wagers"]]
            ):
                sent.append({
                    "kind": "lock", "round": reference, "table": table, "locked_at": at.isoformat(),
                    "seats": [{"seat": seat, "wagers": {"progressive": 100}} for seat in betting],
                })  # fmt: skip
                if chance.random() < 0.2:
                    continue  # its result never comes
            sent.append(result)
        verdicts = House().post(*sent, at=now())
        tell(accepted=[verdict.message_id for verdict in verdicts])
        if chance.random() < 0.2:
            statuses = {verdict.status for verdict in House().post(*sent, at=now())}
            if statuses != {"duplicate"}:
                tell(wrong=f"sent again: {statuses}")
        time.sleep(0.01)
        while not self.over and House.waiting() > WAIT_AT_MOST:
            time.sleep(0.05)


class People(Part):
    """Whoever decides: each act in a transaction of its own, as the office has it done."""

    def turn(self) -> None:
        """An act on what is there."""
        from django.db import transaction

        from accounting.rules.acts import ActRefused
        from tests.services.house import House

        chosen = self.chance.choices(CHOICES, WEIGHTS)[0](self.chance)
        if chosen is None:
            time.sleep(0.02)
            return
        name, subject, payload = chosen
        try:
            with transaction.atomic():
                stream, sequence = House().act(name, subject, at=now(), **payload)
        except ActRefused as refusal:
            tell(refused=f"{name} {refusal.code}")
            time.sleep(0.005)
        else:
            tell(done=name, stream=stream, sequence=sequence)


def one(query: str) -> Any:
    """A row at random among the latest of a query's; None where there is none."""
    from tests.services.house import rows

    found = rows(f"SELECT * FROM ({query} LIMIT 12) AS latest ORDER BY random() LIMIT 1")
    return found[0] if found else None


def step_hit(chance: random.Random) -> Chosen | None:
    """The next step of a hit, or its rejection."""
    found = one("""
        SELECT link.code || '-' || lpad(number::text, 6, '0'),
            (SELECT state FROM jackpot_hitstep step WHERE step.hit_id = hit.id ORDER BY step.id DESC LIMIT 1)
        FROM jackpot_hit hit JOIN jackpot_link link ON link.id = hit.link_id ORDER BY hit.id DESC
    """)
    if found is None:
        return None
    hit, state = found
    following = {"verified": "hit.approve", "approved": "hit.pay"}.get(state, "hit.verify")
    name = following if chance.random() < 0.8 else "hit.reject"
    return name, hit, {"method": chance.choice(("cage", "table"))} if name == "hit.pay" else {}


def pay_envy(chance: random.Random) -> Chosen | None:
    """An envy payout, paid."""
    found = one("""
        SELECT tabl.code, round.reference, round.settlement FROM tables_round round
        JOIN tables_table tabl ON tabl.id = round.table_id JOIN jackpot_link link ON link.stream_id = round.stream_id
        JOIN jackpot_hit hit ON hit.link_id = link.id AND hit.sequence = round.sequence
        WHERE outcome = 'settled' ORDER BY hit.id DESC
    """)
    if found is None:
        return None
    table, reference, settlement = found
    envy = [
        f"{table}/{reference}/{seat['seat']}/{each['from_seat']}"
        for seat in json.loads(bytes(settlement))["seats"] for each in seat["envy"]
    ]  # fmt: skip
    return ("payout.pay", chance.choice(envy), {"method": "cage"}) if envy else None


def void_round(chance: random.Random) -> Chosen | None:
    """A settled round, undone."""
    found = one("""
        SELECT tabl.code || '/' || reference FROM tables_round round JOIN tables_table tabl ON tabl.id = round.table_id
        WHERE outcome = 'settled' ORDER BY message_id DESC
    """)
    return found and ("round.void", found[0], {})


def decide_held(chance: random.Random) -> Chosen | None:
    """A held round, released or called off."""
    found = one("""
        SELECT tabl.code || '/' || reference FROM tables_hold hold JOIN tables_table tabl ON tabl.id = hold.table_id
        ORDER BY message_id DESC
    """)
    return found and (chance.choice(("round.release", "round.release", "round.void")), found[0], {})


def void_lock(chance: random.Random) -> Chosen | None:
    """A lock that waits, taken back."""
    found = one("""
        SELECT tabl.code || '/' || reference FROM tables_lock lock JOIN tables_table tabl ON tabl.id = lock.table_id
        WHERE lock.state = 'locked' ORDER BY message_id DESC
    """)
    return found and ("lock.void", found[0], {})


def a_link(chance: random.Random) -> str:
    """One of the three links."""
    from tests.rules.stages import EVERY_POLICY

    return chance.choice(EVERY_POLICY[0].links)


def turn_link(chance: random.Random) -> Chosen | None:
    """A link that is suspended goes on; seldom one is suspended."""
    found = one("SELECT code FROM jackpot_link WHERE state = 'suspended'")
    if found is not None and chance.random() < 0.7:
        return "link.resume", found[0], {}
    return "link.suspend", a_link(chance), {}


def transfer(chance: random.Random) -> Chosen | None:
    """What is on a suspended link goes to another."""
    found = one("SELECT code FROM jackpot_link WHERE state = 'suspended'")
    if found is None:
        return "link.suspend", a_link(chance), {}
    parts = chance.sample(PARTS, chance.randint(1, 3))
    return "level.transfer", f"{found[0]}/major", {"to": f"{a_link(chance)}/major", "parts": parts}


def adjust(chance: random.Random) -> Chosen | None:
    """A few cents up or down."""
    payload = {"part": chance.choice(PARTS), "cents": chance.choice((-30, -1, 1, 30)), "reason": "correction"}
    return "level.adjust", f"{a_link(chance)}/major", payload


def change_terms(chance: random.Random) -> Chosen | None:
    """Another rate of a suspended link."""
    found = one("SELECT code FROM jackpot_link WHERE state = 'suspended'")
    return found and (
        "link.terms",
        found[0],
        {"levels": [{"code": "major", "rate_ppm": chance.randrange(100_000, 300_000)}]},
    )


def move_table(chance: random.Random) -> Chosen | None:
    """The table that moves between links, by way of none."""
    found = one("SELECT link.code FROM tables_table tabl LEFT JOIN jackpot_link link ON link.id = tabl.link_id"
                " WHERE tabl.code = 'MS-91'")  # fmt: skip
    return ("table.join", "MS-91", {"link": a_link(chance)}) if found[0] is None else ("table.leave", "MS-91", {})


CHOICES: tuple[Callable[[random.Random], Chosen | None], ...] = (
    step_hit, pay_envy, void_round, decide_held, void_lock, turn_link, transfer, adjust, change_terms, move_table,
)  # fmt: skip
WEIGHTS = (12, 3, 4, 6, 3, 6, 3, 4, 1, 4)
ROLES: dict[str, type[Part]] = {"settle": Settler, "gateway": Gateway, "act": People}


def main() -> None:
    """Fork a child for each line."""
    django.setup()
    import tests.rules.stages
    import tests.services.house  # noqa: F401 - a child has everything at hand

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children that end are gone
    tell(ready=True)
    for line in sys.stdin:
        part, seed = line.split()
        pid = os.fork()
        if pid:
            tell(pid=pid)
            continue
        try:
            ROLES[part](seed).run()
        except BaseException as error:
            tell(wrong=f"{part}: {error!r}")
            os._exit(1)
        os._exit(0)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
    main()
