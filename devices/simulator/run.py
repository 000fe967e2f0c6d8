"""A simulated run from start to end: choose tables, deal at the right moment, post, watch, sum up."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx

from devices.simulator import locks
from devices.simulator.floor import PACE_SECONDS, Play, playable
from devices.simulator.gateway import Gateway, Sending, Weather
from devices.simulator.heartbeat import Heartbeats
from devices.simulator.irregularities import Rates
from devices.simulator.kept import Kept, resend
from devices.simulator.poster import ANSWER_SECONDS, Poster, PostingFailed, encode
from devices.simulator.progress import Show
from devices.simulator.rig import Rig
from devices.simulator.table import Dealt
from devices.simulator.tally import Tally
from tables.rules.floor import Floor, read_floor
from tables.rules.table import TableTerms

RUSH = 0.0
"""The speed that means as fast as the service takes it."""

RUSH_PACE_SECONDS = 0.0004
"""A table's time per round in `dealt_at` when rushing: faster than any service, so no round is dated ahead."""

SETTLES_WITHIN_SECONDS = 120.0

HURRY_SECONDS = 3.0
"""How long a stopped run still tries to send what was dealt."""


class SetUpRefused(Exception):
    """The run cannot start: no such table, no key, nobody answering."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides what a run deals: two runs with equal plans post the same messages."""

    floor: Floor
    start: datetime
    prefix: str
    seed: int | str
    speed: float = 1.0
    tables: tuple[str, ...] = ()
    """Codes, or one number: that many, in the order of the floor. Empty: all."""
    rounds: int | None = None
    """Over all tables together; None plays until stopped."""
    rigs: tuple[Rig, ...] = ()
    rates: Rates = field(default_factory=Rates)
    weather: Weather = field(default_factory=Weather)
    locks: float = 0.0
    """The share of the tables that lock the progressive wagers before they deal."""

    def locking(self) -> frozenset[str]:
        """The tables that lock."""
        return locks.tables_that_lock(list(self.chosen()), seed=self.seed, share=self.locks)

    def play(self) -> Play:
        """The rounds of this plan."""
        return Play(
            self.chosen(),
            seed=self.seed,
            rigs=self.rigs,
            prefix=self.prefix,
            start=self.start,
            zone=ZoneInfo(self.floor.property.time_zone),
            pace_seconds=RUSH_PACE_SECONDS if self.speed == RUSH else PACE_SECONDS / self.speed,
            rates=self.rates,
        )

    def chosen(self) -> dict[str, TableTerms]:
        """The tables that play; SetUpRefused for one that is not on the floor or cannot be played."""
        possible = playable(self.floor.tables)
        if len(self.tables) == 1 and self.tables[0].isdecimal() and self.tables[0] not in possible:
            wanted = int(self.tables[0])
            if not 1 <= wanted <= len(possible):
                raise SetUpRefused(f"{wanted} tables: the floor has {len(possible)} that can be played")
            return dict(islice(possible.items(), wanted))
        for code in self.tables:
            if code not in possible:
                raise SetUpRefused(f"{code}: no such table, or not a game the simulator plays")
        return {code: possible[code] for code in self.tables} if self.tables else possible


@dataclass(frozen=True, slots=True)
class Service:
    """Where to post, with a key for each table."""

    base_url: str
    keys: Mapping[str, str]
    transport: httpx.AsyncBaseTransport | None = None
    trust: ssl.SSLContext | bool = True
    """By which certificates a proxy that speaks TLS is known; True: the usual ones."""

    @classmethod
    def from_demo(cls, file: Path, base_url: str | None = None, *, ca: Path | None = None) -> Service:
        """The service that wrote this demo.json; SetUpRefused when there is none, or no certificates in `ca`."""
        try:
            demo = json.loads(file.read_text())
            keys = {code: device["api_key"] for code, device in demo["devices"].items()}
            url = base_url or demo["base_url"]
            return cls(url, keys, trust=_trust(ca) if url.startswith("https:") else False)
        except FileNotFoundError:
            raise SetUpRefused(f"{file}: not there; start the service with `python3 manage.py up` first") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SetUpRefused(f"{file}: not a demo.json ({type(error).__name__} {error})") from None


def _trust(ca: Path | None) -> ssl.SSLContext:
    """One for all tables: reading the certificates costs more than a post."""
    if ca is None:
        return httpx.create_ssl_context()
    try:
        return ssl.create_default_context(cafile=ca)
    except FileNotFoundError:
        raise SetUpRefused(f"--ca: there is no file {ca}") from None
    except OSError as error:  # an SSLError is one
        raise SetUpRefused(f"--ca: {ca} holds no certificates in PEM ({error.strerror or error})") from None


def default_prefix(start: datetime) -> str:
    """References that no other run has used: the second in which this one began."""
    return start.astimezone(UTC).strftime("%Y%m%dT%H%M%S")


