"""Signs of life of the tables' gateways, as real ones give them: whoever falls silent has its tables' progressives closed.

They go on for as long as a run plays, whatever becomes of its rounds. When it ends nothing is signed off: a gateway that is
switched off is silent, and the service says so on its pages until it is heard of again, from here or from another run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

import httpx

HEARTBEAT = "/api/v1/heartbeat"
IN_A_TERM = 4
"""So many signs of life in the time after which the service calls a device silent: three may be lost."""
UNKNOWN_TERM_SECONDS = 10.0
SHORTEST_SECONDS = 0.5
OPENS_WITHIN_SECONDS = 15.0


class Heartbeats:
    """The gateways of some tables, each with its key, on one client."""

    def __init__(self, client: httpx.AsyncClient, keys: Mapping[str, str]) -> None:
        self._client = client
        self._keys = keys
        self.every_seconds = UNKNOWN_TERM_SECONDS / IN_A_TERM

    async def begin(self, stopping: asyncio.Event) -> None:
        """Have all of them heard of once, and wait for the progressives that were closed for their silence to open."""
        before = await asyncio.gather(*(self._ask(code) for code in self._keys))
        await self._beat(self._keys)
        closed = {code for code, said in zip(self._keys, before, strict=True) if said.get("closed")}
        loop = asyncio.get_running_loop()
        give_up = loop.time() + OPENS_WITHIN_SECONDS
        while closed and loop.time() < give_up and not stopping.is_set():
            await asyncio.sleep(SHORTEST_SECONDS)
            closed = {code for code in closed if (await self._ask(code)).get("closed")}

    async def go_on(self) -> None:
        """Beat until cancelled."""
        while True:
            await asyncio.sleep(self.every_seconds)
            await self._beat(self._keys)

    async def _beat(self, codes: Collection[str]) -> None:
        for said in await asyncio.gather(*(self._ask(code, "POST") for code in codes)):
            term = said.get("silent_after_seconds")
            if isinstance(term, int | float):
                self.every_seconds = max(SHORTEST_SECONDS, term / IN_A_TERM)

    async def _ask(self, code: str, method: str = "GET") -> dict[str, Any]:
        """What the service says; nothing where it cannot be reached just now: the next one comes soon."""
        try:
            answer = await self._client.request(
                method, HEARTBEAT, headers={"Authorization": f"Api-Key {self._keys[code]}"}
            )
            said = answer.json() if answer.status_code == 200 else {}
        except (httpx.TransportError, ValueError):
            return {}
        return said if isinstance(said, dict) else {}
