"""The simulator's gateways at work in a thread of their own; they keep everything that they have sent, as real ones do."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from devices.simulator.gateway import Weather
from devices.simulator.irregularities import Rates
from devices.simulator.kept import Kept
from devices.simulator.rig import Rig
from devices.simulator.run import Plan, Run, Service, default_prefix, load_floor
from devices.simulator.table import Dealt
from tests.faults.hall import BACK_WITHIN_SECONDS, MISHAPS, Message
from tests.faults.soak import speed_for

WAIT_SECONDS = 2
ANSWER_SECONDS = 2.0  # beside those: what is in flight to a machine that is gone is sent again after four


class Traffic:
    """Rounds at an even pace from all tables until the block ends; `dealt` and `kept` are what gateways know afterwards."""

    def __init__(
        self, service: Service, floor_file: Path, *, rate: float, seed: int = 1, rates: Rates = MISHAPS,
        rigs: tuple[Rig, ...] = (), weather: Weather | None = None,
    ) -> None:  # fmt: skip
        self.kept = Kept()
        self.dealt: dict[str, Dealt] = {}
        self._service = service
        floor, start = load_floor(floor_file), datetime.now(UTC)
        self._plan = Plan(
            floor=floor, start=start, prefix=default_prefix(start), seed=seed, speed=speed_for(rate, len(floor.tables)),
            rates=rates, rigs=rigs, weather=weather or Weather(),
        )  # fmt: skip
        self._run = self._new_run()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._play, name="gateways")
        self._error: BaseException | None = None

    def _new_run(self) -> Run:
        return Run(
            self._plan, self._service, kept=self.kept, wait_seconds=WAIT_SECONDS, answer_seconds=ANSWER_SECONDS,
            settles=False, patience_seconds=BACK_WITHIN_SECONDS,
            on_dealt=lambda dealt: self.dealt.update({dealt.message["round"]: dealt}),
        )  # fmt: skip

    def __enter__(self) -> Traffic:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._run.stop)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _play(self) -> None:
        try:
            self._loop.run_until_complete(self._run.run())
        except BaseException as error:
            self._error = error

    def goes_on(self, seconds: float) -> None:
        """So long; raises what has ended the gateways."""
        self._thread.join(seconds)
        if self._error is not None:
            raise self._error
        assert self._thread.is_alive(), "nobody plays any more"

    @property
    def answered(self) -> dict[str, Message]:
        """What the house has said it has, by reference."""
        return {sent.message["round"]: sent.message for sent in self.kept.sent.values() if sent.answered_at is not None}

    def answers_since(self, moment: float) -> int:
        """How many messages were answered after this moment."""
        return sum((sent.answered_at or 0) > moment for sent in list(self.kept.sent.values()))

    def answered_again(self, within: float = BACK_WITHIN_SECONDS) -> float:
        """Wait until somebody is answered from now on; seconds until then."""
        began = time.time()
        while not self.answers_since(began):
            assert time.time() - began < within, "nobody is answered"
            self.goes_on(0.05)
        return time.time() - began

    def send_again(self, service: Service | None = None) -> Counter[str]:
        """Once it is over gateways send everything that they hold, whatever they were told; what they are told now."""
        self._service = service or self._service
        again = self._new_run()
        asyncio.run(again.send_again([dealt.message for dealt in self.dealt.values()]))
        return again.tally.receipts
