"""`manage.py simulate`: play a floor as its gateways would, against a running service or into a file."""

from __future__ import annotations

import asyncio
import signal
from argparse import ArgumentTypeError
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from devices.simulator import rig
from devices.simulator.floor import NothingToPlay
from devices.simulator.gateway import Weather
from devices.simulator.irregularities import Rates
from devices.simulator.kept import Kept, KeptRefused, read
from devices.simulator.locks import USUAL_SHARE
from devices.simulator.poster import MOST_IN_A_BATCH, PostingFailed
from devices.simulator.progress import Show
from devices.simulator.run import RUSH, Plan, Run, Service, SetUpRefused, default_prefix, load_floor, write
from devices.simulator.tally import Tally
from tables.rules.floor import FloorRefused

DEMO_FLOOR = Path(settings.BASE_DIR) / "jackpot" / "config" / "demo" / "floor.toml"
ROUNDS_WITHOUT_PACE = 1_000
"""How many rounds a run without pace, or into a file, deals when nobody says."""


SWITCHED_OFF = (
    "The gateways are switched off: unless another run goes on with their tables, the progressives of these close in seconds.\n"
    "They open when another run gives signs of life, or when `up` starts anew."
)


def _speed(text: str) -> float:
    if text == "max":
        return RUSH
    try:
        speed = float(text)
    except ValueError:
        speed = -1.0
    if not 0 <= speed < 1_000_000:
        raise ArgumentTypeError("a number from 0, or max")
    return speed


def _rig(text: str) -> rig.Rig:
    try:
        return rig.read(text)
    except rig.RigRefused as refused:
        raise ArgumentTypeError(str(refused)) from None


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError("an RFC 3339 time, e.g. 2026-11-27T18:00:00-05:00") from None
    if instant.tzinfo is None:
        raise ArgumentTypeError("a time with its offset from UTC")
    return instant


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("a whole number from 1")
    return int(text)