def load_floor(file: Path) -> Floor:
    """Read a floor file; SetUpRefused when it is not there, FloorRefused when it cannot be."""
    try:
        return read_floor(file.read_text())
    except FileNotFoundError:
        raise SetUpRefused(f"{file}: no such floor file") from None


def write(plan: Plan, file: Path, rounds: int) -> Tally:
    """Write the messages of the plan, one a line in the order dealt, each lock before its round, instead of posting them."""
    tally = Tally()
    play = plan.play()
    locking = plan.locking()
    with file.open("wb") as out:
        for dealt in islice(play.deals(), rounds):
            if dealt.table in locking and (lock := locks.lock_of(dealt, speed=plan.speed)) is not None:
                out.write(encode(lock.message) + b"\n")
            out.write(encode(dealt.message) + b"\n")
            _count(tally, dealt)
    return tally


class Run:
    """One run against a service. `stop()` ends the dealing; what was dealt is still posted."""

    def __init__(
        self,
        plan: Plan,
        service: Service,
        *,
        tally: Tally | None = None,
        show: Show | None = None,
        batch: int = 200,
        wait_seconds: int | None = None,
        answer_seconds: float = ANSWER_SECONDS,
        patience_seconds: float = 300.0,
        settles: bool = True,
        heartbeats: bool = False,
        on_dealt: Callable[[Dealt], None] | None = None,
        kept: Kept | None = None,
    ) -> None:
        missing = [code for code in plan.chosen() if code not in service.keys]
        if missing:
            raise SetUpRefused(f"no key for {', '.join(missing)}: is this the service's own floor?")
        self.plan = plan
        self.service = service
        self.tally = tally or Tally()
        self._show = show
        self._batch = batch
        self._wait_seconds = wait_seconds if wait_seconds is not None else (0 if plan.speed == RUSH else 2)
        self._answer_seconds = answer_seconds
        self._patience_seconds = patience_seconds
        self._settles = settles
        self._heartbeats = heartbeats
        self._on_dealt = on_dealt or (lambda dealt: None)
        self._kept = kept
        self._stopping = asyncio.Event()
        self._posters: dict[str, Poster] = {}

    def stop(self) -> None:
        """Deal no more rounds, and do not wait long for a service that is gone."""
        self._stopping.set()
        for poster in self._posters.values():
            poster.hurry(HURRY_SECONDS)

    async def run(self) -> Tally:
        """Play to the end; PostingFailed when the service cannot be used."""
        async with self._watcher() as client:
            await self._answering(client)
            before = await self._link_hits(client)
            watching = [asyncio.create_task(self._watch(client, before))]
            try:
                if self._heartbeats:
                    watching.append(await self._signs_of_life(client))
                await self._play()
                if self._settles and not self._stopping.is_set():
                    await self.settled()
                await self._look(client, before)
            finally:
                for task in watching:
                    task.cancel()
        return self.tally

    async def send_again(self, messages: Sequence[dict[str, Any]]) -> Tally:
        """Instead of playing post these, which were posted before; what is not there any more is settled as on the first day."""
        if strange := sorted({message["table"] for message in messages} - self.plan.chosen().keys()):
            raise SetUpRefused(f"no such table in play: {', '.join(strange)}")
        self._wait_seconds = 0  # a settlement would not say whether its message was there already
        async with self._watcher() as client:
            await self._answering(client)
        await self._posting(lambda posters: resend(messages, posters))
        return self.tally

    async def _signs_of_life(self, client: httpx.AsyncClient) -> asyncio.Task[None]:
        """Have the gateways of all tables heard of, now and for as long as the run lasts."""
        heartbeats = Heartbeats(client, {code: self.service.keys[code] for code in self.plan.chosen()})
        await heartbeats.begin(self._stopping)
        return asyncio.create_task(heartbeats.go_on())

    async def _play(self) -> None:
        async def play(posters: Mapping[str, Poster]) -> None:
            async with asyncio.TaskGroup() as group:
                for poster in posters.values():
                    group.create_task(poster.run())
                group.create_task(self._deal(posters))

        await self._posting(play)

    async def _posting(self, work: Callable[[Mapping[str, Poster]], Awaitable[None]]) -> None:
        """Do this with a line for each table, and hang up."""
        posters = self._posters = {
            code: Poster(
                code,
                base_url=self.service.base_url,
                api_key=self.service.keys[code],
                tally=self.tally,
                batch=self._batch,
                wait_seconds=self._wait_seconds,
                answer_seconds=self._answer_seconds,
                patience_seconds=self._patience_seconds,
                transport=self.service.transport,
                trust=self.service.trust,
                on_hit=self._show.hit if self._show is not None else None,
                kept=self._kept,
            )
            for code in self.plan.chosen()
        }
        try:
            await work(posters)
        except* PostingFailed as failures:
            if not self._stopping.is_set():
                raise failures.exceptions[0] from None
        finally:
            for poster in posters.values():
                await poster.aclose()

    async def _deal(self, posters: Mapping[str, Poster]) -> None:
        gateways = {code: Gateway(code, seed=self.plan.seed, weather=self.plan.weather) for code in posters}
        locking = self.plan.locking()
        at_cards: set[asyncio.Task[None]] = set()

        async def leave(dealt: Dealt) -> None:
            for sending in gateways[dealt.table].send(dealt):
                await posters[dealt.table].put(sending)

        async def cards(dealt: Dealt) -> None:
            await self._sleep(locks.HAND_SECONDS / self.plan.speed)
            await leave(dealt)

        loop = asyncio.get_running_loop()
        began = loop.time()
        for dealt in islice(self.plan.play().deals(), self.plan.rounds):
            if self.plan.speed != RUSH:
                await self._sleep(began + dealt.at_ms / 1000 - loop.time())
            if self._stopping.is_set():
                break
            _count(self.tally, dealt)
            self._on_dealt(dealt)
            lock = locks.lock_of(dealt, speed=self.plan.speed) if dealt.table in locking else None
            if lock is not None:
                await posters[dealt.table].put(Sending(lock))
                if self.plan.speed != RUSH:
                    at_cards.add(task := asyncio.create_task(cards(dealt)))
                    task.add_done_callback(at_cards.discard)
                    continue
            await leave(dealt)
        await asyncio.gather(*at_cards)
        for code, poster in posters.items():
            for sending in gateways[code].flush():
                await poster.put(sending)
            await poster.close()

    async def _sleep(self, seconds: float) -> None:
        """Wait for the next deal, or until stopped."""
        if seconds <= 0:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def _watcher(self) -> httpx.AsyncClient:
        key = next(iter(self.service.keys.values()))
        return httpx.AsyncClient(
            base_url=self.service.base_url,
            headers={"Authorization": f"Api-Key {key}"},
            timeout=5.0,
            transport=self.service.transport,
            verify=self.service.trust,
            trust_env=False,
        )

    async def _answering(self, client: httpx.AsyncClient) -> None:
        """Wait until the service takes rounds, a minute at most."""
        trouble = ""
        for _ in range(120):
            try:
                answer = await client.get("/api/v1/health")
                if answer.status_code == 200:
                    return
                trouble = f"health answers {answer.status_code}"
            except httpx.TransportError as error:
                trouble = f"{type(error).__name__} {error}".strip()
                if "CERTIFICATE_VERIFY_FAILED" in trouble:
                    raise SetUpRefused(
                        f"{self.service.base_url} shows a certificate that is not trusted ({error}): --ca FILE names the"
                        " certificate of whoever has signed it"
                    ) from None
            if self._stopping.is_set():
                return
            await asyncio.sleep(0.5)
        raise SetUpRefused(f"{self.service.base_url} takes no rounds ({trouble}); is `python3 manage.py up` running?")

    async def _watch(self, client: httpx.AsyncClient, before: int | None) -> None:
        turn = 0
        while True:
            if turn % 4 == 0:
                await self._look(client, before)
            if self._show is not None:
                self._show.refresh()
            turn += 1
            await asyncio.sleep(0.25)

    async def _look(self, client: httpx.AsyncClient, before: int | None) -> None:
        """What the service says about its queue and the hits on its links."""
        queued = (await _read(client, "/api/v1/health")).get("queued")
        self.tally.queued = queued if isinstance(queued, int) else self.tally.queued
        now = await self._link_hits(client)
        if now is not None and before is not None:
            self.tally.link_hits = now - before

    async def _link_hits(self, client: httpx.AsyncClient) -> int | None:
        links = (await _read(client, "/api/v1/links")).get("items")
        return sum(level["hits"] for link in links for level in link["levels"]) if isinstance(links, list) else None

    async def settled(self) -> None:
        """Wait until the queue is empty, two minutes at most: until then the figures are not final."""
        async with self._watcher() as client:
            deadline = asyncio.get_running_loop().time() + SETTLES_WITHIN_SECONDS
            while asyncio.get_running_loop().time() < deadline and not self._stopping.is_set():
                queued = (await _read(client, "/api/v1/health")).get("queued")
                if queued == 0:
                    return
                await asyncio.sleep(0.2)


async def _read(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    """A page of the API as an object; empty when it cannot be had just now."""
    try:
        answer = await client.get(path)
        value = answer.json()
    except (httpx.TransportError, ValueError):
        return {}
    if isinstance(value, list):
        return {"items": value}
    return value if isinstance(value, dict) else {}


def _count(tally: Tally, dealt: Dealt) -> None:
    tally.dealt += 1
    tally.meant[dealt.meant] += 1
