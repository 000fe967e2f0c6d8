"""Where the time of a call goes: named parts, each without the parts inside it."""

import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any


class Stopwatch:
    """Wraps functions by name and adds up the wall time each spends outside the others."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.open: list[float] = []

    def timed(self, part: str, act: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, timed under `part`."""

        @wraps(act)
        def inner(*args: Any, **kwargs: Any) -> Any:
            self.open.append(0.0)
            began = time.perf_counter()
            try:
                return act(*args, **kwargs)
            finally:
                took = time.perf_counter() - began
                self.seconds[part] += took - self.open.pop()
                if self.open:
                    self.open[-1] += took

        return inner

    def watch(self, part: str, owner: Any, name: str) -> None:
        """Time `owner.name` from now on. A name that is gone is an error: the split would be wrong."""
        setattr(owner, name, self.timed(part, getattr(owner, name)))