class Command(BaseCommand):
    help = "Play the tables of a floor as gateways do: deal, bet, post, resend. Ctrl-C ends with a summary."
    example = "simulate --speed 20 --rig royal@50"
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "where",
            nargs="?",
            metavar="FLOOR.toml | URL",
            help="floor file to play, or address of the service to play it at",
        )
        parser.add_argument("--floor", type=Path, help="floor file (default: the demo floor)")
        parser.add_argument("--base-url", help="address of the service (default: what demo.json says)")
        parser.add_argument(
            "--ca",
            type=Path,
            metavar="FILE",
            help="certificates (PEM) by which a proxy is known, instead of the usual ones",
        )
        parser.add_argument("--demo", type=Path, help="demo.json with address and keys (default: in the data folder)")
        parser.add_argument(
            "--speed",
            type=_speed,
            default=1.0,
            help="1 plays in real time, 45 s a round and table; 10 ten times as fast; 0 or max without pause",
        )
        parser.add_argument("--tables", default="", help="codes with commas between, or how many; default all")
        parser.add_argument(
            "--rounds",
            type=_positive,
            help="rounds over all tables together; default until stopped (1,000 with --speed max or --out)",
        )
        parser.add_argument("--seed", help="same seed, same cards and bets (default: the prefix)")
        parser.add_argument(
            "--rig",
            type=_rig,
            action="append",
            default=[],
            help="royal@120, straight_flush@20s, royal@7:MS-101; may be repeated",
        )
        parser.add_argument(
            "--show",
            action="store_true",
            help="play so that a jackpot is seen within a minute (what `up --simulate` does)",
        )
        parser.add_argument("--prefix", help="part of every round reference (default: the time of the start)")
        parser.add_argument(
            "--start",
            type=_instant,
            help="time of the first deal (default: now); with --prefix and --seed a run can be repeated exactly",
        )
        parser.add_argument(
            "--irregularities",
            type=float,
            default=1.0,
            metavar="TIMES",
            help="how many times more often than usual something goes wrong; 0 never",
        )
        parser.add_argument(
            "--locks",
            type=float,
            metavar="SHARE",
            help="share of the tables that lock before they deal (default: 0.25, and 0 with --out)",
        )
        parser.add_argument(
            "--heartbeats",
            action="store_true",
            help="give signs of life, as real gateways do: when it ends progressives close after the service's term",
        )
        parser.add_argument("--calm", action="store_true", help="no late, repeated or dropped postings")
        parser.add_argument(
            "--batch", type=_positive, default=200, help="most messages in one request when a table is behind"
        )
        parser.add_argument(
            "--keep", type=Path, metavar="FILE.ndjson", help="add every message that is posted to a file"
        )
        parser.add_argument(
            "--resend",
            type=Path,
            metavar="FILE.ndjson",
            help="instead of playing post what --keep has kept once more, as gateways do after a restore",
        )
        parser.add_argument(
            "--out", type=Path, metavar="FILE.ndjson", help="write the messages instead of posting them"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Turn options into a plan and play it."""
        try:
            self._play(options)
        except (SetUpRefused, PostingFailed, KeptRefused, FloorRefused, NothingToPlay, rig.RigRefused) as refused:
            raise CommandError(str(refused)) from None

    def _play(self, options: dict[str, Any]) -> None:
        where: str | None = options["where"]
        floor, base_url = options["floor"], options["base_url"]
        if where is not None and where.startswith(("http://", "https://")):
            base_url = base_url or where.rstrip("/")
        elif where is not None:
            floor = floor or Path(where)
        if options["batch"] > MOST_IN_A_BATCH:
            raise SetUpRefused(f"--batch: {MOST_IN_A_BATCH} messages at most")
        start = options["start"] or datetime.now(UTC)
        prefix = options["prefix"] or default_prefix(start)
        speed = rig.SHOW_SPEED if options["show"] and options["speed"] == 1.0 else options["speed"]
        rounds = options["rounds"]
        if rounds is None and (speed == RUSH or options["out"] is not None):
            rounds = ROUNDS_WITHOUT_PACE
        plan = Plan(
            floor=load_floor(floor or DEMO_FLOOR),
            start=start,
            prefix=prefix,
            seed=options["seed"] or prefix,
            speed=speed,
            tables=tuple(code.strip() for code in options["tables"].split(",") if code.strip()),
            rounds=rounds,
            rigs=(*options["rig"], *(rig.show() if options["show"] else ())),
            rates=Rates(times=options["irregularities"]),
            weather=Weather.calm() if options["calm"] else Weather(),
            locks=(0.0 if options["out"] is not None else USUAL_SHARE)
            if options["locks"] is None
            else options["locks"],
        )
        if options["out"] is not None:
            tally = write(plan, options["out"], plan.rounds or ROUNDS_WITHOUT_PACE)
            counts = ", ".join(f"{count:,} meant to be {meant}" for meant, count in sorted(tally.meant.items()))
            self.stdout.write(f"{tally.dealt:,} messages in {options['out']}: {counts}")
            return
        demo = options["demo"] or settings.DATA.demo
        service = Service.from_demo(demo, base_url, ca=options["ca"])
        if options["resend"] is not None:
            again = Run(plan, service, batch=options["batch"])
            asyncio.run(again.send_again(read(options["resend"])))
            said = again.tally.receipts + again.tally.locks
            counts = ", ".join(f"{count:,} {status}" for status, count in sorted(said.items()))
            self.stdout.write(f"{said.total():,} messages sent again: {counts or 'there were none'}")
            return
        kept = Kept(options["keep"]) if options["keep"] else None
        self._post(plan, service, batch=options["batch"], heartbeats=options["heartbeats"], kept=kept)

    def _post(self, plan: Plan, service: Service, *, batch: int, heartbeats: bool, kept: Kept | None) -> None:
        tally = Tally()
        show = Show(tally, rounds=plan.rounds)
        show.say(
            f"{len(plan.chosen())} tables play at {service.base_url}; the same again: "
            f"--seed {plan.seed} --prefix {plan.prefix} --start {plan.start.isoformat()}"
        )

        async def play() -> None:
            run = Run(plan, service, tally=tally, show=show, batch=batch, heartbeats=heartbeats, kept=kept)
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, run.stop)
            await run.run()

        try:
            with show:
                asyncio.run(play())
        finally:
            show.summary()
            if heartbeats:
                show.say(SWITCHED_OFF)
