"""What a person sees of a running simulation: a bar with figures, hits as they fall, and a summary at the end."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.table import Table as Grid

from devices.simulator.tally import Hit, Tally

QUIET_SECONDS = 10.0
"""Where output is not a terminal, a line of figures this often."""

RATE_SECONDS = 3.0
"""Rounds a second are counted over this long."""


def dollars(cents: int) -> str:
    """Cents as people read them: 1234567 is $12,345.67."""
    return f"${cents // 100:,}.{cents % 100:02d}"


class Show:
    """Draws the run; used as a context manager around it."""

    def __init__(self, tally: Tally, *, rounds: int | None, console: Console | None = None) -> None:
        self._tally = tally
        self._console = console or Console(highlight=False)
        self._rounds = rounds
        self._began = time.monotonic()
        self._spoke = self._began
        self._last = (self._began, 0)
        self._rate = 0.0
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=24),
            TaskProgressColumn() if rounds is not None else TextColumn(""),
            TextColumn("{task.description}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(self._line(), total=rounds)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.refresh()
        self._bar.stop()

    def say(self, text: str) -> None:
        """A line above the bar."""
        self._bar.console.print(text, soft_wrap=True)

    def hit(self, hit: Hit) -> None:
        """Tell about an award the moment its table's gateway reads it."""
        hand = hit.hand.replace("_", " ")
        paid = f"{dollars(hit.paid_cents)} from {hit.level}"
        self.say(f"[bold]{hand}[/bold] at {hit.table} seat {hit.seat}: {paid} ({hit.round})")

    def refresh(self) -> None:
        """Bring the figures up to date; called about four times a second."""
        now = time.monotonic()
        answered = sum(self._tally.receipts.values())
        since, before = self._last
        if now - since >= RATE_SECONDS:
            self._rate = (answered - before) / (now - since)
            self._last = (now, answered)
        self._bar.update(self._task, completed=answered, description=self._line())
        if not self._console.is_terminal and now - self._spoke >= QUIET_SECONDS:
            self._spoke = now
            self.say(self._line())

    def _line(self) -> str:
        tally = self._tally
        parts = [f"{sum(tally.receipts.values()):,} rounds posted", f"{self._rate:,.1f}/s"]
        settled = tally.outcomes["settled"] + tally.outcomes["void"]
        if settled or tally.queued is None:
            parts.append(f"{settled:,} settled")
        else:
            parts.append(f"{max(tally.receipts['accepted'] - tally.queued, 0):,} settled or held")
        if tally.queued:
            parts.append(f"{tally.queued:,} queued")
        parts.append(f"{tally.outcomes['held']:,} held")
        parts.append(f"{tally.receipts['refused'] + tally.receipts['reused']:,} refused")
        hits = max(len(tally.hits), tally.link_hits or 0)
        parts.append(f"{hits} hit" if hits == 1 else f"{hits} hits")
        return "  ".join(parts)

    def summary(self) -> None:
        """The counts of the whole run."""
        tally = self._tally
        seconds = time.monotonic() - self._began
        grid = Grid(title=None, show_header=False, box=None, pad_edge=False)
        grid.add_column(justify="right")
        grid.add_column()
        grid.add_row(f"{tally.dealt:,}", "rounds dealt")
        for status, count in sorted(tally.receipts.items()):
            grid.add_row(f"{count:,}", f"receipts: {status}")
        for code, count in sorted(tally.refusals.items()):
            grid.add_row(f"{count:,}", f"  refused as {code}")
        for status, count in sorted(tally.locks.items()):
            grid.add_row(f"{count:,}", f"locks before the cards: {status}")
        for outcome, count in sorted(tally.outcomes.items()):
            grid.add_row(f"{count:,}", f"settlements read: {outcome}")
        for reason, count in sorted(tally.held_for.items()):
            grid.add_row(f"{count:,}", f"  held for {reason}")
        for hit in tally.hits[-20:]:
            grid.add_row(dollars(hit.paid_cents), f"{hit.hand} at {hit.table} seat {hit.seat}, {hit.level}")
        if tally.link_hits is not None:
            grid.add_row(f"{tally.link_hits:,}", "hits on the links since the run began")
        grid.add_row(f"{tally.dropped:,}", "connections dropped on purpose")
        grid.add_row(f"{tally.retries:,}", "retries")
        if tally.queued:
            grid.add_row(f"{tally.queued:,}", "still queued")
        self._console.print(grid)
        answered = sum(tally.receipts.values())
        self._console.print(f"{answered:,} answers in {seconds:.1f} s, {answered / max(seconds, 0.001):,.0f} a second")
