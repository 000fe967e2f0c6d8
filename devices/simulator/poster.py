"""Posts rounds to the service as gateways do: one connection a table, batches when behind, the same message until
it is answered.

A 5xx answer or a broken connection means unknown, so the very same bytes go out again (CONTRACT §5); 429 and 503
are waited out. Anything else that is not a receipt is a mistake in the set-up and ends the run.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from devices.simulator.gateway import Sending
from devices.simulator.kept import Kept
from devices.simulator.locks import LOCKED
from devices.simulator.tally import Hit, Tally

ROUNDS = "/api/v1/rounds"
MOST_IN_A_BATCH = 1_000

ANSWER_SECONDS = 10.0
"""So long a gateway waits for an answer, beside what it lets the service wait; then it sends the same again."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_GIVES_UP_READING = httpx.Timeout(10.0, read=0.002)


class PostingFailed(Exception):
    """The service did not take a message and never will: wrong key, wrong address, wrong shape."""


def encode(message: Mapping[str, Any]) -> bytes:
    """The bytes of a message; a resend must be these very bytes."""
    return json.dumps(message, separators=(",", ":")).encode()


class Poster:
    """The line of one table: its key, its connection and the messages waiting to leave."""

    def __init__(
        self,
        table: str,
        *,
        base_url: str,
        api_key: str,
        tally: Tally,
        batch: int = 200,
        wait_seconds: int = 0,
        answer_seconds: float = ANSWER_SECONDS,
        patience_seconds: float = 300.0,
        transport: httpx.AsyncBaseTransport | None = None,
        trust: ssl.SSLContext | bool = True,
        on_hit: Callable[[Hit], None] | None = None,
        kept: Kept | None = None,
    ) -> None:
        if not 1 <= batch <= MOST_IN_A_BATCH:
            raise ValueError(f"a batch is 1 to {MOST_IN_A_BATCH} messages, not {batch}")
        self.table = table
        self._tally = tally
        self._batch = batch
        self._wait_seconds = wait_seconds
        self._patience_seconds = patience_seconds
        self._on_hit = on_hit or (lambda hit: None)
        self._kept = kept
        self._waiting: asyncio.Queue[Sending | None] = asyncio.Queue(maxsize=2 * batch)
        self._put_back: list[Sending | None] = []
        self._client = httpx.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Api-Key {api_key}", "Content-Type": "application/json"},
            timeout=httpx.Timeout(answer_seconds + wait_seconds),
            limits=httpx.Limits(max_connections=1),
            transport=transport,
            verify=trust,
            trust_env=False,
        )

    async def aclose(self) -> None:
        """Hang up."""
        await self._client.aclose()

    async def put(self, sending: Sending) -> None:
        """Hand over a round; waits while the line is too far behind."""
        await self._waiting.put(sending)

    async def close(self) -> None:
        """Nothing more will come; `run` ends when everything has left."""
        await self._waiting.put(None)

    def hurry(self, patience_seconds: float) -> None:
        """From now on wait no longer than this for an answer: somebody wants to stop."""
        self._patience_seconds = patience_seconds

    async def run(self) -> None:
        """Post until closed: a single message when there is one, otherwise all that wait, in order."""
        while heap := await self._heap():
            await self._post(heap)

    async def _heap(self) -> list[Sending]:
        """What leaves together; nothing once closed."""
        first = self._put_back.pop() if self._put_back else await self._waiting.get()
        if first is None:
            return []
        heap = [first]
        while not first.drop and len(heap) < self._batch and not self._waiting.empty():
            following = self._waiting.get_nowait()
            if following is None or following.drop:
                # What is to lose its connection goes alone, so that only this one is sent again.
                self._put_back.append(following)
                break
            heap.append(following)
        return heap

    async def _post(self, heap: list[Sending]) -> None:
        bodies = [encode(sending.dealt.message) for sending in heap]
        single = len(bodies) == 1
        content = bodies[0] if single else b"[" + b",".join(bodies) + b"]"
        waits = single and self._wait_seconds > 0
        headers = {"Prefer": f"wait={self._wait_seconds}"} if waits else {}
        if self._kept is not None:
            self._kept.leave(zip((sending.dealt.message for sending in heap), bodies, strict=True))
        answer, sent_before = await self._until_answered(content, headers, drop=heap[-1].drop)
        self._tally.posts += 1
        tell = [self._tally.lock if sending.dealt.meant == LOCKED else self._tally.receipt for sending in heap]
        if answer.status_code == 202 or (answer.status_code == 200 and not waits):
            receipts = answer.json()
            for count, receipt, sending in zip(tell, [receipts] if single else receipts, heap, strict=True):
                count(receipt)
                if receipt["status"] in ("accepted", "duplicate"):
                    self._has(sending, settled=False)
        elif answer.status_code == 200:
            settlement = answer.json()
            # A wait is answered with the settlement, without saying whether the message was new.
            tell[0]({"status": "duplicate" if sent_before else "accepted"})
            self._has(heap[0], settled=True)
            if heap[0].dealt.meant != LOCKED:
                for hit in self._tally.settlement(settlement):
                    self._on_hit(hit)
        elif answer.status_code in (409, 422):
            status = "reused" if answer.status_code == 409 else "refused"
            tell[0]({"status": status, "code": answer.json().get("code")})
        else:
            raise PostingFailed(f"{self.table}: {answer.status_code} {answer.text[:300]}")

    def _has(self, sending: Sending, *, settled: bool) -> None:
        """The house has this one."""
        if self._kept is not None:
            self._kept.answered(sending.dealt.message, settled=settled)

    async def _until_answered(
        self, content: bytes, headers: dict[str, str], *, drop: bool
    ) -> tuple[httpx.Response, bool]:
        """The answer, and whether these bytes may have been stored by an earlier try."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        pause = _FIRST_PAUSE
        sent_before = False
        while True:
            try:
                if drop:
                    drop = False
                    self._tally.dropped += 1
                    answer = await self._client.post(
                        ROUNDS, content=content, headers=headers, timeout=_GIVES_UP_READING
                    )
                else:
                    answer = await self._client.post(ROUNDS, content=content, headers=headers)
            except httpx.TransportError as error:
                trouble: str = f"{type(error).__name__} {error}"
                sent_before = True
                delay = pause
            else:
                if answer.status_code != 429 and answer.status_code < 500:
                    return answer, sent_before
                trouble = str(answer.status_code)
                sent_before = sent_before or answer.status_code >= 500
                delay = _retry_after(answer, pause)
            if loop.time() - began > self._patience_seconds:
                raise PostingFailed(f"{self.table}: no answer in {self._patience_seconds:.0f} s, last {trouble}")
            self._tally.retries += 1
            # Half of the pause is luck: gateways that lost the service together must not return together.
            await asyncio.sleep(delay * (0.5 + random.random() / 2))
            pause = min(pause * 2, _LONGEST_PAUSE)


def _retry_after(answer: httpx.Response, otherwise: float) -> float:
    try:
        return max(float(answer.headers["Retry-After"]), otherwise)
    except (KeyError, ValueError):
        return otherwise
